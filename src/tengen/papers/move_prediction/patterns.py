"""The patterns that are played most often when they are on the board, as rows and as pictures."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tengen.board import row_col
from tengen.lab.drawing import EMPTY, ENEMY, OUTSIDE, OWN, UNKNOWN, pattern
from tengen.lab.formatting import percent
from tengen.lab.result import Picture
from tengen.papers.move_prediction import training
from tengen.papers.move_prediction.kernels import RING_LIMITS
from tengen.papers.move_prediction.settings import PredictionSettings
from tengen.papers.move_prediction.training import halves, learn_frequencies
from tengen.records.arrays import GameArrays
from tengen.records.record import positions

_LARGEST_DRAWN = 5  # the largest template to draw, as a ring: up to three points away


def telling_patterns(
    train: GameArrays, settings: PredictionSettings, count: int
) -> list[dict[str, Any]]:
    """Return the patterns of the dictionary that are played most often when present, as rows."""
    part, _ = halves(train, settings)
    model = learn_frequencies(train, part, settings)
    number = {int(key): i + 1 for i, key in enumerate(model.keys)}
    seen: Counter[int] = Counter()
    shown: dict[int, list[str]] = {}
    for game in part[:200]:
        record = train.record(int(game))
        keys = training.expert_keys(train.take([int(game)]), settings.templates)
        moves = ((board, *move) for board, move in positions(record) if move[1])
        for (board, colour, point), found in zip(moves, keys, strict=False):
            sizes = zip(map(int, found), settings.templates, strict=True)
            known = [(number[key], ring) for key, ring in sizes if key in number]
            # Only the largest known pattern counts; whole boards are not worth drawing.
            if known and known[-1][1] <= _LARGEST_DRAWN:
                feature, ring = known[-1]
                seen[feature] += 1
                if feature not in shown:
                    place = row_col(point, record.cols)
                    shown[feature] = _cells(board.grid(), *place, colour, int(RING_LIMITS[ring]))
    worth = sorted(
        (f for f in shown if seen[f] >= 3), key=lambda f: (-model.frequency[f], -seen[f], f)
    )
    return [
        {"seen": seen[f], "frequency": float(model.frequency[f]), "cells": "/".join(shown[f])}
        for f in worth[:count]
    ]


def picture(cells: str, frequency: float) -> Picture:
    """Draw a pattern of the rows."""
    return Picture(f"played {percent(frequency)} of the time", pattern(cells.split("/")))


def _cells(board: Any, row: int, col: int, mover: int, limit: int) -> list[str]:
    """Return the pattern around a point as lines of cells; the template is d <= `limit`."""
    rows, cols = board.shape
    reach = min(limit // 2, 7)

    def cell(dr: int, dc: int) -> str:
        r, c = row + dr, col + dc
        if abs(dr) + abs(dc) + max(abs(dr), abs(dc)) > limit:
            return UNKNOWN
        if not (0 <= r < rows and 0 <= c < cols):
            return OUTSIDE
        return EMPTY if board[r, c] == 0 else OWN if board[r, c] == mover else ENEMY

    around = range(-reach, reach + 1)
    return ["".join(cell(dr, dc) for dc in around) for dr in around]
