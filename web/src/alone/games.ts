// The games of this browser: play, take back, clock, teacher, count; `game/session.py` and `web/games.py`.

import { ApiError, type ClockState, type Colour, type Game, type GameEntry, type Hint, type Lesson, type Opponent } from "../api";
import { Board, PASS, type Index, type Side } from "../engine/board";
import { ENDGAME, RULES } from "../engine/kernels";
import type { Engine } from "../engine/memory";
import type { LevelNumber } from "../engine/player";
import type { Workers } from "../engine/workers";
import { t } from "../i18n";
import { boardWith, indexOf, sideOf, vertexOf } from "../positions";
import { newClock, pressed, refresh, untilLost, waited, type ClockForm } from "./clock";
import { fairGame, nextRung, type Rated } from "./ladder";
import { hintOf } from "./looks";
import { keepProblems, worstLessons, type Problem } from "./problems";
import { reviewLast } from "./reviewing";
import { gameToSgf } from "./records";
import type { Store } from "./store";
import {
  BLACK, boardOf, counted, illegalPoints, marked, maskOf, named, namedMoves, nameOf, positionOf, taskOf, WHITE,
  WHY_NOT, withBoard, type BoardValue,
} from "./values";

const BOTH = 3;
const HANDICAP_KOMI = 0.5;
const HINT_SECONDS = 0.8;
const HINT_VISITS = 1000;

export type StoredLesson = Omit<Lesson, "asks"> & { asks?: boolean };

/** A game as it is stored. */
export interface GameValue {
  id: string;
  board: BoardValue;
  /** The sides of people: 1 Black, 2 White, 3 both. */
  human: number;
  opponent: string;
  names: Partial<Record<Colour, string>>;
  seed: number;
  ladder: boolean;
  version: number;
  teach: number;
  lesson: Lesson | null;
  lessons: (StoredLesson & { board: BoardValue })[];
  resigned: number;
  timedOut: number;
  stopped: boolean;
  accepted: boolean;
  /** Whether the game to be counted is not over. */
  open: boolean;
  dead: Index[] | null;
  clock: ClockState | null;
}

export interface NewGame extends ClockForm {
  size?: number;
  colour?: Colour;
  opponent?: string;
  handicap?: number;
  komi?: number | null;
  rules?: keyof typeof RULES;
  black?: string;
  white?: string;
  ladder?: boolean;
  teach?: number;
}

/** A game that is open in this tab. */
interface Open {
  game: GameValue;
  trouble: string;
  /** When the side to move began to think, in seconds. */
  since: number;
  job: AbortController | null;
  alarm: number;
}

const now = () => performance.now() / 1000;

export class Games {
  private readonly opened = new Map<string, Open>();

  constructor(
    private readonly store: Store,
    private readonly workers: Workers,
    private readonly engine: Engine,
    readonly opponents: Opponent[],
    private readonly rated: Rated,
  ) {}

  list(): Promise<GameEntry[]> {
    return this.store.list("game");
  }

  async begin(form: NewGame): Promise<Game> {
    const next = form.ladder ? { ...form, ...(await this.onLadder(form.size ?? 9)) } : form;
    const { size = 9, handicap = 0, rules = "cgos" } = next;
    if (handicap) next.colour ??= "black";
    const board: BoardValue = {
      size: [size, size], rules: RULES[rules], komi: next.komi ?? (handicap ? HANDICAP_KOMI : RULES[rules].komi), handicap,
      stones: boardWith(size, handicap), first: handicap ? WHITE : BLACK, moves: [], turn: handicap ? WHITE : BLACK,
    }; // prettier-ignore
    return this.add(next, board);
  }

  /** Open a new game, and let the machine begin if it is its turn. */
  async add(form: NewGame, board: BoardValue): Promise<Game> {
    const { colour = "black", opponent = "level-1", ladder = false, teach = 0 } = form;
    const found = this.opponents.find((one) => one.id === opponent);
    if (!found) throw new ApiError(`there is no opponent ${opponent}`, 422);
    const both = found.kind === "person";
    const game: GameValue = {
      id: newId(), board, human: both ? BOTH : sideOf(colour), opponent, ladder, teach, version: 0,
      names: both ? { black: form.black?.trim() ?? "", white: form.white?.trim() ?? "" } : {},
      seed: crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1, lesson: null, lessons: [], resigned: 0, timedOut: 0,
      stopped: false, accepted: false, open: false, dead: null, clock: newClock(form),
    }; // prettier-ignore
    const open: Open = { game, trouble: "", since: now(), job: null, alarm: 0 };
    await this.keep(open);
    return this.state(open);
  }

  /** Return a game as it stands, or nothing if it has not changed since a version. */
  async show(id: string, version?: number): Promise<Game | undefined> {
    const open = await this.find(id);
    return version === open.game.version && !open.trouble ? undefined : this.state(open);
  }

  async delete(id: string): Promise<void> {
    await this.store.delete("game", id);
    const open = this.opened.get(id);
    if (open) this.leave(open);
    this.opened.delete(id);
  }

  async play(id: string, version: number | undefined, move: string, sure: boolean): Promise<Game> {
    const wanted = move.trim().toLowerCase();
    const { game } = await this.find(id);
    if (wanted === "pass" && !sure && game.human !== BOTH && !this.waitsForMachine(game) && this.status(game) === "playing") {
      if (await this.workers.run("isOpen", { position: taskOf(game.board) }, { soon: true })) {
        return { ...(await this.show(id))!, question: "pass" };
      }
    }
    return this.change(id, version, (open) => {
      const { game } = open;
      if (wanted === "resign") {
        this.requireOpen(game);
        game.resigned = game.human === BOTH ? game.board.turn : game.human;
      } else if (this.waitsForMachine(game)) throw new ApiError(t("notYourTurn"), 422);
      else this.push(open, readMove(wanted, game.board.size));
    });
  }

  /** Count the game as it stands, finished or not. */
  count(id: string, version?: number): Promise<Game> {
    return this.change(id, version, ({ game }) => {
      this.requireOpen(game);
      game.stopped = true;
    });
  }

  goOn(id: string, version?: number): Promise<Game> {
    return this.change(id, version, ({ game }) => {
      if (game.lesson) game.lesson.asks = false;
    });
  }

  accept(id: string, version?: number): Promise<Game> {
    return this.change(id, version, ({ game }) => {
      if (!this.isCounting(game) || !game.dead) throw new ApiError(t("nothingToAccept"), 422);
      game.accepted = true;
    });
  }

  /** Change a block from dead to alive or back. */
  toggle(id: string, version: number | undefined, vertex: string): Promise<Game> {
    return this.change(id, version, ({ game }) => {
      if (!this.isCounting(game) || !game.dead) throw new ApiError(t("nothingToAccept"), 422);
      const point = indexOf(vertex, ...game.board.size);
      const dead = new Set(game.dead);
      withBoard(this.engine, game.board, (board) => {
        const stones = board.blocks.find((block) => block.stones.includes(point))?.stones ?? [];
        const out = stones.some((stone) => dead.has(stone));
        for (const stone of stones) out ? dead.delete(stone) : dead.add(stone);
      });
      game.dead = [...dead].sort((a, b) => a - b);
    });
  }

  /** Take back the person's last move and what followed, or only the end of the game. */
  undo(id: string, version?: number): Promise<Game> {
    return this.change(id, version, (open) => {
      const { game } = open;
      const { board, clock } = game;
      const going = !this.isOver(game) && !this.isCounting(game);
      if (clock && going) waited(clock, board.turn, now() - open.since);
      if (!game.stopped && !(game.human & (game.resigned | game.timedOut))) {
        const mine = board.moves.map(([side]) => !!(side & game.human)).lastIndexOf(true);
        if (mine < 0) throw new ApiError(t("nothingToTakeBack"), 422);
        board.turn = board.moves[mine]![0];
        board.moves.length = mine;
      }
      Object.assign(game, { resigned: 0, timedOut: 0, accepted: false, stopped: false, open: false, dead: null, lesson: null });
      open.since = now();
      if (clock) for (const side of [BLACK, WHITE] as const) if (side & game.human) refresh(clock, side);
    });
  }

  async retry(id: string): Promise<Game> {
    const open = await this.find(id);
    if (!open.job) {
      open.trouble = "";
      this.goAhead(open);
    }
    return this.state(open);
  }

  async hint(id: string, signal?: AbortSignal): Promise<Hint> {
    const { game } = await this.find(id);
    const position = taskOf(game.board);
    const given = { position, visits: HINT_VISITS, seconds: HINT_SECONDS, toPlay: true, seed: game.seed };
    return hintOf(await this.workers.run("search", given, { signal, soon: true }), game.board);
  }

  async sgf(id: string): Promise<string> {
    const { game } = await this.find(id);
    const machine = this.opponents.find((one) => one.id === game.opponent)?.name ?? game.opponent;
    const name = (colour: Colour) =>
      game.human === BOTH ? game.names[colour] || (colour === "black" ? "Black" : "White") : sideOf(colour) === game.human ? "You" : machine;
    return gameToSgf(game.board, { PB: [name("black")], PW: [name("white")], RE: [this.result(game)] });
  }

  async you(id: string): Promise<Colour | null> {
    const { human } = (await this.find(id)).game;
    return human === BOTH ? null : nameOf(human as Side);
  }

  // ----- Ladder -----

  async onLadder(size: number): Promise<{ opponent: string; handicap: number }> {
    const games = (await this.list()).filter((one) => one.ladder && one.status === "over" && one.size === size);
    return nextRung(this.rated, size, games.reverse().map(({ won }) => won));
  }

  fair = (query: URLSearchParams) => fairGame(this.rated, this.opponents, query);

  // ----- Internals -----

  private async find(id: string): Promise<Open> {
    const known = this.opened.get(id);
    const stored = await this.store.find<GameValue>("game", id);
    if (!stored) throw new ApiError(t("noSuchGame"), 404);
    if (known && known.game.version >= stored.version) return known;
    if (known) this.leave(known); // it was changed in another tab
    const open: Open = { game: stored, trouble: "", since: now(), job: null, alarm: 0 };
    this.opened.set(id, open);
    this.goAhead(open);
    return open;
  }

  /** Change a game and store it before anything is shown; if that fails nothing has changed. */
  private async change(id: string, version: number | undefined, act: (open: Open) => void): Promise<Game> {
    const open = await this.find(id);
    if (version !== undefined && version !== open.game.version) throw new ApiError(t("gameChanged"), 409);
    if (await this.isLate(open)) throw new ApiError(t("timeIsUp"), 422);
    const next: Open = { ...open, game: structuredClone(open.game), trouble: "" };
    act(next);
    next.game.version++;
    this.leave(open);
    next.job = null;
    await this.keep(next).catch((failure) => {
      this.goAhead(open);
      throw failure;
    });
    return this.state(next);
  }

  private async keep(open: Open): Promise<void> {
    const { game } = open;
    const { clock } = game;
    const stored = structuredClone(game);
    if (stored.clock && this.status(game) === "playing") waited(stored.clock, game.board.turn, now() - open.since);
    await this.store.put("game", game.id, this.summary(game), stored);
    if (this.isOver(game)) await keepProblems(this.store, game.id, game.lessons as (StoredLesson & Pick<Problem, "board">)[]);
    if (clock) clock.running = true;
    this.opened.set(game.id, open);
    this.goAhead(open);
  }

  private leave(open: Open): void {
    open.job?.abort();
    open.job = null;
    clearTimeout(open.alarm);
  }

  /** Play a move of the side to move. */
  private push(open: Open, move: Index): void {
    const { game } = open;
    this.requireOpen(game);
    const { board } = game;
    const side = board.turn;
    withBoard(this.engine, board, (real) => {
      const refused = real.verdict(move, side);
      if (refused) throw new ApiError(`${vertexOf(move, ...board.size)}: ${WHY_NOT[refused]}`, 422);
    });
    board.moves.push([side, move]);
    board.turn = (3 - side) as Side;
    const spent = now() - open.since;
    if (game.clock) pressed(game.clock, side, spent);
    open.since = now();
  }

  /** Start what comes next: the teacher's review, the search, the judge, the clock's alarm. */
  private goAhead(open: Open): void {
    const { game } = open;
    clearTimeout(open.alarm);
    if (this.waitsForMachine(game) && this.needsLesson(game)) this.work(open, (signal) => this.teach(open, signal));
    else if (this.waitsForMachine(game) && !game.lesson?.asks) this.work(open, (signal) => this.answer(open, signal));
    else if (this.isCounting(game) && !game.dead) this.work(open, (signal) => this.judge(open, signal));
    if (game.clock && this.status(game) === "playing") {
      const left = untilLost(game.clock, game.board.turn, now() - open.since);
      open.alarm = setTimeout(() => void this.isLate(open).catch(() => {}), 1000 * left + 50);
    }
  }

  private work(open: Open, task: (signal: AbortSignal) => Promise<(next: Open) => void>): void {
    const job = new AbortController();
    open.job?.abort();
    open.job = job;
    task(job.signal).then(
      async (act) => {
        if (job.signal.aborted || this.opened.get(open.game.id) !== open) return;
        open.job = null;
        await this.change(open.game.id, open.game.version, act);
      },
    ).catch((failure) => {
      if (job.signal.aborted) return;
      open.job = null;
      open.trouble = failure instanceof ApiError ? failure.message : t("machineFailed", { reason: String(failure?.message ?? failure) });
    });
  }

  private async answer({ game }: Open, signal: AbortSignal): Promise<(next: Open) => void> {
    const level = this.opponents.find((one) => one.id === game.opponent)!.level as unknown as LevelNumber;
    const found = await this.workers.run("choose", { position: taskOf(game.board), level, seed: game.seed }, { signal, soon: true });
    return (next) => {
      if (!found) throw new ApiError(t("machineFailed", { reason: "" }), 500);
      if (found.move === "resign") next.game.resigned = next.game.board.turn;
      else this.push(next, found.move);
    };
  }

  private async teach({ game }: Open, signal: AbortSignal): Promise<(next: Open) => void> {
    const found = await reviewLast(this.workers, game.board, signal);
    return ({ game: next }) => {
      next.lesson = { ...found, asks: !!found.verdict && found.points_lost >= next.teach };
      if (found.verdict) {
        const { board } = structuredClone(next);
        const [side] = board.moves.pop()!;
        next.lessons.push({ ...found, board: { ...board, turn: side } });
      }
    };
  }

  private async judge({ game }: Open, signal: AbortSignal): Promise<(next: Open) => void> {
    const { dead, open } = await this.workers.run("judge", { position: taskOf(game.board) }, { signal, soon: true });
    return ({ game: next }) => Object.assign(next, { dead: marked(dead), open });
  }

  /** End the game if the time of the side to move is up; return whether it was. */
  private async isLate(open: Open): Promise<boolean> {
    const { game } = open;
    if (!game.clock || this.status(game) !== "playing") return false;
    if (untilLost(game.clock, game.board.turn, now() - open.since) > 0) return false;
    const next = { ...open, game: structuredClone(game), job: null };
    waited(next.game.clock!, game.board.turn, now() - open.since);
    next.game.timedOut = game.board.turn;
    next.game.version++;
    this.leave(open);
    await this.keep(next);
    return true;
  }

  private isOver({ resigned, timedOut, accepted }: GameValue): boolean {
    return !!(resigned || timedOut || accepted);
  }

  private isCounting(game: GameValue): boolean {
    const { moves, size } = game.board;
    const passed = moves.length > 1 && moves.slice(-2).every(([, move]) => move === PASS);
    const long = moves.length >= ENDGAME.LONGEST * size[0] * size[1];
    return (game.stopped || passed || long) && !this.isOver(game);
  }

  private status(game: GameValue): Game["status"] {
    return this.isOver(game) ? "over" : this.isCounting(game) ? "counting" : "playing";
  }

  private waitsForMachine(game: GameValue): boolean {
    return this.status(game) === "playing" && !(game.board.turn & game.human);
  }

  private needsLesson({ teach, board, human, lesson }: GameValue): boolean {
    const last = board.moves[board.moves.length - 1];
    if (!teach || !last || human === BOTH || last[0] !== human) return false;
    return lesson?.number !== board.moves.length;
  }

  private requireOpen(game: GameValue): void {
    if (this.status(game) !== "playing") throw new ApiError(t("gameIsOver"), 422);
  }

  private result(game: GameValue): string {
    for (const [loser, letter] of [[game.resigned, "R"], [game.timedOut, "T"]] as const) {
      if (loser) return `${loser === BLACK ? "W" : "B"}+${letter}`;
    }
    return game.dead ? withBoard(this.engine, game.board, (board) => this.counted(board, game).result) : "";
  }

  private counted(board: Board, { dead, board: value }: GameValue) {
    return counted(board, maskOf(dead ?? [], board.rows * board.cols), value);
  }

  private summary(game: GameValue): Omit<GameEntry, "id" | "changed"> & Pick<GameValue, "names"> {
    const result = this.isOver(game) ? this.result(game) : null;
    const winner = /^[BW]\+/.exec(result ?? "") && game.human !== BOTH ? result![0] : null;
    return {
      opponent: game.opponent, ladder: game.ladder, status: this.status(game), size: game.board.size[0],
      won: winner ? (winner === "B") === (game.human === BLACK) : null,
      you: game.human === BOTH ? "both" : nameOf(game.human as Side), names: game.names,
      moves: game.board.moves.length, handicap: game.board.handicap, result,
    }; // prettier-ignore
  }

  /** Return everything that the page shows. */
  private state(open: Open): Game {
    const { game, trouble } = open;
    const { board: value } = game;
    const board = boardOf(this.engine, value);
    const count = game.dead ? this.counted(board, game) : null;
    const clock = structuredClone(game.clock);
    const playing = this.status(game) === "playing";
    if (clock && playing) waited(clock, value.turn, now() - open.since);
    const [black, white] = board.prisoners;
    const shown: Game = {
      ...this.summary(game), ...positionOf(board), id: game.id, version: game.version, teach: game.teach,
      lesson: game.lesson, worst: this.isOver(game) ? (worstLessons(game.lessons) as unknown as Lesson[]) : [], trouble, open: game.open,
      size: value.size, komi: value.komi, handicap: value.handicap, scoring: value.rules.scoring, start: value.stones,
      moves: namedMoves(value), captures: { black, white }, illegal: illegalPoints(board), suicide: value.rules.suicide,
      result: this.result(game) || null, thinking: open.job !== null && this.waitsForMachine(game),
      dead: game.dead && named(game.dead, board), count,
      clock: clock && { ...clock, running: playing },
    }; // prettier-ignore
    board.close();
    return shown;
  }
}

export function newId(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(9)))).replace(/\+/g, "-").replace(/\//g, "_");
}

/** Return the move that a person typed; throws where that is none. */
function readMove(text: string, [rows, cols]: [number, number]): Index {
  if (text === "pass") return PASS;
  const found = indexOf(text, rows, cols);
  if (found === PASS) throw new ApiError(t("noMove", { move: text }), 422);
  return found;
}

