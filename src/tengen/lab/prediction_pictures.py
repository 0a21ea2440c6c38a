"""Draw what predictors have learned: the patterns that tell most, the moves a model expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.lab.content import Picture, percent
from tengen.lab.pictures import EMPTY, ENEMY, OUTSIDE, OWN, UNKNOWN, pattern

if TYPE_CHECKING:
    from tengen.learners.move_prediction import PaperSettings
    from tengen.records.arrays import GameArrays

_LARGEST_SHOWN = 5
"""The largest template that is drawn, as a ring: up to three points away."""


def telling_patterns(train: GameArrays, settings: PaperSettings, count: int) -> list[Picture]:
    """Draw the patterns of the paper's dictionary that say most about where one plays."""
    from tengen.learners.move_prediction.paper_training import halves, learn_frequencies
    from tengen.learners.move_prediction.pattern_kernels import RING_LIMITS
    from tengen.records.record import positions

    part, _ = halves(train, settings)
    model = learn_frequencies(train, part, settings)
    number = {int(key): i + 1 for i, key in enumerate(model.dictionary.keys)}
    seen: dict[int, int] = {}
    shown: dict[int, list[str]] = {}
    for game in part[:200]:
        record = train.record(int(game))
        keys = iter(_keys(train, int(game), settings.templates))
        for board, (colour, point) in positions(record):
            if point:
                row, col = point // (record.cols + 1) - 1, point % (record.cols + 1) - 1
                known = [
                    (number[int(key)], ring)
                    for key, ring in zip(next(keys), settings.templates, strict=True)
                    if int(key) in number
                ]
                # The largest known pattern is the one that counts; whole boards tell nobody much.
                if known and known[-1][1] <= _LARGEST_SHOWN:
                    feature, ring = known[-1]
                    seen[feature] = seen.get(feature, 0) + 1
                    if feature not in shown:
                        limit = int(RING_LIMITS[ring])
                        shown[feature] = _cells(board.grid(), row, col, colour, limit)
    worth = sorted(
        (f for f in shown if seen[f] >= 3), key=lambda f: (-model.frequency[f], -seen[f], f)
    )
    return [
        Picture(f"played {percent(float(model.frequency[f]))} of the time", pattern(shown[f]))
        for f in worth[:count]
    ]


def _keys(games: Any, game: int, templates: tuple[int, ...]) -> Any:
    """Return the keys of all templates at every move of one game, passes left out."""
    from tengen.learners.move_prediction import paper_kernels
    from tengen.learners.move_prediction.tables import Tables

    rows, cols = int(games.rows[game]), int(games.cols[game])
    tables = Tables.of(rows, cols)
    out = np.zeros((int(games.lengths()[game]), len(templates)), np.int64)
    n = paper_kernels.expert_patterns(
        games.moves, games.colours, games.offsets, np.array([game]), rows, cols,
        tables.empty, tables.hash_keys, tables.ring_of, np.array(templates, np.int64), out,
    )  # fmt: skip
    return out[: int(n)]


def _cells(board: Any, row: int, col: int, mover: int, limit: int) -> list[str]:
    """Return the pattern around a point as lines of cells; the template is d <= `limit`."""
    rows, cols = board.shape
    reach = max(d for d in range(1, 8) if 2 * d <= limit)
    lines = []
    for dr in range(-reach, reach + 1):
        text = ""
        for dc in range(-reach, reach + 1):
            r, c = row + dr, col + dc
            if abs(dr) + abs(dc) + max(abs(dr), abs(dc)) > limit:
                text += UNKNOWN
            elif not (0 <= r < rows and 0 <= c < cols):
                text += OUTSIDE
            else:
                stone = int(board[r, c])
                text += EMPTY if stone == 0 else OWN if stone == mover else ENEMY
        lines.append(text)
    return lines


def opinions() -> list[Picture]:
    """Draw what the shipped predictor expects in a position."""
    from tengen.board import Board, Move, point_at
    from tengen.lab.sections.symmetry_network import POSITION
    from tengen.models import has_model, load_policy

    if not has_model("predictor-small"):
        return []
    board = Board(9, moves=POSITION)
    chances = np.asarray(load_policy("predictor-small").priors(board))[:-1]
    order = np.argsort(-chances)[:5]
    marks: dict[Move, str] = {
        board.answer(point_at(int(i), 9, 9)): f"{100 * chances[i]:.0f}"
        for i in order
        if chances[i] >= 0.02
    }
    svg = board.svg(marks=marks, heat=np.sqrt(chances), cell=22)
    return [Picture("predictor-small: chances of Black's next move, in %", svg)]
