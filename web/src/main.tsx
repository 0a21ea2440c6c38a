// The page: a header, and one view for each address after the #.

import "../node_modules/@sabaki/shudan/css/goban.css";
import "./style.css";
import { render, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Review } from "./api";
import { ApiPage } from "./apipage";
import { Arena } from "./arena";
import { Explore } from "./explore";
import { Laboratory } from "./laboratory";
import { NewGame } from "./newgame";
import { Play } from "./play";
import { Reviewed, ReviewPage } from "./review";
import { Reviews } from "./reviews";
import { Score } from "./score";
import { See } from "./see";
import { language, LANGUAGES, store, stored, t, type Key } from "./i18n";
import { useKeys } from "./parts";
import { ProblemPage, Problems } from "./problems";
import { isSoundOn, knock, setSound } from "./sound";
import { Announcer, Preparing } from "./status";
import { openFile, openStudy, Study } from "./study";

type View = (argument: string) => ComponentChildren;

const VIEWS: Record<string, [title: Key, view: View]> = {
  play: ["play", (id) => (id ? <Play key={id} id={id} /> : <NewGame />)],
  problems: ["problems", (id) => (id ? <ProblemPage key={id} id={id} /> : <Problems />)],
  review: ["review", (id) => (id ? <ReviewPage key={id} id={id} /> : <Reviews />)],
  study: ["study", () => <Study />],
  score: ["score", () => <Score />],
  see: ["see", () => <See />],
  explore: ["explore", () => <Explore />],
  arena: ["arena", (argument) => <Arena argument={argument} />],
  laboratory: ["laboratory", (argument) => <Laboratory argument={argument} />],
  api: ["api", () => <ApiPage />],
};

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
    return [Object.hasOwn(VIEWS, name) ? name : "play", decoded(argument)];
  };
  const [place, setPlace] = useState(read);
  useEffect(() => {
    const follow = () => {
      setPlace(read());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}

const THEMES = { auto: "themeAuto", light: "themeLight", dark: "themeDark" } as const;

/** Colours, language and sound, kept in this browser. */
function Preferences() {
  const [theme, setTheme] = useState(() => stored("theme", "auto"));
  const [sound, setSounding] = useState(isSoundOn);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    store("theme", theme);
  }, [theme]);
  return (
    <div class="preferences">
      <button
        class="plain"
        aria-pressed={sound}
        aria-label={t("sound")}
        title={t("sound")}
        onClick={() => {
          setSound(!sound);
          setSounding(!sound);
          knock();
        }}
      >
        {sound ? "♪" : <s>♪</s>}
      </button>
      <select aria-label={t("colours")} value={theme} onChange={(e) => setTheme(e.currentTarget.value)}>
        {Object.entries(THEMES).map(([name, key]) => (
          <option key={name} value={name}>
            {t(key)}
          </option>
        ))}
      </select>
      <select
        aria-label={t("language")}
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
    </div>
  );
}

/** Open games that are pasted or dropped anywhere, where nothing else takes them. */
function useGifts(): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData("text") ?? "";
      if ((event.target as HTMLElement).closest("input, textarea") || !/\(\s*;/.test(text)) return;
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

function Page() {
  const [name, argument] = useHash();
  const [title, view] = VIEWS[name]!;
  useEffect(() => {
    document.title = `${t(title)} · Tengen`;
  }, [title]);
  useGifts();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the row of pages is wider than the screen: show the page that one is on.
    const here = nav.current!.querySelector<HTMLElement>("[aria-current]")!;
    nav.current!.scrollLeft = here.offsetLeft + here.offsetWidth / 2 - nav.current!.clientWidth / 2;
  }, [name]);
  return (
    <>
      <header>
        <a class="brand" href="#/play">
          Tengen
        </a>
        <nav ref={nav} aria-label={t("pages")}>
          {Object.entries(VIEWS).map(([key, [text]]) => (
            <a key={key} href={`#/${key}`} aria-current={key === name ? "page" : undefined}>
              {t(text)}
            </a>
          ))}
        </nav>
        <Preferences />
      </header>
      <Preparing />
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

if ("serviceWorker" in navigator && location.protocol.startsWith("http")) {
  void navigator.serviceWorker.register("/sw.js").catch(() => {}); // without it, only offline fails
}
const data = document.getElementById("review-data")?.textContent;
render(data ? <File review={JSON.parse(data)} /> : <Page />, document.getElementById("app")!);
