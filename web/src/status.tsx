// One place for words to the visitor: what went wrong, and what a screen reader should say.

import { useEffect, useState } from "preact/hooks";
import { t } from "./i18n";

const SHOWN = 7000;

let say: (text: string) => void = () => {};
let warn: (text: { text: string }) => void = () => {};

/** Let a screen reader say something; nothing is shown. */
export function announce(text: string): void {
  say(text);
}

/** Show a problem for a few seconds, or until the next one comes or the page is left. */
export function complain(problem: unknown): void {
  if (problem instanceof DOMException && problem.name === "AbortError") return;
  warn({ text: problem instanceof Error ? problem.message : String(problem) });
}

export function Announcer() {
  const [said, setSaid] = useState("");
  const [trouble, setTrouble] = useState<{ text: string } | null>(null);
  useEffect(() => {
    say = setSaid;
    warn = setTrouble;
    const forget = () => setTrouble(null);
    addEventListener("hashchange", forget);
    return () => removeEventListener("hashchange", forget);
  }, []);
  useEffect(() => {
    if (!trouble) return;
    const timer = setTimeout(() => setTrouble(null), SHOWN);
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
            <span>{trouble.text}</span>
            <button class="plain" onClick={() => setTrouble(null)} aria-label={t("dismiss")}>
              ×
            </button>
          </div>
        )}
      </div>
    </>
  );
}
