"""List the players and how to name them; make none of them."""

from __future__ import annotations

from typing import Any

import typer

from tengen.cli.options import Json, argument, option
from tengen.cli.printing import emit, table

app = typer.Typer()

_RATED_SIZES = (9, 13, 19)
"""Boards that have a ladder."""


@app.command()
def players(
    name: str | None = argument("Show one player's options.", default=None),
    between: tuple[int, int] | None = option(
        None, "Two levels: the handicap that makes a game even."
    ),
    json: Json = False,
) -> None:
    """List the players and how to name them, or show one player's options."""
    if between is not None:
        _advise(*between, json=json)
        return
    from tengen.arena.placing import recorded
    from tengen.arena.ranks import rank_of
    from tengen.errors import SpecError, unknown
    from tengen.players import PLAYERS
    from tengen.players.plugins import installed_kinds

    known = {**PLAYERS, **installed_kinds()}
    if name is not None and name not in known:
        raise SpecError(unknown("player", name, known))
    kinds = [known[name]] if name else list(known.values())
    if json:
        rows = [
            {
                "name": kind.name,
                "help": kind.help,
                "syntax": kind.syntax,
                "example": kind.example,
                "options": [
                    {
                        "name": option.name,
                        "kind": option.kind,
                        "help": option.help,
                        "default": option.default or None,
                        "required": option.required,
                    }
                    for option in kind.options
                ],
                **({"levels": _levels()} if kind.name == "tengen" else {}),
            }
            for kind in kinds
        ]
        emit(rows[0] if name else rows, json=True)
        return
    if name:
        kind = kinds[0]
        print(f"{kind.name}: {kind.help}\n  {kind.example}")
        options = [(o.name, o.kind, o.default, o.help) for o in kind.options]
        if options:
            table("", ["option", "kind", "default", "what it does"], options)
        if kind.name == "tengen":
            _show_levels()
        return
    table(
        "",
        ["player", "what it does", "for example", "options"],
        [(k.name, k.help, k.example, " ".join(o.name for o in k.options)) for k in kinds],
    )
    rated = [
        (
            e["size"],
            e["player"],
            f"{e['elo']:.0f}",
            f"{e['interval'][0]:.0f} to {e['interval'][1]:.0f}",
            rank_of(e["elo"]),
        )
        for e in recorded()
    ]
    if rated:
        table(
            "On the shipped ladders, GNU Go 3.8 level 10 = 1800",
            ["board", "player", "Elo", "95 %", "about"],
            rated,
        )
    print(
        "A spec is NAME or NAME:key=value,...; then= takes the rest. Experts: builtin or a player."
    )


def _levels() -> list[dict[str, Any]]:
    """Return the levels of `tengen` with what they were measured to be, as plain values."""
    from tengen.arena.ranks import level_ratings
    from tengen.players.levels import LEVELS

    sizes = {f"{n}x{n}": level_ratings(f"{n}x{n}") for n in _RATED_SIZES}
    return [
        {
            "level": number,
            "about": level.about,
            "ratings": {
                size: {
                    "elo": rating.elo,
                    "interval": list(rating.interval),
                    "games": rating.games,
                    "rank": rating.rank,
                }
                for size, rated in sizes.items()
                if (rating := rated.get(number)) is not None
            },
        }
        for number, level in LEVELS.items()
    ]


def _show_levels() -> None:
    """Print the levels with Elo, interval and rank on each board."""

    def words(rating: dict[str, Any] | None) -> str:
        if rating is None:
            return "not rated"
        low, high = rating["interval"]
        return f"{rating['elo']:.0f} ({low:.0f} to {high:.0f}), {rating['rank']}"

    sizes = [f"{n}x{n}" for n in _RATED_SIZES]
    table(
        "Levels: Elo (95 %), GNU Go 3.8 level 10 = 1800, and about what rank",
        ["level", "how it plays", *sizes],
        [
            (level["level"], level["about"], *(words(level["ratings"].get(s)) for s in sizes))
            for level in _levels()
        ],
    )


def _advise(first: int, second: int, *, json: bool) -> None:
    """Print the handicap between two levels on each board."""
    from tengen.arena.ranks import advise, level_ratings
    from tengen.players.levels import find_level

    weaker, stronger = sorted((first, second))
    for level in (weaker, stronger):
        find_level(level)
    rows: list[dict[str, Any]] = []
    for size in _RATED_SIZES:
        rated = level_ratings(f"{size}x{size}")
        if weaker in rated and stronger in rated:
            given = advise(weaker, stronger, size)
            rows.append(
                {"size": size, "stones": given.stones, "komi": given.komi, "is": str(given)}
            )
        else:
            rows.append({"size": size, "stones": None, "komi": None, "is": "not rated"})
    emit({"weaker": weaker, "stronger": stronger, "boards": rows}, json=json)
    if not json:
        title = f"What level {weaker}, Black, is given against level {stronger}"
        table(title, ["board", "handicap"], [(f"{r['size']}x{r['size']}", r["is"]) for r in rows])
