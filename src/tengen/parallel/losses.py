"""What every backend of `map_jobs` agrees on: how far to work ahead, and when a job is given up."""

from __future__ import annotations

from tengen.errors import TengenError

LOOKAHEAD_PER_WORKER = 32
"""Results that may wait for an earlier, slower job before no new job is started."""


class WorkerLostError(TengenError):
    """A job took its worker down (killed, out of memory) more often than retries allow."""
