// A small board drawn as one picture, with shades: light enough for many side by side.

import { toVertex, toXY } from "./points";

export type Shade = "likelihood" | "ownership" | "wishes";

interface MiniProps {
  stones: string[];
  label: string;
  last?: string | null;
  values?: (number | null)[] | null;
  shade?: Shade;
  dead?: string[];
  letters?: string[];
}

export function Mini({ stones, label, last, values, shade = "likelihood", dead, letters }: MiniProps) {
  const rows = stones.length;
  const cols = stones[0]?.length ?? 0;
  const said = (values ?? []).filter((v): v is number => v !== null);
  const most = Math.max(...said, 1e-9);
  const least = Math.min(...said, most);
  // Likelihoods that differ little are spread; the caption tells their range.
  const spread = Math.max(most - least, 1e-6);
  const faint = new Set(dead);
  const at = last ? toXY(last, rows) : null;
  const shades = [];
  const discs = [];
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < cols; x++) {
      const value = values?.[y * cols + x];
      if (value !== null && value !== undefined) {
        const strength =
          shade === "wishes"
            ? Math.sqrt(Math.max(value, 0) / most)
            : shade === "likelihood"
              ? (value - least) / spread
              : Math.min(Math.abs(value), 1);
        if (strength > 0.02) {
          const tone = shade === "ownership" ? (value > 0 ? "black" : "white") : shade;
          shades.push(
            <rect
              key={`${x},${y}`}
              class={`shade ${tone}`}
              x={x}
              y={y}
              width={1}
              height={1}
              opacity={strength * 0.85}
            />,
          );
        }
      }
      const stone = stones[y]![x];
      if (stone !== ".") {
        discs.push(
          <circle
            key={`${x},${y}`}
            class={stone === "X" ? "black" : "white"}
            cx={x + 0.5}
            cy={y + 0.5}
            r={0.46}
            opacity={faint.has(toVertex([x, y], rows)) ? 0.35 : 1}
          />,
        );
      }
    }
  }
  const lines = [];
  for (let x = 0; x < cols; x++) lines.push(`M${x + 0.5} 0.5V${rows - 0.5}`);
  for (let y = 0; y < rows; y++) lines.push(`M0.5 ${y + 0.5}H${cols - 0.5}`);
  return (
    <svg class="mini" viewBox={`-0.1 -0.1 ${cols + 0.2} ${rows + 0.2}`} role="img" aria-label={label}>
      <rect class="wood" x={-0.1} y={-0.1} width={cols + 0.2} height={rows + 0.2} />
      <path class="lines" d={lines.join("")} />
      {shade === "ownership" ? discs : shades}
      {shade === "ownership" ? <g class="above">{shades}</g> : discs}
      {at && <circle class="last" cx={at[0] + 0.5} cy={at[1] + 0.5} r={0.18} />}
      {letters?.map((vertex, i) => {
        const point = toXY(vertex, rows);
        return (
          point && (
            <text key={vertex} x={point[0] + 0.5} y={point[1] + 0.5}>
              {"ABCDEFGH"[i]}
            </text>
          )
        );
      })}
    </svg>
  );
}
