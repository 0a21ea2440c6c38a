"""The commands `train opening-evolution` and `evaluate opening-evolution`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from tengen.cli.options import (
    RunFolder,
    Seed,
    Shared,
    Shown,
    command,
    option,
)
from tengen.cli.printing import progress, show
from tengen.learners.opening_evolution.settings import EvolutionSettings

app = typer.Typer(no_args_is_help=True)


@command(app)
def train(
    settings: EvolutionSettings,
    run: RunFolder,
    work: Shared,
    shown: Shown,
) -> None:
    """Evolve a network; the same seed gives the same network on any number of workers."""
    from tengen.lab.opening_evolution import train
    from tengen.learners.opening_evolution import Breeding
    from tengen.models import to_plain

    name = f"{settings.network}-{settings.rows}x{settings.rows}-seed{settings.seed}"
    folder = run.out or Path("runs") / "opening-evolution" / name
    settings = run.settings(folder, settings)
    with progress("generations", settings.generations, quiet=shown.quiet) as bar:

        def advance(state: Breeding) -> None:
            bar.advance(state.generation - bar.done, f"best {state.fitness.max():+.1f}")

        path = train(
            folder,
            settings,
            resume=run.resume,
            workers=work.workers,
            ray=work.ray,
            on_generation=advance,
        )
    show({"model": str(path), "settings": to_plain(settings)}, json=shown.json)


@command(app)
def evaluate(
    games: int = option(400, "Openings, with both colours.", min=2),
    opponent: str = option("random", "Who plays the other side."),
    expert: str = option("static", "Who finishes the games and counts them."),
    model: str | None = option(None, "A shipped name or a path."),
    player: str = option("", "Any player's spec instead, on the games of the model."),
    rival: str | None = option(None, "An evolved model, by name or path, as the opponent."),
    random_plies: int = option(4, "Random plies before each game.", min=0),
    seed: Seed = 1,
    *,
    shown: Shown,
) -> None:
    """Play the model's openings against an opponent's; the expert finishes both colours."""
    from tengen.lab.opening_evolution import CHAMPIONS, Duel, play_duel
    from tengen.models import find_model
    from tengen.statistics import Rate

    name = model or CHAMPIONS[0]
    other = str(find_model(rival)) if rival else opponent
    duel = Duel(name, other, expert, games, seed, random_plies=random_plies, player=player)
    rate = Rate.of(play_duel(duel)["scores"])
    who = {"model": player or name, "opponent": rival or opponent, "expert": expert}
    show({**who, **asdict(rate), "seed": seed}, json=shown.json)
