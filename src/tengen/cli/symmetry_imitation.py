"""`tengen symmetry-network imitate`: teach a network to rank experts' moves; hold no learning."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, Seed, Workers, emit, progress, remark

if TYPE_CHECKING:
    from tengen.learners.symmetry_network.imitation import Report


def imitate(
    files: Annotated[list[str], typer.Argument(help="Experts' games: SGF files or folders.")],
    out: Annotated[Path, typer.Option("--out", help="The model to write.")],
    layers: Annotated[int, typer.Option("--layers", min=1, help="Stacked hidden layers.")] = 5,
    units: Annotated[int, typer.Option("--units", min=1, help="Hidden units a layer.")] = 32,
    positions: Annotated[
        int, typer.Option("--positions", min=1, help="To learn from.")
    ] = 1_000_000,
    negatives: Annotated[
        int, typer.Option("--negatives", min=1, help="Other moves that the expert's must beat.")
    ] = 31,
    batch: Annotated[
        int, typer.Option("--batch", min=8, help="Positions a step, by eights.")
    ] = 256,
    rate: Annotated[float, typer.Option("--rate", min=0, help="Adam's; falls to nothing.")] = 2e-3,
    size: Annotated[int, typer.Option("--size", min=3, max=25, help="Games of this size.")] = 19,
    hold_out: Annotated[
        float, typer.Option("--hold-out", min=0.0, max=0.5, help="Share of games to measure on.")
    ] = 0.02,
    measured: Annotated[
        int, typer.Option("--measured", min=1, help="Positions to measure the ranking on.")
    ] = 500,
    device: Annotated[str, typer.Option("--device", help="cpu, or cuda for a GPU.")] = "cpu",
    half: Annotated[bool, typer.Option("--half", help="On a GPU: half precision.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was stopped.")] = False,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn to rank experts' moves by the value of the board after them; needs PyTorch.

    Checkpoints lie beside the model (.state). At the end the ranking among all legal moves is
    measured on games that were left out.
    """
    from tengen.errors import SpecError
    from tengen.learners.move_prediction.reading import read_games
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.imitation import Imitator, Plan, design
    from tengen.learners.symmetry_network.imitation import imitate as learn

    games, left_out = read_games(files, size)
    for line in left_out.lines():
        remark(line, quiet=quiet)
    held = max(1, round(hold_out * len(games))) if hold_out > 0 else 0
    if held >= len(games):
        raise SpecError(f"{' '.join(files)}: {len(games)} games, too few to hold one out")
    test, train = games.split(held / len(games), seed)
    settings = design(layers, units, size=size, seed=seed)
    plan = Plan(positions=positions, negatives=negatives, batch=batch, rate=rate, seed=seed)
    trainer = Imitator(settings, train, plan, device=device, workers=workers, half=half)
    remark(f"{settings.architecture.weights} weights, {len(train)} games", quiet=quiet)
    folder = out.with_suffix(".state")
    losses: list[float] = []
    with progress("positions", plan.steps * batch, quiet=quiet) as bar:

        def watch(report: Report) -> None:
            losses.append(report.loss)
            note = f"loss {report.loss:.3f}, first {report.top1:.1%}"
            bar.advance(report.positions - bar.done, note)

        free = learn(trainer, folder=folder, resume=resume, watch=watch)
    SymmetryNetwork.from_free(free, settings, len(train)).save(out)
    value: dict[str, Any] = {
        "model": str(out),
        "weights": settings.architecture.weights,
        "games": len(train),
        "positions": plan.steps * batch,
        "loss": losses[-1] if losses else None,
        "beta": trainer.beta,
        "held_out": None,
    }
    text = f"{out} after {plan.steps * batch} positions of {len(train)} games"
    if held:
        found = trainer.rank(test, measured, seed=seed)
        value["held_out"] = {"games": len(test), **asdict(found)}
        text += (
            f"; of {found.positions} positions left out, among all legal moves: "
            f"first {found.top1:.1%}, among five {found.top5:.1%}, loss {found.loss:.3f}"
        )
    emit(value, as_json=as_json, text=text)
