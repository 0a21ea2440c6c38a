"""Measure how fast games are read, here and by sgfmill, on the same bytes."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from tengen.board import Board, play_random
from tengen.records import bulk
from tengen.records.arrays import GameArrays, concatenate
from tengen.records.faults import Fault
from tengen.records.record import GameRecord
from tengen.records.sgf_properties import parse_result


def sgf_read_rate(source: str | Path | bytes, seconds: float = 1.0) -> float:
    """Return games per second from SGF bytes to arrays of moves, on one core.

    `source` is a file or its bytes; it is read again and again until `seconds` have passed, once
    before the clock starts. Opening the file is not counted, on either side.
    """
    data = _bytes(source)
    _read(data)
    games, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        games += len(_read(data))
    return games / passed


def sgfmill_read_rate(source: str | Path | bytes, seconds: float = 1.0) -> float:
    """Return games per second of sgfmill on the same bytes; it needs them cut into games.

    Cutting is done here, by our own reader, and not counted against it.
    """
    from sgfmill import sgf

    pieces = _pieces(_bytes(source))
    games, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        sgf.Sgf_game.from_bytes(pieces[games % len(pieces)])
        games += 1
    return games / passed


def sample_collection(games: int = 400, seed: int = 1) -> bytes:
    """Return an SGF collection of games played by chance on 19x19, for benchmarks without data."""
    rng = np.random.default_rng(seed)
    pieces = []
    for _ in range(games):
        board = Board(19, rules="japanese")
        play_random(board, 220, rng)
        record = GameRecord(moves=board.moves, komi=6.5, rules="Japanese")
        record.result = parse_result("W+Resign")
        pieces.append(record.sgf())
    return b"\n".join(pieces) + b"\n"


def _bytes(source: str | Path | bytes) -> bytes:
    return source if isinstance(source, bytes) else Path(source).read_bytes()


def _read(data: bytes) -> GameArrays:
    stream = cast(BinaryIO, io.BytesIO(data))
    return concatenate([batch.arrays for batch in bulk.read_batches(stream, "bench", _ignore)])


def _pieces(data: bytes) -> list[bytes]:
    stream = cast(BinaryIO, io.BytesIO(data))
    batches = bulk.read_batches(stream, "bench", _ignore)
    return [record.sgf() for batch in batches for record in batch.records()][:500]


def _ignore(fault: Fault) -> None:
    """Pass over damaged games."""
