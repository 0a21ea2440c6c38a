// How the levels of Tengen choose: they draw from a network's moves, or search with few visits.

import type { Board } from "./board";
import { LEVELS } from "./kernels";
import type { Evaluation } from "./network";
import { likelyMoves } from "./search";

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

/** Return the chances that a level which draws plays each move; the pass, last, only if no point is left. */
export function chances(board: Board, view: Evaluation, level: Level): Float64Array {
  const priors = level.best ? view.best : view.priors;
  const points = board.rows * board.cols;
  const [moves] = likelyMoves(board, priors, points);
  const found = new Float64Array(points + 1);
  const kept = moves.map((move) => board.index(move)).filter((index) => index >= 0);
  if (!kept.length) found[points] = 1;
  const most = Math.max(...kept.map((index) => priors[index]!));
  for (const index of kept) found[index] = (priors[index]! / most) ** (1 / level.temperature);
  const sum = found.reduce((a, b) => a + b, 0);
  return found.map((weight) => weight / sum);
}
