"""The commands `models` and `players`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.commands.options import Json, argument, command, option
from tengen.commands.printing import Shown, table
from tengen.errors import SpecError, unknown
from tengen.files import refuse_inputs

if TYPE_CHECKING:
    from tengen.models import Card

app = typer.Typer()
lists = typer.Typer()

_Model = Annotated[str, typer.Argument(help="Name or path of a model.")]


@app.callback(invoke_without_command=True)
def models(context: typer.Context, json: Json = False) -> None:
    """List the models with their measured strength; show, export and average them."""
    from tengen.models import list_models

    if context.invoked_subcommand is not None:
        return
    entries = list_models()
    if Shown(json=json).as_json([_as_value(entry) for entry in entries]):
        return
    rows = [("name", "kind", "size", "measured"), *map(_row, entries)]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    room = max(shutil.get_terminal_size().columns - sum(widths) - 2 * len(widths), 12)
    for *cells, measured in rows:  # one line per model, to fit a screen
        lead = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        cut = measured if len(measured) <= room else measured[: room - 1].rstrip() + "…"
        print(f"{lead}  {cut}".rstrip())
    Shown().remark("More about one: tengen models show NAME")


@command(app)
def show(name: _Model, *, shown: Shown) -> None:
    """Show a model's card; for networks also the size and the equivariance error."""
    from tengen.models import read_card

    card = read_card(name)
    details = _details(name, card)
    if shown.as_json({**card.model_dump(), **details}):
        return
    print(_card_text(card))
    if details:
        shown.result(details)


@command(app)
def export(name: _Model, out: Path = argument("The ONNX file to write.")) -> None:
    """Export a network as ONNX."""
    from tengen.network import DeepNetwork
    from tengen.network.export import export_onnx

    refuse_inputs(out, [name])
    export_onnx(DeepNetwork.load(name), out)
    Shown().remark(f"wrote {out}")


@command(app)
def average(
    names: Annotated[list[str], typer.Argument(help="Names or paths of networks.")],
    out: Path = option(..., "The model file to write."),
) -> None:
    """Write the mean of networks' weights, for example of a network at two stages of training."""
    from tengen.network import DeepNetwork

    refuse_inputs(out, names)
    made = DeepNetwork.average([DeepNetwork.load(name) for name in names])
    sources = ", ".join(Path(name).stem for name in names)
    made.save(out, name=out.stem, data=f"the mean of the weights of {sources}")
    Shown().remark(f"wrote {out}")


def _details(name: str, card: Card) -> dict[str, Any]:
    """Return what a model of this kind says of itself (`describe`); networks: size, symmetry."""
    from tengen.extensions import MODELS, entries
    from tengen.models import load_learner, model_class

    known = card.kind in entries(MODELS) and hasattr(model_class(card.kind), "describe")
    return load_learner(name).describe() if known else {}


def _row(entry: Any) -> tuple[str, str, str, str]:
    """Return name, kind, size and first measurement of a model."""
    size = f"{entry.bytes / 1e6:.1f} MB" if entry.bytes >= 1e5 else f"{entry.bytes / 1e3:.0f} kB"
    if entry.card is None:
        return entry.name, "?", size, entry.error
    results = entry.card.results
    first = f"{results[0].value:.3f} {results[0].what}" if results else entry.card.what
    return entry.name, entry.card.kind, size, first


def _card_text(card: Card) -> str:
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
    value = {"name": entry.name, "path": str(entry.path), "bytes": entry.bytes}
    card: dict[str, Any] = {"kind": None, "what": None, "remake": None, "results": []}
    if entry.card:
        card = entry.card.model_dump(include=set(card))
    return {**value, **card, "remake": card["remake"] or None, "error": entry.error or None}


_RATED = ("9x9", "13x13", "19x19")  # boards that have a ladder


@command(lists)
def players(
    name: str | None = argument("Show one player's options.", default=None), *, shown: Shown
) -> None:
    """List the players and how to name them, or show one player's options."""
    from tengen.arena.placing import rank_of, recorded
    from tengen.players import player_kinds

    known = player_kinds()
    if name is not None and name not in known:
        raise SpecError(unknown("player", name, known))
    kinds = [known[name]] if name else list(known.values())
    values = [_kind_value(kind) for kind in kinds]
    if shown.as_json(values[0] if name else values):
        return
    if name:
        _show_player(values[0])
        return
    rows = [(k.name, k.help, k.example, " ".join(o.name for o in k.options)) for k in kinds]
    table("", ["player", "what it does", "for example", "options"], rows)
    rated = [
        (e["size"], e["player"], f"{e['elo']:.0f}", _between(e["interval"]), rank_of(e["elo"]))
        for e in recorded()
    ]
    title = "On the shipped ladders, GNU Go 3.8 level 10 = 1800"
    table(title, ["board", "player", "Elo", "95 %", "about"], rated)
    print(
        "A spec is NAME or NAME:key=value,...; then= takes the rest. Experts: builtin or a player."
    )


def _between(interval: list[float]) -> str:
    return f"{interval[0]:.0f} to {interval[1]:.0f}"


def _kind_value(kind: Any) -> dict[str, Any]:
    """Return a kind of players as plain data; `tengen` with its levels."""
    facts = ("name", "kind", "help", "default", "required")
    options = [{fact: getattr(each, fact) for fact in facts} for each in kind.options]
    for each in options:
        each["default"] = each["default"] or None
    value = {name: getattr(kind, name) for name in ("name", "help", "syntax", "example")}
    return {**value, "options": options, **({"levels": _levels()} if kind.name == "tengen" else {})}


def _levels() -> list[dict[str, Any]]:
    from tengen.arena.placing import level_ratings
    from tengen.players.tengen import LEVELS

    sizes, levels = {size: level_ratings(size) for size in _RATED}, []
    for number, level in LEVELS.items():
        ratings = {size: rated[number] for size, rated in sizes.items() if number in rated}
        levels.append({"level": number, "about": level.about, "ratings": ratings})
    return levels


def _show_player(value: dict[str, Any]) -> None:
    """Print one player's options; for `tengen` also the levels with Elo and rank on each board."""
    print(f"{value['name']}: {value['help']}\n  {value['example']}")
    if value["options"]:
        rows = [(o["name"], o["kind"], o["default"] or "", o["help"]) for o in value["options"]]
        table("", ["option", "kind", "default", "what it does"], rows)
    if "levels" not in value:
        return
    title = "Levels: Elo (95 %), GNU Go 3.8 level 10 = 1800, and about what rank"
    levels = []
    for level in value["levels"]:
        words = {
            size: f"{rated['elo']:.0f} ({_between(rated['interval'])}), {rated['rank']}"
            for size, rated in level["ratings"].items()
        }
        known = (words.get(size, "not rated") for size in _RATED)
        levels.append((level["level"], level["about"], *known))
    table(title, ["level", "how it plays", *_RATED], levels)
