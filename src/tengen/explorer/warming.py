"""Compile the kernels of the explorer; called by `tengen compile`."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

from tengen.explorer.building import Building
from tengen.records import bulk
from tengen.records.faults import Fault


def warm_up() -> None:
    """Compile every kernel with the types it is used with."""
    data = cast(BinaryIO, io.BytesIO(b"(;SZ[9]AB[aa];W[ee];B[])"))
    building = Building()
    for batch in bulk.read_batches(data, "warming", _ignore):
        building.add(batch)
    building.finish(1)


def _ignore(fault: Fault) -> None:
    """Pass over faults: there are none."""
