"""Measure what nakade shapes and playout ownership would add to a predictor, by a small re-ranker.

Run: python benchmarks/prediction_features.py GAMES.sgf... --skip 20000 --positions 3000

Positions are drawn from games after the first --skip of the shuffle by seed 0, which
`tengen move-prediction train --games SKIP --seed 0` has not seen. A conditional logit model gets
the predictor's log probabilities as one feature and the new features as others; it is fitted on
one half of the games and measured on the other, both ways round.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from tengen.board import Board, playouts
from tengen.learners.move_prediction import MovePredictor
from tengen.learners.move_prediction.reading import read_games

LEVELS = 8  # classes of ownership
# Eye spaces that one move settles, by the sorted numbers of neighbours of their points within; the
# move is at the point with most.
NAKADE = {(1, 1, 2), (1, 1, 1, 3), (1, 1, 1, 1, 4), (1, 2, 2, 2, 3), (1, 1, 2, 2, 2, 4)}


def nakade_points(grid: np.ndarray, owner: int) -> dict[tuple[int, int], int]:
    """Return the vital points of the eye spaces of one colour, with the sizes of the spaces.

    An eye space holds all points that are not the owner's; dead stones inside belong to it.
    """
    rows, cols = grid.shape
    seen = grid == owner
    found = {}
    for start in zip(*np.nonzero(~seen), strict=True):
        if seen[start]:
            continue
        space, todo = {start}, [start]
        seen[start] = True
        while todo:
            r, c = todo.pop()
            for q in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if 0 <= q[0] < rows and 0 <= q[1] < cols and not seen[q]:
                    seen[q] = True
                    space.add(q)
                    todo.append(q)
        if not 3 <= len(space) <= 6:
            continue
        inside = {
            (r, c): sum(q in space for q in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)))
            for r, c in space
        }
        if tuple(sorted(inside.values())) in NAKADE:
            found[max(inside, key=lambda p: inside[p])] = len(space)
    return found


def describe(board: Board, priors: np.ndarray, number: int, seed: int) -> dict[str, np.ndarray]:
    """Return the features of all legal points: (points, columns) for every family."""
    legal = np.flatnonzero(priors[:-1] > 0)
    began = time.process_time()
    owned = playouts(board, number, seed=seed, kind="heavy", threads=1).ownership.ravel()[legal]
    seconds = time.process_time() - began
    owned = owned if board.turn == 1 else -owned
    ownership = np.eye(LEVELS)[np.minimum((owned + 1) / 2 * LEVELS, LEVELS - 1).astype(int)]
    nakade = np.zeros((len(legal), 2))
    for side, colour in enumerate((board.turn, 3 - board.turn)):
        for (r, c), _size in nakade_points(board.grid(), colour).items():
            nakade[legal == r * board.cols + c, side] = 1
    return {
        "legal": legal,
        "offset": np.log(priors[legal])[:, None],
        "ownership": ownership,
        "nakade": nakade,
        "seconds": np.array(seconds),
    }


def chances(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the probabilities of the moves of one position."""
    z = x @ w
    e: np.ndarray = np.exp(z - z.max())
    return np.asarray(e / e.sum())


def fit(samples: list[tuple[np.ndarray, int]], steps: int = 12) -> np.ndarray:
    """Fit a conditional logit model by Newton steps with a little ridge."""
    width = samples[0][0].shape[1]
    w = np.zeros(width)
    w[0] = 1.0
    for _ in range(steps):
        gradient, curvature = 1e-2 * (w - np.eye(width)[0]), 1e-2 * np.eye(width)
        for x, target in samples:
            p = chances(x, w)
            mean = p @ x
            gradient += mean - x[target]
            curvature += (x * p[:, None]).T @ x - np.outer(mean, mean)
        w -= np.linalg.solve(curvature, gradient)
    return w


def measured(samples: list[tuple[np.ndarray, int]], w: np.ndarray) -> list[tuple[float, float]]:
    """Return (log loss, whether the likeliest is right) of every position."""
    out = []
    for x, target in samples:
        p = chances(x, w)
        out.append((-float(np.log(p[target])), float(p.argmax() == target)))
    return out


def main() -> None:
    """Draw positions, describe them, fit and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--model", default="predictor-19x19")
    parser.add_argument("--skip", type=int, default=20000)
    parser.add_argument("--positions", type=int, default=3000)
    parser.add_argument("--each", type=int, default=5, help="positions of a game")
    parser.add_argument("--playouts", type=int, default=64)
    given = parser.parse_args()
    games, _ = read_games(given.games, 19)
    predictor = MovePredictor.load(given.model)
    order = np.random.default_rng(0).permutation(len(games))[given.skip :]
    rng = np.random.default_rng(1)
    found: list[tuple[int, dict[str, np.ndarray], int]] = []
    for number, game in enumerate(order[: given.positions // given.each]):
        record = games.record(int(game))
        chosen = set(rng.choice(len(record.moves), given.each, replace=False).tolist())
        board = Board(19)
        for ply, (colour, point) in enumerate(record.moves):
            if ply in chosen and point and colour == board.turn:
                facts = describe(
                    board, predictor.priors(board), given.playouts, 1000 * number + ply
                )
                index = (point // 20 - 1) * 19 + point % 20 - 1
                found.append((number % 2, facts, int(np.flatnonzero(facts["legal"] == index)[0])))
            board.push(point, colour)
    rows = {}
    plain: np.ndarray | None = None
    for name in ("", "nakade", "ownership"):
        parts = ("offset",) if not name else ("offset", name)
        samples = [(half, np.hstack([f[p] for p in parts]), t) for half, f, t in found]
        scores = []
        for half in (0, 1):
            w = fit([(x, t) for h, x, t in samples if h != half])
            scores += measured([(x, t) for h, x, t in samples if h == half], w)
        values = np.array(scores)
        row = {"log_loss": float(values[:, 0].mean()), "top1": float(values[:, 1].mean())}
        if plain is None:
            plain = values
        else:
            gain = values - plain
            for column, what in enumerate(("log_loss", "top1")):
                half_width = 1.96 * gain[:, column].std() / np.sqrt(len(gain))
                row[f"{what}_change"] = float(gain[:, column].mean())
                row[f"{what}_change_error"] = float(half_width)
        rows[name or "predictor alone"] = row
    seconds = float(np.mean([f["seconds"] for _, f, _ in found]))
    shapes = float(np.mean([f["nakade"].any() for _, f, _ in found]))
    print(
        json.dumps(
            {
                "positions": len(found),
                "playouts_ms_a_position": 1000 * seconds,
                "positions_with_nakade": shapes,
                **rows,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
