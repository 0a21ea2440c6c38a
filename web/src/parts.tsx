// Small parts that several pages share.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, backend, type Count, type CountPart, type Estimate } from "./api";
import { t, type Key } from "./i18n";
import { asResult } from "./points";
import { complain } from "./status";

const SOON = 100;
const LONGEST = 1000;

/**
 * Follow what changes on the server: `look` asks once and says whether there was news, or null at
 * the end. Asking is frequent after news, every second otherwise, and at once when the page is shown.
 * A stream would hold one of the six connections that a browser has for all its tabs.
 */
export function follow(look: () => Promise<boolean | null>): () => void {
  let timer = 0;
  let pause = SOON;
  let over = false;
  const ask = async () => {
    clearTimeout(timer);
    const news = await look().catch(() => false); // the server may come back
    if (over || news === null) return;
    pause = news ? SOON : Math.min(1.5 * pause, LONGEST);
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  };
  const shown = () => {
    if (!document.hidden) void ask();
  };
  document.addEventListener("visibilitychange", shown);
  void ask();
  return () => {
    over = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", shown);
  };
}

/** Load something again and again, each time some while after the last answer came or failed. */
export function usePolled<T>(path: string, pause: number | null): [T | null, () => void] {
  const [value, setValue] = useState<T | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const ask = async () => {
      try {
        setValue(await api<T>(path, { signal: stop.signal }));
      } catch (problem) {
        complain(problem);
      }
      if (pause !== null && !stop.signal.aborted) timer = setTimeout(ask, pause);
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, pause, round]);
  return [value, () => setRound((n) => n + 1)];
}

/** Load something, and again whenever `path` changes; null until it is there. */
export function useLoaded<T>(path: string): [T | null, () => void] {
  return usePolled<T>(path, null);
}

/** Handle keys anywhere on the page, except where text is written or a key has a use already. */
export function useKeys(onKey: (key: string) => boolean): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog, .scroll")) return;
      // Arrow keys choose in a row of radio buttons.
      if (event.key.startsWith("Arrow") && target.closest("input[type=radio]")) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

export interface Steps {
  at: number;
  length: number;
  go: (number: number) => void;
  /** One move back or forth, where that is not `go(at ± 1)`. */
  step?: (by: number) => void;
}

/** Step through a game with arrow keys, Home, End and the page keys, wherever the focus is. */
export function useSteps({ at, length, go, step = (by) => go(at + by) }: Steps): void {
  useKeys((key) => {
    if (key === "ArrowLeft") step(-1);
    else if (key === "ArrowRight") step(1);
    else if (key === "PageUp") go(Math.max(at - 10, 0));
    else if (key === "PageDown") go(Math.min(at + 10, length));
    else if (key === "Home") go(0);
    else if (key === "End") go(length);
    else return false;
    return true;
  });
}

/** Buttons and a slider to step through a game. */
export function Scrubber({ at, length, go, step = (by) => go(at + by) }: Steps) {
  return (
    <div class="scrubber">
      <button onClick={() => go(0)} aria-label={t("firstPosition")}>
        ◂◂
      </button>
      <button onClick={() => step(-1)} aria-label={t("previousMove")}>
        ◂
      </button>
      <input
        type="range"
        min={0}
        max={length}
        value={at}
        aria-label={t("moveNumber")}
        onInput={(e) => go(Number(e.currentTarget.value))}
        onKeyDown={(e) => e.key.startsWith("Arrow") && e.stopPropagation()}
      />
      <output aria-hidden="true">{at}</output>
      <button onClick={() => step(1)} aria-label={t("nextMove")}>
        ▸
      </button>
      <button onClick={() => go(length)} aria-label={t("lastPosition")}>
        ▸▸
      </button>
    </div>
  );
}

interface ChoiceProps<T extends string | number> {
  legend: string;
  name: string;
  value: T;
  /** Values with what stands on their buttons, and a name where that is only a sign. */
  options: [value: T, text: string, name?: string][];
  onChange: (value: T) => void;
}

/** A row of radio buttons that look like one switch. */
export function Choice<T extends string | number>(props: ChoiceProps<T>) {
  return (
    <fieldset class="choice">
      <legend>{props.legend}</legend>
      <div>
        {props.options.map(([value, text, name]) => (
          <label key={value} title={name}>
            <input
              type="radio"
              aria-label={name}
              name={props.name}
              checked={props.value === value}
              onChange={() => props.onChange(value)}
              // After a click of the mouse the arrow keys step through the game again.
              onClick={(event) => event.detail > 0 && event.currentTarget.blur()}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const USUAL_SIZES = [9, 13, 19];
const OTHER_SIZES = Array.from({ length: 24 }, (_, i) => i + 2).filter((size) => !USUAL_SIZES.includes(size));
const sizeName = (size: number) => `${size}×${size}`;

interface SizeProps {
  legend: string;
  name: string;
  /** The size, or 0 for none. */
  value: number;
  onChange: (size: number) => void;
}

/** The usual boards as a switch, the other ones in a list beside it. */
export function SizeChoice({ value, onChange, ...rest }: SizeProps) {
  return (
    <div class="sizes">
      <Choice {...rest} value={value} options={USUAL_SIZES.map((size) => [size, sizeName(size)])} onChange={onChange} />
      <select
        aria-label={t("otherSize")}
        value={OTHER_SIZES.includes(value) ? value : ""}
        onChange={(e) => e.currentTarget.value && onChange(Number(e.currentTarget.value))}
      >
        <option value="">{t("otherSize")}</option>
        {OTHER_SIZES.map((size) => (
          <option key={size} value={size}>
            {sizeName(size)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A box to tick. */
export function Tick(props: { checked: boolean; onChange: (on: boolean) => void; text: string }) {
  return (
    <label class="inline">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(e) => props.onChange(e.currentTarget.checked)}
      />
      {props.text}
    </label>
  );
}

/** Take files by dropping or choosing. */
export function Drop(props: { onFiles: (files: File[]) => void; children: ComponentChildren }) {
  const [over, setOver] = useState(false);
  return (
    <label
      class={`drop${over ? " over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        props.onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <input
        type="file"
        multiple
        onChange={(event) => {
          props.onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
      <span>{props.children}</span>
    </label>
  );
}

/** Let the browser save a file. */
export function saveAs(name: string, file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A link that saves what the backend answers. */
export function Download(props: { path: string; name: string; children: ComponentChildren }) {
  const save = () => backend.file(props.path).then((file) => saveAs(props.name, file), complain);
  return (
    <button class="link" onClick={() => void save()}>
      {props.children}
    </button>
  );
}

export function Stone({ colour }: { colour: "black" | "white" }) {
  return <i class={`stone ${colour}`} aria-hidden="true" />;
}

/** What is shown of a page until the server has answered. */
export function Loading() {
  return (
    <main class="table" aria-busy="true">
      <p class="note">{t("reading")}</p>
    </main>
  );
}

const COUNTED: [CountPart, Key][] = [
  ["territory", "territory"],
  ["stones", "stones"],
  ["prisoners", "prisoners"],
  ["dead", "deadTaken"],
  ["komi", "komi"],
  ["handicap", "handicap"],
];

/** A count as a table: what each side's total consists of. */
export function CountTable({ count }: { count: Count }) {
  const shown = COUNTED.filter(([part]) => part in count.black_parts || part in count.white_parts);
  return (
    <table class="counted">
      <thead>
        <tr>
          <th scope="col">{count.result === "0" ? t("aDraw") : count.result}</th>
          <th scope="col">{t("black")}</th>
          <th scope="col">{t("white")}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(([part, text]) => (
          <tr key={part}>
            <th scope="row">{t(text)}</th>
            <td>{count.black_parts[part] ?? ""}</td>
            <td>{count.white_parts[part] ?? ""}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{t("total")}</th>
          <td>{count.black}</td>
          <td>{count.white}</td>
        </tr>
      </tfoot>
    </table>
  );
}

/** What a position comes to, how sure that is, and who says so. */
export function EstimateWords({ estimate }: { estimate: Estimate | null }) {
  if (!estimate) return <p class="note">{t("thinking")}</p>;
  const lead = Math.abs(estimate.score);
  const leader = t(estimate.score > 0 ? "black" : "white");
  const sure = lead > 2 * estimate.spread ? "quiteSure" : lead > estimate.spread ? "ratherSure" : "unsure";
  return (
    <p class="estimate">
      {lead < 0.5
        ? t("evenGame")
        : t("leads", { colour: leader, points: lead.toFixed(1), spread: estimate.spread.toFixed(0) })}{" "}
      <span class="note">
        {t(sure)} {t("saysNetwork", { network: estimate.by })}
      </span>
      <span class="unseen">{asResult(estimate.score)}</span>
    </p>
  );
}

export function ago(seconds: number): string {
  const passed = Date.now() / 1000 - seconds;
  for (const [key, length] of [["daysAgo", 86400], ["hoursAgo", 3600], ["minutesAgo", 60]] as const) {
    const count = Math.floor(passed / length);
    if (count >= 1) return t(key, { n: count });
  }
  return t("justNow");
}
