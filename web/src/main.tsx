// The page: a header, and one view for each address after the #.

import "../node_modules/@sabaki/shudan/css/goban.css";
import "./style.css";
import { render, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, backend, use, type Review } from "./api";
import type { Backend } from "./backend";
import { ApiPage } from "./apipage";
import { Arena } from "./arena";
import { Explore } from "./explore";
import { Home } from "./home";
import { Laboratory } from "./laboratory";
import { Library } from "./library";
import { NewGame } from "./newgame";
import { Papers } from "./papers";
import { Play } from "./play";
import { Players } from "./player";
import { Reviewed, ReviewPage } from "./review";
import { Reviews } from "./reviews";
import { Score } from "./score";
import { language, LANGUAGES, store, stored, t, type Key } from "./i18n";
import { Tick, useKeys } from "./parts";
import { ProblemPage, Problems } from "./problems";
import { See } from "./see";
import { isSoundOn, knock, setSound } from "./sound";
import { parseBoard } from "./sgf";
import { Announcer, Preparing } from "./status";
import { openFile, openStudy, Study } from "./study";

type View = (argument: string) => ComponentChildren;

const VIEWS: Record<string, [title: Key, view: View]> = {
  home: ["start", () => <Home />],
  play: ["play", (id) => (id ? <Play key={id} id={id} /> : <NewGame />)],
  review: ["review", (id) => (id ? <ReviewPage key={id} id={id} /> : <Reviews />)],
  problems: ["problems", (id) => (id ? <ProblemPage key={id} id={id} /> : <Problems />)],
  study: ["study", (code) => <Study code={code} />],
  score: ["score", () => <Score />],
  explore: ["explore", () => <Explore />],
  library: ["library", () => <Library />],
  player: ["progress", (name) => <Players name={name} />],
  papers: ["papers", (id) => <Papers id={id} />],
  see: ["see", () => <See />],
  laboratory: ["laboratory", (argument) => <Laboratory argument={argument} />],
  arena: ["arena", (argument) => <Arena argument={argument} />],
  api: ["api", () => <ApiPage />],
};

/** The entries of the navigation, each with its views; the first one answered is where the entry leads. */
const SECTIONS: [title: Key, views: string[]][] = [
  ["play", ["play"]],
  ["review", ["review"]],
  ["problems", ["problems"]],
  ["study", ["study", "score", "explore"]],
  ["library", ["library", "player"]],
  ["papers", ["papers", "see", "laboratory", "arena", "api"]],
];

/** Return the sections with the views that the backend answers. */
function sections(): [title: Key, views: string[]][] {
  const offered = SECTIONS.map(([text, views]): [Key, string[]] => [text, views.filter((view) => backend.offers(view))]);
  return offered.filter(([, views]) => views.length > 0);
}

/** Decode an argument of the address; one that cannot be is taken as it is. */
function decoded(argument: string): string {
  try {
    return decodeURIComponent(argument);
  } catch {
    return argument;
  }
}

function useHash(): [string, string] {
  const read = (): [string, string] => {
    const [, name = "", argument = ""] = location.hash.split("/");
    return [Object.hasOwn(VIEWS, name) && backend.offers(name) ? name : "home", decoded(argument)];
  };
  const [place, setPlace] = useState(read);
  // Before the first paint, or a change of the address right after loading would be missed.
  useLayoutEffect(() => {
    const follow = () => {
      setPlace(read());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}

const BOARDS = { wood: "boardWood", paper: "boardPaper", slate: "boardSlate" } as const;
const THEMES = { auto: "themeAuto", light: "themeLight", dark: "themeDark" } as const;

/** Colours, board, language, sound and movement, kept in this browser. */
function Preferences() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [theme, setTheme] = useState(() => stored("theme", "auto"));
  const [board, setBoard] = useState(() => stored("board", "wood"));
  const [moving, setMoving] = useState(() => stored("moving", "on") === "on");
  const [sound, setSounding] = useState(isSoundOn);
  // Before the first paint, or the page would flash in other colours.
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    store("theme", theme);
  }, [theme]);
  useLayoutEffect(() => {
    document.documentElement.dataset.board = board;
    store("board", board);
  }, [board]);
  useLayoutEffect(() => {
    document.documentElement.dataset.moving = moving ? "on" : "off";
    store("moving", moving ? "on" : "off");
  }, [moving]);
  return (
    <div class="preferences">
      <button class="plain" aria-label={t("settings")} title={t("settings")} onClick={() => dialog.current!.showModal()}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5" />
        </svg>
      </button>
      <dialog ref={dialog} class="keys settings" aria-labelledby="settings-title">
        <h2 id="settings-title">{t("settings")}</h2>
        <Tick
          checked={sound}
          onChange={(on) => {
            setSound(on);
            setSounding(on);
            knock();
          }}
          text={t("sound")}
        />
        <Tick checked={moving} onChange={setMoving} text={t("animations")} />
        <label class="field">
          {t("colours")}
          <select value={theme} onChange={(e) => setTheme(e.currentTarget.value)}>
            {Object.entries(THEMES).map(([name, key]) => (
              <option key={name} value={name}>
                {t(key)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          {t("board")}
          <select value={board} onChange={(e) => setBoard(e.currentTarget.value)}>
            {Object.entries(BOARDS).map(([name, key]) => (
              <option key={name} value={name}>
                {t(key)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          {t("language")}
          <select
            value={language}
            onChange={(e) => {
              store("language", e.currentTarget.value);
              location.reload();
            }}
          >
            {LANGUAGES.map(([code, name]) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <form method="dialog">
          <button class="primary">{t("close")}</button>
        </form>
      </dialog>
    </div>
  );
}

/** Open games that are pasted or dropped anywhere, where nothing else takes them. */
function useGifts(): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData("text") ?? "";
      if ((event.target as HTMLElement).closest("input, textarea") || !(/\(\s*;/.test(text) || parseBoard(text))) return;
      event.preventDefault();
      openStudy(text);
    };
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void openFile(file);
    };
    addEventListener("paste", paste);
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("paste", paste);
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
    };
  }, []);
}

const KEYS: [Key, Key][] = [
  ["play", "playKeys"],
  ["problems", "problemKeys"],
  ["review", "reviewKeysNote"],
  ["study", "studyKeys"],
  ["score", "scoreKeys"],
  ["see", "seeKeys"],
];

/** A list of keys, which a question mark opens on any page. */
function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useKeys((key) => {
    if (key !== "?") return false;
    if (!dialog.current!.open) dialog.current!.showModal();
    return true;
  });
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">{t("keys")}</h2>
      <p>{t("stepKeys")}</p>
      <dl>
        {KEYS.map(([page, text]) => (
          <div key={text}>
            <dt>{t(page)}</dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button class="primary">{t("dismiss")}</button>
      </form>
    </dialog>
  );
}

const ICONS: Partial<Record<Key, string>> = {
  play: "M4 4h16v16H4zM4 12h16M12 4v16",
  review: "M4 18l5-7 4 4 7-10M4 21h16",
  problems: "M9 9a3 3 0 1 1 4 3c-1 .6-1 1-1 2M12 18v.01M12 3a9 9 0 1 0 .01 0",
  study: "M5 5h6M5 5v14M5 12h8v0M5 19h8M14 12h5M14 19h5",
  library: "M5 4v16M9 4v16M13 4l5 15",
  papers: "M6 3h9l4 4v14H6zM9 12h7M9 16h7",
};

/** The picture of a section, which a phone shows above its name. */
function SectionIcon({ name }: { name: Key }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

/** The views of a section; on a phone the row is moved until the current one is in sight. */
function Tabs({ views, name }: { views: string[]; name: string }) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const nav = row.current!;
    const current = nav.querySelector<HTMLElement>("[aria-current]")!;
    nav.scrollLeft = current.offsetLeft - (nav.clientWidth - current.offsetWidth) / 2;
  }, [name]);
  return (
    <nav class="tabs" aria-label={t("viewsHere")} ref={row}>
      {views.map((key) => (
        <a key={key} href={`#/${key}`} aria-current={key === name ? "page" : undefined}>
          {t(VIEWS[key]![0])}
        </a>
      ))}
    </nav>
  );
}

function Page() {
  const [name, argument] = useHash();
  const [title, view] = VIEWS[name]!;
  useEffect(() => {
    document.title = `${t(title)} · Tengen`;
  }, [title]);
  useGifts();
  const views = sections().find(([, views]) => views.includes(name))?.[1] ?? [];
  return (
    <>
      <header>
        <a class="brand" href="#/" aria-current={name === "home" ? "page" : undefined}>
          Tengen
        </a>
        <nav class="sections" aria-label={t("pages")}>
          {sections().map(([text, [first, ...others]]) => (
            <a
              key={text}
              href={`#/${first}`}
              aria-current={first === name ? "page" : others.includes(name) ? "true" : undefined}
            >
              <SectionIcon name={text} />
              <span>{t(text)}</span>
            </a>
          ))}
        </nav>
        <Preferences />
      </header>
      <Preparing />
      {views.length > 1 && <Tabs views={views} name={name} />}
      {view(argument)}
      <Keys />
      <Announcer />
    </>
  );
}

/** The page of one review that lies in a file. */
function File({ review }: { review: Review }) {
  return (
    <>
      <header>
        <span class="brand">Tengen</span>
        <Preferences />
      </header>
      <Reviewed review={review} />
      <Announcer />
    </>
  );
}

/** Show the page, answered by a backend; `worker` is the address of its service worker. */
export function show(chosen: Backend, worker: string): void {
  use(chosen);
  const data = document.getElementById("review-data")?.textContent;
  if (!data && "serviceWorker" in navigator) {
    void navigator.serviceWorker.register(worker).catch(() => {}); // without it, only offline fails
  }
  render(data ? <File review={JSON.parse(data)} /> : <Page />, document.getElementById("app")!);
}

/** Say why the page cannot be shown. */
export function sayWhy(failure: unknown): void {
  document.getElementById("app")!.textContent = failure instanceof ApiError ? failure.message : t("noKernels");
}
