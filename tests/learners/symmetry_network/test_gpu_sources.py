"""The CUDA self-play, compiled for the host, plays the same games; PyTorch agrees if installed."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tengen.board.kernels import ZOBRIST
from tengen.errors import SpecError
from tengen.learners import symmetry_network
from tengen.learners.symmetry_network import Settings, gpu, packing
from tengen.learners.symmetry_network.features import Categories
from tengen.learners.symmetry_network.game_kernels import self_play
from tengen.learners.symmetry_network.network import Architecture, forward, gradient
from tengen.learners.symmetry_network.packing import Packing, split
from tengen.learners.symmetry_network.rewards import target_table, value_table

SOURCE = Path(symmetry_network.__file__).parent / "selfplay.cu"
SIZE = 5
PARAMS = np.dtype(
    [
        ("beta", "f8"),
        ("trace", "f8"),
        ("capture", "f8"),
        ("maxlib", "f8"),
        ("table", "f4", (3, 9)),
        ("targets", "f4", (7, 5)),
        ("cats", "i4", 5),
        ("pad", "i4"),
        ("seed", "u8"),
        ("first", "i8"),
    ],
    align=True,
)


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("mode", ["eyes", "liberties", "mixed"])
def test_the_same_games_as_the_kernels(tmp_path, mode):
    library = tmp_path / "host.so"
    command = ["g++", "-O1", "-x", "c++", "-DHOST", f"-DSIZE={SIZE}", "-shared", "-fPIC", "-w"]
    subprocess.run([*command, str(SOURCE), "-o", str(library)], check=True)
    host = ctypes.CDLL(str(library))
    assert host.isn_sizes(0) == PARAMS.itemsize
    assert host.isn_sizes(3) == packing.SIZE
    architecture = Architecture()
    pack = Packing(architecture)
    rng = np.random.default_rng(0)
    flat = pack.flat(architecture.initial(0) + rng.normal(0, 0.2, architecture.size))
    categories = Categories(mode=mode).packed()
    games, limit = 4, 3 * SIZE * SIZE
    params = np.zeros(1, PARAMS)
    params["beta"], params["trace"], params["capture"] = 4, 0.9, 0.4
    params["table"], params["targets"] = value_table(0.4, 0.4), target_table(0.4)
    params["cats"], params["seed"], params["first"] = categories, 9, 2
    keys = np.ascontiguousarray(ZOBRIST[:, : (SIZE + 2) * (SIZE + 1) + 1])
    cells = (limit + 1) * SIZE * SIZE
    xs, cs = np.zeros(cells, np.uint8), np.zeros(cells, np.uint8)
    outs, grads = np.zeros(cells * 3, np.float32), np.zeros((games, packing.SIZE), np.float32)
    stats = np.zeros((games, 5))
    arrays = (xs, cs, outs, grads, stats)
    host.isn_round(
        *(address(a) for a in (flat, params, keys)), 1, games, *(address(a) for a in arrays), None
    )
    table, targets = value_table(0.4, 0.4).astype("f4"), target_table(0.4).astype("f4")
    for i in range(games):
        ours = np.zeros(packing.SIZE, np.float32)
        row = self_play(
            *((split(flat), split(flat)), (split(flat), split(flat)), categories, table, targets),
            *(0.4, SIZE, SIZE, 4.0, 0.9, limit, 9, 2 + i, False, 0.0, False, False),
            (split(ours), split(ours)),
        )
        assert stats[i, :3].tolist() == [float(v) for v in row[:3]]
        a, b = pack.collect(ours), pack.collect(grads[i])
        assert np.abs(a - b).max() < 1e-4 * np.abs(a).max()


def test_a_training_that_the_gpu_does_not_know_is_refused_by_name():
    pytest.importorskip("torch")
    known = Settings(categories=Categories(mode="mixed"), colour=True, maxlib=0.5)
    assert gpu.unknown_options(known) == []
    runs = [known, Settings(turn=True, steps=2), Settings(categories=Categories(mode="both"))]
    with pytest.raises(SpecError, match="categories both, steps, turn;"):
        gpu.GpuTraining(runs, zobrist=ZOBRIST)


@pytest.mark.parametrize("steps", [0, 2])
def test_torch_agrees(steps):
    torch = pytest.importorskip("torch")
    from tengen.learners.symmetry_network.torch_network import TorchNetwork

    architecture = Architecture(steps=steps)
    rng = np.random.default_rng(1)
    free = rng.normal(0, 0.3, architecture.size)
    symbols, errors = rng.integers(0, 13, (6, 7)), rng.normal(size=(6, 7, 7))
    outputs, _ = forward(architecture, free, symbols)
    module = TorchNetwork(architecture, free)
    single = torch.sigmoid(module(torch.as_tensor(symbols[None])))[0].permute(1, 2, 0)
    assert np.abs(single.detach().numpy() - outputs).max() < 1e-5
    double = TorchNetwork(architecture, free, torch.float64)
    net = double(torch.as_tensor(symbols[None]))[0].permute(1, 2, 0)
    (net * torch.as_tensor(errors)).sum().backward()
    expected = gradient(architecture, free, symbols, errors)
    assert np.abs(double.free.grad.numpy() - expected).max() < 1e-10
