"""Names find models, and kinds find the classes that read them."""

from __future__ import annotations

import json
import struct
import sys
import types
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tengen import extensions, models
from tengen.cli import run
from tengen.errors import ModelError
from tengen.models import (
    Card,
    Measurement,
    find_model,
    has_model,
    list_models,
    load_evaluator,
    load_learner,
    load_model,
    load_policy,
    load_scorer,
    read_card,
    save_model,
)
from tengen.models.registry import PREDICTOR, network_for, policy_for
from tengen.models.store import CARD_KEY, check_shapes, checksum, model_names, pack


class Toy:
    """A model that offers priors only."""

    def __init__(self, weights: np.ndarray) -> None:
        self.weights_ = weights

    @classmethod
    def load(cls, path: Path) -> Toy:
        return cls(load_model(path, kind="toy")[0]["w"])

    def priors(self, board: object) -> np.ndarray:
        return self.weights_


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENGEN_MODELS", str(tmp_path))
    monkeypatch.setattr(models.store, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(extensions, "entries", cache(extensions.entries.__wrapped__))
    toys = types.ModuleType("toys_of_this_test")
    toys.Toy = Toy  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toys_of_this_test", toys)
    extensions.register(extensions.MODELS, "toy", "toys_of_this_test:Toy")
    card = Card(name="mine", kind="toy", what="A toy.", results=[{"what": "elo", "value": 12}])
    save_model(tmp_path / "mine.safetensors", {"w": np.array([0.5, 0.5])}, card)
    return tmp_path


def test_models_are_found_by_name_and_path(folder: Path) -> None:
    path = folder / "mine.safetensors"
    assert find_model("mine") == find_model(str(path)) == find_model(path) == path
    assert has_model("mine") and not has_model("scorer") and not has_model("")
    for other in ("b", "a", "z"):
        path.with_name(f"{other}.safetensors").write_bytes(path.read_bytes())
    with pytest.raises(ModelError, match=r"there is no model 'theirs'. There are: a, b, mine, z"):
        find_model("theirs")


def test_a_model_serves_what_it_offers_and_nothing_else(folder: Path) -> None:
    assert load_policy("mine").priors(None).tolist() == [0.5, 0.5]  # type: ignore[arg-type]
    for load in (load_evaluator, load_scorer):
        with pytest.raises(ModelError, match="is not a model that"):
            load("mine")


def test_a_shared_model_is_one_object_until_its_file_changes(folder: Path) -> None:
    path = folder / "mine.safetensors"
    mine = load_policy("mine", shared=True)
    assert load_learner(path, shared=True) is mine
    assert load_policy("mine") is not mine, "whoever does not ask to share has it alone"
    with pytest.raises(ModelError, match="is not a model that"):
        load_scorer("mine", shared=True)
    card = Card(name="mine", kind="toy", what="A toy.")
    save_model(path, {"w": np.array([0.1, 0.2, 0.7])}, card)
    assert load_policy("mine", shared=True).priors(None).tolist() == [0.1, 0.2, 0.7]  # type: ignore[arg-type]


def test_an_unread_kind_is_one_clear_error(folder: Path) -> None:
    save_model(folder / "odd.safetensors", {"w": np.zeros(1)}, Card(name="o", kind="odd", what=""))
    with pytest.raises(ModelError, match="no reader is registered for models of kind 'odd'"):
        load_learner("odd")
    extensions.register(extensions.MODELS, "odd", "no_such_module:Nothing")
    with pytest.raises(ModelError, match=r"odd\.safetensors.*no_such_module:Nothing"):
        load_learner("odd")


def test_the_users_folder_hides_shipped_names_and_damage_is_listed(folder: Path) -> None:
    card = Card(name="mine", kind="toy", what="The shipped one.")
    save_model(folder / "shipped" / "mine.safetensors", {"w": np.zeros(1)}, card)
    (folder / "broken.safetensors").write_bytes(b"nothing")
    (folder / "astray.safetensors").symlink_to(folder / "nowhere")
    astray, broken, mine = list_models()
    assert broken.card is None and "damaged" in broken.error and broken.bytes == 7
    assert astray.card is None and astray.error and astray.bytes == 0
    assert mine.card is not None and mine.card.what == "A toy." and mine.error == ""


def test_the_command_lists_names_and_shows_cards(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["models", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["name"] == "mine" and entry["results"][0]["value"] == 12
    assert run(["models"]) == 0
    assert "12.000 elo" in capsys.readouterr().out
    assert run(["models", "show", "mine"]) == 0
    assert "elo 12" in capsys.readouterr().out
    assert run(["models", "show", "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["what"] == "A toy."
    assert run(["models", "show", "theirs"]) == 1
    assert "there is no model" in capsys.readouterr().err


def test_the_list_fits_a_screen_with_whole_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[1:]] == [entry.name for entry in list_models()]


@pytest.mark.parametrize("size", [(5, 5), (9, 9), (13, 13), (19, 19), (9, 13), (25, 25)])
def test_default_models_are_shipped(size: tuple[int, int]) -> None:
    assert {PREDICTOR, network_for(*size), policy_for(*size)} <= set(model_names())


def test_no_model_predicts_moves_on_the_smallest_boards() -> None:
    found = [network_for(*size) for size in ((9, 9), (9, 13), (4, 9))]
    assert found == ["tengen-judge", "tengen-large", ""]
    with pytest.raises(ModelError, match="no shipped model predicts moves on 4x9"):
        policy_for(4, 9)


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
    tensors, card = load_model(model, kind="toy-kind")
    check_shapes(tensors, {"w": (2, None), "b": (2,)})
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


def test_foreign_and_damaged_files_are_distinguished(model: Path, tmp_path: Path) -> None:
    path, none = tmp_path / "other.safetensors", "no safetensors file"
    with pytest.raises(ModelError, match="no such model file"):
        load_model(path)
    foreign, huge = pack({"w": np.zeros(2)}, {}), struct.pack("<Q", 2**60) + b"{}"
    for content, message in ((foreign, "not of tengen"), (b"no model", none), (huge, none)):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=message):
            load_model(path)
    with pytest.raises(ModelError, match="kind toy-kind, not other"):
        load_model(model, kind="other")
    tensors, _ = load_model(model)
    for expected, message in (({"w": (3, 2)}, "'w' has shape"), ({"v": (3,)}, "no tensor 'v'")):
        with pytest.raises(ModelError, match=message):
            check_shapes(tensors, expected)


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
