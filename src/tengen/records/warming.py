"""Compile the kernels that records use; called by `tengen warmup`."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

import numpy as np

from tengen.records import bulk, replay_kernels
from tengen.records.corpus import Unseen
from tengen.records.faults import Fault


def warm_up() -> None:
    """Compile every kernel with the types it is used with."""
    data = cast(BinaryIO, io.BytesIO(b"(;SZ[9]AB[aa];W[ee];B[])"))
    [batch] = bulk.read_batches(data, "warming", _ignore)
    games = batch.arrays
    Unseen()(games)
    yes = np.ones(1, dtype=np.bool_)
    refused = np.zeros(1, dtype=np.int64)
    replay_kernels.replay_games(
        games.moves, games.colours, games.offsets, games.rows, games.cols, yes, yes, refused
    )


def _ignore(fault: Fault) -> None:
    """Pass over faults: there are none."""
