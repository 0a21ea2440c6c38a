// One game of Go, by the kernels: what is legal, what is captured, what counts.

import { LAYOUT, type Address } from "./kernels";
import type { Engine } from "./memory";

/** The rules of a game, with the number of the ko rule in kernels. */
export interface Rules {
  ko: number;
  suicide: boolean;
  scoring: "area" | "territory";
  handicap_bonus: "none" | "n" | "n-1";
  komi: number;
}
export type Side = typeof LAYOUT.BLACK | typeof LAYOUT.WHITE;
/** A move: the index of a point, row by row from the top left; -1 is a pass. */
export type Index = number;
export const PASS: Index = -1;

const FIRST_SLOTS = 256;

export class Board {
  readonly moves: [Side, Index][] = [];
  /** The address of the position, and how many points it has with its border. */
  readonly state: Address;
  readonly points: number;
  private readonly start: Address;
  private readonly length: number;
  private table: Address;
  private slots = FIRST_SLOTS;

  /** `stones` holds 0, 1 (Black) or 2 (White) for each point of the position before the first move. */
  constructor(
    readonly engine: Engine,
    readonly rows: number,
    readonly cols: number,
    readonly rules: Rules,
    stones?: ArrayLike<number>,
    toPlay: Side = LAYOUT.BLACK,
  ) {
    const { kernels } = engine;
    this.points = (rows + 2) * (cols + 1) + 1;
    this.length = LAYOUT.FIELDS * this.points * 8;
    this.start = engine.take(this.length);
    this.state = engine.take(this.length);
    this.table = engine.take(this.slots * 8);
    kernels.clear(this.start, this.points, rows, cols, Number(rules.suicide));
    for (let i = 0; i < rows * cols; i++) {
      if (stones?.[i]) kernels.place(this.start, this.points, this.point(i), stones[i]!);
    }
    const numbers = engine.longs(this.start + LAYOUT.SCALARS * this.points * 8, this.points);
    numbers[LAYOUT.TURN] = BigInt(toPlay);
    for (const name of ["KO", "PRISONERS_B", "PRISONERS_W"] as const) numbers[LAYOUT[name]] = 0n;
    this.begin();
  }

  /** Return the memory of the board, which must not be used any more. */
  close(): void {
    this.engine.give(this.start, this.length);
    this.engine.give(this.state, this.length);
    this.engine.give(this.table, this.slots * 8);
  }

  /** Return an independent board with the same game. */
  copy(): Board {
    const { engine, length, slots } = this;
    const twin: { -readonly [K in keyof Board]: Board[K] } & { start: Address; table: Address } = Object.assign(
      Object.create(Board.prototype),
      this,
    );
    twin.moves = [...this.moves];
    const copied = (from: Address, bytes: number) => {
      const to = engine.take(bytes);
      engine.bytes(to, bytes).set(engine.bytes(from, bytes));
      return to;
    };
    twin.start = copied(this.start, length);
    twin.state = copied(this.state, length);
    twin.table = copied(this.table, slots * 8);
    return twin as unknown as Board;
  }

  get turn(): Side {
    return this.number("TURN") as Side;
  }

  set turn(side: Side) {
    this.engine.kernels.give_turn(this.state, this.points, side);
  }

  get prisoners(): [black: number, white: number] {
    return [this.number("PRISONERS_B"), this.number("PRISONERS_W")];
  }

  /** Whether both sides have passed in a row. */
  get isOver(): boolean {
    return this.number("PASSES") >= 2;
  }

  /** The stones, row by row. */
  get grid(): Int8Array {
    const at = this.engine.take(this.rows * this.cols);
    this.engine.kernels.grid(this.state, this.points, at);
    const found = Int8Array.from(this.engine.bytes(at, this.rows * this.cols));
    this.engine.give(at, this.rows * this.cols);
    return found;
  }

  /** Black's area minus White's, every stone alive, without komi. */
  get areaScore(): number {
    return this.engine.kernels.area_score(this.state, this.points);
  }

  /** Return 0 if a side may play there, else 1 taken, 2 superko, 3 ko, 4 suicide. */
  verdict(move: Index, side: Side = this.turn): number {
    return this.engine.kernels.verdict(...this.known(), this.point(move), side);
  }

  /** Return 1 for every point where a side may play; the pass is last. */
  legal(side: Side = this.turn): Uint8Array {
    const size = this.rows * this.cols + 1;
    const at = this.engine.take(size);
    this.engine.kernels.legal(...this.known(), side, at);
    const found = this.engine.bytes(at, size).slice();
    this.engine.give(at, size);
    return found;
  }

  /** Play a move if it is legal; return whether it was. */
  play(move: Index, side: Side = this.turn): boolean {
    return this.verdict(move, side) === 0 && this.push(move, side);
  }

  /** Play a pass or any empty point, regardless of the rules; return whether the point was empty. */
  push(move: Index, side: Side = this.turn): boolean {
    if (2 * (this.moves.length + 1) >= this.slots) this.grow();
    if (!this.engine.kernels.push(...this.known(), this.point(move), side)) return false;
    this.moves.push([side, move]);
    return true;
  }

  undo(): void {
    const moves = this.moves.slice(0, -1);
    this.moves.length = 0;
    this.begin();
    for (const [side, move] of moves) this.push(move, side);
  }

  /** For each point, row by row, the stone that stands for its block in kernels. */
  get heads(): number[] {
    const row = this.engine.longs(this.state + LAYOUT.HEAD * this.points * 8, this.points);
    return Array.from({ length: this.rows * this.cols }, (_, i) => Number(row[this.point(i)]));
  }

  /** The blocks of stones; which of their stones comes first is the first in reading order. */
  get blocks(): { colour: Side; stones: Index[] }[] {
    const { grid, heads } = this;
    const found = new Map<number, { colour: Side; stones: Index[] }>();
    grid.forEach((colour, i) => {
      if (!colour) return;
      const block = found.get(heads[i]!);
      if (block) block.stones.push(i);
      else found.set(heads[i]!, { colour: colour as Side, stones: [i] });
    });
    return [...found.values()];
  }

  /** Return the liberties of the block at a stone. */
  liberties(stone: Index): Index[] {
    const bytes = this.points * 8;
    const at = this.engine.take(bytes);
    const count = this.engine.kernels.liberties(this.state, this.points, this.point(stone), at);
    const found = Array.from(this.engine.longs(at, count), (point) => this.index(Number(point)));
    this.engine.give(at, bytes);
    return found.sort((a, b) => a - b);
  }

  isOwnEye(move: Index, side: Side = this.turn): boolean {
    return this.engine.kernels.is_own_eye(this.state, this.points, this.point(move), side) !== 0;
  }

  /** Return 1 for the stones that a side keeps even if it always passes, 2 for the points of their eyes. */
  safe(side: Side): Uint8Array {
    const bytes = this.points * 8;
    const at = this.engine.take(bytes);
    this.engine.longs(at, this.points).fill(0n);
    this.engine.kernels.find_safe(this.state, this.points, side, at);
    const marks = this.engine.longs(at, this.points);
    const found = Uint8Array.from({ length: this.rows * this.cols }, (_, i) => Number(marks[this.point(i)]));
    this.engine.give(at, bytes);
    return found;
  }

  /** Return who owns each point after playouts, from +1 (always Black) to -1, and how often Black wins. */
  playouts(count: number, bonus: number): { ownership: Float64Array; winRate: number } {
    const size = this.rows * this.cols;
    const bytes = (count + size) * 4;
    const at = this.engine.take(bytes);
    this.engine.ints(at, count + size).fill(0);
    this.engine.kernels.run_playouts(this.state, this.points, count, at, at + count * 4);
    const ownership = Float64Array.from(this.engine.ints(at + count * 4, size), (sum) => sum / count);
    const scores = Array.from(this.engine.ints(at, count), (score) => score - bonus);
    this.engine.give(at, bytes);
    const won = scores.reduce((sum, score) => sum + (Math.sign(score) + 1) / 2, 0);
    return { ownership, winRate: won / count };
  }

  /** Return the move at a point of kernels. */
  index(point: number): Index {
    if (point === LAYOUT.PASS) return PASS;
    return (Math.floor(point / (this.cols + 1)) - 1) * this.cols + (point % (this.cols + 1)) - 1;
  }

  /** Return the point of kernels. */
  point(move: Index): number {
    if (move === PASS) return LAYOUT.PASS;
    return (Math.floor(move / this.cols) + 1) * (this.cols + 1) + (move % this.cols) + 1;
  }

  private number(name: "TURN" | "KO" | "PASSES" | "PRISONERS_B" | "PRISONERS_W"): number {
    const numbers = this.engine.longs(this.state + LAYOUT.SCALARS * this.points * 8, this.points);
    return Number(numbers[LAYOUT[name]]);
  }

  private known(): [Address, number, Address, number, number] {
    return [this.state, this.points, this.table, this.slots, this.rules.ko];
  }

  /** Set up the position before the first move. */
  private begin(): void {
    this.engine.longs(this.state, this.length / 8).set(this.engine.longs(this.start, this.length / 8));
    this.engine.longs(this.table, this.slots).fill(0n);
    this.engine.kernels.remember(...this.known());
  }

  private grow(): void {
    const { table, slots } = this;
    this.slots = 4 * slots;
    this.table = this.engine.take(this.slots * 8);
    this.engine.longs(this.table, this.slots).fill(0n);
    this.engine.kernels.regrow(table, slots, this.table, this.slots);
    this.engine.give(table, slots * 8);
  }
}

/** Say what every point counts for (see `COUNTED_AS`), given a mask of dead stones. */
export function countPoints(
  engine: Engine,
  rows: number,
  cols: number,
  grid: ArrayLike<number>,
  dead: ArrayLike<number>,
  careful: boolean,
): Int8Array {
  const size = rows * cols;
  const at = engine.take(3 * size);
  engine.bytes(at, size).set(grid);
  engine.bytes(at + size, size).set(dead);
  engine.kernels.count_points(at, at + size, rows, cols, Number(careful), at + 2 * size);
  const found = Int8Array.from(engine.bytes(at + 2 * size, size));
  engine.give(at, 3 * size);
  return found;
}
