// The compiled kernels, and the memory they share with the page.

import type { Address, Kernels } from "./kernels";

const PAGE = 65536;
const ALIGNED = 64;

/** The kernels of one thread. An error in a kernel leaves them unusable; load them anew. */
export class Engine {
  private top: Address;
  private readonly free = new Map<number, Address[]>();

  private constructor(readonly kernels: Kernels) {
    this.top = round(kernels.__heap_base.value as number);
  }

  static async load(module: WebAssembly.Module): Promise<Engine> {
    const imports = { env: { exp: Math.exp, log1p: Math.log1p, tanh: Math.tanh } };
    const { exports } = await WebAssembly.instantiate(module, imports);
    return new Engine(exports as unknown as Kernels);
  }

  /** Reserve memory; what it holds is undefined. */
  take(bytes: number): Address {
    const size = round(bytes);
    const kept = this.free.get(size)?.pop();
    if (kept !== undefined) return kept;
    const found = this.top;
    this.top += size;
    const { memory } = this.kernels;
    const missing = this.top - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    return found;
  }

  /** Return memory of `take`. */
  give(address: Address, bytes: number): void {
    const size = round(bytes);
    const kept = this.free.get(size);
    if (kept) kept.push(address);
    else this.free.set(size, [address]);
  }

  // Views are valid until more memory is taken, which may move it.

  bytes(at: Address, length: number): Uint8Array {
    return new Uint8Array(this.kernels.memory.buffer, at, length);
  }

  longs(at: Address, length: number): BigInt64Array {
    return new BigInt64Array(this.kernels.memory.buffer, at, length);
  }

  ints(at: Address, length: number): Int32Array {
    return new Int32Array(this.kernels.memory.buffer, at, length);
  }

  shorts(at: Address, length: number): Int16Array {
    return new Int16Array(this.kernels.memory.buffer, at, length);
  }

  floats(at: Address, length: number): Float32Array {
    return new Float32Array(this.kernels.memory.buffer, at, length);
  }

  doubles(at: Address, length: number): Float64Array {
    return new Float64Array(this.kernels.memory.buffer, at, length);
  }
}

function round(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}
