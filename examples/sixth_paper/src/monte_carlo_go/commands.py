"""`tengen train monte-carlo-go` and `tengen evaluate monte-carlo-go`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monte_carlo_go.learner import FirstMoves, FirstMovesSettings
from monte_carlo_go.player import move_values
from tengen.commands import Learner, Seed, Shown, Workers, argument, option


def train(
    settings: FirstMovesSettings,
    out: Path = option(Path("first-moves.safetensors"), "Where to write the model."),
    *,
    shown: Shown,
) -> None:
    """Value the moves on the empty board; the model sums the values of all stones."""
    model = FirstMoves(settings=settings).fit()
    model.save(out)
    shown.result({"model": str(out), "best": model.values_.max(), "worst": model.values_.min()})


def evaluate(
    model: str = argument("A name or a path."),
    games: int = option(100, "Games, each opening with both colours.", min=2),
    opponent: str = option("random", "The other player."),
    workers: Workers = 1,
    seed: Seed = 1,
    *,
    shown: Shown,
) -> None:
    """Let a model choose moves by itself, one ply deep, against an opponent."""
    from tengen.arena import play_match
    from tengen.models import load_learner

    size = load_learner(model).settings.size
    match = play_match(
        f"greedy:model={model}", opponent, games=games, size=size, workers=workers, seed=seed
    )
    rate = {"win_rate": match.win_rate_a, "interval": match.interval}
    shown.result({"model": model, "opponent": opponent, "games": match.games, **rate})


def warm() -> list[Any]:
    """Run the kernel once."""
    from tengen.board import Board

    values, mean = move_values(Board(5), 3, seed=1)
    return [values, mean]


LEARNER = Learner(
    train, evaluate, "Value first moves (Brügmann 1993).", "Play by first moves' values.", warm,
)  # fmt: skip
