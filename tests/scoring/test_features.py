"""Compare the block features with a slow reference written from the paper's definitions."""

from __future__ import annotations

import numpy as np
import pytest
from blocks_reference import Bonds, Context, Groups, Reference, grid_of, line_of, random_grid

from tengen.board.playouts import shape_table
from tengen.board.tactics_kernels import FALLS, HOLDS, read_fight
from tengen.scoring.features import INPUTS, PAPER, PositionFeatures, describe
from tengen.scoring.kernels import finish


def same(ours, colour, theirs):
    """Compare features; those of empty regions are zero."""
    for i in np.flatnonzero(colour):
        np.testing.assert_allclose(ours[i], theirs(i), atol=1e-9)
    assert not ours[colour == 0].any()


@pytest.mark.parametrize("shape", [(7, 7), (5, 7), (2, 2), (10, 11)])
def test_features_agree_with_the_references(shape):
    rng = np.random.default_rng(7)
    # The reference takes seconds for a large board.
    for moves in (3, 25, 50) if max(shape) < 10 else (70,):
        grid = random_grid(rng, *shape, moves)
        ours, paper = PositionFeatures(grid), Reference(grid)
        colour, count = ours.colour, len(ours.size)
        assert count == len(paper.parts)
        for below in (1, 2):
            same(ours.paper(below), colour, lambda i: paper.describe(i, below))  # noqa: B023
        owned = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (4, *shape))
        context = Context(grid, owned)
        same(ours.surroundings(owned.reshape(4, -1)), colour, context.surroundings)
        alive = rng.choice([0.05, 0.2, 0.45, 0.6, 0.8, 0.95], count)
        same(ours.groups(alive), colour, Groups(grid, alive).describe)
        heavy, light = rng.choice([-0.5, 0.0, 0.04, 0.5], (2, count))
        bond, bonds = ours.bonds(heavy, light)
        reference = Bonds(grid, heavy, light)
        same(bonds, colour, reference.describe)
        assert all(bond[i] == min(reference.bond[i]) for i in ours.blocks)


def test_there_are_forty_six_and_forty_eight():
    from tengen.papers.scoring_failure.games import SECOND_DISTANCES

    assert PAPER == 48
    assert PAPER - len(SECOND_DISTANCES) == 46


def test_a_block_without_liberty_is_not_played_out():
    grid = grid_of("X O .\nO O .\n. . .")
    counts = np.zeros((4, 9), np.int32)
    assert not finish(line_of(grid), 3, 3, 2, 2, 1, shape_table(), counts)
    assert not counts.any()


def test_playouts_keep_two_eyes_and_take_a_lone_stone():
    grid = grid_of(
        """
        . X . X O O O
        X X X X O . O
        O O O O O O .
        . O . O . . O
        O . O . O O .
        . X O O . O .
        . O . . O . O
        """
    )
    counts = np.zeros((4, 49), np.int32)
    assert finish(line_of(grid), 7, 7, 40, 40, 1, shape_table(), counts)
    assert (counts[:, 1] == 40).all()  # two eyes
    assert (counts[:, 5 * 7 + 1] < -30).all()


def reads(picture, target, first):
    position = PositionFeatures(grid_of(picture))
    width = position.grid.shape[1] + 1
    colour = position.grid[target]
    inside = np.zeros(len(position.line), np.bool_)
    area = PositionFeatures(np.where(position.grid == 3 - colour, 2, 0).astype(np.int8)).part
    for row, col in np.argwhere((area == area[target]) & (position.grid == 0)):
        inside[(row + 1) * width + col + 1] = True
    point = (target[0] + 1) * width + target[1] + 1
    return read_fight(position.line, width, point, inside, first)


def test_the_search_knows_two_eyes_and_one():
    two = "X . X . X O .\nX X X X X O ."
    one = "X . O . .\nX X O . ."
    assert reads(two, (0, 0), 2) == HOLDS
    for first in (1, 2):
        assert reads(one, (0, 0), first) == FALLS


def test_the_search_knows_seki():
    # Two shared liberties between eyeless groups: whoever plays there is taken.
    seki = ". O X . O X .\n. O X . O X ."
    assert reads(seki, (0, 2), 2) == HOLDS
    assert reads(seki, (0, 4), 1) == HOLDS
    # One liberty less for Black, and White takes him.
    lost = ". O X . O O .\n. O X O . O ."
    assert reads(lost, (0, 2), 2) == FALLS


def test_lengths_are_what_the_scorer_expects():
    described = describe(grid_of("X . O\nX . O\nX . O"))
    assert described.features.shape == (3, INPUTS)
    assert described.sound
    assert list(described.position.colour) == [1, 0, 2]
