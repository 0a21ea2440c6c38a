// Small parts that several pages share.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "./api";
import { complain } from "./status";

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

interface ChoiceProps<T extends string | number> {
  legend: string;
  name: string;
  value: T;
  options: [T, string][];
  onChange: (value: T) => void;
}

/** A row of radio buttons that look like one switch. */
export function Choice<T extends string | number>(props: ChoiceProps<T>) {
  return (
    <fieldset class="choice">
      <legend>{props.legend}</legend>
      <div>
        {props.options.map(([value, text]) => (
          <label key={value}>
            <input
              type="radio"
              name={props.name}
              checked={props.value === value}
              onChange={() => props.onChange(value)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
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

export function Stone({ colour }: { colour: "black" | "white" }) {
  return <i class={`stone ${colour}`} aria-hidden="true" />;
}

export function ago(seconds: number): string {
  const passed = Date.now() / 1000 - seconds;
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]] as const) {
    const count = Math.floor(passed / length);
    if (count >= 1) return `${count} ${unit}${count > 1 ? "s" : ""} ago`;
  }
  return "just now";
}
