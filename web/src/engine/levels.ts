// How the levels of Tengen choose: they draw from a network's moves, or search with few visits.

import type { Board, Index } from "./board";
import { LEVELS } from "./kernels";
import type { Evaluation } from "./network";

export interface Level {
  /** Visits as a share of those at full strength; a level without visits draws. */
  share: number;
  temperature: number;
  /** Whether it draws from the best moves instead of what people play. */
  best: boolean;
}

const LARGE = 13;

/** Return how a level plays on a board. */
export function levelOn(number: keyof typeof LEVELS, lines: number): Level {
  const { on_large: large, ...level } = LEVELS[number];
  return large && lines >= LARGE ? large : level;
}

/** Return the chances that a level which draws plays each move, of `among` if given; the pass, last, only if no point is left. */
export function chances(board: Board, view: Evaluation, level: Level, among?: Index[]): Float64Array {
  const priors = level.best ? view.best : view.priors;
  const points = board.rows * board.cols;
  const legal = board.legal();
  const all = among ?? [...priors.keys()].filter((i) => i < points && legal[i] && !board.isOwnEye(i));
  const found = new Float64Array(points + 1);
  const most = Math.max(...all.map((index) => priors[index]!));
  if (!all.length) found[points] = 1;
  for (const index of all) found[index] = most > 0 ? (priors[index]! / most) ** (1 / level.temperature) : 1;
  const sum = found.reduce((a, b) => a + b, 0);
  return found.map((weight) => weight / sum);
}
