"""List models and show their cards; know nothing about what is in them."""

from __future__ import annotations

import shutil
from typing import Any

import typer

from tengen.cli.options import Json, argument
from tengen.cli.printing import emit, remark

app = typer.Typer(add_completion=False)


@app.command()
def models(
    name: str | None = argument("Show one model's whole card.", default=None),
    json: Json = False,
) -> None:
    """List the models and their measured strength, or show one card."""
    from tengen.models import list_models, read_card

    if name is not None:
        card = read_card(name)
        emit(card.model_dump(), json=json, text=_card_text(card))
        return
    entries = list_models()
    if json:
        emit([_as_value(entry) for entry in entries], json=True)
        return
    rows = [("name", "kind", "size", "measured"), *map(_row, entries)]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    room = shutil.get_terminal_size().columns - sum(widths) - 2 * len(widths)
    for *cells, measured in rows:
        lead = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        print(f"{lead}  {_cut(measured, room)}".rstrip())
    remark("More of one: tengen models NAME")


def _row(entry: Any) -> tuple[str, str, str, str]:
    """Describe one model in four cells: name, kind, size and its first measurement."""
    size = f"{entry.bytes / 1e6:.1f} MB" if entry.bytes >= 1e5 else f"{entry.bytes / 1e3:.0f} kB"
    if entry.card is None:
        return entry.name, "?", size, entry.error
    results = entry.card.results
    first = f"{results[0].value:.3f} {results[0].what}" if results else entry.card.what
    return entry.name, entry.card.kind, size, first


def _cut(text: str, room: int) -> str:
    """Shorten a text to what the line still holds, but never to nothing."""
    room = max(room, 12)
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def _card_text(card: Any) -> str:
    """Tell everything a model's card says."""
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
    """Turn one entry of the list into what JSON can hold."""
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
