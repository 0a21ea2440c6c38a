// A picture of a game tree: one row for each variation, a stone for each move.

import { useEffect, useRef } from "preact/hooks";
import { t } from "./i18n";
import type { Node } from "./sgf";

const STEP = 24;

interface Place {
  node: Node;
  x: number;
  y: number;
  from: Place | null;
}

/** Place the first child of a node beside it, and each further one in the next free row. */
function layOut(root: Node): Place[] {
  const places: Place[] = [];
  const ends: number[] = []; // the last used column of each row
  const todo: [Node, Place | null, number][] = [[root, null, 0]];
  while (todo.length) {
    const [node, from, branch] = todo.pop()!;
    const x = from ? from.x + 1 : 0;
    let y = from?.y ?? 0;
    if (branch > 0) {
      y++;
      while ((ends[y] ?? -1) >= x - 1) y++;
    }
    const place = { node, x, y, from };
    places.push(place);
    ends[y] = Math.max(ends[y] ?? -1, x);
    // The first child comes off the stack first, so that its whole line has its row.
    [...node.children.keys()].reverse().forEach((i) => todo.push([node.children[i]!, place, i]));
  }
  return places;
}

export function Tree({ root, current, go }: { root: Node; current: Node; go: (node: Node) => void }) {
  const places = layOut(root);
  const here = places.find((place) => place.node === current);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element || !here) return;
    element.scrollTo({
      left: here.x * STEP - element.clientWidth / 2,
      top: here.y * STEP - element.clientHeight / 2,
    });
  }, [current]);
  const width = STEP * (Math.max(...places.map((p) => p.x)) + 1);
  const height = STEP * (Math.max(...places.map((p) => p.y)) + 1);
  return (
    <div class="tree" ref={frame} role="img" tabIndex={0} aria-label={t("treeLabel", { n: places.length - 1 })}>
      <svg width={width} height={height}>
        {places.map(({ x, y, from }, i) => {
          if (!from) return null;
          const [x1, y1, x2, y2] = [from.x, from.y, x, y].map((n) => (n + 0.5) * STEP);
          const path = y1 === y2 ? `M${x1} ${y1}H${x2}` : `M${x1} ${y1}V${y2! - STEP / 2}L${x2} ${y2}`;
          return <path key={i} d={path} />;
        })}
        {places.map(({ node, x, y }, i) => {
          const kind = node.props.B ? "black" : node.props.W ? "white" : "plain";
          return (
            <g
              key={i}
              class={`${kind}${node === current ? " current" : ""}`}
              transform={`translate(${(x + 0.5) * STEP} ${(y + 0.5) * STEP})`}
              onClick={() => go(node)}
            >
              <circle r={STEP * 0.36} />
              {node.props.C && <circle class="comment-dot" cx={STEP * 0.3} cy={-STEP * 0.3} r={3} />}
              <text>{x || ""}</text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
