// The count of a position, given its dead stones.

import { countPoints, type Board, type Index, type Side } from "./board";
import { COUNTED_AS, LAYOUT, SEARCH } from "./kernels";

/** Return every block with the mean ownership of its points by its own side, -1 to 1. */
export function heldBlocks(board: Board, ownership: ArrayLike<number>): { colour: Side; stones: Index[]; held: number }[] {
  return board.blocks.map(({ colour, stones }) => {
    const sum = stones.reduce((all, stone) => all + ownership[stone]!, 0);
    return { colour, stones, held: (colour === LAYOUT.BLACK ? 1 : -1) * (sum / stones.length) };
  });
}

/** Mark the stones of blocks whose points the enemy owns; `ownership` is +1 for Black. */
export function deadStones(board: Board, ownership: ArrayLike<number>): Uint8Array {
  const dead = new Uint8Array(board.rows * board.cols);
  for (const { stones, held } of heldBlocks(board, ownership)) {
    if (held < -SEARCH.DEAD_ABOVE) for (const stone of stones) dead[stone] = 1;
  }
  return dead;
}

/** Return Black's points minus White's under the board's rules; `bonus` is what White receives. */
export function score(board: Board, dead: ArrayLike<number>, bonus: number): number {
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
