"""The commands `models` and `players`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.options import Json, argument, option
from tengen.cli.printing import emit, remark, table
from tengen.cli.printing import show as show_value

if TYPE_CHECKING:
    from tengen.models import Card

app = typer.Typer()
lists = typer.Typer()

# ----- models -----

_Model = Annotated[str, typer.Argument(help="Name or path of a model.")]


@app.callback(invoke_without_command=True)
def models(context: typer.Context, json: Json = False) -> None:
    """List the models with their measured strength; show, export and average them."""
    from tengen.models import list_models

    if context.invoked_subcommand is not None:
        return
    entries = list_models()
    if json:
        emit([_as_value(entry) for entry in entries], json=True)
        return
    rows = [("name", "kind", "size", "measured"), *map(_row, entries)]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    room = max(shutil.get_terminal_size().columns - sum(widths) - 2 * len(widths), 12)
    for *cells, measured in rows:  # one line per model, to fit a screen
        lead = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        shown = measured if len(measured) <= room else measured[: room - 1].rstrip() + "…"
        print(f"{lead}  {shown}".rstrip())
    remark("More about one: tengen models show NAME")


@app.command()
def show(name: _Model, json: Json = False) -> None:
    """Show a model's card; for networks also the size and the equivariance error."""
    from tengen.models import read_card

    card = read_card(name)
    details = _details(name, card)
    emit({**card.model_dump(), **details}, json=json, text=_card_text(card))
    if details and not json:
        show_value(details, json=False)


@app.command()
def export(name: _Model, out: Path = argument("The ONNX file to write.")) -> None:
    """Export a network as ONNX."""
    from tengen.files import refuse_inputs
    from tengen.learners.network import DeepNetwork
    from tengen.learners.network.export import export_onnx

    refuse_inputs(out, [name])
    export_onnx(DeepNetwork.load(name), out)
    remark(f"wrote {out}")


@app.command()
def average(
    names: Annotated[list[str], typer.Argument(help="Names or paths of networks.")],
    out: Path = option(..., "The model file to write."),
) -> None:
    """Write the mean of networks' weights, for example of a network at two stages of training."""
    from tengen.files import refuse_inputs
    from tengen.learners.network import DeepNetwork

    refuse_inputs(out, names)
    made = DeepNetwork.average([DeepNetwork.load(name) for name in names])
    sources = ", ".join(Path(name).stem for name in names)
    made.save(out, name=out.stem, data=f"the mean of the weights of {sources}")
    remark(f"wrote {out}")


def _details(name: str, card: Card) -> dict[str, Any]:
    """Return the size and the equivariance error of a network; nothing for other models."""
    if card.kind == "network":
        from tengen.learners.network import DeepNetwork
        from tengen.learners.network.evaluation import describe

        return describe(DeepNetwork.load(name))
    if card.kind == "symmetry-network":
        from tengen.learners.symmetry_network import SymmetryNetwork
        from tengen.learners.symmetry_network import network as definition

        network = SymmetryNetwork.load(name)
        shape, sizes = network.architecture, (5, 9, 19)
        errors = (definition.equivariance_error(shape, network.free_, size=n) for n in sizes)
        return {
            "free_parameters": shape.weights,
            "biases": shape.biases,
            "hidden": shape.hidden,
            "inputs": definition.INPUTS,
            "outputs": len(definition.OUTPUTS),
            "equivariance_error": max(errors),
            "connections_per_cell": shape.connections,
            "parts": {name: tying.free for name, tying in shape.parts.items()},
            "mixture": shape.cell.counts,
            "games": network.games_,
        }
    return {}


def _row(entry: Any) -> tuple[str, str, str, str]:
    """Return name, kind, size and first measurement of a model."""
    size = f"{entry.bytes / 1e6:.1f} MB" if entry.bytes >= 1e5 else f"{entry.bytes / 1e3:.0f} kB"
    if entry.card is None:
        return entry.name, "?", size, entry.error
    results = entry.card.results
    first = f"{results[0].value:.3f} {results[0].what}" if results else entry.card.what
    return entry.name, entry.card.kind, size, first


def _card_text(card: Card) -> str:
    """Format a model's card."""
    lines = [f"{card.name} ({card.kind})", card.what, ""]
    lines += [f"learned from: {card.data}"] if card.data else []
    lines += [f"made by tengen {card.version}, licence {card.licence}"]
    lines += [f"to make it again: {card.remake}"] if card.remake else []
    if card.recipe:
        lines += ["", "recipe:", *(f"  {key} = {value}" for key, value in card.recipe.items())]
    if card.results:
        lines += ["", "measured:"]
        for result in card.results:
            lines += [f"  {result}", *([f"    {result.how}"] if result.how else [])]
    return "\n".join(lines)


def _as_value(entry: Any) -> dict[str, Any]:
    """Return an entry of the list as plain data."""
    return {
        "name": entry.name,
        "path": str(entry.path),
        "bytes": entry.bytes,
        "kind": entry.card.kind if entry.card else None,
        "what": entry.card.what if entry.card else None,
        "remake": entry.card.remake or None if entry.card else None,
        "results": [r.model_dump() for r in entry.card.results] if entry.card else [],
        "error": entry.error or None,
    }


# ----- players -----

_RATED_SIZES = (9, 13, 19)
"""Boards that have a ladder."""


@lists.command()
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
    from tengen.arena.placing import rank_of, recorded
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
    """Return the levels of `tengen` with their ratings, as plain data."""
    from tengen.arena.placing import level_ratings
    from tengen.players.tengen import LEVELS

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
    from tengen.arena.placing import advise, level_ratings
    from tengen.players.tengen import find_level

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
