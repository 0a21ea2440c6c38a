"""The models' smaller parts, each by its own name: settings, runs, checkpoints, cards, defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tengen.errors import SpecError
from tengen.models import Checkpoints, Run
from tengen.models.cards import FORMAT, Card
from tengen.models.checkpoints import Checkpoint
from tengen.models.defaults import network_for, policy_for, predictor_for
from tengen.models.places import model_names
from tengen.models.registry import ModelInfo, list_models
from tengen.models.runs import SNAPSHOTS, RunInfo, read_run
from tengen.models.settings import CheckedSettings, Setting, SettingField, fields_of, setting


@dataclass(frozen=True)
class Small(CheckedSettings):
    steps: int = setting(5, "Steps.", least=1, changeable=True)
    rate_end: float | None = setting(None, "Last rate.", option="last-rate")
    plain: str = "x"


def test_a_setting_knows_its_bounds_its_name_for_people_and_whether_it_may_change() -> None:
    steps, rate, plain = fields_of(Small)
    assert steps.about == Setting("Steps.", least=1, changeable=True)
    assert isinstance(rate, SettingField) and rate.optional and rate.kind is float
    assert (steps.option, rate.option, plain.option) == ("steps", "last-rate", "plain")
    assert plain.about is None
    with pytest.raises(SpecError, match="steps"):
        Small(steps=0)


def test_a_run_is_read_as_it_was_begun(tmp_path: Path) -> None:
    assert read_run(tmp_path) is None
    with Run.open(tmp_path / "run", "small", Small(), data={"games": "f00"}) as run:
        assert run.snapshot(3).parent == tmp_path / "run" / SNAPSHOTS
    found = read_run(tmp_path / "run")
    assert isinstance(found, RunInfo)
    assert (found.learner, found.data) == ("small", {"games": "f00"})
    assert found.settings["steps"] == 5


def test_a_checkpoint_is_its_step_its_arrays_and_plain_values(tmp_path: Path) -> None:
    Checkpoints(tmp_path).save(7, {"w": np.arange(3.0)}, {"lr": 0.5})
    found = Checkpoints(tmp_path).load(7)
    assert isinstance(found, Checkpoint)
    assert (found.step, found.arrays["w"].tolist(), found.state) == (
        7,
        [0.0, 1.0, 2.0],
        {"lr": 0.5},
    )


def test_a_damaged_model_is_listed_with_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENGEN_MODELS", str(tmp_path))
    (tmp_path / "broken.safetensors").write_bytes(b"nothing")
    (tmp_path / "astray.safetensors").symlink_to(tmp_path / "nowhere")
    listed = {info.name: info for info in list_models()}
    broken = listed["broken"]
    assert isinstance(broken, ModelInfo) and broken.card is None and broken.error
    assert broken.bytes == 7
    assert listed["astray"].error and listed["astray"].bytes == 0
    others = [info for name, info in listed.items() if name not in ("broken", "astray")]
    assert others and all(info.card is not None and info.error == "" for info in others)
    assert all(info.card.format == FORMAT for info in others if isinstance(info.card, Card))


@pytest.mark.parametrize("size", [(2, 2), (9, 9), (13, 13), (19, 19), (9, 13), (25, 25)])
def test_every_board_has_a_model_that_is_there(size: tuple[int, int]) -> None:
    served = {network_for(*size)} if min(size) >= 5 else set()
    assert {predictor_for(*size), policy_for(*size), *served} <= set(model_names())
    assert bool(network_for(*size)) == bool(served)
