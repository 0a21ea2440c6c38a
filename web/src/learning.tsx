// A machine on the visitor's position: as it is in the end, or as it was at any point of its training.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, type BoardState, type Guess, type Machine, type WholeGame } from "./api";
import { Board, type Disc } from "./board";
import { t, type Key } from "./i18n";
import { Choice } from "./parts";
import { asResult, filled, inRows, percent } from "./points";
import { blank, type Move } from "./positions";
import { mapName } from "./see";
import { asked, EMPTY, useBoard, type Source } from "./source";

export interface CurveLine {
  name: string;
  x: number[];
  y: number[];
  low: number[] | null;
  high: number[] | null;
}

export interface Curve {
  title: string;
  x: string;
  lines: CurveLine[];
  bottom: number | null;
  top: number | null;
  log: boolean;
}

const COUNTED: Record<string, Key> = {
  games: "countedGames",
  openings: "countedOpenings",
  generations: "countedGenerations",
  steps: "countedSteps",
};

/** Return what the snapshots are counted by, in the visitor's language where it is known. */
export function countedBy({ counted }: Machine): string {
  return counted in COUNTED ? t(COUNTED[counted]!) : counted;
}

/** What a machine makes of a position. */
export interface Sight {
  wishes?: Guess[];
  policy?: (number | null)[];
  ownership?: (number | null)[];
  maps?: Record<string, (number | null)[]>;
  value?: number | null;
  blocks?: { stones: string[]; status: string }[];
}

/** What every snapshot makes of a position, by number; the finished machine's is `end`. */
export type Sights = Record<string, Sight>;

/** A position to look at. */
export interface Place extends BoardState {
  title: string;
  moves: Move[];
}

const KOMI = 7.5;

/** Return the source of one of an exhibit's positions. */
function sourceOf({ size }: Machine, place: Place): Source {
  const at = place.moves.length;
  const positions: BoardState[] = [at ? blank(size) : place];
  positions[at] = place;
  const game = { positions, line: place.moves, komi: KOMI, size: [size, size], games: 1 } as unknown as WholeGame;
  return { ...EMPTY, size, game, at };
}

const PAUSE = 900; // milliseconds for each snapshot of a film
const LISTED = 12; // most dead stones that are named

/** Look at a position as a machine does; what was seen is kept, and the others are fetched ahead. */
function useSights(id: string, key: string, stops: (number | null)[], at: number | null, told?: Sights): Sight | null {
  const known = useRef(new Map<string, Sight>());
  const [, setRound] = useState(0);
  const latest = useRef<{ key: string; sight: Sight } | null>(null);
  useEffect(() => {
    if (told) return;
    const stop = new AbortController();
    const look = async (number: number | null) => {
      const name = `${number} ${key}`;
      if (known.current.has(name)) return;
      const query = number === null ? "" : `?at=${number}`;
      const path = `/papers/${encodeURIComponent(id)}/see${query}`;
      known.current.set(name, await api<Sight>(path, { json: JSON.parse(key), signal: stop.signal }));
      setRound((n) => n + 1);
    };
    const all = async () => {
      await look(at);
      for (const number of stops) await look(number);
    };
    all().catch(() => {}); // hung up, or asked again with the next change
    return () => stop.abort();
  }, [id, key, at]);
  const found = told ? told[at === null ? "end" : String(at)] : known.current.get(`${at} ${key}`);
  if (found) latest.current = { key, sight: found };
  // Between two snapshots the last sight stays, but not on another position.
  return latest.current?.key === key ? latest.current.sight : null;
}

interface LearningProps {
  id: string;
  machine: Machine;
  curve: Curve | null;
  places: Place[];
  /** Which of the places is looked at. */
  chosen: number;
  choose: (place: number) => void;
  /** What the machines make of the places, where they cannot be asked. */
  sights?: Sights[];
}

export function Learning({ id, machine, curve, places, chosen, choose, sights }: LearningProps) {
  const { snapshots, size } = machine;
  const counted = countedBy(machine);
  const learns = snapshots.length > 1;
  // The film of the snapshots ends with the finished machine.
  const stops: (number | null)[] = learns ? [...snapshots, null] : [null];
  const last = snapshots.at(-1)!;
  const place = places[chosen]!;
  const [source, setSource] = useState<Source>(() => sourceOf(machine, place));
  useEffect(() => setSource(sourceOf(machine, place)), [chosen]);
  const [step, setStep] = useState(learns ? snapshots.length - 1 : 0);
  const [running, setRunning] = useState(false);
  const [wanted, setWanted] = useState("");
  const board = useBoard(source, setSource);
  const at = stops[step]!;
  const sight = useSights(id, JSON.stringify(asked(source)), stops, at, sights?.[chosen]);
  useEffect(() => {
    if (!running) return;
    if (step >= stops.length - 1) {
      setRunning(false);
      return;
    }
    const timer = setTimeout(() => setStep(step + 1), PAUSE);
    return () => clearTimeout(timer);
  }, [running, step]);
  const layers: Record<string, (number | null)[]> = {};
  if (sight?.policy) layers.policy = sight.policy;
  if (sight?.ownership) layers.ownership = sight.ownership;
  Object.assign(layers, sight?.maps ?? {});
  const layer = wanted in layers ? wanted : (Object.keys(layers)[0] ?? "");
  const values = layers[layer] ?? [];
  const stones = board.stones.join("").replace(/\./g, "").length;
  const dead = (sight?.blocks ?? []).filter((block) => block.status === "dead").flatMap((block) => block.stones);
  const wishes = sight?.wishes?.slice(0, 3) ?? [];
  const discs: Record<string, Disc> = {};
  if (layer === "policy") wishes.forEach((wish, i) => (discs[wish.move] = { text: "ABC"[i]!, tone: i }));
  const now = at === null ? t("paperFinished") : t("paperAfter", { n: at.toLocaleString(), counted });
  const change = (next: number) => {
    setRunning(false);
    setStep(next);
  };
  return (
    <section class="learning">
      <h2>{t(learns ? "paperLearn" : "paperLook")}</h2>
      <p class="note">
        {learns ? t("paperLearnAbout", { counted }) : t("paperLookAbout")} {!sights && t("paperLearnClick")}{" "}
        {learns &&
          machine.claimed > 0 &&
          t(machine.claimed > last ? "paperSmallerTraining" : "paperSameTraining", {
            claimed: machine.claimed.toLocaleString(),
            n: last.toLocaleString(),
            counted,
          })}
      </p>
      {machine.remake && !learns && (
        <p class="note">
          {t("paperNoSnapshots")} <code>{machine.remake}</code>
        </p>
      )}
      <div class="exhibit-board">
        <div>
          <Board
            stones={board.stones}
            label={t("paperLookAbout")}
            last={board.last}
            hover={sights ? null : board.turn}
            onPoint={sights ? undefined : (vertex) => setSource({ ...source, extra: [...source.extra, vertex] })}
            paint={layer === "ownership" && values.length ? inRows(values.map((v) => v ?? 0), size) : null}
            heat={layer !== "ownership" && values.length === size * size ? heatOf(values, size, layer) : null}
            discs={discs}
            dimmed={dead}
          />
          {!sights && (
            <div class="actions">
              <button disabled={!source.extra.length} onClick={() => setSource({ ...source, extra: source.extra.slice(0, -1) })}>
                {t("undo")}
              </button>
              <button disabled={!source.extra.length && !source.game} onClick={() => setSource({ ...EMPTY, size })}>
                {t("paperClear")}
              </button>
            </div>
          )}
        </div>
        <div>
          {learns && (
            <>
              <div class="film">
                <button
                  class="primary"
                  onClick={() => {
                    if (!running && step === stops.length - 1) setStep(0);
                    setRunning(!running);
                  }}
                >
                  {t(running ? "paperPause" : "paperStart")}
                </button>
                <input
                  type="range"
                  min={0}
                  max={stops.length - 1}
                  value={step}
                  aria-label={t("paperSnapshot")}
                  aria-valuetext={now}
                  onInput={(event) => change(Number(event.currentTarget.value))}
                />
              </div>
              <p class="now">
                <output>{now}</output>
              </p>
              {at === null && machine.learned_from && (
                <p class="note">
                  {t("paperLearnedFrom")} <span lang="en">{machine.learned_from}.</span>
                </p>
              )}
            </>
          )}
          {places.length > 1 && (
            <label class="field">
              {t("paperPosition")}
              <select value={chosen} onChange={(event) => choose(Number(event.currentTarget.value))}>
                {places.map(({ title }, i) => (
                  <option key={i} value={i}>
                    {title || t("paperFirstPosition")}
                  </option>
                ))}
              </select>
            </label>
          )}
          {Object.keys(layers).length > 1 && (
            <Choice
              legend={t("onTheBoard")}
              name={`layer-${id}`}
              value={layer}
              options={Object.keys(layers).map((name) => [name, mapName(name)])}
              onChange={setWanted}
            />
          )}
          <p class="prefers">
            {!sight && t("thinking")}
            {wishes.length > 0 &&
              t("paperPrefers", {
                moves: wishes.map((wish) => `${wish.move} (${percent(wish.probability)})`).join(", "),
              })}{" "}
            {sight?.blocks &&
              (dead.length > LISTED
                ? t("paperManyDead", { n: dead.length, all: stones })
                : t("paperDead", { stones: dead.join(", ") || t("none") }))}{" "}
            {typeof sight?.value === "number" && t("expects", { result: asResult(sight.value) })}
          </p>
          {learns && curve && (
            <CurveView
              curve={curve}
              at={at}
              counted={counted}
              onPick={(x) => {
                const gaps = snapshots.map((s) => Math.abs(s - x));
                change(gaps.indexOf(Math.min(...gaps)));
              }}
            />
          )}
        </div>
      </div>
    </section>
  );
}

function heatOf(values: (number | null)[], cols: number, layer: string) {
  const rows = values.length / cols;
  const heat = filled<{ strength: number } | null>(rows, cols, null);
  const said = values.filter((v): v is number => v !== null);
  const most = Math.max(...said, 1e-9);
  const least = layer === "policy" ? 0 : Math.min(...said, most); // likelihoods that differ little are spread
  values.forEach((value, i) => {
    const strength = Math.round((9 * ((value ?? least) - least)) / Math.max(most - least, 1e-9));
    if (strength > 0) heat[Math.floor(i / cols)]![i % cols] = { strength };
  });
  return heat;
}

/** Return about five powers of ten between two numbers. */
function powers(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first) / 4));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
}

const WIDTH = 460;
const HEIGHT = 190;
const EDGE = { left: 44, right: 12, top: 10, bottom: 34 };

/** The learning curve, with the snapshot that is shown; a click chooses the nearest one. */
function CurveView(props: { curve: Curve; at: number | null; counted: string; onPick: (x: number) => void }) {
  const { curve, at, counted } = props;
  const [shown] = curve.lines;
  const last = Math.max(...curve.lines.flatMap((line) => line.x));
  const bottom = curve.bottom ?? Math.min(...curve.lines.flatMap((line) => line.low ?? line.y));
  const top = curve.top ?? Math.max(...curve.lines.flatMap((line) => line.high ?? line.y));
  const scale = (value: number) => (curve.log ? Math.log10(value) : value);
  const write = (value: number) =>
    top <= 1 ? percent(value) : value.toLocaleString(undefined, { maximumSignificantDigits: 3 });
  const inside = WIDTH - EDGE.left - EDGE.right;
  const x = (value: number) => EDGE.left + (inside * value) / (last || 1);
  const y = (value: number) =>
    EDGE.top + ((HEIGHT - EDGE.top - EDGE.bottom) * (scale(top) - scale(value))) / (scale(top) - scale(bottom) || 1);
  const path = (line: CurveLine) => line.x.map((v, i) => `${i ? "L" : "M"}${x(v).toFixed(1)} ${y(line.y[i]!).toFixed(1)}`).join("");
  const band = (line: CurveLine) =>
    line.low &&
    line.high &&
    `M${line.x.map((v, i) => `${x(v).toFixed(1)} ${y(line.high![i]!).toFixed(1)}`).join("L")}L${line.x
      .map((v, i) => `${x(v).toFixed(1)} ${y(line.low![i]!).toFixed(1)}`)
      .reverse()
      .join("L")}Z`;
  const here = at === null ? -1 : shown!.x.indexOf(at);
  const share = here < 0 ? "" : write(shown!.y[here]!);
  const ticks = curve.log ? powers(bottom, top) : [bottom, (bottom + top) / 2, top];
  const words = at === null ? curve.title : t("paperCurve", { title: curve.title, n: at.toLocaleString(), counted, share });
  return (
    <figure class="learning-curve">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={words}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const place = ((event.clientX - box.left) / box.width) * WIDTH;
          props.onPick(((place - EDGE.left) / inside) * last);
        }}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={EDGE.left} x2={WIDTH - EDGE.right} y1={y(tick)} y2={y(tick)} />
            <text x={EDGE.left - 6} y={y(tick) + 4} text-anchor="end">
              {curve.log ? `10^${Math.round(Math.log10(tick))}` : write(tick)}
            </text>
          </g>
        ))}
        {[0, last / 2, last].map((tick) => (
          <text key={tick} x={x(tick)} y={HEIGHT - 16} text-anchor={tick === last ? "end" : "middle"}>
            {Math.round(tick).toLocaleString()}
          </text>
        ))}
        <text x={EDGE.left + inside / 2} y={HEIGHT - 2} text-anchor="middle">
          {curve.x}
        </text>
        {curve.lines.slice(1).map((line) => (
          <g key={line.name} class="mean">
            {line.low && <path class="band" d={band(line) ?? ""} />}
            <path d={path(line)} />
          </g>
        ))}
        {shown!.low && <path class="band one" d={band(shown!) ?? ""} />}
        <path class="one" d={path(shown!)} />
        {at !== null && <line class="here" x1={x(at)} x2={x(at)} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} />}
        {at !== null && here >= 0 && <circle class="here" cx={x(at)} cy={y(shown!.y[here]!)} r={4.5} />}
      </svg>
      <figcaption>
        <span lang="en">{words}</span>
        <span class="legend">
          <i class="one" /> {t("paperThis")}{" "}
          {curve.lines.slice(1).map((line) => (
            <span key={line.name} lang="en">
              <i class="mean" /> {line.name}
            </span>
          ))}
        </span>
      </figcaption>
    </figure>
  );
}
