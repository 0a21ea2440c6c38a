// The rules of Go in four pictures, for visitors who do not know it, and a first game with the teacher.

import { api } from "./api";
import { t, type Key } from "./i18n";
import { Mini } from "./mini";
import { complain } from "./status";

const LESSONS: [text: Key, stones: string[], letters: string[]][] = [
  ["ruleTurns", [".....", ".OX..", ".....", "...X.", "....."], []],
  ["ruleCapture", [".....", "..X..", ".XO..", "..X..", "....."], ["D3"]],
  ["ruleKo", [".....", "..XO.", ".XO.O", "..XO.", "....."], ["D3"]],
  ["ruleEnd", ["..XO.", ".XXO.", "X.XOO", "XXXO.", "..XO."], []],
];

const FIRST = { size: 9, colour: "black", opponent: "level-1", teach: 3 };

export function Rules() {
  const begin = () =>
    api<{ id: string }>("/games", { json: FIRST }).then(({ id }) => (location.hash = `#/play/${id}`), complain);
  return (
    <details class="rules">
      <summary>{t("newToGo")}</summary>
      <ol>
        {LESSONS.map(([text, stones, letters]) => (
          <li key={text}>
            <span aria-hidden="true">
              <Mini label="" stones={stones} letters={letters} />
            </span>
            <p>{t(text)}</p>
          </li>
        ))}
      </ol>
      <p class="actions">
        <button class="primary" onClick={() => void begin()}>
          {t("firstGame")}
        </button>
      </p>
    </details>
  );
}
