// What the page asks for, and the values that come back; `backend.ts` says who answers.

import type { Backend, Options } from "./backend";

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Who answers: the server, or the engine in the page. */
export let backend: Backend;

export function use(chosen: Backend): void {
  backend = chosen;
}

/** Ask for a value; every failure is an ApiError with a sentence for people. */
export function api<T>(path: string, options: Options = {}): Promise<T> {
  return backend.ask(path, options) as Promise<T>;
}

/** Ask for an answer that comes in parts. */
export function lines<T>(path: string, json: unknown, signal: AbortSignal, take: (value: T) => void): Promise<void> {
  return backend.lines(path, json, signal, take as (value: unknown) => void);
}

export type Colour = "black" | "white";

/** The player or model that a paper's exhibit shows. */
export interface Machine {
  size: number;
  model: string;
  plays: boolean;
  sees: boolean;
  counted: string;
  /** How many of them the paper's own training had; 0 where it does not say. */
  claimed: number;
  /** What the finished machine learned from. */
  learned_from: string;
  snapshots: number[];
  /** Rows of the position to begin with; none for an empty board. */
  start: string[];
  remake: string;
}

export interface Opponent {
  id: string;
  name: string;
  spec: string;
  about: string;
  kind: "level" | "person" | "paper" | "simple" | "own";
  level: number | null;
  sizes: number[];
  /** Points that a move must lose for a teacher to stop the game, unless told otherwise. */
  threshold: number;
  ratings: Record<string, number>;
  /** The 95 % intervals of the ranks. */
  intervals: Record<string, [low: string, high: string]>;
  ranks: Record<string, string>;
  /** Where a level was not measured on a board: the ranks of the nearest levels below and above. */
  between?: Record<string, [string | null, string | null]>;
}

export type CountPart = "territory" | "stones" | "prisoners" | "dead" | "komi" | "handicap";

export interface Count {
  black: number;
  white: number;
  score: number;
  result: string;
  explanation: string;
  /** What each total consists of. */
  black_parts: Partial<Record<CountPart, number>>;
  white_parts: Partial<Record<CountPart, number>>;
  black_points: string[];
  white_points: string[];
}

export interface Game {
  id: string;
  version: number;
  size: [number, number];
  komi: number;
  handicap: number;
  scoring: "area" | "territory";
  you: Colour | "both";
  opponent: string;
  /** Names of two people, as far as they gave any. */
  names: Partial<Record<Colour, string>>;
  ladder: boolean;
  /** Points that a move must lose for the teacher to stop the game; 0 without a teacher. */
  teach: number;
  lesson: Lesson | null;
  worst: Lesson[];
  /** The board before the first move. */
  start: string[];
  stones: string[];
  turn: Colour;
  moves: [string, string][];
  last: string | null;
  captures: Record<Colour, number>;
  suicide: boolean;
  illegal: string[];
  status: "playing" | "counting" | "over";
  thinking: boolean;
  trouble: string;
  open: boolean;
  question?: "pass";
  dead: string[] | null;
  count: Count | null;
  result: string | null;
  won: boolean | null;
  clock: ClockState | null;
}

/** Seconds of both sides, and the settings; after main time come periods, if there are any. */
export interface ClockState {
  black: number;
  white: number;
  /** Stones to be played in this period (0 in main time), and the periods left. */
  stages: Record<Colour, [stones: number, periods: number]>;
  main: number;
  increment: number;
  period: number;
  stones: number;
  periods: number;
  running: boolean;
}

/** An even game for a rank: opponent, colour, handicap and komi. */
export interface FairGame {
  opponent: string;
  colour: Colour;
  handicap: number;
  komi: number | null;
}

export interface GameEntry {
  id: string;
  changed: number;
  size: number;
  you: Colour | "both";
  opponent: string;
  names?: Partial<Record<Colour, string>>;
  moves: number;
  handicap: number;
  ladder: boolean;
  result: string | null;
  won: boolean | null;
  status: "playing" | "counting" | "over";
}

export interface Candidate {
  move: string;
  visits?: number;
  winrate?: number;
  score?: number;
  prior?: number;
  line?: string[];
}

export interface Hint {
  /** The network that speaks. */
  by?: string;
  spread?: number | null;
  visits?: number;
  winrate?: number;
  score?: number;
  moves: Candidate[];
  ownership?: number[] | null;
}

export interface BoardState {
  stones: string[];
  turn: Colour;
  last: string | null;
  captures: [number, number];
  /** Whether the rules allow it; not unless told. */
  suicide?: boolean;
}

export interface GameRecord {
  file: string;
  game: number;
  black: string;
  white: string;
  black_rank: string;
  white_rank: string;
  event: string;
  date: string;
  result: string;
  size: [number, number];
  komi: number;
  handicap: number;
  rules: string;
  moves: number;
}

export interface WholeGame extends GameRecord {
  remark: string;
  scoring: "area" | "territory";
  positions: BoardState[];
  line: [string, string][];
  comments: Record<string, string>;
  games?: number;
}

export interface Guess {
  move: string;
  probability: number;
}

export interface Judged {
  winrate: number;
  score: number;
  best: string;
  line: string[];
  /** The moves that a search looked at, best first; none where nothing was searched. */
  candidates?: { move: string; points_lost: number }[];
  /** 1 after the first pass, more where the position was searched. */
  visits: number;
  /** One letter per point, A (White's) to U (Black's). */
  ownership: string | null;
  guesses: Guess[];
}

export interface MoveReview {
  number: number;
  colour: Colour;
  move: string;
  points_lost: number;
  error: number;
  best: string;
  line: string[];
  winrate: number;
  score: number;
  visits: number;
  probability: number | null;
  rank: number | null;
  verdict: "" | "mistake" | "doubtful";
  /** Reviews of older versions lack these. */
  phase?: "opening" | "middle game" | "endgame";
  cause?: Cause;
  /** How many stones the cause is about. */
  stones?: number;
}

/** Why a move is worse than the best one. */
export type Cause = "" | "group" | "escape" | "answer" | "direction" | "local" | "pass";

/** What a move of yours lost; `asks` while you have to decide what to do about it. */
export interface Lesson extends MoveReview {
  asks: boolean;
}

export interface Estimate {
  score: number;
  spread: number;
  winrate: number;
  ownership: string | null;
  by: string;
}

export interface Part {
  number: number;
  position: Judged;
  move: MoveReview | null;
}

export interface Side {
  moves: number;
  mean_points_lost: number;
  mistakes: number;
  top1: number | null;
  top5: number | null;
}

export interface Summary {
  judge: string;
  black: Side;
  white: Side;
  ending: { black: number; white: number; result: string; dead: string[]; judge: string } | null;
}

export interface Progress {
  stage: "first pass" | "search" | "lines";
  done: number;
  total: number;
}

export interface Review {
  id: string;
  status: "waiting" | "done" | "failed";
  trouble: string;
  summary: Summary | null;
  progress: Progress | null;
  /** Updates that the parts include. */
  changes?: number;
  game: WholeGame;
  parts: Part[];
  /** Whose moves the visitor played, where that is known. */
  you?: Colour | null;
  /** In a page that was written to a file: its title and the address of the list of games. */
  title?: string;
  index?: string;
}

export interface ReviewEntry extends GameRecord {
  /** Points that each side's moves lost on average, in a finished review. */
  lost?: Record<Colour, number>;
  id: string;
  changed: number;
  status: "waiting" | "done" | "failed";
  progress: Progress | null;
}

/** What became of games that were sent to be reviewed. */
export interface Queued {
  reviews: { id: string }[];
  /** Those that were in the list already. */
  known: { id: string }[];
  /** What could not be read, and why. */
  unread: string[];
}
