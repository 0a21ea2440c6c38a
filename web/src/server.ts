// The backend that asks the server.

import { ApiError } from "./api";
import { methodOf, type Backend, type Options } from "./backend";
import { t } from "./i18n";

/** Ask the server; what comes back is no refusal, but may still break off. */
async function send(path: string, options: Options): Promise<Response> {
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
    response = await fetch(`/api${path}`, { method: methodOf(options), headers, body, signal: options.signal });
  } catch (failure) {
    if (options.signal?.aborted) throw failure;
    throw new ApiError(t("noAnswer"), 0);
  }
  if (response.ok) return response;
  const value = await response.json().catch((failure) => {
    if (options.signal?.aborted) throw failure; // hung up while the answer was on its way
  });
  throw new ApiError(value?.detail ?? t("serverFailed", { status: response.status }), response.status);
}

/** Say that an answer broke off, unless we hung up ourselves. */
function brokeOff(failure: unknown, signal?: AbortSignal): never {
  if (signal?.aborted) throw failure;
  throw new ApiError(t("brokeOff"), 0);
}

export const server: Backend = {
  async ask(path, options) {
    const response = await send(path, options);
    if (response.status === 204) return undefined;
    return response.json().catch((failure) => brokeOff(failure, options.signal));
  },

  /** Read one JSON value a line. */
  async lines(path, json, signal, take) {
    const response = await send(path, { json, signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read().catch((failure) => brokeOff(failure, signal));
      if (done) return;
      const pieces = (rest + value).split("\n");
      rest = pieces.pop()!;
      for (const piece of pieces) {
        const found = JSON.parse(piece);
        if (found.detail) throw new ApiError(found.detail, 422);
        take(found);
      }
    }
  },

  async file(path) {
    const response = await send(path, {});
    return response.blob().catch((failure) => brokeOff(failure));
  },

  offers: (view) => view !== "export", // its database holds everything
};
