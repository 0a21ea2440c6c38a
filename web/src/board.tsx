// The board: Shudan for drawing; size, keyboard, labels, confirmation and announcements are ours.

import { Goban, type GhostStone, type HeatVertex, type Marker } from "@sabaki/shudan";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "./i18n";
import { filled, signs, toVertex, toXY, type XY } from "./points";
import { announce } from "./status";

/** A coloured disc with a letter or figure on a free point: what a move there is worth. */
export interface Disc {
  text: string;
  /** 0 for the best move to 5 for a blunder. */
  tone: number;
  /** The side whose move in the game this is. */
  played?: "black" | "white";
}

/** Return the tone of a move that loses so many points. */
export function toneOf(lost: number): number {
  return [0.5, 1.5, 3, 6, 12].filter((limit) => lost >= limit).length;
}

/** Write the points that a move loses: 0, −0.7, −12. */
export function lossText(lost: number): string {
  return lost < 0.05 ? "0" : `−${lost.toFixed(lost < 9.95 ? 1 : 0)}`;
}

export interface BoardProps {
  stones: string[];
  /** What the keys do, for screen readers. */
  label: string;
  last?: string | null;
  /** Whose stone appears under the pointer; none when nothing can be played. */
  hover?: "black" | "white" | null;
  onPoint?: (vertex: string) => void;
  /** -1 (White's) to 1 (Black's) for every point. */
  paint?: number[][] | null;
  /** Strength 0 to 9 and text for every point. */
  heat?: (HeatVertex | null)[][] | null;
  ghosts?: (GhostStone | null)[][] | null;
  marks?: Record<string, Marker>;
  discs?: Record<string, Disc>;
  /** Arrows and lines between points. */
  lines?: [from: string, to: string, kind: "arrow" | "line"][];
  /** A mouse comes to a point, or leaves (null). */
  onHover?: (vertex: string | null) => void;
  dimmed?: string[];
  selected?: string | null;
  /** A point that waits to be confirmed, beside it on the board. */
  confirm?: { vertex: string; onYes: () => void; onNo: () => void } | null;
  small?: boolean;
  /** Arrow keys step through the game even if the board has the focus. */
  steps?: boolean;
}

const BORDER = 0.16;
const ARROWS: Record<string, XY> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function Board(props: BoardProps) {
  const rows = props.stones.length;
  const cols = props.stones[0]?.length ?? 0;
  const frame = useRef<HTMLDivElement>(null);
  const [vertexSize, setVertexSize] = useState(0);
  const [cursor, setCursor] = useState<XY | null>(null);
  const coordinates = !props.small;
  const gutter = cols < 15 ? 0.46 : 0.72; // for the coordinates, in points of the board
  const around = (coordinates ? 2 * gutter : 0.5) + BORDER;

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => {
      const size = element.clientWidth / (cols + around);
      setVertexSize(props.small ? size : Math.floor(size * 2) / 2);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [cols, coordinates]);

  useEffect(() => {
    if (cursor && (cursor[0] >= cols || cursor[1] >= rows)) setCursor(null);
  }, [rows, cols]);

  const marks = filled<Marker | null>(rows, cols, null);
  const at = props.last ? toXY(props.last, rows) : null;
  if (at) marks[at[1]]![at[0]] = { type: props.small ? "point" : "circle" };
  for (const [vertex, mark] of Object.entries(props.marks ?? {})) {
    const point = toXY(vertex, rows);
    if (point) marks[point[1]]![point[0]] = mark;
  }

  const describe = ([x, y]: XY) => {
    const stone = t(({ X: "black", O: "white", ".": "empty" } as const)[props.stones[y]![x] as "X"]);
    return `${toVertex([x, y], rows)}, ${stone}`;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const step = ARROWS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !props.onPoint) return;
    if (step && !props.steps) {
      event.preventDefault();
      const start: XY = cursor ?? at ?? [cols >> 1, rows >> 1];
      const next: XY = cursor
        ? [
            Math.min(Math.max(start[0] + step[0], 0), cols - 1),
            Math.min(Math.max(start[1] + step[1], 0), rows - 1),
          ]
        : start;
      setCursor(next);
      announce(describe(next));
    } else if ((event.key === "Enter" || event.key === " ") && cursor) {
      event.preventDefault();
      props.onPoint(toVertex(cursor, rows));
    }
  };

  const { confirm, onHover } = props;
  const wanted = confirm ? toXY(confirm.vertex, rows) : null;
  const selected = props.selected ? toXY(props.selected, rows) : wanted;
  const chosen = [cursor, selected].filter((v): v is XY => v !== null);
  const dimmed = (props.dimmed ?? []).map((v) => toXY(v, rows)).filter((v): v is XY => v !== null);
  const hover = props.onPoint && props.hover ? ` hover-${props.hover}` : "";
  const playable = !!props.onPoint;
  const ghosts = props.ghosts ?? (wanted ? filled<GhostStone | null>(rows, cols, null) : undefined);
  if (ghosts && wanted) {
    ghosts[wanted[1]]![wanted[0]] = { sign: props.hover === "white" ? -1 : 1 };
  }
  // A review or a search tells its news many times a second: the points are drawn anew only where
  // the board looks different. Handlers change with every render.
  const latest = useRef(props);
  latest.current = props;
  const lines = (props.lines ?? []).flatMap(([from, to, type]) => {
    const [v1, v2] = [toXY(from, rows), toXY(to, rows)];
    return v1 && v2 ? [{ v1, v2, type }] : [];
  });
  const look = [vertexSize, props.stones, marks, lines, props.paint, props.heat, ghosts, dimmed, chosen, playable, !onHover, coordinates];
  const drawn = useMemo(() => {
    const hovered = (event: PointerEvent, vertex: string | null) => event.pointerType === "mouse" && latest.current.onHover?.(vertex);
    return (
      vertexSize > 0 && (
        <Goban
          vertexSize={vertexSize}
          signMap={signs(props.stones)}
          showCoordinates={coordinates}
          style={
            coordinates
              ? {
                  gridTemplateRows: `${gutter}em 1fr ${gutter}em`,
                  gridTemplateColumns: `${gutter}em 1fr ${gutter}em`,
                }
              : {}
          }
          coordX={(x) => toVertex([x, 0], 1)[0]!}
          coordY={(y) => rows - y}
          markerMap={marks}
          lines={lines}
          paintMap={(props.paint as (0 | 1 | -1)[][]) ?? undefined}
          heatMap={props.heat ?? undefined}
          ghostStoneMap={ghosts}
          dimmedVertices={dimmed}
          selectedVertices={chosen}
          innerProps={{ "aria-hidden": "true" } as object}
          onVertexClick={playable ? (_, vertex) => latest.current.onPoint?.(toVertex(vertex, rows)) : undefined}
          onVertexPointerEnter={onHover && ((event, vertex) => hovered(event, toVertex(vertex, rows)))}
          onVertexPointerLeave={onHover && ((event) => hovered(event, null))}
        />
      )
    );
  }, [JSON.stringify(look)]);
  return (
    <div
      ref={frame}
      class={`board${props.small ? " small" : ""}${Math.min(rows, cols) < 15 ? " five-stars" : ""}${hover}`}
      style={{ aspectRatio: `${cols + around} / ${rows + around}` }}
      role={playable ? "application" : "img"}
      aria-roledescription={playable ? t("goBoard") : undefined}
      aria-label={t("boardLabel", { cols, rows, keys: props.label })}
      tabIndex={playable ? 0 : undefined}
      onKeyDown={playable ? onKeyDown : undefined}
      // A click leaves the focus where it was, so that arrow keys go on stepping through the game.
      onMouseDown={(event) => event.preventDefault()}
      onPointerDown={() => setCursor(null)}
      onBlur={() => setCursor(null)}
    >
      {drawn}
      {vertexSize > 0 && props.discs && (
        <Discs discs={props.discs} rows={rows} cols={cols} around={around} unit={vertexSize} />
      )}
      {confirm && wanted && (
        <div
          class={`confirm${wanted[1] < rows / 3 ? " below" : ""}`}
          style={{
            left: `${Math.min(Math.max((100 * (wanted[0] + 0.5 + around / 2)) / (cols + around), 22), 78)}%`,
            top: `${(100 * (wanted[1] + 0.5 + around / 2)) / (rows + around)}%`,
          }}
        >
          <button class="primary" onClick={confirm.onYes}>
            {t("playMove", { move: confirm.vertex })}
          </button>
          <button onClick={confirm.onNo} aria-label={t("cancel")}>
            ×
          </button>
        </div>
      )}
    </div>
  );
}

interface DiscsProps {
  discs: Record<string, Disc>;
  rows: number;
  cols: number;
  around: number;
  unit: number;
}

function Discs({ discs, rows, cols, around, unit }: DiscsProps) {
  const [width, height] = [cols + around, rows + around];
  return (
    <svg class="discs" viewBox={`0 0 ${width} ${height}`} width={width * unit} height={height * unit} aria-hidden="true">
      {Object.entries(discs).map(([vertex, { text, tone, played }]) => {
        const point = toXY(vertex, rows);
        if (!point) return null;
        return (
          <g
            key={vertex}
            data-vertex={vertex}
            class={`tone-${tone}${played ? ` played ${played}` : ""}`}
            transform={`translate(${point[0] + (1 + around) / 2} ${point[1] + (1 + around) / 2})`}
          >
            <circle r={played ? 0.44 : 0.46} />
            <text class={text.length > 2 ? "long" : undefined}>{text}</text>
          </g>
        );
      })}
    </svg>
  );
}

/** The board in characters, for screen readers and for copying. */
export function BoardText({ stones }: { stones: string[] }) {
  const cols = stones[0]?.length ?? 0;
  const letters = Array.from({ length: cols }, (_, x) => toVertex([x, 0], 1)[0]).join(" ");
  const lines = stones.map((row, y) => {
    const number = String(stones.length - y).padStart(2);
    return `${number} ${[...row].join(" ")} ${number.trim()}`;
  });
  return (
    <details class="as-text">
      <summary>{t("boardAsText")}</summary>
      <pre tabIndex={0} aria-label={t("boardAsTextLabel")}>
        {[`   ${letters}`, ...lines, `   ${letters}`].join("\n")}
      </pre>
    </details>
  );
}
