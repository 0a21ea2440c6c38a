"""Small games made by chance, so that tests need no collection."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tengen.board import BLACK, Board, format_sgf
from tengen.board.counting import tromp_taylor
from tengen.board.playouts import play_to_end
from tengen.contracts import Verdict
from tengen.players import make_player


def write_games(path: Path, games: int, *, size: int = 5, seed: int = 1) -> Path:
    """Write games of random players, counted by area, as one SGF file."""
    player = make_player("random")
    lines = []
    for number in range(games):
        rng = np.random.default_rng((seed, number))
        board = Board(size, rules="chinese", komi=0.5)
        play_to_end(board, lambda b, rng=rng: player.choose(b, rng), limit=3 * size * size)  # type: ignore[misc]
        moves = "".join(
            f";{'B' if colour == BLACK else 'W'}[{format_sgf(point, size, size)}]"
            for colour, point in board.moves
        )
        result = tromp_taylor(board.grid(), 0.5).result
        lines.append(f"(;GM[1]FF[4]SZ[{size}]KM[0.5]RU[Chinese]RE[{result}]{moves})")
    path.write_text("\n".join(lines) + "\n")
    return path


class EverybodyLives:
    """A scorer that takes no stone off."""

    def status(self, board: Board) -> Verdict:
        return Verdict((), True, 1.0, np.zeros(board.rows * board.cols))
