"""Openings by evolution on the command line: one JSON value, clear mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Tengen
from tests.needs import need

TRAIN = "train opening-evolution --quiet"
SMALL = f"{TRAIN} --size 5 --moves 4 --generations 4 --population 4 --snapshot-every 2 --out"
EVALUATE = "evaluate opening-evolution --games 10 --model"


def train(tengen: Tengen, out: Path, *more: str | Path) -> Any:
    found = tengen.json(SMALL, out, *more)
    assert Path(found["model"]).is_file()
    return found


@pytest.mark.parametrize(
    "options",
    [
        "--network spatial --plies 2",
        "--network shared --strategy cma --starts 2 --random-plies 2",
        "--network tiled --hall-every 1 --starts 2",
        "--illegal-passes --colours black --remember --opponent maxlib_+_random",
    ],
)
def test_training_takes_all_that_the_paper_planned(
    tengen: Tengen, tmp_path: Path, options: str
) -> None:
    words = [Path(word.replace("_", " ")) for word in options.split()]
    settings = train(tengen, tmp_path, *words)["settings"]
    assert settings["generations"] == 4
    assert settings["network"] == (options.split()[1] if "--network" in options else "dense")
    assert settings["free"] == ("--illegal-passes" in options)


def test_models_are_evaluated(tengen: Tengen, tmp_path: Path) -> None:
    model = Path(train(tengen, tmp_path / "a")["model"])
    found = tengen.json(EVALUATE, model)
    assert found["games"] == 10 and 0 <= found["win_rate"] <= 1 and found["opponent"] == "random"
    assert tengen.json(EVALUATE, model, "--player static")["model"] == "static"
    rival = tmp_path / "a" / "snapshots" / "000000000.safetensors"
    assert tengen.json(EVALUATE, model, "--rival", rival)["opponent"] == str(rival)


def test_mistakes_are_named(tengen: Tengen) -> None:
    assert "network is 'deep'" in tengen.mistake(TRAIN, "--network deep")
    assert "nobody" in tengen.mistake("evaluate opening-evolution --opponent nobody")


def test_gnugo_can_be_the_opponent_and_the_finisher(tengen: Tengen, tmp_path: Path) -> None:
    need("gnugo")
    engine = Path("gtp:gnugo --mode gtp --level 0 --chinese-rules")  # one word
    few = "--size 5 --moves 4 --generations 1 --population 2 --opponent"
    tengen(TRAIN, few, engine, "--out", tmp_path)
    tengen(EVALUATE, tmp_path / "model.safetensors", "--games 2 --expert", engine)
