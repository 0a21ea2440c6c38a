"""Measure how long the index of a collection takes to make, and how long an answer."""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tengen.board import Board
from tengen.explorer import Openings, build, explore, open_index
from tengen.warming import steps

LINES = ["", "Q16", "Q16 D4", "Q16 D4 Q3 D17"]
CORNERS = ["", "Q16", "Q16 O17", "Q16 O17 R14"]


def main(paths: list[str]) -> None:
    for step in steps().values():
        step()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "games.openings"
        begin, spent = time.perf_counter(), time.process_time()
        made = build(paths, target)
        print(
            f"{made.about.games:,} games, {len(made):,} positions: "
            f"{time.process_time() - spent:.1f} s of processor time, "
            f"{time.perf_counter() - begin:.1f} s by the clock, "
            f"{target.stat().st_size / 1e6:.1f} MB on disk, "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB of memory"
        )
        openings = open_index(target)
        for corner, lines in ((False, LINES), (True, CORNERS)):
            for moves in lines:
                measure(openings, moves, corner)


def measure(openings: Openings, moves: str, corner: bool) -> None:
    board = Board(19, rules="japanese")
    for name in moves.split():
        board.play(name)
    taken = []
    for _ in range(50):
        begin = time.perf_counter()
        answer = explore(openings, board, corner=corner, limit=12)
        taken.append(1000 * (time.perf_counter() - begin))
    where = "corner" if corner else "board"
    print(
        f"{where} {moves or 'empty'}: {answer.games:,} games, first {taken[0]:.2f} ms, "
        f"median {statistics.median(taken):.2f} ms"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
