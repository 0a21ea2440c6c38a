// Ranks, fair games and the ladder, from tables that `make site` computes in Python.

import { ApiError, type FairGame, type Opponent } from "../api";
import { t } from "../i18n";
import { mostHandicap } from "../positions";

/** By board such as `9x9`. */
export interface Rated {
  /** The ratings of ranks such as `8 kyu`. */
  elo: Record<string, number>;
  /** The rungs of the ladder, weakest first, and the number of the first one. */
  ladder: Record<string, { rungs: { level: number; handicap: number }[]; first: number }>;
  /** Elo of one rank, and the most handicap stones. */
  perRank: number;
  mostStones: number;
}

export function nextRung(rated: Rated, size: number, results: (boolean | null)[]): { opponent: string; handicap: number } {
  const { rungs, first } = rated.ladder[`${size}x${size}`] ?? { rungs: [{ level: 1, handicap: 0 }], first: 0 };
  let place = first;
  for (const won of results) place = Math.min(Math.max(place + (won === null ? 0 : won ? 1 : -1), 0), rungs.length - 1);
  const { level, handicap } = rungs[place]!;
  return { opponent: `level-${level}`, handicap };
}

/** Return opponent, colour, handicap and komi of an even game for a person of a rank. */
export function fairGame({ elo, perRank, mostStones }: Rated, opponents: Opponent[], query: URLSearchParams): FairGame {
  const size = Number(query.get("size") ?? 19);
  const board = `${size}x${size}`;
  const eloOf = (rank: string) => {
    if (!(rank in elo)) throw new ApiError(t("noRank", { rank }), 422);
    return elo[rank]!;
  };
  const own = eloOf(query.get("you") ?? "");
  const other = query.get("other");
  const rated = opponents.filter((one) => one.ratings[board] !== undefined);
  const nearest = rated.filter((one) => one.level).sort((a, b) => Math.abs(a.ratings[board]! - own) - Math.abs(b.ratings[board]! - own))[0];
  const chosen = query.get("opponent") ? rated.find((one) => one.id === query.get("opponent")) : nearest;
  if (!other && !chosen) throw new ApiError(t("noRank", { rank: board }), 422);
  const theirs = other ? eloOf(other) : chosen!.ratings[board]!;
  // As in `arena/placing.py`: half a point of komi counts as the first stone.
  const steps = Math.round(((Math.abs(own - theirs) / perRank) * size * size) / 361);
  const komi = steps === 0 ? null : 0.5;
  return {
    opponent: other ? "person" : chosen!.id, colour: own > theirs && komi !== null ? "white" : "black",
    handicap: steps < 2 ? 0 : Math.min(steps, mostStones, mostHandicap(size)), komi,
  }; // prettier-ignore
}
