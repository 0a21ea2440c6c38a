// A reviewed game: the curve, the worst moves, better lines, overlays, variations.
// Shown by the server while the review runs, and by a file that holds a finished one.

import type { Marker } from "@sabaki/shudan";
import { useEffect, useState } from "preact/hooks";
import { api, ApiError, type BoardState, type MoveReview, type Part, type Review } from "./api";
import { Board, BoardText } from "./board";
import { Curve, type Shown } from "./curve";
import { Hints, moveName } from "./hints";
import { t, type Key } from "./i18n";
import { Choice, follow, Scrubber, Stone, Tick, useKeys, useSteps } from "./parts";
import { asResult, filled, inRows, percent, toXY, unpacked } from "./points";
import { announce, complain } from "./status";
import { afterMove, alternating, positionOf } from "./rules";
import { openStudy } from "./study";
import { useAnalysis } from "./variation";

const WORST = 8;

/** Moves played beside the game, from one of its positions. */
interface Line {
  from: number;
  moves: string[];
  /** How many of the moves are on the board. */
  shown: number;
}

/** Return the board after the shown moves of a line; null if one of them is not legal. */
function afterLine(line: Line, positions: BoardState[]): BoardState | null {
  let state: BoardState | null = positions[line.from]!;
  for (const move of line.moves.slice(0, line.shown)) state = state && afterMove(state, move);
  return state;
}

export function ReviewPage({ id }: { id: string }) {
  const [review, setReview] = useState<Review | null>(null);
  const [missing, setMissing] = useState("");
  const [attempt, setAttempt] = useState(0);
  const path = `/reviews/${encodeURIComponent(id)}`;
  const retry = () =>
    api(`${path}/retry`, { method: "POST" }).then(() => setAttempt(attempt + 1), complain);
  useEffect(() => {
    const stop = new AbortController();
    let known: number | undefined;
    const end = follow(async () => {
      try {
        const { signal } = stop;
        const found = await api<Review>(known === undefined ? path : `${path}?known=${known}`, { signal });
        if (signal.aborted) return null;
        setReview((old) => {
          if (found.game || !old) return found;
          const parts = [...old.parts];
          for (const part of found.parts) parts[part.number] = part;
          return { ...found, game: old.game, parts };
        });
        const news = known !== found.changes;
        known = found.changes;
        return found.status === "waiting" ? news : null;
      } catch (problem) {
        if (stop.signal.aborted || !(problem instanceof ApiError) || (known !== undefined && problem.status !== 404)) return false;
        setMissing(problem.message);
        return null;
      }
    });
    return () => {
      stop.abort();
      end();
    };
  }, [id, attempt]);
  if (missing) {
    return (
      <main class="narrow">
        <h1>{t("review")}</h1>
        <p>{missing}</p>
        <p>
          <a href="#/review">{t("allReviews")}</a>
        </p>
      </main>
    );
  }
  return review ? <Reviewed review={review} retry={() => void retry()} /> : <main class="table" aria-busy="true" />;
}

export function Reviewed({ review, retry }: { review: Review; retry?: () => void }) {
  const alone = review.id === ""; // in a file, without a server
  const { game, parts } = review;
  const [rows, cols] = game.size;
  const length = game.positions.length - 1;
  // The list of games in a file links to single moves.
  const [at, setAt] = useState(() => (alone && Math.min(Number(location.hash.slice(1)), length)) || 0);
  const [line, setLine] = useState<Line | null>(null);
  const [shown, setShown] = useState<Shown>("winrate");
  const [overlays, setOverlays] = useState({ ownership: false, guesses: false, best: true });
  const varied = line && afterLine(line, game.positions);
  const base = line && !alone ? game.positions[line.from]! : null;
  const analysis = useAnalysis(
    line && base && positionOf(base, alternating(base.turn, line.moves.slice(0, line.shown)), game.komi),
    50,
  );
  const part = parts[at];
  const state: BoardState = varied ?? game.positions[at]!;

  const go = (number: number) => {
    setLine(null);
    const next = Math.min(Math.max(number, 0), length);
    setAt(next);
    const move = parts[next]?.move;
    announce(move ? t("moveBy", { n: next, colour: t(move.colour), move: moveName(move.move) }) : t("atMove", { n: next }));
  };
  const step = (by: number) => {
    if (line && line.shown + by >= 0 && line.shown + by <= line.moves.length && by !== 0) {
      if (line.shown + by === 0) setLine(null);
      else setLine({ ...line, shown: line.shown + by });
    } else if (!line) {
      go(at + by);
    }
  };
  const better = (move: MoveReview) => {
    setAt(move.number - 1);
    setLine({ from: move.number - 1, moves: move.line, shown: move.line.length });
  };
  const onPoint = (vertex: string) => {
    if (!line && at < length && game.positions[at + 1]!.last === vertex) {
      go(at + 1);
      return;
    }
    const moves = [...(line?.moves.slice(0, line.shown) ?? []), vertex];
    const next = { from: line?.from ?? at, moves, shown: moves.length };
    if (afterLine(next, game.positions)) setLine(next);
    else announce(t("cannotPlay", { move: vertex }));
  };
  useSteps({ at, length, go, step });
  useKeys((key) => {
    if (key === "Escape") setLine(null);
    return key === "Escape";
  });

  const study = async () => {
    openStudy(await fetch(`/api/reviews/${review.id}/sgf`).then((answer) => answer.text()));
  };
  const judged = !line ? part?.position : undefined;
  const owners = line ? analysis?.ownership : judged?.ownership && unpacked(judged.ownership);
  const marks: Record<string, Marker> = {};
  if (line) {
    line.moves.slice(0, line.shown).forEach((move, i) => {
      const point = toXY(move, rows);
      if (point && state.stones[point[1]]![point[0]] !== ".") {
        marks[move] = { type: "label", label: String(i + 1) };
      }
    });
  } else if (overlays.best && judged && judged.best !== "pass") {
    marks[judged.best] = { type: "label", label: "A" };
  }
  const heat = filled<{ strength: number; text?: string } | null>(rows, cols, null);
  if (overlays.guesses && judged) {
    for (const guess of judged.guesses) {
      const point = toXY(guess.move, rows);
      if (point && guess.probability >= 0.01) {
        const strength = Math.min(9, Math.max(1, Math.round(9 * Math.sqrt(guess.probability))));
        heat[point[1]]![point[0]] = { strength, text: String(Math.round(100 * guess.probability)) };
      }
    }
  }
  const worst = parts
    .map((p) => p.move)
    .filter((m): m is MoveReview => m !== null && m !== undefined && m.points_lost > 0)
    .sort((a, b) => rank(b) - rank(a) || b.points_lost - a.points_lost)
    .slice(0, WORST);

  return (
    <main class="table">
      <div class="board-column with-scrubber">
        <Board
          stones={state.stones}
          label={t("reviewKeys")}
          steps
          last={line ? null : state.last}
          hover={state.turn}
          onPoint={onPoint}
          paint={overlays.ownership && owners ? inRows(owners, cols) : null}
          heat={overlays.guesses ? heat : null}
          marks={marks}
        />
        <Scrubber at={at} length={length} go={go} step={step} />
      </div>
      <div class="side">
        <h1 class="title">
          {game.black || t("black")} – {game.white || t("white")}
        </h1>
        <p class="meta">
          {[review.title, game.event, game.date, game.result, `${t("komi")} ${game.komi}`].filter(Boolean).join(" · ")}
        </p>
        <Progress review={review} retry={retry} />
        <Choice
          legend={t("curveLegend")}
          name="curve"
          value={shown}
          options={[
            ["winrate", t("winner")],
            ["score", t("points")],
          ]}
          onChange={setShown}
        />
        <Curve parts={parts} length={length} at={at} shown={shown} onMove={go} />
        <p class="note">
          {t("barsNote")} <span class="blue">{t("black")}</span>, <span class="red">{t("white")}</span>.
        </p>
        <Toggles value={overlays} onChange={setOverlays} />
        {line ? (
          <section aria-label={t("variation")}>
            <h2>{t("variationFrom", { n: line.from })}</h2>
            <p class="actions">
              <button onClick={() => setLine(null)}>{t("backToGame")}</button>
              <button
                disabled={line.shown <= 1}
                onClick={() => setLine({ ...line, shown: line.shown - 1 })}
              >
                ◂ {t("oneBack")}
              </button>
            </p>
            {analysis ? (
              <Hints hint={analysis} turn={state.turn} />
            ) : (
              !alone && <p class="note">{t("thinking")}</p>
            )}
          </section>
        ) : (
          <MoveWords part={part} number={at} comment={game.comments[String(at)]} better={better} />
        )}
        <h2>{t("worstFirst")}</h2>
        {worst.length === 0 && <p class="note">{t("nothingLost")}</p>}
        <ol class="worst">
          {worst.map((move) => (
            <li key={move.number}>
              <button class="row" onClick={() => go(move.number)} aria-current={at === move.number}>
                <Stone colour={move.colour} />
                <span>
                  {move.number} {move.move}
                </span>
                <span class={`badge ${move.verdict || "small"}`}>{t(move.verdict || "loss")}</span>
                <span class="meta">
                  {move.points_lost.toFixed(1)} ± {move.error.toFixed(1)}
                </span>
              </button>
              <button onClick={() => better(move)} aria-label={t("betterThanMove", { move: moveName(move.best), n: move.number })}>
                {moveName(move.best)}
              </button>
            </li>
          ))}
        </ol>
        {review.summary && <Sides review={review} />}
        {alone ? (
          review.index && (
            <p class="links">
              <a href={review.index}>{t("allGames")}</a>
            </p>
          )
        ) : (
          <p class="links">
            {review.status === "done" && (
              <>
                <a href={`/api/reviews/${review.id}/sgf`} download>
                  {t("annotatedSgf")}
                </a>
                <button class="link" onClick={() => void study()}>
                  {t("openInStudy")}
                </button>
              </>
            )}
            <a href={`/api/reviews/${review.id}/csv`} download>
              {t("tableCsv")}
            </a>
            <a href="#/review">{t("allReviews")}</a>
          </p>
        )}
        <BoardText stones={state.stones} />
      </div>
    </main>
  );
}

function rank(move: MoveReview): number {
  return move.verdict === "mistake" ? 2 : move.verdict === "doubtful" ? 1 : 0;
}

function Progress({ review, retry }: { review: Review; retry?: () => void }) {
  const { progress } = review;
  if (review.status === "failed") {
    return (
      <p class="warning">
        {t("reviewFailed")} {review.trouble} <button onClick={retry}>{t("tryAgain")}</button>
      </p>
    );
  }
  if (review.game.remark) return <p class="warning">{review.game.remark}</p>;
  if (review.status === "done") return null;
  if (!progress) return <p class="progress">{t("waitingForOthers")}</p>;
  return (
    <p class="progress">
      <progress max={progress.total} value={progress.done} aria-label={t(STAGES[progress.stage])} />
      {t(STAGES[progress.stage])}: {t("nOf", { n: progress.done, all: progress.total })}
    </p>
  );
}

export const STAGES = { "first pass": "stageFirst", search: "stageSearch", lines: "stageLines" } as const;

type Overlays = { ownership: boolean; guesses: boolean; best: boolean };
const OVERLAYS: [keyof Overlays, Key][] = [
  ["best", "bestMove"],
  ["guesses", "predictedMoves"],
  ["ownership", "ownership"],
];

function Toggles(props: { value: Overlays; onChange: (value: Overlays) => void }) {
  return (
    <fieldset class="toggles">
      <legend>{t("onTheBoard")}</legend>
      {OVERLAYS.map(([key, text]) => (
        <Tick
          key={key}
          checked={props.value[key]}
          onChange={(on) => props.onChange({ ...props.value, [key]: on })}
          text={t(text)}
        />
      ))}
    </fieldset>
  );
}

interface WordsProps {
  part: Part | undefined;
  number: number;
  comment: string | undefined;
  better: (move: MoveReview) => void;
}

function MoveWords({ part, number, comment, better }: WordsProps) {
  const move = part?.move;
  return (
    <section class="words" aria-label={t("thisMove")}>
      <h2>
        {move
          ? t("moveBy", { n: number, colour: t(move.colour), move: moveName(move.move) })
          : number
            ? t("atMove", { n: number })
            : t("beforeFirst")}
      </h2>
      {!part && <p class="note">{t("notEvaluated")}</p>}
      {part && (
        <p>
          {t("blackWins", { share: percent(part.position.winrate), result: asResult(part.position.score) })}
          {move && move.points_lost > 0.05 && (
            <>
              {" "}
              {t("moveLost", { move: moveName(move.move), points: move.points_lost.toFixed(1), error: move.error.toFixed(1) })}
              {move.verdict && <strong> ({t(move.verdict)})</strong>}{" "}
              {move.visits > 1 ? t("byVisits", { n: move.visits }) : t("byOneEvaluation")}
            </>
          )}
          {move && move.probability !== null && (
            <> {t("peoplePlay", { share: percent(move.probability, 1), rank: move.rank ?? 0 })}</>
          )}
        </p>
      )}
      {move && move.line.length > 0 && move.best !== move.move && (
        <p>
          <button onClick={() => better(move)}>{t("showBetterLine")}</button>{" "}
          <span class="meta">{move.line.slice(0, 6).map(moveName).join(" ")}</span>
        </p>
      )}
      {comment && <blockquote class="comment">{comment}</blockquote>}
    </section>
  );
}

function Sides({ review }: { review: Review }) {
  const { black, white, ending, judge } = review.summary!;
  return (
    <>
      <h2>{t("bothSides")}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">{t("figure")}</span>
            </th>
            <th scope="col">{t("black")}</th>
            <th scope="col">{t("white")}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{t("lostPerMove")}</th>
            <td>{black.mean_points_lost.toFixed(2)}</td>
            <td>{white.mean_points_lost.toFixed(2)}</td>
          </tr>
          <tr>
            <th scope="row">{t("mistakes")}</th>
            <td>{black.mistakes}</td>
            <td>{white.mistakes}</td>
          </tr>
          {black.top1 !== null && white.top1 !== null && (
            <tr>
              <th scope="row">{t("firstChoice")}</th>
              <td>{percent(black.top1)}</td>
              <td>{percent(white.top1)}</td>
            </tr>
          )}
        </tbody>
      </table>
      <p class="note">
        {t("evaluatedBy", { judge })} {ending && t("countedBy", { judge: ending.judge, result: ending.result })}
      </p>
    </>
  );
}
