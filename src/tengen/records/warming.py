"""Compile the kernels that records use; called by `tengen compile`."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

from tengen.records import bulk
from tengen.records.bulk_replay import replay_refusals
from tengen.records.corpus import Unseen
from tengen.records.faults import Fault


def warm_up() -> None:
    """Compile every kernel with the types it is used with."""
    data = cast(BinaryIO, io.BytesIO(b"(;SZ[9]AB[aa];W[ee];B[])"))
    [batch] = bulk.read_batches(data, "warming", _ignore)
    Unseen()(batch.arrays)
    replay_refusals(batch.arrays)


def _ignore(fault: Fault) -> None:
    """Pass over faults: there are none."""
