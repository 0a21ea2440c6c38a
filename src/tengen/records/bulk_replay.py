"""Check whole collections against the rules, and play them to their last positions, in kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, IntArray
from tengen.board import BORDER, Rules
from tengen.board.replay_kernels import TRUSTED, replay_games
from tengen.board.rules import KO_NUMBERS
from tengen.errors import IllegalMoveError
from tengen.records.arrays import GameArrays
from tengen.records.corpus import Corpus
from tengen.records.record import GameRecord
from tengen.records.replay import Refusal, board_at


def check(corpus: Corpus, rules: Rules | None = None) -> Iterator[GameArrays | Refusal]:
    """Replay every game of a corpus; yield each batch of games when done, after its refusals.

    A kernel replays by simple ko without suicide. What it refuses, and games with setup, edits or
    other ko rules, are played on a `Board`, which decides and says why. Does not judge results.
    """
    for batch in corpus.record_batches():
        unsure = replay_refusals(batch.arrays) | (np.diff(batch.arrays.setup_offsets) > 0)
        if batch.exact is not None:
            unsure |= np.array([bool(record.edits) for record in batch.exact])
        if rules is not None and rules.ko != "simple":
            unsure[:] = True
        for record in batch.where(unsure).records():
            try:
                board_at(record, rules=rules)
            except IllegalMoveError as wrong:
                yield _refusal(record, str(wrong))
        yield batch.arrays


def replay_refusals(games: GameArrays) -> BoolArray:
    """Tell which games have a move that simple ko without suicide forbids."""
    nothing = np.empty((0, 0, 0), np.int8)
    _, ends = _replay(games, KO_NUMBERS["simple"], 1.0, nothing)
    return np.asarray(ends[:, 0] >= 0, dtype=np.bool_)


def last_positions(games: GameArrays, share: float = 1.0) -> tuple[NDArray[np.int8], IntArray]:
    """Return the grids after `share` of each game's moves, and the stones each side has taken.

    Every move is trusted; one onto a stone is left out. Grids of smaller boards are padded with
    BORDER.
    """
    rows, cols = (int(side.max(initial=0)) for side in (games.rows, games.cols))
    grids = np.full((len(games), rows, cols), BORDER, np.int8)
    _, ends = _replay(games, TRUSTED, share, grids)
    return grids, ends[:, 1:]


def replay_all(games: GameArrays) -> int:
    """Replay games with every move checked; return how many moves were played."""
    return _replay(games, KO_NUMBERS["simple"], 1.0, np.empty((0, 0, 0), np.int8))[0]


def _replay(
    games: GameArrays, ko_rule: int, share: float, grids: NDArray[np.int8]
) -> tuple[int, IntArray]:
    """Return the moves played, and how each game ended: see `replay_games`."""
    ends = np.empty((len(games), 3), np.int64)
    played = replay_games(
        games.moves, games.colours, games.offsets, games.rows, games.cols, games.setup,
        games.setup_colours, games.setup_offsets, ko_rule, share, ends, grids,
    )  # fmt: skip
    return int(played), ends


def _refusal(record: GameRecord, message: str) -> Refusal:
    head = f"{record.file}: game {record.game}, move "
    number, _, reason = message.removeprefix(head).partition(": ")
    return Refusal(record.file, record.game, int(number), reason)
