"""Teach symmetry networks by games that the rule player finishes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tengen.board.kernels import n_points
from tengen.board.shapes import shape_table
from tengen.lab.teacher_kernels import taught_game
from tengen.learners.symmetry_network import Settings, SymmetryNetwork
from tengen.learners.symmetry_network.teaching import Games, Teacher

EXPLORE = 0.25
"""Share of random moves before the position that is learned from."""

PLAYOUTS = 16
"""Heavy playouts that say who owns what at the end."""


SHARE = 0.5
"""Share of sides, and of tried moves, that fall to a network that plays along."""


def teacher_games(
    games: int,
    *,
    size: int = 9,
    seed: int = 0,
    network: SymmetryNetwork | None = None,
    workers: int = 1,
) -> Games:
    """Play so many games; game i depends on seed, network and i, not on the number of workers.

    With a network half of the sides before the learned part are played by it, and half of the moves
    that are tried are its own choice.
    """
    share = SHARE if network is not None else 0.0
    network = network if network is not None else SymmetryNetwork.from_free(_nothing(), Settings())
    limit = 2 * size * size
    moves = np.zeros((games, limit), np.int16)
    classes = np.zeros((games, int(n_points(size, size))), np.int8)
    plies, first = np.zeros(games, np.int64), np.zeros(games, np.int64)
    shapes = shape_table()

    def play(i: int) -> None:
        first[i], plies[i] = taught_game(
            *(size, size, shapes, seed, i, EXPLORE, PLAYOUTS),
            *(network.nets, network.cats, network.table, network.prize, share),
            *(moves[i], classes[i]),
        )

    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(play, range(games)))
    else:
        for i in range(games):
            play(i)
    return Games(size, moves, plies, first, classes)


def _nothing() -> NDArray[np.float64]:
    """Return the numbers of a network that never plays."""
    return np.zeros(Settings().architecture.size)


def teach_rounds(
    settings: Settings,
    *,
    rounds: int = 6,
    games: int = 4000,
    rate: float = 3e-3,
    batch: int = 16,
    network: SymmetryNetwork | None = None,
    workers: int = 1,
    watch: Callable[[int, float], None] = lambda _n, _e: None,
) -> SymmetryNetwork:
    """Teach a network in rounds: its own play shows where it is wrong, the rule player corrects it.

    In the first round the games know nothing of the network, unless one is given to start from. The
    rate falls to a hundredth over all rounds. `watch` gets games so far and the mean squared error.
    """
    teacher = Teacher(settings, free=network.free_ if network is not None else None)
    steps = games // batch
    with ThreadPoolExecutor(workers) as pool:
        for number in range(rounds):
            seed = settings.seed * 1000 + number
            played = teacher_games(
                games, size=settings.size, seed=seed, network=network, workers=workers
            )
            order = np.random.default_rng(seed).permutation(games)
            errors = []
            for step in range(steps):
                part = played.at(np.sort(order[step * batch : (step + 1) * batch]))
                now = rate * 0.01 ** ((number * steps + step) / (rounds * steps))
                errors.append(teacher.learn(part, now, pool if workers > 1 else None))
            done = (number + 1) * games
            network = SymmetryNetwork.from_free(teacher.free, settings, done)
            watch(done, float(np.mean(errors)))
    assert network is not None
    return network
