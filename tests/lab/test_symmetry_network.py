"""Figure 1 of symmetry networks with its trend, and designs compared, on tiny sizes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tengen.cli import run
from tengen.errors import SpecError
from tengen.lab.steps import Context
from tengen.lab.symmetry_network import (
    DESIGNS,
    DesignTable,
    SnapshotTournament,
    compare_designs,
    figure_1,
    learning_curve,
)
from tengen.learners.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.learners.symmetry_network.training import open_run


def lab(*arguments):
    return run(["lab", *arguments, "--quiet", "--json"])


def test_tables_of_designs(tmp_path, capsys):
    settings = ["train_games=8", "games=2", "size=5", "table=categories"]
    options = [word for text in settings for word in ("--set", text)]
    name = "symmetry-designs"
    assert lab(name, *options, "--out", str(tmp_path)) == 0
    rows = json.loads(capsys.readouterr().out)["data"][name]["rows"]
    assert [row["weights"] for row in rows] == [714, 714]
    assert rows[0]["against_first"] is None and 0 <= rows[1]["against_first"] <= 1
    place = tmp_path / "symmetry-network" / "designs"
    assert len(list(place.glob("*.safetensors"))) == 2
    (tmp_path / "steps" / f"{name}.json").unlink()
    assert lab(name, *options, "--out", str(tmp_path)) == 0
    again = json.loads(capsys.readouterr().out)["data"][name]["rows"]
    assert again[1]["against_first"] == rows[1]["against_first"] and again[1]["seconds"] == 0
    assert lab(name, "--set", "table=stars", "--out", str(tmp_path)) == 1
    assert "none of categories, tying" in capsys.readouterr().err


def test_every_table_has_a_reference_and_valid_settings():
    for designs in DESIGNS.values():
        assert len(designs) > 1
        for changes in designs.values():
            assert replace(SymmetrySettings(), **changes).architecture.size > 0


def test_snapshots_play_each_other(tmp_path, capsys):
    settings = SymmetrySettings(
        games=8, linear_games=8, batch=2, rate=2e-4, size=5, snapshot_every=2
    )
    with open_run(tmp_path, settings, resume=False) as training:
        SymmetryNetwork(settings=settings).fit(run=training)
    options = ["--set", "games=2", "--set", "size=5", "--out", str(tmp_path / "lab")]
    name = "symmetry-snapshots"
    assert lab(name, "--set", f"run={tmp_path}", *options) == 0
    curve = json.loads(capsys.readouterr().out)["data"][name]
    assert curve["games"] == [0, 2, 4, 6, 8]
    assert sum(curve["rates"]) == pytest.approx(2.5)
    assert curve["best"] in curve["games"]
    options[-1] = str(tmp_path / "other")
    assert lab(name, "--set", f"run={tmp_path / 'none'}", *options) == 1
    assert "no snapshots" in capsys.readouterr().err
    assert lab(name, *options) == 1
    assert "needs the folder of a training" in capsys.readouterr().err


def test_trend_test_sees_a_trend():
    games = list(range(0, 200_000, 20_000))
    n = len(games)
    points = np.array(
        [[5.0 + (i - j) * 0.4 if i != j else 0.0 for j in range(n)] for i in range(n)]
    )
    curve = learning_curve(games, points, 10)
    assert curve.p_value < 0.01
    assert curve.best == games[-1]
    # Without a trend there is nothing to test.
    assert learning_curve(games, np.full((n, n), 5.0), 10).p_value is None


def test_one_snapshot_is_too_few():
    with pytest.raises(SpecError, match="at least two"):
        figure_1([SymmetryNetwork.load("isn-9x9")], SnapshotTournament(games=2))


def test_a_table_keeps_its_reference_whatever_rows_are_wanted(tmp_path):
    context = Context(tmp_path, 0, 1)
    size = DesignTable(train_games=4, games=2, size=5, only=("one unit",))
    result = compare_designs(context, size)
    names = ["tied by symmetry (paper)", "plain, one unit"]
    assert [row[0] for row in result.tables[0].rows] == names
    rows = result.data["rows"]
    assert [row["seeds"] for row in rows] == [1, 1]
    assert rows[0]["against_first"] is None and rows[1]["weights"] == 1071
    with pytest.raises(SpecError, match="other settings"):
        compare_designs(context, replace(size, rate=1e-4))
