"""The network on the processor: symmetric, and the same as PyTorch and ONNX say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.needs import need

from tengen.board import Board
from tengen.board.playouts import play_random
from tengen.errors import ModelError, SpecError
from tengen.learners.network import DESIGNS, DeepNetwork, Design, inputs
from tengen.learners.network.engine import Engine, best_tile, packed, transformed
from tengen.learners.network.engine_kernels import ADD, RELU, STORE, convolve
from tengen.learners.network.evaluation import SIZES, describe, equivariance_error
from tengen.learners.network.group import group_places, lifting_places, spreading
from tengen.learners.network.inputs import N_PLANES
from tengen.learners.network.layers import lay_out, operations, weights_of
from tengen.learners.network.learner import check_size, untrained
from tengen.learners.network.vector_kernels import COLS, ROWS

TINY = DESIGNS["tiny"]
TWO = replace(TINY, move_outputs=2)
PLAIN = Design(fields=6, blocks=3, head_fields=5, value_hidden=7, symmetric=False)


def convolved(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Convolve maps (maps x rows x columns) the slow way."""
    side = kernel.shape[-1]
    padded = np.pad(x, ((0, 0), (side // 2,) * 2, (side // 2,) * 2))
    out = np.zeros((len(kernel), *x.shape[1:]))
    for r in range(x.shape[1]):
        for c in range(x.shape[2]):
            out[:, r, c] = np.tensordot(kernel, padded[:, r : r + side, c : c + side], 3)
    return out


@pytest.mark.parametrize(("rows", "cols", "tile"), [(19, 19, 4), (6, 9, 3), (5, 7, 4)])
@pytest.mark.parametrize("what", [STORE, RELU, ADD])
def test_convolution_matches_slow_reference(rows: int, cols: int, tile: int, what: int) -> None:
    rng = np.random.default_rng(tile)
    maps = 2 * COLS
    high, wide = (-(-size // tile) * tile + 2 for size in (rows, cols))
    given = np.zeros((3, high, wide, maps), np.float32)
    board = slice(1, rows + 1), slice(1, cols + 1)
    given[:, *board] = rng.normal(size=(3, rows, cols, maps))
    kernel = rng.normal(scale=0.1, size=(maps, maps, 3, 3)).astype(np.float32)
    scale, shift = rng.normal(size=(2, maps)).astype(np.float32)
    x = rng.normal(size=(3, rows, cols, maps)).astype(np.float32)
    plain = given[:, *board].transpose(0, 3, 1, 2)
    expected = np.stack([convolved(one, kernel) for one in plain]).transpose(0, 2, 3, 1)
    total = x + expected if what == ADD else x.copy()
    if what == RELU:
        expected = np.maximum(expected + shift, 0)
    elif what == ADD:
        expected = np.maximum(total * scale + shift, 0)
    found = np.zeros_like(given)
    # Room for two rounds and a part of a third on the larger board.
    far = ROWS * maps * 5 + 16
    tiles, products = np.zeros((2, (tile + 2) ** 2, far), np.float32)
    weights = packed(transformed(kernel, tile), maps)
    convolve(given, weights, tile, what, scale, shift, x, found, 1, tiles, products, far)
    assert np.allclose(found[:, *board], expected, atol=1e-4)
    assert np.allclose(x, total, atol=1e-4)
    found[:, *board] = 0
    assert not found.any(), "the border stays zero"


def test_tiles_fit_the_board() -> None:
    assert best_tile(19, 19) == 4 and best_tile(9, 9) == 3


def test_group_kernels_are_made_of_the_free_ones() -> None:
    assert sorted(set(group_places(3).ravel())) == list(range(72))
    laid = lay_out(np.arange(72, dtype=np.float32).reshape(1, 1, 8, 3, 3), 8)
    assert laid.shape == (8, 8, 3, 3)
    matrix = spreading(group_places(3), 72)
    assert np.array_equal(np.arange(72) @ matrix, laid.ravel())
    assert np.array_equal(lifting_places(3)[0], np.arange(9))


@pytest.mark.parametrize("design", [TINY, TWO, DESIGNS["small"]])
def test_symmetric_networks_turn_with_the_board(design: Design) -> None:
    assert equivariance_error(untrained(design).engine) < 1e-3
    assert (5, 9) in SIZES


def test_a_plain_network_does_not() -> None:
    assert equivariance_error(untrained(PLAIN).engine) > 1e-2


@pytest.mark.parametrize("design", [TINY, TWO, PLAIN])
def test_pytorch_says_the_same(design: Design) -> None:
    torch = need("torch")
    from tengen.learners.network.torch_network import network_of

    network = untrained(design)
    module = network_of(network.weights_, design).eval()
    assert module.free_parameters() == network.free_parameters
    for rows, cols in ((5, 5), (9, 9), (6, 11), (19, 19)):
        planes = np.random.default_rng(1).random((3, N_PLANES, rows, cols), dtype=np.float32)
        with torch.no_grad():
            there = module(torch.tensor(planes))
        here = Engine(network.weights_, design).judge_planes(planes)
        assert np.allclose(here.moves, there.moves.numpy(), atol=1e-3, rtol=1e-4)
        assert (here.best is None) == (there.best is None) == (design.move_outputs == 1)
        if here.best is not None and there.best is not None:
            assert np.allclose(here.best, there.best.numpy(), atol=1e-3, rtol=1e-4)
            assert here.best.shape == here.moves.shape and not np.allclose(here.best, here.moves)
        assert np.allclose(here.winner, there.winner.numpy(), atol=1e-3, rtol=1e-4)
        assert np.allclose(here.score, there.score.numpy(), atol=1e-2, rtol=1e-4)
        assert np.allclose(here.ownership, np.tanh(there.ownership.numpy() / 2), atol=1e-3)


def test_onnx_says_the_same(tmp_path: Path) -> None:
    need("onnx")
    runtime = need("onnxruntime")
    from tengen.learners.network.export import export_onnx

    for design in (TINY, TWO, PLAIN):
        network = untrained(design)
        path = tmp_path / "network.onnx"
        export_onnx(network, path)
        session = runtime.InferenceSession(str(path))
        for rows, cols in ((5, 7), (9, 9)):
            planes = np.random.default_rng(2).random((2, N_PLANES, rows, cols), dtype=np.float32)
            here = network.engine.judge_planes(planes)
            names = [output.name for output in session.get_outputs()]
            assert set(names) == {name for name, part in here._asdict().items() if part is not None}
            for name, there in zip(names, session.run(None, {"planes": planes}), strict=True):
                assert np.allclose(getattr(here, name), there, atol=1e-2, rtol=1e-3), name


def test_operations_are_counted() -> None:
    """By hand: a 5 x 5 layer, two 3 x 3 convolutions per block, two heads, multiply and add."""
    products = N_PLANES * 25 * 16 + 3 * 2 * 9 * 16 * 16 + 2 * 16 * 4 * 8
    assert operations(TINY, 9, 9) == 2 * 81 * products


def test_a_network_is_described() -> None:
    told = describe(untrained(TINY))
    assert told["free_parameters"] == untrained(TINY).free_parameters > 1000
    assert told["channels"] == 16 and told["blocks"] == 3 and told["symmetric"]
    assert told["operations"] == operations(TINY) > operations(TINY, 9, 9)


def test_a_saved_network_is_the_same_network(tmp_path: Path) -> None:
    network = untrained(TINY)
    network.save(tmp_path / "a.safetensors", name="a", data="none")
    again = DeepNetwork.load(tmp_path / "a.safetensors")
    planes = np.random.default_rng(3).random((2, N_PLANES, 7, 7), dtype=np.float32)
    here, there = (one.engine.judge_planes(planes) for one in (network, again))
    assert np.array_equal(here.moves, there.moves)


def test_tensors_of_another_design_are_refused(tmp_path: Path) -> None:
    network = untrained(TINY)
    network.design_ = PLAIN
    network.save(tmp_path / "a.safetensors")
    with pytest.raises(ModelError, match=r"a\.safetensors.*shape"):
        DeepNetwork.load(tmp_path / "a.safetensors")
    network = untrained(TINY)
    del network.weights_["value.bias"]
    network.save(tmp_path / "b.safetensors")
    with pytest.raises(ModelError, match=r"no tensor 'value\.bias'"):
        DeepNetwork.load(tmp_path / "b.safetensors")
    network = untrained(TINY)
    network.weights_["more"] = np.zeros(1, np.float32)
    network.save(tmp_path / "c.safetensors")
    with pytest.raises(ModelError, match="'more'"):
        DeepNetwork.load(tmp_path / "c.safetensors")
    assert "value.bias" in weights_of(TINY)


def test_boards_out_of_range_are_refused() -> None:
    with pytest.raises(SpecError, match="5 to 25"):
        check_size(4, 9)
    with pytest.raises(SpecError):
        Design(fields=0, blocks=1, head_fields=1)


@pytest.mark.parametrize("design", [TWO, PLAIN])
def test_the_table_of_the_first_layer_says_what_the_planes_say(design: Design) -> None:
    network = untrained(design)
    for rows, cols in ((5, 5), (9, 9), (6, 13)):
        boards = [
            play_random(Board(rows, cols, rules=rules, komi=komi), 30, np.random.default_rng(seed))
            for seed, rules, komi in ((1, "japanese", 0.5), (2, "chinese", -7.5), (3, "aga", 6.5))
        ]
        boards[2].play("pass")
        seen = inputs.of_boards(boards)
        said, slow = network.engine(seen), network.engine.judge_planes(seen.planes())
        for here, there in zip(said, slow, strict=True):
            if here is None:
                assert there is None
                continue
            assert np.allclose(here, there, atol=1e-3, rtol=1e-4)


def test_views_tell_the_best_move_from_the_likeliest_where_there_are_two_outputs() -> None:
    board = Board(7, moves="B D4 W C3")
    one, two = untrained(TINY).evaluate([board])[0], untrained(TWO).evaluate([board])[0]
    assert one.best is None and one.proposals is one.priors
    assert two.best is not None and two.proposals is two.best
    assert two.best.sum() == pytest.approx(1) and not two.best[~board.legal_mask()].any()
    assert not np.allclose(two.best, two.priors)
