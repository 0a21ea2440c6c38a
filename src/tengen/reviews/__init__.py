"""Reviews of games: what each move lost, better moves, annotated records, tables over many games.

`game` reviews one game, `annotate` writes a review into its SGF record, `batch` reviews whole
collections into a folder and sums them up.
The game, the models and `ReviewSettings` determine every number. The interactive page is in `web`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tengen.models.settings import CheckedSettings, setting

DEFAULT_PLAYER = "tengen"


@dataclass(frozen=True)
class ReviewSettings(CheckedSettings):
    """How long to analyse a game, and how much of the review to show."""

    quick: bool = setting(False, "Evaluate every position once; search only to confirm mistakes.")
    visits: int | None = setting(
        None, "Visits per searched position; by the board's size if not given.", least=2
    )
    searches: int = setting(30, "Moves to search at most, the most doubtful first.", least=0)
    player: str = setting(
        DEFAULT_PLAYER, "Player that analyses; any other than tengen searches every position."
    )
    top: int = setting(5, "Mistakes and surprises to show.", least=0)
    ownership: bool = setting(False, "Mark ownership on every node of the SGF (TB, TW).")
    seed: int = setting(0, "Seed of every random choice.", least=0)


def usual_threshold(level: int | None) -> float:
    """Return the points that a move must lose for a teacher to stop a game against a level."""
    for highest, points in ((2, 8.0), (4, 5.0), (6, 3.0)):
        if level is not None and level <= highest:
            return points
    return 2.0
