// One place for words to the visitor: what went wrong, and what a screen reader should say.

import { useEffect, useState } from "preact/hooks";
import { api } from "./api";
import { t } from "./i18n";

const SHOWN = 7000;
const AGAIN = 2000;

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

interface Preparations {
  steps: [done: number, all: number] | null;
}

/** Say what a server that has just started is still preparing, until it is ready. */
export function Preparing() {
  const [left, setLeft] = useState<Preparations | null>(null);
  useEffect(() => {
    let timer = 0;
    const look = async () => {
      const found = await api<Preparations>("/preparing").catch(() => null);
      setLeft(found);
      if (found?.steps) timer = setTimeout(look, AGAIN);
    };
    void look();
    return () => clearTimeout(timer);
  }, []);
  if (!left?.steps) return null;
  const [done, all] = left.steps;
  return (
    <p class="preparing" role="status">
      {all ? t("compiling", { done, all }) : t("preparingFirst")}
    </p>
  );
}
