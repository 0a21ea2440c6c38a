"""Experiments return rows, continue after a stop, and give the same rows again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tengen.errors import SpecError, TengenError
from tengen.lab.evidence import NewRows
from tengen.lab.steps import LabContext
from tengen.papers.opening_td import OpeningTD, TDSettings, training
from tengen.papers.opening_td import experiments as lab
from tengen.papers.opening_td.settings import SETS

EXPERIMENTS = {each.name: each for each in lab.EXPERIMENTS}
TINY: dict[str, Any] = {"games": 2, "trainings": 2, "expert": "playouts:1", "rows": 5}


def run(name: str, size: Any, folder: Path, seed: int = 0) -> list[NewRows]:
    found = EXPERIMENTS[name].run(LabContext(folder, seed, 1), size)
    return [replace(each, rows=list(each.rows)) for each in found]


def test_round_robins_have_every_pair_once(tmp_path: Path) -> None:
    size = lab.InputsSize(**TINY, pair_games=2, features=("A", "AB", "ACE"))
    [found] = run("opening-td-inputs", size, tmp_path)
    rows: list[Any] = list(found.rows)
    met = Counter((row["seed"], row["a"], row["b"]) for row in rows)
    # Three pairs in each encoding and three pairs of twins, for each of two seeds.
    assert len(met) == len(rows) == 2 * (3 + 3 + 3)
    assert ("AB-binary", "AB-scalar") in {(row["a"], row["b"]) for row in rows}
    assert all(row["games"] == 2 and 0 <= row["wins"] <= 2 for row in rows)
    assert found.seeds == [0, 1] and found.settings["games"] == 2
    journal = tmp_path / "opening-td-inputs" / "matches.jsonl"
    before = journal.read_text()
    assert run("opening-td-inputs", size, tmp_path) == [found]
    assert journal.read_text() == before


def test_more_trainings_continue_a_run(tmp_path: Path) -> None:
    size = lab.InputsSize(**{**TINY, "trainings": 1}, pair_games=2, features=("A", "AC"))
    [one] = run("opening-td-inputs", size, tmp_path / "a")
    [both] = run("opening-td-inputs", replace(size, trainings=2), tmp_path / "a")
    [whole] = run("opening-td-inputs", replace(size, trainings=2), tmp_path / "b")
    assert both == whole
    assert [row for row in both.rows if row["seed"] == 0] == list(one.rows)
    with pytest.raises(TengenError, match="games 2 there, 3 asked"):
        run("opening-td-inputs", replace(size, games=3), tmp_path / "a")


def test_curves_are_measured_from_the_first_opening_to_the_last(tmp_path: Path) -> None:
    size = lab.CurveSize(**{**TINY, "games": 4}, curve_every=2, curve_games=4)
    [found] = run("opening-td", size, tmp_path)
    rows: list[Any] = list(found.rows)
    points = [(row["player"], row["seed"], row["openings"]) for row in rows]
    assert sorted(points) == [
        (f"ABCDE-{e}", seed, openings)
        for e in ("binary", "scalar") for seed in (0, 1) for openings in (0, 2, 4)
    ]  # fmt: skip
    assert all(row["games"] == 4 and row["wins"] in (0, 1, 2, 3, 4) for row in rows)


def test_gnugo_sees_every_player_once_and_abcde_with_every_seed(tmp_path: Path) -> None:
    size = lab.GnuGoSize(
        **TINY, pair_games=2, features=("A", "ABCDE"), curve_every=2, curve_games=2
    )
    matches, curves = run("opening-td-gnugo", size, tmp_path)
    assert matches.seeds == [0] and len(list(matches.rows)) == 1
    assert curves.seeds == [0, 1]
    assert {(row["seed"], row["player"]) for row in curves.rows} == {
        (0, "ABCDE-scalar"), (1, "ABCDE-scalar"),
    }  # fmt: skip


def test_without_gnugo_its_experiment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "find_program", lambda name: None)
    with pytest.raises(TengenError, match="GNU Go is not installed"):
        run("opening-td-gnugo", lab.GnuGoSize(), tmp_path)


def test_feature_b_on_stones_is_matched_with_the_literal_one(tmp_path: Path) -> None:
    [found] = run("opening-td-edges", lab.MatchSize(**TINY, pair_games=2), tmp_path)
    pairs = {(row["a"], row["b"]) for row in found.rows}
    assert len(pairs) == 12 and ("AB-scalar-stones", "AB-scalar") in pairs
    model = tmp_path / "opening-td-edges" / "seed-1" / "AB-scalar-stones" / "model.safetensors"
    assert OpeningTD.load(model).settings.edges == "stones"


def test_a_corner_is_learned_and_matched(tmp_path: Path) -> None:
    size = lab.JosekiSize(**TINY, corner=3, plies=4, curve_every=2, curve_games=2, pair_games=2)
    matches, curves = run("opening-td-joseki", size, tmp_path)
    assert {(row["a"], row["b"]) for row in matches.rows} == {("corner-binary", "whole-binary")}
    assert {row["player"] for row in curves.rows} == {"corner-binary"}


def test_the_papers_scale_is_the_full_size() -> None:
    for name in ("opening-td", "opening-td-inputs", "opening-td-gnugo"):
        full = EXPERIMENTS[name].full
        assert full.games == 3000 and full.trainings == 5 and full.rows == 9
    assert EXPERIMENTS["opening-td-inputs"].full.sets == SETS and len(SETS) == 16
    assert "gnugo" in EXPERIMENTS["opening-td-gnugo"].full.expert
    assert EXPERIMENTS["opening-td-gnugo"].named_only


def test_a_stopped_evaluation_goes_on(tmp_path: Path) -> None:
    model = tmp_path / "a.safetensors"
    OpeningTD(settings=TDSettings(rows=5, plies=6, hidden=3)).draw().save(model)
    log = tmp_path / "parts.jsonl"
    first, job = (
        training.MatchJob(str(model), "random", "playouts:1", games, seed=3) for games in (50, 100)
    )
    training.evaluate(first, log=log)
    whole = training.evaluate(job, log=log)
    assert len(log.read_text().splitlines()) == 2
    assert whole == training.evaluate(job)
    log.write_text(log.read_text()[:-9])  # as a kill leaves it
    assert training.evaluate(job, log=log) == whole
    log.write_text(log.read_text().replace('"scores": [', '"scores": [1.0, 1.0, '))
    assert training.evaluate(job, log=log)["games"] == 104
    log.write_text("nonsense\n")
    with pytest.raises(TengenError, match="is damaged"):
        training.evaluate(job, log=log)


def test_experts_and_opponents_are_named_in_words() -> None:
    with pytest.raises(TengenError, match="must be followed by a number"):
        training.make_expert("playouts:few")
    job = training.TrainJob("nowhere", TDSettings(opponent="random"))
    with pytest.raises(TengenError, match="random_opponent"):
        training.train(job)
    assert not Path("nowhere").exists()


def test_sizes_are_checked() -> None:
    assert lab.InputsSize().judged_by == "builtin"
    assert lab.InputsSize(referee="playouts:3").judged_by == "playouts:3"
    with pytest.raises(SpecError):
        lab.InputsSize(games=0)
    with pytest.raises(SpecError, match="AX"):
        lab.InputsSize(features=("AX",))
