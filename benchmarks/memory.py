"""Let one process choose many moves, game after game, and show that its memory does not grow.

    python benchmarks/memory.py --moves 10000 --player tengen:seconds=0.01 --size 9

prints moves, games and resident memory ten times, and the growth from the third line to the last.
"""

from __future__ import annotations

import argparse
import io

import psutil

from tengen.gtp.commands import commands_of
from tengen.gtp.engine import GtpEngine
from tengen.players import make_player


def main() -> None:
    """Play by GTP commands, as a controller does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=10_000)
    parser.add_argument("--player", default="tengen:seconds=0.01")
    parser.add_argument("--size", type=int, default=9)
    options = parser.parse_args()
    engine = GtpEngine(make_player, options.player, seed=1)
    tell(engine, f"boardsize {options.size}")
    process, seen, games = psutil.Process(), [], 1
    for move in range(1, options.moves + 1):
        colour = "b" if move % 2 else "w"
        answer = tell(engine, f"genmove {colour}")
        over = "resign" in answer or engine.game.board.is_over
        if over or len(engine.game.board.moves) > 3 * options.size**2:
            tell(engine, "clear_board")
            games += 1
        if move % max(options.moves // 10, 1) == 0:
            seen.append(process.memory_info().rss / 2**20)
            print(f"{move} moves, {games} games: {seen[-1]:.1f} MB", flush=True)
    if len(seen) > 3:
        print(f"grown by {seen[-1] - seen[2]:+.1f} MB since the third line")
    engine.close()


def tell(engine: GtpEngine, line: str) -> str:
    """Send one command and return the answer."""
    from tengen.gtp.protocol import serve

    out = io.BytesIO()
    serve(commands_of(engine), io.BytesIO(f"{line}\n".encode()), out)
    return out.getvalue().decode()


if __name__ == "__main__":
    main()
