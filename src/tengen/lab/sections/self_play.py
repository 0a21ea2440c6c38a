"""From nothing: what networks of 2003 to today learn by their own games alone; recorded, not run.

The trainings need a GPU, so the page shows what they gave when they were made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.lab.content import Dot, Dots, Result, percent, table
from tengen.lab.steps import Context, Experiment
from tengen.statistics import wilson

_FILE = Path(__file__).parents[1] / "from_nothing.json"
PAGE = "docs/results/self-play.md"


@dataclass(frozen=True)
class _Learned:
    """A network after two million positions of its own games, and what it won, of so many."""

    network: str
    weights: int
    games: int
    """Games that it played against itself."""
    command: str
    one_ply: tuple[int, int]
    """Against maxlib, by the position it likes best after one ply."""
    first_choice: tuple[int, int] | None
    """Against maxlib, by its likeliest move; None where it learned nothing of moves."""
    against_static: tuple[int, int] | None
    """The same against static."""


def learned() -> list[_Learned]:
    """Return the recorded trainings, in the order of the story."""
    from pydantic import TypeAdapter

    return TypeAdapter(list[_Learned]).validate_json(_FILE.read_bytes())


def story(context: Context, size: bool) -> Result:
    """Show the recorded trainings."""
    rows = learned()
    return Result(
        text="The road of three of the papers, walked on: a network is told only the rules of 9x9 "
        "and plays against itself. All saw two million positions of their own games; what differs "
        "is how many weights they have, whether the board's symmetry ties them, and whether they "
        "learn from what a search found or by temporal differences from what they said next. "
        f"Recorded on 2026-11-16 on one GPU, one seed each; {PAGE} has the commands.",
        figures=[
            _dots("One ply by its own judgement, against maxlib", rows, "one_ply"),
            _dots("First choice, against maxlib", rows, "first_choice"),
            _dots("First choice, against static", rows, "against_static"),
        ],
        tables=[
            table(
                "Recorded: wins on 9x9, 95 % intervals",
                ["network", "weights", "one ply, maxlib", "first choice, maxlib", "static"],
                [
                    [row.network, row.weights, *map(_share, (
                        row.one_ply, row.first_choice, row.against_static))]
                    for row in rows
                ],
                note="Without a cell: learned nothing of moves, so that it has no first choice.",
            )
        ],
    )  # fmt: skip


def _share(won: tuple[int, int] | None) -> str:
    return "" if won is None else percent(won[0] / won[1], wilson(*won))


def _dots(title: str, rows: list[_Learned], name: str) -> Dots:
    found = [(row.network, won) for row in rows if (won := getattr(row, name)) is not None]
    return Dots(
        title,
        "games won",
        [Dot(network, won[0] / won[1], *wilson(*won)) for network, won in found],
    )


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "from-nothing", "self-play", "What the papers would have seen", story,
        quick=True, full=True, minutes=(0.1, 0.1),
    ),
)  # fmt: skip
