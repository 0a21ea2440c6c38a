// Who answers the page: a server (`server.ts`), or the engine in the page itself (`alone/`).

export interface Options {
  method?: string;
  json?: unknown;
  body?: Blob | string;
  signal?: AbortSignal;
}

/**
 * One interface for both: the paths and values of the server's API, which `api.ts` describes.
 * A failure is an ApiError with a sentence for people.
 */
export interface Backend {
  ask(path: string, options: Options): Promise<unknown>;
  /** Give the parts of a long answer to `take` as they come. */
  lines(path: string, json: unknown, signal: AbortSignal, take: (value: unknown) => void): Promise<void>;
  /** Return the file that a path stands for. */
  file(path: string): Promise<Blob>;
  /** Return whether it answers what a view of the page (see `VIEWS`) asks for, or has `html`, `export`, `worst`, `machines` or `archives`. */
  offers(view: string): boolean;
}

/** Return the method that a request means: with something to send, it is a POST. */
export function methodOf({ method, json, body }: Options): string {
  return method ?? (json === undefined && body === undefined ? "GET" : "POST");
}
