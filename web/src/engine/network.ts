// The network in the page: lay its weights out for the kernels, evaluate positions.

import { LAYOUT, NETWORK as N, type Address } from "./kernels";
import type { Board } from "./board";
import type { Engine } from "./memory";

export interface Design {
  fields: number;
  blocks: number;
  head_fields: number;
  value_hidden: number;
  ladders: boolean;
  move_outputs: number;
}

/** What the network says about a position, for Black. Moves are row by row, the pass last. */
export interface Evaluation {
  priors: Float64Array;
  /** The chance that a move is the best; as `priors` where the network has no such output. */
  best: Float64Array;
  winProbability: number;
  score: number;
  spread: number;
  ownership: Float64Array;
}

/** The memory for boards of one size. */
interface Room {
  tile: number;
  constants: Address;
  x: Address;
  scratch: Address;
  size: number;
  codes: Address;
  history: Address;
  facts: Address;
  logits: Address;
  owner: Address;
  values: Address;
}

interface Conv {
  conv: string;
  scale?: Float32Array;
}

const MOST_AT_ONCE = 8;
const SIDE = N.LIFTING_SIZE;

export class Network {
  readonly design: Design;
  private readonly tensors: Map<string, Float32Array>;
  private readonly maps: number;
  private readonly headWidth: number;
  private readonly plan: Address;
  /** The first layer: places x planes x maps. */
  private readonly first: Float32Array;
  private readonly table: Address;
  private readonly lastMoves: Address;
  /** All other layers, and how many numbers they are. */
  private readonly weights: Address;
  private readonly length: number;
  private readonly places: Address;
  private readonly rooms = new Map<string, Room>();

  /** `file` is what `page_network` of tengen.web.wasm.networks wrote. */
  constructor(
    private readonly engine: Engine,
    file: ArrayBuffer,
  ) {
    [this.design, this.tensors] = read(file);
    const { design } = this;
    this.maps = rounded(design.fields * N.ORDER, N.COLS);
    this.headWidth = rounded(design.head_fields, Math.max(N.WIDTH, N.COLS / N.ORDER));
    const plan = [
      design.fields, N.ORDER, design.blocks, N.POOL_EVERY, design.head_fields, this.headWidth,
      design.move_outputs, design.value_hidden, 0,
    ]; // prettier-ignore
    this.plan = engine.take(plan.length * 8);
    engine.longs(this.plan, plan.length).set(plan.map(BigInt));
    this.first = this.lifting();
    this.table = this.codes();
    this.lastMoves = this.movesAgo();
    [this.weights, this.length] = this.layers();
    this.places = engine.take(SIDE * SIDE * 8);
    this.tensors.clear();
  }

  /** Evaluate boards of one size, each from its side to move; `komi` is what White receives. */
  evaluate(boards: Board[], komi: number): Evaluation[] {
    const found: Evaluation[] = [];
    for (let i = 0; i < boards.length; i += MOST_AT_ONCE) {
      found.push(...this.some(boards.slice(i, i + MOST_AT_ONCE), komi));
    }
    return found;
  }

  private some(boards: Board[], komi: number): Evaluation[] {
    const { engine, maps, design } = this;
    const { rows, cols } = boards[0]!;
    const points = rows * cols;
    const count = boards.length;
    const room = this.room(rows, cols);
    const { kernels } = engine;
    boards.forEach((board, i) => {
      kernels.encode(board.state, board.points, board.turn, Number(design.ladders), room.codes + i * points);
    });
    const history = engine.shorts(room.history, count * N.HISTORY).fill(-1);
    const facts = engine.floats(room.facts, count * N.BOARD_PLANES);
    boards.forEach((board, i) => {
      const last = board.moves.slice(-N.HISTORY).reverse();
      last.forEach(([, move], ago) => (history[i * N.HISTORY + ago] = move));
      const given = board.turn === LAYOUT.WHITE ? komi : -komi;
      facts.set([given / N.KOMI_SCALE, Number(board.rules.scoring === "territory"), Number(last[0]?.[1] === -1)],
        i * N.BOARD_PLANES); // prettier-ignore
    });
    kernels.lift(
      room.codes, room.history, room.facts, N.BOARD_PLANES, this.table, SIDE * SIDE, this.lastMoves,
      room.constants, count, rows, cols, maps, this.places, room.x,
    ); // prettier-ignore
    kernels.evaluate(
      room.x, count, rows, cols, maps, this.plan, this.weights, this.length, room.tile,
      N.SIZE_FACTORS[Math.round(Math.sqrt(points)) - 1]!, room.scratch, room.size, room.logits, room.owner, room.values,
    ); // prettier-ignore
    const logits = engine.floats(room.logits, design.move_outputs * count * (points + 1)).slice();
    const owner = engine.floats(room.owner, count * points).slice();
    const values = engine.floats(room.values, count * N.VALUES).slice();
    return boards.map((board, i) => {
      const legal = board.legal();
      const sign = board.turn === LAYOUT.BLACK ? 1 : -1;
      const of = (output: number) => {
        const first = (output * count + i) * (points + 1);
        return shares(logits.subarray(first, first + points + 1), legal);
      };
      const priors = of(0);
      const [winner, score, spread] = values.subarray(i * N.VALUES, (i + 1) * N.VALUES) as unknown as [number, number, number];
      return {
        priors,
        best: design.move_outputs > 1 ? of(design.move_outputs - 1) : priors,
        winProbability: 1 / (1 + Math.exp(-sign * winner)),
        score: sign * (score * N.SCORE_SCALE + (sign === 1 ? -komi : komi)),
        spread: Math.exp(Math.min(4, Math.max(-4, spread))) * N.SCORE_SCALE,
        ownership: Float64Array.from(owner.subarray(i * points, (i + 1) * points), (o) => sign * Math.tanh(o / 2)),
      };
    });
  }

  private room(rows: number, cols: number): Room {
    const key = `${rows}x${cols}`;
    let room = this.rooms.get(key);
    if (!room) this.rooms.set(key, (room = this.made(rows, cols)));
    return room;
  }

  private made(rows: number, cols: number): Room {
    const { engine, maps, design } = this;
    const points = rows * cols;
    const tile = (N.TILES as Record<number, readonly number[]>)[maps]![Math.max(rows, cols) - 1]!;
    const size = engine.kernels.scratch_size(this.plan, MOST_AT_ONCE, rows, cols, maps, tile);
    const floats = (numbers: number) => engine.take(numbers * 4);
    return {
      tile, size,
      constants: this.constants(rows, cols),
      x: floats(MOST_AT_ONCE * points * maps),
      scratch: floats(size),
      codes: engine.take(MOST_AT_ONCE * points),
      history: engine.take(MOST_AT_ONCE * N.HISTORY * 2),
      facts: floats(MOST_AT_ONCE * N.BOARD_PLANES),
      logits: floats(design.move_outputs * MOST_AT_ONCE * (points + 1)),
      owner: floats(MOST_AT_ONCE * points),
      values: floats(MOST_AT_ONCE * N.VALUES),
    }; // prettier-ignore
  }

  // ----- Weights -----

  private tensor(name: string): Float32Array {
    return this.tensors.get(name)!;
  }

  /** Return the first layer's kernel in all orientations: places x planes x maps. */
  private lifting(): Float32Array {
    const { design, maps } = this;
    const free = this.tensor("lift.weight");
    const laid = new Float32Array(SIDE * SIDE * N.PLANES * maps);
    for (let m = 0; m < design.fields * N.ORDER; m++) {
      const places = N.PLACES[SIDE][m % N.ORDER]!;
      for (let plane = 0; plane < N.PLANES; plane++) {
        const from = (Math.floor(m / N.ORDER) * N.PLANES + plane) * SIDE * SIDE;
        for (let k = 0; k < SIDE * SIDE; k++) laid[(k * N.PLANES + plane) * maps + m] = free[from + places[k]!]!;
      }
    }
    return laid;
  }

  private stored(numbers: Float32Array): Address {
    const at = this.engine.take(numbers.length * 4);
    this.engine.floats(at, numbers.length).set(numbers);
    return at;
  }

  /** For each byte of a point, the sum of its planes' kernels: bytes x places x maps. */
  private codes(): Address {
    const { maps, first } = this;
    const places = SIDE * SIDE;
    const found = new Float32Array(N.TABLE.length * places * maps);
    N.TABLE.forEach((planes: readonly number[], code) => {
      for (let k = 0; k < places; k++) {
        for (const plane of planes) {
          for (let m = 0; m < maps; m++) found[(code * places + k) * maps + m]! += first[(k * N.PLANES + plane) * maps + m]!;
        }
      }
    });
    return this.stored(found);
  }

  private movesAgo(): Address {
    const { maps, first } = this;
    const places = SIDE * SIDE;
    const found = new Float32Array(N.HISTORY * places * maps);
    for (let ago = 0; ago < N.HISTORY; ago++) {
      for (let k = 0; k < places; k++) {
        const from = (k * N.PLANES + N.POINT_PLANES + ago) * maps;
        found.set(first.subarray(from, from + maps), (ago * places + k) * maps);
      }
    }
    return this.stored(found);
  }

  /** What each constant plane adds at all points of a board. */
  private constants(rows: number, cols: number): Address {
    const { maps, first } = this;
    const edge = (SIDE - 1) / 2;
    const found = new Float32Array(N.BOARD_PLANES * rows * cols * maps);
    for (let fact = 0; fact < N.BOARD_PLANES; fact++) {
      for (let p = 0; p < rows * cols; p++) {
        const [row, col] = [Math.floor(p / cols), p % cols];
        for (let k = 0; k < SIDE * SIDE; k++) {
          const [r, c] = [row + Math.floor(k / SIDE) - edge, col + (k % SIDE) - edge];
          if (r < 0 || r >= rows || c < 0 || c >= cols) continue;
          const from = (k * N.PLANES + N.PLANES - N.BOARD_PLANES + fact) * maps;
          const to = (fact * rows * cols + p) * maps;
          for (let m = 0; m < maps; m++) found[to + m]! += first[from + m]!;
        }
      }
    }
    return this.stored(found);
  }

  /** Return factors and addends of a norm, two rows of `maps` numbers. */
  private norm(name: string): Float32Array {
    const [gain, bias, mean, variance] = ["gain", "bias", "mean", "variance"].map((part) => this.tensor(`${name}.${part}`));
    const found = new Float32Array(2 * this.maps);
    for (let m = 0; m < this.design.fields * N.ORDER; m++) {
      const f = Math.floor(m / N.ORDER);
      const scale = Math.fround(gain![f]! / Math.fround(Math.sqrt(Math.fround(variance![f]! + N.EPSILON))));
      found[m] = scale;
      found[this.maps + m] = bias![f]! - Math.fround(mean![f]! * scale);
    }
    return found;
  }

  /** Return a 1 x 1 kernel, its columns grouped by orientation, in strips as kernels read it. */
  private head(name: string): Float32Array {
    const { design, maps, headWidth } = this;
    const found = new Float32Array(maps * headWidth * N.ORDER);
    for (let r = 0; r < N.ORDER; r++) {
      for (let f = 0; f < design.head_fields; f++) this.column(name, 1, f, r, r * headWidth + f, found);
    }
    return found;
  }

  /** Write a 3 x 3 kernel, likewise, with a factor for each map that it writes. */
  private kernel({ conv, scale }: Conv, out: Float32Array): void {
    out.fill(0);
    for (let m = 0; m < this.design.fields * N.ORDER; m++) {
      this.column(conv, 3, Math.floor(m / N.ORDER), m % N.ORDER, m, out, scale?.[m]);
    }
  }

  /** Write the column of a kernel for one field in one orientation. */
  private column(name: string, side: 1 | 3, field: number, r: number, column: number, out: Float32Array, scale = 1): void {
    const { design, maps } = this;
    const free = this.tensor(`${name}.weight`);
    const places: readonly number[] = N.PLACES[side][r]!;
    const first = Math.floor(column / N.COLS) * maps * side ** 2 * N.COLS + (column % N.COLS);
    for (let f = 0; f < design.fields; f++) {
      const from = (field * design.fields + f) * places.length;
      places.forEach((place, i) => (out[first + (f * places.length + i) * N.COLS] = free[from + place]! * scale));
    }
  }

  /** Return where all layers after the first are laid out, and their length. */
  private layers(): [Address, number] {
    const { design, engine, maps } = this;
    const linear = (name: string) => [this.tensor(`${name}.weight`), this.tensor(`${name}.bias`)];
    const parts: (Float32Array | Conv)[] = [this.norm("blocks.0.norm1")];
    for (let i = 0; i < design.blocks; i++) {
      const between = this.norm(`blocks.${i}.norm2`);
      const pools = i % N.POOL_EVERY === N.POOL_EVERY - 1;
      parts.push({ conv: `blocks.${i}.conv1`, scale: pools ? undefined : between }, between);
      if (pools) parts.push(...linear(`blocks.${i}.pool`));
      const following = i + 1 === design.blocks ? "norm" : `blocks.${i + 1}.norm1`;
      parts.push({ conv: `blocks.${i}.conv2` }, this.norm(following));
    }
    parts.push(this.head("move_fields"), ...linear("move_bias"), ...linear("move"), ...linear("pass_move"));
    parts.push(this.head("value_fields"), ...linear("owner"), ...linear("value_hidden"), ...linear("value"));
    const size = (part: Float32Array | Conv) => ("conv" in part ? maps ** 2 * 9 : part.length);
    const length = parts.reduce((sum, part) => sum + rounded(size(part), N.LINE), 0);
    const start = engine.take(length * 4);
    const laid = engine.floats(start, length);
    let at = 0;
    for (const part of parts) {
      if ("conv" in part) this.kernel(part, laid.subarray(at, at + size(part)));
      else laid.set(part, at);
      at += rounded(size(part), N.LINE);
    }
    return [start, length];
  }
}

function rounded(number: number, step: number): number {
  return Math.ceil(number / step) * step;
}

/** Return the chances of the legal moves. */
function shares(logits: Float32Array, legal: Uint8Array): Float64Array {
  const odds = new Float64Array(logits.length);
  let [most, sum] = [-Infinity, 0];
  for (let i = 0; i < odds.length; i++) if (legal[i]) most = Math.max(most, logits[i]!);
  for (let i = 0; i < odds.length; i++) if (legal[i]) sum += odds[i] = Math.exp(logits[i]! - most);
  for (let i = 0; i < odds.length; i++) odds[i]! /= sum;
  return odds;
}

/** Read a safetensors file of single and half precision. */
function read(file: ArrayBuffer): [Design, Map<string, Float32Array>] {
  const length = Number(new DataView(file).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
  const tensors = new Map<string, Float32Array>();
  for (const [name, entry] of Object.entries<{ dtype: string; data_offsets: [number, number] }>(header)) {
    if (name === "__metadata__") continue;
    const [begin, end] = entry.data_offsets;
    const part = file.slice(8 + length + begin, 8 + length + end);
    tensors.set(name, entry.dtype === "F16" ? singles(new Uint16Array(part)) : new Float32Array(part));
  }
  return [JSON.parse(header.__metadata__["tengen.design"]), tensors];
}

function singles(halves: Uint16Array): Float32Array {
  const found = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i]!;
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    found[i] = sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
  }
  return found;
}
