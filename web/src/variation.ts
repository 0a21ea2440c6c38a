// What the server's network thinks of a position: a search as it goes on, and a quick estimate.

import { useEffect, useState } from "preact/hooks";
import { api, lines, type Estimate, type Hint } from "./api";
import { complain } from "./status";

/** Search a position for as long as it is shown; null while nothing is known. */
export function useAnalysis(position: object | null, visits: number): Hint | null {
  const [found, setFound] = useState<Hint | null>(null);
  const key = position && JSON.stringify(position);
  useEffect(() => {
    setFound(null);
    if (!key) return;
    const stop = new AbortController();
    lines<Hint>(`/analyse?visits=${visits}`, JSON.parse(key), stop.signal, setFound).catch(
      (problem) => stop.signal.aborted || complain(problem),
    );
    return () => stop.abort();
  }, [key, visits]);
  return found;
}

/** Ask what a position comes to; the last answer stays until the next is there. */
export function useEstimate(position: object | null): Estimate | null {
  const [found, setFound] = useState<Estimate | null>(null);
  const key = position && JSON.stringify(position);
  useEffect(() => {
    if (!key) {
      setFound(null);
      return;
    }
    const stop = new AbortController();
    const json = JSON.parse(key);
    api<Estimate>("/estimate", { json, signal: stop.signal }).then(setFound, complain);
    return () => stop.abort();
  }, [key]);
  return found;
}
