// The reviews of this browser: a queue, one game at a time, each over all workers.

import { ApiError, type Colour, type Part, type Progress, type Queued, type Review, type ReviewEntry, type Summary } from "../api";
import { REVIEW as R } from "../engine/kernels";
import type { Engine } from "../engine/memory";
import type { Workers } from "../engine/workers";
import { t } from "../i18n";
import { parse, write } from "../sgf";
import { annotated, tableOf } from "./annotate";
import { JUDGE } from "./looks";
import { keepProblems } from "./problems";
import { fingerprint, headline, legalPart, readGames, whole, type GameOfFile } from "./records";
import { review, sideOf } from "./reviewing";
import type { Store } from "./store";
import { newId } from "./games";
import { counted, marked, maskOf, named, taskOf, withBoard, type BoardValue } from "./values";

const MOST_PROBLEMS = 10;
const KEPT_EVERY = 3000; // milliseconds between two times that parts are stored

interface Body {
  id: string;
  sgf: string;
  file: string;
  game: number;
  quick: boolean;
  visits: number | null;
  status: Review["status"];
  trouble: string;
  you: Colour | null;
  summary: Summary | null;
  parts: Part[];
}

interface Running {
  body: Body;
  stop: AbortController;
  progress: Progress | null;
  /** Numbers of positions in the order of their changes. */
  changed: number[];
}

export interface Wishes {
  visits?: number | null;
  quick?: boolean;
  again?: boolean;
  you?: Colour | null;
}

export class Reviews {
  private readonly queue: Running[] = [];
  private busy = false;

  constructor(
    private readonly store: Store,
    private readonly workers: Workers,
    private readonly engine: Engine,
  ) {}

  /** Go on with the reviews that were not done when the page was closed, or that were imported. */
  async resume(): Promise<void> {
    const waiting = (await this.entries()).filter(({ id, status }) => status === "waiting" && !this.running(id));
    for (const { id } of waiting.reverse()) this.start(await this.store.get<Body>("review", id));
  }

  async entries(): Promise<ReviewEntry[]> {
    const found = await this.store.list<ReviewEntry>("review");
    return found.map((entry) => ({ ...entry, progress: this.running(entry.id)?.progress ?? null }));
  }

  /** Queue the games of a file. */
  async add(file: Blob | string, name: string, { visits = null, quick = false, again = false, you = null }: Wishes): Promise<Queued> {
    const found: Queued = { reviews: [], known: [], unread: [] };
    const there = await this.store.list<ReviewEntry & { mark: string }>("review");
    for (const one of await readGames(file, name)) {
      try {
        const sgf = write(one.root);
        const mark = await fingerprint(`${sgf} ${visits} ${quick}`);
        const known = there.find((entry) => entry.mark === mark && entry.status !== "failed");
        if (known && !again) {
          found.known.push({ id: known.id });
          continue;
        }
        const [board] = legalPart(this.engine, one);
        if (Math.min(...board.size) < 5) throw new ApiError(t("tooSmall"), 422);
        const id = newId();
        await this.keep({ id, sgf, file: one.file, game: one.game, quick, visits, status: "waiting", trouble: "", you, summary: null, parts: [] }, mark);
        found.reviews.push({ id });
        this.start(await this.store.get<Body>("review", id));
      } catch (problem) {
        found.unread.push(`${one.file}: ${problem instanceof Error ? problem.message : problem}`);
      }
    }
    return found;
  }

  async show(id: string, known: number | null): Promise<Omit<Review, "game"> & Partial<Review>> {
    const running = this.running(id);
    const body = running?.body ?? (await this.store.get<Body>("review", id));
    const { status, trouble, summary, you, parts } = body;
    const log = running?.changed ?? [];
    const shown = { id, status, trouble, summary, you, progress: running?.progress ?? null, changes: log.length };
    if (known === null) return { ...shown, game: whole(this.engine, gameOf(body)), parts: parts.filter(Boolean) };
    const news = new Set(log.slice(known <= log.length ? known : 0));
    return { ...shown, parts: parts.filter((part) => part && (status !== "waiting" || news.has(part.number))) };
  }

  async retry(id: string): Promise<ReviewEntry[]> {
    const body = await this.store.get<Body>("review", id);
    if (body.status === "failed") {
      await this.keep({ ...body, status: "waiting", trouble: "", parts: [] });
      this.start(await this.store.get<Body>("review", id));
    }
    return this.entries();
  }

  async delete(id: string): Promise<void> {
    await this.store.delete("review", id);
    const running = this.running(id);
    if (!running) return;
    running.stop.abort();
    this.queue.splice(this.queue.indexOf(running), 1);
  }

  async cancelAll(): Promise<{ cancelled: number }> {
    const all = [...this.queue];
    for (const { body } of all) await this.delete(body.id);
    return { cancelled: all.length };
  }

  /** Keep the largest mistakes as problems; return their ids. */
  async practise(id: string, colour: Colour | null): Promise<string[]> {
    const body = this.running(id)?.body ?? (await this.store.get<Body>("review", id));
    const [board] = legalPart(this.engine, gameOf(body));
    const moves = body.parts.flatMap((part) => part?.move ?? []);
    const mistakes = moves.filter((move) => move.verdict === "mistake" && (!colour || move.colour === colour));
    const lessons = mistakes.map((move) => ({
      ...move,
      board: { ...board, moves: board.moves.slice(0, move.number - 1), turn: board.moves[move.number - 1]![0] },
    }));
    return keepProblems(this.store, id, lessons, MOST_PROBLEMS);
  }

  async file(id: string, kind: string): Promise<string> {
    const body = await this.store.get<Body>("review", id);
    if (kind === "csv") return tableOf(body.parts);
    if (body.status !== "done") throw new ApiError(t("notDone"), 422);
    return annotated(body.sgf, body.parts, body.summary!);
  }

  private running(id: string): Running | undefined {
    return this.queue.find(({ body }) => body.id === id);
  }

  private async keep(body: Body, mark?: string): Promise<void> {
    const one = gameOf(body);
    const known = mark ?? (await fingerprint(`${body.sgf} ${body.visits} ${body.quick}`));
    const lost = body.summary && { black: body.summary.black.mean_points_lost, white: body.summary.white.mean_points_lost };
    const summary = { ...headline(one, legalPart(this.engine, one)[0].moves.length), status: body.status, mark: known, ...(lost && { lost }) };
    await this.store.put("review", body.id, summary, body);
  }

  private start(body: Body): void {
    this.queue.push({ body, stop: new AbortController(), progress: null, changed: [] });
    void this.next();
  }

  private async next(): Promise<void> {
    const [running] = this.queue;
    if (this.busy || !running) return;
    this.busy = true;
    const { body, stop, changed } = running;
    try {
      const [board] = legalPart(this.engine, gameOf(body));
      let kept = performance.now();
      const { quick, visits } = body;
      body.parts = await review(this.workers, board, {
        quick, visits, signal: stop.signal,
        tell: (parts, progress) => {
          for (const part of parts) {
            body.parts[part.number] = part;
            changed.push(part.number);
          }
          running.progress = progress;
          if (performance.now() - kept < KEPT_EVERY) return;
          kept = performance.now();
          void this.keep(body).catch(() => {}); // it is stored again at the end
        },
      }); // prettier-ignore
      body.summary = await this.summary(board, body);
      body.status = "done";
    } catch (failure) {
      body.status = "failed";
      body.trouble = failure instanceof Error ? failure.message : String(failure);
    }
    if (!stop.signal.aborted) {
      await this.keep(body).catch((failure) => Object.assign(body, { status: "failed", trouble: failure.message }));
      const place = this.queue.indexOf(running);
      if (place >= 0) this.queue.splice(place, 1);
    }
    this.busy = false;
    void this.next();
  }

  private async summary(board: BoardValue, { parts, quick, sgf }: Body): Promise<Summary> {
    const passed = board.moves.length > 1 && board.moves.slice(-2).every(([, move]) => move < 0);
    const result = parse(sgf).props.RE?.[0] ?? "";
    let ending: Summary["ending"] = null;
    if (passed || /^[BW]\+\d|^0$|^draw/i.test(result)) {
      const { dead } = await this.workers.run("status", { position: taskOf(board) });
      const count = withBoard(this.engine, board, (real) => counted(real, maskOf(marked(dead), real.rows * real.cols), board));
      const { black, white } = count;
      ending = { black, white, result: count.result, dead: named(marked(dead), { rows: board.size[0], cols: board.size[1] }), judge: JUDGE };
    }
    const judge = quick ? `${JUDGE}, one evaluation per position, ${R.CONFIRMING} to confirm a mistake` : JUDGE;
    return { judge, black: sideOf(parts, "black"), white: sideOf(parts, "white"), ending };
  }
}

function gameOf({ sgf, file, game }: Body): GameOfFile {
  return { root: parse(sgf), file, game };
}
