// Talk to the server; every failure becomes an ApiError with a sentence for people.

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

interface Options {
  method?: string;
  json?: unknown;
  body?: Blob | string;
  signal?: AbortSignal;
}

export async function api<T>(path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = {};
  let body: BodyInit | undefined = options.body;
  if (options.json !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.json);
  } else if (body !== undefined) {
    headers["content-type"] = "application/x-go-sgf";
  }
  let response: Response;
  try {
    const method = options.method ?? (body === undefined ? "GET" : "POST");
    response = await fetch(`/api${path}`, { method, headers, body, signal: options.signal });
  } catch (failure) {
    if (options.signal?.aborted) throw failure;
    throw new ApiError("The server does not answer. Is it still running?", 0);
  }
  if (response.status === 204) return undefined as T;
  const value = await response.json().catch(() => null);
  if (!response.ok) {
    throw new ApiError(value?.detail ?? `The server failed (${response.status}).`, response.status);
  }
  return value as T;
}

export type Colour = "black" | "white";

export interface Opponent {
  id: string;
  name: string;
  spec: string;
  about: string;
  kind: "level" | "paper" | "simple" | "own";
  level: number | null;
  sizes: number[];
  ratings: Record<string, number>;
}

export interface Count {
  black: number;
  white: number;
  score: number;
  result: string;
  explanation: string;
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
  you: Colour;
  opponent: string;
  ladder: boolean;
  stones: string[];
  turn: Colour;
  moves: [string, string][];
  last: string | null;
  captures: Record<Colour, number>;
  illegal: string[];
  status: "playing" | "counting" | "over";
  thinking: boolean;
  trouble: string;
  dead: string[] | null;
  count: Count | null;
  result: string | null;
  won: boolean | null;
  clock: { black: number; white: number; increment: number; running: boolean } | null;
}

export interface GameEntry {
  id: string;
  changed: number;
  size: number;
  you: Colour;
  opponent: string;
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
  visits?: number;
  winrate?: number;
  score?: number;
  moves: Candidate[];
  ownership?: number[] | null;
}
