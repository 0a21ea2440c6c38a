"""Tell which blocks of a position will live; only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from tengen.cli.options import (
    Position,
    Shown,
    command,
    option,
)
from tengen.cli.printing import emit, remark, table

app = typer.Typer(add_completion=False)


@command(app)
def life(
    where: Position,
    model: list[str] | None = option(
        None, "Who says so; `life` and a network by default; repeatable."
    ),
    out: Path | None = option(None, "Write a picture to this file (SVG)."),
    *,
    shown: Shown,
) -> None:
    """Print each block of the board before move N with its chance to live, the doubtful first."""
    from tengen.contracts import OwnershipEvaluator
    from tengen.errors import ModelError
    from tengen.files import refuse_inputs, write_atomic
    from tengen.models import load_learner
    from tengen.review.survival import default_models, survival

    if out is not None:
        refuse_inputs(out, [where.file])
    _, board, number = where.read()
    models: dict[str, Any] = {name: load_learner(name) for name in model or ()}
    for name, one in models.items():
        if not isinstance(one, OwnershipEvaluator):
            raise ModelError(f"{name}: does not say who will own what")
    found = survival(board, models or default_models(board.rows, board.cols))
    if not found.models:
        raise ModelError("neither `life` nor a network for this board is installed")
    if out is not None:
        write_atomic(out, found.svg() + "\n")
        remark(f"picture: {out}", quiet=shown.quiet)
    value = {
        "file": where.file,
        "game": where.game,
        "move": number,
        "models": list(found.models),
        "blocks": [block.to_dict() for block in found.blocks],
    }
    emit(value, json=shown.json)
    if shown.json:
        return
    print(board.ascii())
    rows = [
        (
            block.name,
            "black" if block.colour == 1 else "white",
            len(block.stones),
            *(f"{100 * block.chances[name]:.0f} %" for name in found.models),
        )
        for block in found.blocks
    ]
    table("chance to live", ["block", "", "stones", *found.models], rows)
