"""Train and measure foresight of life and death during games; only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.options import RunFolder, Shown, command, flag, option
from tengen.cli.printing import emit, progress, remark, table
from tengen.contracts import OwnershipEvaluator
from tengen.learners.scoring.settings import LifeSettings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Life and death during the game (van der Werf 2005), as an evaluator.",
)

_Files = Annotated[list[Path], typer.Argument(help="Files of games with counted results.")]
_Scored = Annotated[str, typer.Option("--scorer", help="Scorer that says how games ended.")]


@command(app)
def train(
    files: _Files,
    settings: LifeSettings,
    run: RunFolder,
    scorer: _Scored = "scorer",
    *,
    shown: Shown,
) -> None:
    """Learn from the ends of games which blocks will live; writes life.safetensors into --out."""
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.training import LIFE_MODEL, train_life
    from tengen.records import Corpus

    folder = run.out or Path("runs/life")
    settings = run.settings(folder, settings)
    games = Corpus(files).as_arrays()
    told: list[str] = []

    def report(line: str) -> None:
        told.append(line)
        remark(line, quiet=shown.quiet)

    most = min(settings.games or len(games), len(games))
    with progress("positions", most * settings.positions, quiet=shown.quiet) as bar:
        model = train_life(
            games, settings, BlockScorer.load(scorer), folder, resume=run.resume, report=report,
            sources=", ".join(file.name for file in files), advance=bar.advance,
        )  # fmt: skip
    path = folder / LIFE_MODEL
    answer = {"games": model.games_, "scale": model.scale, "log": told, "model": str(path)}
    emit(answer, json=shown.json, text=f"{path}: learned from {model.games_} games")


@command(app)
def evaluate(
    games: _Files,
    baselines: bool = flag("--baselines", "Measure playouts and blind trust, too."),
    beside: list[str] | None = option(None, "Measure this model, too, as zero-9x9; repeatable."),
    model: str = option("life", "Name or file of the model."),
    scorer: _Scored = "scorer",
    *,
    shown: Shown,
) -> None:
    """Compare what is foreseen at several moments of games with how they ended."""
    from tengen.learners.scoring import BlockScorer, LifeEvaluator
    from tengen.learners.scoring.life_evaluation import SHARES, evaluate_life

    loaded = LifeEvaluator.load(model)
    others = {name: _owner_model(name) for name in beside or []}
    with progress("positions", None, quiet=shown.quiet) as bar:

        def tell(done: int, of: int) -> None:
            bar.total = of
            bar.advance()

        answer = evaluate_life(
            loaded, games, scorer=BlockScorer.load(scorer), baselines=baselines, beside=others,
            tell=tell,
        )  # fmt: skip
    if shown.json:
        emit(answer, json=True)
        return
    every = [("life", answer["phases"])]
    every += [(b["name"], b["phases"]) for b in answer.get("baselines", [])]
    rows = [
        (
            f"{phase['share']:.0%}", name, *(_percent(phase[key]) for key in
            ("block_accuracy", "point_accuracy", "winner")),
            "" if phase["score_correlation"] is None else f"{phase['score_correlation']:.3f}",
            f"{phase['mean_error']:.1f}",
        )
        for i in range(len(SHARES))
        for name, phases in every
        for phase in [phases[i]]
    ]  # fmt: skip
    columns = ("moves", "by", "blocks", "points", "winner", "correlation", "error")
    title = f"{answer['games']} games, the ends of {answer['labelled']} of them explained"
    table(title, columns, rows)
    for name, found in [("life", answer["all"])] + [
        (b["name"], b["all"]) for b in answer.get("baselines", [])
    ]:
        if found["blocks"]:
            low, high = found["block_interval"]
            print(
                f"all moments, {name}: {found['block_accuracy']:.1%} [{low:.1%}, {high:.1%}] "
                f"of {found['blocks']:,} blocks"
            )


def _owner_model(name: str) -> OwnershipEvaluator:
    """Load a model that says who owns what."""
    from tengen.errors import SpecError
    from tengen.models import load_learner

    found = load_learner(name)
    if not isinstance(found, OwnershipEvaluator):
        raise SpecError(f"--beside {name}: does not say who will own what")
    return found


def _percent(share: float | None) -> str:
    """Write a share; nothing where there is none."""
    return "" if share is None else f"{share:.1%}"
