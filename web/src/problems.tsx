// Problems of your own mistakes and of collections: find the move, now and again another day.

import { useEffect, useState } from "preact/hooks";
import type { Marker } from "@sabaki/shudan";
import { api, type BoardState, type Colour } from "./api";
import { Board, BoardText, type Disc } from "./board";
import { moveName } from "./hints";
import { language, t } from "./i18n";
import { Drop, Loading, Stone, useLoaded } from "./parts";
import { afterMove } from "./positions";
import { knock } from "./sound";
import { complain } from "./status";

export interface Entry {
  id: string;
  size: number;
  number: number;
  colour: Colour;
  points_lost: number;
  solved: number;
  due: number;
  title?: string;
}

interface Problem extends BoardState {
  id: string;
  number: number;
  move: string;
  points_lost: number;
  you: Colour;
  title: string;
}

interface Verdict {
  solved: boolean;
  /** Nothing is known of the points where a file says what is right. */
  points_lost: number | null;
  best: string;
  due: number;
  move: string;
}

export const isDue = (one: Entry) => one.due * 1000 <= Date.now();

function day(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString(language, { dateStyle: "medium" });
}

export function Problems() {
  const [entries, reload] = useLoaded<Entry[]>("/problems");
  const due = entries?.filter(isDue) ?? [];
  const [adding, setAdding] = useState(false);
  const start = async () => {
    setAdding(true);
    await api<string[]>("/problems/start", { method: "POST" }).catch(complain);
    setAdding(false);
    reload();
  };
  const upload = async (files: File[]) => {
    setAdding(true);
    for (const file of files) {
      const query = new URLSearchParams({ name: file.name });
      const found = await api<{ ids: string[]; unread: string[] }>(`/problems/upload?${query}`, { body: file }).catch(complain);
      if (found?.unread.length) complain(found.unread.join("; "));
    }
    setAdding(false);
    reload();
  };
  const forget = async (id: string) => {
    await api(`/problems/${encodeURIComponent(id)}`, { method: "DELETE" }).catch(complain);
    reload();
  };
  return (
    <main class="narrow">
      <h1>{t("problems")}</h1>
      <p>{t("problemsAbout")}</p>
      {entries && (
        <p class="actions">
          {due.length > 0 ? (
            <a class="button primary" href={`#/problems/${encodeURIComponent(due[0]!.id)}`}>
              {t("solveDue", { n: due.length })}
            </a>
          ) : (
            <span class="note">{t(entries.length ? "nothingDue" : "problemsEmpty")}</span>
          )}
          {!entries.some((one) => one.id.startsWith("start-")) && (
            <button class={entries.length ? undefined : "primary"} disabled={adding} onClick={() => void start()}>
              {t("addFirstProblems")}
            </button>
          )}
        </p>
      )}
      <Drop onFiles={(files) => void upload(files)}>{t(adding ? "reading" : "dropProblems")}</Drop>
      <ul class="games">
        {entries?.map((one) => (
          <li key={one.id}>
            <a href={`#/problems/${encodeURIComponent(one.id)}`}>
              <Stone colour={one.colour} />
              <span>
                {one.title || `${one.size}×${one.size}, ${t("atMove", { n: one.number })}`}
              </span>
              <span class="meta">
                {one.solved > 0 && `${t("solvedTimes", { n: one.solved })} · `}
                {one.points_lost > 0 && `${t("lostPoints", { points: one.points_lost.toFixed(1) })} · `}
                {isDue(one) ? t("dueNow") : day(one.due)}
              </span>
            </a>
            <button class="plain" onClick={() => forget(one.id)} aria-label={t("deleteProblem")}>
              ×
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}

export function ProblemPage({ id }: { id: string }) {
  const path = `/problems/${encodeURIComponent(id)}`;
  const [problem] = useLoaded<Problem>(path);
  const [entries, reload] = useLoaded<Entry[]>("/problems");
  const [tried, setTried] = useState<BoardState | null>(null);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    setTried(null);
    setVerdict(null);
    setShown(false);
  }, [id]);
  if (!problem && entries && !entries.some((one) => one.id === id)) {
    return (
      <main class="narrow">
        <h1>{t("problems")}</h1>
        <p>
          <a href="#/problems">{t("allProblems")}</a>
        </p>
      </main>
    );
  }
  if (!problem) return <Loading />;
  const attempt = async (move: string) => {
    const next = afterMove({ ...problem, turn: problem.you }, move);
    if (!next || tried) return;
    setTried(next);
    knock();
    try {
      setVerdict({ ...(await api<Verdict>(`${path}/answer`, { json: { move } })), move });
      reload();
    } catch (trouble) {
      setTried(null);
      complain(trouble);
    }
  };
  const again = () => {
    setTried(null);
    setVerdict(null);
  };
  const others = entries?.filter((one) => one.id !== id) ?? [];
  const next = others.find(isDue) ?? others[0];
  const marks: Record<string, Marker> = {};
  const discs: Record<string, Disc> = {};
  if (!tried && problem.move) marks[problem.move] = { type: "cross" };
  if (verdict && (verdict.solved || shown) && verdict.best !== "pass")
    discs[verdict.best] = { text: "A", tone: 0 };
  const state = tried ?? problem;
  return (
    <main class="table">
      <div class="board-column">
        <Board
          stones={state.stones}
          label={t("problemKeys")}
          last={state.last}
          hover={tried ? null : problem.you}
          onPoint={tried ? undefined : (vertex) => void attempt(vertex)}
          marks={marks}
          discs={discs}
        />
      </div>
      <div class="side">
        <h1>{t("findBetter")}</h1>
        <p>
          {problem.title && <strong>{problem.title}. </strong>}
          {problem.move
            ? t("problemQuestion", {
                colour: t(problem.you),
                move: moveName(problem.move),
                points: problem.points_lost.toFixed(1),
              })
            : t("toMove", { colour: t(problem.you) })}
        </p>
        <p class="status" role="status">
          {tried && !verdict && t("thinking")}
          {verdict &&
            t(verdict.solved ? "solved" : verdict.points_lost === null ? "notRight" : "notSolved", {
              move: moveName(verdict.move),
              points: verdict.points_lost?.toFixed(1) ?? "",
              day: day(verdict.due),
            })}
        </p>
        {verdict && (verdict.solved || shown) && <p>{t(verdict.points_lost === null ? "rightWas" : "bestWas", { move: moveName(verdict.best) })}</p>}
        <div class="actions">
          {verdict && !verdict.solved && (
            <>
              <button class="primary" onClick={again}>
                {t("tryAgain")}
              </button>
              <button onClick={() => setShown(true)}>{t("showBetter")}</button>
            </>
          )}
          {next && (
            <a class={`button${verdict?.solved ? " primary" : ""}`} href={`#/problems/${encodeURIComponent(next.id)}`}>
              {t("nextProblem")}
            </a>
          )}
          <a class="button" href="#/problems">
            {t("allProblems")}
          </a>
        </div>
        <BoardText stones={state.stones} />
      </div>
    </main>
  );
}
