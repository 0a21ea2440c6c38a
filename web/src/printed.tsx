// The page of a review on paper: both sides, and a diagram of every large mistake.

import type { GameRecord, MoveReview, WholeGame } from "./api";
import { lossText } from "./board";
import { moveName } from "./hints";
import { t } from "./i18n";
import { Mini } from "./mini";
import { whyWords } from "./mistakes";

const MOST = 12; // diagrams

interface PrintedProps {
  game: WholeGame & GameRecord;
  found: MoveReview[];
}

export function Printed({ game, found }: PrintedProps) {
  return (
    <section class="printed" aria-hidden="true">
      <div class="diagrams">
        {found.slice(0, MOST).map((move) => {
          const before = game.positions[move.number - 1]!;
          return (
            <figure key={move.number}>
              <Mini
                stones={before.stones}
                label={t("moveBy", { n: move.number, colour: t(move.colour), move: moveName(move.move) })}
                last={before.last}
                letters={[move.best, move.move]}
              />
              <figcaption>
                <b>{t("moveBy", { n: move.number, colour: t(move.colour), move: `${moveName(move.move)} (B)` })}</b>{" "}
                {lossText(move.points_lost)}. {t("betterIs", { move: `${moveName(move.best)} (A)` })} {whyWords(move)}
              </figcaption>
            </figure>
          );
        })}
      </div>
    </section>
  );
}
