"""Measure counting by rule on finished games, with GNU Go's dead stones: careful against plain.

Run: python benchmarks/counting_kgs.py $TENGEN_GAMES/kgs6d-scored-train.sgf --games 400

GNU Go's lists (about two seconds a game) are kept in --cache and reused.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from tengen.board import Board, parse_gtp, row_col
from tengen.board.counting import format_result, territory_margins
from tengen.records import GameRecord, read_games


def gnugo_dead(record: GameRecord, engine: str) -> list[str]:
    """Ask GNU Go which stones are dead at the end of a game."""
    with tempfile.NamedTemporaryFile(suffix=".sgf") as file:
        file.write(record.utf8_sgf(main_line=True))
        file.flush()
        done = subprocess.run(
            [engine, "--mode", "gtp", "--level", "10", "--quiet"],
            input=f"loadsgf {file.name}\nfinal_status_list dead\nquit\n",
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout.split("\n\n")[1].lstrip("=").split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--cache", type=Path, default=Path("runs/gnugo_dead.json"))
    parser.add_argument("--engine", default="/usr/games/gnugo")
    args = parser.parse_args()
    cache = json.loads(args.cache.read_text()) if args.cache.exists() else {}
    grids, masks, fixed, results = [], [], [], []
    for number, record in enumerate(itertools.islice(read_games(args.file), args.games)):
        key = str(number)
        if cache.get(key) is None:
            cache[key] = gnugo_dead(record, args.engine)
            args.cache.parent.mkdir(parents=True, exist_ok=True)
            args.cache.write_text(json.dumps(cache))
        board = Board(record.rows, record.cols, rules="japanese")
        for colour, point in record.moves:
            board.play(point, colour)
        mask = np.zeros((record.rows, record.cols), bool)
        for vertex in cache[key]:
            mask[row_col(parse_gtp(vertex, board.rows, board.cols), board.cols)] = True
        grids.append(board.grid())
        masks.append(mask & (board.grid() > 0))
        fixed.append(board.prisoners[0] - board.prisoners[1] - float(record.komi or 0))
        results.append(str(record.properties["RE"][0]))
    for method in ("plain", "careful"):
        territory_margins(grids[:1], masks[:1], method=method)  # compile
        start = time.process_time()
        scores = territory_margins(np.array(grids), np.array(masks), method=method) + fixed
        seconds = time.process_time() - start
        exact = sum(
            format_result(score) == format_result(said(result))
            for score, result in zip(scores, results, strict=True)
        )
        print(
            f"{method}: exact in {exact} of {len(grids)} games ({exact / len(grids):.1%}), "
            f"{1000 * seconds / len(grids):.3f} ms a game"
        )


def said(result: str) -> float:
    """Return the score that RE names, from Black's view."""
    if "+" not in result:
        return 0.0
    return float(result[2:]) * (1 if result[0] == "B" else -1)


if __name__ == "__main__":
    main()
