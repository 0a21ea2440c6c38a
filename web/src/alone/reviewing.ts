// The review of a game: one look at every position, then searches where it matters (`reviews/game.py`).

import type { Cause, Judged, MoveReview, Part, Progress, Side as SideSummary } from "../api";
import { PASS, type Index, type Side } from "../engine/board";
import { REVIEW as R } from "../engine/kernels";
import { beside } from "../engine/judge";
import type { Look, Searched } from "../engine/tasks";
import type { How, Workers } from "../engine/workers";
import { vertexOf } from "../positions";
import { packed } from "./looks";
import { BLACK, nameOf, taskOf, type BoardValue } from "./values";

const CHUNK = 8;

/** The evaluation of a position, from Black's view. */
interface Evaluated {
  look: Look;
  winrate: number;
  score: number;
  spread: number;
  visits: number;
  best: Index;
  line: Index[];
  candidates: [move: Index, lost: number][];
  ownership: ArrayLike<number>;
  /** The stones there. */
  grid: number[];
}

export interface Steps {
  quick: boolean;
  visits: number | null;
  signal: AbortSignal;
  tell: (parts: Part[], progress: Progress) => void;
}

/** Review a game; return all its parts. */
export async function review(workers: Workers, board: BoardValue, { quick, visits, signal, tell }: Steps): Promise<Part[]> {
  const found: Evaluated[] = [];
  const length = board.moves.length;
  const told = (stage: Progress["stage"], numbers: Iterable<number>, done: number, total: number) => {
    // A position ends one move and starts the next.
    const ends = new Set([...numbers].flatMap((n) => [n, n + 1]).filter((n) => found[n]));
    tell([...ends].map((n) => partOf(board, found, n)), { stage, done, total });
  };
  const position = taskOf(board);
  let done = 0;
  const chunks = Array.from({ length: Math.ceil((length + 1) / CHUNK) }, (_, i) => i * CHUNK);
  await Promise.all(
    chunks.map(async (from) => {
      const to = Math.min(from + CHUNK - 1, length);
      const looks = await workers.run("look", { position, from, to }, { signal });
      if (signal.aborted) return;
      for (const look of looks) found[look.number] = evaluated(look);
      done += looks.length;
      told("first pass", looks.map((look) => look.number), done, length + 1);
    }),
  );
  signal.throwIfAborted();
  keepEnd(found);
  const usual = ofBoard(R.VISITS, board);
  const numbers = [...new Set(chosen(board, found, quick).flatMap((n) => [n - 1, n]))].sort((a, b) => a - b);
  let count = 0;
  await Promise.all(
    numbers.map(async (n) => {
      if (!found[n]!.look.over) {
        const turn = position.moves[n]?.[0] ?? board.turn;
        const given = { position: { ...position, moves: position.moves.slice(0, n), turn }, visits: quick ? R.CONFIRMING : (visits ?? usual) };
        const searched = await workers.run("search", given, { signal });
        if (signal.aborted) return;
        found[n] = deeper(found[n]!, searched, turn);
      }
      told("search", [n], ++count, numbers.length);
    }),
  );
  signal.throwIfAborted();
  for (const n of numbers) if (found[n]!.look.over && n) found[n] = { ...found[n - 1]!, look: found[n]!.look, grid: found[n]!.grid, best: PASS, line: [], candidates: [] };
  const lost = movesOf(board, found).filter((move) => move.verdict).sort((a, b) => b.points_lost - a.points_lost).slice(0, R.LINES);
  let lines = 0;
  await Promise.all(
    lost.map(async ({ number }) => {
      const n = number - 1;
      const given = { position: { ...position, moves: position.moves.slice(0, n), turn: position.moves[n]![0] }, line: found[n]!.line };
      const line = await workers.run("extend", given, { signal });
      found[n] = { ...found[n]!, line };
      told("lines", [n], ++lines, lost.length);
    }),
  );
  signal.throwIfAborted();
  return found.map((_, n) => partOf(board, found, n));
}

/** Review the last move of a game by one look before it and one after. */
export async function reviewLast(workers: Workers, board: BoardValue, signal?: AbortSignal): Promise<MoveReview> {
  const last = board.moves.length;
  const how: How = { signal, soon: true };
  const looks = await workers.run("look", { position: taskOf(board), from: last - 1, to: last }, how);
  const before = evaluated(looks[0]!);
  const after = evaluated(looks[1]!);
  if (after.look.over) Object.assign(after, { winrate: before.winrate, score: before.score, best: PASS, line: [PASS] });
  return moveReview(board, last, before, after);
}

function evaluated(look: Look): Evaluated {
  const { winrate, score, spread, best, ownership, stones: grid } = look;
  return { look, winrate, score, spread, visits: 1, best, line: [best], candidates: [], ownership, grid };
}

/** After the end of a game, keep the values before it. */
function keepEnd(found: Evaluated[]): void {
  found.forEach((one, n) => {
    if (!one.look.over || !n) return;
    const { winrate, score, look } = found[n - 1]!;
    Object.assign(one, { winrate, score, best: PASS, line: [PASS] });
    Object.assign(one.look, { winrate: look.winrate, score: look.score });
  });
}

/** Return a position with what a search found. */
function deeper(first: Evaluated, found: Searched, turn: Side): Evaluated {
  const [best] = found.candidates;
  const sign = turn === BLACK ? 1 : -1;
  const least = Math.max(R.LEAST_LINE_VISITS, R.LEAST_SHARE * found.visits);
  const kept = found.candidates.slice(0, R.CANDIDATES).filter((one, i) => i === 0 || one.visits >= least);
  const trusted = best?.lineVisits.filter((visits) => visits >= R.LEAST_LINE_VISITS).length ?? 0;
  return {
    ...first, winrate: found.winrate, score: found.score, spread: found.spread, visits: Math.max(found.visits, 2),
    best: best?.move ?? PASS, line: (best?.line ?? []).slice(0, Math.max(trusted, 1)).slice(0, R.LINE),
    candidates: kept.map((one) => [one.move, Math.max(0, sign * (best!.score - one.score))]), ownership: found.ownership,
  }; // prettier-ignore
}

/** Return a value of a table by the points of the board. */
function ofBoard(table: readonly (readonly [least: number, value: number])[], { size: [rows, cols] }: BoardValue): number {
  return table.find(([least]) => rows * cols >= least)![1];
}

/** Return the numbers of the moves worth a search: most points at stake first; in a quick review, what would be mistakes. */
function chosen(board: BoardValue, found: Evaluated[], quick: boolean): number[] {
  const stakes = movesOf(board, found).flatMap((move): [number, number][] => {
    const [before, after] = [found[move.number - 1]!, found[move.number]!];
    const [, played] = board.moves[move.number - 1]!;
    const { next } = before.look;
    if (played === PASS || !next || isNeutral(board, played, before, after)) return [];
    if (quick) return exceeds(move.points_lost, move.error, R.CLEARLY) ? [[-move.points_lost, move.number]] : [];
    const stake = move.points_lost + R.UNLIKELY * before.spread * (1 - next.best / next.most);
    return stake >= R.LEAST_INTEREST ? [[-stake, move.number]] : [];
  });
  return stakes.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, quick ? ofBoard(R.CONFIRMED, board) : R.SEARCHES).map(([, n]) => n);
}

function movesOf(board: BoardValue, found: Evaluated[]): MoveReview[] {
  return found.slice(1).map((after, i) => moveReview(board, i + 1, found[i]!, after));
}

/** Compare the positions before and after a move. */
function moveReview(board: BoardValue, n: number, before: Evaluated, after: Evaluated): MoveReview {
  const [side, move] = board.moves[n - 1]!;
  const [rows, cols] = board.size;
  const searched = before.visits > 1 && after.visits > 1;
  const visits = searched ? Math.min(before.visits, after.visits) : 1;
  const [start, end] = searched ? [before.score, after.score] : [before.look.score, after.look.score];
  let lost = Math.min(Math.max(0, (start - end) * (side === BLACK ? 1 : -1)), rows * cols);
  const settled = move === PASS && after.best === PASS;
  if (settled || move === before.best || after.look.over || isNeutral(board, move, before, after)) lost = 0;
  const error = (R.NETWORK_SCATTER * before.spread) / visits ** 0.25;
  const cause = lost > 0 ? causeOf(board, n, before, after) : { name: "" as const, stones: 0 };
  // One evaluation proves no mistake.
  const verdict = visits > 1 && exceeds(lost, error, R.CLEARLY) ? "mistake" : exceeds(lost, error, R.DOUBTFUL) ? "doubtful" : "";
  const next = move === PASS ? null : before.look.next;
  const phase = R.PHASES[6 * n <= rows * cols ? 0 : 2 * n <= rows * cols ? 1 : 2];
  return {
    number: n, colour: nameOf(side), move: vertexOf(move, rows, cols), points_lost: rounded(lost), error: rounded(error),
    best: vertexOf(before.best, rows, cols), line: before.line.map((one) => vertexOf(one, rows, cols)),
    winrate: after.winrate, score: rounded(after.score), visits, probability: next?.chance ?? null, rank: next?.rank ?? null,
    verdict, phase, cause: cause.name, stones: cause.stones,
  }; // prettier-ignore
}

/** Return whether a move lost points, and more than so many times their error. */
function exceeds(lost: number, error: number, errors: number): boolean {
  return lost >= Math.max(R.LEAST_MISTAKE, errors * error);
}

function rounded(value: number): number {
  return Math.round(1000 * value) / 1000;
}

/** Return whether a move fills a neutral point: a small region that touches both colours, and nothing else changes. */
function isNeutral({ size: [rows, cols] }: BoardValue, move: Index, before: Evaluated, after: Evaluated): boolean {
  if (move === PASS) return false;
  const { grid } = before;
  const region = new Set([move]);
  const rim = new Set<number>();
  for (const point of region) {
    if (region.size > R.DAME_REGION) return false;
    for (const near of beside({ rows, cols }, point)) {
      if (grid[near]) rim.add(grid[near]!);
      else region.add(near);
    }
  }
  if (rim.size !== 2) return false;
  return grid.every((_, i) => region.has(i) || Math.abs(after.ownership[i]! - before.ownership[i]!) < R.DAME_CHANGE);
}

/** Return why a move is worse than the best one of the position before it. */
function causeOf({ moves, size }: BoardValue, n: number, before: Evaluated, after: Evaluated): { name: Cause; stones: number } {
  const [side, move] = moves[n - 1]!;
  const { best, grid } = before;
  if (move === PASS) return { name: "pass", stones: 0 };
  if (best === PASS) return { name: "", stones: 0 };
  const sign = side === BLACK ? 1 : -1;
  let [own, theirs] = [0, 0];
  grid.forEach((stone, i) => {
    if (stone && sign * before.ownership[i]! > R.CHANGED && sign * after.ownership[i]! < -R.CHANGED) stone === side ? own++ : theirs++;
  });
  if (Math.max(own, theirs) >= R.GROUP) return own >= theirs ? { name: "group", stones: own } : { name: "escape", stones: theirs };
  const far = (one: Index, other: Index) => {
    const [row, col] = [one, other].map((i) => [Math.floor(i / size[1]), i % size[1]]) as [[number, number], [number, number]];
    return Math.max(Math.abs(row[0] - col[0]), Math.abs(row[1] - col[1]));
  };
  if (far(move, best) <= R.NEAR) return { name: "local", stones: 0 };
  const last = moves[n - 2]?.[1];
  if (last !== undefined && last !== PASS && far(last, best) <= R.NEAR) return { name: "answer", stones: 0 };
  return { name: "direction", stones: 0 };
}

function partOf(board: BoardValue, found: Evaluated[], n: number): Part {
  const one = found[n]!;
  const name = (move: Index) => vertexOf(move, ...board.size);
  const position: Judged = {
    winrate: one.winrate, score: one.score, best: name(one.best), line: one.line.map(name), visits: one.visits,
    candidates: one.candidates.map(([move, points_lost]) => ({ move: name(move), points_lost })),
    ownership: packed(one.ownership), guesses: one.look.guesses.map(([move, probability]) => ({ move: name(move), probability })),
  }; // prettier-ignore
  return { number: n, position, move: n && found[n - 1] ? moveReview(board, n, found[n - 1]!, one) : null };
}

/** Sum up one side. */
export function sideOf(parts: Part[], colour: "black" | "white"): SideSummary {
  const mine = parts.flatMap((part) => part.move ?? []).filter((move) => move.colour === colour);
  const ranked = mine.flatMap(({ rank }) => rank ?? []);
  const share = (least: number) => (ranked.length ? ranked.filter((rank) => rank <= least).length / ranked.length : null);
  return {
    moves: mine.length, mean_points_lost: mine.reduce((sum, move) => sum + move.points_lost, 0) / Math.max(mine.length, 1),
    mistakes: mine.filter((move) => move.verdict === "mistake").length, top1: share(1), top5: share(5),
  }; // prettier-ignore
}
