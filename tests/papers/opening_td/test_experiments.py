"""Tables of players: played once, continued, and counted right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.errors import SpecError, TengenError
from tengen.lab.steps import LabContext
from tengen.papers.opening_td import OpeningTD, TDSettings
from tengen.papers.opening_td import experiments as lab

TINY = lab.InputTables(
    games=2, pair_games=2, expert="playouts:1", rows=5, features=("A", "AE"), curve_games=2
)


def test_tables_continue_and_report(tmp_path: Path) -> None:
    first = lab.tables(LabContext(tmp_path, 0, 1), TINY)
    journal = tmp_path / "opening-td" / "tables" / "seed-0" / "matches.jsonl"
    before = journal.read_text()
    assert lab.tables(LabContext(tmp_path, 0, 1), TINY) == first
    assert journal.read_text() == before
    for encoding in lab.ENCODINGS:
        shares = [e["value"] for e in first.data["wins"][encoding].values()]
        assert sum(shares) == pytest.approx(1)
    assert "Table 5: binary against its scalar twin" in [each.title for each in first.tables]


def test_tables_with_other_settings_in_the_folder_are_refused(tmp_path: Path) -> None:
    lab.tables(LabContext(tmp_path, 0, 1), replace(TINY, features=("A",)))
    with pytest.raises(TengenError, match="games 2 there, 3 asked"):
        lab.tables(LabContext(tmp_path, 0, 1), replace(TINY, features=("A",), games=3))


def test_seeds_may_be_run_one_at_a_time(tmp_path: Path) -> None:
    size = replace(TINY, games=1, referee="playouts:2", features=("A", "AB", "AC"))
    for seed in (0, 1):
        lab.tables(LabContext(tmp_path / "parts", seed, 1), size)
    values = [
        lab.tables(LabContext(tmp_path / folder, 0, 1), replace(size, seeds=2)).data
        for folder in ("parts", "whole")
    ]
    assert values[0] == values[1]
    assert all(curve == [] for curve in values[0]["figure4"].values())
    assert values[0]["referee"] == "playouts:2" and values[0]["expert"] == "playouts:1"
    assert len(values[0]["wins"]["scalar"]["A"]["by_seed"]) == 2


def test_players_that_differ_are_told_from_seeds_that_differ() -> None:
    paper = {"A": 40, "AB": 50, "AC": 60}
    clear = {"A": [0.30, 0.31, 0.29], "AB": [0.50, 0.49, 0.51], "AC": [0.70, 0.70, 0.70]}
    found = lab.spread(clear, paper)
    assert found is not None and found["different_pairs"] == found["pairs"] == 3
    assert found["rank_with_paper"] == pytest.approx(1)
    noise = {"A": [0.30, 0.70, 0.50], "AB": [0.60, 0.41, 0.51], "AC": [0.60, 0.30, 0.65]}
    found = lab.spread(noise, paper)
    assert found is not None and found["different_pairs"] == 0
    assert found["run_sd"] == pytest.approx(
        np.sqrt(np.mean([np.var(v, ddof=1) for v in noise.values()]))
    )
    assert lab.spread({"A": [0.5]}, paper) is None


def test_tables_count_what_was_played(tmp_path: Path) -> None:
    size = lab.InputTables(pair_games=2, features=("A", "AB"), referee="playouts:3")
    assert size.judged_by == "playouts:3"
    rows = [
        {"key": "7 A-scalar AB-scalar", "scores": [5.0, 0.0], "openings": [[1], [1]]},
        {"key": "7 A-binary AB-binary", "scores": [-5.0, -1.0], "openings": [[1], [2]]},
        {"key": "7 A-binary A-scalar", "scores": [1.0, 1.0], "openings": [[1], [3]]},
        {"key": "7 AB-binary AB-scalar", "scores": [1.0, -1.0], "openings": [[1], [3]]},
    ]
    assert lab.duplicates(rows[0]) == 1
    assert lab.wins_of({7: rows}, "scalar") == {"A": [0.75], "AB": [0.25]}
    value = lab.tables_data(tmp_path, size, {7: rows})
    assert value["twins"]["players"]["A"]["value"] == 1.0 and value["duplicates"] == 1
    assert value["gains"]["scalar"]["B"]["points"]["value"] == -0.5
    assert [sheet.title.split(":")[0] for sheet in lab.result_tables(value)] == [
        "Table 1", "Table 2", "Table 3", "Table 4", "Table 5",
    ]  # fmt: skip
    # One seed has the interval of its games, several that of the seeds, within 0 and 1.
    assert lab.interval_of([0.5], 100) == pytest.approx((0.404, 0.596), abs=1e-3)
    assert lab.interval_of([0.5]) is None
    assert lab.interval_of([0.9, 1.0], 100) == (pytest.approx(0.3147, abs=1e-4), 1.0)


def test_a_stopped_evaluation_goes_on(tmp_path: Path) -> None:
    model = tmp_path / "a.safetensors"
    OpeningTD(settings=TDSettings(rows=5, plies=6, hidden=3)).draw().save(model)
    log = tmp_path / "parts.jsonl"
    first, job = (
        lab.MatchJob(str(model), "random", "playouts:1", games, seed=3) for games in (50, 100)
    )
    lab.evaluate(first, log=log)
    whole = lab.evaluate(job, log=log)
    assert len(log.read_text().splitlines()) == 2
    assert whole == lab.evaluate(job)
    log.write_text(log.read_text()[:-9])  # as a kill leaves it
    assert lab.evaluate(job, log=log) == whole
    log.write_text(log.read_text().replace('"scores": [', '"scores": [1.0, 1.0, '))
    assert lab.evaluate(job, log=log)["games"] == 104
    log.write_text("nonsense\n")
    with pytest.raises(TengenError, match="is damaged"):
        lab.evaluate(job, log=log)


def test_experts_and_opponents_are_named_in_words() -> None:
    with pytest.raises(TengenError, match="must be followed by a number"):
        lab.make_expert("playouts:few")
    job = lab.TrainJob("nowhere", TDSettings(opponent="random"))
    with pytest.raises(TengenError, match="random_opponent"):
        lab.train(job)
    assert not Path("nowhere").exists()


def test_gains_follow_the_papers_own_tables() -> None:
    """Table 2 is a mean of ratios and Table 4 a mean of differences: the paper's numbers say so."""
    tables = (("table1.scalar", "table2.scalar"), ("table3.binary", "table4.binary"))
    for (wins, gained), measure in zip(tables, ("relative", "points"), strict=True):
        paper = lab.PAPER.figures(f"huang.{gained}")
        shares = {f: [w] for f, w in lab.PAPER.figures(f"huang.{wins}").items()}
        for feature, gain in lab.gains_of(shares, paper).items():
            assert gain[measure]["value"] == pytest.approx(paper[feature], abs=0.0075), feature


def test_a_player_that_won_nothing_has_no_ratio() -> None:
    paper = lab.PAPER.figures("huang.table2.scalar")
    shares = {"A": [0.0], "AB": [0.5], "AC": [0.5], "ABC": [0.75]}
    gains = lab.gains_of(shares, paper)
    assert gains["B"]["relative"]["value"] == 0.5  # by AC and ABC alone
    assert gains["B"]["points"]["value"] == (0.5 + 0.25) / 2
    gains = lab.gains_of({"A": [0.0], "AB": [0.5]}, paper)
    assert gains["B"]["relative"]["value"] is None and gains["B"]["points"]["value"] == 0.5


def test_a_curve_is_read_from_the_rows_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 10, "win_rate": 0.5}\n')
    assert lab.curve_of(tmp_path) == [{"games": 10, "win_rate": 0.5}]


def test_sizes_are_checked() -> None:
    assert lab.InputTables().judged_by == "builtin"
    with pytest.raises(SpecError):
        lab.InputTables(games=0)
