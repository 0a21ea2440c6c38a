// Begin a game, on a board that is there at once, or go on with an old one.

import { useState } from "preact/hooks";
import { api, type Colour, type FairGame, type Game, type GameEntry, type Opponent } from "./api";
import { Board } from "./board";
import { rankName, store, stored, t, type Key } from "./i18n";
import { ago, Choice, Drop, SizeChoice, Stone, Tick, useLoaded } from "./parts";
import { boardWith, mostHandicap } from "./positions";
import { complain } from "./status";

const RULES: [string, Key][] = [
  ["cgos", "rulesArea"],
  ["chinese", "rulesChinese"],
  ["japanese", "rulesJapanese"],
  ["aga", "rulesAga"],
  ["new_zealand", "rulesNewZealand"],
  ["tromp_taylor", "rulesTrompTaylor"],
];
type ClockKind = "none" | "fischer" | "japanese" | "canadian";
const CLOCKS: [ClockKind, Key][] = [
  ["none", "noClock"],
  ["fischer", "clockFischer"],
  ["japanese", "clockJapanese"],
  ["canadian", "clockCanadian"],
];
const RANKS = [
  ...Array.from({ length: 30 }, (_, i) => `${30 - i} kyu`),
  ...Array.from({ length: 9 }, (_, i) => `${i + 1} dan`),
];
const THRESHOLDS = [2, 3, 5, 8];

export function nameOf(opponent: Opponent): string {
  if (opponent.kind === "person") return t("twoPeople");
  return opponent.level === null ? opponent.name : t("level", { n: opponent.level });
}

/** Name the other side of a game in a list, or both people. */
export function opponentOf(game: GameEntry, names: Map<string, string>): string {
  const people = [game.names?.black, game.names?.white].filter(Boolean).join(" – ");
  return people || (names.get(game.opponent) ?? game.opponent);
}

/** Say in words how strong an opponent is on a board: its rank where that was measured. */
export function strengthOf(opponent: Opponent, size: number): string {
  const rank = opponent.ranks[`${size}x${size}`];
  if (rank) return t("aboutRank", { rank: rankName(rank) });
  const [low, high] = opponent.between?.[`${size}x${size}`] ?? [];
  if (low) return t("strongerThan", { rank: rankName(low) });
  return high ? t("weakerThan", { rank: rankName(high) }) : "";
}

/** Say how sure an opponent's rank on a board is. */
function sureOf(opponent: Opponent, size: number): string {
  const [low, high] = opponent.intervals[`${size}x${size}`] ?? [];
  return low && high ? t("rankInterval", { low: rankName(low), high: rankName(high) }) : "";
}

/** Describe how a level plays, in words for players. */
function playsLike(opponent: Opponent, size: number): string {
  if (opponent.kind === "person") return t("twoPeopleAbout");
  if (opponent.level === null) return opponent.about;
  const board = `${size}x${size}`;
  const [low, high] = opponent.between?.[board] ?? [];
  const rank = opponent.ranks[board] ?? low ?? high;
  if (!rank) return t("levelsUnrated");
  const [number, kind] = rank.split(" ");
  const kyu = kind === "dan" ? 1 - Number(number) : Number(number);
  return t(kyu >= 20 ? "likeBeginner" : kyu >= 10 ? "likeLearner" : kyu >= 1 ? "likeClub" : "likeDan");
}

function remembered<T>(key: string, otherwise: T): T {
  try {
    return { ...otherwise, ...JSON.parse(stored(key, "{}")) };
  } catch {
    return otherwise;
  }
}

/** A rank to choose, or none. */
function RankField(props: { label: string; value: string; onChange: (rank: string) => void }) {
  return (
    <label class="field">
      {props.label}
      <select value={props.value} onChange={(e) => props.onChange(e.currentTarget.value)}>
        <option value="">{t("rankUnknown")}</option>
        {RANKS.map((rank) => (
          <option key={rank} value={rank}>
            {rankName(rank)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A number with a label. */
function NumberField(props: { label: string; value: number; least: number; onChange: (n: number) => void }) {
  return (
    <label class="field">
      {props.label}
      <input
        type="number"
        min={props.least}
        value={props.value}
        onInput={(e) => props.onChange(Math.max(Number(e.currentTarget.value) || 0, props.least))}
      />
    </label>
  );
}

export function NewGame() {
  const [opponents] = useLoaded<Opponent[]>("/opponents");
  const [games, reload] = useLoaded<GameEntry[]>("/games");
  const [form, setForm] = useState(() =>
    remembered("new-game", {
      size: 9,
      colour: "black" as Colour,
      opponent: "level-1",
      handicap: 0,
      komi: "",
      rules: "cgos",
      clock: "none" as ClockKind,
      minutes: 10,
      increment: 10,
      period: 30,
      periods: 5,
      stones: 15,
      black: "",
      white: "",
      rank: "",
      other: "",
      teaching: false,
      threshold: 0,
    }),
  );
  const change = (part: Partial<typeof form>) => {
    const next = { ...form, ...part };
    setForm(next);
    store("new-game", JSON.stringify(next));
  };
  const [ladder] = useLoaded<{ opponent: string; handicap: number }>(`/ladder?size=${form.size}`);
  const names = new Map(opponents?.map((o) => [o.id, nameOf(o)]));
  const offered = (opponents ?? []).filter((o) => !o.sizes.length || o.sizes.includes(form.size));
  const opponent = offered.find((o) => o.id === form.opponent) ?? offered[0];
  const both = opponent?.kind === "person";
  const threshold = form.threshold || (opponent?.threshold ?? 5);

  const open = async (first: string, extra: object = {}) => {
    const { teaching, threshold: _, komi, rank: _1, other: _2, ...rest } = form;
    const teach = teaching && !both ? threshold : 0;
    const json = { ...rest, komi: komi === "" ? null : Number(komi), teach, opponent: opponent?.id ?? "level-1", ...extra };
    try {
      const game = await api<Game>("/games", { json });
      if (first && game.turn === (both ? "black" : game.you)) {
        await api(`/games/${game.id}/moves`, { json: { move: first } });
      }
      location.hash = `#/play/${game.id}`;
    } catch (problem) {
      complain(problem);
    }
  };
  const goOn = async (file: File) => {
    try {
      const query = new URLSearchParams({
        name: file.name,
        colour: form.colour,
        opponent: opponent?.id ?? "level-1",
      });
      const game = await api<Game>(`/games/upload?${query}`, { body: file });
      location.hash = `#/play/${game.id}`;
    } catch (problem) {
      complain(problem);
    }
  };
  const forget = async (id: string) => {
    await api(`/games/${id}`, { method: "DELETE" }).catch(complain);
    reload();
  };
  const group = (kind: Opponent["kind"], label: string) => {
    const some = offered.filter((o) => o.kind === kind);
    return (
      some.length > 0 && (
        <optgroup label={label}>
          {some.map((o) => (
            <option key={o.id} value={o.id}>
              {[names.get(o.id), strengthOf(o, form.size)].filter(Boolean).join(", ")}
            </option>
          ))}
        </optgroup>
      )
    );
  };
  /** Choose opponent, colour, handicap and komi of an even game. */
  const suggest = async (part: Partial<typeof form>, keep = true) => {
    const { rank, other, size } = { ...form, ...part };
    change(part);
    if (!rank || (both ? !other : !opponents?.some((one) => one.level && one.ratings[`${size}x${size}`]))) return;
    const query = new URLSearchParams({ you: rank, size: String(size) });
    if (both) query.set("other", other);
    else if (keep && opponent?.ratings[`${size}x${size}`]) query.set("opponent", opponent.id);
    try {
      const { komi, ...fair } = await api<FairGame>(`/fair-game?${query}`);
      change({ ...part, ...fair, komi: komi === null || fair.handicap ? "" : String(komi) });
    } catch (problem) {
      complain(problem);
    }
  };
  const first = form.handicap === 0 && (both || form.colour === "black");
  return (
    <main class="table">
      <div class="board-column">
        <Board
          stones={boardWith(form.size, form.handicap)}
          label={t("beginKeys")}
          hover={first ? "black" : null}
          onPoint={(vertex) => void open(first ? vertex : "")}
        />
      </div>
      <div class="side">
        <h1>{t("play")}</h1>
        <form
          class="new-game"
          onSubmit={(event) => {
            event.preventDefault();
            void open("");
          }}
        >
          <SizeChoice
            legend={t("board")}
            name="size"
            value={form.size}
            onChange={(size) => void suggest({ size, handicap: Math.min(form.handicap, mostHandicap(size)) }, false)}
          />
          <RankField label={t(both ? "rankOfBlack" : "yourRank")} value={form.rank} onChange={(rank) => void suggest({ rank }, false)} />
          <label class="field">
            {t("opponent")}
            <select
              value={opponent?.id ?? form.opponent}
              onChange={(e) => change({ opponent: e.currentTarget.value, threshold: 0 })}
            >
              {group("level", t("levels"))}
              {group("person", t("people"))}
              {group("paper", t("paperMachines"))}
              {group("simple", t("simpleMachines"))}
              {group("own", t("ownMachines"))}
            </select>
            <small>{opponent ? `${playsLike(opponent, form.size)} ${sureOf(opponent, form.size)}` : " "}</small>
          </label>
          {both && (
            <>
              <RankField label={t("rankOfWhite")} value={form.other} onChange={(other) => void suggest({ other })} />
              <div class="fields">
                {(["black", "white"] as const).map((colour) => (
                  <label key={colour} class="field">
                    {t(colour === "black" ? "nameOfBlack" : "nameOfWhite")}
                    <input
                      value={form[colour]}
                      maxLength={60}
                      onInput={(e) => change({ [colour]: e.currentTarget.value })}
                    />
                  </label>
                ))}
              </div>
            </>
          )}
          {form.rank && (both ? form.other : opponent?.ratings[`${form.size}x${form.size}`]) && (
            <p class="note">
              <button type="button" class="link" onClick={() => void suggest({})}>
                {t("evenGameFor")}
              </button>{" "}
              {form.handicap ? t("nStones", { n: form.handicap }) : t("noHandicap")}
              {form.komi && `, ${t("komi")} ${form.komi}`}
            </p>
          )}
          {!both && (
            <Choice
              legend={t("youPlay")}
              name="colour"
              value={form.colour}
              options={[
                ["black", t("black")],
                ["white", t("white")],
              ]}
              onChange={(colour) => change({ colour })}
            />
          )}
          {!both && (
            <div>
              <Tick
                checked={form.teaching}
                onChange={(teaching) => change({ teaching })}
                text={t("teachMe")}
              />
              {form.teaching && (
                <label class="field">
                  {t("teachThreshold")}
                  <select
                    value={threshold}
                    onChange={(e) => change({ threshold: Number(e.currentTarget.value) })}
                  >
                    {THRESHOLDS.map((n) => (
                      <option key={n} value={n}>
                        {t("nPoints", { n })}
                      </option>
                    ))}
                  </select>
                </label>
              )}
            </div>
          )}
          <details>
            <summary>{t("moreSettings")}</summary>
            <div class="fields">
              <label class="field">
                {t("handicap")}
                <select
                  value={form.handicap}
                  onChange={(e) => change({ handicap: Number(e.currentTarget.value) })}
                >
                  <option value={0}>{t("none")}</option>
                  {[2, 3, 4, 5, 6, 7, 8, 9].filter((n) => n <= mostHandicap(form.size)).map((n) => (
                    <option key={n} value={n}>
                      {t("nStones", { n })}
                    </option>
                  ))}
                </select>
              </label>
              <label class="field">
                {t("komi")}
                <input
                  type="number"
                  step="0.5"
                  min="-200"
                  max="200"
                  placeholder={form.handicap ? "0.5" : form.rules === "japanese" ? "6.5" : "7.5"}
                  value={form.komi}
                  onInput={(e) => change({ komi: e.currentTarget.value })}
                />
              </label>
              <label class="field">
                {t("rules")}
                <select value={form.rules} onChange={(e) => change({ rules: e.currentTarget.value })}>
                  {RULES.map(([value, key]) => (
                    <option key={value} value={value}>
                      {t(key)}
                    </option>
                  ))}
                </select>
              </label>
              <label class="field">
                {t("clock")}
                <select value={form.clock} onChange={(e) => change({ clock: e.currentTarget.value as ClockKind })}>
                  {CLOCKS.map(([value, key]) => (
                    <option key={value} value={value}>
                      {t(key)}
                    </option>
                  ))}
                </select>
              </label>
              {form.clock !== "none" && (
                <NumberField
                  label={t("mainMinutes")}
                  least={form.clock === "fischer" ? 1 : 0}
                  value={form.minutes}
                  onChange={(minutes) => change({ minutes })}
                />
              )}
              {form.clock === "fischer" && (
                <NumberField label={t("secondsPerMove")} least={0} value={form.increment} onChange={(increment) => change({ increment })} />
              )}
              {(form.clock === "japanese" || form.clock === "canadian") && (
                <NumberField label={t("secondsOfPeriod")} least={1} value={form.period} onChange={(period) => change({ period })} />
              )}
              {form.clock === "japanese" && (
                <NumberField label={t("periods")} least={1} value={form.periods} onChange={(periods) => change({ periods })} />
              )}
              {form.clock === "canadian" && (
                <NumberField label={t("stonesOfPeriod")} least={1} value={form.stones} onChange={(stones) => change({ stones })} />
              )}
            </div>
          </details>
          <p class="actions">
            <button class="primary" type="submit">
              {t("begin")}
            </button>
            {ladder && (
              <button
                type="button"
                title={t("ladderNote")}
                onClick={() => open("", { ladder: true, handicap: 0, komi: null, opponent: ladder.opponent })}
              >
                {t("nextOfLadder", { name: names.get(ladder.opponent) ?? ladder.opponent })}
                {ladder.handicap ? `, ${t("nStones", { n: ladder.handicap })}` : ""}
              </button>
            )}
          </p>
        </form>
        <h2>{t("yourGames")}</h2>
        {games?.length === 0 && <p class="note">{t("noneYet")}</p>}
        <ul class="games">
          {games?.map((game) => (
            <li key={game.id}>
              <a href={`#/play/${game.id}`}>
                <Stone colour={game.you === "white" ? "white" : "black"} />
                <span>
                  {game.size}×{game.size} · {opponentOf(game, names)}
                  {game.handicap ? `, ${t("nStones", { n: game.handicap })}` : ""}
                </span>
                <span class="meta">
                  {game.result ?? t("atMove", { n: game.moves + 1 })}
                  {game.won === true ? `, ${t("won")}` : game.won === false ? `, ${t("lost")}` : ""} ·{" "}
                  {ago(game.changed)}
                </span>
              </a>
              <button
                class="plain"
                onClick={() => forget(game.id)}
                aria-label={t("deleteGame", { size: game.size, when: ago(game.changed) })}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
        <Drop onFiles={(files) => files[0] && void goOn(files[0])}>{t("goOnWithFile")}</Drop>
        <p class="note">{t("ladderNote")}</p>
        <p class="note">{t("ratingNote")}</p>
      </div>
    </main>
  );
}
