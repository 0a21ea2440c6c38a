"""Let other experts finish openings of an experiment's round robins and compare; print nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from tengen.lab.opening_td import ENCODINGS, Plan, append_line, expert_of, read_lines
from tengen.learners.opening_td.training import opening_board
from tengen.parallel import map_jobs
from tengen.statistics import spearman, wilson

REPEATS = 1000
"""Resamples for the intervals of rank correlations."""


def judged_file(plan: Plan, seed: int, expert: str) -> Path:
    """Name the file with another expert's verdicts."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", expert).strip("-")[:24]
    return plan.folder / f"seed-{seed}" / f"judged-{name}-{crc32(expert.encode()):08x}.jsonl"


@dataclass(frozen=True)
class JudgeJob:
    """One opening for another expert; `sign` is -1 where player A had White."""

    key: str
    game: int
    moves: tuple[int, ...]
    sign: int
    first: float
    expert: str
    seed: int


def judge_one(job: JudgeJob) -> dict[str, Any]:
    """Let the expert finish one opening; both scores are from player A's view."""
    board = opening_board(list(job.moves), 9, 9, 5.5)
    score = job.sign * float(expert_of(job.expert).finish([board], [job.seed])[0])
    return {
        "key": job.key, "game": job.game, "first": job.first, "second": score, "expert": job.expert,
    }  # fmt: skip


def judge_jobs(plan: Plan, seed: int, expert: str, openings: int) -> list[JudgeJob]:
    """List so many openings of one seed, as many of each match; colours alternate over matches.

    Their order is drawn, so that a judge who is stopped has seen a fair sample of all players.
    """
    lines = read_lines(plan.folder / f"seed-{seed}" / "matches.jsonl")
    robins = [
        line for line in lines if len({p.split("-")[1] for p in line["key"].split()[1:]}) == 1
    ]
    robins.sort(key=lambda line: str(line["key"]))
    jobs = []
    for number, line in enumerate(robins):
        games = len(line["openings"])
        for turn in range(min(games, max(1, openings // max(len(robins), 1)))):
            # Player A has Black in even games: which half comes first changes with match and seed.
            game = (turn + number + seed) % games
            jobs.append(
                JudgeJob(
                    line["key"], game, tuple(line["openings"][game]), 1 if game % 2 == 0 else -1,
                    line["scores"][game], expert, 77_000_000 + 1000 * number + game,
                )
            )  # fmt: skip
    return [jobs[i] for i in np.random.default_rng(seed).permutation(len(jobs))]


def second_opinion(
    plan: Plan,
    expert: str,
    openings: int,
    *,
    workers: int = 1,
    ray: str | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> None:
    """Let another expert finish openings of the round robins, the same number of each match."""
    for seed in plan.seeds:
        log = judged_file(plan, seed, expert)
        done = {(v["key"], v["game"]) for v in read_lines(log)}
        jobs = [
            job
            for job in judge_jobs(plan, seed, expert, openings // len(plan.seeds))
            if (job.key, job.game) not in done
        ]
        results = map_jobs(judge_one, jobs, workers=workers, ray=ray, ordered=False)
        for number, verdict in enumerate(results):
            append_line(log, verdict)
            if number % 100 == 99:
                remark(f"seed {seed}: {expert} {number + 1}/{len(jobs)}")


# ----- Comparing -----


def compare(
    plan: Plan, expert: str, wins: dict[str, dict[str, list[float]]]
) -> dict[str, Any] | None:
    """Compare an expert's verdicts with the referee's; None where it has given none.

    `wins` are the players' shares under the referee over all games, by encoding. Rank correlations
    are with those (`all_games`) and with the referee's winners of the very same openings
    (`same_openings`); their intervals come from drawing the openings anew.
    """
    verdicts = [v for seed in plan.seeds for v in read_lines(judged_file(plan, seed, expert))]
    if not verdicts:
        return None
    agree = [(v["first"] > 0) == (v["second"] > 0) for v in verdicts]
    scores = np.array([(v["first"], v["second"]) for v in verdicts])
    even = np.abs(scores[:, 0]) < 5
    return {
        "expert": expert,
        "openings": len(verdicts),
        "agreement": float(np.mean(agree)),
        "interval": list(wilson(sum(agree), len(agree))),
        "agreement_beyond_5_points": float(np.mean(np.array(agree)[~even])) if any(~even) else None,
        "score_correlation": float(np.corrcoef(scores.T)[0, 1]),
        "ranks": {
            e: found
            for e in ENCODINGS
            if (found := _ranks(plan, [v for v in verdicts if f"-{e}" in v["key"]], wins[e]))
        },
    }


def _ranks(
    plan: Plan, verdicts: list[dict[str, Any]], wins: dict[str, list[float]]
) -> dict[str, Any] | None:
    """Return rank correlations of the players' shares of wins, with intervals."""
    players = {f: i for i, f in enumerate(f for f in plan.sets if wins[f])}
    rows = []
    for v in verdicts:
        a, b = (name.split("-")[0] for name in v["key"].split()[1:])
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
        name: {
            "value": value[i],
            "interval": _middle([pair[i] for pair in drawn]),
        }
        for i, name in enumerate(("all_games", "same_openings"))
    }


def _middle(values: list[float | None]) -> list[float] | None:
    """Return where 95 % of the numbers lie; None where there is no number."""
    numbers = [v for v in values if v is not None]
    return [float(x) for x in np.percentile(numbers, [2.5, 97.5])] if numbers else None


def _points(score: float) -> float:
    return 1.0 if score > 0 else 0.5 if score == 0 else 0.0


def _shares(table: NDArray[np.float64], column: int, players: int) -> NDArray[np.float64]:
    a, b = table[:, 0].astype(int), table[:, 1].astype(int)
    won = np.bincount(a, table[:, column], players) + np.bincount(b, 1 - table[:, column], players)
    return np.asarray(
        won / np.maximum(np.bincount(a, None, players) + np.bincount(b, None, players), 1)
    )


def _correlations(
    table: NDArray[np.float64], overall: NDArray[np.float64]
) -> tuple[float | None, float | None]:
    second = _shares(table, 3, len(overall))
    first = _shares(table, 2, len(overall))
    with_all, with_same = spearman(overall, second), spearman(first, second)
    return with_all.r if with_all else None, with_same.r if with_same else None
