"""The experiments' rows: complete, resumed exactly, the same for any number of workers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tengen.errors import SpecError
from tengen.lab.steps import LabContext
from tengen.papers.symmetry_network import experiments as module
from tengen.papers.symmetry_network.experiments import (
    DesignsSize,
    EvolutionSize,
    NetworkSize,
    TrainingSize,
    WeightsSize,
    train_all,
)

TINY = {"seeds": 2, "games": 8, "linear_games": 4, "snapshot_every": 4, "board": 5}


def context(folder: Path, workers: int = 1) -> LabContext:
    return LabContext(folder, 3, workers, step="test")


def test_every_pair_of_snapshots_meets(tmp_path: Path) -> None:
    size = NetworkSize(**TINY, pair_games=2, panel_games=2, opponents=("random",))
    training, games, panel = module.network(context(tmp_path), size)
    rows = list(games.rows)
    met = {(row["seed"], row["a"], row["b"], row["game"]) for row in rows}
    pairs = ((0, 4), (0, 8), (4, 8))
    assert met == {(s, a, b, g) for s in (3, 4) for a, b in pairs for g in (0, 1)}
    assert len(rows) == len(met) and games.seeds == [3, 4] and games.settings["games"] == 8
    assert {row["games"] for row in training.rows} == {4, 8}
    assert len(list(panel.rows)) == 2 * 3 * 2
    # Again: nothing is played, and the same rows with two workers from the beginning.
    assert [list(each.rows) for each in module.network(context(tmp_path), size)][1] == rows
    other = module.network(context(tmp_path / "other", workers=2), size)
    assert list(other[1].rows) == rows


def test_experiments_share_trainings_and_resume_them(tmp_path: Path) -> None:
    size = TrainingSize(**TINY)
    folders = train_all(context(tmp_path), size)
    longer = train_all(context(tmp_path), replace(size, games=12), ["paper", "liberties"])
    assert longer["paper", 3] == folders["paper", 3] and len(longer) == 4
    assert train_all(context(tmp_path), replace(size, rate=1e-4))["paper", 3] not in longer.values()
    with pytest.raises(SpecError, match="multiple"):
        TrainingSize(games=7, snapshot_every=2)
    with pytest.raises(SpecError, match="design"):
        train_all(context(tmp_path), size, ["no such"])


def test_designs_meet_the_papers_of_the_same_seed(tmp_path: Path) -> None:
    size = DesignsSize(**TINY, designs=("liberties",), match_games=2, opponents=("random",))
    [found] = module.designs(context(tmp_path), size)
    met = {(row["design"], row["opponent"]) for row in found.rows}
    assert met == {("paper", "random"), ("liberties", "random"), ("liberties", "paper")}


def test_evolution_begins_where_td_was(tmp_path: Path) -> None:
    size = EvolutionSize(**TINY, start=4, duel_games=2, needed=0.0, panel_games=2)
    [found] = module.evolution(context(tmp_path), size)
    rows = list(found.rows)
    assert {(row["method"], row["games"]) for row in rows} == {
        (method, games) for method in ("evolution", "td") for games in (4, 8)
    }
    at_start = [[r["score"] for r in rows if (r["method"], r["games"]) == (m, 4)] for m in
                ("evolution", "td")]  # fmt: skip
    assert at_start[0] == at_start[1]
    [again] = module.evolution(context(tmp_path), size)
    assert list(again.rows) == rows


def test_counts_and_symmetry_errors() -> None:
    counts, errors = module.weights(context(Path()), WeightsSize((5,), 2))
    free = {
        design: sum(
            int(row["free"])
            for row in counts.rows
            if row["design"] == design and not str(row["part"]).startswith("B")
        )
        for design in ("paper", "untied")
    }
    assert free == {"paper": 714, "untied": 3150}
    worst = {row["design"]: float(row["error"]) for row in errors.rows}
    assert worst["paper"] < 1e-12 < worst["untied"]
