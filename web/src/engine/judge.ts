// Whether a game is over, and which stones are dead: `scoring/judging.py`, with the network's word for the scorer's.

import { Board, countPoints, PASS, type Index, type Side } from "./board";
import { deadStones, heldBlocks, score } from "./count";
import { COUNTED_AS, ENDGAME as E, LAYOUT, RULES, SEARCH } from "./kernels";
import type { Network } from "./network";
import { Search } from "./search";

/** What becomes of the stones of a finished game. */
export interface Verdict {
  dead: Uint8Array;
  seki: Uint8Array;
  /** Whether the count is safe, and the chance that it is right. */
  safe: boolean;
  chance: number;
  ownership: Float64Array;
}

/** How much playouts and the network agree with a verdict, from -1 to 1, for the least sure block. */
interface Confirmation {
  playouts: number;
  network: number;
  /** No likely move gains anything when the network plays on, nor by a search. */
  steady: boolean;
  quiet: boolean;
}

const SIDES: Side[] = [LAYOUT.BLACK, LAYOUT.WHITE];
const REMEMBERED = 16;
const SAFE = 0.9; // ownership that every block needs for a count to be safe

export class Judge {
  private readonly known = new Map<string, Verdict>();
  private readonly confirmed = new Map<string, Confirmation>();

  constructor(private readonly network: Network) {}

  /** Return which stones are dead, by who owns them whoever moves first. */
  status(board: Board): Verdict {
    return remembered(this.known, keyOf(board), () => {
      const views = this.withBoth(board, (sides) => this.network.evaluate(sides, 0));
      const ownership = withCertain(board, views[0]!.ownership.map((one, i) => (one + views[1]!.ownership[i]!) / 2));
      const dead = deadStones(board, ownership);
      const kinds = countPoints(board.engine, board.rows, board.cols, board.grid, dead, true);
      const seki = Uint8Array.from(kinds, (kind) =>
        Number(kind === COUNTED_AS.BLACK_SEKI_STONE || kind === COUNTED_AS.WHITE_SEKI_STONE),
      );
      const blocks = heldBlocks(board, ownership).filter(({ stones }) => !seki[stones[0]!]);
      const sure = Math.min(1, ...blocks.map(({ held }) => Math.abs(held)));
      const both = SIDES.every((side) => blocks.some(({ colour }) => colour === side));
      return { dead, seki, safe: both && sure >= SAFE, chance: both ? (1 + sure) / 2 : 0, ownership };
    });
  }

  /** Return the verdict if its count is safe, or right with a chance of `least`. */
  finished(board: Board, least = 1): Verdict | null {
    const stones = board.grid.filter(Boolean).length;
    if (stones < E.FEWEST_STONES * board.rows * board.cols) return null;
    const verdict = this.status(board);
    return verdict.safe || verdict.chance >= least ? verdict : null;
  }

  /** Return the verdict on a game in which no move gains a point any more. */
  verdictIfOver(board: Board, bonus: number): Verdict | null {
    const verdict = this.finished(board, E.LIKELY);
    const enough = passesInARow(board) > E.DECLINED;
    if (!verdict || (inAtari(board, verdict) && !enough)) return null;
    if (board.rules.scoring === "area" && neutralPoints(board, verdict).length) return null;
    const sure = this.confirm(board, bonus, verdict);
    const alike = sure.playouts >= E.SURE && sure.network >= E.SURE_NETWORK;
    const agreed = verdict.safe
      ? sure.playouts >= E.MIN_PLAYOUT_AGREEMENT || alike
      : Math.min(sure.playouts, sure.network) >= E.CERTAIN;
    return isLikely(sure) && ((agreed && sure.quiet) || enough) ? verdict : null;
  }

  isOver(board: Board, bonus: number): boolean {
    return this.verdictIfOver(board, bonus) !== null;
  }

  /** Return a mask of the dead stones of a finished game; none if there is any doubt. */
  confidentDead(board: Board, bonus: number): Uint8Array {
    const verdict = this.finished(board);
    if (!verdict || !isLikely(this.confirm(board, bonus, verdict))) return new Uint8Array(board.rows * board.cols);
    return verdict.dead;
  }

  /** Return whether to answer a pass with a pass. */
  acceptsPass(board: Board, bonus: number): boolean {
    return lastMove(board) === PASS && this.isOver(board, bonus);
  }

  /** Check a verdict by playouts and the network with each side to move; the worse one counts. */
  private confirm(board: Board, bonus: number, verdict: Verdict): Confirmation {
    const key = `${keyOf(board)} ${bonus}`;
    return remembered(this.confirmed, key, () => this.withBoth(board, (sides) => this.check(sides, bonus, verdict)));
  }

  private check(sides: Board[], bonus: number, verdict: Verdict): Confirmation {
    const agreement = (owned: Float64Array) => agreementOf(sides[0]!, verdict, owned);
    const playouts = Math.min(...sides.map((side) => agreement(side.playouts(E.END_PLAYOUTS, bonus).ownership)));
    const views = this.network.evaluate(sides, bonus);
    const network = Math.min(...views.map((view) => agreement(view.ownership)));
    if (Math.max(playouts, network) < E.SURE) return { playouts, network, steady: false, quiet: true };
    const counted = this.count(sides[0]!, bonus);
    const gains = sides.flatMap((side, i) => {
      const sign = side.turn === LAYOUT.BLACK ? 1 : -1;
      return this.playedOn(side, views[i]!.best, bonus).map((line) => {
        const gain = sign * (this.count(line, bonus) - counted);
        line.close();
        return gain;
      });
    });
    const steady = Math.max(0, ...gains) <= E.CHANGE;
    let quiet = true;
    if (steady && Math.min(playouts, network) < E.MIN_PLAYOUT_AGREEMENT) {
      const [black, white] = sides.map((side) => this.leadBySearch(side, bonus)) as [number, number];
      const most = E.GAIN * (1 + (sides[0]!.rows * sides[0]!.cols) / 361);
      quiet = Math.max(black - counted, counted - white) <= most;
    }
    return { playouts, network, steady, quiet };
  }

  /** Give `use` the position with each side to move, by area rules: moves in own territory are free. */
  private withBoth<T>({ engine, rows, cols, grid }: Board, use: (sides: Board[]) => T): T {
    const sides = SIDES.map((side) => new Board(engine, rows, cols, RULES.chinese, grid, side));
    try {
      return use(sides);
    } finally {
      for (const side of sides) side.close();
    }
  }

  private count(board: Board, bonus: number): number {
    return score(board, this.status(board).dead, bonus);
  }

  /** Return the positions after likely first moves and the network's play for both sides. */
  private playedOn(board: Board, proposals: Float64Array, bonus: number): Board[] {
    const lines = likely(board, proposals.slice(0, -1)).slice(0, E.LINES).map((move) => {
      const line = board.copy();
      line.play(move);
      return line;
    });
    for (let i = 0; i < E.LINE_LENGTH; i++) {
      const going = lines.filter((line) => !line.isOver);
      if (!going.length) break;
      const views = this.network.evaluate(going, bonus);
      going.forEach((line, j) => line.play(likely(line, views[j]!.best)[0] ?? PASS));
    }
    return lines;
  }

  private leadBySearch(board: Board, bonus: number): number {
    const search = new Search(this.network, board, bonus, SEARCH.JUDGED.visits, { share: SEARCH.JUDGED.share });
    search.run(SEARCH.JUDGED.visits);
    const { candidates, network } = search.report;
    search.close();
    return candidates[0]?.score ?? network.score;
  }
}

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  let found = known.get(key);
  if (found === undefined) {
    known.set(key, (found = make()));
    if (known.size > REMEMBERED) known.delete(known.keys().next().value!);
  }
  return found;
}

function keyOf(board: Board): string {
  return `${board.cols} ${board.rules.scoring} ${board.grid.join("")}`;
}

function isLikely({ steady, playouts, network }: Confirmation): boolean {
  return steady && Math.max(playouts, network) >= E.SURE;
}

/** Return the legal moves, likeliest first; the index after the last point is a pass. */
function likely(board: Board, proposals: Float64Array): Index[] {
  const points = board.rows * board.cols;
  const legal = board.legal();
  const order = [...proposals.keys()].sort((a, b) => proposals[b]! - proposals[a]! || a - b);
  return order.filter((i) => i === points || legal[i]).map((i) => (i === points ? PASS : i));
}

export function lastMove(board: Board): Index | undefined {
  return board.moves[board.moves.length - 1]?.[1];
}

/** Return a copy of an ownership in which unconditional life is certain. */
export function withCertain(board: Board, ownership: Float64Array): Float64Array {
  const [black, white] = SIDES.map((side) => board.safe(side)) as [Uint8Array, Uint8Array];
  return ownership.map((one, i) => (white[i] ? -1 : black[i] ? 1 : one));
}

/** Return the least agreement of an ownership with a verdict over all blocks not in seki. */
function agreementOf(board: Board, verdict: Verdict, ownership: Float64Array): number {
  const blocks = heldBlocks(board, withCertain(board, ownership)).filter(({ stones }) => !verdict.seki[stones[0]!]);
  return Math.min(1, ...blocks.map(({ stones, held }) => (verdict.dead[stones[0]!] ? -held : held)));
}

/** Return whether a living block is in atari: it can be captured, or a ko is left. */
function inAtari(board: Board, { dead, seki }: Verdict): boolean {
  const living = board.blocks.filter(({ stones }) => !dead[stones[0]!] && !seki[stones[0]!]);
  return living.some(({ stones }) => board.liberties(stones[0]!).length === 1);
}

/** Count the passes in a row, up to now, of the side that moved last. */
function passesInARow(board: Board): number {
  const last = board.moves[board.moves.length - 1]?.[0];
  const mine = board.moves.filter(([side]) => side === last).reverse();
  const played = mine.findIndex(([, move]) => move !== PASS);
  return played < 0 ? mine.length : played;
}

/** Return the points beside one. */
export function beside(board: { rows: number; cols: number }, i: Index): Index[] {
  const [row, col] = [Math.floor(i / board.cols), i % board.cols];
  const around = [[row - 1, col], [row + 1, col], [row, col - 1], [row, col + 1]] as const;
  return around.filter(([r, c]) => r >= 0 && r < board.rows && c >= 0 && c < board.cols).map(([r, c]) => r * board.cols + c);
}

/** Return the neutral points outside of seki that one side can fill without harm. */
export function neutralPoints(board: Board, { dead, seki }: Verdict): Index[] {
  const territory = board.rules.scoring === "territory";
  const kinds = countPoints(board.engine, board.rows, board.cols, board.grid, dead, territory);
  const neutral: number[] = [COUNTED_AS.DAME, COUNTED_AS.NOBODY, COUNTED_AS.BLACK_OPEN, COUNTED_AS.WHITE_OPEN];
  const { grid } = board;
  return [...grid.keys()].filter(
    (i) =>
      !grid[i] && neutral.includes(kinds[i]!) && !beside(board, i).some((j) => seki[j]) &&
      SIDES.some((side) => isSound(board, i, side)),
  ); // prettier-ignore
}

/** Return whether a stone there is legal, no own eye, and captures or has two liberties. */
export function isSound(board: Board, move: Index, side: Side): boolean {
  const trial = board.copy();
  try {
    trial.turn = side;
    if (trial.verdict(move, side) || trial.isOwnEye(move, side)) return false;
    const taken = trial.engine.kernels.place(trial.state, trial.points, trial.point(move), side);
    return taken > 0 || trial.liberties(move).length >= 2;
  } finally {
    trial.close();
  }
}
