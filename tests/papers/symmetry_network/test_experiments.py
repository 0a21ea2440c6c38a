"""Figure 1 of symmetry networks with its trend, and designs compared, on tiny sizes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tengen.cli import run
from tengen.errors import SpecError
from tengen.models import Run
from tengen.papers.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.papers.symmetry_network.experiments import SnapshotTournament, figure_1, learning_curve


def lab(*arguments):
    return run(["lab", *arguments, "--quiet", "--json"])


def test_snapshots_play_each_other(tmp_path, capsys):
    sizes = {"games": 8, "linear_games": 8, "batch": 2, "size": 5, "snapshot_every": 2}
    settings = SymmetrySettings(rate=2e-4, **sizes)
    with Run.open(tmp_path, SymmetryNetwork.kind, settings) as training:
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
    assert curve["p_value"] < 0.01
    assert curve["best"] == games[-1]
    # Without a trend there is nothing to test.
    assert learning_curve(games, np.full((n, n), 5.0), 10)["p_value"] is None


def test_one_snapshot_is_too_few():
    with pytest.raises(SpecError, match="at least two"):
        figure_1([SymmetryNetwork.load("isn-9x9")], SnapshotTournament(games=2))
