"""Train, measure and study predictors of experts' moves from the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, Ray, Seed, Workers, emit, remark, table

if TYPE_CHECKING:
    from tengen.learners.move_prediction.reading import LeftOut
    from tengen.records import GameArrays

app = typer.Typer(no_args_is_help=True, help="Predict experts' moves (Araki 2007 and beyond).")

Games = Annotated[
    list[str], typer.Argument(help="SGF files, folders or archives; - reads standard input.")
]
FirstPly = Annotated[
    int,
    typer.Option("--from-ply", min=0, help="full: leave out earlier plies, as random openings."),
]
Alpha = Annotated[
    float, typer.Option("--alpha", min=0.001, help="paper: learning rate of the re-ranker.")
]
Size = Annotated[int, typer.Option("--size", min=2, max=25, help="Use games of this board size.")]


def _games(paths: list[str], size: int, *, quiet: bool) -> tuple[GameArrays, LeftOut]:
    """Read the usable games of one size and say how many others there were, and why."""
    from tengen.learners.move_prediction.reading import read_games

    games, left_out = read_games(paths, size)
    for line in left_out.lines():
        remark(line, quiet=quiet)
    return games, left_out


@app.command()
def train(
    games: Games,
    out: Annotated[Path, typer.Option("--out", help="Where to write the model.")],
    recipe: Annotated[str, typer.Option("--recipe", help="full or paper.")] = "full",
    limit: Annotated[
        int | None, typer.Option("--games", min=2, help="Train on the first so many, shuffled.")
    ] = None,
    size: Size = 19,
    share: Annotated[
        float, typer.Option("--share", min=0.001, max=1.0, help="full: part of the positions.")
    ] = 1.0,
    first_ply: FirstPly = 0,
    passes: Annotated[int, typer.Option("--passes", min=1, help="full: times over the games.")] = 1,
    minimum: Annotated[
        int | None,
        typer.Option("--minimum", min=1, help="Occurrences that make a pattern known."),
    ] = None,
    anywhere: Annotated[
        bool,
        typer.Option("--anywhere", help="full: no absolute coordinates; serves every board size."),
    ] = False,
    start: Annotated[
        str | None, typer.Option("--start", help="full: go on from this model's weights.")
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", min=0, help="full: learning rate, times the usual one.")
    ] = 1.0,
    width: Annotated[float, typer.Option("--width", min=0, help="paper: width factor W.")] = 0.9,
    top: Annotated[int, typer.Option("--top", min=0, help="paper: candidates re-ranked.")] = 20,
    alpha: Alpha = 0.3,
    run: Annotated[
        Path | None, typer.Option("--run", help="Folder for checkpoints (runs/NAME by default).")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last one.")] = False,
    seed: Seed = 0,
    workers: Workers = 1,
    ray: Ray = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a predictor on games and write it to a model file."""
    import time

    from tengen.learners.move_prediction import MovePredictor

    began = time.monotonic(), time.process_time()
    arrays, left_out = _games(games, size, quiet=quiet)
    settings: dict[str, Any] = {"seed": seed}
    if limit is not None:
        settings["games"] = limit
    if minimum is not None:
        settings["minimum"] = minimum
    if recipe == "paper":
        settings |= {"width": width, "top": top, "alpha": alpha}
    else:
        settings |= {"share": share, "passes": passes, "absolute": not anywhere}
        settings["first_ply"] = first_ply
        if rate != 1.0:
            settings |= {
                "rate_weights": 0.1 * rate,
                "rate_vectors": 0.05 * rate,
                "rate_network": 0.001 * rate,
            }
    folder = run if run is not None else Path("runs") / out.stem
    predictor = MovePredictor(recipe=recipe, settings=settings).fit(
        arrays,
        run=folder,
        resume=resume,
        workers=workers,
        ray=ray,
        start=None if start is None else MovePredictor.load(start),
        on_report=lambda report: remark(_progress(report), quiet=quiet),
    )
    number = min(limit or len(arrays), len(arrays))
    sources = ", ".join(Path(path).name for path in games)
    predictor.save(out, data=f"{number} games of {sources}")
    result = {
        "model": str(out),
        "recipe": recipe,
        "games": number,
        "left_out": left_out.total,
        "features": predictor.model_.features,
        "seconds": time.monotonic() - began[0],
        "processor_seconds": time.process_time() - began[1],
    }
    emit(result, as_json=json, text=f"{out}: {result['features']} features")


@app.command()
def blend(
    first: Annotated[str, typer.Argument(help="Name or path of a model.")],
    second: Annotated[str, typer.Argument(help="Another, trained further from the first.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the model between them.")],
    share: Annotated[
        float, typer.Option("--share", min=0, max=1, help="The second model's part.")
    ] = 0.5,
    json: Json = False,
) -> None:
    """Write a model between two: what the first knows, and part of what the second learned."""
    from tengen.learners.move_prediction import MovePredictor

    mixed = MovePredictor.load(first).blended(MovePredictor.load(second), share)
    mixed.save(out, data=f"{1 - share:g} of {first} and {share:g} of {second}")
    result = {"model": str(out), "first": first, "second": second, "share": share}
    emit(result, as_json=json, text=f"{out}: {1 - share:g} of {first}, {share:g} of {second}")


def _progress(report: Any) -> str:
    """Turn a report of either recipe into one line."""
    if isinstance(report, str):
        return report
    fields = asdict(report)
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in fields.items()
    )


@app.command()
def evaluate(
    games: Games,
    model: Annotated[
        str | None, typer.Option("--model", help="Name or path; by the board's size.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--games", min=1, help="Only so many.")] = None,
    size: Size = 19,
    first_ply: FirstPly = 0,
    phases: Annotated[bool, typer.Option("--phases", help="Show accuracy by phase.")] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how often a predictor foresees the moves of games."""
    from tengen.learners.move_prediction import MovePredictor

    name = model or ("predictor-19x19" if size == 19 else "predictor-small")
    predictor = MovePredictor.load(name)
    predictor.check_size(size, size)
    arrays, _ = _games(games, size, quiet=quiet)
    if limit is not None:
        arrays = arrays.shuffled(seed).take(range(min(limit, len(arrays))))
    measured = predictor.evaluate(arrays, first_ply=first_ply)
    summary = measured.summary()
    if json:
        emit(summary, as_json=True)
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


@app.command()
def experiment(
    games: Games,
    test: Annotated[
        list[str] | None,
        typer.Option("--test", help="Games to measure on; some of the training games by default."),
    ] = None,
    held_out: Annotated[
        int, typer.Option("--held-out", min=1, help="Without --test: so many games are kept back.")
    ] = 200,
    what: Annotated[
        str, typer.Option("--table", help="widths, reranked, sizes, history, families, match.")
    ] = "sizes",
    limit: Annotated[int, typer.Option("--games", min=2, help="Training games.")] = 2000,
    values: Annotated[
        str | None,
        typer.Option("--values", help="Comma-separated rows to compute; match: games to play."),
    ] = None,
    share: Annotated[
        float, typer.Option("--share", min=0.001, max=1.0, help="families: part of positions.")
    ] = 0.3,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="sizes, match: folder to keep the models in.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="widths: solve to the optimum, samples in memory.")
    ] = False,
    alpha: Alpha = 0.3,
    opponent: Annotated[
        str | None, typer.Option("--opponent", help="match: the other player (GNU Go, level 10).")
    ] = None,
    size: Size = 19,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repeat a table of the paper on these games, beside the paper's figures.

    widths is Table I, reranked Table II, sizes Tables III and IV; history tells the re-ranker
    weaker moves than the experts'; families trains the full recipe without each of its families;
    match plays the top move of the paper's recipe against GNU Go (section IV-D).
    """
    from tengen.errors import SpecError
    from tengen.lab import move_prediction as experiments

    makers = _makers(limit, share, seed, keep, exact=exact, alpha=alpha)
    if what != "match" and what not in makers:
        raise SpecError(f"--table {what!r} is none of {', '.join((*makers, 'match'))}")
    chosen = None if values is None else _row_names(values, what)
    train_games, _ = _games(games, size, quiet=quiet)
    if test is not None:
        test_games, _ = _games(test, size, quiet=quiet)
    else:
        train_games, test_games = experiments.hold_out(train_games, held_out, seed)
    if what == "match":
        number = int(chosen[0]) if chosen else 20
        rows = _match(train_games, limit, size, number, opponent, keep, seed, quiet=quiet)
    else:
        rows = makers[what](train_games, test_games, chosen)
    done = []
    for row in rows:
        done.append(row)
        remark(_line(row), quiet=quiet)
    emit(done, as_json=json, text="\n".join(_line(row) for row in done))


def _makers(
    limit: int, share: float, seed: int, keep: Path | None, *, exact: bool, alpha: float
) -> dict[str, Callable[..., Iterator[dict[str, Any]]]]:
    """Return for each table what makes its rows from (training games, test games, row names)."""
    from tengen.lab import move_prediction as e

    whole: dict[str, Any] = {"games": limit, "seed": seed}
    common = {**whole, "alpha": alpha}

    def given(values: Any, name: str = "values") -> dict[str, Any]:
        return common if values is None else {**common, name: values}

    return {
        "widths": lambda a, b, rows: e.widths(a, b, exact=exact, **given(rows)),
        "reranked": lambda a, b, rows: e.reranked(a, b, **given(rows)),
        "sizes": lambda a, b, rows: e.sizes(
            a, b, values=rows or [limit], seed=seed, keep=keep, alpha=alpha
        ),
        "history": lambda a, b, rows: e.weak_history(a, b, **given(rows, "ranks")),
        "families": lambda a, b, rows: e.families(a, b, share=share, values=rows or (), **whole),
    }


def _row_names(values: str, what: str) -> list[Any]:
    """Return the rows that --values asks for: names of families, widths, or whole numbers."""
    from tengen.errors import SpecError

    kind = {"families": str.strip, "widths": float}.get(what, int)
    try:
        return [kind(value) for value in values.split(",")]  # type: ignore[operator]
    except ValueError:
        raise SpecError(f"--values {values!r} is not a list of numbers") from None


def _match(
    train_games: GameArrays,
    limit: int,
    size: int,
    games: int,
    opponent: str | None,
    keep: Path | None,
    seed: int,
    *,
    quiet: bool,
) -> Iterator[dict[str, Any]]:
    """Train the paper's recipe, let its top move play a match, and yield the result.

    A model of as many games that lies in the folder `keep` is used as it is, and games played
    there count.
    """
    from tempfile import TemporaryDirectory

    from tengen.arena.config import Tournament, checked
    from tengen.arena.match import match_settings, play_match
    from tengen.learners.move_prediction import MovePredictor
    from tengen.players import gnugo

    with TemporaryDirectory() as spare:
        folder = Path(spare) if keep is None else keep
        model = folder / f"paper-{limit}.safetensors"
        if not model.exists():
            learner = MovePredictor(recipe="paper", settings={"games": limit, "seed": seed})
            learner.fit(train_games).save(model)
        settings = match_settings(
            f'greedy:policy="{model}"',
            opponent or gnugo(10),
            games=games,
            size=str(size),
            seed=seed,
        )
        out = None if keep is None else folder / f"match-{limit}.sqlite"
        result = play_match(checked(Tournament, settings), out=out, quiet=quiet)
    yield {"trained_on": limit, **result.value()}


def _line(row: dict[str, Any]) -> str:
    """Turn a row of a table into one line: accuracies in percent, the first with its interval."""
    parts = []
    for name, value in row.items():
        if name in ("phases", "interval") or isinstance(value, dict | list) or value is None:
            continue
        if name in ("top1", "win_rate_a") and row.get("interval"):
            low, high = row["interval"]
            parts.append(f"{name} {100 * value:.2f} [{100 * low:.2f}, {100 * high:.2f}]")
        elif name.startswith("top") and isinstance(value, float):
            parts.append(f"{name} {100 * value:.2f}")
        elif isinstance(value, tuple):
            parts.append(f"{name} " + "/".join(f"{100 * v:.2f}" for v in value))
        elif name in ("paper", "beyond"):
            parts.append(
                f"{name} {100 * value:.3g}" if name == "beyond" else f"paper {100 * value:.2f}"
            )
        elif isinstance(value, float):
            parts.append(f"{name} {value:.3f}" if name == "log_loss" else f"{name} {value:.1f}")
        else:
            parts.append(f"{name} {value}")
    return ", ".join(parts)
