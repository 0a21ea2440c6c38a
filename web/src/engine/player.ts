// How Tengen chooses a move: its levels draw or search, and end the game when it is over (`game/endgame.py`).

import { PASS, type Board, type Index } from "./board";
import { deadStones, heldBlocks, score } from "./count";
import { beside, isSound, lastMove, neutralPoints, withCertain, type Judge, type Verdict } from "./judge";
import { ENDGAME as E, LAYOUT, LEVELS, SEARCH } from "./kernels";
import { chances, levelOn } from "./levels";
import type { Network } from "./network";
import type { Random } from "./random";
import { Search, type Report } from "./search";

export const RESIGN = "resign";
export type Choice = Index | typeof RESIGN;
export type LevelNumber = keyof typeof LEVELS;

/** What a move is chosen with. */
export interface Tools {
  judge: Judge;
  /** The network that searches, and the one whose moves the weaker levels draw. */
  best: Network;
  people: () => Network;
  random: Random;
}

/** Return the visits of a move at full strength. */
export function fullVisits(points: number): number {
  return points < 13 * 13 ? 200 : points < 19 * 19 ? 100 : 64;
}

/** Return the move of a level that draws, or null for one that searches. */
export function drawn(board: Board, bonus: number, number: LevelNumber, tools: Tools): Choice | null {
  const level = levelOn(number, Math.min(board.rows, board.cols));
  if (level.share > 0) return null;
  const { judge, random } = tools;
  if (judge.acceptsPass(board, bonus)) return PASS;
  const draw = (among?: Index[]) => {
    const [view] = (level.best ? tools.best : tools.people()).evaluate([board], bonus);
    const index = random.draw(chances(board, view!, level, among));
    return index === board.rows * board.cols ? PASS : index;
  };
  const verdict = lastMove(board) === PASS ? judge.finished(board) : null;
  if (verdict) {
    const over = judge.verdictIfOver(board, bonus);
    if (over) return finishingMove(board, bonus, over);
    const neutral = board.rules.scoring === "area" ? neutralPoints(board, verdict) : [];
    const mine = neutral.filter((point) => isSound(board, point, board.turn));
    if (mine.length) return draw(mine);
  }
  return atGameEnd(board, bonus, draw(), judge);
}

/** Return how many visits a level has that searches. */
export function visitsOf(number: LevelNumber, rows: number, cols: number): number {
  const { share } = levelOn(number, Math.min(rows, cols));
  return Math.max(Math.round(share * fullVisits(rows * cols)), 2);
}

/** Begin the search for a move. */
export function searchFor(board: Board, bonus: number, visits: number, { best, judge }: Tools): [Search, boolean] {
  const mayPass = lastMove(board) !== PASS || judge.isOver(board, bonus);
  return [new Search(best, board, bonus, visits, { mayPass }), mayPass];
}

/** Return the most visited move of a search, or one that ends the game. */
export function choiceOf(board: Board, bonus: number, search: Search, mayPass: boolean, tools: Tools): Choice {
  const { judge } = tools;
  const report = search.report;
  const first = report.candidates[0]?.move ?? search.first;
  if (isReadyToCount(board, bonus, judge)) return PASS;
  const byArea = board.rules.scoring === "area";
  const standing = (board.areaScore - bonus) * signOf(board);
  if (byArea && standing > 0 && lastMove(board) === PASS && mayPass) return PASS;
  if (isHopeless(board, report)) return RESIGN;
  const policy = report.network.best;
  const passing = first === PASS || policy[policy.length - 1]! >= Math.max(...policy);
  const early = board.moves.length * SEARCH.OPENING_SHARE < board.rows * board.cols;
  let move = first;
  if (byArea && standing <= 0 && passing) move = playOut(board, search, report, first);
  else if (early && report.candidates.length) move = varied(board, report, tools.random);
  if (move === PASS && !judge.isOver(board, bonus)) return bestPoint(search, report);
  return move;
}

function signOf(board: Board): number {
  return board.turn === LAYOUT.BLACK ? 1 : -1;
}

/** Draw one of the moves that are as good as the best. */
function varied(board: Board, { candidates }: Report, random: Random): Index {
  const sign = signOf(board);
  const [best] = candidates;
  const good = candidates.filter(
    (one) => one.visits >= SEARCH.GOOD_SHARE * best!.visits && sign * one.utility >= sign * best!.utility - SEARCH.GOOD_LOSS,
  );
  const weights = good.map(({ visits }) => visits ** (1 / SEARCH.TEMPERATURE));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return good[random.draw(weights.map((weight) => weight / sum))]!.move;
}

/** Return whether both the best move and the mean of the search are lost. */
function isHopeless(board: Board, { visits, winrate, mean }: Report): boolean {
  if (board.moves.length * 4 < board.rows * board.cols || visits < SEARCH.LEAST_TO_RESIGN) return false;
  const hope = board.turn === LAYOUT.BLACK ? Math.max(winrate, mean) : 1 - Math.min(winrate, mean);
  return hope < SEARCH.RESIGN_BELOW;
}

/** Return a move to play instead of a pass, since dead stones still count. */
function playOut(board: Board, search: Search, report: Report, first: Index): Index {
  const move = cleanupMove(board, report.ownership);
  if (move !== PASS || first !== PASS || !pointsLeft(board)) return move !== PASS ? move : first;
  return bestPoint(search, report);
}

/** Return the best move other than a pass, if there is one. */
function bestPoint(search: Search, { candidates }: Report): Index {
  return [...candidates.map(({ move }) => move), ...search.choices].find((move) => move !== PASS) ?? PASS;
}

// ----- The end of a game -----

/** Return Black's score if the game were counted now: by area every stone is alive. */
function scoreAsItStands(board: Board, bonus: number): number {
  if (board.rules.scoring === "area") return board.areaScore - bonus;
  return score(board, deadStones(board, byPlayouts(board, bonus)), bonus);
}

function byPlayouts(board: Board, bonus: number): Float64Array {
  return withCertain(board, board.playouts(E.PLAYOUTS, bonus).ownership);
}

/** Return whether passing after the enemy's pass ends a game that is over, and wins it. */
function canPassAndWin(board: Board, bonus: number, judge: Judge): boolean {
  const last = board.moves[board.moves.length - 1];
  if (!last || last[1] !== PASS || last[0] === board.turn) return false;
  return scoreAsItStands(board, bonus) * signOf(board) > 0 && judge.isOver(board, bonus);
}

function isReadyToCount(board: Board, bonus: number, judge: Judge): boolean {
  if (board.rules.scoring !== "territory" || board.moves.length * 3 < board.rows * board.cols) return false;
  return (lastMove(board) === PASS || !pointsLeft(board)) && judge.isOver(board, bonus);
}

/** Return whether an empty point touches both colours. */
function pointsLeft(board: Board): boolean {
  const { grid } = board;
  return [...grid.keys()].some((i) => {
    if (grid[i]) return false;
    const near = beside(board, i).map((j) => grid[j]);
    return near.includes(LAYOUT.BLACK) && near.includes(LAYOUT.WHITE);
  });
}

/** Return a move, or what suits the end of the game: a pass, or a capture. */
function atGameEnd(board: Board, bonus: number, move: Index, judge: Judge): Index {
  if (canPassAndWin(board, bonus, judge)) return PASS;
  if (move === PASS && board.rules.scoring === "area") {
    return (board.areaScore - bonus) * signOf(board) > 0 ? PASS : cleanupMove(board, byPlayouts(board, bonus));
  }
  return move !== PASS && isReadyToCount(board, bonus, judge) ? PASS : move;
}

/** Return a sound move that closes in on dead enemy stones; a pass when there is none. */
function cleanupMove(board: Board, ownership: Float64Array): Index {
  let [best, most] = [PASS, 0];
  for (const { colour, stones, held } of heldBlocks(board, ownership)) {
    if (colour === board.turn || held > -E.SETTLED) continue;
    const liberties = board.liberties(stones[0]!);
    for (const point of liberties) {
      const value = stones.length + 10 / liberties.length;
      if (value > most && isSound(board, point, board.turn)) [best, most] = [point, value];
    }
  }
  return best;
}

/** Return what is left to play in a finished game: a capture of dead stones, or a pass. */
function finishingMove(board: Board, bonus: number, { dead }: Verdict): Index {
  if (board.rules.scoring !== "area" || (board.areaScore - bonus) * signOf(board) > 0) return PASS;
  const owners = Float64Array.from(board.grid, (colour, i) => (colour === LAYOUT.BLACK ? 1 : -1) * (dead[i] ? -1 : 1));
  return cleanupMove(board, owners);
}
