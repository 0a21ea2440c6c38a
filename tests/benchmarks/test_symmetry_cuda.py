"""The CUDA self-play, compiled for the host, plays the same games; code comes from safe places."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.board.kernels import ZOBRIST
from tengen.errors import SpecError, TengenError
from tengen.learners.symmetry_network import SymmetrySettings, packing
from tengen.learners.symmetry_network.evaluation_kernels import Side
from tengen.learners.symmetry_network.features import Categories
from tengen.learners.symmetry_network.game_kernels import self_play
from tengen.learners.symmetry_network.network import Architecture
from tengen.learners.symmetry_network.packing import Packing, split
from tengen.learners.symmetry_network.rewards import target_table, value_table

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SOURCE = BENCHMARKS / "symmetry_cuda" / "selfplay.cu"
SIZE = 5


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from symmetry_cuda import training

    yield training
    for name in [name for name in sys.modules if name.startswith("symmetry_cuda")]:
        del sys.modules[name]


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("mode", ["eyes", "liberties", "mixed"])
def test_the_same_games_as_the_kernels(tmp_path, mode, gpu):
    library = tmp_path / "host.so"
    command = ["g++", "-O1", "-x", "c++", "-DHOST", f"-DSIZE={SIZE}", "-shared", "-fPIC", "-w"]
    subprocess.run([*command, str(SOURCE), "-o", str(library)], check=True)
    host = ctypes.CDLL(str(library))
    assert host.isn_sizes(0) == gpu.PARAMS.itemsize
    assert host.isn_sizes(3) == packing.SIZE
    architecture = Architecture()
    pack = Packing(architecture)
    rng = np.random.default_rng(0)
    flat = pack.flat(architecture.initial(0) + rng.normal(0, 0.2, architecture.size))
    categories = Categories(mode=mode).packed()
    games, limit = 4, 3 * SIZE * SIZE
    params = np.zeros(1, gpu.PARAMS)
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
            *(Side((split(flat), split(flat)), categories, table, 0.4, 4.0), targets),
            *(SIZE, SIZE, 0.9, limit, 9, 2 + i, False, 0.0, False, (split(ours), split(ours))),
        )
        assert stats[i, :3].tolist() == [float(v) for v in row[:3]]
        a, b = pack.collect(ours), pack.collect(grads[i])
        assert np.abs(a - b).max() < 1e-4 * np.abs(a).max()


def test_a_training_that_the_gpu_does_not_know_is_refused_by_name(gpu):
    pytest.importorskip("torch")
    known = SymmetrySettings(categories="mixed", colour=True, maxlib=0.5)
    assert gpu.unknown_options(known) == []
    runs = [known, SymmetrySettings(turn=True, steps=2), SymmetrySettings(categories="both")]
    with pytest.raises(SpecError, match="categories both, steps, turn;"):
        gpu.GpuTraining(runs)


def test_compiled_code_is_loaded_only_from_a_folder_of_the_user_alone(gpu, tmp_path):
    folder = gpu.private_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert gpu.private_folder(tmp_path) == folder
    folder.chmod(0o770)
    with pytest.raises(TengenError, match="yours alone"):
        gpu.private_folder(tmp_path)
    folder.rmdir()
    (tmp_path / "planted").mkdir()
    folder.symlink_to(tmp_path / "planted")
    with pytest.raises(TengenError, match="yours alone"):
        gpu.private_folder(tmp_path)
