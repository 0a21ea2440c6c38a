// The start page: what the visitor wants to do, and the games that wait to be continued.

import type { ComponentChildren } from "preact";
import { backend, type GameEntry, type Opponent } from "./api";
import { t, type Key } from "./i18n";
import { Mini, type Shade } from "./mini";
import { nameOf, opponentOf } from "./newgame";
import { ago, Drop, Stone, useLoaded } from "./parts";
import { isDue, type Entry } from "./problems";
import { sendGames } from "./reviews";
import { Rules } from "./rules";
import { complain } from "./status";

const WAITING = 3; // unfinished games that are offered

const OPENING = [".........", "..X...O..", "......X..", ".........", "....O....", ".........", "..O...X..", ".........", "........."];
const CORNER = ["..XO.....", ".XXOO....", "XOOXXO...", "O.O.XO...", ".OOXXO...", "..OOO....", ".........", ".........", "........."];

const LINKS = ["study", "score", "explore", "library"] as const;

interface CardProps {
  title: Key;
  about: Key;
  href: string;
  picture: { stones: string[]; values?: number[]; shade?: Shade; letters?: string[] };
  children?: ComponentChildren;
}

function Card({ title, about, href, picture, children }: CardProps) {
  return (
    <section class="task">
      <a class="task-link" href={href}>
        <span class="task-picture" aria-hidden="true">
          <Mini label="" {...picture} />
        </span>
        <span>
          <h2>{t(title)}</h2>
          <span class="task-about">{t(about)}</span>
        </span>
      </a>
      {children}
    </section>
  );
}

/** Return the heat of a machine's wish: highest at one point, falling with the distance. */
function heatAround(x: number, y: number): number[] {
  return Array.from({ length: 81 }, (_, i) => Math.exp(-(((i % 9) - x) ** 2 + (Math.floor(i / 9) - y) ** 2) / 3));
}

export function Home() {
  const [games] = useLoaded<GameEntry[]>("/games");
  const [opponents] = useLoaded<Opponent[]>("/opponents");
  const [problems] = useLoaded<Entry[]>("/problems");
  const names = new Map(opponents?.map((o) => [o.id, nameOf(o)]));
  const waiting = (games ?? []).filter((game) => game.status !== "over" && game.moves > 0).slice(0, WAITING);
  const due = problems?.filter(isDue).length ?? 0;
  const review = async (files: File[]) => {
    const { reviews, known, unread } = await sendGames(files, false);
    if (unread.length) complain(unread.join("; "));
    const all = [...reviews, ...known];
    if (all.length) location.hash = all.length === 1 ? `#/review/${all[0]!.id}` : "#/review";
  };
  return (
    <main class="home">
      <h1>{t("homeTitle")}</h1>
      {waiting.length > 0 && (
        <section aria-label={t("goOnPlaying")}>
          <ul class="games waiting">
            {waiting.map((game) => (
              <li key={game.id}>
                <a href={`#/play/${game.id}`}>
                  <Stone colour={game.you === "white" ? "white" : "black"} />
                  <strong>{t("goOnPlaying")}</strong>
                  <span>
                    {game.size}×{game.size} · {opponentOf(game, names)}
                  </span>
                  <span class="meta">
                    {t("atMove", { n: game.moves + 1 })} · {ago(game.changed)}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <div class="tasks">
        <Card title="homePlay" about="homePlayAbout" href="#/play" picture={{ stones: OPENING }} />
        <Card
          title="homeReview"
          about="homeReviewAbout"
          href="#/review"
          picture={{ stones: OPENING, values: heatAround(3, 3), shade: "wishes", letters: ["D6"] }}
        >
          <Drop onFiles={(files) => void review(files)}>{t("homeDrop")}</Drop>
        </Card>
        <Card title="homeSolve" about="homeSolveAbout" href="#/problems" picture={{ stones: CORNER }}>
          {due > 0 && (
            <p class="actions">
              <a class="button primary" href="#/problems">
                {t("solveDue", { n: due })}
              </a>
            </p>
          )}
        </Card>
        {backend.offers("papers") && (
          <Card
            title="homePapers"
            about="homePapersAbout"
            href="#/papers"
            picture={{ stones: OPENING, values: heatAround(6, 5), shade: "likelihood" }}
          />
        )}
      </div>
      <Rules />
      <p class="note">
        {LINKS.filter((view) => backend.offers(view)).flatMap((view, i) => [
          i ? " · " : "",
          <a key={view} href={`#/${view}`}>
            {t(view)}
          </a>,
        ])}
      </p>
    </main>
  );
}
