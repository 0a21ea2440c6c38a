"""Train, evaluate and compare scorers of finished games (Burzillo); only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.common import Json, Progress, Quiet, Seed, emit, remark, table
from tengen.cli.scoring_life import app as life
from tengen.cli.scoring_made import (
    MAKER,
    Made,
    Maker,
    described,
    make_labelled,
    parse_made,
    play_made,
    write_made,
)

app = typer.Typer(add_completion=False, no_args_is_help=True)
app.add_typer(life, name="life")

Files = Annotated[list[Path], typer.Argument(help="Files of games with counted results.")]
Model = Annotated[str, typer.Option("--model", help="Name or file of the scorer.")]


@app.command()
def train(
    games: Files,
    hidden: Annotated[int, typer.Option("--hidden", min=1, help="Hidden units.")] = 16,
    members: Annotated[int, typer.Option("--members", min=1, help="Networks that vote.")] = 4,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Batches of RPROP.")] = 100,
    decay: Annotated[float, typer.Option("--decay", min=0.0, help="Weight decay.")] = 1e-4,
    rounds: Annotated[int, typer.Option("--rounds", min=2, help="Rounds of the bootstrap.")] = 3,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Family of features to leave out; repeatable."),
    ] = None,
    made: Made = None,
    player: Maker = MAKER,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes for --made.")] = 1,
    out: Annotated[Path, typer.Option("--out", help="Folder of the run.")] = Path("runs/scoring"),
    resume: Annotated[
        bool, typer.Option("--resume", help="Use the features and games of before in --out.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn from final scores alone; writes scorer.safetensors into --out.

    With --made it first plays games of its own and learns from their known dead stones, too.
    """
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.features import FAMILIES, columns
    from tengen.records import Corpus

    left_out = without or []
    families = [name for name in FAMILIES if name not in left_out]
    columns([*left_out, *families])  # names the one that does not exist
    wanted = [parse_made(text) for text in made or []]
    arrays = Corpus(games).as_arrays()
    labelled = [
        lesson
        for size, count in wanted
        for lesson in make_labelled(
            out / f"made-{size}x{size}.sgf", count, size, player, seed,
            workers=workers, resume=resume, quiet=quiet,
        )
    ]  # fmt: skip
    bundle = described(arrays, out / "features.npz", resume=resume, quiet=quiet)
    scorer = BlockScorer(
        hidden=hidden, members=members, epochs=epochs, decay=decay, rounds=rounds,
        families=families, seed=seed,
    ).fit(arrays, bundle, made=labelled, tell=lambda line: remark(line, quiet=quiet))  # fmt: skip
    path = out / "scorer.safetensors"
    data = f"{len(bundle)} games of {', '.join(file.name for file in games)}; only their final "
    data += "scores were used"
    for (size, _), lesson in zip(wanted, labelled, strict=True):
        data += f"; {len(lesson.bundle)} games on {size}x{size} made by {player}, played out"
    scorer.save(path, data=data)
    answer = {
        "games": len(bundle),
        "made": [
            {"size": s, "games": len(m.bundle)} for (s, _), m in zip(wanted, labelled, strict=True)
        ],
        "history": scorer.history_,
        "calibration": scorer.calibration_,
        "model": str(path),
    }
    emit(answer, as_json=json, text=f"{path}: learned from {len(bundle)} games")


@app.command()
def make(
    size: Annotated[int, typer.Option("--size", min=5, max=19, help="Side of the board.")] = 9,
    games: Annotated[int, typer.Option("--games", min=1, help="Games to play.")] = 100,
    player: Maker = MAKER,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes.")] = 1,
    out: Annotated[Path, typer.Option("--out", help="SGF file to write.")] = Path("made.sgf"),
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make finished games whose dead stones are known (TB, TW), by playing on to the end."""
    records = play_made(games, size, player, seed, workers=workers, quiet=quiet)
    write_made(records, out)
    answer = {"games": len(records), "played": games, "size": size, "seed": seed, "file": str(out)}
    emit(answer, as_json=json, text=f"{out}: {len(records)} games (of {games} that settled)")


@app.command()
def evaluate(
    games: Files,
    count: Annotated[
        str, typer.Option("--count", help="careful (KGS) or plain (OGS: flood fill).")
    ] = "careful",
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Measure the simple ways and GNU Go, too.")
    ] = False,
    level: Annotated[
        list[int] | None,
        typer.Option("--level", min=1, max=10, help="Level of GNU Go (10); repeatable."),
    ] = None,
    limit: Annotated[
        float, typer.Option("--limit", min=0.1, help="Seconds GNU Go may take for a game.")
    ] = 120.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder to keep GNU Go's answers in; continues what is there."),
    ] = None,
    model: Model = "scorer",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare the scorer's counts with recorded results."""
    import json as encoder

    from tengen.errors import TengenError
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring import evaluation as ev
    from tengen.models import write_atomic

    if count not in ("careful", "plain"):
        raise TengenError(f"--count is careful or plain, not {count!r}")
    missing = [str(path) for path in games if not path.exists()]
    if missing:
        raise TengenError(f"{', '.join(missing)}: no such file")
    scorer = BlockScorer.load(model)
    counters: dict[str, Progress] = {}

    def tell(name: str, done: int, of: int) -> None:
        if name not in counters:
            counters[name] = Progress(name, of, quiet=quiet)
        counters[name].advance()
        if done == of:
            counters[name].close()

    try:
        answer = ev.evaluate(
            scorer,
            games,
            method="careful" if count == "careful" else "plain",
            baselines=baselines,
            levels=level or (10,),
            kept=None if out is None else out / "gnugo.jsonl",
            limit=limit,
            tell=tell,
        )
    finally:
        for counter in counters.values():
            counter.close()
    if out is not None:
        write_atomic(out / "evaluation.json", encoder.dumps(answer))
    if json:
        emit(answer, as_json=True)
        return
    rows: list[tuple[Any, ...]] = [
        (
            name,
            f"{row['exact']:.2%} [{row['exact_interval'][0]:.1%}, {row['exact_interval'][1]:.1%}]",
            f"{row['winner']:.2%}",
            f"{1000 * row['seconds_per_game']:.1f}",
            row.get("failed", 0),
        )
        for name, row in [
            ("tengen", answer),
            *((b["name"], b) for b in answer.get("baselines", [])),
        ]
    ]
    columns = ("scorer", "exact", "winner", "ms", "failed")
    table(f"{answer['games']} games, {count} count", columns, rows)
    sure = answer["exact_when_safe"]
    print(
        f"within one point {answer['within1']:.2%}; called safe {answer['safe']:.2%}"
        + (f", of these exact {sure:.2%}" if sure is not None else "")
    )


@app.command()
def experiment(
    games: Files,
    which: Annotated[
        str,
        typer.Option("--table", help="failure: the paper, fault by fault; parts: what each adds."),
    ] = "failure",
    counts: Annotated[
        list[int] | None, typer.Option("--games", min=1, help="Games to train on; repeatable.")
    ] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Batches (failure).")] = 60,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds (parts).")] = 3,
    members: Annotated[int, typer.Option("--members", min=1, help="Networks (parts).")] = 4,
    made: Annotated[
        list[Path] | None,
        typer.Option("--made", help="Games of `scoring make` (parts); repeatable."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Row to measure beside all families (parts); repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for experiment.json.")] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repeat the paper's failure, or find by cross-validation what each part of ours is worth."""
    import json as encoder

    from tengen.errors import TengenError
    from tengen.models import write_atomic
    from tengen.records import Corpus

    if which not in ("failure", "parts"):
        raise TengenError(f"--table is failure or parts, not {which!r}")
    arrays = Corpus(games).as_arrays()

    def say(line: str) -> None:
        remark(line, quiet=quiet)

    if which == "failure":
        from tengen.lab import scoring as lab

        answer = lab.experiment(
            arrays, counts=tuple(counts or (500, 3000)), steps=steps, seed=seed, say=say
        )
    else:
        from tengen.learners.scoring.made import read_labelled
        from tengen.learners.scoring.training import Recipe
        from tengen.learners.scoring.validation import compare_parts, further_parts

        recipe = Recipe(members=members, seed=seed)
        unknown = set(only or []) - set(rows := further_parts(recipe, bool(made)))
        if unknown:
            raise TengenError(f"--only {', '.join(unknown)}: there are {', '.join(rows)}")
        arrays = arrays.take(range(min(*(counts or [len(arrays)]), len(arrays))))
        kept = None if out is None else out / "features.npz"
        bundle = described(arrays, kept, resume=True, quiet=quiet)
        found = compare_parts(
            bundle, recipe, folds=folds, made=read_labelled(made or []), only=only or (), seed=seed,
            kept=None if out is None else out / "validations.npz", tell=say,
        )  # fmt: skip
        answer = {"games": len(bundle), "folds": folds, "seed": seed, "rows": found}
    if out is not None:
        write_atomic(out / "experiment.json", encoder.dumps(answer))
    if json:
        emit(answer, as_json=True)
    elif which == "failure":
        _print_failure(answer)
    else:
        _print_parts(answer)


def _print_failure(answer: dict[str, Any]) -> None:
    rows = [
        (r["games"], r["energy"], r["optimiser"], r["gradient"], f"{r['last_error']:.4g}",
         f"{r['largest_prediction']:.4g}", f"{r['exact']:.1%}")
        for r in answer["runs"]
    ]  # fmt: skip
    columns = ("games", "energy", "optimiser", "gradient", "error", "largest", "exact")
    table("Burzillo's network (paper: 0.0 % exact, -58,583,120)", columns, rows)
    print("\n".join(answer["faults"]))


def _print_parts(answer: dict[str, Any]) -> None:
    sizes = [key for key in answer["rows"][0] if key.startswith("made_") and key.endswith("exact")]
    rows = [
        (
            row["name"],
            f"{row['exact']:.2%} [{row['interval'][0]:.1%}, {row['interval'][1]:.1%}]",
            f"+{row['gained']} -{row['lost']}" if "gained" in row else "",
            *(f"{row[key]:.2%}" for key in sizes),
        )
        for row in answer["rows"]
    ]
    columns = ("trained", "exact", "games changed", *(key.split("_")[1] + " made" for key in sizes))
    table(f"{answer['games']} unseen games in {answer['folds']} folds", columns, rows)
