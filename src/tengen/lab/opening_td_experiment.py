"""Train the players of Huang 2003 and let them meet: the plays behind Figure 4 and Tables 1 to 5.

The folder of a seed is a run of its own, with one run folder per player in it and `matches.jsonl`;
both are continued, never repeated. `opening_td_tables` counts what was played.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tengen.lab.journal import Journal, Row
from tengen.lab.opening_td import MatchJob, TrainJob, play, train
from tengen.lab.steps import Context
from tengen.learners.opening_td import KIND, SETS, FeatureSet, TDSettings
from tengen.models.runs import Run
from tengen.models.settings import CheckedSettings, setting
from tengen.parallel import map_jobs

ENCODINGS = ("scalar", "binary")


@dataclass(frozen=True)
class TrainingSize(CheckedSettings):
    """How players are trained: which board, how long, by which expert, judged by which referee."""

    games: int = setting(3000, "Training games a player.", least=1)
    expert: str = setting("builtin", "Who finishes the openings of the training.")
    referee: str | None = setting(
        None, "Who finishes those of curves and matches; the expert, if not said."
    )
    rows: int = setting(9, "Board size.", least=2, most=25, option="size")
    komi: float = setting(5.5, "White's compensation.")
    seeds: int = setting(1, "Independent repetitions.", least=1, changeable=True)

    @property
    def terms(self) -> TDSettings:
        """Board, komi and length of the openings, and how long players are trained."""
        return TDSettings(rows=self.rows, komi=self.komi, games=self.games)

    @property
    def judged_by(self) -> str:
        """Who finishes the openings of matches and learning curves."""
        return self.referee or self.expert


@dataclass(frozen=True)
class TablesSize(TrainingSize):
    """Which players meet, how often, and who else judges them."""

    pair_games: int = setting(100, "Games of each match.", least=2)
    curve_games: int = setting(100, "Games of each point of a learning curve.", least=0)
    features: tuple[str, ...] = setting((), "Only these players; all sixteen, if not said.")
    judge: tuple[str, ...] = setting(
        (), "Another expert for some of the openings.", changeable=True
    )
    judge_games: int = setting(
        6000, "Openings that each of them finishes.", least=1, changeable=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for letters in self.features:
            FeatureSet(letters)

    @property
    def sets(self) -> tuple[str, ...]:
        """The players' features."""
        return self.features or SETS


@dataclass(frozen=True)
class Played:
    """The matches of an experiment, by seed, and where its players lie."""

    folder: Path
    size: TablesSize
    matches: dict[int, list[Row]]

    def curve_folder(self, seed: int, features: str, encoding: str) -> Path:
        """Name the run folder of a player."""
        return seed_folder(self.folder, seed) / f"{features}-{encoding}"


def seed_folder(folder: Path, seed: int) -> Path:
    """Name the folder of one repetition."""
    return folder / f"seed-{seed}"


def _train_jobs(folder: Path, size: TablesSize, seed: int) -> list[TrainJob]:
    """List the trainings of one seed: ABCDE measured every 50 games, the others every 500."""
    return [
        TrainJob(
            str(seed_folder(folder, seed) / f"{features}-{encoding}"),
            replace(
                size.terms,
                features=features,
                encoding=encoding,
                expert=size.expert,
                referee=size.judged_by,
                curve_every=50 if features == "ABCDE" else 500,
                curve_games=size.curve_games,
                # Every player draws its own weights and its own games.
                seed=1000 * seed + 2 * size.sets.index(features) + (encoding == "binary"),
            ),
        )
        # Those with the longest learning curves first, so that workers end together.
        for features in sorted(size.sets, key=len, reverse=True)
        for encoding in reversed(ENCODINGS)
    ]


def _match_jobs(folder: Path, size: TablesSize, seed: int) -> dict[str, MatchJob]:
    """Name the matches of one seed: two round robins, and each player against its twin."""
    pairs = [
        ((first, encoding), (second, encoding))
        for encoding in ENCODINGS
        for i, first in enumerate(size.sets)
        for second in size.sets[i + 1 :]
    ]
    pairs += [((features, "binary"), (features, "scalar")) for features in size.sets]
    jobs = {}
    for number, pair in enumerate(pairs):
        names = ["-".join(player) for player in pair]
        a, b = (str(seed_folder(folder, seed) / name / "model.safetensors") for name in names)
        match_seed = 1_000_000 * (seed + 1) + number
        jobs[f"{seed} {names[0]} {names[1]}"] = MatchJob(
            a, b, size.judged_by, size.pair_games, match_seed
        )
    return jobs


def play_tables(context: Context, folder: Path, size: TablesSize) -> Played:
    """Train and match all players of all seeds, continuing what is there."""
    matches = {}
    for number, seed in enumerate(range(context.seed, context.seed + size.seeds)):
        low, high = number / size.seeds, (number + 0.7) / size.seeds
        with Run.open(seed_folder(folder, seed), f"{KIND} tables", size, resume=True):
            jobs = _train_jobs(folder, size, seed)
            tell = context.between(low, high, f"seed {seed}: players trained")
            trained = map_jobs(train, jobs, workers=context.workers, ray=context.ray, ordered=False)
            for done, _ in enumerate(trained, 1):
                tell(done, len(jobs))
            matches[seed] = _matches_of(folder, seed).complete(
                _match_jobs(folder, size, seed), play, workers=context.workers, ray=context.ray,
                tell=context.between(high, (number + 1) / size.seeds, f"seed {seed}: matches"),
            )  # fmt: skip
    return Played(folder, size, matches)


def _matches_of(folder: Path, seed: int) -> Journal:
    """Return the journal of a seed's matches."""
    return Journal(seed_folder(folder, seed) / "matches.jsonl")


def points_of(row: Row) -> float:
    """Return how many games of a match its first player won, draws counting half."""
    return float(sum(1.0 if s > 0 else 0.5 if s == 0 else 0.0 for s in row["scores"]))


def players_of(key: str) -> list[tuple[str, str]]:
    """Return features and encoding of both players of a match, or of one of its games.

    >>> players_of("0 ABC-binary A-scalar")
    [('ABC', 'binary'), ('A', 'scalar')]
    """
    return [(name.split("-")[0], name.split("-")[1]) for name in key.split()[1:3]]


def duplicates(row: Row) -> int:
    """Return how many games of a match repeat an earlier opening."""
    openings: list[Any] = row["openings"]
    return len(openings) - len({tuple(opening) for opening in openings})
