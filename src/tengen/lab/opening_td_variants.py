"""Answer what Huang 2003 left open: train variants of player ABCDE and compare them; print nothing.

Every variant is trained with several seeds and then plays against random openings, against `maxlib`
openings and against the paper's own player of the same seed. Differences are tested over seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tengen.errors import TengenError
from tengen.lab import opening_td as lab
from tengen.lab.opening_td_tables import Sheet, interval, mark
from tengen.learners.opening_td import OpeningTD, play_match
from tengen.models import write_atomic
from tengen.parallel import map_jobs
from tengen.statistics import mean_test

BASE = "paper"

VARIANTS: dict[str, dict[str, Any]] = {
    BASE: {},
    "scalar": {"encoding": "scalar"},
    "mixed": {"encoding": "mixed"},
    "lambda 0.6": {"trace": 0.6},
    "lambda 0.9": {"trace": 0.9},
    "win": {"target": "win"},
    "ownership": {"target": "ownership"},
    "80 hidden": {"hidden": 80},
    "half against random": {"random_opponent": 0.5, "random_plies": 6},
    "against static": {"opponent": "static"},
    "three finishes": {"finishes": 3},
}
"""What each variant changes in the binary player ABCDE trained by self-play."""

OPPONENTS = ("random", "maxlib", BASE)


def chosen(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return these variants and the paper's player, or all; raise `TengenError` for others."""
    for name in names or ():
        if name not in VARIANTS:
            raise TengenError(f"no variant {name!r}; there are: {', '.join(VARIANTS)}")
    return tuple(dict.fromkeys((BASE, *names))) if names else tuple(VARIANTS)


@dataclass(frozen=True)
class VariantPlan:
    """Which variants, how long, with which expert."""

    folder: Path
    seeds: tuple[int, ...] = (0,)
    games: int = 3000
    expert: str = "builtin"
    match_games: int = 400
    variants: tuple[str, ...] = tuple(VARIANTS)
    settings: tuple[tuple[str, Any], ...] = ()
    """Settings of all variants, as pairs, e.g. the board."""
    referee: str | None = None
    """Who judges the comparisons; the expert, if not said."""

    def run_folder(self, name: str, seed: int) -> Path:
        """Name the run folder of one training."""
        return self.folder / f"{name.replace(' ', '-')}-{seed}"

    def train_jobs(self) -> list[lab.TrainJob]:
        """List the trainings."""
        jobs = []
        for seed in self.seeds:
            for name in self.variants:
                changed = {**dict(self.settings), **VARIANTS[name]}
                opponent = changed.pop("opponent", None)
                jobs.append(
                    lab.TrainJob(
                        str(self.run_folder(name, seed)),
                        {**changed, "games": self.games, "seed": seed},
                        self.expert,
                        opponent,
                        curve_games=0,
                        checkpoint_every=500,
                    )
                )
        return jobs


@dataclass(frozen=True)
class CompareJob:
    """One trained variant against one opponent."""

    name: str
    seed: int
    model: str
    opponent: str
    other: str
    expert: str
    games: int


def compare(job: CompareJob) -> dict[str, Any]:
    """Play one comparison."""
    learner = OpeningTD.load(job.model)
    result = play_match(
        learner,
        lab.side_of(job.other),
        lab.expert_of(job.expert),
        games=job.games,
        seed=9_000_000 + job.seed,
        shape=learner.shape,
        komi=learner.komi,
        plies=learner.plies,
    )
    return {
        "key": f"{job.name}|{job.seed}|{job.opponent}",
        "name": job.name,
        "seed": job.seed,
        "opponent": job.opponent,
        "games": result.rate.games,
        "win_rate": result.rate.win_rate,
        "mean_score": result.rate.mean_score,
    }


def run(
    plan: VariantPlan,
    *,
    workers: int = 1,
    ray: str | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Train and compare all variants, continuing what is there; return the table."""
    jobs = plan.train_jobs()
    for number, _ in enumerate(map_jobs(lab.train, jobs, workers=workers, ray=ray, ordered=False)):
        remark(f"{number + 1}/{len(jobs)} variants trained")
    log = plan.folder / "comparisons.jsonl"
    lines = lab.read_lines(log)
    done = {line["key"] for line in lines}
    todo = [
        job for job in _compare_jobs(plan) if f"{job.name}|{job.seed}|{job.opponent}" not in done
    ]
    for line in map_jobs(compare, todo, workers=workers, ray=ray, ordered=False):
        lab.append_line(log, line)
        lines.append(line)
        remark(f"{line['key']}: {line['win_rate']:.1%}")
    value = report(plan, lines)
    write_atomic(plan.folder / "report.json", json.dumps(value, indent=1))
    return value


def _compare_jobs(plan: VariantPlan) -> list[CompareJob]:
    jobs = []
    for seed in plan.seeds:
        base = str(plan.run_folder(BASE, seed) / "model.safetensors")
        for name in plan.variants:
            model = str(plan.run_folder(name, seed) / "model.safetensors")
            for opponent in OPPONENTS:
                if opponent == BASE and (name == BASE or BASE not in plan.variants):
                    continue
                other = base if opponent == BASE else opponent
                judge = plan.referee or plan.expert
                jobs.append(CompareJob(name, seed, model, opponent, other, judge, plan.match_games))
    return jobs


def report(plan: VariantPlan, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return win rates with intervals: over seeds if there are several, else over games.

    `p` tests over seeds whether a variant differs from the paper's player: by the difference of
    their win rates against the same opponent, or by the win rate against it. `significant` says
    what Holm's rule lets stand among all variants against one opponent.
    """
    rates: dict[tuple[str, str], dict[int, float]] = {}
    for line in lines:
        if line["seed"] in plan.seeds:
            rates.setdefault((line["name"], line["opponent"]), {})[line["seed"]] = line["win_rate"]
    table: dict[str, dict[str, Any]] = {name: {} for name in plan.variants}
    for opponent in OPPONENTS:
        base = rates.get((BASE, opponent), {})
        for name in plan.variants:
            own = rates.get((name, opponent), {})
            if not own:
                continue
            low, high = interval(list(own.values()), plan.match_games)
            gaps = [
                own[s] - (0.5 if opponent == BASE else base[s])
                for s in own
                if opponent == BASE or s in base
            ]
            table[name][opponent] = {
                "win_rate": float(np.mean(list(own.values()))),
                "interval": [low, high],
                "seeds": len(own),
                "p": None if name == BASE else mean_test(gaps, 0.0),
            }
        mark([table[name][opponent] for name in plan.variants if opponent in table[name]])
    return {
        "games": plan.games,
        "expert": plan.expert,
        "referee": plan.referee or plan.expert,
        "match_games": plan.match_games,
        "seeds": list(plan.seeds),
        "variants": table,
    }


def sheets(value: dict[str, Any]) -> list[Sheet]:
    """Return the table of a report, ready to print."""
    rows = []
    for name, entries in value["variants"].items():
        cells = [name]
        for opponent in OPPONENTS:
            entry = entries.get(opponent)
            if entry is None:
                cells.append("")
                continue
            low, high = entry["interval"]
            text = f"{100 * entry['win_rate']:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            if entry["p"] is not None:
                text += f" p={entry['p']:.3f}" + ("*" if entry["significant"] else "")
            cells.append(text)
        rows.append(tuple(cells))
    title = f"Variants of ABCDE after {value['games']} games: wins in %, against"
    return [(title, ["variant", *OPPONENTS], rows)]
