// A plain line over steps, for trainings and progress, with a band around it if there is one.

import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";

interface PlotProps {
  title: string;
  over: (number | null)[];
  values: (number | null)[];
  band?: [low: number[], high: number[]];
  write?: (value: number) => string;
}

const HEIGHT = 170;
// Steps and games are whole numbers.
const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((power) => [power, 2 * power, 5 * power]);

export function Plot({ title, over, values, band, write }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const element = place.current!;
    const ink = getComputedStyle(element).color;
    const soft = getComputedStyle(element.previousElementSibling!).color;
    const grid = { stroke: "rgb(128 128 128 / 0.25)", width: 1 };
    const axis = { stroke: soft, grid, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    plot.current = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false } },
        axes: [
          { ...axis, size: 26, incrs: WHOLE },
          { ...axis, size: 56, ...(write && { values: (_, marks) => marks.map(write) }) },
        ],
        series: [
          {},
          { stroke: ink, width: 1.5, points: { show: false }, spanGaps: true },
          ...(band ? [{ points: { show: false } }, { points: { show: false } }] : []),
        ],
        ...(band && { bands: [{ series: [3, 2], fill: "rgb(128 128 128 / 0.25)" }] }),
      },
      [[], [], ...(band ? [[], []] : [])] as uPlot.AlignedData,
      element,
    );
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData([over.map((v, i) => v ?? i), values, ...(band ?? [])] as uPlot.AlignedData);
  }, [over, values, band]);
  const last = values[values.length - 1];
  return (
    <figure class="plot">
      <figcaption>
        {title}
        {last !== null && last !== undefined && ` ${write ? write(last) : Number(last.toPrecision(3))}`}
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  );
}
