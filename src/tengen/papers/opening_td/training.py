"""Trainings of opening players, and matches between them, as jobs that continue after a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from tengen.errors import TengenError
from tengen.lab.steps import Journal, LabContext, Row
from tengen.models.runs import Run, read_metrics
from tengen.papers.opening_td.learner import RANDOM_NAME, OpeningTD, Side, play_match
from tengen.papers.opening_td.settings import SELF, TDSettings
from tengen.parallel import map_jobs
from tengen.players import make_expert, make_player
from tengen.progress import OnStep
from tengen.statistics import Rate

_PART = 50  # games of an evaluation that are played and stored together
_MODEL = "model.safetensors"


@cache
def _side_of(spec: str) -> Side:
    """Make a side of a match: `random`, a model's file, or a player's spec."""
    if spec == RANDOM_NAME:
        return RANDOM_NAME
    return OpeningTD.load(spec) if spec.endswith(".safetensors") else make_player(spec)


# ----- One player -----


@dataclass(frozen=True)
class TrainJob:
    """One player to train in its folder."""

    folder: str
    settings: TDSettings
    resume: bool = True

    @property
    def model(self) -> str:
        """The file of the trained player."""
        return str(Path(self.folder) / _MODEL)


def train(job: TrainJob, on_game: Callable[[int], None] = lambda games: None) -> list[Row]:
    """Train one player, continuing its run; return its learning curve."""
    settings = job.settings
    name = settings.opponent
    opponent = None if name == SELF else _side_of(name)
    if isinstance(opponent, str | OpeningTD):
        raise TengenError(f"opponent {name!r}: for random moves set random_opponent to 1")
    expert, referee = make_expert(settings.expert), make_expert(settings.referee or settings.expert)
    with Run.open(job.folder, OpeningTD.kind, settings, resume=job.resume) as run:
        learner = OpeningTD(settings=settings)
        learner.fit(expert, opponent, referee=referee, run=run, on_game=on_game)
        learner.save(job.model, data=f"{settings.games} openings judged by {settings.expert}")
    return curve_of(job.folder)


def curve_of(folder: str | Path) -> list[Row]:
    """Return the learning curve of a run: games, win_rate, interval, mean_score of each point."""
    return [{"games": row.pop("step"), **row} for row in read_metrics(folder)]


@dataclass(frozen=True)
class MatchJob:
    """Some games of a trained player, given by its file or name, against any side."""

    model: str
    opponent: str
    expert: str
    games: int
    seed: int
    random_plies: int | None = None


def play(job: MatchJob) -> Row:
    """Play one match; scores are from the player's view, `repeats` counts openings seen before."""
    match = play_match(
        OpeningTD.load(job.model), _side_of(job.opponent), make_expert(job.expert),
        games=job.games, seed=job.seed, random_plies=job.random_plies,
    )  # fmt: skip
    repeats = len(match.openings) - len({tuple(opening) for opening in match.openings})
    return {"scores": match.scores, "repeats": repeats}


def evaluate(
    job: MatchJob,
    *,
    workers: int = 1,
    ray: str | None = None,
    log: Path | None = None,
    on_step: OnStep = lambda done, total: None,
) -> Row:
    """Play a model's openings against an opponent, in parts of 50 games, which `log` stores."""
    who = {"model": job.model, "opponent": job.opponent, "expert": job.expert}
    scores = scores_of(job, workers=workers, ray=ray, log=log, on_step=on_step)
    return {**who, **asdict(Rate.of(scores))}


def scores_of(
    job: MatchJob,
    *,
    workers: int = 1,
    ray: str | None = None,
    log: Path | None = None,
    on_step: OnStep = lambda done, total: None,
) -> list[float]:
    """Play as `evaluate` does; return the score of every game, from the model's view."""
    parts = [
        replace(job, games=min(_PART, job.games - first), seed=job.seed * 100_003 + first)
        for first in range(0, job.games, _PART)
    ]
    jobs = {repr(part): part for part in parts}
    rows = Journal(log).complete(jobs, play, workers=workers, ray=ray, on_step=on_step)
    return [score for row in rows for score in row["scores"]]


# ----- Players of an experiment -----

Players = Mapping[str, TDSettings]
"""The players of an experiment by name; every training of them has its own seed."""


@dataclass(frozen=True)
class Trained:
    """The trainings of an experiment's players in a folder, by seed and by player."""

    place: Path
    jobs: Mapping[tuple[int, str], TrainJob]

    @classmethod
    def of(cls, place: Path, players: Players, seeds: Iterable[int]) -> Trained:
        """List the trainings: every player has its own weights and its own games."""
        jobs = {}
        for seed in seeds:
            for number, (name, settings) in enumerate(players.items()):
                folder = place / f"seed-{seed}" / name
                own = replace(settings, seed=1000 * seed + number)
                jobs[seed, name] = TrainJob(str(folder), own)
        return cls(place, jobs)

    def only(self, wanted: Callable[[int, str], bool]) -> Trained:
        """Return only those trainings for which `wanted(seed, player)` holds."""
        return replace(self, jobs={key: job for key, job in self.jobs.items() if wanted(*key)})

    def train(self, context: LabContext, until: float) -> Trained:
        """Do the trainings that are not finished; they are `until` of the step."""
        on_step = context.between(0.0, until, "players trained")
        # The longest first, so that workers end together.
        jobs = sorted(self.jobs.values(), key=lambda job: job.settings.n_inputs, reverse=True)
        found = map_jobs(train, jobs, workers=context.workers, ray=context.ray, ordered=False)
        for done, _ in enumerate(found, 1):
            on_step(done, len(jobs))
        return self

    def curves(self) -> list[Row]:
        """Return the points of all learning curves as rows."""
        return [
            {
                "seed": seed, "player": name, "openings": point["games"],
                "games": job.settings.curve_games,
                "wins": round(2 * point["win_rate"] * job.settings.curve_games) / 2,
                "mean_score": point["mean_score"],
            }
            for (seed, name), job in self.jobs.items()
            for point in curve_of(job.folder)
        ]  # fmt: skip

    def matches(
        self,
        context: LabContext,
        pairs: Sequence[tuple[str, str]],
        games: int,
        referee: str,
        since: float,
    ) -> list[Row]:
        """Play the pairs of every seed; return one row per match.

        The second of a pair may be any player's spec. The matches begin at `since` of the step.
        """
        seeds = sorted({seed for seed, _ in self.jobs})
        jobs = {}
        for seed in seeds:
            for number, (a, b) in enumerate(pairs):
                if (seed, a) in self.jobs:
                    other = self.jobs.get((seed, b))
                    opponent = b if other is None else other.model
                    start = 1_000_000 * (seed + 1) + number
                    model = self.jobs[seed, a].model
                    jobs[f"{seed} {a} {b}"] = MatchJob(model, opponent, referee, games, start)
        found = Journal(self.place / "matches.jsonl").complete(
            jobs, play, workers=context.workers, ray=context.ray,
            on_step=context.between(since, 1.0, "matches"),
        )  # fmt: skip
        rows = []
        for row in found:
            seed, a, b = row["key"].split(" ", 2)
            rate = Rate.of(row["scores"])
            rows.append(
                {
                    "seed": int(seed), "a": a, "b": b, "games": rate.games,
                    "wins": rate.win_rate * rate.games, "mean_score": rate.mean_score,
                    "repeats": row["repeats"],
                }
            )  # fmt: skip
        return rows
