"""Replay the games of a shard into the bytes that the network reads, on several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tengen.errors import ModelError
from tengen.learners.deep_network.inputs_kernels import encode_games
from tengen.learners.deep_network.shards import Shard, bordered

_CHUNK = 8
"""Games a thread replays at a time: few, since a shard ends when the last thread does."""


def replay(shard: Shard, *, ladders: bool, threads: int) -> NDArray[np.uint8]:
    """Return the bytes of the position before every move of a shard's games."""
    offsets = np.concatenate([[0], np.cumsum(shard.lengths, dtype=np.int64)])
    setup_offsets = np.concatenate([[0], np.cumsum(shard.setup_lengths, dtype=np.int64)])
    moves = bordered(shard.moves, shard.rows, shard.cols)
    setup = bordered(shard.setup, shard.rows, shard.cols)
    codes = np.empty((len(moves), shard.rows * shard.cols), np.uint8)
    games = np.arange(len(shard))

    def work(first: int) -> int:
        last = min(first + _CHUNK, len(shard))
        part = codes[offsets[first] : offsets[last]]
        return int(
            encode_games(
                games, moves, shard.colours, offsets, setup, shard.setup_colours, setup_offsets,
                first, last, shard.rows, shard.cols, ladders, part,
            )
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        refused = [game for game in pool.map(work, range(0, len(shard), _CHUNK)) if game >= 0]
    if refused:
        raise ModelError(f"a shard's game {refused[0]} has a move that cannot be played")
    return codes
