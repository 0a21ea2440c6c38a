// One position, and what every machine sees in it, side by side.

import { useEffect, useState } from "preact/hooks";
import { api, type BoardState, type Guess } from "./api";
import { Board } from "./board";
import { Hints } from "./hints";
import { Mini, type Shade } from "./mini";
import { t, type Key } from "./i18n";
import { Scrubber, useKeys, useLoaded, useSteps } from "./parts";
import { asResult, filled, inRows, percent, toXY } from "./points";
import { asked, EMPTY, Picker, useBoard, type Asked, type Source } from "./source";
import { useAnalysis } from "./variation";

interface Machine {
  id: string;
  title: string;
  about: string;
  paper: string;
  link: string;
  models: Record<string, string>;
}

interface Sight extends BoardState {
  model: string;
  maps?: Record<string, (number | null)[]>;
  ownership?: number[];
  policy?: number[];
  wishes?: Guess[];
  value?: number | null;
  spread?: number;
  winrate?: number | null;
  safe?: boolean;
  blocks?: { stones: string[]; status: string; probability: number | null }[];
}

const MAPS: Record<string, Key> = {
  policy: "wishes",
  ownership: "ownership",
  territory: "mapTerritory",
  "white lives": "mapWhiteLives",
  "black dies": "mapBlackDies",
  "white eye": "mapWhiteEye",
  "black eye": "mapBlackEye",
  "black eye by capture": "mapBlackEyeByCapture",
  "white eye by capture": "mapWhiteEyeByCapture",
};

/** Return what a map of a machine is called. */
export function mapName(name: string): string {
  return name in MAPS ? t(MAPS[name]!) : name;
}

interface Layer {
  values: (number | null)[];
  shade: Shade;
}

export function See() {
  const [machines] = useLoaded<Machine[]>("/machines");
  const [source, setSource] = useState<Source>(EMPTY);
  const [off, setOff] = useState<string[]>(["search"]);
  const [layer, setLayer] = useState<{ machine: string; name: string } | null>(null);
  const [layers, setLayers] = useState<Record<string, Layer>>({});
  const board = useBoard(source, setSource);
  const position = asked(source);
  const rows = board.stones.length;
  const cols = board.stones[0]!.length;
  const length = source.game ? source.game.positions.length - 1 : source.extra.length;
  const go = (number: number) => {
    const at = Math.min(Math.max(number, 0), length);
    setSource(
      source.game ? { ...source, at, extra: [] } : { ...source, extra: source.extra.slice(0, at) },
    );
  };
  const at = source.game ? source.at : source.extra.length;
  const step = (by: number) => {
    if (source.game && source.extra.length) setSource({ ...source, extra: by < 0 ? source.extra.slice(0, -1) : source.extra });
    else go(at + by);
  };
  useSteps({ at, length, go, step });
  useKeys((key) => {
    if (key === "Backspace") setSource({ ...source, extra: source.extra.slice(0, -1) });
    return key === "Backspace";
  });
  const found = layer ? layers[`${layer.machine}/${layer.name}`] : undefined;
  // A layer outlives its board until the machine has looked at the next one.
  const shown = found?.values.length === rows * cols ? found : undefined;
  const heat = filled<{ strength: number } | null>(rows, cols, null);
  if (shown && shown.shade !== "ownership") {
    const most = Math.max(...shown.values.map((v) => v ?? 0), 1e-9);
    shown.values.forEach((value, i) => {
      const share = shown.shade === "wishes" ? Math.sqrt((value ?? 0) / most) : (value ?? 0);
      const strength = Math.round(9 * share);
      if (strength > 0) heat[Math.floor(i / cols)]![i % cols] = { strength };
    });
  }
  const all = [
    ...(machines ?? []),
    {
      id: "search",
      title: t("search"),
      about: t("searchAbout"),
      paper: "",
      link: "/guide/players",
      models: {},
    },
  ];
  const usable = (m: Machine) =>
    m.id === "search" || `${rows}x${cols}` in m.models || "" in m.models;
  return (
    <main class="wide see">
      <h1>{t("see")}</h1>
      <div class="see-top">
        <div class="see-board">
          <Board
            stones={board.stones}
            label={t("seeKeys")}
            last={board.last}
            hover={board.turn}
            onPoint={(vertex) => setSource({ ...source, extra: [...source.extra, vertex] })}
            paint={
              shown?.shade === "ownership"
                ? inRows(shown.values.map((v) => v ?? 0), cols)
                : null
            }
            heat={shown && shown.shade !== "ownership" ? heat : null}
          />
          <Scrubber at={at} length={length} go={go} step={step} />
        </div>
        <div class="see-side">
          <Picker source={source} change={setSource} />
          <p class="note">
            {t("seeAbout")} {t("toMove", { colour: t(board.turn) })}.
          </p>
          <fieldset class="toggles column">
            <legend>{t("machines")}</legend>
            {all.map((m) => (
              <label key={m.id} class="inline">
                <input
                  type="checkbox"
                  checked={!off.includes(m.id) && usable(m)}
                  disabled={!usable(m)}
                  onChange={(e) =>
                    setOff(e.currentTarget.checked ? off.filter((o) => o !== m.id) : [...off, m.id])
                  }
                />
                {m.title}
                {!usable(m) && <small> {t("only", { boards: Object.keys(m.models).join(", ") })}</small>}
              </label>
            ))}
          </fieldset>
          {layer && (
            <p>
              <button onClick={() => setLayer(null)}>
                {t("clearBoard", { name: mapName(layer.name) })}
              </button>
            </p>
          )}
        </div>
      </div>
      <div class="sights">
        {all
          .filter((m) => !off.includes(m.id) && usable(m))
          .map((m) =>
            m.id === "search" ? (
              <SearchCard key="search" machine={m} position={position} board={board} />
            ) : (
              <Card
                key={m.id}
                machine={m}
                position={position}
                onLayers={(found) => setLayers((old) => ({ ...old, ...found }))}
                chosen={layer?.machine === m.id ? layer.name : null}
                choose={(name) => setLayer(name ? { machine: m.id, name } : null)}
              />
            ),
          )}
      </div>
    </main>
  );
}

interface CardProps {
  machine: Machine;
  position: Asked;
  onLayers: (layers: Record<string, Layer>) => void;
  chosen: string | null;
  choose: (name: string | null) => void;
}

function Heading({ machine, model }: { machine: Machine; model?: string }) {
  return (
    <>
      <h2>{machine.title}</h2>
      <p class="note">
        {machine.about} {machine.paper && <cite>{machine.paper}. </cite>}
        {model && (
          <>
            {t("model")} <code>{model}</code>.{" "}
            <a href={machine.link} target="_blank" rel="noopener">
              {t("more")}
            </a>
          </>
        )}
      </p>
    </>
  );
}

function Card({ machine, position, onLayers, chosen, choose }: CardProps) {
  // What is shown belongs to the board it was said about, until the next word comes.
  const [seen, setSeen] = useState<{ key: string; sight: Sight } | null>(null);
  const sight = seen?.sight;
  const [trouble, setTrouble] = useState("");
  const key = JSON.stringify(position);
  useEffect(() => {
    const stop = new AbortController();
    api<Sight>(`/see/${machine.id}`, { json: position, signal: stop.signal }).then(
      (found) => {
        setSeen({ key, sight: found });
        setTrouble("");
        const layers: Record<string, Layer> = {};
        for (const [name, values] of Object.entries(found.maps ?? {}))
          layers[`${machine.id}/${name}`] = { values, shade: "likelihood" };
        if (found.ownership)
          layers[`${machine.id}/ownership`] = { values: found.ownership, shade: "ownership" };
        if (found.policy)
          layers[`${machine.id}/policy`] = { values: found.policy, shade: "wishes" };
        onLayers(layers);
      },
      (problem) => stop.signal.aborted || setTrouble(problem.message),
    );
    return () => stop.abort();
  }, [key, machine.id]);
  const dead = sight?.blocks?.filter((b) => b.status === "dead").flatMap((b) => b.stones);
  const pictures: [string, string, (number | null)[], Shade][] = [];
  if (sight?.policy) pictures.push(["policy", mapName("policy"), sight.policy, "wishes"]);
  if (sight?.ownership) pictures.push(["ownership", mapName("ownership"), sight.ownership, "ownership"]);
  for (const [name, values] of Object.entries(sight?.maps ?? {}))
    pictures.push([name, mapName(name), values, "likelihood"]);
  return (
    <section class="sight" aria-label={machine.title} aria-busy={seen?.key !== key && !trouble}>
      <Heading machine={machine} model={sight?.model} />
      {trouble && <p class="warning">{trouble}</p>}
      {!sight && !trouble && <div class="placeholder" />}
      {sight && (
        <>
          <div class={`minis${pictures.length > 2 ? " many" : ""}`}>
            {pictures.map(([name, text, values, shade]) => (
              <figure key={name}>
                <button
                  class="picture"
                  aria-pressed={chosen === name}
                  onClick={() => choose(chosen === name ? null : name)}
                  aria-label={t("showLarge", { name: `${machine.title}, ${text}` })}
                >
                  <Mini
                    stones={sight.stones}
                    label={`${machine.title}: ${text}`}
                    last={sight.last}
                    values={values}
                    shade={shade}
                    dead={dead}
                    letters={name === "policy" ? sight.wishes?.slice(0, 3).map((w) => w.move) : []}
                  />
                </button>
                <figcaption>
                  {text}
                  {shade === "likelihood" && <small>{spanOf(values)}</small>}
                </figcaption>
              </figure>
            ))}
          </div>
          <Facts sight={sight} />
        </>
      )}
    </section>
  );
}

function spanOf(values: (number | null)[]): string {
  const said = values.filter((v): v is number => v !== null);
  if (!said.length) return ` (${t("silent")})`;
  return ` ${Math.min(...said).toFixed(2)}–${Math.max(...said).toFixed(2)}`;
}

function Facts({ sight }: { sight: Sight }) {
  const dead = sight.blocks?.filter((b) => b.status !== "alive") ?? [];
  return (
    <>
      {sight.value !== undefined && sight.value !== null && (
        <p>
          {t("expects", { result: asResult(sight.value) })}
          {sight.spread !== undefined && ` ${t("giveOrTake", { n: sight.spread.toFixed(0) })}`}
          {sight.winrate !== undefined &&
            sight.winrate !== null &&
            `. ${t("blackWinsShare", { share: percent(sight.winrate) })}`}
        </p>
      )}
      {sight.blocks && (
        <p>
          {t(sight.safe ? "safeToScore" : "notOver")}{" "}
          {dead.length === 0
            ? t("noDead")
            : dead
                .slice(0, 5)
                .map((b) => `${b.stones[0]} (${b.stones.length}) ${b.status}${b.probability === null ? "" : ` ${percent(b.probability)}`}`)
                .join(", ")}
        </p>
      )}
      {sight.wishes && sight.wishes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{t("move")}</th>
              <th scope="col">{t("share")}</th>
            </tr>
          </thead>
          <tbody>
            {sight.wishes.slice(0, 5).map((wish, i) => (
              <tr key={wish.move}>
                <th scope="row">
                  {"ABC"[i] ?? ""} {wish.move}
                </th>
                <td>{percent(wish.probability, 1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function SearchCard(props: { machine: Machine; position: Asked; board: BoardState }) {
  const found = useAnalysis(props.position, 125);
  const moves = found?.moves ?? [];
  const most = Math.max(...moves.map((m) => m.visits ?? 0), 1);
  const rows = props.board.stones.length;
  const cols = props.board.stones[0]!.length;
  const values = Array<number | null>(rows * cols).fill(null);
  for (const move of moves) {
    const point = toXY(move.move, rows);
    if (point) values[point[1] * cols + point[0]] = (move.visits ?? 0) / most;
  }
  return (
    <section class="sight" aria-label={t("search")} aria-busy={!found}>
      <Heading machine={props.machine} />
      <div class="minis">
        <figure>
          <Mini
            stones={props.board.stones}
            label={t("visits")}
            last={props.board.last}
            values={values}
            shade="wishes"
            letters={moves.slice(0, 5).map((m) => m.move)}
          />
          <figcaption>{t("visits")}</figcaption>
        </figure>
        {found?.ownership && (
          <figure>
            <Mini
              stones={props.board.stones}
              label={t("ownership")}
              last={props.board.last}
              values={found.ownership}
              shade="ownership"
            />
            <figcaption>{t("ownership")}</figcaption>
          </figure>
        )}
      </div>
      {found && <Hints hint={found} turn={props.board.turn} />}
    </section>
  );
}
