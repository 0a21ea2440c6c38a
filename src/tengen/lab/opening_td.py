"""Train opening players in run folders and repeat the tables of Huang 2003; print nothing.

A run folder holds `config.toml` (what was asked), `metrics.jsonl` (the learning curve),
`checkpoints/` and, when it is done, `model.safetensors`. An experiment's folder holds one run
folder per player and `matches.jsonl` with every match that was played; both are continued, never
repeated.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w

from tengen.contracts import Expert
from tengen.errors import TengenError
from tengen.learners.opening_td import (
    SETS,
    OpeningTD,
    PlayoutJudge,
    Trainer,
    play_match,
)
from tengen.learners.opening_td.matches import RANDOM_NAME, Side
from tengen.models import Checkpoints, write_atomic
from tengen.parallel import map_jobs
from tengen.statistics import Rate

ENCODINGS = ("scalar", "binary")
PAIR_GAMES = 100


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
def side_of(spec: str) -> Side:
    """Make a side of a match: `random`, a model's file, or a player's spec."""
    if spec == RANDOM_NAME:
        return RANDOM_NAME
    if spec.endswith(".safetensors"):
        return OpeningTD.load(spec)
    from tengen.players.spec import make_player

    return make_player(spec)


# ----- One training -----


@dataclass(frozen=True)
class TrainJob:
    """One player to train in its folder; `referee` judges its learning curve, else the expert."""

    folder: str
    settings: dict[str, Any]
    expert: str = "builtin"
    opponent: str | None = None
    curve_every: int = 50
    curve_games: int = 100
    checkpoint_every: int = 250
    until: int | None = None
    referee: str | None = None


def train(
    job: TrainJob, on_game: Callable[[OpeningTD], None] | None = None
) -> list[dict[str, Any]]:
    """Train one player, from its last checkpoint if there is one; return its learning curve."""
    folder = Path(job.folder)
    finished = folder / "model.safetensors"
    curve: dict[str, Any] = {"curve": []}
    learner = OpeningTD(**job.settings)
    if finished.is_file() and OpeningTD.load(finished).games_ >= learner.games:
        return read_lines(folder / "metrics.jsonl")
    write_atomic(folder / "config.toml", tomli_w.dumps(_config(job)))
    expert, referee = expert_of(job.expert), expert_of(job.referee or job.expert)

    def measure(learner: OpeningTD) -> None:
        if job.curve_games and learner.games_ % job.curve_every == 0:
            curve["curve"].append(curve_point(learner, referee, job.curve_games))
            text = "".join(json.dumps(point) + "\n" for point in curve["curve"])
            write_atomic(folder / "metrics.jsonl", text)

    def after_game(learner: OpeningTD, _: object) -> None:
        measure(learner)
        if on_game is not None:
            on_game(learner)

    opponent = None if job.opponent in (None, "self") else side_of(str(job.opponent))
    if isinstance(opponent, (str, OpeningTD)):
        raise TengenError(f"opponent {job.opponent!r}: for random moves use --random-opponent 1")
    trainer = Trainer(
        learner,
        expert,
        opponent,
        checkpoints=Checkpoints(folder / "checkpoints", keep=2),
        every=job.checkpoint_every,
        on_game=after_game,
        state=curve,
    )
    if not trainer.checkpoints or trainer.checkpoints.latest() is None:
        measure(learner.initialise())
    trainer.run(job.until)
    if learner.games_ >= learner.games:
        learner.save(finished, data=f"{learner.games_} openings judged by {job.expert}")
    return list(curve["curve"])


def curve_point(learner: OpeningTD, expert: Expert, games: int) -> dict[str, Any]:
    """Play against random and return one point of the learning curve."""
    begin = time.process_time()
    result = play_match(
        learner,
        RANDOM_NAME,
        expert,
        games=games,
        seed=1_000_003 * (learner.seed + 1) + learner.games_,
        shape=learner.shape,
        komi=learner.komi,
        plies=learner.plies,
    )
    return {
        "games": learner.games_,
        "win_rate": result.rate.win_rate,
        "interval": list(result.rate.interval),
        "mean_score": result.rate.mean_score,
        "seconds": round(time.process_time() - begin, 3),
    }


def _config(job: TrainJob) -> dict[str, Any]:
    """Return everything a run depends on, as TOML can hold it."""
    settings = {**OpeningTD(**job.settings).settings()}
    kept = {key: value for key, value in settings.items() if value is not None}
    return {
        "learner": "opening-td",
        "expert": job.expert,
        "referee": job.referee or job.expert,
        "opponent": job.opponent or "self",
        "curve_every": job.curve_every,
        "curve_games": job.curve_games,
        "settings": kept,
    }


def read_job(folder: Path) -> TrainJob:
    """Return the job that a run folder was made for.

    Raises
    ------
    TengenError
        If there is no run, or its `config.toml` is not one of ours.
    """
    path = folder / "config.toml"
    if not path.is_file():
        raise TengenError(f"{folder}: no run to resume")
    try:
        config = tomllib.loads(path.read_text())
        settings = dict(config["settings"])
        OpeningTD(**settings).check()
        return TrainJob(
            str(folder),
            settings,
            config["expert"],
            None if config["opponent"] == "self" else config["opponent"],
            config["curve_every"],
            config["curve_games"],
            referee=config.get("referee"),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, TengenError) as failure:
        raise TengenError(f"{path}: is not the configuration of a run ({failure})") from None


# ----- The paper's experiment -----


@dataclass(frozen=True)
class MatchJob:
    """One match between two players of an experiment."""

    key: str
    a: str
    b: str
    expert: str
    games: int
    seed: int


@dataclass(frozen=True)
class Plan:
    """An experiment: which players, how long, taught by which expert, judged by which referee."""

    folder: Path
    seeds: tuple[int, ...] = (0,)
    games: int = 3000
    expert: str = "builtin"
    pair_games: int = PAIR_GAMES
    sets: tuple[str, ...] = SETS
    settings: dict[str, Any] = field(default_factory=dict)
    curve_games: int = 100
    referee: str | None = None

    @property
    def judge(self) -> str:
        """Who finishes the openings of matches and learning curves."""
        return self.referee or self.expert

    def player_folder(self, seed: int, features: str, encoding: str) -> Path:
        """Name the run folder of a player."""
        return self.folder / f"seed-{seed}" / f"{features}-{encoding}"

    def train_jobs(self, seed: int) -> list[TrainJob]:
        """List the trainings of one seed: ABCDE measured every 50 games, the others every 500."""
        return [
            TrainJob(
                str(self.player_folder(seed, features, encoding)),
                {
                    **self.settings,
                    "features": features,
                    "encoding": encoding,
                    "games": self.games,
                    # Every player draws its own weights and its own games.
                    "seed": 1000 * seed + 2 * self.sets.index(features) + (encoding == "binary"),
                },
                self.expert,
                curve_every=50 if features == "ABCDE" else 500,
                curve_games=self.curve_games,
                checkpoint_every=500,
                referee=self.judge,
            )
            # Those with the longest learning curves first, so that workers end together.
            for features in sorted(self.sets, key=len, reverse=True)
            for encoding in reversed(ENCODINGS)
        ]

    def match_jobs(self, seed: int) -> list[MatchJob]:
        """List the matches of one seed: two round robins, and each player against its twin."""
        jobs: list[MatchJob] = []

        def add(a: tuple[str, str], b: tuple[str, str]) -> None:
            files = [
                str(self.player_folder(seed, *player) / "model.safetensors") for player in (a, b)
            ]
            key = f"{seed} {'-'.join(a)} {'-'.join(b)}"
            number = 1_000_000 * (seed + 1) + len(jobs)
            jobs.append(MatchJob(key, files[0], files[1], self.judge, self.pair_games, number))

        for encoding in ENCODINGS:
            for i, first in enumerate(self.sets):
                for second in self.sets[i + 1 :]:
                    add((first, encoding), (second, encoding))
        for features in self.sets:
            add((features, "binary"), (features, "scalar"))
        return jobs


def play(job: MatchJob) -> dict[str, Any]:
    """Play one match and return it as a line of `matches.jsonl`."""
    begin = time.process_time()
    a = OpeningTD.load(job.a)
    result = play_match(
        a,
        side_of(job.b),
        expert_of(job.expert),
        games=job.games,
        seed=job.seed,
        shape=a.shape,
        komi=a.komi,
        plies=a.plies,
    )
    return {
        "key": job.key,
        "expert": job.expert,
        "games": result.rate.games,
        "points": result.rate.games * result.rate.win_rate,
        "mean_score": result.rate.mean_score,
        "duplicates": result.duplicates,
        "seconds": round(time.process_time() - begin, 3),
        "openings": result.openings,
        "scores": result.scores,
    }


def run(
    plan: Plan,
    *,
    workers: int = 1,
    ray: str | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Train and match all players of a plan, continuing what is there; return all matches."""
    lines: list[dict[str, Any]] = []
    for seed in plan.seeds:
        begin = time.monotonic()
        jobs = plan.train_jobs(seed)
        for number, _ in enumerate(map_jobs(train, jobs, workers=workers, ray=ray, ordered=False)):
            remark(f"seed {seed}: {number + 1}/{len(jobs)} players trained")
        log = plan.folder / f"seed-{seed}" / "matches.jsonl"
        lines_of_seed = read_lines(log)
        done = {line["key"] for line in lines_of_seed}
        todo = [job for job in plan.match_jobs(seed) if job.key not in done]
        results = map_jobs(play, todo, workers=workers, ray=ray, ordered=False)
        for number, line in enumerate(results):
            append_line(log, line)
            lines_of_seed.append(line)
            if number % 20 == 19:
                remark(f"seed {seed}: {number + 1}/{len(todo)} matches played")
        if todo:
            remark(f"seed {seed}: done after {time.monotonic() - begin:.0f} s")
        lines += lines_of_seed
    return lines


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines; a last line that was cut off is left out, no file is no line."""
    if not path.is_file():
        return []
    lines = []
    for text in path.read_text().splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:
            break
    if path.name != "metrics.jsonl" and not path.read_text().endswith("\n") and lines:
        write_atomic(path, "".join(json.dumps(line) + "\n" for line in lines))
    return lines


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Add one line to a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def all_of(jobs: Iterable[TrainJob], workers: int, ray: str | None) -> list[list[dict[str, Any]]]:
    """Train several players side by side; return their curves in order."""
    return list(map_jobs(train, jobs, workers=workers, ray=ray))


# ----- Evaluation -----


@dataclass(frozen=True)
class PartJob:
    """A part of an evaluation: some of its games."""

    model: str
    opponent: str
    expert: str
    games: int
    seed: int
    random_plies: int | None


def play_part(job: PartJob) -> list[float]:
    """Play some games of an evaluation; return their scores."""
    learner = OpeningTD.load(job.model)
    result = play_match(
        learner,
        side_of(job.opponent),
        expert_of(job.expert),
        games=job.games,
        seed=job.seed,
        random_plies=job.random_plies,
        shape=learner.shape,
        komi=learner.komi,
        plies=learner.plies,
        batch=10,
    )
    return result.scores


def evaluate(
    model: str,
    opponent: str,
    expert: str,
    *,
    games: int,
    seed: int = 0,
    random_plies: int | None = None,
    workers: int = 1,
    log: Path | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Play a model's openings against an opponent, finished by an expert, in parts of 50 games.

    Parts are noted in `log`; a stopped evaluation with the same settings goes on from there.
    """
    jobs = [
        PartJob(
            model, opponent, expert, min(50, games - first), seed * 100_003 + first, random_plies
        )
        for first in range(0, games, 50)
    ]
    known = {json.dumps(line["job"]): line for line in read_lines(log)} if log else {}
    parts = [known.get(json.dumps(asdict(job))) for job in jobs]
    todo = [job for job, part in zip(jobs, parts, strict=True) if part is None]
    played = iter(map_jobs(play_part, todo, workers=workers))
    scores: list[float] = []
    for job, part in zip(jobs, parts, strict=True):
        if part is None:
            part = {"job": asdict(job), "scores": next(played)}
            if log is not None:
                append_line(log, part)
        scores += part["scores"]
        if len(jobs) > 1:
            remark(f"{len(scores)}/{games} games: {Rate.of(scores).win_rate:.1%}")
    rate = Rate.of(scores)
    return {
        "model": model,
        "games": rate.games,
        "opponent": opponent,
        "expert": expert,
        "win_rate": rate.win_rate,
        "interval": list(rate.interval),
        "mean_score": rate.mean_score,
    }
