"""One folder, one run: claimed or refused, killed and resumed to the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.needs import need

from tengen.errors import ModelError, RunError
from tengen.models import (
    CheckedSettings,
    Run,
    read_metrics,
    read_run,
    resumed_settings,
    setting,
    store,
)
from tengen.models.runs import Checkpoints
from tengen.models.store import pack


@dataclass(frozen=True)
class Walk(CheckedSettings):
    """Settings of a random walk."""

    steps: int = setting(50, "How far.", changeable=True)
    rate: float = setting(0.1, "Length of a step.")
    seed: int = setting(0, "Every random choice follows from it.")


def walk(run: Run[Walk]) -> np.ndarray:
    """Train as a learner does: a row every 2 steps, a state every 5."""
    settings = run.settings
    step, place, rng = 0, np.zeros(3), np.random.default_rng(settings.seed)
    if run.start:
        step, place = run.start.step, run.start.arrays["place"]
        rng.bit_generator.state = run.start.state["rng"]
    while step < settings.steps:
        place = place + settings.rate * rng.normal(size=3)
        step += 1
        if step % 2 == 0:
            run.note(step, far=float(np.linalg.norm(place)))
        if step % 5 == 0:
            run.save(step, {"place": place}, {"rng": rng.bit_generator.state})
    return place


def train(folder: Path, settings: Walk | None = None, games: str = "a", resume: bool = False):
    chosen = settings or Walk()
    with Run.open(folder, "walk", chosen, data={"games": games}, resume=resume) as run:
        return walk(run)


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.name != ".lock"}


def test_a_resumed_run_has_the_files_of_an_undisturbed_one(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole")
    for until in (3, 17, 18, 50):
        parts = train(tmp_path / "parts", Walk(steps=until), resume=True)
    assert np.array_equal(whole, parts)
    assert content(tmp_path / "whole") == content(tmp_path / "parts")
    assert [row["step"] for row in read_metrics(tmp_path / "parts")] == list(range(2, 51, 2))
    found = read_run(tmp_path / "parts")
    assert found is not None and found.settings == {"steps": 50, "rate": 0.1, "seed": 0}
    assert (found.learner, found.data) == ("walk", {"games": "a"})


def test_metrics_are_curves_in_tensorboard(tmp_path: Path) -> None:
    need("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(tmp_path / "run", Walk(steps=17))
    train(tmp_path / "run", resume=True)
    curves = EventAccumulator(str(tmp_path / "run")).Reload()
    rows = read_metrics(tmp_path / "run")
    assert [(e.step, e.value) for e in curves.Scalars("far")] == [
        (row["step"], pytest.approx(row["far"])) for row in rows
    ]


def test_without_tensorboard_there_are_no_curves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    train(tmp_path / "run")
    assert not list((tmp_path / "run").glob("events*"))


TRAINER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_runs import Run, Walk, walk
with Run.open(sys.argv[2], "walk", Walk(), data={"games": "a"}, resume=True) as run:
    print("claimed", flush=True)
    sys.stdin.read()
    walk(run)
"""


def start_trainer(folder: Path) -> subprocess.Popen[str]:
    """Start a trainer that waits for the end of its input."""
    here = str(Path(__file__).parent)
    words = [sys.executable, "-c", TRAINER, here, str(folder)]
    pipe = subprocess.PIPE
    trainer = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
    assert trainer.stdout is not None and trainer.stdout.readline() == "claimed\n"
    return trainer


def test_a_second_trainer_is_refused_and_the_first_undisturbed(tmp_path: Path) -> None:
    trainer = start_trainer(tmp_path / "run")
    for resume in (False, True):
        with pytest.raises(RunError, match=r"run: (in use by another process|holds a run)"):
            train(tmp_path / "run", resume=resume)
    trainer.communicate()
    assert trainer.returncode == 0
    train(tmp_path / "whole")
    assert content(tmp_path / "run") == content(tmp_path / "whole")


@pytest.mark.parametrize("torn", [b'{"step": 8, "fa', b'{"step": 8, "far": 1.0}', b"\xff\xfe"])
def test_a_torn_last_line_stops_nobody(tmp_path: Path, torn: bytes) -> None:
    train(tmp_path / "whole")
    train(tmp_path / "torn", Walk(steps=7))
    with (tmp_path / "torn" / "metrics.jsonl").open("ab") as file:
        file.write(torn)
    assert len(read_metrics(tmp_path / "torn")) == 3
    train(tmp_path / "torn", resume=True)
    assert content(tmp_path / "whole") == content(tmp_path / "torn")


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    train(tmp_path)
    path = tmp_path / "metrics.jsonl"
    path.write_text(path.read_text().replace('{"step": 4,', '{"step" 4,'))
    before = content(tmp_path)
    with pytest.raises(RunError, match=r"metrics.jsonl: line 2 is damaged"):
        train(tmp_path, resume=True)
    assert content(tmp_path) == before


def refused(folder: Path, message: str, **asked: object) -> None:
    """Check that a run is refused in one line and nothing in its folder changes."""
    before = content(folder)
    arguments = {"learner": "walk", "settings": Walk(), "data": {"games": "a"}, **asked}
    with pytest.raises(RunError, match=message) as failure:
        Run.open(folder, **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(failure.value) and str(folder) in str(failure.value)
    assert content(folder) == before


def test_runs_are_not_mixed_up(tmp_path: Path) -> None:
    train(tmp_path, Walk(steps=20))
    refused(tmp_path, "holds a run; resume it or choose another folder")
    refused(tmp_path, "a run of walk, not of swim", learner="swim", resume=True)
    other = r"begun with other settings: rate 0\.1 there, 0\.2 asked; seed 0 there, 3 asked"
    refused(tmp_path, other, settings=Walk(rate=0.2, seed=3), resume=True)
    refused(tmp_path, r"begun with other games \(a, not b\)", data={"games": "b"}, resume=True)
    more = {"games": "a", "start": "x"}
    refused(tmp_path, r"other start \(none, not x\)", data=more, resume=True)
    train(tmp_path, Walk(steps=50), resume=True)


def test_a_run_of_another_version_is_refused(tmp_path: Path) -> None:
    train(tmp_path)
    path = tmp_path / "config.toml"
    found = read_run(tmp_path)
    assert found is not None
    path.write_text(path.read_text().replace(f'"{found.version}"', '"0.0.1"'))
    refused(tmp_path, "was begun by tengen 0.0.1, this is", resume=True)


def test_half_a_run_and_foreign_things_are_refused(tmp_path: Path) -> None:
    half, foreign, damaged = tmp_path / "half", tmp_path / "foreign", tmp_path / "damaged"
    train(half)
    (half / "config.toml").unlink()
    for resume in (False, True):
        refused(half, r"half a run, metrics.jsonl without config.toml", resume=resume)
    foreign.mkdir()
    (foreign / "config.toml").write_text("[tool]\nx = 1\n")
    refused(foreign, "is not of a run of this tengen")
    damaged.mkdir()
    (damaged / "config.toml").write_bytes(b'learner = "wa')
    refused(damaged, "config.toml: damaged", resume=True)
    (tmp_path / "file").write_text("text")
    with pytest.raises(RunError, match="is not a folder"):
        train(tmp_path / "file")


def test_a_run_without_a_whole_state_is_not_begun_anew(tmp_path: Path) -> None:
    train(tmp_path)
    for path in (tmp_path / "checkpoints").iterdir():
        path.write_bytes(path.read_bytes()[:-3])
    refused(tmp_path, "none of its checkpoints is whole", resume=True)


def test_lost_rows_of_metrics_are_noticed(tmp_path: Path) -> None:
    train(tmp_path)
    path = tmp_path / "metrics.jsonl"
    whole = path.read_bytes()
    for text in (b"", whole[: len(whole) // 2]):
        path.write_bytes(text)
        refused(tmp_path, r"metrics.jsonl: has lost \d+ of", resume=True)
    path.unlink()
    refused(tmp_path, r"metrics.jsonl: has lost \d+ of", resume=True)


def test_a_folder_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    refused(tmp_path, r"cannot be written \(no permission", resume=True)
    with pytest.raises(RunError, match="cannot be written"):
        Run.open("/proc/run", "walk", Walk())


def test_only_own_states_are_counted_and_deleted(tmp_path: Path) -> None:
    train(tmp_path / "old", Walk(steps=490, seed=7))
    states = tmp_path / "run" / "checkpoints"
    train(tmp_path / "run", Walk(steps=5))
    for path in (tmp_path / "old" / "checkpoints").iterdir():
        (states / path.name).write_bytes(path.read_bytes())
    train(tmp_path / "run", Walk(steps=20), resume=True)
    assert sorted(int(path.stem) for path in states.iterdir()) == [15, 20, 485, 490]
    with Run.open(tmp_path / "run", "walk", Walk(), data={"games": "a"}, resume=True) as run:
        assert run.start is not None and run.start.step == 20


def test_litter_of_killed_writes_is_swept(tmp_path: Path) -> None:
    train(tmp_path, Walk(steps=10))
    for part in (tmp_path, tmp_path / "checkpoints"):
        (part / ".000000015.safetensors.abc.tmp").write_bytes(b"half")
    (tmp_path / "notes.tmp").write_text("mine")
    train(tmp_path, resume=True)
    assert [path.name for path in tmp_path.rglob("*.tmp")] == ["notes.tmp"]


def test_rows_come_before_states_and_must_be_finite(tmp_path: Path) -> None:
    with Run.open(tmp_path, "walk", Walk()) as run:
        run.note(0, loss=np.float32(1.5), count=np.int64(3))
        assert run.rows() == [{"step": 0, "loss": 1.5, "count": 3}]
        run.save(2, {})
        with pytest.raises(RuntimeError, match="row of step 2"):
            run.note(2, loss=1.0)
        with pytest.raises(RunError, match="loss is nan at step 3"):
            run.note(3, loss=float("nan"))
        assert not run.due(60.0) and run.due(0.0)
        assert run.snapshot(250) == tmp_path / "snapshots" / "000000250.safetensors"


def test_an_interruption_says_how_to_resume(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt) as stop, Run.open(tmp_path, "walk", Walk()) as run:
        run.save(5, {"place": np.zeros(3)})
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    assert stop.value.__notes__ == [f"{tmp_path} is at step 5 and can be resumed"]


def test_resuming_need_not_repeat_the_settings(tmp_path: Path) -> None:
    assert read_run(tmp_path / "none") is None
    assert resumed_settings(tmp_path / "none", Walk(), ()) == Walk()
    train(tmp_path, Walk(steps=10, rate=0.3, seed=4))
    asked = Walk(steps=20)
    assert resumed_settings(tmp_path, asked, ["steps"]) == Walk(steps=20, rate=0.3, seed=4)


def test_a_damaged_newest_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for step in (3, 4, 5):
        checkpoints.save(step, {"step": np.array(7.0, np.float32)}, {})
    assert checkpoints.steps() == [4, 5]
    newest = checkpoints.path(5)
    newest.write_bytes(newest.read_bytes()[:-3])
    with pytest.warns(UserWarning, match="000000005"):
        latest = checkpoints.latest()
    assert latest is not None and latest.step == 4 and latest.arrays["step"].item() == 7.0
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


def test_a_state_may_be_larger_than_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LARGEST_MODEL", 1000)
    states = Checkpoints(tmp_path, run="walk")
    for step in (1, 2, 3):
        states.save(step, {"place": np.arange(1000.0)}, {})
    assert states.steps() == [2, 3]
    latest = states.latest()
    assert latest is not None and latest.arrays["place"].sum() == 499_500
    with pytest.raises(ModelError, match="bytes are too many"):
        store.unpack(states.path(3))


def test_a_checkpoint_of_version_0_2_has_no_checksum(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    arrays = {"weights": np.arange(4.0)}
    state = json.dumps({"step": 7, "run": None, "state": {"left": 3}})
    checkpoints.path(7).write_bytes(pack(arrays, {"tengen.state": state}))
    found = checkpoints.latest()
    assert found is not None and (found.step, found.state) == (7, {"left": 3})
