"""A training goes on exactly where its newest whole checkpoint was taken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from tengen.errors import ModelError
from tengen.models import Checkpoints, generator_state, restore_generator
from tengen.models.store import pack


def train(folder: Path, until: int) -> np.ndarray:
    """Walk at random, stopping and resuming as the folder says."""
    checkpoints = Checkpoints(folder, keep=2)
    found = checkpoints.latest()
    if found is None:
        step, weights, rng = 0, np.zeros(3), np.random.default_rng(5)
    else:
        step, weights = found.step, found.arrays["weights"]
        rng = restore_generator(found.state["rng"])
    while step < until:
        weights = weights + rng.normal(size=3)
        step += 1
        checkpoints.save(step, {"weights": weights}, {"rng": generator_state(rng)})
    return weights


def test_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", 10)
    for until in (3, 4, 10):
        parts = train(tmp_path / "parts", until)
    assert np.array_equal(parts, whole)
    assert Checkpoints(tmp_path / "parts").steps() == [9, 10]


def test_a_damaged_newest_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    train(tmp_path, 5)
    checkpoints = Checkpoints(tmp_path)
    newest = checkpoints.path(5)
    newest.write_bytes(newest.read_bytes()[:-3])
    with pytest.warns(UserWarning, match="000000005"):
        latest = checkpoints.latest()
    assert latest is not None and latest.step == 4
    with pytest.raises(ModelError, match="000000005"):
        checkpoints.load(5)
    with pytest.raises(ModelError, match="no such"):
        checkpoints.load(6)
    assert Checkpoints(tmp_path / "nowhere").latest() is None


def test_a_flipped_bit_anywhere_is_found(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, run="mine")
    for step in (1, 2):
        checkpoints.save(step, {"weights": np.arange(4.0) + step}, {"left": step})
    whole = checkpoints.path(2).read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        checkpoints.path(2).write_bytes(damaged)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = checkpoints.latest()
        assert found is not None
        assert (found.step == 1 and len(told) == 1) or (
            found.state == {"left": 2} and found.arrays["weights"][0] == 2 and not told
        )


def test_a_checkpoint_of_version_0_2_has_no_checksum(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    arrays = {"weights": np.arange(4.0)}
    state = json.dumps({"step": 7, "run": None, "state": {"left": 3}})
    checkpoints.path(7).write_bytes(pack(arrays, {"tengen.state": state}))
    found = checkpoints.latest()
    assert found is not None and (found.step, found.state) == (7, {"left": 3})


WRITER = """
import sys
from tengen.files import write_atomic
size = 0
while True:
    size = size % 7 + 1
    write_atomic(sys.argv[1], bytes([size]) * (size * 200_000))
    print(size, flush=True)
"""


def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for pause in (0.0, 0.01, 0.03):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(pause)
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
        content = path.read_bytes()
        assert content == content[:1] * (content[0] * 200_000)


def test_a_single_number_is_kept_too(tmp_path: Path) -> None:
    Checkpoints(tmp_path).save(1, {"step": np.array(7.0, np.float32)}, {})
    found = Checkpoints(tmp_path).latest()
    assert found is not None and float(found.arrays["step"].item()) == 7.0
