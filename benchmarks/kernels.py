"""Measure the speed of compiled kernels: milliseconds of one core, the best of five rounds.

    python benchmarks/kernels.py

To measure another version in the same minutes, put its `src` on PYTHONPATH and take turns.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tengen.board import Board, format_sgf, playouts
from tengen.players.spec import make_player
from tengen.records import Corpus
from tengen.records.corpus import replay_refusals


def show(name: str, work: Callable[[], object], times: int = 1) -> None:
    """Print the processor time of one call."""
    work()
    rounds = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(times):
            work()
        rounds.append((time.process_time() - begin) / times)
    print(f"{min(rounds) * 1e3:9.3f} ms  {name}")


def random_game(seed: int) -> tuple[Board, str]:
    """Play 200 random plies on 19x19; return the board and the game as SGF."""
    rng, board, text = np.random.default_rng(seed), Board(19, rules="japanese"), "(;SZ[19]"
    for _ in range(200):
        index = int(rng.choice(np.flatnonzero(board.legal_mask()[:-1])))
        point = (index // 19 + 1) * 20 + index % 19 + 1
        text += f";{'.BW'[board.turn]}[{format_sgf(point, 19, 19)}]"
        board.push(point)
    return board, text + ")"


def measure_play(size: int, light: int, heavy: int) -> None:
    """Measure playouts and tree search on one size."""
    board, player = Board(size), make_player("mcts:playouts=500")
    square = f"{size}x{size}"
    show(f"{light} light playouts, {square}", lambda: playouts(board, light, threads=1))
    show(
        f"{heavy} heavy playouts, {square}", lambda: playouts(board, heavy, kind="heavy", threads=1)
    )
    show(
        f"500 playouts in a tree, {square}", lambda: player.choose(board, np.random.default_rng(0))
    )


def main() -> None:
    """Measure what everything else is made of."""
    measure_play(9, 400, 200)
    measure_play(19, 60, 40)
    middle, _ = random_game(3)
    show("legal moves, 19x19", middle.legal_mask, 200)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "games.sgf"
        file.write_text("\n".join(random_game(seed)[1] for seed in range(60)))
        show("reading 60 games", lambda: Corpus([file]).as_arrays(), 5)
        games = Corpus([file]).as_arrays()
        show("replaying them, every move checked", lambda: replay_refusals(games), 5)


if __name__ == "__main__":
    main()
