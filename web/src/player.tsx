// One player: points lost and rank from game to game, and the worst positions of all games.

import { api, backend, type BoardState, type MoveReview, type ReviewEntry } from "./api";
import { lossText } from "./board";
import { moveName } from "./hints";
import { rankName, store, stored, t } from "./i18n";
import { Mini } from "./mini";
import { whyWords } from "./mistakes";
import { Download, Loading, useLoaded } from "./parts";
import { Plot } from "./plot";
import { complain } from "./status";

interface Estimate {
  board: string;
  date: string;
  games: number;
  rank: string;
  low: string;
  high: string;
}

interface Player {
  worst: { review: string; title: string; move: MoveReview; position: BoardState }[];
  ranks: Estimate[];
}

const LEAST_GAMES = 10; // from which the server estimates a rank

/** Return a rank such as "3k" as a number: 1k is -1, 1d is 0. */
const scaleOf = (rank: string) => (rank.endsWith("k") ? -parseInt(rank) : parseInt(rank) - 1);
const rankAt = (scale: number) => (scale < 0 ? `${-scale}k` : `${scale + 1}d`);
const inWords = (rank: string) => rankName(`${parseInt(rank)} ${rank.endsWith("k") ? "kyu" : "dan"}`);

/** The page of a player: the one of the address, else the one looked at last or with most games. */
export function Players({ name }: { name: string }) {
  const [reviews] = useLoaded<ReviewEntry[]>("/reviews");
  if (!reviews) return <Loading />;
  const games = reviews
    .filter((one) => one.lost)
    .sort((a, b) => (a.date || "").localeCompare(b.date || "") || a.changed - b.changed);
  const counts = new Map<string, number>();
  for (const { black, white } of games) {
    for (const one of new Set([black, white])) if (one) counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  const names = [...counts].sort((a, b) => b[1] - a[1]);
  const usual = stored("me", "");
  const chosen = name || (counts.has(usual) ? usual : names[0]?.[0]);
  return (
    <main class="narrow player">
      <h1>{chosen ?? t("progress")}</h1>
      {names.length > 0 && (
        <label class="field">
          {t("player")}
          <select
            value={chosen}
            onChange={(e) => {
              store("me", e.currentTarget.value);
              location.hash = `#/player/${encodeURIComponent(e.currentTarget.value)}`;
            }}
          >
            {names.map(([one, n]) => (
              <option key={one} value={one}>
                {one} ({t("nGames", { n })})
              </option>
            ))}
          </select>
        </label>
      )}
      {!chosen && <p class="note">{t("progressEmpty")}</p>}
      {chosen && <Lost games={games.filter(({ black, white }) => black === chosen || white === chosen)} name={chosen} />}
      {chosen && backend.offers("worst") && <Worst key={chosen} name={chosen} />}
    </main>
  );
}

/** What a player's moves lost from game to game. */
function Lost({ games, name }: { games: ReviewEntry[]; name: string }) {
  if (games.length < 2) return null;
  const lost = games.map((one) => one.lost![one.black === name ? "black" : "white"]);
  const mean = (some: number[]) => (some.reduce((sum, n) => sum + n, 0) / some.length).toFixed(2);
  const won = (sign: string, side: "black" | "white") =>
    games.filter((one) => one[side] === name && one.result.startsWith(`${sign}+`)).length;
  const half = Math.ceil(lost.length / 2);
  return (
    <section aria-label={t("progress")}>
      <p>
        {t("progressWins", { won: won("B", "black") + won("W", "white"), n: games.length })}{" "}
        {t("progressWords", { first: mean(lost.slice(0, half)), last: mean(lost.slice(half)) })}
      </p>
      <Plot title={t("lostPerMove")} over={lost.map((_, i) => i + 1)} values={lost} />
    </section>
  );
}

/** The rank over time, and the worst positions of all games. */
function Worst({ name }: { name: string }) {
  const query = `name=${encodeURIComponent(name)}`;
  const [player] = useLoaded<Player>(`/player?${query}`);
  if (!player) return <p class="note">{t("reading")}</p>;
  const practise = async () => {
    const [first] = await api<string[]>(`/player/problems?${query}`, { method: "POST" }).catch((problem) => {
      complain(problem);
      return [];
    });
    if (first) location.hash = `#/problems/${encodeURIComponent(first)}`;
  };
  const boards = [...new Set(player.ranks.map((one) => one.board))];
  return (
    <>
      <h2>{t("rankOverTime")}</h2>
      {boards.length === 0 && <p class="note">{t("rankTakes", { n: LEAST_GAMES })}</p>}
      {boards.map((board) => {
        const ranks = player.ranks.filter((one) => one.board === board);
        const last = ranks[ranks.length - 1]!;
        return (
          <section key={board}>
            <p>
              {t("rankTold", {
                board: board.replace("x", "×"),
                rank: inWords(last.rank),
                low: inWords(last.low),
                high: inWords(last.high),
                n: LEAST_GAMES,
              })}
            </p>
            {ranks.length > 1 && (
              <Plot
                title={board.replace("x", "×")}
                over={ranks.map((_, i) => i + LEAST_GAMES)}
                values={ranks.map((one) => scaleOf(one.rank))}
                band={[ranks.map((one) => scaleOf(one.low)), ranks.map((one) => scaleOf(one.high))]}
                write={(scale) => (Number.isInteger(scale) ? rankAt(scale) : "")}
              />
            )}
          </section>
        );
      })}
      <h2>{t("worstPositions")}</h2>
      {player.worst.length === 0 && <p class="note">{t("noMistakes")}</p>}
      {player.worst.length > 0 && (
        <p class="actions">
          <button class="primary" onClick={() => void practise()}>
            {t("practise")}
          </button>
          <Download path={`/player/sgf?${query}`} name="problems.sgf">
            {t("problemsAsSgf")}
          </Download>
          <button onClick={() => print()}>{t("printReview")}</button>
        </p>
      )}
      <div class="diagrams">
        {player.worst.map(({ review, title, move, position }) => (
          <figure key={`${review} ${move.number}`}>
            <a href={`#/review/${review}`}>
              <Mini
                stones={position.stones}
                label={`${title}, ${t("moveBy", { n: move.number, colour: t(move.colour), move: moveName(move.move) })}`}
                last={position.last}
                letters={[move.best, move.move]}
              />
            </a>
            <figcaption>
              <b>{t("moveBy", { n: move.number, colour: t(move.colour), move: `${moveName(move.move)} (B)` })}</b>{" "}
              {lossText(move.points_lost)}. {t("betterIs", { move: `${moveName(move.best)} (A)` })} {whyWords(move)}{" "}
              <span class="meta">{title}</span>
            </figcaption>
          </figure>
        ))}
      </div>
    </>
  );
}
