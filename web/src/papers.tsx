// The papers: a list, and one exhibit for each, made of what its folder and its rows say.

import { useEffect, useState } from "preact/hooks";
import { api, backend, type BoardState, type Machine } from "./api";
import { Board } from "./board";
import { Duel } from "./duel";
import { t } from "./i18n";
import { Learning, type Curve, type Place, type Sights } from "./learning";
import { Loading, useLoaded } from "./parts";
import { asResult } from "./points";
import { blank, type Move } from "./positions";
import { complain } from "./status";
import { Claims, type Claim } from "./verdicts";

interface Listed {
  id: string;
  title: string;
  authors: string;
  year: number;
  line: string;
}

interface Failure extends BoardState {
  title: string;
  why: string;
  right: string;
  size: number;
  moves: Move[];
  /** What the machine says, where it cannot be asked. */
  said?: string;
}

/** Return the positions to look at: the first one, then those where the machine fails. */
function placesOf({ machine, failures }: Exhibit): Place[] {
  const { size, start } = machine!;
  const first = blank(size);
  return [{ ...first, stones: start.length ? start : first.stones, title: "", moves: [] }, ...failures];
}

interface Exhibit extends Listed {
  full_title: string;
  venue: string;
  story: string;
  cost: string;
  folder: string;
  recorded: boolean;
  machine: Machine | null;
  failures: Failure[];
  /** Files of its code. */
  code: string[];
  /** What the machines make of the places, where they cannot be asked. */
  sights?: Sights[];
}

interface Results {
  claims: Claim[];
  answers: { id: string; question: string; answer: string }[];
  learning: Curve | null;
  runs: { name: string; command: string; rows: number; date: string }[];
}

export function Papers({ id }: { id: string }) {
  return id ? <ExhibitPage key={id} id={id} /> : <List />;
}

function List() {
  const [papers] = useLoaded<Listed[]>("/papers");
  if (!papers) return <Loading />;
  return (
    <main class="wide papers">
      <h1>{t("papers")}</h1>
      <p class="lead">{t("papersAbout")}</p>
      <ul class="paper-list">
        {papers.map((paper) => (
          <li key={paper.id}>
            <a href={`#/papers/${encodeURIComponent(paper.id)}`} lang="en">
              <strong>{paper.title}</strong>
              <span class="meta">
                {paper.authors}, {paper.year}
              </span>
              <span>{paper.line}</span>
            </a>
          </li>
        ))}
      </ul>
      {backend.offers("machines") && (
        <>
          <h2>{t("paperMore")}</h2>
          <ul>
            {(["see", "laboratory", "arena"] as const).map((page) => (
              <li key={page}>
                <a href={`#/${page}`}>{t(page)}</a>
              </li>
            ))}
          </ul>
        </>
      )}
    </main>
  );
}

/** Load what the rows say; null until it is there, with the reason where they say nothing. */
function useResults(id: string): [Results | null, string] {
  const [found, setFound] = useState<Results | null>(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    api<Results>(`/papers/${encodeURIComponent(id)}/results`, { signal: stop.signal }).then(
      setFound,
      (problem) => stop.signal.aborted || setTrouble(problem.message),
    );
    return () => stop.abort();
  }, [id]);
  return [found, trouble];
}

function ExhibitPage({ id }: { id: string }) {
  const [exhibit] = useLoaded<Exhibit>(`/papers/${encodeURIComponent(id)}`);
  const [results, trouble] = useResults(id);
  const [chosen, choose] = useState(0);
  if (!exhibit) return <Loading />;
  const { machine, sights } = exhibit;
  const live = backend.offers("machines");
  const places = machine ? placesOf(exhibit) : [];
  const sees = machine?.sees && (live || sights);
  const look = (failure: number) => {
    choose(failure + 1);
    document.querySelector(".learning")!.scrollIntoView();
  };
  return (
    <main class="wide papers">
      <p>
        <a href="#/papers">{t("paperBack")}</a>
      </p>
      <div class="exhibit-head" lang="en">
        <h1>{exhibit.title}</h1>
        <p class="meta">
          {exhibit.authors} ({exhibit.year}): <cite>{exhibit.full_title}</cite>. {exhibit.venue}.
        </p>
        <p class="lead">{exhibit.story || exhibit.line}</p>
        <p class="note">{t("paperCost", { cost: exhibit.cost })}</p>
      </div>
      <section>
        <h2>{t("paperResults")}</h2>
        {!exhibit.recorded && <p class="note">{t("paperNoRows")}</p>}
        {trouble && <p class="warning">{trouble}</p>}
        {exhibit.recorded && !results && !trouble && (
          <p class="note" aria-busy="true">
            {t("paperComputing")}
          </p>
        )}
        {exhibit.recorded && results && <Claims claims={results.claims} />}
        {results && results.answers.length > 0 && (
          <details>
            <summary>{t("paperQuestions", { n: results.answers.length })}</summary>
            <dl class="answers" lang="en">
              {results.answers.map((each) => (
                <div key={each.id}>
                  <dt>{each.question}</dt>
                  <dd>{each.answer}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </section>
      {sees && (
        <Learning {...{ id, machine, places, chosen, choose }} curve={results?.learning ?? null} sights={live ? undefined : sights} />
      )}
      {live && machine?.plays && <Duel id={id} machine={machine} />}
      {exhibit.failures.length > 0 && (
        <section>
          <h2>{t("paperFails")}</h2>
          <div class="failures">
            {exhibit.failures.map((failure, i) => (
              <Fails key={failure.title} id={id} failure={failure} machine={machine!} look={sees ? () => look(i) : null} />
            ))}
          </div>
        </section>
      )}
      <section>
        <h2>{t("paperRepeat")}</h2>
        <p class="note">{t("paperRepeatAbout")}</p>
        <Command text="tengen lab report" />
        {results?.runs
          .filter((run, i, all) => all.findIndex((other) => other.command === run.command) === i)
          .map((run) => (
            <Command key={run.command} text={run.command} note={t("paperRows", { n: run.rows.toLocaleString(), date: run.date })} />
          ))}
        <p class="note">{t("paperCode", { folder: exhibit.folder })}</p>
        {live && (
          <ul class="files">
            {[...exhibit.code, ...(results?.runs ?? []).map((run) => `data/${run.name}/rows.csv.gz`)].map((file) => (
              <li key={file}>
                <a href={`api/papers/${encodeURIComponent(id)}/files/${file}`} target="_blank">
                  {file}
                </a>
              </li>
            ))}
          </ul>
        )}
      </section>
    </main>
  );
}

interface FailsProps {
  id: string;
  failure: Failure;
  machine: Machine;
  /** Look at the position as the snapshots do; null where they cannot be asked. */
  look: (() => void) | null;
}

/** A position with the machine's move or count, asked of the machine now, and the right one. */
function Fails({ id, failure, machine, look }: FailsProps) {
  const [move, setMove] = useState(failure.said ?? "");
  useEffect(() => {
    if (failure.said) return;
    const stop = new AbortController();
    const place = `/papers/${encodeURIComponent(id)}`;
    const ask = async () => {
      const { signal } = stop;
      if (machine.plays) {
        const json = { size: failure.size, moves: failure.moves, player: "machine" };
        setMove((await api<{ move: string }>(`${place}/move`, { json, signal })).move);
      } else {
        const json = { stones: failure.stones };
        const path = `${place}/see?at=${machine.snapshots.at(-1)}`;
        setMove(asResult((await api<{ value: number }>(path, { json, signal })).value));
      }
    };
    ask().catch((problem) => stop.signal.aborted || complain(problem));
    return () => stop.abort();
  }, [id, failure.title]);
  return (
    <figure class="failure">
      <Board
        stones={failure.stones}
        label={failure.title}
        last={failure.last}
        small
        discs={{
          ...(machine.plays && { [failure.right]: { text: "✓", tone: 0 } }),
          ...(machine.plays && move && move !== failure.right && { [move]: { text: "✗", tone: 5 } }),
        }}
      />
      <figcaption>
        <strong lang="en">{failure.title}</strong>
        <p>{move ? t(machine.plays ? "paperFailure" : "paperMiscount", { move, right: failure.right }) : t("thinking")}</p>
        <p lang="en">{failure.why}</p>
        {look && (
          <button class="link" onClick={look}>
            {t("paperWatchHere")}
          </button>
        )}
      </figcaption>
    </figure>
  );
}

export function Command({ text, note }: { text: string; note?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      (problem) => complain(problem),
    );
  return (
    <div class="command">
      <code>{text}</code>
      <button onClick={copy} aria-label={`${t("paperCopy")}: ${text}`}>
        {t(copied ? "paperCopied" : "paperCopy")}
      </button>
      {note && <small>{note}</small>}
    </div>
  );
}
