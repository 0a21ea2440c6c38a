// What a search thinks of a position, as a table and in words.

import type { Colour, Hint } from "./api";
import { toneOf, type Disc } from "./board";
import { t } from "./i18n";
import { percent } from "./points";

const LETTERS = "ABCDE";

/** Return how much worse than the first a move of a hint is. */
function behind(hint: Hint, i: number): number {
  return Math.max((hint.moves[0]?.score ?? 0) - (hint.moves[i]?.score ?? 0), 0);
}

/** Return the moves of a hint as discs, with the letters of the table. */
export function discsOf(hint: Hint | null | undefined): Record<string, Disc> {
  const moves = hint?.moves ?? [];
  return Object.fromEntries(
    moves.slice(0, LETTERS.length).map((c, i) => [c.move, { text: LETTERS[i]!, tone: toneOf(behind(hint!, i)) }]),
  );
}

export function Hints({ hint, turn }: { hint: Hint; turn: Colour }) {
  const best = hint.moves[0];
  return (
    <table class="hints">
      <caption>
        {t("toMove", { colour: t(turn) })}
        {hint.visits ? `. ${t("searchedBy", { network: hint.by ?? "", n: hint.visits })}` : ""}
        {best?.winrate !== undefined && ` ${t(sureness(best.winrate))}`}
      </caption>
      <thead>
        <tr>
          <th scope="col">{t("move")}</th>
          <th scope="col">{t("wins")}</th>
          <th scope="col">{t("points")}</th>
          <th scope="col" class="left">
            {t("line")}
          </th>
        </tr>
      </thead>
      <tbody>
        {hint.moves.map((c, i) => (
          <tr key={c.move}>
            <th scope="row">
              <b class={`letter tone-${toneOf(behind(hint, i))}`}>{LETTERS[i]}</b> {moveName(c.move)}
            </th>
            <td>{c.winrate === undefined ? "" : percent(c.winrate)}</td>
            <td>{c.score === undefined ? "" : c.score.toFixed(1)}</td>
            <td class="left">{c.line?.slice(1, 6).map(moveName).join(" ")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sureness(winrate: number): "sureWin" | "ratherWin" | "openGame" | "ratherLoss" | "sureLoss" {
  if (winrate > 0.9) return "sureWin";
  if (winrate > 0.65) return "ratherWin";
  if (winrate > 0.35) return "openGame";
  return winrate > 0.1 ? "ratherLoss" : "sureLoss";
}

/** Write a vertex, or a pass in the visitor's language. */
export function moveName(move: string): string {
  return move.toLowerCase() === "pass" ? t("passWord") : move;
}
