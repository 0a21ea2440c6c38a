// Tournaments: standings, cross table, and any game on the board; live while they are played.

import { useState } from "preact/hooks";
import type { WholeGame } from "./api";
import { Board, BoardText } from "./board";
import { t } from "./i18n";
import { Scrubber, useLoaded, usePolled, useSteps } from "./parts";
import { percent } from "./points";
import { announce } from "./status";

export interface Entry {
  id: string;
  name: string;
  changed: number;
}

interface Standing {
  name: string;
  games: number;
  wins: number;
  losses: number;
  draws: number;
  rate: number | null;
  elo: number | null;
  interval: [number | null, number | null] | null;
  faults: number;
}

interface Tables {
  name: string;
  standings: Standing[];
  cross: ([number, number, number] | null)[][];
  games: number;
  duplicates: number;
  faults: number;
  latest: {
    number: number;
    black: string;
    white: string;
    result: string;
    plies: number;
    reason: string;
  }[];
}

const REFRESH = 5000;

export function Arena({ argument }: { argument: string }) {
  const [id = "", game = ""] = argument.split(":").map(encodeURIComponent);
  const [arenas] = useLoaded<Entry[]>("/arenas");
  const chosen = id || arenas?.[0]?.id;
  return (
    <main class="wide">
      <h1>{t("arena")}</h1>
      {arenas && (
        <nav class="tabs" aria-label={t("tournaments")}>
          {arenas.map((entry) => (
            <a
              key={entry.id}
              href={`#/arena/${entry.id}`}
              aria-current={entry.id === chosen ? "page" : undefined}
            >
              {entry.name}
            </a>
          ))}
        </nav>
      )}
      {chosen && game && <Replay path={`/arenas/${chosen}/games/${game}`} back={`#/arena/${chosen}`} />}
      {chosen && !game && <Tournament key={chosen} id={chosen} />}
    </main>
  );
}

function Tournament({ id }: { id: string }) {
  const [tables] = usePolled<Tables>(`/arenas/${id}`, REFRESH);
  if (!tables) return <p class="note">{t("reading")}</p>;
  return (
    <>
      <p class="note">
        {t("nGames", { n: tables.games })}
        {tables.duplicates > 0 && `, ${t("nRepeat", { n: tables.duplicates })}`}
        {tables.faults > 0 && `, ${t("nFaults", { n: tables.faults })}`}. {t("eloNote")}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label={t("standings")}>
        <table>
          <caption>{t("standings")}</caption>
          <thead>
            <tr>
              <th scope="col">{t("player")}</th>
              <th scope="col">Elo</th>
              <th scope="col">95 %</th>
              <th scope="col">{t("games")}</th>
              <th scope="col">{t("wonShare")}</th>
              {tables.standings.map((_, i) => (
                <th key={i} scope="col">
                  {i + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tables.standings.map((one, i) => (
              <tr key={one.name}>
                <th scope="row">
                  {i + 1}. {one.name}
                </th>
                <td>{one.elo === null ? "" : Math.round(one.elo)}</td>
                <td class="meta">
                  {one.interval?.[0] != null && one.interval[1] != null
                    ? `${Math.round(one.interval[0])} … ${Math.round(one.interval[1])}`
                    : ""}
                </td>
                <td>{one.games}</td>
                <td>{one.rate === null ? "" : percent(one.rate)}</td>
                {tables.cross[i]!.map((score, j) => (
                  <td key={j} class="meta">
                    {score ? `${score[0]}–${score[1]}` : i === j ? "·" : ""}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>{t("latestGames")}</h2>
      <ul class="games">
        {tables.latest.slice(0, 60).map((game) => (
          <li key={game.number}>
            <a href={`#/arena/${id}:${game.number}`}>
              <span>
                {game.black} – {game.white}
              </span>
              <span class="meta">
                {game.result}, {t("nMoves", { n: game.plies })}, {game.reason}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Replay({ path, back }: { path: string; back: string }) {
  const [game] = useLoaded<WholeGame>(path);
  const [at, setAt] = useState(0);
  const length = game ? game.positions.length - 1 : 0;
  const go = (number: number) => {
    const next = Math.min(Math.max(number, 0), length);
    setAt(next);
    const move = game?.line[next - 1];
    if (move) announce(t("moveBy", { n: next, colour: t(move[0] === "B" ? "black" : "white"), move: move[1] }));
  };
  useSteps({ at, length, go });
  if (!game) return <p class="note">{t("reading")}</p>;
  const state = game.positions[at]!;
  return (
    <div class="see-top">
      <div class="see-board">
        <Board
          stones={state.stones}
          label={t("reviewKeys")}
          last={state.last}
        />
        <Scrubber at={at} length={length} go={go} />
      </div>
      <div class="see-side">
        <h2>
          {game.black || t("black")} – {game.white || t("white")}
        </h2>
        <p>
          {game.result}, {t("movesKomi", { n: length, komi: game.komi })}
        </p>
        {game.remark && <p class="warning">{game.remark}</p>}
        {game.comments[String(at)] && <blockquote class="comment">{game.comments[String(at)]}</blockquote>}
        <p>
          <a href={back}>{t("backToTournament")}</a>
        </p>
        <BoardText stones={state.stones} />
      </div>
    </div>
  );
}

