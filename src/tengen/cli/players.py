"""List the players and how to name them; make none of them."""

from __future__ import annotations

from typing import Annotated

import typer

from tengen.cli.common import Json, emit, table

app = typer.Typer(add_completion=False)


@app.command()
def players(
    name: Annotated[str | None, typer.Argument(help="Show one player's options.")] = None,
    json: Json = False,
) -> None:
    """List the players and how to name them, or show one player's options."""
    from tengen.arena.placing import recorded
    from tengen.errors import SpecError
    from tengen.players import PLAYERS
    from tengen.players.plugins import installed_kinds

    known = {**PLAYERS, **installed_kinds()}
    if name is not None and name not in known:
        raise SpecError(f"there is no player {name!r}. There are: {', '.join(known)}")
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
        )
        for e in recorded()
    ]
    if rated:
        table(
            "On the shipped ladders, GNU Go 3.8 level 10 = 1800",
            ["board", "player", "Elo", "95 %"],
            rated,
        )
    print(
        "A spec is NAME or NAME:key=value,...; then= takes the rest. Experts: builtin or a player."
    )
