// Moves played beside the game, from one of its positions, and what a search thinks of them.

import { useEffect, useState } from "preact/hooks";
import { api, lines, type BoardState, type Colour, type Hint } from "./api";
import { complain } from "./status";

export interface Line {
  from: number;
  moves: string[];
  /** How many of the moves are on the board. */
  shown: number;
}

export function alternating(first: Colour, moves: string[]): [string, string][] {
  return moves.map((move, i) => [(first === "black") === (i % 2 === 0) ? "B" : "W", move]);
}

export function positionOf(base: BoardState, komi: number, moves: string[]) {
  return { stones: base.stones, turn: base.turn, komi, moves: alternating(base.turn, moves) };
}

/** Return the board after the shown moves of a line, by the server's rules. */
export function useLine(
  line: Line | null,
  positions: BoardState[],
  komi: number,
  giveUp: () => void,
): BoardState | null {
  const [state, setState] = useState<BoardState | null>(null);
  const key = line ? `${line.from}:${line.moves.slice(0, line.shown).join(",")}` : "";
  useEffect(() => {
    if (!line) {
      setState(null);
      return;
    }
    const stop = new AbortController();
    const json = positionOf(positions[line.from]!, komi, line.moves.slice(0, line.shown));
    api<BoardState>("/position", { json, signal: stop.signal }).then(setState, (problem) => {
      if (!stop.signal.aborted) {
        complain(problem);
        giveUp();
      }
    });
    return () => stop.abort();
  }, [key]);
  return line ? state : null;
}

/** Search a position for as long as it is shown; null while nothing is known. */
export function useAnalysis(position: object | null, playouts: number): Hint | null {
  const [found, setFound] = useState<Hint | null>(null);
  const key = position && JSON.stringify(position);
  useEffect(() => {
    setFound(null);
    if (!key) return;
    const stop = new AbortController();
    lines<Hint>(`/analyse?playouts=${playouts}`, JSON.parse(key), stop.signal, setFound).catch(
      (problem) => stop.signal.aborted || complain(problem),
    );
    return () => stop.abort();
  }, [key, playouts]);
  return found;
}
