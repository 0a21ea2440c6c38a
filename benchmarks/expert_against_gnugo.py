"""Compare the built-in expert with GNU Go finishing the same openings, and GNU Go with itself.

    python benchmarks/expert_against_gnugo.py [--openings 200] [--level 1] [--out FILE.jsonl]

Openings of 20 plies on 9x9, komi 5.5, half by `random` and half by `maxlib`, are finished by GNU Go
for both sides (area count of the last position; it captures what is dead), by GNU Go again with
another random seed, and by the expert. Every game is a line of the output file, so that a stopped
run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from tengen.board import Board
from tengen.players import gnugo, make_expert, make_player
from tengen.statistics import wilson

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


def report(label: str, a: np.ndarray, b: np.ndarray) -> dict[str, object]:
    """Print and return how well two judges agree."""
    same = int(((a > 0) == (b > 0)).sum())
    low, high = wilson(same, len(a))
    r = float(np.corrcoef(a, b)[0, 1])
    print(f"{label:34s} winner {same / len(a):.3f} [{low:.3f}, {high:.3f}]  correlation {r:.3f}")
    return {"label": label, "winner": same / len(a), "interval": [low, high], "correlation": r}


def main() -> None:
    """Run what is missing and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--openings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2003)
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/expert-against-gnugo.jsonl"))
    arguments = parser.parse_args()
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
    first = np.array([rows[i, 0] for i in range(len(boards))])
    second = np.array([rows[i, 1] for i in range(len(boards))])
    expert = make_expert("builtin")
    expert.finish(boards[:1], [0])
    start = time.process_time()
    ours = expert.finish(boards, range(len(boards)))
    spent = (time.process_time() - start) / len(boards)
    print(
        f"{len(boards)} openings of {PLIES} plies on {SIZE}x{SIZE}, GNU Go level {arguments.level}"
    )
    report("expert and GNU Go", ours, first)
    report("  openings by random", ours[::2], first[::2])
    report("  openings by maxlib", ours[1::2], first[1::2])
    report("GNU Go and itself, other seed", second, first)
    print(f"expert: {1000 * spent:.1f} ms of processor time an opening")


if __name__ == "__main__":
    main()
