"""The cards of the shipped models say what the recorded measurements say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tengen.models import read_card
from tengen.models.store import SHIPPED

SCRIPT = Path(__file__).parents[2] / "scripts" / "write_cards.py"


@pytest.fixture
def write_cards() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_cards", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(path.stem for path in SHIPPED.glob("*.safetensors")))
def test_a_card_says_what_the_records_say(write_cards: ModuleType, name: str) -> None:
    card = read_card(SHIPPED / f"{name}.safetensors")
    assert card.results == write_cards.measurements(name), "run python scripts/write_cards.py"
    assert card.results


def test_another_output_gives_another_card(
    write_cards: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = write_cards.measurements("scorer")
    changed = tmp_path / "cards.jsonl"
    text = write_cards.OUTPUTS.read_text(encoding="utf-8")
    changed.write_text(text.replace('"exact": 0.96,', '"exact": 0.5,'), encoding="utf-8")
    monkeypatch.setattr(write_cards, "OUTPUTS", changed)
    after = write_cards.measurements("scorer")
    assert after != before and after[0].value == 0.5
