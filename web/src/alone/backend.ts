// The backend that needs no server: it answers the same requests with the engine in the page.

import { ApiError, type Opponent } from "../api";
import { methodOf, type Backend, type Options } from "../backend";
import type { Engine } from "../engine/memory";
import type { Workers } from "../engine/workers";
import { t } from "../i18n";
import { complain } from "../status";
import { Games, type NewGame } from "./games";
import type { Rated } from "./ladder";
import { analyse, estimate, scored, type ScoreAsked } from "./looks";
import { addProblems, answer, listProblems, problemOf, removeProblem, showProblem, type Problem } from "./problems";
import { readGames, unfinished, whole } from "./records";
import { Reviews } from "./reviews";
import type { Store } from "./store";
import { asBoard, illegalPoints, namedMoves, positionOf, withBoard, type Asked } from "./values";

/** What `make site` writes beside the networks. */
export interface Facts {
  opponents: Opponent[];
  rated: Rated;
  problems: Problem[];
}

const OFFERED = ["home", "play", "review", "problems", "study", "score", "library", "papers", "player", "export"];

/** A paper, in a file of its own beside the other facts. */
interface Shown {
  listed: { id: string };
  exhibit: object;
  results: object;
}

interface Request {
  /** The variable parts of the path. */
  names: string[];
  query: URLSearchParams;
  json: any;
  body: Blob | string;
  signal?: AbortSignal;
}

type Route = (request: Request) => unknown;

export class Alone implements Backend {
  private readonly games: Games;
  private readonly reviews: Reviews;
  private readonly routes: [pattern: RegExp, route: Route][];

  constructor(
    readonly store: Store,
    private readonly engine: Engine,
    private readonly workers: Workers,
    private readonly facts: Facts,
  ) {
    this.games = new Games(store, workers, engine, facts.opponents, facts.rated);
    this.reviews = new Reviews(store, workers, engine);
    this.routes = Object.entries(this.table()).map(([path, route]) => [new RegExp(`^${path.replace(/:\w+/g, "([^/]+)")}$`), route]);
    void this.reviews.resume().catch(complain);
  }

  async ask(path: string, options: Options): Promise<unknown> {
    const [place, query = ""] = path.split("?");
    const wanted = `${methodOf(options)} ${place}`;
    for (const [pattern, route] of this.routes) {
      const found = pattern.exec(wanted);
      if (!found) continue;
      const { json, body = "", signal } = options;
      // As a server would: nobody may change what was answered, and nothing is answered at once.
      const answered = await route({ names: found.slice(1).map(decodeURIComponent), query: new URLSearchParams(query), json, body, signal });
      return structuredClone(answered);
    }
    throw new ApiError(t("needsPython"), 404);
  }

  async lines(path: string, json: unknown, signal: AbortSignal, take: (value: unknown) => void): Promise<void> {
    const visits = Number(new URLSearchParams(path.split("?")[1]).get("visits") ?? 125);
    await analyse(this.workers, json as Asked, visits, signal, take);
  }

  async file(path: string): Promise<Blob> {
    if (path === "/everything") return this.store.export();
    const [, kind, id, file] = path.split("/") as [string, string, string, string];
    return new Blob([kind === "games" ? await this.games.sgf(id) : await this.reviews.file(id, file)]);
  }

  offers(view: string): boolean {
    return OFFERED.includes(view);
  }

  private table(): Record<string, Route> {
    const { games, reviews, store, engine, workers, facts } = this;
    const changes = { count: games.count, undo: games.undo, "go-on": games.goOn, accept: games.accept };
    const first = async (body: Blob | string, query: URLSearchParams, number = 1) => {
      const found = await readGames(body, query.get("name") ?? "game.sgf");
      if (!found[number - 1]) throw new ApiError(t("gameOf", { n: found.length }), 422);
      return { one: found[number - 1]!, games: found.length };
    };
    const paper = async (id: string) => {
      const found = (await shownPapers()).find(({ listed }) => listed.id === id);
      if (!found) throw new ApiError(t("notHere"), 404);
      return found;
    };
    return {
      "GET /preparing": () => ({ steps: null }),
      "GET /opponents": () => facts.opponents,
      "GET /games": () => games.list(),
      "POST /games": ({ json }) => games.begin(json as NewGame),
      "GET /ladder": ({ query }) => games.onLadder(Number(query.get("size") ?? 9)),
      "GET /fair-game": ({ query }) => games.fair(query),
      "POST /games/upload": async ({ body, query }) => {
        const board = unfinished(engine, (await first(body, query)).one);
        const colour = query.get("colour") === "white" ? "white" : "black";
        return games.add({ colour, opponent: query.get("opponent") ?? "level-1" }, board);
      },
      "GET /games/:id": ({ names, query }) => games.show(names[0]!, query.has("version") ? Number(query.get("version")) : undefined),
      "DELETE /games/:id": ({ names }) => games.delete(names[0]!),
      "POST /games/:id/moves": ({ names, json }) => games.play(names[0]!, json.version, json.move, json.sure ?? false),
      "POST /games/:id/dead": ({ names, json }) => games.toggle(names[0]!, json.version, json.vertex),
      "POST /games/:id/retry": ({ names }) => games.retry(names[0]!),
      "POST /games/:id/hint": ({ names, signal }) => games.hint(names[0]!, signal),
      "POST /games/:id/review": async ({ names }) =>
        reviews.add(await games.sgf(names[0]!), "game.sgf", { you: await games.you(names[0]!) }),
      "POST /games/:id/(count|undo|go-on|accept)": ({ names, json }) =>
        changes[names[1] as keyof typeof changes].call(games, names[0]!, json.version),
      "GET /tags": async () => {
        const all = await store.list<{ id: string; tags: string[] }>("tags");
        return Object.fromEntries(all.map(({ id, tags }) => [id, tags]));
      },
      "PUT /tags/:id": ({ names, json }) => store.put("tags", names[0]!, json, json),
      "GET /problems": () => listProblems(store),
      "POST /problems/start": () => addProblems(store, facts.problems),
      "POST /problems/upload": async ({ body, query }) => {
        const found = await readGames(body, query.get("name") ?? "problems.sgf");
        const problems = await Promise.all(found.map((one) => problemOf(engine, one)));
        const kept = problems.filter((one) => one !== null);
        if (!kept.length) throw new ApiError(t("noProblems"), 422);
        return { ids: await addProblems(store, kept), others: found.length - kept.length, unread: [] };
      },
      "GET /problems/:id": ({ names }) => showProblem(store, engine, names[0]!),
      "POST /problems/:id/answer": ({ names, json }) => answer(store, engine, workers, names[0]!, json.move),
      "DELETE /problems/:id": ({ names }) => removeProblem(store, names[0]!),
      "GET /reviews": () => reviews.entries(),
      "POST /reviews": ({ body, query }) =>
        reviews.add(body, query.get("name") ?? "game.sgf", { quick: query.get("quick") === "true" }),
      "DELETE /reviews": () => reviews.cancelAll(),
      "GET /reviews/:id": ({ names, query }) => reviews.show(names[0]!, query.has("known") ? Number(query.get("known")) : null),
      "DELETE /reviews/:id": ({ names }) => reviews.delete(names[0]!),
      "POST /reviews/:id/retry": ({ names }) => reviews.retry(names[0]!),
      "POST /reviews/:id/problems": ({ names, query }) => {
        const colour = query.get("colour");
        return reviews.practise(names[0]!, colour === "black" || colour === "white" ? colour : null);
      },
      "POST /position": ({ json }) => {
        const value = asBoard(json as Asked);
        return withBoard(engine, value, (board) => ({
          ...positionOf(board), moves: namedMoves(value), illegal: illegalPoints(board), over: board.isOver,
        })); // prettier-ignore
      },
      "POST /estimate": ({ json, signal }) => estimate(workers, json as Asked, signal),
      "POST /score": ({ json, signal }) => scored(workers, engine, json as ScoreAsked, signal),
      "POST /records": async ({ body, query }) => {
        const { one, games } = await first(body, query, Number(query.get("game") ?? 1));
        return { ...whole(engine, one), games };
      },
      "GET /papers": async () => (await shownPapers()).map(({ listed }) => listed),
      "GET /papers/:id": async ({ names }) => (await paper(names[0]!)).exhibit,
      "GET /papers/:id/results": async ({ names }) => (await paper(names[0]!)).results,
      "POST /everything": async ({ body }) => {
        const added = await store.import(typeof body === "string" ? body : await body.text());
        await reviews.resume();
        return { added };
      },
    };
  }
}

async function shownPapers(): Promise<Shown[]> {
  const file = "data/papers.json";
  const answer = await fetch(file).catch(() => null);
  if (!answer?.ok) throw new ApiError(t("notLoaded", { file }), 0);
  return answer.json();
}
