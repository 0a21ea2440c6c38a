"""The group, the derived tying and the plain network: counts of the paper, laws of the group."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.papers.symmetry_network import Architecture
from tengen.papers.symmetry_network.network import (
    ELEMENTS,
    INITIAL_BIASES,
    SIDES,
    SQUARE,
    TYPES,
    Representation,
    Tying,
    bias_tying,
    equivariance_error,
    forward,
    kernel_tying,
    move,
    solve,
    transform,
    untied,
)

PAPER = Representation.mixture(T=4, S=2, D=2, F=2)
ARCHITECTURES = {
    "paper": Architecture(),
    "other types": Architecture(mixture={"T": 1, "S": 1, "D": 1, "C": 2, "F": 3}),
    "colour": Architecture(colour=True),
}


def random_free(architecture: Architecture, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.3, architecture.size)


def test_counts_of_the_paper():
    paper = Architecture()
    assert paper.weights == 714
    assert paper.size == 725
    assert [paper.parts[name].free for name in ("HI", "OH", "OI")] == [280, 140, 294]
    assert [paper.parts[name].connections for name in ("HI", "OH", "OI")] == [1064, 532, 882]
    assert paper.hidden == 12
    assert paper.connections == 2478
    assert Architecture(colour=True).weights == 354
    # The paper's other layer, between hidden units over five cells.
    recurrent = kernel_tying(PAPER, PAPER, SIDES)
    assert recurrent.free == 108
    assert recurrent.connections == 352


# Free numbers between types (rows: target), over the five cells M and over the 3x3 square.
OVER_SIDES = {"T": "21001", "S": "12001", "D": "00211", "C": "00121", "F": "11113"}
OVER_SQUARE = {"T": "31102", "S": "13012", "D": "10312", "C": "01132", "F": "22225"}


@pytest.mark.parametrize(("offsets", "expected"), [(SIDES, OVER_SIDES), (SQUARE, OVER_SQUARE)])
def test_counts_between_types(offsets, expected):
    for target, row in expected.items():
        counts = [len(solve(TYPES[target], TYPES[source], offsets)) for source in "TSDCF"]
        assert counts == [int(c) for c in row], target


def test_patterns_of_the_paper():
    names = dict(zip(("O", "E", "N", "W", "S", "NE", "NW", "SW", "SE"), range(9), strict=True))
    (s,) = solve(TYPES["S"], TYPES["T"])
    assert s[[names[n] for n in "EWNS"], 0, 0].tolist() == [1, 1, -1, -1]
    side, diagonal = solve(TYPES["F"], TYPES["T"])
    assert side[[names[n] for n in "EWNS"], :, 0].tolist() == [[1, 0], [-1, 0], [0, -1], [0, 1]]
    corner = diagonal[[names[n] for n in ("NE", "SE", "NW", "SW")], :, 0]
    assert corner.tolist() == [[1, -1], [1, 1], [-1, -1], [-1, 1]]


def test_every_solution_obeys_the_constraint():
    for out in TYPES.values():
        for source in TYPES.values():
            for pattern in solve(out, source):
                for g in "rs":
                    for k, offset in enumerate(SQUARE):
                        moved = pattern[SQUARE.index(move(g, offset))]
                        assert np.array_equal(out.of(g) @ moved, pattern[k] @ source.of(g))


def test_each_type_keeps_the_laws_of_the_square():
    for kind in TYPES.values():
        r, s, one = kind.of("r"), kind.of("s"), np.eye(kind.size, dtype=np.int64)
        assert (np.linalg.matrix_power(r, 4) == one).all() and (s @ s == one).all()
        assert (s @ r @ s == np.linalg.matrix_power(r, 3)).all()
    assert sum(kind.size**2 for kind in TYPES.values()) == 8  # the order of the group


def test_group_laws():
    rng = np.random.default_rng(0)
    field = rng.normal(size=(5, 5, PAPER.size))
    images = {word: transform(field, word, PAPER) for word in ELEMENTS}
    assert np.allclose(transform(field, "rrrr", PAPER), field)
    assert np.allclose(transform(field, "ss", PAPER), field)
    assert np.allclose(transform(field, "srsr", PAPER), field)
    for a in ELEMENTS:
        for b in ELEMENTS:
            if a != b:
                assert not np.allclose(images[a], images[b])


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("size", [2, 3, 5, 8, 9, 13, 19])
def test_equivariance(name, size):
    architecture = ARCHITECTURES[name]
    assert equivariance_error(architecture, random_free(architecture), size=size) < 1e-12


def test_plain_convolution_is_not_equivariant():
    plain = Architecture(tied=False)
    assert plain.weights == 3150
    assert equivariance_error(plain, random_free(plain)) > 0.01


def test_colours_exchanged():
    architecture = ARCHITECTURES["colour"]
    free = random_free(architecture)
    symbols = np.random.default_rng(1).integers(0, 13, (7, 6))
    swapped = np.where(symbols < 6, symbols + 6, np.where(symbols < 12, symbols - 6, symbols))
    ours, _ = forward(architecture, free, symbols)
    theirs, _ = forward(architecture, free, swapped)
    expected = theirs[..., [0, 2, 1, 4, 3, 6, 5]]
    expected[..., :3] = 1 - expected[..., :3]
    assert np.abs(ours - expected).max() < 1e-12
    assert architecture.weights < Architecture().weights


def test_an_initial_network_outputs_its_biases():
    outputs, _ = forward(Architecture(), Architecture().initial(0), np.full((3, 3), 12))
    expected = 1 / (1 + np.exp(-np.array(INITIAL_BIASES)))
    assert np.allclose(outputs, expected)


@pytest.mark.parametrize(
    "tying",
    [kernel_tying(PAPER, PAPER), bias_tying(PAPER, "rsx"), untied((9, 2, 3))],
    ids=["kernel", "bias", "untied"],
)
def test_gradients_go_back_the_way_weights_came(tying: Tying):
    rng = np.random.default_rng(0)
    free, dense = rng.normal(size=tying.free), rng.normal(size=tying.shape)
    assert (tying.expand(free) * dense).sum() == pytest.approx(free @ tying.collect(dense))


def test_only_what_nothing_changes_has_a_bias():
    assert bias_tying(PAPER).free == 4  # the four T units
