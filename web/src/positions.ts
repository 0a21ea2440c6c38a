// Positions as the page shows them, played by the kernels of tengen.wasm.

import { ApiError, type BoardState, type Colour } from "./api";
import { Board, PASS, type Index, type Side } from "./engine/board";
import { LAYOUT, RULES } from "./engine/kernels";
import { Engine } from "./engine/memory";
import { t } from "./i18n";
import { toVertex, toXY } from "./points";

export type Move = [colour: string, vertex: string];

const KO = 3; // why a move is refused: it retakes a ko at once

let engine: Engine;

// A module that multiplies and adds at once, which only browsers with relaxed SIMD accept.
const RELAXED = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 133, 2, 11,
]); // prettier-ignore

/** Return the name of the fastest kernels that this browser runs. */
export function fastest(): string {
  return WebAssembly.validate(RELAXED) ? "tengen-relaxed.wasm" : "tengen.wasm";
}

/** Compile the kernels; a page in a file holds them itself. */
export async function compiled(file = "tengen.wasm"): Promise<WebAssembly.Module> {
  const held = document.getElementById("kernels")?.textContent;
  if (held) return WebAssembly.compile(Uint8Array.from(atob(held), (c) => c.charCodeAt(0)));
  const bytes = await fetch(`static/${file}`).then((answer) => {
    if (!answer.ok) throw new ApiError(t("noAnswer"), 0);
    return answer.arrayBuffer();
  });
  return WebAssembly.compile(bytes);
}

/** Load the kernels, which has to come before all else here. */
export async function loadKernels(module: WebAssembly.Module): Promise<Engine> {
  return (engine = await Engine.load(module));
}

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

/** Return the place of a vertex such as D4, row by row from the top left; a pass has none. */
export function indexOf(vertex: string, rows: number, cols: number): Index {
  const point = toXY(vertex, rows);
  return point && point[0] < cols ? point[1] * cols + point[0] : PASS;
}

export function vertexOf(index: Index, rows: number, cols: number): string {
  return index === PASS ? "pass" : toVertex([index % cols, Math.floor(index / cols)], rows);
}

export function sideOf(colour: Colour): Side {
  return colour === "black" ? LAYOUT.BLACK : LAYOUT.WHITE;
}

/** Return stones in rows of `.`, `X` and `O` as numbers. */
export function numbersOf(stones: string[]): number[] {
  return stones.flatMap((row) => [...row].map((c) => ".XO".indexOf(c)));
}

/** Return a grid of the kernels as rows of `.`, `X` and `O`. */
export function rowsOf(grid: ArrayLike<number>, cols: number): string[] {
  const letters = Array.from(grid, (stone) => ".XO"[stone]).join("");
  return letters.match(new RegExp(`.{${cols}}`, "g")) ?? [];
}

/** Let `use` play on a board that begins with a position, whose earlier moves are not known. */
function onBoard<T>({ stones, turn, suicide }: BoardState, use: (board: Board) => T): T {
  const rules = { ...RULES.chinese, suicide: suicide ?? false };
  const board = new Board(engine, stones.length, stones[0]!.length, rules, numbersOf(stones), sideOf(turn));
  try {
    return use(board);
  } finally {
    board.close();
  }
}

/** Play on; a ko may be retaken, as records do that leave moves out. */
function played(board: Board, [colour, vertex]: Move): boolean {
  const side = colour === "W" ? LAYOUT.WHITE : LAYOUT.BLACK;
  const move = indexOf(vertex, board.rows, board.cols);
  const refused = board.verdict(move, side);
  return (refused === 0 || refused === KO) && board.push(move, side);
}

function stateOf(board: Board, { captures, suicide }: BoardState, last: string): BoardState {
  const [black, white] = board.prisoners;
  return {
    stones: rowsOf(board.grid, board.cols),
    turn: board.turn === LAYOUT.BLACK ? "black" : "white",
    last,
    captures: [captures[0] + black, captures[1] + white],
    suicide,
  };
}

/** Play a move of the side to move; null if it is not legal. */
export function afterMove(state: BoardState, vertex: string): BoardState | null {
  return replay(state, [[state.turn === "black" ? "B" : "W", vertex]])[1] ?? null;
}

/** Return the position before the first move and after each one, as far as the moves are legal. */
export function replay(start: BoardState, moves: Move[]): BoardState[] {
  return onBoard(start, (board) => {
    const found = [start];
    for (const move of moves) {
      if (!played(board, move)) break;
      found.push(stateOf(board, start, move[1]));
    }
    return found;
  });
}

/** Return the position after all moves; one that is not legal only gives the turn away. */
export function afterAll(start: BoardState, moves: Move[]): BoardState {
  if (!moves.length) return start;
  return onBoard(start, (board) => {
    let last = start.last;
    let next = start.turn;
    for (const move of moves) {
      if (played(board, move)) last = move[1];
      next = move[0] === "B" ? "white" : "black";
    }
    return { ...stateOf(board, start, ""), last, turn: next };
  });
}

/** Return a position as the server takes it: stones, then moves, by rules that allow them. */
export function positionOf({ stones, turn, suicide }: BoardState, moves: Move[], komi: number) {
  return { stones, turn, moves, komi, ...(suicide && { rules: "new_zealand" }) };
}

/** Return the most handicap stones that have usual points on a board. */
export function mostHandicap(size: number): number {
  return size < 7 ? 0 : size >= 9 && size % 2 ? 9 : 4;
}

/** Return an empty board with its usual handicap stones. */
export function boardWith(size: number, handicap: number): string[] {
  const [near, middle, far] = [size < 13 ? 3 : 4, (size + 1) / 2, size < 13 ? size - 2 : size - 3];
  const corners = [[far, far], [near, near], [near, far], [far, near]];
  const sides = [[near, middle], [far, middle], [middle, near], [middle, far]];
  const order = [
    ...corners.slice(0, Math.min(handicap, 4)),
    ...sides.slice(0, handicap >= 8 ? 4 : handicap >= 6 ? 2 : 0),
    ...(handicap >= 5 && handicap % 2 ? [[middle, middle]] : []),
  ];
  const grid = Array.from({ length: size }, () => Array<string>(size).fill("."));
  for (const [x, y] of handicap ? order : []) {
    grid[size - y!]![x! - 1] = "X";
  }
  return grid.map((row) => row.join(""));
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
