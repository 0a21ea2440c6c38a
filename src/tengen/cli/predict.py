"""The command `predict`: likely moves, outcome and ownership of a position in a game record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tengen.cli.options import Position, Shown, command, flag, option
from tengen.cli.printing import emit, remark, table

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.learners.network.learner import Evaluation

app = typer.Typer()


@command(app)
def predict(
    where: Position,
    model: str | None = option(None, "Name or path; by default the best one for the board."),
    top: int = option(10, "Number of moves to list.", min=1),
    ownership: bool = flag(
        "--ownership", "Also show who will own each point, and each group's chance of survival."
    ),
    maps: bool = flag(
        "--maps", "Show instead what a symmetry network (isn-best) expects of each point."
    ),
    out: Path | None = option(None, "With --ownership or --maps: write a picture (SVG)."),
    *,
    shown: Shown,
) -> None:
    """Print the board before move N with the likely moves, best first as a, b, c, ..."""
    import numpy as np

    from tengen.board import BLACK, format_gtp, point_at
    from tengen.board.counting import format_result
    from tengen.board.drawing import format_ascii
    from tengen.errors import ModelError, SpecError
    from tengen.files import refuse_inputs, write_atomic
    from tengen.models import load_policy
    from tengen.models.defaults import policy_for
    from tengen.reviews.survival import draw_survival, survival

    if out is not None:
        refuse_inputs(out, [where.file])
        if not (ownership or maps):
            raise SpecError("--out needs --ownership or --maps")
    if maps:
        _show_maps(where, model or "isn-best", out, shown)
        return
    record, board, number = where.read()
    rows, cols = board.rows, board.cols
    name = model or policy_for(rows, cols)
    policy = load_policy(name)
    view = _view(policy, board)
    priors = policy.priors(board) if view is None else view.priors
    played = None
    if number <= len(record.moves):
        played = format_gtp(record.moves[number - 1][1], rows, cols)
    order = [int(i) for i in np.argsort(-priors, kind="stable")[:top] if priors[i] > 0]
    vertices = [format_gtp(point_at(index, rows, cols), rows, cols) for index in order]
    result: dict[str, Any] = {
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
        "win_probability": None if view is None else view.win_probability,
        "score": None if view is None else view.score,
    }
    letters = {index: chr(97 + k) for k, index in enumerate(order[:26]) if index < rows * cols}
    lines = [format_ascii(board.grid(), letters)]
    lines.append(f"move {number}, {result['to_play']} to play")
    for k, (vertex, index) in enumerate(zip(vertices, order, strict=True)):
        letter = chr(97 + k) if k < 26 else " "
        mark = "  played" if vertex == played else ""
        lines.append(f"{letter} {vertex:>4} {100 * priors[index]:6.2f} %{mark}")
    if view is not None:
        expected = format_result(round(view.score, 1))
        lines.append(
            f"Black wins with {100 * view.win_probability:.0f} %, expected score {expected}"
        )
    if not ownership:
        emit(result, json=shown.json, text="\n".join(lines))
        return
    if view is None:
        raise ModelError(f"{name} does not predict ownership")
    groups = survival(board, view.ownership)
    if out is not None:
        write_atomic(out, draw_survival(board, groups) + "\n")
        remark(f"picture: {out}", quiet=shown.quiet)
    result["ownership"] = view.ownership.reshape(rows, cols).tolist()
    result["groups"] = [group.to_dict() for group in groups]
    emit(result, json=shown.json, text="\n".join(lines))
    if not shown.json:
        columns = ["group", "colour", "stones", "chance"]
        cells = [
            (
                str(group.stones[0]),
                "black" if group.colour == BLACK else "white",
                len(group.stones),
                f"{100 * group.chance:.0f} %",
            )
            for group in groups
        ]
        table("Survival", columns, cells)


def _view(policy: Any, board: Board) -> Evaluation | None:
    """Return everything a network predicts for a position; None for other policies."""
    return policy.evaluate([board])[0] if hasattr(policy, "evaluate") else None


def _show_maps(where: Position, model: str, out: Path | None, shown: Shown) -> None:
    """Show the seven outputs of a symmetry network: territory, captured stones, eyes."""
    import numpy as np

    from tengen.board import PASS, index_of
    from tengen.files import write_atomic
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.pictures import format_maps

    network = SymmetryNetwork.load(model)
    _, board, number = where.read()
    maps = network.heat_maps(board)
    score = float(network.values([board])[0])
    if out is not None:
        last = board.last_move
        mark = None if last in (None, PASS) else index_of(int(last), board.rows, board.cols)
        write_atomic(out, format_maps(board.grid(), maps, last=mark, title=f"before move {number}"))
        remark(f"picture: {out}", quiet=shown.quiet)
    value = {
        "file": where.file,
        "game": where.game,
        "move": number,
        "model": model,
        "score": score,
        "maps": {
            name: [[None if np.isnan(v) else float(v) for v in row] for row in values]
            for name, values in maps.items()
        },
    }
    lines = []
    for name, values in maps.items():
        lines.append(f"{name}:")
        for row in values:
            lines.append(" ".join("  ." if np.isnan(v) else f"{100 * v:3.0f}" for v in row))
    lines.append(f"expected score for Black, komi included: {score:+.1f}")
    emit(value, json=shown.json, text="\n".join(lines))
