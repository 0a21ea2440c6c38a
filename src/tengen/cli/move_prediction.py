"""Train, measure and study predictors of experts' moves; only parse, call and print."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.options import (
    Json,
    RunOfModel,
    Said,
    Seed,
    Shared,
    Shown,
    argument,
    command,
    flag,
    option,
)
from tengen.cli.printing import emit, emit_result, remark, study_context, table
from tengen.lab.sections.move_prediction import Study
from tengen.learners.move_prediction.settings import FullSettings, PaperSettings
from tengen.models.settings import CheckedSettings, setting

if TYPE_CHECKING:
    from tengen.learners.move_prediction.reading import LeftOut
    from tengen.records import GameArrays

app = typer.Typer(add_completion=False, no_args_is_help=True)

_Games = Annotated[
    list[str], typer.Argument(help="SGF files, folders or archives; - reads standard input.")
]
_FirstPly = Annotated[
    int,
    typer.Option("--from-ply", min=0, help="Leave out earlier plies, as random openings."),
]
_Size = Annotated[int, typer.Option("--size", min=2, max=25, help="Use games of this board size.")]


@dataclass(frozen=True)
class _Lesson(CheckedSettings):
    """What is trained, besides the settings of its recipe."""

    recipe: str = setting("full", "Which recipe.", choices=("full", "paper"))
    size: int = setting(19, "Use games of this board size.", least=2, most=25)
    start: str | None = setting(None, "full: go on from this model's weights.")


@command(app)
def train(
    files: _Games,
    lesson: _Lesson,
    full: FullSettings,
    paper: PaperSettings,
    training: RunOfModel,
    work: Shared,
    shown: Shown,
) -> None:
    """Train a predictor on games and write it to a model file."""
    import time

    from tengen.files import refuse_inputs
    from tengen.learners.move_prediction import MovePredictor

    refuse_inputs(training.out, filter(None, [*files, lesson.start]))
    began = time.monotonic(), time.process_time()
    _refuse_others(lesson.recipe, full, paper, training.said)
    settings = paper if lesson.recipe == "paper" else full
    settings = training.settings(training.folder, settings)
    arrays, left_out = _games(files, lesson.size, quiet=shown.quiet)
    start = None if lesson.start is None else MovePredictor.load(lesson.start)
    predictor = MovePredictor(settings=settings)
    with predictor.open_run(training.folder, arrays, start=start, resume=training.resume) as held:
        predictor.fit(
            arrays, run=held, workers=work.workers, ray=work.ray, start=start,
            on_report=lambda report: remark(_progress(report), quiet=shown.quiet),
        )  # fmt: skip
        number = min(settings.games or len(arrays), len(arrays))
        sources = ", ".join(Path(path).name for path in files)
        predictor.save(training.out, data=f"{number} games of {sources}")
    result = {
        "model": str(training.out),
        "recipe": lesson.recipe,
        "games": number,
        "left_out": left_out.total,
        "features": predictor.model_.features,
        "seconds": time.monotonic() - began[0],
        "processor_seconds": time.process_time() - began[1],
    }
    emit(result, json=shown.json, text=f"{training.out}: {result['features']} features")


def _refuse_others(recipe: str, full: FullSettings, paper: PaperSettings, said: Said) -> None:
    """Refuse options that only the other recipe has."""
    from tengen.errors import SpecError
    from tengen.models.settings import fields_of

    chosen, other = (paper, full) if recipe == "paper" else (full, paper)
    known = {field.name for field in (*fields_of(type(chosen)), *fields_of(_Lesson))}
    for field in fields_of(type(other)):
        if field.name in said and field.name not in known:
            raise SpecError(f"--{field.option} is no setting of the {recipe} recipe")
    if recipe == "paper" and "start" in said:
        raise SpecError("--start is no setting of the paper recipe")


def _games(paths: list[str], size: int, *, quiet: bool) -> tuple[GameArrays, LeftOut]:
    """Read the usable games of one size and say how many others there were, and why."""
    from tengen.learners.move_prediction.reading import read_games

    games, left_out = read_games(paths, size)
    for line in left_out.lines():
        remark(line, quiet=quiet)
    return games, left_out


@app.command()
def blend(
    first: str = argument("Name or path of a model."),
    second: str = argument("Another, trained further from the first."),
    out: Path = option(..., "Where to write the model between them."),
    share: float = option(0.5, "The second model's part.", min=0, max=1),
    json: Json = False,
) -> None:
    """Write a model between two: what the first knows, and part of what the second learned."""
    from tengen.files import refuse_inputs
    from tengen.learners.move_prediction import MovePredictor

    refuse_inputs(out, [first, second])
    mixed = MovePredictor.load(first).blended(MovePredictor.load(second), share)
    mixed.save(out, data=f"{1 - share:g} of {first} and {share:g} of {second}")
    result = {"model": str(out), "first": first, "second": second, "share": share}
    emit(result, json=json, text=f"{out}: {1 - share:g} of {first}, {share:g} of {second}")


def _progress(report: Any) -> str:
    """Turn a report of either recipe into one line."""
    if isinstance(report, str):
        return report
    fields = asdict(report)
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in fields.items()
    )


@command(app)
def evaluate(
    games: _Games,
    model: str | None = option(None, "Name or path; by the board's size."),
    limit: int | None = option(None, "Only so many games, drawn by the seed.", "--games", min=1),
    size: _Size = 19,
    first_ply: _FirstPly = 0,
    phases: bool = flag("--phases", "Show accuracy by phase."),
    seed: Seed = 0,
    *,
    shown: Shown,
) -> None:
    """Measure how often a predictor foresees the moves of games."""
    from tengen.learners.move_prediction import MovePredictor
    from tengen.models.defaults import predictor_for

    name = model or predictor_for(size, size)
    predictor = MovePredictor.load(name)
    predictor.check_size(size, size)
    arrays, _ = _games(games, size, quiet=shown.quiet)
    if limit is not None:
        arrays = arrays.shuffled(seed).take(range(min(limit, len(arrays))))
    measured = predictor.evaluate(arrays, first_ply=first_ply)
    summary = measured.summary()
    if shown.json:
        emit(summary, json=True)
        return
    low, high = measured.interval(1)
    rows = [
        ("games", measured.games),
        ("positions", measured.positions),
        ("top 1", f"{100 * measured.rate(1):.2f} % [{100 * low:.2f}, {100 * high:.2f}]"),
        *((f"top {top}", f"{100 * measured.rate(top):.2f} %") for top in (5, 10, 20)),
        ("log loss", f"{summary['log_loss']:.4f} nats"),
        ("time", f"{summary['milliseconds_per_position']:.3f} ms a position"),
    ]
    table(f"{name} on {', '.join(Path(path).name for path in games)}", ["what", "value"], rows)
    if phases:
        lines = [
            (p["from_ply"], p["positions"], f"{100 * p['top1']:.2f}") for p in measured.phases()
        ]
        table("By phase", ["from ply", "positions", "top 1 %"], lines)


@command(app)
def experiment(
    files: _Games,
    wanted: Study,
    test: list[str] | None = option(
        None, "Games to measure on; some of the training games by default."
    ),
    held_out: int = option(200, "Without --test: so many games are kept back.", min=1),
    keep: Path | None = option(None, "Folder to keep rows, models and matches in."),
    size: _Size = 19,
    *,
    shown: Shown,
) -> None:
    """Repeat a table of the paper on these games, beside the paper's figures.

    widths is Table I, reranked Table II, sizes Tables III and IV; history tells the re-ranker
    weaker moves than the experts'; families trains the full recipe without each of its families;
    match plays the top move of the paper's recipe against GNU Go (section IV-D).
    """
    from tengen.lab.move_prediction import hold_out
    from tengen.lab.sections.move_prediction import study

    wanted.rows()  # a wrong list is told before the games are read
    train_games, _ = _games(files, size, quiet=shown.quiet)
    if test is not None:
        test_games, _ = _games(test, size, quiet=shown.quiet)
    else:
        train_games, test_games = hold_out(train_games, held_out, wanted.seed)
    with study_context(keep, wanted.seed, quiet=shown.quiet) as context:
        result = study(context, wanted, train_games, test_games)
    emit_result(result, json=shown.json, value=result.data["rows"])
