// NumPy's default generator (PCG64) seeded by two small numbers, so that the page draws the moves that Python draws.

const MASK = (1n << 128n) - 1n;
const WORD = (1n << 64n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

export class Random {
  private state: bigint;
  private readonly step: bigint;

  constructor(...seeds: number[]) {
    const words = spread(seeds);
    const at = (i: number) => (BigInt(words[2 * i + 1]!) << 32n) | BigInt(words[2 * i]!);
    this.step = (((at(2) << 64n) | at(3)) << 1n | 1n) & MASK;
    this.state = (this.step + ((at(0) << 64n) | at(1))) & MASK;
    this.advance();
  }

  /** Return a number from 0 to 1, 1 excluded. */
  next(): number {
    this.advance();
    const mixed = (this.state >> 64n) ^ (this.state & WORD);
    const turn = this.state >> 122n;
    const word = ((mixed >> turn) | (mixed << (64n - turn))) & WORD;
    return Number(word >> 11n) / 2 ** 53;
  }

  /** Draw an index with these chances, which sum to about 1. */
  draw(chances: ArrayLike<number>): number {
    const sums: number[] = [];
    let sum = 0;
    for (let i = 0; i < chances.length; i++) sums.push((sum += chances[i]!));
    const drawn = this.next();
    return sums.findIndex((one) => drawn < one / sum);
  }

  private advance(): void {
    this.state = (this.state * MULTIPLIER + this.step) & MASK;
  }
}

/** Return eight words of 32 bits that depend on every seed, as NumPy's SeedSequence makes them. */
function spread(seeds: number[]): number[] {
  const mixed = (value: number) => (value ^ (value >>> 16)) >>> 0;
  let constant = 0x43b0d7e5;
  const hash = (value: number) => {
    value ^= constant;
    constant = Math.imul(constant, 0x931e8875);
    return mixed(Math.imul(value, constant) >>> 0);
  };
  const pool = [0, 1, 2, 3].map((i) => hash(seeds[i] ?? 0));
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) {
      if (from === to) continue;
      const other = hash(pool[from]!);
      pool[to] = mixed((Math.imul(0xca01f9dd, pool[to]!) - Math.imul(0x4973f715, other)) >>> 0);
    }
  }
  let last = 0x8b51f9dd;
  return Array.from({ length: 8 }, (_, i) => {
    const value = pool[i % 4]! ^ last;
    last = Math.imul(last, 0x58f38ded);
    return mixed(Math.imul(value, last) >>> 0);
  });
}
