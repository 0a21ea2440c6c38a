// What a clock shows after some seconds: main time first, then periods, as on the server.

import type { ClockState, Colour } from "./api";

export interface Shown {
  left: number;
  /** Stones to be played in this period; 0 in main time. */
  stones: number;
  periods: number;
}

export function shownAfter(clock: ClockState, colour: Colour, seconds: number): Shown {
  let left = clock[colour] - seconds;
  let [stones, periods] = clock.stages[colour];
  if (left <= 0 && stones === 0 && clock.stones > 0) {
    left += clock.period;
    stones = clock.stones;
  }
  while (left <= 0 && stones > 0 && periods > 1) {
    left += clock.period;
    periods--;
  }
  return { left: Math.max(left, 0), stones, periods };
}
