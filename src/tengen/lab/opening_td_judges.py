"""Let other experts finish openings of an experiment's round robins and compare; print nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from tengen.arrays import FloatArray
from tengen.lab.journal import Journal, Row
from tengen.lab.opening_td import expert_of
from tengen.lab.opening_td_experiment import ENCODINGS, Played, players_of, seed_folder
from tengen.lab.steps import Context
from tengen.learners.opening_td import TDSettings, opening_board
from tengen.statistics import spearman, wilson

REPEATS = 1000
"""Resamples for the intervals of rank correlations."""


@dataclass(frozen=True)
class JudgeJob:
    """One opening for another expert; `sign` is -1 where player A had White."""

    moves: tuple[int, ...]
    terms: TDSettings
    sign: int
    first: float
    """What the referee said, from player A's view."""
    expert: str
    seed: int


def judge_one(job: JudgeJob) -> Row:
    """Let the expert finish one opening; both scores are from player A's view."""
    board = opening_board(list(job.moves), job.terms)
    score = job.sign * float(expert_of(job.expert).finish([board], [job.seed])[0])
    return {"first": job.first, "second": score}


def judge_jobs(played: Played, seed: int, expert: str, openings: int) -> dict[str, JudgeJob]:
    """Name so many openings of one seed, as many of each match; colours alternate over matches.

    Their order is drawn, so that a judge who is stopped has seen a fair sample of all players.
    """
    robins = [m for m in played.matches[seed] if len({e for _, e in players_of(m["key"])}) == 1]
    robins.sort(key=lambda row: str(row["key"]))
    jobs = []
    for number, row in enumerate(robins):
        games = len(row["openings"])
        for turn in range(min(games, max(1, openings // max(len(robins), 1)))):
            # Player A has Black in even games: which half comes first changes with match and seed.
            game = (turn + number + seed) % games
            job = JudgeJob(
                tuple(row["openings"][game]), played.size.terms, 1 if game % 2 == 0 else -1,
                row["scores"][game], expert, 77_000_000 + 1000 * number + game,
            )  # fmt: skip
            jobs.append((f"{row['key']} {game}", job))
    return {jobs[i][0]: jobs[i][1] for i in np.random.default_rng(seed).permutation(len(jobs))}


def second_opinions(context: Context, played: Played, expert: str) -> list[Row]:
    """Let another expert finish openings of the round robins, the same number of each match."""
    rows = []
    for seed in played.matches:
        jobs = judge_jobs(played, seed, expert, played.size.judge_games // len(played.matches))
        rows += _verdicts(played.folder, seed, expert).complete(
            jobs, judge_one, workers=context.workers, ray=context.ray,
            tell=context.between(0.95, 1.0, f"seed {seed}: {expert}"),
        )  # fmt: skip
    return rows


def _verdicts(folder: Path, seed: int, expert: str) -> Journal:
    """Return the journal of another expert's verdicts."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", expert).strip("-")[:24]
    return Journal(seed_folder(folder, seed) / f"judged-{name}-{crc32(expert.encode()):08x}.jsonl")


# ----- Comparing -----


def compare_judges(
    expert: str, verdicts: list[Row], wins: dict[str, dict[str, list[float]]]
) -> dict[str, Any]:
    """Compare an expert's verdicts with the referee's.

    `wins` are the players' shares under the referee over all games, by encoding. Rank correlations
    are with those (`all_games`) and with the referee's winners of the very same openings
    (`same_openings`); their intervals come from drawing the openings anew.
    """
    scores = np.array([(v["first"], v["second"]) for v in verdicts])
    agree = (scores[:, 0] > 0) == (scores[:, 1] > 0)
    clear = np.abs(scores[:, 0]) >= 5
    varied = bool(np.ptp(scores, axis=0).all())
    ranks = {}
    for encoding in ENCODINGS:
        own = [v for v in verdicts if f"-{encoding}" in v["key"]]
        if found := _ranks(own, wins[encoding]):
            ranks[encoding] = found
    return {
        "expert": expert,
        "openings": len(verdicts),
        "agreement": float(agree.mean()),
        "interval": list(wilson(int(agree.sum()), len(agree))),
        "agreement_beyond_5_points": float(agree[clear].mean()) if clear.any() else None,
        "score_correlation": float(np.corrcoef(scores.T)[0, 1]) if varied else None,
        "ranks": ranks,
    }


def _ranks(verdicts: list[Row], wins: dict[str, list[float]]) -> dict[str, Any] | None:
    """Return rank correlations of the players' shares of wins, with intervals."""
    players = {f: i for i, f in enumerate(f for f in wins if wins[f])}
    rows = []
    for v in verdicts:
        (a, _), (b, _) = players_of(v["key"])
        if a in players and b in players:
            rows.append((players[a], players[b], _points(v["first"]), _points(v["second"])))
    if len(players) < 3 or not rows:
        return None
    table = np.array(rows, np.float64)
    overall = np.array([np.mean(wins[f]) for f in players])
    rng = np.random.default_rng(0)
    drawn = [
        _correlations(table[rng.integers(len(table), size=len(table))], overall)
        for _ in range(REPEATS)
    ]
    value = _correlations(table, overall)
    return {
        name: {"value": value[i], "interval": _middle([pair[i] for pair in drawn])}
        for i, name in enumerate(("all_games", "same_openings"))
    }


def _middle(values: list[float | None]) -> list[float] | None:
    """Return where 95 % of the numbers lie; None where there is no number."""
    numbers = [v for v in values if v is not None]
    return [float(x) for x in np.percentile(numbers, [2.5, 97.5])] if numbers else None


def _points(score: float) -> float:
    return 1.0 if score > 0 else 0.5 if score == 0 else 0.0


def _shares(table: FloatArray, column: int, players: int) -> FloatArray:
    """Return what share of its games each player won by one judge's verdicts."""
    a, b = table[:, 0].astype(int), table[:, 1].astype(int)
    won = np.bincount(a, table[:, column], players) + np.bincount(b, 1 - table[:, column], players)
    return np.asarray(
        won / np.maximum(np.bincount(a, None, players) + np.bincount(b, None, players), 1)
    )


def _correlations(table: FloatArray, overall: FloatArray) -> tuple[float | None, float | None]:
    """Correlate the other judge's ranks with the overall ones, and with the same openings'."""
    first, second = (_shares(table, column, len(overall)) for column in (2, 3))
    found = spearman(overall, second), spearman(first, second)
    return found[0].r if found[0] else None, found[1].r if found[1] else None
