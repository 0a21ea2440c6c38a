// What the network says of single positions: hints, estimates, scores.

import type { BoardState, Count, Estimate, Hint } from "../api";
import type { Engine } from "../engine/memory";
import type { Searched, Look } from "../engine/tasks";
import type { How, Workers } from "../engine/workers";
import { indexOf, vertexOf } from "../positions";
import { BLACK, counted, marked, maskOf, named, positionOf, taskOf, withBoard, type Asked, asBoard, type BoardValue } from "./values";

export const JUDGE = "tengen-judge";
const HINTS = 5;
const LINE = 12;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTU";

/** Pack an ownership into one letter per point, A (White's) to U (Black's). */
export function packed(ownership: ArrayLike<number>): string {
  return Array.from(ownership, (one) => LETTERS[Math.min(Math.max(Math.round((one + 1) * 10), 0), 20)]).join("");
}

/** Return what a search found, from the view of the side to move. */
export function hintOf(found: Searched, { size, turn }: BoardValue): Hint {
  const sign = turn === BLACK ? 1 : -1;
  const chance = (winrate: number) => (sign === 1 ? winrate : 1 - winrate);
  return {
    by: JUDGE, visits: found.visits, spread: found.spread, winrate: chance(found.winrate), score: sign * found.score,
    ownership: Array.from(found.ownership, (one) => sign * one),
    moves: found.candidates.slice(0, HINTS).map((one) => ({
      move: vertexOf(one.move, ...size), visits: one.visits, winrate: chance(one.winrate), score: sign * one.score,
      prior: one.prior, line: one.line.slice(0, LINE).map((move) => vertexOf(move, ...size)),
    })),
  }; // prettier-ignore
}

/** Search a position, and report on the way. */
export async function analyse(workers: Workers, asked: Asked, visits: number, signal: AbortSignal, take: (hint: Hint) => void): Promise<void> {
  const board = asBoard(asked);
  const tell = (part: unknown) => signal.aborted || take(hintOf(part as Searched, board));
  tell(await workers.run("search", { position: taskOf(board), visits }, { signal, take: tell, soon: true }));
}

/** Look once at the last position of a game. */
export async function lookAt(workers: Workers, board: BoardValue, how: How = {}): Promise<Look> {
  const last = board.moves.length;
  const [found] = await workers.run("look", { position: taskOf(board), from: last, to: last }, how);
  return found!;
}

export async function estimate(workers: Workers, asked: Asked, signal?: AbortSignal): Promise<Estimate> {
  const { score, spread, winrate, ownership } = await lookAt(workers, asBoard(asked), { signal, soon: true });
  return { score, spread, winrate, ownership: packed(ownership), by: JUDGE };
}

export interface ScoreAsked extends Asked {
  dead?: string[];
  alive?: string[];
  captures?: [number, number];
}

/** Judge every block, apply the visitor's corrections, and count territory and area. */
export async function scored(workers: Workers, engine: Engine, asked: ScoreAsked, signal?: AbortSignal): Promise<object & BoardState> {
  const value = asBoard(asked);
  const { dead = [], alive = [], captures = [0, 0] } = asked;
  const found = await workers.run("status", { position: taskOf(value) }, { signal, soon: true });
  return withBoard(engine, value, (board) => {
    const fallen = new Set(marked(found.dead));
    const blocks = board.blocks;
    for (const [vertices, out] of [[dead, true], [alive, false]] as const) {
      for (const vertex of vertices) {
        const point = indexOf(vertex, ...value.size);
        for (const stone of blocks.find(({ stones }) => stones.includes(point))?.stones ?? []) out ? fallen.add(stone) : fallen.delete(stone);
      }
    }
    const mask = maskOf(fallen, board.rows * board.cols);
    const count = (scoring: "area" | "territory"): Count => {
      const rules = { ...value.rules, scoring };
      return withBoard(engine, { ...value, rules }, (twin) => counted(twin, mask, { ...value, rules }, captures));
    };
    const sure = found.safe || dead.length + alive.length > 0;
    return {
      ...positionOf(board), dead: named(fallen, board), seki: named(marked(found.seki), board), safe: found.safe,
      safe_probability: found.chance, estimate: sure ? null : { ...found.outlook, by: JUDGE },
      blocks: found.blocks.map((block) => ({ ...block, stones: named(block.stones, board) })),
      territory: count("territory"), area: count("area"),
    }; // prettier-ignore
  });
}
