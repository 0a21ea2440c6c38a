// Moves played beside the game, from one of its positions, and what a search thinks of them.

import { useEffect, useState } from "preact/hooks";
import { lines, type BoardState, type Colour, type Hint } from "./api";
import { toXY, type XY } from "./points";
import { complain } from "./status";

export interface Line {
  from: number;
  moves: string[];
  /** How many of the moves are on the board. */
  shown: number;
}

export function alternating(first: Colour, moves: string[]): [string, string][] {
  return moves.map((move, i) => [(first === "black") === (i % 2 === 0) ? "B" : "W", move]);
}

export function positionOf(base: BoardState, komi: number, moves: string[]) {
  return { stones: base.stones, turn: base.turn, komi, moves: alternating(base.turn, moves) };
}

/** Return the board after the shown moves of a line; null if one of them is not legal. */
export function afterLine(line: Line, positions: BoardState[]): BoardState | null {
  let state: BoardState | null = positions[line.from]!;
  for (const move of line.moves.slice(0, line.shown)) {
    state = state && afterMove(state, move);
  }
  return state;
}

/** Play a move: take what has no liberties left; refuse occupied points and suicide. */
function afterMove(state: BoardState, move: string): BoardState | null {
  const turn: Colour = state.turn === "black" ? "white" : "black";
  const point = toXY(move, state.stones.length);
  if (!point) return { ...state, turn, last: move };
  const [own, other] = state.turn === "black" ? ["X", "O"] : ["O", "X"];
  const grid = state.stones.map((row) => [...row]);
  const [x, y] = point;
  if (grid[y]![x] !== ".") return null;
  grid[y]![x] = own!;
  let taken = 0;
  for (const near of around(x, y)) {
    const block = grid[near[1]]?.[near[0]] === other ? dead(grid, near) : [];
    for (const [i, j] of block) grid[j]![i] = ".";
    taken += block.length;
  }
  if (!taken && dead(grid, point).length) return null;
  const captures: [number, number] = [...state.captures];
  captures[state.turn === "black" ? 0 : 1] += taken;
  return { stones: grid.map((row) => row.join("")), turn, last: move, captures };
}

function around(x: number, y: number): XY[] {
  return [
    [x + 1, y],
    [x - 1, y],
    [x, y + 1],
    [x, y - 1],
  ];
}

/** Return the stones of a block without liberties; nothing if it has one. */
function dead(grid: string[][], start: XY): XY[] {
  const colour = grid[start[1]]![start[0]]!;
  const seen = new Set([start.join()]);
  const block = [start];
  for (const [x, y] of block) {
    for (const near of around(x, y)) {
      const there = grid[near[1]]?.[near[0]];
      if (there === ".") return [];
      if (there === colour && !seen.has(near.join())) {
        seen.add(near.join());
        block.push(near);
      }
    }
  }
  return block;
}

/** Search a position for as long as it is shown; null while nothing is known. */
export function useAnalysis(position: object | null, visits: number): Hint | null {
  const [found, setFound] = useState<Hint | null>(null);
  const key = position && JSON.stringify(position);
  useEffect(() => {
    setFound(null);
    if (!key) return;
    const stop = new AbortController();
    lines<Hint>(`/analyse?visits=${visits}`, JSON.parse(key), stop.signal, setFound).catch(
      (problem) => stop.signal.aborted || complain(problem),
    );
    return () => stop.abort();
  }, [key, visits]);
  return found;
}
