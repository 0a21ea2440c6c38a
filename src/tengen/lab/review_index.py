"""Make the page over many reviewed games: one line a game, players, phases, kinds, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tengen import __version__
from tengen.lab.review_settings import ReviewSettings
from tengen.lab.review_tables import KINDS, PHASES

_PLAYERS = 50
"""Players that the page shows; the others are in the summary."""


def make_index(
    games: Sequence[dict[str, Any]], summary: dict[str, Any], settings: ReviewSettings
) -> str:
    """Return the page as HTML; links lead to the games beside it."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"), autoescape=select_autoescape()
    )
    return environment.get_template("reviews.html").render(
        version=__version__,
        settings=settings,
        games=[_line(game) for game in games],
        summary=summary,
        players=summary["players"][:_PLAYERS],
        phases=PHASES,
        kinds=[kind for kind in KINDS if kind in summary["all"]["kinds"]],
    )


def _line(game: dict[str, Any]) -> dict[str, Any]:
    """Return what a game's line shows: sides, the worst move, and the course of the score."""
    worst = max(game["rows"], key=lambda row: row["lost"], default=None)
    return {
        **game,
        "name": Path(game["file"]).name,
        "page": f"games/{game['number']:06}.html",
        "worst": worst if worst and worst["verdict"] else None,
        "spark": _spark(game["scores"]),
    }


def _spark(scores: Sequence[float], width: int = 120, height: int = 24) -> str:
    """Return the points of a small curve of the score; the middle is an even game."""
    most = max((abs(score) for score in scores), default=0.0) or 1.0
    step = width / max(len(scores) - 1, 1)
    return " ".join(
        f"{step * n:.1f},{height / 2 * (1 - score / most):.1f}" for n, score in enumerate(scores)
    )
