// Openings of a collection: what was played next, how often, who won, and what models would play.

import type { Marker } from "@sabaki/shudan";
import { useEffect, useState } from "preact/hooks";
import { api, type BoardState, type Colour, type Guess } from "./api";
import { Board, BoardText } from "./board";
import { t, type Key } from "./i18n";
import { Drop, SizeChoice, useKeys, useLoaded } from "./parts";
import { percent } from "./points";
import { complain } from "./status";
import { alternating } from "./positions";

interface Collection {
  id: string;
  name: string;
}

interface NextMove {
  letter: string;
  move: string;
  /** Points that mirror images make of the move. */
  same: string[];
  count: number;
  share: number;
  win_rate_black: number | null;
  first: string;
  last: string;
  example: { file: string; game: number };
  network: number | null;
  opening: number | null;
}

interface Answer extends BoardState {
  to_play: Colour;
  corner: string | null;
  collection: number;
  plies: number;
  games: number;
  elsewhere: number;
  moves: NextMove[];
  models: Record<string, string>;
  liked: Record<string, Guess[]>;
  about: { games: number; sizes: Record<string, number> };
}

type Opinion = "network" | "opening";
const OPINIONS: Opinion[] = ["network", "opening"];
const ABOUT: Record<Opinion, Key> = { network: "networkShare", opening: "openingPoints" };
const TITLES: Record<Opinion, Key> = { network: "network", opening: "opening" };

export function Explore() {
  const [collections, reload] = useLoaded<Collection[]>("/collections");
  const [chosen, setChosen] = useState("");
  const id = chosen || collections?.[0]?.id || "";
  const [size, setSize] = useState(19);
  const [moves, setMoves] = useState<string[]>([]);
  const [corner, setCorner] = useState(false);
  const [pointed, setPointed] = useState<NextMove | null>(null);
  const [adding, setAdding] = useState(false);
  const answer = useAnswer(id, size, moves, corner, () =>
    corner ? setCorner(false) : setMoves(moves.slice(0, -1)),
  );

  /** Index a file, or the games that ship. */
  const add = async (file?: File) => {
    setAdding(true);
    try {
      const path = file ? `/collections?${new URLSearchParams({ name: file.name })}` : "/collections/levels";
      const made = await api<Collection & Answer["about"]>(path, { method: "POST", body: file });
      reload();
      setChosen(made.id);
      setMoves([]);
      setSize(Number(Object.keys(made.sizes)[0]?.split("x")[0] ?? 19));
    } catch (problem) {
      complain(problem);
    } finally {
      setAdding(false);
    }
  };
  const start = (next: number) => {
    setSize(next);
    setMoves([]);
  };
  const back = () => setMoves(moves.slice(0, -1));
  const play = (vertex: string) => {
    setPointed(null);
    setMoves([...moves, vertex]);
  };
  useKeys((key) => {
    if (key === "Backspace" || key === "ArrowLeft") back();
    else if (key === "Home") setMoves([]);
    else if (key === "ArrowRight" && answer?.moves[0]) play(answer.moves[0].move);
    else return false;
    return true;
  });
  const stones = answer?.stones ?? Array<string>(size).fill(".".repeat(size));
  const turn = answer?.turn ?? "black";
  const empty = collections?.length === 0;
  return (
    <main class="table explore">
      <div class="board-column">
        <Board
          stones={stones}
          label={t("seeKeys")}
          last={answer?.last}
          hover={id ? turn : null}
          onPoint={id ? play : undefined}
          marks={answer ? lettered(answer) : {}}
          selected={pointed && pointed.move !== "pass" ? pointed.move : null}
        />
      </div>
      <div class="side">
        <h1>{t("explore")}</h1>
        {!!collections?.length && (
          <label class="field">
            {t("collection")}
            <select
              value={id}
              onChange={(e) => {
                setChosen(e.currentTarget.value);
                setMoves([]);
              }}
            >
              {collections.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <div class="picker">
          <SizeChoice legend={t("board")} name="explored-board" value={size} onChange={start} />
          <Drop onFiles={(files) => files[0] && void add(files[0])}>
            {t(adding ? "readingGames" : "dropCollection")}
          </Drop>
        </div>
        {empty && (
          <>
            <p class="note">
              {t("exploreEmpty")} <code>tengen web --collection GAMES</code>
            </p>
            <p class="actions">
              <button class="primary" disabled={adding} onClick={() => void add()}>
                {t("exploreLevels")}
              </button>
            </p>
          </>
        )}
        <div class="actions">
          <button onClick={back} disabled={!moves.length}>
            {t("undo")}
          </button>
          <button onClick={() => setMoves([])} disabled={!moves.length}>
            {t("startAgain")}
          </button>
          <button aria-pressed={corner} onClick={() => setCorner(!corner)}>
            {t("cornerOnly")}
          </button>
        </div>
        <p class="line">{moves.join(" ")}</p>
        <div role="status" class="found">
          {answer ? <Headline answer={answer} /> : id && <p class="note">{t("readingGames")}</p>}
        </div>
        {answer && answer.moves.length > 0 && (
          <NextMoves answer={answer} play={play} point={setPointed} />
        )}
        {answer && <Liked answer={answer} play={play} />}
        <BoardText stones={stones} />
      </div>
    </main>
  );
}

/** Ask about a position; the last answer stays until the next is there. */
function useAnswer(
  id: string,
  size: number,
  moves: string[],
  corner: boolean,
  undo: () => void,
): Answer | null {
  const [answer, setAnswer] = useState<{ key: string; value: Answer } | null>(null);
  const key = JSON.stringify([id, size, moves, corner]);
  useEffect(() => {
    if (!id) return;
    const stop = new AbortController();
    const json = { size, moves: alternating("black", moves), corner, rules: "japanese" };
    api<Answer>(`/explore/${id}`, { json, signal: stop.signal }).then(
      (value) => setAnswer({ key, value }),
      (problem) => {
        if (stop.signal.aborted) return;
        complain(problem);
        undo();
      },
    );
    return () => stop.abort();
  }, [key]);
  const fits = answer?.value.stones.length === size;
  return answer && fits ? answer.value : null;
}

/** Put a letter on each next move and on its mirror images. */
function lettered(answer: Answer): Record<string, Marker> {
  const marks: Record<string, Marker> = {};
  for (const move of answer.moves) {
    if (!move.letter) continue;
    for (const vertex of [move.move, ...move.same])
      marks[vertex] = { type: "label", label: move.letter };
  }
  return marks;
}

function Headline({ answer }: { answer: Answer }) {
  const side = t("toMove", { colour: t(answer.to_play) });
  const all = answer.collection.toLocaleString("en");
  if (answer.moves.length === 0)
    return (
      <p>
        {side}: {t("noneWasHere", { all, n: answer.plies })}
      </p>
    );
  const count = answer.games.toLocaleString("en");
  return answer.corner ? (
    <p>
      {side}: {t("inCorner", { count, n: answer.elsewhere.toLocaleString("en") })}
    </p>
  ) : (
    <p>
      {side}: {t("ofGames", { count, all })}
    </p>
  );
}

interface NextMovesProps {
  answer: Answer;
  play: (vertex: string) => void;
  point: (move: NextMove | null) => void;
}

function NextMoves({ answer, play, point }: NextMovesProps) {
  const asked = OPINIONS.filter((name) => name in answer.models);
  const opinion = (name: Opinion, value: number | null) =>
    value === null ? "" : name === "opening" ? value.toFixed(1) : percent(value, 1);
  return (
    <div class="scroll">
      <table class="next-moves">
        <caption>{t("countTogether")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("move")}</th>
            <th scope="col">{t(answer.corner ? "times" : "games")}</th>
            <th scope="col">{t("share")}</th>
            <th scope="col">{t("blackWon")}</th>
            {asked.map((name) => (
              <th scope="col" key={name}>
                <abbr title={`${t(ABOUT[name])}: ${answer.models[name]}`}>{t(TITLES[name])}</abbr>
              </th>
            ))}
            <th scope="col">{t("years")}</th>
          </tr>
        </thead>
        <tbody>
          {answer.moves.map((move) => (
            <tr
              key={move.move}
              onMouseEnter={() => point(move)}
              onMouseLeave={() => point(null)}
              title={`${move.example.file}, ${move.example.game}`}
            >
              <th scope="row">
                <button class="row" onClick={() => play(move.move)} onFocus={() => point(move)}>
                  <b>{move.letter}</b> {move.move}
                  {move.same.length > 0 && <small> ×{move.same.length + 1}</small>}
                </button>
              </th>
              <td>{move.count.toLocaleString("en")}</td>
              <td>{percent(move.share, 1)}</td>
              <td>{move.win_rate_black === null ? "" : percent(move.win_rate_black, 1)}</td>
              {asked.map((name) => (
                <td key={name}>{opinion(name, move[name])}</td>
              ))}
              <td>{years(move)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function years(move: NextMove): string {
  const [first, last] = [move.first.slice(0, 4), move.last.slice(0, 4)];
  return first === last ? first : `${first}–${last}`;
}

/** What each model would play, whether anybody did or not. */
function Liked({ answer, play }: { answer: Answer; play: (vertex: string) => void }) {
  const told = OPINIONS.filter((name) => answer.liked[name]?.length);
  if (!told.length) return null;
  return (
    <>
      <h2>{t("modelsLike")}</h2>
      <ul class="liked">
        {told.map((name) => (
          <li key={name}>
            <span class="note">
              {t(TITLES[name])} (<code>{answer.models[name]}</code>)
            </span>
            {answer.liked[name]!.map((guess) => (
              <button key={guess.move} onClick={() => play(guess.move)}>
                {guess.move} <small>{percent(guess.probability)}</small>
              </button>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}
