// All games of this server, played and reviewed, with a search.

import { useState } from "preact/hooks";
import type { GameEntry, Opponent, ReviewEntry } from "./api";
import { t } from "./i18n";
import { nameOf, opponentOf } from "./newgame";
import { ago, Choice, useLoaded } from "./parts";
import { fileOf, titleOf } from "./reviews";

type Kind = "all" | "played" | "reviewed";

interface Row {
  key: string;
  kind: Kind;
  href: string;
  title: string;
  about: string;
  changed: number;
}

const SHOWN = 100;

export function Library() {
  const [games] = useLoaded<GameEntry[]>("/games");
  const [reviews] = useLoaded<ReviewEntry[]>("/reviews");
  const [opponents] = useLoaded<Opponent[]>("/opponents");
  const [wanted, setWanted] = useState("");
  const [kind, setKind] = useState<Kind>("all");
  const names = new Map(opponents?.map((o) => [o.id, nameOf(o)]));
  const played = (games ?? []).map((game): Row => {
    const result = game.result ?? t("atMove", { n: game.moves + 1 });
    const won = game.won === true ? t("won") : game.won === false ? t("lost") : "";
    return {
      key: game.id,
      kind: "played",
      href: `#/play/${game.id}`,
      title: `${t("played")}: ${opponentOf(game, names)}`,
      about: [`${game.size}×${game.size}`, result, won].filter(Boolean).join(", "),
      changed: game.changed,
    };
  });
  const reviewed = (reviews ?? []).map((one): Row => {
    const told = [fileOf(one), one.event, one.date, `${one.size[1]}×${one.size[0]}`, one.result];
    return {
      key: one.id,
      kind: "reviewed",
      href: `#/review/${one.id}`,
      title: titleOf(one),
      about: told.filter(Boolean).join(", "),
      changed: one.changed,
    };
  });
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...played, ...reviewed].sort((a, b) => b.changed - a.changed);
  const found = all.filter((row) => {
    const text = `${row.title} ${row.about}`.toLowerCase();
    return (kind === "all" || row.kind === kind) && words.every((word) => text.includes(word));
  });
  return (
    <main class="narrow">
      <h1>{t("library")}</h1>
      <div class="finder">
        <label class="field">
          {t("searchGames")}
          <input type="search" value={wanted} onInput={(e) => setWanted(e.currentTarget.value)} />
        </label>
        <Choice
          legend={t("show")}
          name="kind"
          value={kind}
          options={[
            ["all", t("all")],
            ["played", t("played")],
            ["reviewed", t("reviewed")],
          ]}
          onChange={setKind}
        />
      </div>
      <p class="note" role="status">
        {games && reviews && t(all.length ? "nGamesFound" : "libraryEmpty", { n: found.length })}
      </p>
      <ul class="games">
        {found.slice(0, SHOWN).map((row) => (
          <li key={row.key}>
            <a href={row.href}>
              <span>{row.title}</span>
              <span class="meta">
                {row.about} · {ago(row.changed)}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </main>
  );
}
