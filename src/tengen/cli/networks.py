"""The commands `train` and `evaluate` for networks: on games, and by self-play."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from tengen.commands import Learner, Resumable, RunOfModel, Seed, Shown, WorkOptions, flag, option
from tengen.errors import SpecError
from tengen.extras import need
from tengen.files import refuse_inputs
from tengen.network.settings import DistillationSettings, LabellingSettings, NetworkSettings
from tengen.self_play.settings import SelfPlaySettings

if TYPE_CHECKING:
    from tengen.network import Shard
    from tengen.network.shards import Made

_Games = Annotated[
    list[str],
    typer.Argument(help="SGF files, folders or archives, or folders of shards or of answers."),
]
_ScorerOption = Annotated[
    str, typer.Option("--scorer", help="Confirms counted scores; 'none' for no confirmation.")
]


def train_network(
    games: _Games,
    settings: NetworkSettings,
    taught: DistillationSettings,
    labelling: LabellingSettings,
    training: RunOfModel,
    start: str | None = option(None, "Start with the weights of this network."),
    teacher: Path | None = option(
        None,
        "Learn from the answers of this network of KataGo (.bin.gz); by default with "
        "design judge, 28000 steps and a rate of 0.0035.",
    ),
    teacher_source: str = option("", "Source and licence of the teacher, for the card."),
    device: str = option("auto", "cpu, cuda or auto."),
    scorer: _ScorerOption = "scorer",
    confirmed: bool = flag("--confirmed", "Use only games whose count the scorer confirms."),
    shards_only: bool = flag(
        "--shards-only", "Write the games as shards to the folder --out, to train on them later."
    ),
    answers_only: bool = flag(
        "--answers-only", "Write the teacher's answers to the folder --out, to train on them later."
    ),
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Train a network on games, or on a teacher's answers; each path is a separate source."""
    folder, out = training.folder, training.out
    make = partial(_make_shards, scorer=scorer, confirmed=confirmed, work=work, shown=shown)
    if shards_only:
        _show_shards(make(games, out), out, shown)
        return
    if answers_only and teacher is None:
        raise SpecError("--answers-only needs --teacher")
    refuse_inputs(out, filter(None, [*games, start, None if teacher is None else str(teacher)]))
    need("torch", "torch")
    from tengen.models import Run
    from tengen.network import DeepNetwork
    from tengen.network.engine import chosen_device
    from tengen.network.katago import Teacher
    from tengen.network.labelling import Answers, is_answers, label
    from tengen.network.settings import check_design
    from tengen.network.shards import fingerprint_of, shards_of

    device = chosen_device(device)
    kept = teacher is None and any(map(is_answers, games))
    chosen = _settings(
        training, settings, taught, labelling, teacher=teacher is not None, kept=kept
    )
    first = None if start is None else DeepNetwork.load(start)
    check_design(chosen, None if first is None else first.design_)
    sources: list[list[Shard]] = []
    if not kept:
        shards = folder.with_name(folder.name + "-shards")
        sources = [shards_of(p, shards, partial(make, [p]), scorer, confirmed) for p in games]
    data = {f"games {i}": fingerprint_of(source) for i, source in enumerate(sources)}
    answers = Answers.find(games) if kept else None
    if teacher is not None:
        place = out if answers_only else folder.with_name(folder.name + "-answers")
        if training.resume and is_answers(place):
            labelling = Answers.find([place]).settings_with(labelling, training.given)
        answers = label(
            list(itertools.chain(*sources)), Teacher(teacher, source=teacher_source), labelling,
            place, device=device, on_row=lambda row: shown.remark(_batch_line(row, 0)),
        )  # fmt: skip
    if answers is not None and answers_only:
        result = {"games": answers.games, "positions": answers.positions}
        shown.result({"answers": str(out), **result}, f"Answers in {out}")
        return
    if answers is not None:
        data = {"answers": answers.fingerprint}
    data |= {} if start is None else {"start": Path(start).stem}
    network = DeepNetwork(settings=chosen)
    learner = "network" if answers is None else "network with a teacher"
    with Run.open(folder, learner, chosen, data=data, resume=training.resume) as held:
        network.fit(
            sources if answers is None else answers, device=device, start=first, run=held,
            on_row=lambda row: shown.remark(_batch_line(row, chosen.steps)),
        )  # fmt: skip
        number = sum(map(len, itertools.chain(*sources))) if answers is None else answers.games
        read = f"{number} games of {', '.join(Path(path).name for path in games)}"
        network.save(out, name=out.stem, data=read)
    shown.result({"model": str(out), "games": number, "free_parameters": network.free_parameters})


def _show_shards(made: Made, out: Path, shown: Shown) -> None:
    numbers = ("games", "positions", "passed_over", "counted", "labelled")
    result = {"shards": [str(path) for path in made.files]}
    shown.result(result | {name: getattr(made, name) for name in numbers}, f"Shards in {out}")


def _settings(
    training: RunOfModel,
    settings: NetworkSettings,
    taught: DistillationSettings,
    labelling: LabellingSettings,
    *,
    teacher: bool,
    kept: bool,
) -> NetworkSettings | DistillationSettings:
    """Return the settings of a training; refuse options that it has no use for."""
    chosen: NetworkSettings | DistillationSettings = taught if teacher or kept else settings
    labels = {field.name for field in fields(labelling)}
    useful = {field.name for field in fields(chosen)} | (labels if teacher else set())
    for name in sorted(training.given - useful):
        why = "needs" if chosen is settings or name in labels else "has no use with"
        raise SpecError(f"--{name.replace('_', '-')} {why} --teacher")
    return training.settings(training.folder, chosen)


def evaluate_network(
    games: _Games,
    model: str = option("tengen-large", "Name or path of a network."),
    scorer: _ScorerOption = "scorer",
    every: int = option(1, "Evaluate only every N-th position.", min=1),
    workers: int | None = option(None, "Threads; by default the number of cores.", min=1),
    rows: Path | None = option(None, "Folder for a row per game, and how they were made."),
    *,
    shown: Shown,
) -> None:
    """Measure a network on games."""
    from tengen.network import DeepNetwork
    from tengen.network.evaluation import evaluate as measure
    from tengen.network.shards import shards_of

    network = DeepNetwork.load(model)
    make = partial(_make_shards, scorer=scorer, confirmed=False, work=WorkOptions(), shown=shown)
    with tempfile.TemporaryDirectory() as folder:
        found: list[Shard] = []
        for path in games:
            found += shards_of(path, Path(folder), partial(make, [path]), scorer, False)
        began, spent = time.perf_counter(), time.process_time()
        by_game: list[dict[str, float]] = []
        with shown.progress() as bar:

            def count(row: dict[str, float]) -> None:
                by_game.append(row)
                bar.advance("games", total=sum(map(len, found)))

            threads = workers or os.cpu_count() or 1
            result = measure(network, found, every=every, threads=threads, on_game=count)
    if rows is not None:
        from tengen.lab.evidence import record_of, write_evidence

        names = [Path(path).name for path in games]
        settings = {"model": model, "games": names, "scorer": scorer, "every": every}
        words = [*names, f"--model {model}", f"--scorer {scorer}", f"--every {every}"]
        run = record_of(
            f"tengen evaluate network {' '.join(words)}", [], settings,
            seconds=time.perf_counter() - began, cpu_seconds=time.process_time() - spent,
        )  # fmt: skip
        write_evidence(rows, by_game, run)
    shown.result(result, f"{model} on {', '.join(games)}")


def _make_shards(
    games: list[str], out: Path, *, scorer: str, confirmed: bool, work: WorkOptions, shown: Shown
) -> Made:
    from tengen.models import load_scorer
    from tengen.network import make_shards
    from tengen.records import Corpus

    judge = None if scorer == "none" else load_scorer(scorer)
    with shown.progress() as bar:
        count = partial(bar.advance, "games")
        return make_shards(
            Corpus(games), out, scorer=judge, confirmed=confirmed, on_shard=count, **vars(work)
        )


def _batch_line(row: dict[str, Any], steps: int) -> str:
    if "labelled" in row:
        return f"{row['labelled']} positions on {row['board']} labelled by the teacher"
    other = ("step", "positions_per_second", "left", "held_out")
    losses = ", ".join(f"{name} {value:.3f}" for name, value in row.items() if name not in other)
    speed = f"{row['positions_per_second']:.0f} positions/s, {row['left']:.0f} s left"
    line = f"batch {row['step']}/{steps}: {losses}, {speed}"
    if held := row.get("held_out"):
        line += f"; held out: {held['top1']:.1%} of moves, {held['winner']:.1%} of winners"
    return line


_REPORT_SECONDS = 10.0


def train_self_play(
    settings: SelfPlaySettings,
    lesson: Resumable,
    out: Path = option(..., "Folder of the run."),
    start: str | None = option(None, "Start with this network instead of random weights."),
    device: str = option("auto", "cpu, cuda or auto."),
    record: int | None = option(
        None,
        "Only play this many rounds with --start and write the games as shards to --out.",
        min=1,
    ),
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Train a network by self-play; writes model.safetensors into the folder of the run."""
    from tengen.network import DeepNetwork

    first = None if start is None else DeepNetwork.load(start)
    if record is not None:
        if first is None:
            raise SpecError("--record needs --start, the network that plays")
        _record(settings, out, first, record, device, shown)
        return
    from tengen.models import Run

    need("torch", "torch")
    from tengen.self_play import LEARNER, training

    settings = lesson.settings(out, settings)
    alone = work.workers == 1 and work.ray is None
    training.check(settings, device=device, start=first, alone=alone)
    data = {} if start is None else {"start": Path(start).stem}
    last = -_REPORT_SECONDS

    def note(row: dict[str, Any]) -> None:
        nonlocal last
        if row["seconds"] - last >= _REPORT_SECONDS or row["progress"] >= 1:
            last = row["seconds"]
            loss = "".join(f"{name} {value:.3f}, " for name, value in row["loss"].items())
            shown.remark(
                f"{row['progress']:.1%}: {row['games']} games ({row['games_per_second']:.1f}/s), "
                f"{row['evaluations_per_second']:.0f} evaluations/s, {loss}{row['left']:.0f} s left"
            )

    with Run.open(out, LEARNER, settings, data=data, resume=lesson.resume) as run:
        network = training.train(
            settings, run, device=device, start=first, on_row=note, **vars(work)
        )
        rows = run.rows()
    model, games = out / training.MODEL, rows[-1]["games"] if rows else 0
    shown.result({"model": str(model), "games": games, "free_parameters": network.free_parameters})


def _record(
    settings: SelfPlaySettings, out: Path, network: Any, rounds: int, device: str, shown: Shown
) -> None:
    from tengen.network.engine import chosen_device

    place = chosen_device(device)  # raises a clear error if PyTorch is missing
    from tengen.self_play.parallel_games import record_games

    games = settings.games * rounds * len(settings.size)
    with shown.progress() as bar:
        count = partial(bar.advance, "games", total=games)
        made = record_games(network, settings, out, rounds=rounds, device=place, on_games=count)
    files = [str(path) for path in made.files]
    result = {"games": made.games, "positions": made.positions, "cut": made.passed_over}
    shown.result({"shards": files, **result}, f"Shards in {out}")


def evaluate_self_play(
    run: Annotated[Path, typer.Argument(help="Folder of the run.")],
    size: int | None = option(None, "The run's first size by default.", min=5, max=19),
    snapshots: int = option(6, "Number of snapshots that play.", min=2),
    games: int = option(20, "Games per pair.", min=2),
    visits: int = option(1, "Visits per move; 1: no search.", min=1),
    anchor: list[str] | None = option(
        None, "Other players that take part; maxlib and static by default."
    ),
    *,
    work: WorkOptions,
    seed: Seed = 0,
    shown: Shown,
) -> None:
    """Play the snapshots of a run against each other: Elo by minutes, games and positions."""
    from tengen.arena.placing import ANCHORS, RESULTS, plan_snapshots, rate_snapshots
    from tengen.arena.runner import LiveTable

    plan = plan_snapshots(
        run, size=size, snapshots=snapshots, games=games, visits=visits, seed=seed,
        anchors=ANCHORS if anchor is None else anchor,
    )  # fmt: skip
    names = [entrant.name for entrant in plan.tournament.entrants]
    with LiveTable(names, [], quiet=shown.quiet) as listener:
        steps = rate_snapshots(plan, run / RESULTS, listener=listener, **vars(work))
    shown.result(steps, str(run))


def _warm() -> list[Any]:
    """Run the kernels once."""
    from tengen.board import BLACK, Board
    from tengen.network.inputs_kernels import encode_games
    from tengen.network.learner import untrained
    from tengen.network.settings import Design

    network = untrained(Design(fields=1, blocks=3, head_fields=1, value_hidden=2))
    priors = network.priors(Board(5, moves="B C3"))
    moves, colours = np.zeros(1, np.int16), np.full(1, BLACK, np.int8)
    offsets, none = np.array([0, 1]), np.zeros(0, np.int16)
    codes = np.empty((1, 25), np.uint8)
    games = moves, colours, offsets, none, none.astype(np.int8), np.zeros(2, np.int64)
    encode_games(games, np.ones(1, np.bool_), 0, 1, 5, 5, codes)
    return [priors, codes]


NETWORK = Learner(
    train_network, evaluate_network,
    "Train the deep network on games.", "Measure a network on games.", _warm,
)  # fmt: skip
SELF_PLAY = Learner(
    train_self_play, evaluate_self_play,
    "Train a network on games against itself.", "Play the snapshots of a run against each other.",
)  # fmt: skip
