"""List models and show their cards; know nothing about what is in them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tengen.cli.common import Json, emit, table

app = typer.Typer(add_completion=False)


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(help="Show one model's whole card.")] = None,
    json: Json = False,
) -> None:
    """List the models and their measured strength, or show one card."""
    from tengen.models import list_models, read_card

    if name is not None:
        card = read_card(name)
        emit(card.model_dump(), as_json=json, text=card.model_dump_json(indent=2))
        return
    entries = list_models()
    if json:
        emit([_as_value(entry) for entry in entries], as_json=True)
        return
    rows = [
        (
            entry.name,
            entry.card.kind if entry.card else "?",
            f"{entry.bytes / 1e6:.1f} MB",
            "\n".join(map(str, entry.card.results)) if entry.card else entry.error,
            entry.card.what if entry.card else "",
        )
        for entry in entries
    ]
    table("", ["name", "kind", "size", "measured", "what it is"], rows)


def _as_value(entry: Any) -> dict[str, Any]:
    """Turn one entry of the list into what JSON can hold."""
    return {
        "name": entry.name,
        "path": str(entry.path),
        "bytes": entry.bytes,
        "kind": entry.card.kind if entry.card else None,
        "what": entry.card.what if entry.card else None,
        "results": [r.model_dump() for r in entry.card.results] if entry.card else [],
        "error": entry.error or None,
    }
