"""The network on the processor: symmetric, and the same as PyTorch and ONNX say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.needs import need

from tengen.board import Board
from tengen.board.playouts import play_random
from tengen.errors import ModelError, SpecError
from tengen.network import DESIGNS, DeepNetwork, Design, layers
from tengen.network import engine as engines
from tengen.network.engine import (
    Engine,
    EngineOutput,
    GpuEngine,
    gpu_wanted,
    strips,
)
from tengen.network.engine_kernels import (
    ADD,
    COLS,
    RELU,
    ROWS,
    STORE,
    convolve,
    tiling_sizes,
    transform_kernels,
)
from tengen.network.layers import N_PLANES, Positions, lay_out, operations, tied_places
from tengen.network.learner import SIZES, check_size, equivariance_error, untrained

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


@pytest.mark.parametrize(("rows", "cols", "tile"), [(19, 19, 5), (6, 9, 3), (5, 7, 4)])
@pytest.mark.parametrize(("what", "transformed"), [(STORE, True), (RELU, False), (ADD, True)])
def test_convolution_matches_slow_reference(
    rows: int, cols: int, tile: int, what: int, transformed: bool
) -> None:
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
    sizes = tiling_sizes(maps, tile, 5 * ROWS)
    tiles, products, room, half = (np.zeros(sizes[i], np.float32) for i in (0, 0, 1, 2))
    weights = strips(kernel, maps)
    if transformed:
        weights, plain, room = room, weights, room[:0]
        transform_kernels(plain, maps, tile + 2, half, weights)
    tiling = tiles, products, room, half
    convolve(given, weights, tile, what, scale, shift, x, found, 1, tiling)
    for one, other in ((found[:, *board], expected), (x, total)):
        assert np.abs(one - other).max() < 1e-6 * 9 * maps  # terms of a sum
    found[:, *board] = 0
    assert not found.any(), "the border stays zero"


def test_scratch_space_may_hold_anything() -> None:
    engine = untrained(TWO).engine
    planes = np.random.default_rng(1).random((3, N_PLANES, 6, 9), dtype=np.float32)
    before = engine.evaluate_planes(planes)
    engines._scratch(1_000_000)[:] = 1e9
    after = engine.evaluate_planes(planes)
    assert all(np.array_equal(*pair) for pair in zip(before, after, strict=True))


def test_group_kernels_are_made_of_the_free_ones() -> None:
    places = tied_places((8, 3, 3), 8)
    assert sorted(set(places.ravel())) == list(range(72))
    laid = lay_out(np.arange(72, dtype=np.float32).reshape(1, 1, 8, 3, 3), 8)
    assert laid.shape == (8, 8, 3, 3) and np.array_equal(laid.ravel(), places.ravel())
    assert np.array_equal(tied_places((3, 3), 8)[0], np.arange(9))


@pytest.mark.parametrize("design", [TINY, TWO, DESIGNS["small"]])
def test_symmetric_networks_turn_with_the_board(design: Design) -> None:
    assert equivariance_error(untrained(design).engine) < 1e-3
    assert (5, 9) in SIZES


def test_a_plain_network_does_not() -> None:
    assert equivariance_error(untrained(PLAIN).engine) > 1e-2


def alike(here: EngineOutput, there: EngineOutput) -> bool:
    """Tell whether two engines say the same up to rounding."""
    return all(
        one is other is None or np.allclose(one, other, atol=1e-3, rtol=1e-3)
        for one, other in zip(here, there, strict=True)
    )


@pytest.mark.parametrize("design", [TINY, TWO, PLAIN])
def test_pytorch_says_the_same(design: Design) -> None:
    need("torch")
    network = untrained(design)
    for rows, cols in ((5, 5), (9, 9), (6, 11), (19, 19), (25, 25)):
        planes = np.random.default_rng(1).random((3, N_PLANES, rows, cols), dtype=np.float32)
        here = Engine(network.weights_, design).evaluate_planes(planes)
        assert alike(here, GpuEngine(network.weights_, design, "cpu").evaluate_planes(planes))
        assert (here.best is None) == (design.move_outputs == 1)
        assert here.best is None or not np.allclose(here.best, here.moves)


def test_onnx_says_the_same(tmp_path: Path) -> None:
    need("onnx")
    runtime = need("onnxruntime")
    from tengen.network.export import export_onnx

    for design in (TINY, TWO, PLAIN):
        network = untrained(design)
        path = tmp_path / "network.onnx"
        export_onnx(network, path)
        session = runtime.InferenceSession(str(path))
        for rows, cols in ((5, 7), (9, 9), (25, 20)):
            planes = np.random.default_rng(2).random((2, N_PLANES, rows, cols), dtype=np.float32)
            here = network.engine.evaluate_planes(planes)
            names = [output.name for output in session.get_outputs()]
            assert set(names) == {name for name, part in here._asdict().items() if part is not None}
            for name, there in zip(names, session.run(None, {"planes": planes}), strict=True):
                assert np.allclose(getattr(here, name), there, atol=1e-2, rtol=1e-3), name


def test_operations_are_counted() -> None:
    """By hand: a 5 x 5 layer, two 3 x 3 convolutions per block, two heads, multiply and add."""
    products = N_PLANES * 25 * 16 + 3 * 2 * 9 * 16 * 16 + 2 * 16 * 4 * 8
    assert operations(TINY, 9, 9) == 2 * 81 * products


def test_a_network_is_described() -> None:
    told = untrained(TINY).describe()
    assert told["free_parameters"] == untrained(TINY).free_parameters > 1000
    assert told["channels"] == 16 and told["blocks"] == 3 and told["symmetric"]
    assert told["operations"] == operations(TINY) > operations(TINY, 9, 9)


def test_a_saved_network_is_the_same_network(tmp_path: Path) -> None:
    network = untrained(TINY)
    network.save(tmp_path / "a.safetensors", name="a", data="none")
    again = DeepNetwork.load(tmp_path / "a.safetensors")
    planes = np.random.default_rng(3).random((2, N_PLANES, 7, 7), dtype=np.float32)
    here, there = (one.engine.evaluate_planes(planes) for one in (network, again))
    assert np.array_equal(here.moves, there.moves)


def test_tensors_of_another_design_are_refused(tmp_path: Path) -> None:
    path, other, less, more = tmp_path / "a.safetensors", *(untrained(TINY) for _ in range(3))
    other.design_ = PLAIN
    del less.weights_["value.bias"]
    more.weights_["more"] = np.zeros(1, np.float32)
    wrong = (other, "shape"), (less, r"no tensor 'value\.bias'"), (more, "'more'")
    for network, message in wrong:
        network.save(path)
        with pytest.raises(ModelError, match=r"a\.safetensors.*" + message):
            DeepNetwork.load(path)


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
        seen = layers.pack_boards(boards)
        assert alike(network.engine(seen), network.engine.evaluate_planes(seen.planes()))


def test_an_evaluation_does_not_depend_on_the_batch() -> None:
    engine = untrained(replace(TWO, blocks=6)).engine
    for whole, part in zip(engine(positions(5)), engine(positions(1)), strict=True):
        assert whole is not None and part is not None and np.array_equal(whole[:1], part)


def test_views_tell_the_best_move_from_the_likeliest_where_there_are_two_outputs() -> None:
    board = Board(7, moves="B D4 W C3")
    one, two = untrained(TINY).evaluate([board])[0], untrained(TWO).evaluate([board])[0]
    assert one.best is None and one.proposals is one.priors
    assert two.best is not None and two.proposals is two.best
    assert two.best.sum() == pytest.approx(1) and not two.best[~board.legal_mask()].any()
    assert not np.allclose(two.best, two.priors)


# ----- A GPU; here a processor stands for it, which is a device of PyTorch too -----

NETWORK = untrained(TINY)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(engines.VARIABLE, raising=False)
    gpu_wanted.cache_clear()
    yield
    gpu_wanted.cache_clear()


def positions(count: int = 3) -> Positions:
    rng = np.random.default_rng(5)
    boards = [play_random(Board(7), 10 + i, rng) for i in range(count)]
    return layers.pack_boards(boards, ladders=NETWORK.design_.ladders)


@pytest.mark.usefixtures("fresh")
def test_measuring_asks_the_gpu_in_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = need("torch")
    assert NETWORK.measured() is NETWORK.engine
    monkeypatch.setattr("tengen.network.learner.gpu_wanted", lambda: "cpu")
    seen: list[bool] = []
    real = torch.autocast

    def watched(*args: Any, enabled: bool, **options: Any) -> Any:
        seen.append(enabled)
        return real(*args, enabled=enabled, **options)

    monkeypatch.setattr(torch, "autocast", watched)
    judge = NETWORK.measured()
    assert isinstance(judge, GpuEngine) and len(judge(positions()).winner) == 3
    assert seen == [False]


@pytest.mark.usefixtures("fresh")
def test_without_a_gpu_nothing_is_asked_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "GPU_FILES", (Path("/no/such/gpu"),))
    monkeypatch.setattr(engines, "find_spec", lambda name: pytest.fail("looked for PyTorch"))
    assert gpu_wanted() is None and NETWORK.at_once == 1


@pytest.mark.usefixtures("fresh")
def test_a_gpu_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = need("torch")
    monkeypatch.setattr(engines, "GPU_FILES", (Path(__file__),))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert gpu_wanted() == "cuda" and NETWORK.at_once == engines.AT_ONCE
    gpu_wanted.cache_clear()
    monkeypatch.setenv(engines.VARIABLE, "cpu")
    assert gpu_wanted() is None


@pytest.mark.usefixtures("fresh")
def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = need("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv(engines.VARIABLE, "cuda")
    with pytest.raises(SpecError, match=r"TENGEN_DEVICE: .*no GPU"):
        gpu_wanted()
    assert engines.chosen_device("auto") == engines.chosen_device("cpu") == "cpu"
    with pytest.raises(SpecError, match="abacus"):
        engines.chosen_device("abacus")


def test_a_gpu_that_dies_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    need("torch")
    guarded = GpuEngine(NETWORK.weights_, NETWORK.design_, "cpu")
    assert np.allclose(guarded(positions()).winner, NETWORK.engine(positions()).winner, atol=1e-4)

    def die(self: GpuEngine, planes: np.ndarray) -> None:
        raise RuntimeError("CUDA error: device lost\nmuch more")

    monkeypatch.setattr(GpuEngine, "evaluate_planes", die)
    with pytest.warns(UserWarning, match="device lost.: going on without it"):
        judged = guarded(positions())
    assert np.array_equal(judged.winner, NETWORK.engine(positions()).winner)
    guarded(positions())  # and never asked again
