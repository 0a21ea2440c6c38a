// A machine on the visitor's position: as it is in the end, or as it was at any point of its training.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, type BoardState, type Guess, type Machine, type WholeGame } from "./api";
import { Board, type Disc } from "./board";
import { t, type Key } from "./i18n";
import { Choice } from "./parts";
import { asResult, filled, inRows, percent } from "./points";
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

interface Sight extends BoardState {
  wishes?: Guess[];
  policy?: (number | null)[];
  ownership?: (number | null)[];
  maps?: Record<string, (number | null)[]>;
  value?: number | null;
  winrate?: number | null;
  safe?: boolean;
  blocks?: { stones: string[]; status: string }[];
}

/** Return what one begins with: an empty board, or the exhibit's position. */
function beginning({ size, start }: Machine): Source {
  if (!start.length) return { ...EMPTY, size };
  const positions: BoardState[] = [{ stones: start, turn: "black", last: null, captures: [0, 0] }];
  return { ...EMPTY, size, game: { positions, line: [], komi: 7.5, size: [size, size], games: 1 } as unknown as WholeGame };
}

const PAUSE = 900; // milliseconds for each snapshot of a film

/** Look at a position as a snapshot does; what was seen is kept, and the others are fetched ahead. */
function useSights(id: string, key: string, snapshots: number[], at: number | null): Sight | null {
  const known = useRef(new Map<string, Sight>());
  const [, setRound] = useState(0);
  const latest = useRef<Sight | null>(null);
  useEffect(() => {
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
      for (const number of snapshots) await look(number);
    };
    all().catch(() => {}); // hung up, or asked again with the next change
    return () => stop.abort();
  }, [id, key, at]);
  const found = known.current.get(`${at} ${key}`);
  if (found) latest.current = found;
  return latest.current;
}

const LAYERS: Record<string, Key> = { policy: "wishes", ownership: "ownership" };

export function Learning({ id, machine, curve }: { id: string; machine: Machine; curve: Curve | null }) {
  const { snapshots, counted, size } = machine;
  const learns = snapshots.length > 1;
  const [source, setSource] = useState<Source>(() => beginning(machine));
  const [step, setStep] = useState(snapshots.length - 1);
  const [running, setRunning] = useState(false);
  const [wanted, setWanted] = useState("");
  const board = useBoard(source, setSource);
  const at = learns ? snapshots[step]! : null;
  const sight = useSights(id, JSON.stringify(asked(source)), snapshots, at);
  useEffect(() => {
    if (!running) return;
    if (step >= snapshots.length - 1) {
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
  const dead = (sight?.blocks ?? []).filter((block) => block.status === "dead").flatMap((block) => block.stones);
  const wishes = sight?.wishes?.slice(0, 3) ?? [];
  const discs: Record<string, Disc> = {};
  if (layer === "policy") wishes.forEach((wish, i) => (discs[wish.move] = { text: "ABC"[i]!, tone: i }));
  const n = at === null ? "" : at.toLocaleString();
  const change = (next: number) => {
    setRunning(false);
    setStep(next);
  };
  return (
    <section class="learning">
      <h2>{t(learns ? "paperLearn" : "paperLook")}</h2>
      <p class="note">{learns ? t("paperLearnAbout", { counted }) : t("paperLookAbout")}</p>
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
            hover={board.turn}
            onPoint={(vertex) => setSource({ ...source, extra: [...source.extra, vertex] })}
            paint={layer === "ownership" && values.length ? inRows(values.map((v) => v ?? 0), size) : null}
            heat={layer !== "ownership" && values.length === size * size ? heatOf(values, size, layer) : null}
            discs={discs}
            dimmed={dead}
          />
          <div class="actions">
            <button disabled={!source.extra.length} onClick={() => setSource({ ...source, extra: source.extra.slice(0, -1) })}>
              {t("undo")}
            </button>
            <button disabled={!source.extra.length && !source.game} onClick={() => setSource({ ...EMPTY, size })}>
              {t("paperClear")}
            </button>
          </div>
        </div>
        <div>
          {learns && (
            <>
              <div class="film">
                <button
                  class="primary"
                  onClick={() => {
                    if (!running && step === snapshots.length - 1) setStep(0);
                    setRunning(!running);
                  }}
                >
                  {t(running ? "paperPause" : "paperStart")}
                </button>
                <input
                  type="range"
                  min={0}
                  max={snapshots.length - 1}
                  value={step}
                  aria-label={t("paperSnapshot")}
                  aria-valuetext={t("paperAfter", { n, counted })}
                  onInput={(event) => change(Number(event.currentTarget.value))}
                />
              </div>
              <p class="now">
                <output>{t("paperAfter", { n, counted })}</output>
              </p>
            </>
          )}
          {Object.keys(layers).length > 1 && (
            <Choice
              legend={t("paperLook")}
              name={`layer-${id}`}
              value={layer}
              options={Object.keys(layers).map((name) => [name, name in LAYERS ? t(LAYERS[name]!) : name])}
              onChange={setWanted}
            />
          )}
          <p class="prefers">
            {wishes.length > 0 &&
              t("paperPrefers", {
                moves: wishes.map((wish) => `${wish.move} (${percent(wish.probability)})`).join(", "),
              })}{" "}
            {sight?.blocks && t("paperDead", { stones: dead.join(", ") || t("none") })}{" "}
            {typeof sight?.value === "number" && t("expects", { result: asResult(sight.value) })}
          </p>
          {learns && curve && at !== null && (
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
function CurveView(props: { curve: Curve; at: number; counted: string; onPick: (x: number) => void }) {
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
  const here = shown!.x.indexOf(at);
  const share = here < 0 ? "" : write(shown!.y[here]!);
  const ticks = curve.log ? powers(bottom, top) : [bottom, (bottom + top) / 2, top];
  const words = { title: curve.title, n: at.toLocaleString(), counted, share };
  return (
    <figure class="learning-curve">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={t("paperCurve", words)}
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
        <line class="here" x1={x(at)} x2={x(at)} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} />
        {here >= 0 && <circle class="here" cx={x(at)} cy={y(shown!.y[here]!)} r={4.5} />}
      </svg>
      <figcaption>
        <span lang="en">{t("paperCurve", words)}</span>
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
