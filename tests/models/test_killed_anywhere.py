"""A training killed at any write, resumed, and asked for twice equals one that never stopped."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.models.test_runs import Walk, content, train

from tengen.errors import RunError
from tengen.models import Run, read_metrics

LENGTH = 40
lengths = st.integers(1, LENGTH)


class Killed(BaseException):
    """The process ended here."""


@contextmanager
def killed_at(write: int, folder: Path) -> Iterator[None]:
    """End the block before this write to disk and leave in the folder what was there then."""
    image, left = folder.with_name("image"), write

    def watched(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                shutil.copytree(folder, image)
                raise Killed
            return original(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("replace", "fsync", "unlink"):
            patch.setattr(os, name, watched(getattr(os, name)))
        patch.setattr(Run, "note", watched(Run.note))
        try:
            yield
        except Killed:
            shutil.rmtree(folder)
            image.rename(folder)


class Training(RuleBasedStateMachine):
    """One folder, and the whole walk to compare it with."""

    places: list[np.ndarray]
    rows: list[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp()) / "run"
        self.folder.mkdir()

    def teardown(self) -> None:
        shutil.rmtree(self.folder.parent)

    def saved(self) -> int:
        """Return the step of the newest state."""
        return max((int(p.stem) for p in self.folder.glob("checkpoints/*.safetensors")), default=0)

    @rule(length=lengths, write=st.integers(1, 60))
    def is_killed(self, length: int, write: int) -> None:
        before = self.saved()
        with killed_at(write, self.folder):
            train(self.folder, Walk(steps=length), resume=True)
        assert self.saved() >= before

    @rule(length=lengths)
    def goes_on(self, length: int) -> None:
        reached = max(length, self.saved())
        place = train(self.folder, Walk(steps=length), resume=True)
        assert np.array_equal(place, self.places[reached])
        assert read_metrics(self.folder) == self.rows[: reached // 2]
        assert not list(self.folder.rglob("*.tmp"))

    @rule(length=lengths)
    def is_asked_for_twice(self, length: int) -> None:
        with Run.open(self.folder, "walk", Walk(), data={"games": "a"}, resume=True):
            before = content(self.folder)
            with pytest.raises(RunError, match="in use"):
                train(self.folder, Walk(steps=length), resume=True)
            assert content(self.folder) == before

    @invariant()
    def rows_are_those_of_the_whole_walk(self) -> None:
        rows = read_metrics(self.folder)
        assert rows == self.rows[: len(rows)] and len(rows) >= self.saved() // 2


def test_a_training_killed_anywhere_equals_one_that_never_stopped(tmp_path: Path) -> None:
    walks = [train(tmp_path / str(n), Walk(steps=n)) for n in range(LENGTH + 1)]
    Training.places, Training.rows = walks, read_metrics(tmp_path / str(LENGTH))
    Training.TestCase.settings = settings(max_examples=15, stateful_step_count=10)
    Training.TestCase("runTest").runTest()
