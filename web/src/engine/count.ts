// The count of a position, given its dead stones.

import { countPoints, type Board } from "./board";
import { COUNTED_AS, LAYOUT, SEARCH } from "./kernels";

/** Mark the stones of blocks whose points the enemy owns; `ownership` is +1 for Black. */
export function deadStones(board: Board, ownership: ArrayLike<number>): Uint8Array {
  const { grid, heads } = board;
  const sums = new Map<number, [sum: number, stones: number]>();
  grid.forEach((colour, i) => {
    if (!colour) return;
    const [sum, stones] = sums.get(heads[i]!) ?? [0, 0];
    sums.set(heads[i]!, [sum + (colour === LAYOUT.BLACK ? 1 : -1) * ownership[i]!, stones + 1]);
  });
  return Uint8Array.from(grid, (colour, i) => {
    if (!colour) return 0;
    const [sum, stones] = sums.get(heads[i]!)!;
    return Number(sum / stones < -SEARCH.DEAD_ABOVE);
  });
}

/** Return Black's points minus White's under the board's rules; `bonus` is what White receives. */
export function score(board: Board, dead: Uint8Array, bonus: number): number {
  const { grid, rules, prisoners } = board;
  const territory = rules.scoring === "territory";
  const kinds = countPoints(board.engine, board.rows, board.cols, grid, dead, territory);
  let lead = -bonus;
  kinds.forEach((kind, i) => {
    if (kind === COUNTED_AS.BLACK_TERRITORY) lead++;
    else if (kind === COUNTED_AS.WHITE_TERRITORY) lead--;
    const sign = grid[i] === LAYOUT.BLACK ? 1 : grid[i] === LAYOUT.WHITE ? -1 : 0;
    if (territory && dead[i]) lead -= sign; // the stone is a prisoner
    if (!territory && !dead[i]) lead += sign;
  });
  return territory ? lead + prisoners[0] - prisoners[1] : lead;
}
