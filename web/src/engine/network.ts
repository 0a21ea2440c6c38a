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
  weights: Address;
  length: number;
  constants: Address;
  high: number;
  wide: number;
  far: number;
  x: Address;
  a: Address;
  y: Address;
  tiles: Address;
  products: Address;
  codes: Address;
  history: Address;
  facts: Address;
  logits: Address;
  owner: Address;
  values: Address;
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
  private readonly rooms = new Map<string, Room>();
  private readonly laid = new Map<number, [Address, number]>();

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
      design.move_outputs, design.value_hidden,
    ]; // prettier-ignore
    this.plan = engine.take(plan.length * 8);
    engine.longs(this.plan, plan.length).set(plan.map(BigInt));
    this.first = this.lifting();
    this.table = this.codes();
    this.lastMoves = this.movesAgo();
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
      room.constants, count, rows, cols, maps, room.x,
    ); // prettier-ignore
    kernels.evaluate(
      room.x, count, rows, cols, maps, this.plan, room.weights, room.length, room.tile,
      N.SIZE_FACTORS[Math.round(Math.sqrt(points)) - 1]!, room.a, room.y, room.high, room.wide, room.tiles,
      room.products, room.far, room.logits, room.owner, room.values,
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
    const [high, wide] = [rounded(rows, tile) + 2, rounded(cols, tile) + 2];
    const tiles = MOST_AT_ONCE * Math.ceil(rows / tile) * Math.ceil(cols / tile);
    const far = rounded(Math.min(tiles, N.TILES_AT_ONCE), N.ROWS) * maps + N.LINE;
    const [weights, length] = this.layers(tile);
    const zeros = (numbers: number) => {
      const at = engine.take(numbers * 4);
      engine.floats(at, numbers).fill(0);
      return at;
    };
    return {
      tile, weights, length, high, wide, far,
      constants: this.constants(rows, cols),
      x: zeros(MOST_AT_ONCE * points * maps),
      a: zeros(MOST_AT_ONCE * high * wide * maps),
      y: zeros(MOST_AT_ONCE * high * wide * maps),
      tiles: zeros((tile + 2) ** 2 * far),
      products: zeros((tile + 2) ** 2 * far),
      codes: engine.take(MOST_AT_ONCE * points),
      history: engine.take(MOST_AT_ONCE * N.HISTORY * 2),
      facts: zeros(MOST_AT_ONCE * N.BOARD_PLANES),
      logits: zeros(design.move_outputs * MOST_AT_ONCE * (points + 1)),
      owner: zeros(MOST_AT_ONCE * points),
      values: zeros(MOST_AT_ONCE * N.VALUES),
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
    const free = this.tensor(`${name}.weight`);
    const found = new Float32Array(maps * headWidth * N.ORDER);
    for (let r = 0; r < N.ORDER; r++) {
      for (let f = 0; f < design.head_fields; f++) {
        const column = r * headWidth + f;
        const strip = Math.floor(column / N.COLS) * maps;
        for (let m = 0; m < design.fields * N.ORDER; m++) {
          const from = (f * design.fields + Math.floor(m / N.ORDER)) * N.ORDER;
          found[(strip + m) * N.COLS + (column % N.COLS)] = free[from + N.PLACES[1][r]![m % N.ORDER]!]!;
        }
      }
    }
    return found;
  }

  /** Return where all layers after the first are laid out for a size of tiles, and their length. */
  private layers(tile: number): [Address, number] {
    const kept = this.laid.get(tile);
    if (kept) return kept;
    const { design, engine, maps } = this;
    const whole = (tile + 2) ** 2 * maps * maps;
    type Part = Float32Array | { conv: string; scale: Float32Array };
    const linear = (name: string) => [this.tensor(`${name}.weight`), this.tensor(`${name}.bias`)];
    const ones = new Float32Array(maps).fill(1);
    const parts: Part[] = [this.norm("blocks.0.norm1")];
    for (let i = 0; i < design.blocks; i++) {
      const between = this.norm(`blocks.${i}.norm2`);
      const pools = i % N.POOL_EVERY === N.POOL_EVERY - 1;
      parts.push({ conv: `blocks.${i}.conv1`, scale: pools ? ones : between.subarray(0, maps) }, between);
      if (pools) parts.push(...linear(`blocks.${i}.pool`));
      const following = i + 1 === design.blocks ? "norm" : `blocks.${i + 1}.norm1`;
      parts.push({ conv: `blocks.${i}.conv2`, scale: ones }, this.norm(following));
    }
    parts.push(this.head("move_fields"), ...linear("move_bias"), ...linear("move"), ...linear("pass_move"));
    parts.push(this.head("value_fields"), ...linear("owner"), ...linear("value_hidden"), ...linear("value"));
    const size = (part: Part) => rounded("conv" in part ? whole : part.length, N.LINE);
    const length = parts.reduce((sum, part) => sum + size(part), 0);
    const start = engine.take(length * 4);
    const places = engine.take(N.ORDER * N.ORDER * 9 * 8);
    engine.longs(places, N.ORDER * N.ORDER * 9).set((N.PLACES[3] as readonly (readonly number[])[]).flat().map(BigInt));
    const g = engine.take((tile + 2) * 3 * 8);
    engine.doubles(g, (tile + 2) * 3).set((N.TRANSFORMS as Record<number, readonly (readonly number[])[]>)[tile]!.flat());
    const free = engine.take(design.fields ** 2 * N.ORDER * 9 * 4);
    const scale = engine.take(maps * 4);
    let at = start;
    for (const part of parts) {
      if ("conv" in part) {
        engine.floats(at, whole).fill(0);
        engine.floats(free, design.fields ** 2 * N.ORDER * 9).set(this.tensor(`${part.conv}.weight`));
        engine.floats(scale, maps).set(part.scale);
        engine.kernels.transform(free, design.fields, design.fields, places, N.ORDER, scale, g, tile + 2, maps, at);
      } else {
        engine.floats(at, part.length).set(part);
      }
      at += size(part) * 4;
    }
    this.laid.set(tile, [start, length]);
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
