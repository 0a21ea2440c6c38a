// What workers do, on plain values: choose moves, look at positions, judge the end of a game.

import { Board, PASS, type Index, type Rules, type Side } from "./board";

import { heldBlocks } from "./count";
import type { Judge } from "./judge";
import { REVIEW } from "./kernels";
import type { Engine } from "./memory";
import type { Evaluation, Network } from "./network";
import { choiceOf, drawn, searchFor, visitsOf, type Choice, type LevelNumber, type Tools } from "./player";
import { Random } from "./random";
import { Search, type Report } from "./search";

/** A game with all its moves. */
export interface Position {
  rows: number;
  cols: number;
  rules: Rules;
  /** Points that White receives: komi, and compensation for handicap stones. */
  bonus: number;
  /** 0, 1 (Black) or 2 (White) for each point before the first move; empty if not given. */
  stones?: ArrayLike<number>;
  first: Side;
  moves: [Side, Index][];
  /** The side to move; the other one's opponent if not given. */
  turn?: Side;
}

/** What a task works with; `pause` lets messages in and says whether to stop. */
export interface Workplace {
  engine: Engine;
  best: Network;
  /** Laid out when it is first asked for. */
  people: () => Network;
  judge: Judge;
  tell: (part: unknown) => void;
  pause: () => Promise<boolean>;
}

export type Task<G, F> = (given: G, place: Workplace) => Promise<F>;

const BETWEEN_REPORTS = 250; // milliseconds
const AT_ONCE = 8;
const GUESSES = 10;

/** Return the board of a position; whoever asks has to close it. */
export function boardOf(engine: Engine, { rows, cols, rules, stones, first, moves, turn }: Position): Board {
  const board = new Board(engine, rows, cols, rules, stones, first);
  moves.forEach(([side, move], i) => {
    if (!board.play(move, side)) {
      board.close();
      throw new Error(`move ${i + 1} is not legal`);
    }
  });
  if (turn) board.turn = turn;
  return board;
}

async function onBoard<T>(place: Workplace, position: Position, use: (board: Board) => T): Promise<Awaited<T>> {
  const board = boardOf(place.engine, position);
  try {
    return await use(board);
  } finally {
    board.close();
  }
}

function toolsOf(place: Workplace, seed: number, board: Board): Tools {
  return { ...place, random: new Random(seed, board.moves.length) };
}

/** What the network says of one position of a game. */
export interface Look {
  number: number;
  winrate: number;
  score: number;
  spread: number;
  best: Index;
  over: boolean;
  stones: number[];
  ownership: Float32Array;
  /** The moves that people are most likely to play. */
  guesses: [move: Index, chance: number][];
  /** Of the move that was played next: the chances that people play it, and that it is the best. */
  next: { chance: number; rank: number; best: number; most: number } | null;
}

function lookAt(board: Board, number: number, view: Evaluation, next: Index | undefined): Look {
  const points = board.rows * board.cols;
  const place = next === undefined ? null : next === PASS ? points : next;
  const order = [...view.priors.keys()].sort((a, b) => view.priors[b]! - view.priors[a]! || a - b);
  const moveOf = (i: number) => (i === points ? PASS : i);
  const likeliest = order.slice(0, GUESSES).filter((i) => view.priors[i]! > 0);
  const best = view.best.reduce((top, one, i) => (one > view.best[top]! ? i : top), 0);
  return {
    number, winrate: view.winProbability, score: view.score, spread: view.spread, best: moveOf(best),
    over: board.isOver, stones: [...board.grid], ownership: Float32Array.from(view.ownership),
    guesses: likeliest.map((i) => [moveOf(i), view.priors[i]!]),
    next: place === null ? null : {
      chance: view.priors[place]!, rank: 1 + view.priors.filter((one) => one > view.priors[place]!).length,
      best: view.best[place]!, most: view.best[best]!,
    },
  }; // prettier-ignore
}

/** A report of a search as plain values, all for Black. */
export type Searched = Omit<Report, "network"> & { spread: number; choice?: Choice };

function plain({ network, ...rest }: Report): Searched {
  return { ...rest, spread: network.spread };
}

const choose: Task<{ position: Position; level: LevelNumber; seed: number }, { move: Choice } | null> = (
  { position, level, seed },
  place,
) =>
  onBoard(place, position, async (board) => {
    const { bonus } = position;
    const tools = toolsOf(place, seed, board);
    const move = drawn(board, bonus, level, tools);
    if (move !== null) return { move };
    if (place.judge.acceptsPass(board, bonus)) return { move: PASS };
    const visits = visitsOf(level, board.rows, board.cols);
    const [search, mayPass] = searchFor(board, bonus, visits, tools);
    try {
      while (search.visits < visits) {
        if (await place.pause()) return null;
        search.run(visits, soon(BETWEEN_REPORTS));
      }
      return { move: choiceOf(board, bonus, search, mayPass, tools) };
    } finally {
      search.close();
    }
  });

/** Return a function that says whether so many milliseconds have passed. */
function soon(milliseconds: number): () => boolean {
  const until = performance.now() + milliseconds;
  return () => performance.now() > until;
}

/** Search a position; report on the way. With `toPlay` the report has the move that Tengen would play. */
const search: Task<{ position: Position; visits: number; seconds?: number; toPlay?: boolean; seed?: number }, Searched> = (
  { position, visits, seconds, toPlay, seed = 0 },
  place,
) =>
  onBoard(place, position, async (board) => {
    const { bonus } = position;
    const tools = toolsOf(place, seed, board);
    const [found, mayPass] = toPlay
      ? searchFor(board, bonus, visits, tools)
      : ([new Search(place.best, board, bonus, visits), true] as const);
    const late = soon(1000 * (seconds ?? Infinity));
    try {
      while (found.visits < visits && !late()) {
        const due = soon(BETWEEN_REPORTS);
        found.run(visits, () => due() || late());
        if (found.visits < visits && !late()) place.tell(plain(found.report));
        if (await place.pause()) break;
      }
      const report = plain(found.report);
      return toPlay ? { ...report, choice: choiceOf(board, bonus, found, mayPass, tools) } : report;
    } finally {
      found.close();
    }
  });

/** Look once at the positions of a game from one number of moves up to another, both included. */
const look: Task<{ position: Position; from: number; to: number }, Look[]> = ({ position, from, to }, place) =>
  onBoard(place, { ...position, moves: position.moves.slice(0, from), turn: undefined }, async (board) => {
    const found: Look[] = [];
    for (let number = from; number <= to; number += AT_ONCE) {
      const boards: Board[] = [];
      for (let i = number; i < number + AT_ONCE && i <= to; i++) {
        if (i > from) {
          const [side, move] = position.moves[i - 1]!;
          if (!board.play(move, side)) throw new Error(`move ${i} is not legal`);
        }
        boards.push(board.copy());
        const next = position.moves[i]?.[0] ?? position.turn;
        if (next) boards[boards.length - 1]!.turn = next;
      }
      const views = place.best.evaluate(boards, position.bonus);
      views.forEach((view, i) => found.push(lookAt(boards[i]!, number + i, view, position.moves[number + i]?.[1])));
      for (const one of boards) one.close();
      if (await place.pause()) break;
    }
    return found;
  });

/** Continue a line with the network's choices. */
const extend: Task<{ position: Position; line: Index[] }, Index[]> = ({ position, line }, place) =>
  onBoard(place, position, async (board) => {
    const found = [...line];
    for (const move of line) board.push(move);
    while (found.length < REVIEW.LINE && !board.isOver) {
      const [view] = place.best.evaluate([board], position.bonus);
      const { best } = lookAt(board, 0, view!, undefined);
      if (best === PASS) break;
      board.push(best);
      found.push(best);
    }
    return found;
  });

/** What is dead at the end, and whether the game is still open. */
const judge: Task<{ position: Position }, { dead: Uint8Array; open: boolean }> = ({ position }, place) =>
  onBoard(place, position, (board) => ({
    dead: place.judge.confidentDead(board, position.bonus),
    open: !place.judge.isOver(board, position.bonus),
  }));

const isOpen: Task<{ position: Position }, boolean> = ({ position }, place) =>
  onBoard(place, position, (board) => !place.judge.isOver(board, position.bonus));

export interface Scored {
  dead: Uint8Array;
  seki: Uint8Array;
  safe: boolean;
  chance: number;
  blocks: { stones: Index[]; status: "alive" | "dead" | "seki"; probability: number }[];
  /** What the position comes to if it is played on. */
  outlook: { score: number; spread: number };
}

/** Judge every block of a position. */
const status: Task<{ position: Position }, Scored> = ({ position }, place) =>
  onBoard(place, position, (board) => {
    const { dead, seki, safe, chance, ownership } = place.judge.status(board);
    const blocks = heldBlocks(board, ownership).map(({ stones, held }) => {
      const [first] = stones as [number];
      const status = dead[first] ? ("dead" as const) : seki[first] ? ("seki" as const) : ("alive" as const);
      return { stones, status, probability: (1 + Math.abs(held)) / 2 };
    });
    const [view] = place.best.evaluate([board], position.bonus);
    return { dead, seki, safe, chance, blocks, outlook: { score: view!.score, spread: view!.spread } };
  });

export const TASKS = { choose, search, look, extend, judge, isOpen, status };
