"""The commands `train network` and `evaluate network`."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.options import RunOfModel, Shared, Shown, command, flag, option
from tengen.cli.printing import progress, remark, show
from tengen.errors import SpecError, TengenError
from tengen.learners.network.settings import DistillationSettings, NetworkSettings

if TYPE_CHECKING:
    from tengen.learners.network import Shard
    from tengen.learners.network.shards import Made

app = typer.Typer(no_args_is_help=True)

_DEFAULT_MODEL = "tengen-large"

_Games = Annotated[
    list[str], typer.Argument(help="SGF files, folders or archives, or folders of shards.")
]
_Model = Annotated[str, typer.Option("--model", help="Name or path of a network.")]
_ScorerOption = Annotated[
    str, typer.Option("--scorer", help="Who confirms counted scores; 'none' leaves that out.")
]


@command(app)
def train(
    games: _Games,
    settings: NetworkSettings,
    taught: DistillationSettings,
    training: RunOfModel,
    start: str | None = option(None, "Begin with the weights of this network."),
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
    *,
    work: Shared,
    shown: Shown,
) -> None:
    """Train a network on games, or on a teacher's answers; every path is a source of its own."""
    if shards_only:
        made = _make_shards(games, training.out, scorer, work, confirmed, shown.quiet)
        result = {
            "shards": [str(path) for path in made.files],
            "games": made.games,
            "positions": made.positions,
            "passed_over": made.passed_over,
            "counted": made.counted,
            "labelled": made.labelled,
        }
        show(result, json=shown.json, title=f"Shards in {training.out}")
        return
    from tengen.files import refuse_inputs
    from tengen.learners.network import DeepNetwork
    from tengen.learners.network.fitting import check_design, chosen_device
    from tengen.learners.network.shards import fingerprint_of, main_board
    from tengen.models import Run

    folder, out = training.folder, training.out
    refuse_inputs(out, filter(None, [*games, start, None if teacher is None else str(teacher)]))
    device = chosen_device(device)
    chosen: NetworkSettings | DistillationSettings = settings if teacher is None else taught
    _refuse_others(training.said, chosen, "needs" if teacher is None else "has no use with")
    chosen = training.settings(folder, chosen)
    first = None if start is None else DeepNetwork.load(start)
    check_design(chosen, None if first is None else first.design_)
    data, master = {}, None
    if teacher is not None:
        from tengen.learners.network.katago import Teacher

        master = Teacher(teacher, source=teacher_source)
        data["teacher"] = master.fingerprint
    shards = folder.with_name(folder.name + "-shards")
    sources = [
        _shards(path, shards, scorer, work, confirmed=confirmed, quiet=shown.quiet)
        for path in games
    ]
    data |= {f"games {i}": fingerprint_of(source) for i, source in enumerate(sources)}
    if start is not None:
        data["start"] = Path(start).stem
    network = DeepNetwork(settings=chosen)
    learner = "network" if teacher is None else "network with a teacher"
    with Run.open(folder, learner, chosen, data=data, resume=training.resume) as held:
        network.fit(
            sources, teacher=master, device=device, start=first, run=held,
            on_report=lambda row: remark(_line(row, chosen.steps), quiet=shown.quiet),
        )  # fmt: skip
        used = [shard for source in sources for shard in source]
        number = sum(map(len, used if teacher is None else main_board(used)))
        names = ", ".join(Path(path).name for path in games)
        network.save(out, name=out.stem, data=f"{number} games of {names}")
    result = {"model": str(out), "games": number, "free_parameters": network.free_parameters}
    show(result, json=shown.json)


@command(app)
def evaluate(
    games: _Games,
    model: _Model = _DEFAULT_MODEL,
    scorer: _ScorerOption = "scorer",
    every: int = option(1, "Take one of so many positions, to be quick.", min=1),
    workers: int | None = option(None, "Threads; as many as cores by default.", min=1),
    *,
    shown: Shown,
) -> None:
    """Measure a network on games it has not seen."""
    import os
    import tempfile

    from tengen.learners.network import DeepNetwork
    from tengen.learners.network.evaluation import evaluate as measure

    network = DeepNetwork.load(model)
    with tempfile.TemporaryDirectory() as folder:
        found = [
            shard
            for path in games
            for shard in _shards(path, Path(folder), scorer, Shared(), quiet=shown.quiet)
        ]
        with progress("games", sum(map(len, found)), quiet=shown.quiet) as bar:
            threads = workers or os.cpu_count() or 1
            told = measure(network, found, every=every, threads=threads, on_game=bar.advance)
            result = told.summary()
    show(result, json=shown.json, title=f"{model} on {', '.join(games)}")


def _make_shards(
    games: list[str], out: Path, scorer: str, work: Shared, confirmed: bool, quiet: bool
) -> Made:
    from tengen.learners.network import make_shards
    from tengen.models import load_scorer
    from tengen.records import Corpus

    judge = None if scorer == "none" else load_scorer(scorer)
    with progress("games", None, quiet=quiet) as bar:
        return make_shards(
            Corpus(games), out, scorer=judge, confirmed=confirmed, workers=work.workers,
            ray=work.ray, on_shard=bar.advance,
        )  # fmt: skip


def _shards(
    path: str,
    folder: Path,
    scorer: str,
    work: Shared,
    *,
    confirmed: bool = False,
    quiet: bool = False,
) -> list[Shard]:
    """Read the shards at a path, or those of the games there, made and kept in the folder."""
    from tengen.learners.network import read_shards

    place = Path(path)
    ready = place.is_dir() and any(place.glob("*.safetensors"))
    if not ready and place.suffix != ".safetensors":
        place = _kept_shards(path, folder, scorer, work, confirmed, quiet)
    found = list(read_shards([place]))
    if not any(map(len, found)):  # all games of a network against itself may have been cut
        raise TengenError(f"no game to learn from in {path}")
    return found


def _kept_shards(
    path: str, folder: Path, scorer: str, work: Shared, confirmed: bool, quiet: bool
) -> Path:
    """Return the folder with the shards of exactly these games.

    Its name follows from the files, so that changed games give new shards.
    """
    import shutil
    import tempfile

    from tengen.explorer import stamp_of
    from tengen.models import fingerprint

    stamp = stamp_of([path])
    kept = folder / fingerprint(stamp, scorer, *(["confirmed"] if confirmed else []))
    if stamp == "":  # the content of standard input is not known before it was read
        shutil.rmtree(kept, ignore_errors=True)
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as part:
            _make_shards([path], Path(part) / kept.name, scorer, work, confirmed, quiet)
            (Path(part) / kept.name).rename(kept)  # at once: a killed command leaves no half of it
    return kept


def _refuse_others(said: AbstractSet[str], chosen: Any, why: str) -> None:
    """Refuse settings that only the other way of learning has."""
    known = {field.name for field in fields(chosen)}
    for name in sorted(said - known):
        raise SpecError(f"--{name.replace('_', '-')} {why} --teacher")


def _line(row: dict[str, Any], steps: int) -> str:
    """Write one report for people."""
    if "labelled" in row:
        return f"{row['labelled']} positions on {row['board']} labelled by the teacher"
    other = ("step", "positions_per_second", "left", "held_out")
    losses = ", ".join(f"{name} {value:.3f}" for name, value in row.items() if name not in other)
    speed = f"{row['positions_per_second']:.0f} positions/s, {row['left']:.0f} s left"
    line = f"batch {row['step']}/{steps}: {losses}, {speed}"
    held = row.get("held_out")
    if held:
        line += f"; held out: {held['top1']:.1%} of moves, {held['winner']:.1%} of winners"
    return line
