"""Train and evaluate opening players whose experts and opponents are named by specs; print nothing.

A training stands in a run folder with `model.safetensors` when it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tengen.contracts import Expert
from tengen.errors import TengenError
from tengen.lab.journal import Journal
from tengen.learners.opening_td import (
    KIND,
    SELF,
    OpeningTD,
    PlayoutJudge,
    Side,
    TDSettings,
    play_match,
)
from tengen.learners.opening_td.training import RANDOM_NAME
from tengen.models.runs import Run, read_metrics
from tengen.statistics import Rate

_PART = 50
"""Games of an evaluation that are played and noted together."""


@cache
def expert_of(spec: str) -> Expert:
    """Make an expert from `builtin`, a player's spec, or `playouts:N` (a judge without play)."""
    if spec.partition(":")[0] == "playouts":
        number = spec.partition(":")[2] or "64"
        if not number.isdigit() or int(number) < 1:
            raise TengenError(f"expert {spec!r}: after playouts: comes a number")
        return PlayoutJudge(int(number))
    from tengen.players.spec import make_expert

    return make_expert(spec)


@cache
def _side_of(spec: str) -> Side:
    """Make a side of a match: `random`, a model's file, or a player's spec."""
    if spec == RANDOM_NAME:
        return RANDOM_NAME
    if spec.endswith(".safetensors"):
        return OpeningTD.load(spec)
    from tengen.players.spec import make_player

    return make_player(spec)


# ----- Training -----


@dataclass(frozen=True)
class TrainJob:
    """One player to train in its folder."""

    folder: str
    settings: TDSettings
    resume: bool = True

    @property
    def model(self) -> str:
        """Where the trained player lies."""
        return str(Path(self.folder) / "model.safetensors")


def train(
    job: TrainJob, on_game: Callable[[int], None] = lambda games: None
) -> list[dict[str, Any]]:
    """Train one player, from where its run stands; return its learning curve."""
    settings = job.settings
    opponent = None if settings.opponent == SELF else _side_of(settings.opponent)
    if isinstance(opponent, str | OpeningTD):
        raise TengenError(
            f"opponent {settings.opponent!r}: for random moves use --random-opponent 1"
        )
    expert, referee = expert_of(settings.expert), expert_of(settings.referee or settings.expert)
    with Run.open(job.folder, KIND, settings, resume=job.resume) as run:
        done = run.start is not None and run.start.step >= settings.games
        if not (done and Path(job.model).is_file()):
            learner = OpeningTD(settings=settings)
            learner.fit(expert, opponent, referee=referee, run=run, on_game=on_game)
            learner.save(job.model, data=f"{settings.games} openings judged by {settings.expert}")
    return curve_of(job.folder)


def curve_of(folder: str | Path) -> list[dict[str, Any]]:
    """Return the learning curve of a run: games, win_rate, interval, mean_score of each point."""
    return [
        {"games": row["step"], **{key: value for key, value in row.items() if key != "step"}}
        for row in read_metrics(folder)
    ]


# ----- Matches -----


@dataclass(frozen=True)
class MatchJob:
    """Some games of a trained player, by its file or name, against any side."""

    model: str
    opponent: str
    expert: str
    games: int
    seed: int
    random_plies: int | None = None


def play(job: MatchJob) -> dict[str, Any]:
    """Play one match; the scores are the player's."""
    match = play_match(
        OpeningTD.load(job.model),
        _side_of(job.opponent),
        expert_of(job.expert),
        games=job.games,
        seed=job.seed,
        random_plies=job.random_plies,
    )
    return {"expert": job.expert, "scores": match.scores, "openings": match.openings}


def evaluate(
    job: MatchJob,
    *,
    workers: int = 1,
    log: Path | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Any]:
    """Play a model's openings against an opponent, in parts of 50 games.

    Parts are noted in `log`; a stopped evaluation with the same settings goes on from there.
    """
    parts = {}
    for first in range(0, job.games, _PART):
        games, seed = min(_PART, job.games - first), job.seed * 100_003 + first
        part = MatchJob(job.model, job.opponent, job.expert, games, seed, job.random_plies)
        parts[repr(part)] = part
    rows = Journal(log).complete(parts, play, workers=workers, tell=tell)
    rate = Rate.of([score for row in rows for score in row["scores"]])
    return {
        "model": job.model, "opponent": job.opponent, "expert": job.expert, **asdict(rate),
    }  # fmt: skip
