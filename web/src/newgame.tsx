// Begin a game, or go on with an old one.

import { useState } from "preact/hooks";
import { api, type Colour, type Game, type GameEntry, type Opponent } from "./api";
import { ago, Choice, Drop, Stone, useLoaded } from "./parts";
import { complain } from "./status";

const RULES: [string, string][] = [
  ["cgos", "Area, superko"],
  ["chinese", "Chinese"],
  ["japanese", "Japanese"],
  ["aga", "AGA"],
  ["new_zealand", "New Zealand"],
  ["tromp_taylor", "Tromp-Taylor"],
];

/** What it was measured to be on a board: about 12 kyu, 1490 Elo. */
export function ratingOf(opponent: Opponent, size: number): string {
  const board = `${size}x${size}`;
  const rating = opponent.ratings[board];
  return rating === undefined ? "" : `, about ${opponent.ranks[board]} (${rating})`;
}

function remembered<T>(key: string, otherwise: T): T {
  try {
    return { ...otherwise, ...JSON.parse(localStorage.getItem(key) ?? "{}") };
  } catch {
    return otherwise;
  }
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
      minutes: 0,
      increment: 10,
    }),
  );
  const change = (part: Partial<typeof form>) => {
    const next = { ...form, ...part };
    setForm(next);
    localStorage.setItem("new-game", JSON.stringify(next));
  };
  const [ladder] = useLoaded<{ opponent: string; handicap: number }>(`/ladder?size=${form.size}`);
  const names = new Map(opponents?.map((o) => [o.id, o.name]));
  const offered = (opponents ?? []).filter((o) => !o.sizes.length || o.sizes.includes(form.size));
  const opponent = offered.some((o) => o.id === form.opponent) ? form.opponent : "level-1";

  const begin = async (extra: object = {}) => {
    try {
      const komi = form.komi === "" ? null : Number(form.komi);
      const json = { ...form, komi, opponent, ...extra };
      const game = await api<Game>("/games", { json });
      location.hash = `#/play/${game.id}`;
    } catch (problem) {
      complain(problem);
    }
  };
  const goOn = async (file: File) => {
    try {
      const query = new URLSearchParams({ name: file.name, colour: form.colour, opponent });
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
              {o.name}
              {ratingOf(o, form.size)}
            </option>
          ))}
        </optgroup>
      )
    );
  };
  return (
    <main class="narrow">
      <h1>Play</h1>
      <form
        class="new-game"
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <Choice
          legend="Board"
          name="size"
          value={form.size}
          options={[
            [9, "9×9"],
            [13, "13×13"],
            [19, "19×19"],
          ]}
          onChange={(size) => change({ size })}
        />
        <Choice
          legend="You play"
          name="colour"
          value={form.colour}
          options={[
            ["black", "Black"],
            ["white", "White"],
          ]}
          onChange={(colour) => change({ colour })}
        />
        <label class="field">
          Opponent
          <select value={opponent} onChange={(e) => change({ opponent: e.currentTarget.value })}>
            {group("level", "Levels")}
            {group("paper", "Machines of the papers")}
            {group("simple", "Simple")}
            {group("own", "From the command line")}
          </select>
          <small>{offered.find((o) => o.id === opponent)?.about ?? " "}</small>
        </label>
        <details>
          <summary>Handicap, komi, rules, clock</summary>
          <div class="fields">
            <label class="field">
              Handicap
              <select
                value={form.handicap}
                onChange={(e) => change({ handicap: Number(e.currentTarget.value) })}
              >
                <option value={0}>none</option>
                {[2, 3, 4, 5, 6, 7, 8, 9].map((n) => (
                  <option key={n} value={n}>
                    {n} stones
                  </option>
                ))}
              </select>
            </label>
            <label class="field">
              Komi
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
              Rules
              <select value={form.rules} onChange={(e) => change({ rules: e.currentTarget.value })}>
                {RULES.map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <label class="field">
              Clock
              <select
                value={form.minutes}
                onChange={(e) => change({ minutes: Number(e.currentTarget.value) })}
              >
                <option value={0}>no clock</option>
                {[1, 5, 10, 20, 30, 60].map((n) => (
                  <option key={n} value={n}>
                    {n} min + {form.increment} s a move
                  </option>
                ))}
              </select>
            </label>
          </div>
        </details>
        <p class="actions">
          <button class="primary" type="submit">
            Begin
          </button>
          {ladder && (
            <button type="button" onClick={() => begin({ ladder: true, handicap: 0, komi: null })}>
              Next game of the ladder: {names.get(ladder.opponent) ?? ladder.opponent}
              {ladder.handicap ? `, ${ladder.handicap} stones` : ""}
            </button>
          )}
        </p>
        <p class="note">
          On the ladder every win leads one step up, every loss one down. Ratings in brackets are
          measured Elo, GNU Go 3.8 at level 10 being 1800; ranks take that for 9 kyu and 100 Elo for
          one rank.
        </p>
      </form>
      <Drop onFiles={(files) => files[0] && void goOn(files[0])}>
        Go on with a game from an SGF file: drop it here or choose one
      </Drop>
      <h2>Your games</h2>
      {games?.length === 0 && <p class="note">None yet.</p>}
      <ul class="games">
        {games?.map((game) => (
          <li key={game.id}>
            <a href={`#/play/${game.id}`}>
              <Stone colour={game.you} />
              <span>
                {game.size}×{game.size} against {names.get(game.opponent) ?? game.opponent}
                {game.handicap ? `, ${game.handicap} stones` : ""}
              </span>
              <span class="meta">
                {game.result ?? `move ${game.moves + 1}`}
                {game.won === true ? ", won" : game.won === false ? ", lost" : ""} ·{" "}
                {ago(game.changed)}
              </span>
            </a>
            <button
              class="plain"
              onClick={() => forget(game.id)}
              aria-label={`Delete the ${game.size} by ${game.size} game of ${ago(game.changed)}`}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}
