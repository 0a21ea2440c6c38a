// A reviewed game: the curve, the worst moves, better lines, overlays, variations.
// Shown by the server while the review runs, and by a file that holds a finished one.

import type { Marker } from "@sabaki/shudan";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, ApiError, backend, type BoardState, type Colour, type Hint, type MoveReview, type Part, type Review } from "./api";
import { Board, BoardText, lossText, toneOf, type Disc } from "./board";
import { Curve, type Shown } from "./curve";
import { discsOf, Hints, moveName } from "./hints";
import { store, stored, t, type Key } from "./i18n";
import { MistakeList, mistakesOf, ofKind, PHASES, Stepper, stepTo, turningPoints, whyWords, type Kind, type Order, type Whose } from "./mistakes";
import { Choice, Download, follow, Loading, Scrubber, Tick, useKeys, useSteps } from "./parts";
import { asResult, filled, inRows, percent, toXY, unpacked } from "./points";
import { Printed } from "./printed";
import { announce, complain } from "./status";
import { afterMove, alternating, positionOf } from "./positions";
import { openStudy } from "./study";
import { useAnalysis } from "./variation";

const FOLLOWED = 6; // moves of a line that are shown
const NOTHING = 0.05; // points below which a loss is none

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
        <p class="missing">{missing}</p>
        <p>
          <a href="#/review">{t("allReviews")}</a>
        </p>
      </main>
    );
  }
  return review ? <Reviewed review={review} retry={() => void retry()} /> : <Loading />;
}

/** Return whose mistakes to show first: the visitor's, where the server or a name tells. */
function mine({ you, game }: Review): Whose {
  const me = stored("me", "");
  return you ?? (me && me === game.black ? "black" : me && me === game.white ? "white" : "both");
}

/** Return the discs of a position: the best moves and the one that was played, with points lost. */
function judgedDiscs(part: Part | undefined, next: MoveReview | null): Record<string, Disc> {
  if (!part) return {};
  const { best, candidates } = part.position;
  const found: Record<string, Disc> = {};
  for (const { move, points_lost } of candidates?.length ? candidates : [{ move: best, points_lost: 0 }]) {
    if (move !== "pass") found[move] = { text: lossText(points_lost), tone: toneOf(points_lost) };
  }
  if (next && next.move !== "pass") {
    found[next.move] = { text: lossText(next.points_lost), tone: toneOf(next.points_lost), played: next.colour };
  }
  return found;
}

export function Reviewed({ review, retry }: { review: Review; retry?: () => void }) {
  const alone = review.id === ""; // in a file, without a server
  const { game, parts } = review;
  const [rows, cols] = game.size;
  const length = game.positions.length - 1;
  const [whose, setWhose] = useState<Whose>(() => mine(review));
  const [order, setOrder] = useState<Order>("largest");
  const [kind, setKind] = useState<Kind>("all");
  const turning = turningPoints(parts);
  const found = ofKind(mistakesOf(parts, whose, order), kind, turning);
  // The list of games in a file links to single positions.
  const wanted = alone ? location.hash.slice(1) : "";
  const [at, setAt] = useState(() => Math.min(wanted ? Number(wanted) || 0 : length, length));
  const [last, setLast] = useState(0);
  const [line, setLine] = useState<Line | null>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const [shown, setShown] = useState<Shown>("winrate");
  const [overlays, setOverlays] = useState({ ownership: false, guesses: false, best: true });
  const varied = line && afterLine(line, game.positions);
  const base = line && !alone ? game.positions[line.from]! : null;
  const analysis = useAnalysis(
    line && base && positionOf(base, alternating(base.turn, line.moves.slice(0, line.shown)), game.komi),
    50,
  );
  const part = parts[at];
  const next = parts[at + 1]?.move ?? null;
  const mistake = next && found.some((move) => move.number === next.number) ? next : null;

  // Begin before the worst mistake as soon as it is known, unless the visitor went elsewhere.
  const moved = useRef(wanted !== "");
  useEffect(() => {
    if (moved.current || review.status !== "done") return;
    if (found[0]) toMistake(found[0].number);
  }, [review.status]);

  const go = (number: number) => {
    moved.current = true;
    setLine(null);
    setHovered(null);
    const to = Math.min(Math.max(number, 0), length);
    setAt(to);
    const move = parts[to]?.move;
    announce(move ? t("moveBy", { n: to, colour: t(move.colour), move: moveName(move.move) }) : t("atMove", { n: to }));
  };
  const toMistake = (number: number) => {
    setLast(number);
    go(number - 1);
    const move = parts[number]?.move;
    if (move) announce(`${t("moveBy", { n: number, colour: t(move.colour), move: moveName(move.move) })}. ${lostWords(move)}`);
  };
  const step = (by: number) => {
    if (!line) go(at + by);
    else if (line.shown + by === 0) setLine(null);
    else if (line.shown + by <= line.moves.length) setLine({ ...line, shown: line.shown + by });
  };
  /** Begin the better line of a move. */
  const better = (move: MoveReview) => {
    moved.current = true;
    setHovered(null);
    setAt(move.number - 1);
    setLine({ from: move.number - 1, moves: move.line, shown: 1 });
  };
  const onPoint = (vertex: string) => {
    moved.current = true;
    setHovered(null);
    if (!line && at < length && game.positions[at + 1]!.last === vertex) {
      go(at + 1);
      return;
    }
    if (!line && next?.line[0] === vertex) {
      better(next);
      return;
    }
    const moves = [...(line?.moves.slice(0, line.shown) ?? []), vertex];
    const tried = { from: line?.from ?? at, moves, shown: moves.length };
    if (afterLine(tried, game.positions)) setLine(tried);
    else announce(t("cannotPlay", { move: vertex }));
  };
  useSteps({ at, length, go, step });
  useKeys((key) => {
    if (key === "Escape") setLine(null);
    else if (key === "n" || key === "p") {
      const to = stepTo(found, at + 1, last, key === "n" ? 1 : -1);
      if (to !== null) toMistake(to);
    } else if (key === "b") {
      if (line) step(1);
      else if (next?.line.length) better(next);
    } else return false;
    return true;
  });

  const study = async () => {
    try {
      openStudy(await backend.file(`/reviews/${review.id}/sgf`).then((file) => file.text()));
    } catch (problem) {
      complain(problem);
    }
  };
  const practise = async () => {
    try {
      const side = whose === "both" ? "" : `?colour=${whose}`;
      const [first] = await api<string[]>(`/reviews/${review.id}/problems${side}`, { method: "POST" });
      if (first) location.hash = `#/problems/${encodeURIComponent(first)}`;
    } catch (problem) {
      complain(problem);
    }
  };
  const judged = !line ? part?.position : undefined;
  const discs = line ? discsOf(analysis) : overlays.best ? judgedDiscs(part, next) : {};
  const leadsTo = (vertex: string): string[] => {
    if (next?.move === vertex) return [vertex, ...(parts[at + 1]?.position.line ?? [])].slice(0, FOLLOWED);
    return part?.position.line[0] === vertex ? part.position.line.slice(0, FOLLOWED) : [vertex];
  };
  // Under the mouse a disc shows where its move leads, without a click.
  const led = hovered && !line && discs[hovered] ? leadsTo(hovered) : null;
  const glimpse = led && afterLine({ from: at, moves: led, shown: led.length }, game.positions);
  const state: BoardState = glimpse ?? varied ?? game.positions[at]!;
  const owners = line ? analysis?.ownership : judged?.ownership && unpacked(judged.ownership);
  const marks: Record<string, Marker> = {};
  (glimpse ? led! : (line?.moves.slice(0, line.shown) ?? [])).forEach((move, i) => {
    const point = toXY(move, rows);
    if (point && state.stones[point[1]]![point[0]] !== ".") marks[move] = { type: "label", label: String(i + 1) };
  });
  const heat = filled<{ strength: number; text?: string } | null>(rows, cols, null);
  if (overlays.guesses && judged) {
    for (const guess of judged.guesses) {
      const point = toXY(guess.move, rows);
      if (point && guess.probability >= 0.01 && !discs[guess.move]) {
        const strength = Math.min(9, Math.max(1, Math.round(9 * Math.sqrt(guess.probability))));
        heat[point[1]]![point[0]] = { strength, text: String(Math.round(100 * guess.probability)) };
      }
    }
  }

  return (
    <main class="table">
      <div class="board-column with-scrubber">
        <Board
          stones={state.stones}
          label={t("reviewKeys")}
          steps
          last={line || glimpse ? null : state.last}
          hover={glimpse ? null : state.turn}
          onPoint={onPoint}
          onHover={setHovered}
          paint={overlays.ownership && owners ? inRows(owners, cols) : null}
          heat={overlays.guesses ? heat : null}
          marks={marks}
          discs={glimpse ? undefined : discs}
        />
        <Scrubber at={at} length={length} go={go} step={step} />
      </div>
      <div class="side">
        <h1 class="title">
          <Name colour="black" name={game.black} linked={!alone} /> – <Name colour="white" name={game.white} linked={!alone} />
        </h1>
        <p class="meta">
          {[review.title, game.event, game.date, game.result, `${t("komi")} ${game.komi}`].filter(Boolean).join(" · ")}
        </p>
        <Progress review={review} retry={retry} />
        <Stepper
          found={found}
          next={(line?.from ?? at) + 1}
          last={last}
          whose={whose}
          setWhose={(chosen) => {
            setWhose(chosen);
            store("me", chosen === "both" ? "" : game[chosen]);
          }}
          go={toMistake}
        />
        {line ? (
          <LineWords line={line} analysis={analysis} turn={state.turn} alone={alone} step={step} back={() => setLine(null)} />
        ) : mistake ? (
          <MistakeWords move={mistake} comment={game.comments[String(at + 1)]} better={better} go={go} />
        ) : (
          <MoveWords part={part} number={at} comment={game.comments[String(at)]} better={better} />
        )}
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
          {t("barsNote")} <i class="bar black" /> {t("black")}, <i class="bar white" /> {t("white")}.
        </p>
        <Toggles value={overlays} onChange={setOverlays} />
        <p class="note">
          {t("discsNote")} {t("reviewKeysNote")}
        </p>
        <MistakeList found={found} next={at + 1} order={order} setOrder={setOrder} kind={kind} setKind={setKind} turning={turning} go={toMistake} />
        {!alone && found.some((move) => move.verdict === "mistake") && (
          <p class="actions">
            <button onClick={() => void practise()}>{t("practise")}</button>
          </p>
        )}
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
                <Download path={`/reviews/${review.id}/sgf`} name={`review-${review.id}.sgf`}>
                  {t("annotatedSgf")}
                </Download>
                {backend.offers("html") && (
                  <Download path={`/reviews/${review.id}/html`} name={`review-${review.id}.html`}>
                    {t("pageHtml")}
                  </Download>
                )}
                <button class="link" onClick={() => void study()}>
                  {t("openInStudy")}
                </button>
              </>
            )}
            <Download path={`/reviews/${review.id}/csv`} name={`review-${review.id}.csv`}>
              {t("tableCsv")}
            </Download>
            <a href="#/review">{t("allReviews")}</a>
          </p>
        )}
        {review.status === "done" && (
          <p class="links">
            <button class="link" onClick={() => print()}>
              {t("printReview")}
            </button>
          </p>
        )}
        <BoardText stones={state.stones} />
        {review.status === "done" && <Printed game={game} found={found} />}
      </div>
    </main>
  );
}

/** A player's name, which leads to all their games. */
function Name({ colour, name, linked }: { colour: Colour; name: string; linked: boolean }) {
  if (!name || !linked || !backend.offers("player")) return <>{name || t(colour)}</>;
  return <a href={`#/player/${encodeURIComponent(name)}`}>{name}</a>;
}

function lostWords(move: MoveReview): string {
  const points = move.points_lost.toFixed(1);
  return t("moveLost", { move: moveName(move.move), points, error: move.error.toFixed(1) });
}

interface LineProps {
  line: Line;
  analysis: Hint | null;
  turn: Colour;
  alone: boolean;
  step: (by: number) => void;
  back: () => void;
}

/** Moves beside the game, and what the network thinks of them. */
function LineWords({ line, analysis, turn, alone, step, back }: LineProps) {
  return (
    <section class="words" aria-label={t("variation")}>
      <h2>{t("variationFrom", { n: line.from })}</h2>
      <p class="actions">
        <button onClick={back}>{t("backToGame")}</button>
        <button disabled={line.shown <= 1} onClick={() => step(-1)}>
          ◂ {t("oneBack")}
        </button>
        <button disabled={line.shown >= line.moves.length} onClick={() => step(1)}>
          {t("oneOn")} ▸
        </button>
      </p>
      <p class="meta">
        {line.moves.map((move, i) => (
          <span key={i} class={i < line.shown ? "on-board" : undefined}>
            {moveName(move)}{" "}
          </span>
        ))}
      </p>
      {analysis ? <Hints hint={analysis} turn={turn} /> : !alone && <p class="note">{t("thinking")}</p>}
    </section>
  );
}

interface MistakeProps {
  move: MoveReview;
  comment: string | undefined;
  better: (move: MoveReview) => void;
  go: (number: number) => void;
}

/** A mistake, seen from the position before it. */
function MistakeWords({ move, comment, better, go }: MistakeProps) {
  return (
    <section class="words" aria-label={t("thisMove")}>
      <h2>
        {t("moveBy", { n: move.number, colour: t(move.colour), move: moveName(move.move) })}{" "}
        <span class={`badge ${move.verdict || "small"}`}>{t(move.verdict || "loss")}</span>
      </h2>
      <p>
        {lostWords(move)} {whyWords(move)} <strong>{t("betterIs", { move: moveName(move.best) })}</strong>{" "}
        <span class="meta">{move.visits > 1 ? t("byVisits", { n: move.visits }) : t("byOneEvaluation")}</span>
      </p>
      <p class="actions">
        {move.line.length > 0 && (
          <button class="primary" onClick={() => better(move)}>
            {t("showBetterLine")}
          </button>
        )}
        <button onClick={() => go(move.number)}>{t("whatWasPlayed")}</button>
      </p>
      <p class="meta">{move.line.slice(0, FOLLOWED).map(moveName).join(" ")}</p>
      {comment && <blockquote class="comment">{comment}</blockquote>}
    </section>
  );
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
  const { remark } = review.game;
  if (review.status === "done") {
    if (!remark) return null;
    const [told, n] = [remark.replace(/^[^:]*: /, ""), review.game.positions.length - 1];
    return <p class="warning">{t("recordStops", { n, reason: told })}</p>;
  }
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
          {move && move.points_lost > NOTHING && (
            <>
              {" "}
              {lostWords(move)}
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

/** Return the mean of the points that a side's moves lost in a phase; nothing where it has none. */
function lostIn(parts: Part[], side: Colour, phase: string): string {
  const moves = parts.flatMap((part) => part?.move ?? []).filter((m) => m.colour === side && m.phase === phase);
  return moves.length ? (moves.reduce((sum, m) => sum + m.points_lost, 0) / moves.length).toFixed(2) : "";
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
          {Object.entries(PHASES).map(([phase, text]) => {
            const [b, w] = (["black", "white"] as const).map((side) => lostIn(review.parts, side, phase));
            return (
              (b || w) && (
                <tr key={phase}>
                  <th scope="row">– {t(text)}</th>
                  <td>{b}</td>
                  <td>{w}</td>
                </tr>
              )
            );
          })}
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
