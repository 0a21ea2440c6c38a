"""The command `models`: list, show, export and average models."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.options import Json, argument, option
from tengen.cli.printing import emit, remark
from tengen.cli.printing import show as show_value

if TYPE_CHECKING:
    from tengen.models import Card

app = typer.Typer()

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
    """Show a model's card; of a network also its size and how exactly it keeps the symmetries."""
    from tengen.models import read_card

    card = read_card(name)
    details = _details(name, card)
    emit({**card.model_dump(), **details}, json=json, text=_card_text(card))
    if details and not json:
        show_value(details, json=False)


@app.command()
def export(name: _Model, out: Path = argument("The ONNX file to write.")) -> None:
    """Write a network as ONNX, for other programs."""
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
    """Measure what a network is; nothing for other models."""
    if card.kind == "network":
        from tengen.learners.network import DeepNetwork
        from tengen.learners.network.describe import describe

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
    """Describe a model in four cells: name, kind, size and its first measurement."""
    size = f"{entry.bytes / 1e6:.1f} MB" if entry.bytes >= 1e5 else f"{entry.bytes / 1e3:.0f} kB"
    if entry.card is None:
        return entry.name, "?", size, entry.error
    results = entry.card.results
    first = f"{results[0].value:.3f} {results[0].what}" if results else entry.card.what
    return entry.name, entry.card.kind, size, first


def _card_text(card: Card) -> str:
    """Return everything a model's card says."""
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
    """Turn an entry of the list into what JSON can hold."""
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
