// Tournaments: standings, cross table, and any game on the board; live while they are played.

import { useState } from "preact/hooks";
import type { WholeGame } from "./api";
import { Board, BoardText } from "./board";
import { useLoaded, usePolled } from "./parts";
import { percent } from "./points";
import { Scrubber } from "./review";
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
  const [id = "", game = ""] = argument.split(":");
  const [arenas] = useLoaded<Entry[]>("/arenas");
  const chosen = id || arenas?.[0]?.id;
  return (
    <main class="wide">
      <h1>Arena</h1>
      {arenas && (
        <nav class="tabs" aria-label="Tournaments">
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
  if (!tables) return <p class="note">Reading …</p>;
  return (
    <>
      <p class="note">
        {tables.games} games{tables.duplicates > 0 && `, ${tables.duplicates} repeat another`}
        {tables.faults > 0 && `, ${tables.faults} faults`}. Elo with its 95 % interval.
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Standings">
        <table>
          <caption>Standings</caption>
          <thead>
            <tr>
              <th scope="col">Player</th>
              <th scope="col">Elo</th>
              <th scope="col">95 %</th>
              <th scope="col">Games</th>
              <th scope="col">Won</th>
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
                    ? `${Math.round(one.interval[0])} to ${Math.round(one.interval[1])}`
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
      <h2>Latest games</h2>
      <ul class="games">
        {tables.latest.slice(0, 60).map((game) => (
          <li key={game.number}>
            <a href={`#/arena/${id}:${game.number}`}>
              <span>
                {game.black} – {game.white}
              </span>
              <span class="meta">
                {game.result}, {game.plies} moves, {game.reason}
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
  if (!game) return <p class="note">Reading …</p>;
  const length = game.positions.length - 1;
  const go = (number: number) => {
    const next = Math.min(Math.max(number, 0), length);
    setAt(next);
    const move = game.line[next - 1];
    if (move) announce(`Move ${next}, ${move[0] === "B" ? "Black" : "White"} ${move[1]}`);
  };
  const state = game.positions[at]!;
  return (
    <div class="see-top">
      <div class="see-board">
        <Board
          stones={state.stones}
          label="Replay. Left and right arrows step through the game."
          last={state.last}
          onKey={(key) => {
            if (key === "ArrowLeft") go(at - 1);
            else if (key === "ArrowRight") go(at + 1);
            else if (key === "Home") go(0);
            else if (key === "End") go(length);
            else return false;
            return true;
          }}
        />
        <Scrubber at={at} length={length} go={go} step={(by) => go(at + by)} />
      </div>
      <div class="see-side">
        <h2>
          {game.black || "Black"} – {game.white || "White"}
        </h2>
        <p>
          {game.result}, komi {game.komi}, {length} moves
        </p>
        {game.remark && <p class="warning">{game.remark}</p>}
        {game.comments[String(at)] && <blockquote class="comment">{game.comments[String(at)]}</blockquote>}
        <p>
          <a href={back}>Back to the tournament</a>
        </p>
        <BoardText stones={state.stones} />
      </div>
    </div>
  );
}

