"""Answer what Huang 2003 left open: train variants of player ABCDE and compare them; print nothing.

Every variant is trained with several seeds and then plays against random openings, against `maxlib`
openings and against the paper's own player of the same seed. Differences are tested over seeds.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from tengen.errors import SpecError
from tengen.lab.content import Table, table
from tengen.lab.journal import Journal, Row
from tengen.lab.opening_td import MatchJob, TrainJob, play, train
from tengen.lab.opening_td_experiment import TrainingSize
from tengen.lab.opening_td_tables import interval_of, mark
from tengen.lab.steps import Context
from tengen.learners.opening_td import KIND
from tengen.models.runs import Run
from tengen.models.settings import setting
from tengen.parallel import map_jobs
from tengen.statistics import Rate, mean_test

_BASE = "paper"

_VARIANTS: dict[str, dict[str, Any]] = {
    _BASE: {},
    "scalar": {"encoding": "scalar"},
    "mixed": {"encoding": "mixed"},
    "lambda 0.6": {"trace": 0.6},
    "lambda 0.9": {"trace": 0.9},
    "80 hidden": {"hidden": 80},
    "half against random": {"random_opponent": 0.5, "random_plies": 6},
    "against static": {"opponent": "static"},
}
"""What each variant changes in the binary player ABCDE trained by self-play."""

_OPPONENTS = ("random", "maxlib", _BASE)


@dataclass(frozen=True)
class VariantsSize(TrainingSize):
    """Which variants, how long, with which expert."""

    match_games: int = setting(400, "Games of each comparison.", least=1)
    only: tuple[str, ...] = setting(
        (), "Only these variants, and the paper's player.", changeable=True
    )

    @classmethod
    def like(cls, size: TrainingSize, only: tuple[str, ...] = ()) -> Self:
        """Return the variants trained as another experiment's players are."""
        common = {field.name: getattr(size, field.name) for field in fields(TrainingSize)}
        return cls(**common, only=only)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.only:
            if name not in _VARIANTS:
                raise SpecError(f"no variant {name!r}; there are: {', '.join(_VARIANTS)}")

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants to train, the paper's player first."""
        return tuple(dict.fromkeys((_BASE, *self.only))) if self.only else tuple(_VARIANTS)


def _train_job(folder: Path, size: VariantsSize, name: str, seed: int) -> TrainJob:
    """Return the training of one variant."""
    settings = replace(size.terms, expert=size.expert, curve_games=0, seed=seed, **_VARIANTS[name])
    return TrainJob(str(folder / f"{name.replace(' ', '-')}-{seed}"), settings)


def _match_jobs(folder: Path, size: VariantsSize, seeds: range) -> dict[str, MatchJob]:
    """Name the comparisons."""
    jobs = {}
    for seed in seeds:
        base = _train_job(folder, size, _BASE, seed).model
        for name in size.variants:
            model = _train_job(folder, size, name, seed).model
            for opponent in _OPPONENTS[:2] if name == _BASE else _OPPONENTS:
                other = base if opponent == _BASE else opponent
                referee, number = size.judged_by, 9_000_000 + seed
                job = MatchJob(model, other, referee, size.match_games, number)
                jobs[f"{name}|{seed}|{opponent}"] = job
    return jobs


def play_variants(context: Context, folder: Path, size: VariantsSize) -> dict[str, Any]:
    """Train and compare all variants, continuing what is there; return the table's numbers."""
    seeds = range(context.seed, context.seed + size.seeds)
    with Run.open(folder, f"{KIND} variants", size, resume=True):
        jobs = [_train_job(folder, size, name, seed) for seed in seeds for name in size.variants]
        tell = context.between(0.0, 0.8, "variants trained")
        trained = map_jobs(train, jobs, workers=context.workers, ray=context.ray, ordered=False)
        for done, _ in enumerate(trained, 1):
            tell(done, len(jobs))
        rows = Journal(folder / "comparisons.jsonl").complete(
            _match_jobs(folder, size, seeds), play, workers=context.workers, ray=context.ray,
            tell=context.between(0.8, 1.0, "comparisons"),
        )  # fmt: skip
    return _report(size, rows)


def _report(size: VariantsSize, rows: list[Row]) -> dict[str, Any]:
    """Return win rates with intervals: over seeds if there are several, else over games.

    `p` tests over seeds whether a variant differs from the paper's player: by the difference of
    their win rates against the same opponent, or by the win rate against it. `significant` says
    what Holm's rule lets stand among all variants against one opponent.
    """
    rates: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        name, seed, opponent = row["key"].split("|")
        rates.setdefault((name, opponent), {})[int(seed)] = Rate.of(row["scores"]).win_rate
    entries: dict[str, dict[str, Any]] = {name: {} for name in size.variants}
    for opponent in _OPPONENTS:
        base = rates.get((_BASE, opponent), {})
        for name in size.variants:
            own = rates.get((name, opponent), {})
            if not own:
                continue
            values = list(own.values())
            gaps = [rate - (0.5 if opponent == _BASE else base[seed]) for seed, rate in own.items()]
            entries[name][opponent] = {
                "win_rate": sum(values) / len(values),
                "interval": list(interval_of(values, size.match_games) or (0.0, 1.0)),
                "seeds": len(values),
                "p": None if name == _BASE else mean_test(gaps, 0.0),
            }
        mark([entries[name][opponent] for name in size.variants if opponent in entries[name]])
    return {
        "games": size.games,
        "expert": size.expert,
        "referee": size.judged_by,
        "match_games": size.match_games,
        "seeds": sorted({seed for found in rates.values() for seed in found}),
        "variants": entries,
    }


def sheet(value: dict[str, Any]) -> Table:
    """Return the table of a report."""
    rows = []
    for name, entries in value["variants"].items():
        cells = [name]
        for opponent in _OPPONENTS:
            entry = entries.get(opponent)
            if entry is None:
                cells.append("")
                continue
            low, high = entry["interval"]
            text = f"{100 * entry['win_rate']:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            if entry["p"] is not None:
                text += f" p={entry['p']:.3f}" + ("*" if entry["significant"] else "")
            cells.append(text)
        rows.append(cells)
    title = f"Variants of ABCDE after {value['games']} games: wins in %, against"
    return table(title, ["variant", *_OPPONENTS], rows)
