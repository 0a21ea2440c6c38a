// Play against a paper's machine, or let two machines play each other move by move.

import { useEffect, useState } from "preact/hooks";
import { api, type Machine, type Opponent } from "./api";
import { Board } from "./board";
import { t } from "./i18n";
import { countedBy } from "./learning";
import { useLoaded } from "./parts";
import { asResult } from "./points";
import { asked, EMPTY, useBoard, type Source } from "./source";
import { complain } from "./status";

const YOU = "you";
const PAUSE = 500; // milliseconds between the moves of two machines

export function Duel({ id, machine }: { id: string; machine: Machine }) {
  const [opponents] = useLoaded<Opponent[]>("/opponents");
  const [players, setPlayers] = useState({ black: YOU, white: "machine" });
  const [source, setSource] = useState<Source>({ ...EMPTY, size: machine.size });
  const [running, setRunning] = useState(false);
  const [thinking, setThinking] = useState(false);
  const [result, setResult] = useState("");
  const board = useBoard(source, setSource);
  const moves = source.extra;
  const turn = moves.length % 2 ? "white" : "black";
  const player = players[turn];
  const over = moves.slice(-2).join() === "pass,pass" || moves.at(-1) === "resign";
  const alone = players.black !== YOU && players.white !== YOU;
  const position = asked(source);
  const key = JSON.stringify(position);
  const play = (move: string) => setSource({ ...source, extra: [...moves, move] });
  const begin = () => {
    setSource({ ...source, extra: [] });
    setRunning(false);
    setResult("");
  };

  const [steps, setSteps] = useState(0); // single moves that were asked for
  useEffect(() => {
    if (over || player === YOU || (alone && !running && !steps)) return;
    const stop = new AbortController();
    const choose = async () => {
      setThinking(true);
      if (alone && running) await new Promise((done) => setTimeout(done, PAUSE));
      if (stop.signal.aborted) return;
      const json = { ...position, player, seed: moves.length };
      const path = `/papers/${encodeURIComponent(id)}/move`;
      const { move } = await api<{ move: string }>(path, { json, signal: stop.signal });
      setSteps(0);
      play(move.toLowerCase() === "pass" ? "pass" : move);
    };
    choose()
      .catch((problem) => {
        if (stop.signal.aborted) return;
        setRunning(false);
        complain(problem);
      })
      .finally(() => stop.signal.aborted || setThinking(false));
    return () => {
      stop.abort();
      setThinking(false);
    };
  }, [key, player, running, steps, over]);

  useEffect(() => {
    if (!over) return;
    setRunning(false);
    if (moves.at(-1) === "resign") {
      setResult(turn === "black" ? "B+R" : "W+R");
      return;
    }
    const stop = new AbortController();
    api<{ area: { result: string } }>("/score", { json: position, signal: stop.signal }).then(
      (found) => setResult(found.area.result === "0" ? asResult(0) : found.area.result),
      (problem) => stop.signal.aborted || complain(problem),
    );
    return () => stop.abort();
  }, [over, key]);

  const fits = (one: Opponent) => !one.sizes.length || one.sizes.includes(machine.size);
  const others = (opponents ?? []).filter((one) => ["level", "simple"].includes(one.kind) && fits(one));
  const choose = (side: "black" | "white") => (
    <label class="field">
      {t(side)}
      <select
        value={players[side]}
        onChange={(event) => setPlayers({ ...players, [side]: event.currentTarget.value })}
      >
        <option value={YOU}>{t("you")}</option>
        <option value="machine">{t("paperFinished")}</option>
        {machine.snapshots.map((number) => (
          <option key={number} value={`machine@${number}`}>
            {t("paperMachineAfter", { n: number.toLocaleString(), counted: countedBy(machine) })}
          </option>
        ))}
        {others.map((one) => (
          <option key={one.id} value={one.id}>
            {one.level === null ? one.name : t("level", { n: one.level })}
          </option>
        ))}
      </select>
    </label>
  );
  const mine = player === YOU && !over;
  return (
    <section class="duel">
      <h2>{t("paperPlay")}</h2>
      <p class="note">{t("paperPlayAbout")}</p>
      <div class="exhibit-board">
        <div>
          <Board
            stones={board.stones}
            label={t("paperPlayAbout")}
            last={board.last}
            hover={mine ? board.turn : null}
            onPoint={mine ? play : undefined}
          />
        </div>
        <div>
          <div class="fields">
            {choose("black")}
            {choose("white")}
          </div>
          <div class="actions">
            {alone ? (
              <>
                <button class="primary" disabled={over} onClick={() => setRunning(!running)}>
                  {t(running ? "paperPause" : "paperStart")}
                </button>
                <button disabled={over || running || thinking} onClick={() => setSteps(1)}>
                  {t("paperStep")}
                </button>
              </>
            ) : (
              <button disabled={!mine} onClick={() => play("pass")}>
                {t("pass")}
              </button>
            )}
            <button
              disabled={!moves.length}
              onClick={() => {
                setRunning(false);
                setResult("");
                setSource({ ...source, extra: moves.slice(0, mine && !alone ? -2 : -1) });
              }}
            >
              {t("undo")}
            </button>
            <button disabled={!moves.length} onClick={begin}>
              {t("paperClear")}
            </button>
          </div>
          <p role="status">
            {over
              ? result && t("paperOver", { result })
              : thinking
                ? t("thinking")
                : t("toMove", { colour: t(board.turn) })}
          </p>
          <p class="note">{t("nMoves", { n: moves.length })}</p>
        </div>
      </div>
    </section>
  );
}
