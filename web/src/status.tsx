// One place for words to the visitor: what went wrong, and what a screen reader should say.

import { useEffect, useState } from "preact/hooks";

let say: (text: string) => void = () => {};
let warn: (text: string) => void = () => {};

/** Let a screen reader say something; nothing is shown. */
export function announce(text: string): void {
  say(text);
}

/** Show a problem until it is dismissed or the next one comes. */
export function complain(problem: unknown): void {
  if (problem instanceof DOMException && problem.name === "AbortError") return;
  warn(problem instanceof Error ? problem.message : String(problem));
}

export function Announcer() {
  const [said, setSaid] = useState("");
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    say = setSaid;
    warn = setTrouble;
    const forget = () => setTrouble("");
    addEventListener("hashchange", forget);
    return () => removeEventListener("hashchange", forget);
  }, []);
  useEffect(() => {
    if (!trouble) return;
    const timer = setTimeout(() => setTrouble(""), 12000);
    return () => clearTimeout(timer);
  }, [trouble]);
  return (
    <>
      <div class="unseen" aria-live="polite">
        {said}
      </div>
      <div class="trouble-place" role="alert">
        {trouble && (
          <div class="trouble">
            <span>{trouble}</span>
            <button class="plain" onClick={() => setTrouble("")} aria-label="Dismiss">
              ×
            </button>
          </div>
        )}
      </div>
    </>
  );
}
