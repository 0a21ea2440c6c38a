// A reviewed game: the curve, the worst moves, better lines, overlays, variations.
// Shown by the server while the review runs, and by a file that holds a finished one.

import type { Marker } from "@sabaki/shudan";
import { useEffect, useState } from "preact/hooks";
import { api, type BoardState, type MoveReview, type Part, type Review } from "./api";
import { Board, BoardText } from "./board";
import { Curve, type Shown } from "./curve";
import { Hints } from "./hints";
import { Choice, Stone } from "./parts";
import { asResult, filled, inRows, percent, toXY, unpacked } from "./points";
import { announce } from "./status";
import { afterLine, positionOf, useAnalysis, type Line } from "./variation";

const WORST = 8;

export function ReviewPage({ id }: { id: string }) {
  const [review, setReview] = useState<Review | null>(null);
  const [missing, setMissing] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    let source: EventSource | null = null;
    api<Review>(`/reviews/${id}`, { signal: stop.signal }).then(
      (found) => {
        setReview(found);
        if (found.status !== "waiting") return;
        source = new EventSource(`/api/reviews/${id}/events?known=${found.changes ?? 0}`);
        source.addEventListener("part", (event) => {
          const part: Part = JSON.parse(event.data);
          setReview((old) => {
            if (!old) return old;
            const parts = [...old.parts];
            parts[part.number] = part;
            return { ...old, parts };
          });
        });
        source.addEventListener("progress", (event) => {
          setReview((old) => old && { ...old, progress: JSON.parse(event.data) });
        });
        source.addEventListener("done", (event) => {
          setReview((old) => old && { ...old, ...JSON.parse(event.data) });
          source?.close();
        });
      },
      (problem) => stop.signal.aborted || setMissing(problem.message),
    );
    return () => {
      stop.abort();
      source?.close();
    };
  }, [id]);
  if (missing) {
    return (
      <main class="narrow">
        <h1>Review</h1>
        <p>{missing}</p>
        <p>
          <a href="#/review">All reviews</a>
        </p>
      </main>
    );
  }
  return review ? <Reviewed review={review} /> : <main class="table" aria-busy="true" />;
}

export function Reviewed({ review }: { review: Review }) {
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
    line && base && positionOf(base, game.komi, line.moves.slice(0, line.shown)),
    50,
  );
  const part = parts[at];
  const state: BoardState = varied ?? game.positions[at]!;

  const go = (number: number) => {
    setLine(null);
    const next = Math.min(Math.max(number, 0), length);
    setAt(next);
    const move = parts[next]?.move;
    announce(move ? `Move ${next}, ${move.colour} ${move.move}` : `Move ${next}`);
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
    else announce(`${vertex} cannot be played`);
  };
  const onKey = (key: string) => {
    if (key === "ArrowLeft") step(-1);
    else if (key === "ArrowRight") step(1);
    else if (key === "PageUp") go(at - 10);
    else if (key === "PageDown") go(at + 10);
    else if (key === "Home") go(0);
    else if (key === "End") go(length);
    else if (key === "Escape") setLine(null);
    else return false;
    return true;
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
          label={`${cols} by ${rows} board. Left and right arrows step through the game.`}
          last={line ? null : state.last}
          hover={state.turn}
          onPoint={onPoint}
          onKey={onKey}
          paint={overlays.ownership && owners ? inRows(owners, cols) : null}
          heat={overlays.guesses ? heat : null}
          marks={marks}
        />
        <Scrubber at={at} length={length} go={go} step={step} />
      </div>
      <div class="side">
        <h1 class="title">
          {game.black || "Black"} – {game.white || "White"}
        </h1>
        <p class="meta">
          {[review.title, game.event, game.date, game.result, `komi ${game.komi}`].filter(Boolean).join(" · ")}
        </p>
        <Progress review={review} />
        <Choice
          legend="Curve, from Black's view"
          name="curve"
          value={shown}
          options={[
            ["winrate", "Winner"],
            ["score", "Points"],
          ]}
          onChange={setShown}
        />
        <Curve parts={parts} length={length} at={at} shown={shown} onMove={go} />
        <p class="note">
          Bars: points lost by <span class="blue">Black</span> and <span class="red">White</span>.
          Click or drag in the curve.
        </p>
        <Toggles value={overlays} onChange={setOverlays} />
        {line ? (
          <section aria-label="Variation">
            <h2>Variation from move {line.from}</h2>
            <p class="actions">
              <button onClick={() => setLine(null)}>Back to the game</button>
              <button
                disabled={line.shown <= 1}
                onClick={() => setLine({ ...line, shown: line.shown - 1 })}
              >
                ◂ One back
              </button>
            </p>
            {analysis ? (
              <Hints hint={analysis} turn={state.turn} />
            ) : (
              !alone && <p class="note">Thinking …</p>
            )}
          </section>
        ) : (
          <MoveWords part={part} number={at} comment={game.comments[String(at)]} better={better} />
        )}
        <h2>Worst moves first</h2>
        {worst.length === 0 && <p class="note">Nothing lost so far.</p>}
        <ol class="worst">
          {worst.map((move) => (
            <li key={move.number}>
              <button class="row" onClick={() => go(move.number)} aria-current={at === move.number}>
                <Stone colour={move.colour} />
                <span>
                  {move.number} {move.move}
                </span>
                <span class={`badge ${move.verdict || "small"}`}>{move.verdict || "loss"}</span>
                <span class="meta">
                  {move.points_lost.toFixed(1)} ± {move.error.toFixed(1)}
                </span>
              </button>
              <button onClick={() => better(move)} aria-label={`${move.best}, better than move ${move.number}`}>
                {move.best}
              </button>
            </li>
          ))}
        </ol>
        {review.summary && <Sides review={review} />}
        {alone ? (
          review.index && (
            <p class="links">
              <a href={review.index}>All games</a>
            </p>
          )
        ) : (
          <p class="links">
          {review.status === "done" && (
            <a href={`/api/reviews/${review.id}/sgf`} download>
              Annotated SGF
            </a>
          )}
          <a href={`/api/reviews/${review.id}/csv`} download>
            Table (CSV)
          </a>
            <a href="#/review">All reviews</a>
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

interface ScrubberProps {
  at: number;
  length: number;
  go: (number: number) => void;
  step: (by: number) => void;
}

export function Scrubber({ at, length, go, step }: ScrubberProps) {
  return (
    <div class="scrubber">
      <button onClick={() => go(0)} aria-label="First position">
        ◂◂
      </button>
      <button onClick={() => step(-1)} aria-label="Previous move">
        ◂
      </button>
      <input
        type="range"
        min={0}
        max={length}
        value={at}
        aria-label="Move number"
        onInput={(e) => go(Number(e.currentTarget.value))}
      />
      <output>{at}</output>
      <button onClick={() => step(1)} aria-label="Next move">
        ▸
      </button>
      <button onClick={() => go(length)} aria-label="Last position">
        ▸▸
      </button>
    </div>
  );
}

function Progress({ review }: { review: Review }) {
  const { progress } = review;
  if (review.status === "failed") return <p class="warning">The review failed: {review.trouble}</p>;
  if (review.game.remark) return <p class="warning">{review.game.remark}</p>;
  if (review.status === "done") return null;
  if (!progress) return <p class="progress">Waiting for other reviews …</p>;
  return (
    <p class="progress">
      <progress max={progress.total} value={progress.done} aria-label={STAGES[progress.stage]} />
      {STAGES[progress.stage]}: {progress.done} of {progress.total}
    </p>
  );
}

const STAGES = {
  "first pass": "First pass over all positions",
  search: "Searching the doubtful moves",
  lines: "Better lines",
};

type Overlays = { ownership: boolean; guesses: boolean; best: boolean };
const OVERLAYS: [keyof Overlays, string][] = [
  ["best", "Best move"],
  ["guesses", "Predicted moves"],
  ["ownership", "Ownership"],
];

function Toggles(props: { value: Overlays; onChange: (value: Overlays) => void }) {
  return (
    <fieldset class="toggles">
      <legend>On the board</legend>
      {OVERLAYS.map(([key, text]) => (
        <label key={key}>
          <input
            type="checkbox"
            checked={props.value[key]}
            onChange={(e) => props.onChange({ ...props.value, [key]: e.currentTarget.checked })}
          />
          {text}
        </label>
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
    <section class="words" aria-label="This move">
      <h2>{move ? `Move ${number}: ${move.colour === "black" ? "Black" : "White"} ${move.move}` : number ? `Move ${number}` : "Before the first move"}</h2>
      {!part && <p class="note">Not evaluated yet.</p>}
      {part && (
        <p>
          Black wins with {percent(part.position.winrate)}, expected result{" "}
          {asResult(part.position.score)}.
          {move && move.points_lost > 0.05 && (
            <>
              {" "}
              The move lost {move.points_lost.toFixed(1)} ± {move.error.toFixed(1)} points
              {move.verdict && <strong> ({move.verdict})</strong>}
              {move.visits > 1 ? `, ${move.visits} visits` : ", by one evaluation"}.
            </>
          )}
          {move && move.probability !== null && (
            <>
              {" "}
              People play it with {percent(move.probability, 1)} (choice {move.rank}).
            </>
          )}
        </p>
      )}
      {move && move.line.length > 0 && move.best !== move.move && (
        <p>
          <button onClick={() => better(move)}>Show the better line</button>{" "}
          <span class="meta">{move.line.slice(0, 6).join(" ")}</span>
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
      <h2>Both sides</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">Figure</span>
            </th>
            <th scope="col">Black</th>
            <th scope="col">White</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Points lost per move</th>
            <td>{black.mean_points_lost.toFixed(2)}</td>
            <td>{white.mean_points_lost.toFixed(2)}</td>
          </tr>
          <tr>
            <th scope="row">Mistakes</th>
            <td>{black.mistakes}</td>
            <td>{white.mistakes}</td>
          </tr>
          {black.top1 !== null && white.top1 !== null && (
            <tr>
              <th scope="row">People's first choice</th>
              <td>{percent(black.top1)}</td>
              <td>{percent(white.top1)}</td>
            </tr>
          )}
        </tbody>
      </table>
      <p class="note">
        Evaluated by {judge}.{ending && ` Counted by ${ending.judge}: ${ending.result}.`}
      </p>
    </>
  );
}
