// The time of both sides, as `game/clock.py` keeps it. Times are in seconds.

import type { ClockState } from "../api";
import { ENDGAME } from "../engine/kernels";
import type { Side } from "../engine/board";
import { shownAfter, type Shown } from "../clock";
import { nameOf } from "./values";

/** What `NewGame` says about the clock. */
export interface ClockForm {
  clock?: "none" | "fischer" | "japanese" | "canadian" | null;
  minutes?: number;
  increment?: number;
  period?: number;
  periods?: number;
  stones?: number;
}

/** Return the clock of a new game; null without a limit. */
export function newClock(form: ClockForm): ClockState | null {
  const { clock, minutes = 0, increment = 0, period = 30, periods = 5, stones = 15 } = form;
  const kind = clock ?? (minutes ? "fischer" : "none");
  if (kind === "none") return null;
  const settings = { main: 60 * minutes, increment: 0, period: 0, stones: 0, periods: 1, running: false };
  if (kind === "fischer") Object.assign(settings, { increment, main: settings.main || increment });
  if (kind === "japanese") Object.assign(settings, { period, periods, stones: 1 });
  if (kind === "canadian") Object.assign(settings, { period, stones });
  const left = settings.main > 0 ? settings.main : settings.period;
  const stage = (): [number, number] => [settings.main > 0 ? 0 : settings.stones, settings.periods];
  return { ...settings, black: left, white: left, stages: { black: stage(), white: stage() } };
}

function put(clock: ClockState, side: Side, { left, stones, periods }: Shown): void {
  clock[nameOf(side)] = left;
  clock.stages[nameOf(side)] = [stones, periods];
}

/** Count down a side's clock after so many seconds without a move. */
export function waited(clock: ClockState, side: Side, seconds: number): void {
  put(clock, side, shownAfter(clock, nameOf(side), seconds));
}

/** Count down a side's clock for a move that took so many seconds. */
export function pressed(clock: ClockState, side: Side, seconds: number): void {
  const shown = shownAfter(clock, nameOf(side), seconds);
  if (shown.stones > 0 && --shown.stones === 0) {
    shown.left = clock.period;
    shown.stones = clock.stones;
  }
  shown.left += clock.increment;
  put(clock, side, shown);
}

/** Return the seconds until a side that does not move loses on time. */
export function untilLost(clock: ClockState, side: Side, seconds: number): number {
  const { left, stones, periods } = shownAfter(clock, nameOf(side), seconds);
  const more = clock.stones ? periods - Number(stones > 0) : 0;
  return left + more * clock.period;
}

/** Give a person the least time that is needed after taking a move back. */
export function refresh(clock: ClockState, side: Side): void {
  const name = nameOf(side);
  clock[name] = Math.max(clock[name], ENDGAME.LEAST_AFTER_UNDO);
}
