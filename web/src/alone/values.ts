// Games as plain values that can be stored, and what the page shows of a board and a count.

import { ApiError, type BoardState, type Colour, type Count, type CountPart } from "../api";
import { Board, PASS, countPoints, type Index, type Rules, type Side } from "../engine/board";
import { COUNTED_AS, LAYOUT, RULE_NAMES, RULES } from "../engine/kernels";
import type { Engine } from "../engine/memory";
import type { Position } from "../engine/tasks";
import { indexOf, numbersOf, rowsOf, sideOf, vertexOf } from "../positions";

export const BLACK = LAYOUT.BLACK;
export const WHITE = LAYOUT.WHITE;

export function nameOf(side: Side): Colour {
  return side === BLACK ? "black" : "white";
}

/** Everything that is needed to restore a game. */
export interface BoardValue {
  size: [rows: number, cols: number];
  rules: Rules;
  komi: number;
  handicap: number;
  /** The position before the first move, and who moves there. */
  stones: string[];
  first: Side;
  moves: [Side, Index][];
  turn: Side;
}

/** Return the rules of a name, in one of its spellings; Japanese ones if it has none. */
export function rulesNamed(name: string): Rules {
  const key = name.trim().toLowerCase().replace(/[- ]/g, "_");
  return (RULE_NAMES as Record<string, Rules>)[key] ?? RULES.japanese;
}

/** Return the name of rules, as records spell it. */
export function nameOfRules(rules: Rules): string {
  const same = ([, one]: [string, Rules]) =>
    one.ko === rules.ko && one.suicide === rules.suicide && one.scoring === rules.scoring && one.handicap_bonus === rules.handicap_bonus;
  return Object.entries(RULES as Record<string, Rules>).find(same)?.[0] ?? (rules.scoring === "area" ? "chinese" : "japanese");
}

/** Return White's points besides those on the board. */
export function bonusOf({ rules, komi, handicap }: BoardValue): number {
  if (handicap < 2 || rules.scoring !== "area" || rules.handicap_bonus === "none") return komi;
  return komi + (rules.handicap_bonus === "n" ? handicap : handicap - 1);
}

export function taskOf(value: BoardValue): Position {
  const { size, rules, stones, first, moves, turn } = value;
  return { rows: size[0], cols: size[1], rules, bonus: bonusOf(value), stones: numbersOf(stones), first, moves, turn };
}

/** Return the board of a game; moves that are not legal are an error. */
export function boardOf(engine: Engine, value: BoardValue): Board {
  const { size, rules, stones, first, moves, turn } = value;
  const board = new Board(engine, ...size, rules, numbersOf(stones), first);
  for (const [side, move] of moves) {
    if (!board.play(move, side)) {
      board.close();
      throw new ApiError(`${vertexOf(move, ...size)}: ${WHY_NOT[board.verdict(move, side)]}`, 422);
    }
  }
  board.turn = turn;
  return board;
}

/** Give `use` a board, and close it afterwards. */
export function withBoard<T>(engine: Engine, value: BoardValue, use: (board: Board) => T): T {
  const board = boardOf(engine, value);
  try {
    return use(board);
  } finally {
    board.close();
  }
}

export const WHY_NOT: Record<number, string> = {
  1: "the point is taken",
  2: "it would repeat an earlier position (superko)",
  3: "it would retake the ko at once",
  4: "it would be suicide",
};

/** The position that a request describes; see `positionOf` of positions.ts. */
export interface Asked {
  size?: number;
  stones?: string[];
  turn?: Colour;
  moves?: [string, string][];
  komi?: number;
  rules?: string;
}

export function asBoard({ size = 19, stones, turn = "black", moves = [], komi = 7.5, rules = "cgos" }: Asked): BoardValue {
  const rows = stones?.length ?? size;
  const cols = stones?.[0]?.length ?? size;
  const first = sideOf(turn);
  const line = moves.map(([colour, vertex]): [Side, Index] => [colour === "B" ? BLACK : WHITE, indexOf(vertex, rows, cols)]);
  const last = line[line.length - 1]?.[0];
  return {
    size: [rows, cols], rules: rulesNamed(rules), komi, handicap: 0,
    stones: stones ?? Array<string>(rows).fill(".".repeat(cols)), first, moves: line,
    turn: last ? (3 - last) as Side : first,
  }; // prettier-ignore
}

/** Return what the page draws of a position. */
export function positionOf(board: Board): BoardState {
  const last = board.moves[board.moves.length - 1];
  return {
    stones: rowsOf(board.grid, board.cols),
    turn: nameOf(board.turn),
    last: last ? vertexOf(last[1], board.rows, board.cols) : null,
    captures: board.prisoners,
    suicide: board.rules.suicide,
  };
}

export function namedMoves({ moves, size }: BoardValue): [string, string][] {
  return moves.map(([side, move]) => [side === BLACK ? "B" : "W", vertexOf(move, ...size)]);
}

/** Name the empty points that the side to move may not play. */
export function illegalPoints(board: Board): string[] {
  const legal = board.legal();
  const refused = [...board.grid.keys()].filter((i) => !board.grid[i] && !legal[i]);
  return refused.map((i) => vertexOf(i, board.rows, board.cols));
}

export function named(indices: Iterable<Index>, board: { rows: number; cols: number }): string[] {
  return [...indices].map((i) => vertexOf(i, board.rows, board.cols));
}

export function marked(mask: ArrayLike<number>): Index[] {
  return Array.from(mask, (_, i) => i).filter((i) => mask[i]);
}

export function maskOf(indices: Iterable<Index>, size: number): Uint8Array {
  const mask = new Uint8Array(size);
  for (const i of indices) if (i !== PASS) mask[i] = 1;
  return mask;
}

/** Write a score from Black's view as SGF's RE does. */
export function resultOf(score: number): string {
  return score === 0 ? "0" : `${score > 0 ? "B" : "W"}+${Number(Math.abs(score).toFixed(3))}`;
}

/** Count a position under rules, given its dead stones. */
export function counted(board: Board, dead: ArrayLike<number>, value: BoardValue, taken: [number, number] = [0, 0]): Count {
  const { rules, komi } = value;
  const territory = rules.scoring === "territory";
  const { grid, rows, cols, prisoners } = board;
  const kinds = countPoints(board.engine, rows, cols, grid, dead, territory);
  const compensation = bonusOf(value) - komi;
  const side = (colour: Side) => {
    const ground = Array.from(kinds, (kind) => kind === (colour === BLACK ? COUNTED_AS.BLACK_TERRITORY : COUNTED_AS.WHITE_TERRITORY));
    const count = (test: (i: number) => boolean) => [...grid.keys()].filter(test).length;
    const parts: Partial<Record<CountPart, number>> = { territory: ground.filter(Boolean).length };
    if (territory) {
      parts.prisoners = prisoners[colour - 1]! + taken[colour - 1]!;
      parts.dead = count((i) => grid[i] === 3 - colour && !!dead[i]);
    } else parts.stones = count((i) => grid[i] === colour && !dead[i]);
    if (colour === WHITE) parts.komi = komi;
    if (colour === WHITE && compensation) parts.handicap = compensation;
    const total = Object.values(parts).reduce((sum, part) => sum + part, 0);
    const letters = ground.map((mine) => (mine ? "1" : "0")).join("");
    return { parts, total, points: letters.match(new RegExp(`.{${cols}}`, "g")) ?? [] };
  };
  const [black, white] = [side(BLACK), side(WHITE)];
  const score = black.total - white.total;
  return {
    black: black.total, white: white.total, score, result: resultOf(score), explanation: "",
    black_parts: black.parts, white_parts: white.parts, black_points: black.points, white_points: white.points,
  }; // prettier-ignore
}
