"""Fit the lines from which `tengen review` estimates ranks, and test them.

    python benchmarks/player_ranks.py rows GAMES.sgf ... --every 5 --games 60 --out ranks.csv
    python benchmarks/player_ranks.py fit ranks.csv ... --out src/tengen/reviews/ranks.json

`rows` writes one line for each side with a rank (kyu or amateur dan): the sum of the logarithms of
its moves' probabilities and the sum of their squares, over all moves or those of every Nth pair.
`fit` fits a line for each board to the odd games and tests it on the even ones: it makes players of
ten sides of one rank and compares their estimates with that rank.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tengen.board import COLOUR_NAMES, PASS, index_of
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.models.registry import JUDGE
from tengen.records import loads
from tengen.reviews import ReviewSettings
from tengen.reviews.game import find_reviewer, legal_part
from tengen.reviews.strength import (
    COEFFICIENTS,
    LEAST_GAMES,
    Line,
    deviation,
    log_likelihood,
    scale_of,
)

COLUMNS = ("source", "game", "board", "colour", "rank", "opponent", "moves", "sum", "squares")
_BATCH = 16
_LEAST_MOVES = 3  # of a side
_ROUNDS = 50  # of weights and variances in turn


class Side(NamedTuple):
    """The moves of one side of a game."""

    game: tuple[str, int]
    scale: float
    moves: int
    sum: float
    squares: float


def write_rows(paths: list[Path], every: int, games: int | None, out: Path) -> None:
    """Write the lines of all sides; those of games in `out` are kept."""
    new = not out.exists()
    done = set() if new else {(row["source"], int(row["game"])) for row in read_rows([out])}
    with out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        for path in paths:
            for record in loads(path.read_bytes(), str(path))[:games]:
                if (path.stem, record.game) in done or record.handicap:
                    continue
                ranks = {1: str(record.black_rank), 2: str(record.white_rank)}
                try:
                    boards, _ = legal_part(record)
                except TengenError:
                    continue
                for colour, values in _likelihoods(record.moves, boards, every).items():
                    if len(values) >= _LEAST_MOVES and not math.isnan(scale_of(ranks[colour])):
                        board, name = f"{record.rows}x{record.cols}", COLOUR_NAMES[colour].lower()
                        told = [path.stem, record.game, board, name, ranks[colour]]
                        sums = [round(sum(values), 4), round(sum(v * v for v in values), 4)]
                        writer.writerow([*told, ranks[3 - colour], len(values), *sums])
                file.flush()


def _likelihoods(moves: Any, boards: Any, every: int) -> dict[int, list[float]]:
    """Return the logarithms of the probabilities of each side's moves, of every Nth pair."""
    chosen = [
        (board, colour, move)
        for number, ((colour, move), board) in enumerate(zip(moves, boards, strict=False))
        if number // 2 % every == 0 and move != PASS and not board.is_over
    ]
    found: dict[int, list[float]] = {1: [], 2: []}
    for start in range(0, len(chosen), _BATCH):
        part = chosen[start : start + _BATCH]
        rows, cols = part[0][0].rows, part[0][0].cols
        network = find_reviewer(rows, cols, ReviewSettings(quick=True)).network
        assert network is not None
        for (_, colour, move), view in zip(
            part, network.evaluate([b for b, _, _ in part]), strict=True
        ):
            found[colour].append(log_likelihood(float(view.priors[index_of(move, rows, cols)])))
    return found


def read_rows(paths: list[Path]) -> list[dict[str, str]]:
    """Return the lines of files that `rows` wrote."""
    found = []
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            found += list(csv.DictReader(file))
    return found


# ----- Lines -----


def sides_of(rows: list[dict[str, str]]) -> dict[str, list[Side]]:
    """Return the sides on each board."""
    found: dict[str, list[Side]] = defaultdict(list)
    for row in rows:
        numbers = int(row["moves"]), float(row["sum"]), float(row["squares"])
        game = row["source"], int(row["game"])
        found[row["board"]].append(Side(game, scale_of(row["rank"]), *numbers))
    return found


def fit(board: str, sides: list[Side]) -> Line:
    """Fit a line by weighted least squares, its variances by moments.

    What both sides of a game share is the game's; what is left between sides counts as the
    players', although it is partly that of the side in this game.
    """
    scales = np.array([side.scale for side in sides])
    moves = np.array([side.moves for side in sides], np.float64)
    sums = np.array([side.sum for side in sides])
    squares = np.array([side.squares for side in sides])
    means = sums / moves
    move = float((squares - moves * means**2).sum() / (moves - 1).sum())
    between, columns = 0.0, np.stack([np.ones_like(scales), scales], 1)
    for _ in range(_ROUNDS):
        weights = 1 / (between + move / moves)
        heavy = columns * weights[:, None]
        start, slope = np.linalg.solve(columns.T @ heavy, heavy.T @ means)
        left = means - start - slope * scales
        chance = weights @ (move / moves)
        between = max(0.0, float((weights @ left**2 - chance) / weights.sum()))
    pairs: dict[tuple[str, int], list[float]] = defaultdict(list)
    for side, value in zip(sides, left, strict=True):
        pairs[side.game].append(float(value))
    both = [pair[0] * pair[1] for pair in pairs.values() if len(pair) == 2]
    game = min(max(0.0, float(np.mean(both))), between)
    lowest, highest = float(scales.min()), float(scales.max())
    return Line(
        board,
        start=round(float(start), 5),
        slope=round(float(slope), 5),
        player=round(between - game, 5),
        game=round(game, 5),
        move=round(move, 5),
        lowest=lowest,
        highest=highest,
    )


def tested(line: Line, sides: list[Side]) -> dict[str, Any]:
    """Estimate players of ten sides each, of neighbouring ranks, and compare them with these."""
    order = sorted(sides, key=lambda side: (side.scale, side.game))
    errors, inside, widths = [], [], []
    for first in range(0, len(order) - LEAST_GAMES + 1, LEAST_GAMES):
        part = order[first : first + LEAST_GAMES]
        moves = sum(side.moves for side in part)
        scale = (sum(side.sum for side in part) / moves - line.start) / line.slope
        width = 1.96 * deviation(line, len(part), moves)
        error = scale - float(np.mean([side.scale for side in part]))
        errors.append(abs(error))
        inside.append(abs(error) <= width)
        widths.append(width)
    return {
        "board": line.board,
        "sides": len(sides),
        "moves": sum(side.moves for side in sides),
        "players": len(errors),
        "error": round(float(np.mean(errors)), 2),
        "half_width": round(float(np.mean(widths)), 2),
        "inside": sum(inside),
    }


def fit_all(rows: list[dict[str, str]]) -> dict[str, Any]:
    """Fit a line for each board to the odd games and test it on the even ones."""
    lines, tests = [], []
    for board, sides in sorted(sides_of(rows).items()):
        line = fit(board, [side for side in sides if side.game[1] % 2])
        lines.append(asdict(line))
        tests.append(tested(line, [side for side in sides if side.game[1] % 2 == 0]))
    return {"model": JUDGE, "lines": lines, "tests": tests}


def main() -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    rows = commands.add_parser("rows")
    rows.add_argument("collections", nargs="+", type=Path, metavar="GAMES")
    rows.add_argument("--every", type=int, default=1, help="take every Nth pair of moves")
    rows.add_argument("--games", type=int, help="only the first games of each file")
    rows.add_argument("--out", type=Path, required=True)
    fitted = commands.add_parser("fit")
    fitted.add_argument("rows", nargs="+", type=Path, metavar="ROWS")
    fitted.add_argument("--out", type=Path, default=COEFFICIENTS)
    args = parser.parse_args()
    if args.command == "rows":
        write_rows(args.collections, args.every, args.games, args.out)
    else:
        found = fit_all(read_rows(args.rows))
        write_atomic(args.out, json.dumps(found, indent=1) + "\n")
        for line, test in zip(found["lines"], found["tests"], strict=True):
            print(line, test, sep="\n")


if __name__ == "__main__":
    main()
