// The rules of placing stones, so that a move is on the board before the server has answered.
// The server has the last word on superko and the end of a game.

import type { BoardState, Colour } from "./api";
import { toXY, type XY } from "./points";

export type Move = [colour: string, vertex: string];

export function blank(rows: number, cols = rows): BoardState {
  const stones = Array<string>(rows).fill(".".repeat(cols));
  return { stones, turn: "black", last: null, captures: [0, 0] };
}

export function opposite(colour: Colour): Colour {
  return colour === "black" ? "white" : "black";
}

export function alternating(first: Colour, moves: string[]): Move[] {
  return moves.map((move, i) => [(first === "black") === (i % 2 === 0) ? "B" : "W", move]);
}

/** Play a move: take what has no liberties left; refuse occupied points, and suicide where it is not allowed. */
export function afterMove(state: BoardState, move: string): BoardState | null {
  const turn = opposite(state.turn);
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
  const lost = taken ? [] : dead(grid, point);
  if (lost.length && !state.suicide) return null;
  for (const [i, j] of lost) grid[j]![i] = ".";
  const captures: [number, number] = [...state.captures];
  captures[state.turn === "black" ? 0 : 1] += taken;
  captures[state.turn === "black" ? 1 : 0] += lost.length;
  return { ...state, stones: grid.map((row) => row.join("")), turn, last: move, captures };
}

/** Return a position as the server takes it: stones, then moves, by rules that allow them. */
export function positionOf({ stones, turn, suicide }: BoardState, moves: Move[], komi: number) {
  return { stones, turn, moves, komi, ...(suicide && { rules: "new_zealand" }) };
}

/** Return the position before the first move and after each one, as far as the moves are legal. */
export function replay(start: BoardState, moves: Move[]): BoardState[] {
  const found = [start];
  for (const [colour, vertex] of moves) {
    const turn = colour === "W" ? "white" : "black";
    const next = afterMove({ ...found[found.length - 1]!, turn }, vertex);
    if (!next) break;
    found.push(next);
  }
  return found;
}

/** Return the number of the move that put each stone on the board. */
export function moveNumbers(stones: string[], moves: Move[]): Record<string, number> {
  const numbers: Record<string, number> = {};
  moves.forEach(([, vertex], i) => {
    const point = toXY(vertex, stones.length);
    if (point && stones[point[1]]![point[0]] !== ".") numbers[vertex] = i + 1;
  });
  return numbers;
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
