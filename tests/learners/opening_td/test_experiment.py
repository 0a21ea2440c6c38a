"""Trainings, evaluations and the experiment run from the command line and go on after a stop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import Board
from tengen.cli import run
from tengen.errors import TengenError
from tengen.lab import opening_td as lab
from tengen.lab import opening_td_experiment as experiment
from tengen.lab import opening_td_judges as judges
from tengen.lab import opening_td_tables as tables
from tengen.lab import opening_td_variants as variants
from tengen.lab import papers
from tengen.lab.steps import Context
from tengen.learners.opening_td import KIND, OpeningTD, TDSettings
from tengen.models import Run, load_model

SMALL = ["--size", "5", "--plies", "6", "--hidden", "3", "--expert", "playouts:1", "--quiet"]

START = "import sys; from tengen.cli import run; sys.exit(run(sys.argv[1:]))"


def command(first: str | Path, *arguments: str | Path) -> int:
    return run([str(first), "opening-td", *map(str, arguments)])


def answer(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    assert command(*arguments, "--json", "--quiet") == 0
    return json.loads(capsys.readouterr().out)


def test_train_and_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    options = [*SMALL, "--games", "4", "--curve-every", "2", "--curve-games", "2"]
    value = answer(capsys, "train", *options, "--out", folder)
    assert [point["games"] for point in value["curve"]] == [0, 2, 4]
    assert (folder / "config.toml").is_file() and (folder / "metrics.jsonl").is_file()
    found = answer(
        capsys, "evaluate", "--model", value["model"], "--games", "3", "--expert", "playouts:1"
    )
    assert set(found) >= {"games", "opponent", "expert", "win_rate", "interval", "mean_score"}
    assert found["games"] == 3 and found["opponent"] == "random"


def test_several_players_are_trained_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*SMALL, "--games", "2", "--curve-games", "0", "--features", "A", "--features", "AE"]
    found = answer(capsys, "train", *options, "--out", tmp_path)
    assert [row["features"] for row in found] == ["A", "AE"]
    assert all(OpeningTD.load(row["model"]).games_ == 2 for row in found)
    assert command("train", "--features", "AX", "--out", tmp_path / "b") == 1
    assert "features 'AX' are not" in capsys.readouterr().err


def test_a_run_is_not_mixed_up_with_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["train", *SMALL, "--games", "4", "--curve-games", "0", "--out", tmp_path]
    assert command(*options) == 0
    before = (tmp_path / "model.safetensors").read_bytes()
    for more, reason in (
        ([], "--resume goes on"),
        (["--resume", "--alpha", "0.1"], "alpha 0.5 there, 0.1 asked"),
        (["--resume", "--expert", "playouts:2"], "expert playouts:1 there, playouts:2 asked"),
    ):
        capsys.readouterr()
        assert command(*options, *more) == 1
        assert reason in capsys.readouterr().err
    settings = TDSettings(rows=5)
    with Run.open(tmp_path / "busy", KIND, settings):
        assert command("train", "--size", "5", "--out", tmp_path / "busy", "--resume") == 1
    assert "in use by another process" in capsys.readouterr().err
    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_resume_takes_what_is_not_said_from_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*SMALL, "--games", "4", "--curve-games", "0", "--alpha", "0.25"]
    first = answer(capsys, "train", *options, "--out", tmp_path)
    assert answer(capsys, "train", "--resume", "--out", tmp_path) == first


def test_the_experiment_goes_on_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "lab", "--games", "2", "--pair-games", "2", "--expert", "playouts:1", "--size", "5",
        "--features", "A", "--features", "AE", "--out", tmp_path, "--judge", "playouts:2",
        "--judge-games", "4",
    ]  # fmt: skip
    first = answer(capsys, *arguments)
    folder = tmp_path / "opening-td" / "tables"
    before = (folder / "seed-0" / "matches.jsonl").read_text()
    assert answer(capsys, *arguments) == first
    assert (folder / "seed-0" / "matches.jsonl").read_text() == before
    for encoding in ("scalar", "binary"):
        shares = [e["value"] for e in first["wins"][encoding].values()]
        assert sum(shares) == pytest.approx(1)
    (judge,) = first["judges"]
    assert judge["expert"] == "playouts:2" and judge["openings"] == 4
    assert 0 <= judge["interval"][0] <= judge["agreement"] <= judge["interval"][1] <= 1
    assert "| A |" in (folder / "tables.md").read_text()
    assert json.loads((folder / "result.json").read_text()) == first
    assert command(*arguments, "--quiet") == 0
    assert "Table 5" in capsys.readouterr().out


def test_another_experiment_in_the_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["lab", "--pair-games", "2", "--expert", "playouts:1", "--size", "5",
               "--features", "A", "--out", tmp_path]  # fmt: skip
    answer(capsys, *options, "--games", "2")
    assert command(*options, "--games", "3", "--quiet") == 1
    assert "games 2 there, 3 asked" in capsys.readouterr().err
    assert command(*options, "--games", "2", "--resume") == 1  # it always goes on: no such option


def test_seeds_may_be_run_one_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "lab", "--games", "1", "--pair-games", "2", "--expert", "playouts:1", "--size", "5",
        "--referee", "playouts:2", "--features", "A", "--features", "AB", "--features", "AC",
    ]  # fmt: skip
    for seed in (0, 1):
        answer(capsys, *arguments, "--seed", str(seed), "--out", tmp_path / "parts")
    values = [
        answer(capsys, *arguments, "--seeds", "2", "--out", tmp_path / folder)
        for folder in ("parts", "whole")
    ]
    assert values[0] == values[1]
    assert all(curve == [] for curve in values[0]["figure4"].values())
    assert values[0]["referee"] == "playouts:2" and values[0]["expert"] == "playouts:1"
    assert len(values[0]["wins"]["scalar"]["A"]["by_seed"]) == 2


def test_variants_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = variants.VariantsSize(
        games=2, match_games=2, expert="playouts:1", rows=5, seeds=2,
        only=("lambda 0.6", "against static"),
    )  # fmt: skip
    context = Context(tmp_path, 0, 1)
    value = variants.play_variants(context, tmp_path, size)
    assert set(value["variants"]["lambda 0.6"]) == {"random", "maxlib", "paper"}
    assert value["variants"]["paper"]["random"]["seeds"] == 2 and value["seeds"] == [0, 1]
    assert variants.play_variants(context, tmp_path, size) == value
    assert len(variants.sheet(value).rows) == 3
    assert 'opponent = "static"' in (tmp_path / "against-static-0" / "config.toml").read_text()
    assert value["variants"]["paper"]["random"]["p"] is None
    assert 0 <= value["variants"]["lambda 0.6"]["maxlib"]["p"] <= 1
    options = ["--variants", "--only", "nonsense", "--out", tmp_path / "b"]
    assert command("lab", *options) == 1
    assert "nonsense" in capsys.readouterr().err and not (tmp_path / "b").exists()


def test_players_that_differ_are_told_from_seeds_that_differ() -> None:
    paper = {"A": 40, "AB": 50, "AC": 60}
    clear = {"A": [0.30, 0.31, 0.29], "AB": [0.50, 0.49, 0.51], "AC": [0.70, 0.70, 0.70]}
    found = tables.spread(clear, paper)
    assert found is not None and found["different_pairs"] == found["pairs"] == 3
    assert found["rank_with_paper"] == pytest.approx(1)
    noise = {"A": [0.30, 0.70, 0.50], "AB": [0.60, 0.41, 0.51], "AC": [0.60, 0.30, 0.65]}
    found = tables.spread(noise, paper)
    assert found is not None and found["different_pairs"] == 0
    assert found["run_sd"] == pytest.approx(
        np.sqrt(np.mean([np.var(v, ddof=1) for v in noise.values()]))
    )
    assert tables.spread({"A": [0.5]}, paper) is None


def test_tables_count_what_was_played(tmp_path: Path) -> None:
    size = experiment.TablesSize(pair_games=2, features=("A", "AB"), referee="playouts:3")
    assert size.judged_by == "playouts:3"
    rows = [
        {"key": "7 A-scalar AB-scalar", "scores": [5.0, 0.0], "openings": [[1], [1]]},
        {"key": "7 A-binary AB-binary", "scores": [-5.0, -1.0], "openings": [[1], [2]]},
        {"key": "7 A-binary A-scalar", "scores": [1.0, 1.0], "openings": [[1], [3]]},
        {"key": "7 AB-binary AB-scalar", "scores": [1.0, -1.0], "openings": [[1], [3]]},
    ]
    assert experiment.points_of(rows[0]) == 1.5 and experiment.duplicates(rows[0]) == 1
    played = experiment.Played(tmp_path, size, {7: rows})
    assert played.curve_folder(7, "A", "scalar").parent == experiment.seed_folder(tmp_path, 7)
    assert tables.wins_of(played, "scalar") == {"A": [0.75], "AB": [0.25]}
    value = tables.report(played)
    assert value["twins"]["players"]["A"]["value"] == 1.0 and value["duplicates"] == 1
    assert value["gains"]["scalar"]["B"]["points"]["value"] == -0.5
    assert [sheet.title.split(":")[0] for sheet in tables.sheets(value)] == [
        "Table 1", "Table 2", "Table 3", "Table 4", "Table 5",
    ]  # fmt: skip
    # One seed has the interval of its games, several that of the seeds, within 0 and 1.
    assert tables.interval_of([0.5], 100) == pytest.approx((0.404, 0.596), abs=1e-3)
    assert tables.interval_of([0.5]) is None
    assert tables.interval_of([0.9, 1.0], 100) == (pytest.approx(0.3147, abs=1e-4), 1.0)


def test_other_judges_get_openings_of_all_players_and_both_colours(tmp_path: Path) -> None:
    size = experiment.TablesSize(
        games=1, pair_games=4, curve_games=0, expert="playouts:1", rows=5,
        features=("A", "AB", "AC"),
    )  # fmt: skip
    played = experiment.play_tables(Context(tmp_path, 0, 1), tmp_path, size)
    jobs = judges.judge_jobs(played, 0, "playouts:1", 12)
    assert len(jobs) == 12 and {job.sign for job in jobs.values()} == {1, -1}
    signs = [job.sign for job in judges.judge_jobs(played, 0, "playouts:1", 6).values()]
    assert sum(signs) == 0
    matches = {row["key"]: row for row in played.matches[0]}
    for key, job in jobs.items():
        match, game = key.rsplit(" ", 1)
        assert matches[match]["scores"][int(game)] == job.first
    said = judges.second_opinions(Context(tmp_path, 0, 1), played, "playouts:1")
    firsts = {row["key"]: row["first"] for row in said}
    assert {key: firsts[key] for key in jobs} == {key: job.first for key, job in jobs.items()}


def test_judges_play_on_the_board_of_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Board] = []

    class Watcher:
        def finish(self, boards: list[Board], seeds: list[int]) -> np.ndarray:
            seen.extend(boards)
            return np.zeros(len(boards))

    monkeypatch.setattr(judges, "expert_of", lambda spec: Watcher())
    terms = experiment.TablesSize(rows=7, komi=3.5).terms
    judges.judge_one(judges.JudgeJob((9, 10), terms, 1, 0.0, "watcher", 1))
    assert (seen[0].rows, seen[0].cols, seen[0].komi) == (7, 7, 3.5)


def test_agreement_and_ranks_of_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge who repeats the first verdicts agrees always; one who turns them round, never."""
    monkeypatch.setattr(judges, "REPEATS", 20)
    wins = {e: {"A": [0.2], "AB": [0.5], "AC": [0.8]} for e in experiment.ENCODINGS}
    strength = {"A": 0, "AB": 1, "AC": 2}
    found = []
    for sign in (1, -1):
        verdicts = []
        for e in experiment.ENCODINGS:
            for a, b in (("A", "AB"), ("A", "AC"), ("AB", "AC")):
                score = 10.0 * (strength[a] - strength[b])
                key = f"0 {a}-{e} {b}-{e} 0"
                verdicts.append({"key": key, "first": score, "second": sign * score})
        found.append(judges.compare_judges("judge", verdicts, wins))
    same, turned = found
    assert (same["agreement"], turned["agreement"]) == (1, 0)
    assert same["ranks"]["scalar"]["all_games"]["value"] == pytest.approx(1)
    assert turned["ranks"]["binary"]["same_openings"]["value"] == pytest.approx(-1)


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
    with pytest.raises(TengenError, match="comes a number"):
        lab.expert_of("playouts:few")
    job = lab.TrainJob("nowhere", TDSettings(opponent="random"))
    with pytest.raises(TengenError, match="--random-opponent 1"):
        lab.train(job)
    assert not Path("nowhere").exists()


@pytest.mark.slow
def test_a_training_killed_outright_ends_the_same(tmp_path: Path) -> None:
    options = [
        sys.executable, "-c", START, "train", "opening-td", *SMALL, "--games", "1500",
        "--curve-every", "500", "--curve-games", "4",
    ]  # fmt: skip
    subprocess.run([*options, "--out", tmp_path / "whole"], check=True, capture_output=True)
    killed = subprocess.Popen(
        [*options, "--out", tmp_path / "killed"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    folder = tmp_path / "killed" / "checkpoints"
    deadline = time.monotonic() + 120
    while not list(folder.glob("*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed" / "model.safetensors").exists()
    again = [*options[:5], "--resume", "--quiet", "--out", tmp_path / "killed"]
    subprocess.run(again, check=True, capture_output=True)
    a, b = (load_model(tmp_path / name / "model.safetensors")[0] for name in ("whole", "killed"))
    assert all(np.array_equal(a[key], b[key]) for key in a)


def test_gains_follow_the_papers_own_tables() -> None:
    """Table 2 is a mean of ratios and Table 4 a mean of differences: the paper's numbers say so."""
    for encoding, measure in (("scalar", "relative"), ("binary", "points")):
        shares = {f: [w / 100] for f, w in papers.TD_WINS[encoding].items()}
        gains = tables._gains(shares, papers.TD_GAINS[encoding])
        for feature, paper in papers.TD_GAINS[encoding].items():
            assert 100 * gains[feature][measure]["value"] == pytest.approx(paper, abs=0.75), feature


def test_a_player_that_won_nothing_has_no_ratio() -> None:
    paper = papers.TD_GAINS["scalar"]
    shares = {"A": [0.0], "AB": [0.5], "AC": [0.5], "ABC": [0.75]}
    gains = tables._gains(shares, paper)
    assert gains["B"]["relative"]["value"] == 0.5  # by AC and ABC alone
    assert gains["B"]["points"]["value"] == (0.5 + 0.25) / 2
    gains = tables._gains({"A": [0.0], "AB": [0.5]}, paper)
    assert gains["B"]["relative"]["value"] is None and gains["B"]["points"]["value"] == 0.5
