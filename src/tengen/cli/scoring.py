"""Train, evaluate and compare scorers of finished games (Burzillo); only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.common import Json, Progress, Quiet, Seed, emit, progress, remark, table
from tengen.cli.scoring_life import app as life

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
    out: Annotated[Path, typer.Option("--out", help="Folder of the run.")] = Path("runs/scoring"),
    resume: Annotated[
        bool, typer.Option("--resume", help="Use the features computed before in --out.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn from final scores alone; writes scorer.safetensors into --out."""
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.bundle import Bundle, gather
    from tengen.records import Corpus

    arrays = Corpus(games).as_arrays()
    kept = out / "features.npz"
    bundle: Bundle | None = None
    if resume and kept.is_file():
        bundle = Bundle.load(kept)
        if not bundle.belongs_to(arrays):
            remark(f"{kept} belongs to other games: computed anew", quiet=quiet)
            bundle = None
    if bundle is None:
        with progress("features", len(arrays), quiet=quiet) as bar:
            bundle = gather(arrays, tell=lambda done: bar.advance())
        bundle.save(kept)
    scorer = BlockScorer(
        hidden=hidden, members=members, epochs=epochs, decay=decay, rounds=rounds, seed=seed
    ).fit(arrays, bundle, tell=lambda line: remark(line, quiet=quiet))
    path = out / "scorer.safetensors"
    names = ", ".join(file.name for file in games)
    scorer.save(path, data=f"{len(bundle)} games of {names}; only their final scores were used")
    answer = {
        "games": len(bundle),
        "history": scorer.history_,
        "calibration": scorer.calibration_,
        "model": str(path),
    }
    emit(answer, as_json=json, text=f"{path}: learned from {len(bundle)} games")


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
    counts: Annotated[
        list[int] | None, typer.Option("--games", min=1, help="Games to train on; repeatable.")
    ] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Batches of training.")] = 60,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for experiment.json.")] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repeat the paper's failure: printed and right gradient, both energies, both optimisers."""
    import json as encoder

    from tengen.lab import scoring as lab
    from tengen.models import write_atomic
    from tengen.records import Corpus

    answer = lab.experiment(
        Corpus(games).as_arrays(),
        counts=tuple(counts or (500, 3000)),
        steps=steps,
        seed=seed,
        say=lambda line: remark(line, quiet=quiet),
    )
    if out is not None:
        write_atomic(out / "experiment.json", encoder.dumps(answer))
    if json:
        emit(answer, as_json=True)
        return
    rows = [
        (r["games"], r["energy"], r["optimiser"], r["gradient"], f"{r['last_error']:.4g}",
         f"{r['largest_prediction']:.4g}", f"{r['exact']:.1%}")
        for r in answer["runs"]
    ]  # fmt: skip
    columns = ("games", "energy", "optimiser", "gradient", "error", "largest", "exact")
    table("Burzillo's network (paper: 0.0 % exact, -58,583,120)", columns, rows)
    print("\n".join(answer["faults"]))
