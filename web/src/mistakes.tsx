// The mistakes of a reviewed game: one after the other, of one side or both, and all in a list.

import type { Cause, Colour, MoveReview, Part } from "./api";
import { lossText, toneOf } from "./board";
import { useEffect, useRef } from "preact/hooks";
import { moveName } from "./hints";
import { t, type Key } from "./i18n";
import { Choice, Stone } from "./parts";

export type Whose = Colour | "both";
export type Order = "largest" | "played";

const VERDICTS = { mistake: 2, doubtful: 1, "": 0 };
const LEAST_LOSS = 1; // points a move must lose to be listed in a game without mistakes

/** Return all mistakes of a side in an order; in a game without any, the moves that lost points. */
export function mistakesOf(parts: Part[], whose: Whose, order: Order): MoveReview[] {
  const moves = parts.flatMap((part) => part?.move ?? []).filter((m) => whose === "both" || m.colour === whose);
  const judged = moves.filter((m) => m.verdict);
  const found = judged.length ? judged : moves.filter((m) => m.points_lost >= LEAST_LOSS);
  if (order === "played") return found;
  return found.sort((a, b) => VERDICTS[b.verdict] - VERDICTS[a.verdict] || b.points_lost - a.points_lost);
}

export const PHASES = { opening: "phaseOpening", "middle game": "phaseFight", endgame: "phaseEnd" } as const;
export const CAUSES: Record<Exclude<Cause, "">, [name: Key, sentence: Key]> = {
  group: ["causeGroup", "whyGroup"],
  escape: ["causeEscape", "whyEscape"],
  answer: ["causeAnswer", "whyAnswer"],
  direction: ["causeDirection", "whyDirection"],
  local: ["causeLocal", "whyLocal"],
  pass: ["causePass", "whyPass"],
};

/** Say in a sentence what went wrong with a move; nothing where that is not known. */
export function whyWords({ cause, stones }: MoveReview): string {
  return cause ? t(CAUSES[cause][1], { n: stones ?? 0 }) : "";
}

/** Which mistakes are listed: all, those of a phase or a cause, or the turning points. */
export type Kind = "all" | "turning" | keyof typeof PHASES | Exclude<Cause, "">;

/** Return the numbers of the mistakes after which the other side leads. */
export function turningPoints(parts: Part[]): Set<number> {
  const found = parts.filter((part, n) => {
    const [before, after] = [parts[n - 1]?.position.score ?? 0, part?.position.score ?? 0];
    return part?.move?.verdict === "mistake" && before * after < 0;
  });
  return new Set(found.map((part) => part.number));
}

/** Return the mistakes of a kind. */
export function ofKind(moves: MoveReview[], kind: Kind, turning: Set<number>): MoveReview[] {
  if (kind === "all") return moves;
  return moves.filter((move) =>
    kind === "turning" ? turning.has(move.number) : move.phase === kind || move.cause === kind,
  );
}

interface StepperProps {
  found: MoveReview[];
  /** The move that the game goes on with, whether it is a mistake or not. */
  next: number;
  /** The mistake that was looked at last. */
  last: number;
  whose: Whose;
  setWhose: (whose: Whose) => void;
  go: (number: number) => void;
}

/** Return where a step of so many mistakes leads; null at either end. */
export function stepTo(found: MoveReview[], next: number, last: number, by: number): number | null {
  const here = found.findIndex((move) => move.number === next);
  const place = here >= 0 ? here : found.findIndex((move) => move.number === last);
  return found[place + by]?.number ?? null;
}

/** Step through the mistakes, or those of one side. */
export function Stepper({ found, next, last, whose, setWhose, go }: StepperProps) {
  const here = found.findIndex((move) => move.number === next);
  const button = (by: number, text: string, name: string) => {
    const to = stepTo(found, next, last, by);
    return (
      <button disabled={to === null} onClick={() => to !== null && go(to)} aria-label={name} title={name}>
        {text}
      </button>
    );
  };
  return (
    <div class="stepper">
      {button(-1, "◂", t("previousMistake"))}
      <span role="status">
        {found.length === 0
          ? t("nothingLost")
          : here >= 0
            ? t("mistakeOf", { n: here + 1, all: found.length })
            : t("nMistakes", { n: found.length })}
      </span>
      {button(1, "▸", t("nextMistake"))}
      <Choice
        legend={t("whose")}
        name="whose"
        value={whose}
        options={[
          ["both", t("both")],
          ["black", t("black")],
          ["white", t("white")],
        ]}
        onChange={setWhose}
      />
    </div>
  );
}

interface ListProps {
  found: MoveReview[];
  next: number;
  order: Order;
  setOrder: (order: Order) => void;
  kind: Kind;
  setKind: (kind: Kind) => void;
  turning: Set<number>;
  go: (number: number) => void;
}

/** All mistakes with what they lost and what was better. */
export function MistakeList({ found, next, order, setOrder, kind, setKind, turning, go }: ListProps) {
  // The list scrolls by itself: the current mistake stays in sight, and the page where it is.
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const row = list.current?.querySelector<HTMLElement>("[aria-current=true]")?.parentElement;
    if (row) list.current!.scrollTop = row.offsetTop - (list.current!.clientHeight - row.offsetHeight) / 2;
  }, [next, order, kind]);
  if (found.length === 0 && kind === "all") return null;
  return (
    <section class="mistakes" aria-label={t("mistakes")}>
      <h2>
        {t("mistakes")}
        <select aria-label={t("order")} value={order} onChange={(e) => setOrder(e.currentTarget.value as Order)}>
          <option value="largest">{t("worstFirst")}</option>
          <option value="played">{t("asPlayed")}</option>
        </select>
      </h2>
      <label class="field">
        {t("kindOfMistake")}
        <select value={kind} onChange={(e) => setKind(e.currentTarget.value as Kind)}>
          <option value="all">{t("all")}</option>
          <option value="turning">{t("turningPoints")}</option>
          {Object.entries({ ...PHASES, ...Object.fromEntries(Object.entries(CAUSES).map(([key, [name]]) => [key, name])) }).map(
            ([key, name]) => (
              <option key={key} value={key}>
                {t(name as Key)}
              </option>
            ),
          )}
        </select>
      </label>
      {found.length === 0 && <p class="note">{t("noneOfKind")}</p>}
      <ol class="worst" ref={list}>
        {found.map((move) => (
          <li key={move.number}>
            <button class="row" onClick={() => go(move.number)} aria-current={next === move.number}>
              <Stone colour={move.colour} />
              <span>
                {move.number} {moveName(move.move)}
              </span>
              <span class={`badge ${move.verdict || "small"}`}>{t(move.verdict || "loss")}</span>
              {turning.has(move.number) && <span class="badge">{t("turningPoint")}</span>}
              {move.cause && <small>{t(CAUSES[move.cause][0])}</small>}
              <span class="meta">
                {t("betterIs", { move: moveName(move.best) })}{" "}
                <b class={`letter tone-${toneOf(move.points_lost)}`}>{lossText(move.points_lost)}</b> ±{" "}
                {move.error.toFixed(1)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
