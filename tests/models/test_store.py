"""Models come back bit for bit, and anything else is one clear error."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from tengen.errors import ModelError
from tengen.models import Card, Measurement, load_model, read_card, save_model
from tengen.models.store import CARD_KEY, checksum, pack

CARD = Card(
    name="toy",
    kind="toy-kind",
    what="A toy.",
    recipe={"rate": 0.1},
    seed=3,
    scale=2.5,
    results=[Measurement(what="top1", value=0.25, interval=(0.2, 0.3), count=100)],
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "toy.safetensors"
    tensors = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array([1, 2], dtype=np.int16),
        "empty": np.zeros((0, 4)),
        "scalar": np.array(7.0),
    }
    save_model(path, tensors, CARD)
    return path


def test_tensors_and_card_come_back(model: Path) -> None:
    tensors, card = load_model(model, kind="toy-kind", expect={"w": (2, None), "b": (2,)})
    assert tensors["w"].dtype == np.float32
    assert tensors["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensors["empty"].shape == (0, 4)
    assert tensors["scalar"] == 7.0
    assert card.model_copy(update={"sha256": ""}) == CARD
    assert read_card(model) == card
    assert str(card.results[0]) == "top1 0.25 [0.2, 0.3] (n=100)"


def test_same_model_same_bytes(model: Path, tmp_path: Path) -> None:
    tensors, card = load_model(model)
    save_model(tmp_path / "again.safetensors", dict(reversed(tensors.items())), card)
    assert (tmp_path / "again.safetensors").read_bytes() == model.read_bytes()


def test_a_view_that_is_not_contiguous_is_saved_as_it_reads(tmp_path: Path) -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    save_model(tmp_path / "t.safetensors", {"t": matrix.T}, CARD)
    assert np.array_equal(load_model(tmp_path / "t.safetensors")[0]["t"], matrix.T)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_is_a_model_error(model: Path, data: st.DataObject) -> None:
    content = bytearray(model.read_bytes())
    if data.draw(st.booleans(), label="cut"):
        del content[data.draw(st.integers(0, len(content) - 1), label="at") :]
    else:
        place = data.draw(st.integers(0, len(content) - 1), label="place")
        content[place] ^= 1 << data.draw(st.integers(0, 7), label="bit")
    damaged = model.with_name("damaged.safetensors")
    damaged.write_bytes(content)
    with pytest.raises(ModelError) as failure:
        load_model(damaged)
    assert "\n" not in str(failure.value) and "damaged.safetensors" in str(failure.value)


def test_a_model_of_version_0_2_has_the_checksum_of_its_tensors_alone(model: Path) -> None:
    tensors, card = load_model(model)
    old = card.model_copy(update={"sha256": checksum(tensors)})
    model.write_bytes(pack(tensors, {CARD_KEY: old.model_dump_json()}))
    assert load_model(model)[1] == old


def test_foreign_and_wrong_files_are_told_apart(model: Path, tmp_path: Path) -> None:
    save_file({"w": np.zeros(2)}, str(tmp_path / "foreign.safetensors"))
    with pytest.raises(ModelError, match="not of tengen"):
        load_model(tmp_path / "foreign.safetensors")
    with pytest.raises(ModelError, match="no such model file"):
        load_model(tmp_path / "missing.safetensors")
    (tmp_path / "text.safetensors").write_text("hello, this is not a model")
    with pytest.raises(ModelError, match="no safetensors file"):
        load_model(tmp_path / "text.safetensors")
    (tmp_path / "huge.safetensors").write_bytes(struct.pack("<Q", 2**60) + b"{}")
    with pytest.raises(ModelError, match="no safetensors file"):
        load_model(tmp_path / "huge.safetensors")
    with pytest.raises(ModelError, match="kind toy-kind, not other"):
        load_model(model, kind="other")
    with pytest.raises(ModelError, match="'w' has shape"):
        load_model(model, expect={"w": (3, 2)})
    with pytest.raises(ModelError, match="no tensor 'v'"):
        load_model(model, expect={"v": (3,)})


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.safetensors"
    save_model(path, {"w": np.zeros(1)}, CARD.model_copy(update={"format": 99, "version": "9.0"}))
    with pytest.raises(ModelError, match=r"tengen 9.0 in format 99"):
        load_model(path)


@pytest.mark.parametrize("bad", [np.array([np.nan]), np.array(["a"]), np.array([np.inf])])
def test_nonsense_is_not_saved(tmp_path: Path, bad: np.ndarray) -> None:
    with pytest.raises(ModelError, match="tensor 'w'"):
        save_model(tmp_path / "x.safetensors", {"w": bad}, CARD)
    assert list(tmp_path.iterdir()) == []
