// The page: a header, and one view for each address after the #.

import "../node_modules/@sabaki/shudan/css/goban.css";
import "./style.css";
import { render, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
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
import { Announcer } from "./status";

type View = (argument: string) => ComponentChildren;

const VIEWS: Record<string, [title: string, view: View]> = {
  play: ["Play", (id) => (id ? <Play key={id} id={id} /> : <NewGame />)],
  review: ["Review", (id) => (id ? <ReviewPage key={id} id={id} /> : <Reviews />)],
  see: ["What they see", () => <See />],
  score: ["Score", () => <Score />],
  explore: ["Explore", () => <Explore />],
  arena: ["Arena", (argument) => <Arena argument={argument} />],
  laboratory: ["Laboratory", (argument) => <Laboratory argument={argument} />],
  api: ["API", () => <ApiPage />],
};

function useHash(): [string, string] {
  const read = (): [string, string] => {
    const [, name = "", argument = ""] = location.hash.split("/");
    return [name in VIEWS ? name : "play", decodeURIComponent(argument)];
  };
  const [place, setPlace] = useState(read);
  useEffect(() => {
    const follow = () => setPlace(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}

const THEMES = ["auto", "light", "dark"] as const;

function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem("theme") ?? "auto");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  return (
    <label class="theme">
      <span class="unseen">Colours</span>
      <select value={theme} onChange={(e) => setTheme(e.currentTarget.value)}>
        {THEMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Page() {
  const [name, argument] = useHash();
  const [title, view] = VIEWS[name]!;
  useEffect(() => {
    document.title = `${title} · Tengen`;
  }, [title]);
  return (
    <>
      <header>
        <a class="brand" href="#/play">
          Tengen
        </a>
        <nav aria-label="Pages">
          {Object.entries(VIEWS).map(([key, [text]]) => (
            <a key={key} href={`#/${key}`} aria-current={key === name ? "page" : undefined}>
              {text}
            </a>
          ))}
        </nav>
        <Theme />
      </header>
      {view(argument)}
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
        <Theme />
      </header>
      <Reviewed review={review} />
      <Announcer />
    </>
  );
}

const data = document.getElementById("review-data")?.textContent;
render(data ? <File review={JSON.parse(data)} /> : <Page />, document.getElementById("app")!);
