// A review as SGF with comments, values and better lines, and as a table.

import type { MoveReview, Part, Summary } from "../api";
import { t } from "../i18n";
import { lineThrough, moveOf, newNode, parse, sizeOf, toSgf, write, type Node } from "../sgf";
import { asResult, percent } from "../points";

function comment(node: Node, text: string): void {
  node.props.C = [[node.props.C?.[0]?.trimEnd(), text].filter(Boolean).join("\n\n")];
}

function words({ position, move }: Part): string {
  const lines: string[] = [];
  if (move && move.points_lost > 0) {
    lines.push(t("moveLost", { move: move.move, points: move.points_lost.toFixed(1), error: move.error.toFixed(1) }));
    if (move.verdict) lines.push(`${t("betterIs", { move: move.best })} ${move.line.join(" ")}`);
  }
  lines.push(t("blackWins", { share: percent(position.winrate), result: asResult(position.score) }));
  return lines.join("\n");
}

/** Return the game as SGF with what the review says of its moves. */
export function annotated(sgf: string, parts: Part[], { judge, ending }: Summary): string {
  const root = parse(sgf);
  const [rows, cols] = sizeOf(root);
  const nodes = [root, ...lineThrough(root).filter((node) => moveOf(node, rows, cols))];
  comment(root, [t("evaluatedBy", { judge }), ending && t("countedBy", { judge: ending.judge, result: ending.result })].filter(Boolean).join("\n"));
  for (const part of parts) {
    const node = nodes[part.number];
    if (!node) continue;
    comment(node, words(part));
    node.props.V = [part.position.score.toFixed(1)];
    const { move } = part;
    if (!move?.verdict) continue;
    node.props[move.verdict === "mistake" ? "BM" : "DO"] = [move.verdict === "mistake" ? "1" : ""];
    let at = nodes[part.number - 1]!;
    if (move.best === move.move) continue;
    move.line.forEach((vertex, i) => {
      const black = (move.colour === "black") === (i % 2 === 0);
      at = newNode(at, { [black ? "B" : "W"]: [toSgf(vertex, rows)] });
    });
  }
  return write(root);
}

const COLUMNS: (keyof MoveReview)[] = [
  "number", "colour", "move", "points_lost", "error", "verdict", "best", "line", "winrate", "score", "visits", "probability",
  "rank", "phase", "cause", "stones",
]; // prettier-ignore

/** Return the moves with what they lost as CSV. */
export function tableOf(parts: Part[]): string {
  const cell = (value: unknown) => {
    const text = Array.isArray(value) ? value.join(" ") : String(value ?? "");
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const rows = parts.flatMap(({ move }) => (move ? [COLUMNS.map((name) => cell(move[name])).join(",")] : []));
  return [COLUMNS.join(","), ...rows, ""].join("\r\n");
}
