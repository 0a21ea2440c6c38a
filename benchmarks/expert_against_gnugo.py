"""Compare the built-in expert with GNU Go finishing the same openings, and GNU Go with itself.

    python benchmarks/expert_against_gnugo.py [--openings 200] [--level 1] --rows FOLDER

Openings of 20 plies on 9x9, komi 5.5, half by `random` and half by `maxlib`, are finished by GNU Go
for both sides (area count of the last position; it captures what is dead), by GNU Go again with
another random seed, and by the expert. Every opening is a row. GNU Go's games are kept in `--out`,
so that a stopped run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from tengen.board import Board
from tengen.lab.evidence import record_of, write_evidence
from tengen.players import gnugo, make_expert, make_player

PLIES, SIZE, KOMI = 20, 9, 5.5


def opening(seed: int, number: int) -> Board:
    """Play an opening; even numbers by random, odd ones by maxlib."""
    board = Board(SIZE, komi=KOMI)
    player = make_player("maxlib" if number % 2 else "random")
    rng = np.random.default_rng((seed, number))
    for _ in range(PLIES):
        board.play(player.choose(board, rng))
    return board


def finish_by_gnugo(level: int, board: Board, seed: int, engine: list[object]) -> float:
    """Let GNU Go play both sides to the end and count the area."""
    if not engine:
        engine.append(make_player(f"{gnugo(level)} --never-resign"))
    board, rng = board.copy(), np.random.default_rng(seed)
    while not board.is_over and len(board.moves) < 3 * SIZE * SIZE:
        board.play(engine[0].choose(board, rng))  # type: ignore[attr-defined]
    return board.area_score()


def main() -> None:
    """Run what is missing, and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--openings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2003)
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/expert-against-gnugo.jsonl"))
    parser.add_argument("--rows", type=Path, required=True)
    arguments = parser.parse_args()
    began = time.perf_counter()
    boards = [opening(arguments.seed, i) for i in range(arguments.openings)]
    rows: dict[tuple[int, int], float] = {}
    if arguments.out.exists():
        for line in arguments.out.read_text().splitlines():
            row = json.loads(line)
            if (row["opening_seed"], row["level"]) == (arguments.seed, arguments.level):
                rows[row["opening"], row["run"]] = row["score"]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    engine: list[object] = []
    for i, board in enumerate(boards):
        for run in (0, 1):
            if (i, run) not in rows:
                score = finish_by_gnugo(arguments.level, board, 1000 * run + i, engine)
                rows[i, run] = score
                row = {"opening_seed": arguments.seed, "level": arguments.level, "opening": i}
                with arguments.out.open("a") as file:
                    file.write(json.dumps({**row, "run": run, "score": score}) + "\n")
    if engine:
        engine[0].close()  # type: ignore[attr-defined]
    ours = make_expert("builtin").finish(boards, range(len(boards)))
    record = record_of(
        f"python benchmarks/expert_against_gnugo.py --openings {len(boards)} "
        f"--seed {arguments.seed} --level {arguments.level}",
        [arguments.seed],
        {"openings": len(boards), "level": arguments.level, "plies": PLIES, "komi": KOMI},
        seconds=time.perf_counter() - began,
        cpu_seconds=None,  # GNU Go's is not measured
    )
    found = (
        {
            "opening": "maxlib" if i % 2 else "random",
            "gnugo": rows[i, 0],
            "gnugo_again": rows[i, 1],
            "expert": float(score),
        }
        for i, score in enumerate(ours)
    )
    write_evidence(arguments.rows, found, record)


if __name__ == "__main__":
    main()
