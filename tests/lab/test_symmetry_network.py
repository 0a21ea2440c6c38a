"""Figure 1 of symmetry networks with its trend, and designs compared, on tiny sizes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tengen.cli import run
from tengen.errors import SpecError
from tengen.lab.symmetry_network import (
    DESIGNS,
    DesignRow,
    DesignTable,
    LearningCurve,
    SnapshotTournament,
    compare_designs,
    curve_table,
    design_table,
    figure_1,
    learning_curve,
)
from tengen.learners.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.learners.symmetry_network.training import open_run


def test_tables_of_designs(tmp_path, capsys):
    options = ["--train-games", "8", "--games", "2", "--size", "5", "--json", "--quiet"]
    keep = ["--out", str(tmp_path)]
    assert run(["lab", "symmetry-network", "--table", "categories", *options, *keep]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [row["weights"] for row in value["rows"]] == [714, 714]
    assert value["rows"][0]["against_first"] is None
    assert 0 <= value["rows"][1]["against_first"] <= 1
    assert len(list(tmp_path.glob("*.safetensors"))) == 2
    assert run(["lab", "symmetry-network", "--table", "categories", *options, *keep]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rows"][1]["against_first"] == value["rows"][1]["against_first"]
    assert again["rows"][1]["seconds"] == 0
    assert run(["lab", "symmetry-network", "--table", "stars", *options]) == 1
    assert "categories" in capsys.readouterr().err
    assert run(["lab", "symmetry-network", "--json"]) == 1
    assert "folder" in capsys.readouterr().err


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
    options = ["--games", "2", "--size", "5", "--json", "--quiet"]
    assert run(["lab", "symmetry-network", str(tmp_path), *options]) == 0
    curve = json.loads(capsys.readouterr().out)
    assert curve["games"] == [0, 2, 4, 6, 8]
    assert sum(curve["rates"]) == pytest.approx(2.5)
    assert curve["best"] in curve["games"]
    assert run(["lab", "symmetry-network", str(tmp_path / "none"), *options]) == 1
    assert "no snapshots" in capsys.readouterr().err


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


def test_the_figure_as_a_table():
    curve = LearningCurve([0, 500], [0.2, 0.8], [(0.1, 0.4), (0.6, 0.9)], None, None, None, 500)
    sheet = curve_table(curve)
    assert [row[0] for row in sheet.rows] == [0, 500]
    assert "80.0 %" in str(sheet.rows[1][1]) and "no trend" in sheet.note


def test_a_table_keeps_its_reference_whatever_rows_are_wanted(tmp_path):
    plan = DesignTable(train_games=4, games=2, size=5, only=("one unit",))
    rows = compare_designs("tying", plan, folder=tmp_path)
    assert [row.name for row in rows] == ["tied by symmetry (paper)", "plain, one unit"]
    assert all(isinstance(row, DesignRow) and row.seeds == 1 for row in rows)
    assert rows[0].against_first is None and rows[1].weights == 1071
    sheet = design_table("tying", plan, rows)
    assert [row[0] for row in sheet.rows] == ["tied by symmetry (paper)", "plain, one unit"]
    with pytest.raises(SpecError, match="other settings"):
        compare_designs("tying", replace(plan, rate=1e-4), folder=tmp_path)
