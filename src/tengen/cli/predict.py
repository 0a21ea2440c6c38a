"""Show the likely moves of a position in a game record."""

from __future__ import annotations

import typer

from tengen.cli.options import (
    Position,
    Shown,
    command,
    option,
)
from tengen.cli.printing import emit

app = typer.Typer(add_completion=False)


@command(app)
def predict(
    where: Position,
    model: str | None = option(None, "Name or path; by default the best one for the board."),
    top: int = option(10, "How many moves to list.", min=1),
    *,
    shown: Shown,
) -> None:
    """Print the board before move N with the likely moves, best first as a, b, c, ..."""
    import numpy as np

    from tengen.board import BLACK, format_gtp, point_at
    from tengen.board.drawing import format_ascii
    from tengen.models import load_policy
    from tengen.models.defaults import policy_for

    record, board, number = where.read()
    rows, cols = board.rows, board.cols
    name = model or policy_for(rows, cols)
    priors = load_policy(name).priors(board)
    played = None
    if number <= len(record.moves):
        played = format_gtp(record.moves[number - 1][1], rows, cols)
    order = [int(i) for i in np.argsort(-priors, kind="stable")[:top] if priors[i] > 0]
    vertices = [format_gtp(point_at(index, rows, cols), rows, cols) for index in order]
    result = {
        "file": where.file,
        "game": where.game,
        "move": number,
        "to_play": "black" if board.turn == BLACK else "white",
        "model": name,
        "played": played,
        "moves": [
            {"move": vertex, "probability": float(priors[index])}
            for vertex, index in zip(vertices, order, strict=True)
        ],
    }
    letters = {index: chr(97 + k) for k, index in enumerate(order[:26]) if index < rows * cols}
    lines = [format_ascii(board.grid(), letters)]
    lines.append(f"move {number}, {result['to_play']} to play")
    for k, (vertex, index) in enumerate(zip(vertices, order, strict=True)):
        letter = chr(97 + k) if k < 26 else " "
        mark = "  played" if vertex == played else ""
        lines.append(f"{letter} {vertex:>4} {100 * priors[index]:6.2f} %{mark}")
    emit(result, json=shown.json, text="\n".join(lines))
