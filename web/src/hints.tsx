// What a search thinks of a position, as a table.

import type { Colour, Hint } from "./api";
import { percent } from "./points";

export function Hints({ hint, turn }: { hint: Hint; turn: Colour }) {
  return (
    <table class="hints">
      <caption>
        {turn === "black" ? "Black" : "White"} to move
        {hint.visits ? `, ${hint.visits} visits` : ""}
      </caption>
      <thead>
        <tr>
          <th scope="col">Move</th>
          <th scope="col">Wins</th>
          <th scope="col">Points</th>
          <th scope="col" class="left">
            Line
          </th>
        </tr>
      </thead>
      <tbody>
        {hint.moves.map((c, i) => (
          <tr key={c.move}>
            <th scope="row">
              {"ABCDE"[i]} {c.move}
            </th>
            <td>{c.winrate === undefined ? "" : percent(c.winrate)}</td>
            <td>{c.score === undefined ? "" : c.score.toFixed(1)}</td>
            <td class="left">{c.line?.slice(1, 6).join(" ")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
