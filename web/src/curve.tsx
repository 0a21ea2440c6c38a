// The curve of a game: who wins, or by how much, with the points each move lost below it.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import type { Part } from "./api";

export type Shown = "winrate" | "score";

interface CurveProps {
  parts: Part[];
  length: number;
  at: number;
  shown: Shown;
  onMove: (number: number) => void;
}

const HEIGHT = 190;
const MOST_LOST = 30; // points at the top of the picture

function colour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

export function Curve({ parts, length, at, shown, onMove }: CurveProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(at);
  const move = useRef(onMove);
  move.current = onMove;
  now.current = at;

  useEffect(() => {
    const element = place.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = draw(element, length, shown, now, (n) => move.current(n));
      plot.current.setData(dataOf(parts, length, shown));
    };
    make();
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    observer.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", make);
    const theme = new MutationObserver(make);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      observer.disconnect();
      theme.disconnect();
      dark.removeEventListener("change", make);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [length, shown]);

  useEffect(() => {
    plot.current?.setData(dataOf(parts, length, shown));
  }, [parts]);
  useEffect(() => {
    plot.current?.redraw(false, false);
  }, [at]);

  return <div ref={place} class="curve" aria-hidden="true" />;
}

function dataOf(parts: Part[], length: number, shown: Shown): uPlot.AlignedData {
  const numbers = Array.from({ length: length + 1 }, (_, i) => i);
  const value = (part?: Part) =>
    part === undefined
      ? null
      : shown === "winrate"
        ? 100 * part.position.winrate
        : part.position.score;
  const lost = (part: Part | undefined, side: "black" | "white") =>
    part?.move?.colour === side && part.move.points_lost > 0 ? Math.min(part.move.points_lost, MOST_LOST) : null;
  return [
    numbers,
    numbers.map((i) => lost(parts[i], "black")),
    numbers.map((i) => lost(parts[i], "white")),
    numbers.map((i) => value(parts[i])),
  ];
}

function draw(
  element: HTMLElement,
  length: number,
  shown: Shown,
  now: { current: number },
  onMove: (number: number) => void,
): uPlot {
  const soft = colour("soft");
  const bars = uPlot.paths.bars!({ size: [0.7, 8], align: 0 });
  const axis = { stroke: soft, grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  const follow = (u: uPlot) => {
    const go = (event: PointerEvent) => {
      const left = event.clientX - u.over.getBoundingClientRect().left;
      onMove(Math.min(Math.max(Math.round(u.posToVal(left, "x")), 0), length));
    };
    u.over.addEventListener("pointerdown", (event) => {
      u.over.setPointerCapture(event.pointerId);
      go(event);
    });
    u.over.addEventListener("pointermove", (event) => {
      if (event.buttons) go(event);
    });
  };
  const accent = colour("accent");
  const mark = (u: uPlot) => {
    const x = Math.round(u.valToPos(now.current, "x", true));
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = accent;
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  };
  const range = (_: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax => {
    if (shown === "winrate") return [0, 100];
    const most = Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0), 5) * 1.1;
    return [-most, most];
  };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      padding: [8, 8, 0, 0],
      scales: {
        x: { time: false, range: [0, Math.max(length, 1)] },
        y: { range },
        lost: { range: [0, MOST_LOST] }, // the same in every game; larger losses are cut off
      },
      axes: [
        { ...axis, size: 26 },
        {
          ...axis,
          size: 46,
          values: (_, splits) =>
            splits.map((v) =>
              shown === "winrate" ? `${v} %` : v === 0 ? "0" : `${v > 0 ? "B" : "W"}+${Math.abs(v)}`,
            ),
        },
        {
          ...axis,
          scale: "lost",
          side: 1,
          size: 30,
          grid: { show: false },
          splits: [5, 10, 20],
          values: (_, splits) => splits.map((v) => `−${v}`),
        },
      ],
      series: [
        {},
        { scale: "lost", fill: colour("black-bar"), width: 0, paths: bars, points: { show: false } },
        { scale: "lost", fill: colour("white-bar"), width: 0, paths: bars, points: { show: false } },
        { stroke: colour("blue"), width: 2, points: { show: false }, spanGaps: false },
      ],
      hooks: { ready: [follow], draw: [mark] },
    },
    dataOf([], length, shown),
    element,
  );
}
