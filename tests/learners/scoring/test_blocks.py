"""Compare the block features with a slow reference written from the paper's definitions."""

from __future__ import annotations

import numpy as np
import pytest
from blocks_reference import Bonds, Context, Groups, Reference, grid_of, line_of, random_grid

from tengen.board.playouts import shape_table
from tengen.learners.scoring.blocks_kernels import PAPER, describe_blocks, number_parts
from tengen.learners.scoring.context_kernels import (
    GROUPS,
    SURROUNDINGS,
    describe_groups,
    describe_surroundings,
    flood_other,
)
from tengen.learners.scoring.group_kernels import BONDS, FALLS, HOLDS, attack, describe_bonds
from tengen.learners.scoring.kernels import finish


def ours(grid, below=1):
    line = line_of(grid)
    n = len(line)
    part, chain = np.empty(n, np.int64), np.zeros(n, np.int64)
    colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    out = np.zeros((n, PAPER))
    count = describe_blocks(line, *grid.shape, below, part, colour, size, chain, out)
    return count, colour[:count], out[:count]


@pytest.mark.parametrize("shape", [(9, 9), (5, 7), (2, 2), (13, 13)])
@pytest.mark.parametrize("below", [1, 2])
def test_paper_features_agree_with_the_reference(shape, below):
    rng = np.random.default_rng(7)
    for moves in (3, 30, shape[0] * shape[1]):
        grid = random_grid(rng, *shape, moves)
        reference = Reference(grid)
        count, colour, features = ours(grid, below)
        assert count == len(reference.parts)
        for i in range(count):
            if colour[i]:
                np.testing.assert_allclose(features[i], reference.describe(i, below), atol=1e-9)
            else:
                assert not features[i].any()


@pytest.mark.parametrize("shape", [(9, 9), (5, 7), (2, 2), (11, 11)])
def test_surroundings_and_groups_agree_with_the_references(shape):
    rng = np.random.default_rng(3)
    for moves in (3, 12, 30, 60, shape[0] * shape[1]):
        grid = random_grid(rng, *shape, moves)
        line = line_of(grid)
        n = len(line)
        part, chain = np.empty(n, np.int64), np.zeros(n, np.int64)
        colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
        paper = np.zeros((n, PAPER))
        count = describe_blocks(line, *shape, 1, part, colour, size, chain, paper)
        owned = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (4, *shape))
        flat = np.zeros((4, n))
        flat[:, line != 3] = owned.reshape(4, -1)
        around, groups = np.full((count, SURROUNDINGS), 7.0), np.full((count, GROUPS), 7.0)
        describe_surroundings(line, *shape, part, colour, size, chain, count, flat, around)
        alive = rng.choice([0.05, 0.2, 0.45, 0.6, 0.8, 0.95], count)
        describe_groups(line, *shape, part, colour, size, count, alive, groups)
        context, fate = Context(grid, owned), Groups(grid, alive)
        for i in range(count):
            if colour[i] == 0:
                assert not around[i].any() and not groups[i].any()
                continue
            np.testing.assert_allclose(around[i], context.surroundings(i), atol=1e-9)
            np.testing.assert_allclose(groups[i], fate.describe(i), atol=1e-9)


@pytest.mark.parametrize("shape", [(9, 9), (5, 7), (2, 2)])
def test_bonds_agree_with_the_reference(shape):
    rng = np.random.default_rng(8)
    for moves in (3, 12, 30, 60, shape[0] * shape[1]):
        grid = random_grid(rng, *shape, moves)
        line = line_of(grid)
        n = len(line)
        part = np.empty(n, np.int64)
        colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
        count = number_parts(line, shape[1] + 1, part, colour, size)
        heavy, light = rng.choice([-0.5, 0.0, 0.04, 0.5], (2, count))
        bond, out = np.zeros(count, np.int64), np.full((count, BONDS), 7.0)
        describe_bonds(line, shape[1], part, colour, size, count, heavy, light, bond, out)
        reference = Bonds(grid, heavy, light)
        for i in range(count):
            if colour[i] == 0:
                assert not out[i].any()
                continue
            assert bond[i] == min(reference.bond[i])
            np.testing.assert_allclose(out[i], reference.describe(i), atol=1e-9)


def test_there_are_forty_six_and_forty_eight():
    from tengen.lab.scoring import SECOND_DISTANCES

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
    grid = grid_of(picture)
    line = line_of(grid)
    width = grid.shape[1] + 1
    point = (target[0] + 1) * width + target[1] + 1
    area, stack = np.empty(len(line), np.int64), np.empty(len(line), np.int64)
    flood_other(line, width, 3 - line[point], area, stack)
    inside = (area == area[point]) & (line == 0)
    return attack(line, width, point, inside, first)


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
    from tengen.learners.scoring.features import INPUTS, describe

    described = describe(grid_of("X . O\nX . O\nX . O"))
    assert described.features.shape == (3, INPUTS)
    assert PAPER + SURROUNDINGS + GROUPS < INPUTS
    assert described.sound
    assert list(described.colour) == [1, 0, 2]
