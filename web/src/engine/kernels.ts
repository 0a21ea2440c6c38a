// Written by tengen.web.wasm.build from entries.py; do not edit. Digest of the sources:
// 9a79f13a459d5fef3fa1c934472990bb

/** A place in the memory of the kernels, in bytes. */
export type Address = number;

export interface Kernels {
  memory: WebAssembly.Memory;
  __heap_base: WebAssembly.Global;
  /** Make the empty position of this size, Black to move. */
  clear(s: Address, n: number, rows: number, cols: number, suicide: number): void;
  /** Put a stone on an empty point before the first move; return the stones captured. */
  place(s: Address, n: number, p: number, colour: number): number;
  /** Let a side move; if it was the other one's turn, that one passed. */
  give_turn(s: Address, n: number, colour: number): void;
  /** Remember the position for superko; return whether it is new. */
  remember(s: Address, n: number, table: Address, slots: number, ko_rule: number): number;
  /** Move all positions to a larger table, which is empty. */
  regrow(table: Address, slots: number, larger: Address, more: number): void;
  /** Return 0 if a move is allowed, else the reason why not. */
  verdict(s: Address, n: number, table: Address, slots: number, ko_rule: number, p: number, colour: number): number;
  /** Write 1 for every point where a side may play, row by row, the pass last. */
  legal(s: Address, n: number, table: Address, slots: number, ko_rule: number, colour: number, out: Address): void;
  /** Play a move on an empty point, or pass; return whether it was played. */
  push(s: Address, n: number, table: Address, slots: number, ko_rule: number, p: number, colour: number): number;
  /** Write the stones, row by row from the top left. */
  grid(s: Address, n: number, out: Address): void;
  /** Return Black's area minus White's, every stone alive, komi not included. */
  area_score(s: Address, n: number): number;
  /** Write what every point counts for (see `board.counting_kernels`). */
  count_points(grid: Address, dead: Address, rows: number, cols: number, careful: number, kinds: Address): void;
}

export const LAYOUT = {"EMPTY": 0, "BLACK": 1, "WHITE": 2, "BORDER": 3, "PASS": 0, "COLOUR": 0, "HEAD": 1, "NEXT": 2, "SIZE": 3, "PLIB": 4, "PSUM": 5, "PSQ": 6, "BHASH": 7, "EMPTIES": 8, "EPOS": 9, "SCALARS": 10, "FIELDS": 11, "ROWS": 0, "COLS": 1, "TURN": 2, "KO": 3, "N_EMPTY": 4, "PRISONERS_B": 5, "PRISONERS_W": 6, "HASH": 7, "PLIES": 8, "PASSES": 9, "LAST": 10, "LAST2": 11, "SUICIDE": 12, "MAX_SIZE": 25, "MAX_POINTS": 703} as const;

export const COUNTED_AS = {"NOBODY": 0, "BLACK_TERRITORY": 1, "WHITE_TERRITORY": 2, "BLACK_STONE": 3, "WHITE_STONE": 4, "BLACK_SEKI_STONE": 5, "WHITE_SEKI_STONE": 6, "BLACK_SEKI_POINT": 7, "WHITE_SEKI_POINT": 8, "BLACK_FALSE_EYE": 9, "WHITE_FALSE_EYE": 10, "BLACK_OPEN": 11, "WHITE_OPEN": 12, "DAME": 13} as const;

export const RULES = {"tromp_taylor": {"ko": 1, "suicide": true, "scoring": "area", "handicap_bonus": "none", "komi": 7.5}, "chinese": {"ko": 0, "suicide": false, "scoring": "area", "handicap_bonus": "n", "komi": 7.5}, "japanese": {"ko": 0, "suicide": false, "scoring": "territory", "handicap_bonus": "none", "komi": 6.5}, "aga": {"ko": 2, "suicide": false, "scoring": "area", "handicap_bonus": "n-1", "komi": 7.5}, "new_zealand": {"ko": 2, "suicide": true, "scoring": "area", "handicap_bonus": "none", "komi": 7.0}, "cgos": {"ko": 1, "suicide": false, "scoring": "area", "handicap_bonus": "none", "komi": 7.5}} as const;
