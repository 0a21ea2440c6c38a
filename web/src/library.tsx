// All games of this server, played and reviewed: search and tags.

import { useState } from "preact/hooks";
import { api, backend, type GameEntry, type Opponent, type ReviewEntry } from "./api";
import { t } from "./i18n";
import { nameOf, opponentOf } from "./newgame";
import { ago, Choice, Download, Drop, useLoaded } from "./parts";
import { fileOf, titleOf } from "./reviews";
import { complain } from "./status";

type Kind = "all" | "played" | "reviewed";

interface Row {
  key: string;
  kind: Kind;
  href: string;
  title: string;
  about: string;
  changed: number;
  tags: string[];
}

const SHOWN = 100;

export function Library() {
  const [games, reloadGames] = useLoaded<GameEntry[]>("/games");
  const [reviews, reloadReviews] = useLoaded<ReviewEntry[]>("/reviews");
  const [tags, reloadTags] = useLoaded<Record<string, string[]>>("/tags");
  const [editing, setEditing] = useState("");
  const setTags = async (key: string, text: string) => {
    const json = { tags: [...new Set(text.split(",").map((tag) => tag.trim()).filter(Boolean))] };
    await api(`/tags/${key}`, { method: "PUT", json }).catch(complain);
    setEditing("");
    reloadTags();
  };
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
      tags: tags?.[game.id] ?? [],
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
      tags: tags?.[one.id] ?? [],
    };
  });
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...played, ...reviewed].sort((a, b) => b.changed - a.changed);
  const found = all.filter((row) => {
    const text = `${row.title} ${row.about} ${row.tags.join(" ")}`.toLowerCase();
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
              {row.tags.map((tag) => (
                <span key={tag} class="badge">
                  {tag}
                </span>
              ))}
            </a>
            {editing === row.key ? (
              <form
                class="tagging"
                onSubmit={(event) => {
                  event.preventDefault();
                  void setTags(row.key, new FormData(event.currentTarget).get("tags") as string);
                }}
              >
                <label class="field">
                  {t("tagsWithCommas")}
                  <input name="tags" defaultValue={row.tags.join(", ")} maxLength={300} />
                </label>
                <button class="primary">{t("keep")}</button>
              </form>
            ) : (
              <button class="plain" onClick={() => setEditing(row.key)} aria-label={t("tagsOf", { name: row.title })}>
                #
              </button>
            )}
          </li>
        ))}
      </ul>
      {backend.offers("export") && <Everything onImport={() => [reloadGames, reloadReviews, reloadTags].forEach((reload) => reload())} />}
    </main>
  );
}

/** Take all that this browser holds to another one. */
function Everything({ onImport }: { onImport: () => void }) {
  const [told, setTold] = useState("");
  const bring = async (file: File) => {
    try {
      const { added } = await api<{ added: number }>("/everything", { body: file });
      setTold(t("imported", { n: added }));
      onImport();
    } catch (problem) {
      complain(problem);
    }
  };
  return (
    <section>
      <p class="note">{t("storedHere")}</p>
      <p class="actions">
        <Download path="/everything" name="tengen.json">
          {t("exportAll")}
        </Download>
      </p>
      <Drop onFiles={(files) => files[0] && void bring(files[0])}>{t("importAll")}</Drop>
      <p class="note" role="status">
        {told}
      </p>
    </section>
  );
}

