// Convert between GTP vertices ("D4") and Shudan's [x, y] from the top left.

import type { Count } from "./api";

export type XY = [number, number];

const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";

export function toXY(vertex: string, rows: number): XY | null {
  const x = LETTERS.indexOf(vertex[0]?.toUpperCase() ?? "");
  const y = rows - Number(vertex.slice(1));
  return x >= 0 && Number.isInteger(y) && y >= 0 && y < rows ? [x, y] : null;
}

export function toVertex([x, y]: XY, rows: number): string {
  return `${LETTERS[x]}${rows - y}`;
}

/** Make a map of the board, filled with one value. */
export function filled<T>(rows: number, cols: number, value: T): T[][] {
  return Array.from({ length: rows }, () => Array<T>(cols).fill(value));
}

/** Turn a flat row-major list into rows. */
export function inRows(flat: number[], cols: number): number[][] {
  const rows: number[][] = [];
  for (let i = 0; i < flat.length; i += cols) rows.push(flat.slice(i, i + cols));
  return rows;
}

/** Read a packed map of ownership: one letter per point, A (White's) to U (Black's). */
export function unpacked(letters: string): number[] {
  return [...letters].map((letter) => (letter.charCodeAt(0) - 75) / 10);
}

/** Colour the points of a count: Black's above 0, White's below. */
export function paintOf(count: Count | null | undefined): number[][] | null {
  if (!count) return null;
  return count.black_points.map((row, y) =>
    [...row].map((c, x) => (c === "1" ? 0.7 : count.white_points[y]![x] === "1" ? -0.7 : 0)),
  );
}

export type Sign = -1 | 0 | 1;

export function signs(stones: string[]): Sign[][] {
  return stones.map((row) => [...row].map((c): Sign => (c === "X" ? 1 : c === "O" ? -1 : 0)));
}

/** Format points from Black's view as results are written: B+3.5. */
export function asResult(score: number): string {
  const rounded = Math.round(score * 10) / 10;
  const points = Math.abs(rounded);
  const told = points < 1000 ? points.toFixed(1) : Math.round(points).toLocaleString();
  return rounded === 0 ? "even" : `${rounded > 0 ? "B" : "W"}+${told}`;
}

export function percent(share: number, digits = 0): string {
  return `${(100 * share).toFixed(digits)} %`;
}
