"""Trainings, evaluations and the experiment run from the command line and go on after a stop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tengen.cli import run
from tengen.lab import opening_td as lab
from tengen.lab import opening_td_judges as judges
from tengen.lab import opening_td_tables as tables
from tengen.lab import opening_td_variants as variants
from tengen.learners.opening_td import OpeningTD
from tengen.models import load_model

SMALL = ["--size", "5", "--plies", "6", "--hidden", "3", "--expert", "playouts:1", "--quiet"]

START = "import sys; from tengen.cli import run; sys.exit(run(sys.argv[1:]))"


def command(*arguments: str | Path) -> int:
    return run(["opening-td", *map(str, arguments)])


def test_train_and_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    options = [*SMALL, "--games", "4", "--curve-every", "2", "--curve-games", "2", "--json"]
    assert command("train", *options, "--out", folder) == 0
    value = json.loads(capsys.readouterr().out)
    assert [point["games"] for point in value["curve"]] == [0, 2, 4]
    assert (folder / "config.toml").is_file() and (folder / "metrics.jsonl").is_file()
    assert command("evaluate", "--model", value["model"], "--games", "3", *SMALL[6:], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"games", "opponent", "expert", "win_rate", "interval", "mean_score"}
    assert found["games"] == 3 and found["opponent"] == "random"
    assert command("train", *options, "--out", folder) == 1
    assert "--resume" in capsys.readouterr().err


def test_a_stopped_training_ends_the_same(tmp_path: Path) -> None:
    settings = {"rows": 5, "plies": 6, "hidden": 3, "games": 8, "explore": 0.5}
    models = []
    for name, stops in (("whole", [None]), ("parts", [3, None])):
        for until in stops:
            job = lab.TrainJob(
                str(tmp_path / name), settings, "playouts:1", curve_every=2, curve_games=2,
                checkpoint_every=3, until=until,
            )  # fmt: skip
            curve = lab.train(job)
        assert [p["games"] for p in curve] == [0, 2, 4, 6, 8]
        models.append(load_model(tmp_path / name / "model.safetensors")[0])
    assert all(np.array_equal(models[0][key], models[1][key]) for key in models[0])


def test_the_experiment_goes_on_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "experiment", "--games", "2", "--pair-games", "2", "--expert", "playouts:1", "--quiet",
        "--features", "A", "--features", "AE", "--out", tmp_path, "--judge", "playouts:2",
        "--judge-games", "4", "--json",
    ]  # fmt: skip
    assert command(*arguments) == 0
    first = json.loads(capsys.readouterr().out)
    before = (tmp_path / "seed-0" / "matches.jsonl").read_text()
    assert command(*arguments) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert (tmp_path / "seed-0" / "matches.jsonl").read_text() == before
    for encoding in ("scalar", "binary"):
        shares = [e["value"] for e in first["wins"][encoding].values()]
        assert sum(shares) == pytest.approx(1)
    (judge,) = first["judges"]
    assert judge["expert"] == "playouts:2" and judge["openings"] == 4
    assert 0 <= judge["interval"][0] <= judge["agreement"] <= judge["interval"][1] <= 1
    assert "| A |" in (tmp_path / "tables.md").read_text()


def test_seeds_may_be_run_one_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "experiment", "--games", "1", "--pair-games", "2", "--expert", "playouts:1", "--quiet",
        "--referee", "playouts:2", "--features", "A", "--features", "AB", "--features", "AC",
        "--json",
    ]  # fmt: skip
    for seed in (0, 1):
        assert command(*arguments, "--seed", str(seed), "--out", tmp_path / "parts") == 0
    capsys.readouterr()
    values = []
    for folder in ("parts", "whole"):
        assert command(*arguments, "--seeds", "2", "--out", tmp_path / folder) == 0
        values.append(json.loads(capsys.readouterr().out))
    for value in values:
        for curve in value["figure4"].values():
            assert curve == []
    assert values[0] == values[1]
    assert values[0]["referee"] == "playouts:2" and values[0]["expert"] == "playouts:1"
    assert len(values[0]["wins"]["scalar"]["A"]["by_seed"]) == 2


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


def test_other_judges_get_openings_of_all_players_and_both_colours(tmp_path: Path) -> None:
    plan = lab.Plan(tmp_path, (0,), 1, "playouts:1", 4, ("A", "AB", "AC"), curve_games=0)
    lab.run(plan)
    jobs = judges.judge_jobs(plan, 0, "playouts:1", 12)
    assert len(jobs) == 12 and len({(j.key, j.game) for j in jobs}) == 12
    assert {j.sign for j in jobs} == {1, -1}
    signs = [j.sign for j in judges.judge_jobs(plan, 0, "playouts:1", 6)]
    assert sum(signs) == 0
    for job in jobs:
        line = next(
            m for m in lab.read_lines(tmp_path / "seed-0" / "matches.jsonl") if m["key"] == job.key
        )
        assert line["scores"][job.game] == job.first


def test_agreement_and_ranks_of_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge who repeats the first verdicts agrees always; one who turns them round, never."""
    monkeypatch.setattr(judges, "REPEATS", 20)
    plan = lab.Plan(tmp_path, sets=("A", "AB", "AC"))
    wins = {e: {"A": [0.2], "AB": [0.5], "AC": [0.8]} for e in lab.ENCODINGS}
    strength = {"A": 0, "AB": 1, "AC": 2}
    for expert, sign in (("same", 1), ("turned", -1)):
        for e in lab.ENCODINGS:
            for a, b in (("A", "AB"), ("A", "AC"), ("AB", "AC")):
                score = 10.0 * (strength[a] - strength[b])
                line = {
                    "key": f"0 {a}-{e} {b}-{e}",
                    "game": 0,
                    "first": score,
                    "second": sign * score,
                }
                lab.append_line(judges.judged_file(plan, 0, expert), line)
    same, turned = (judges.compare(plan, expert, wins) for expert in ("same", "turned"))
    assert same is not None and turned is not None
    assert (same["agreement"], turned["agreement"]) == (1, 0)
    assert same["ranks"]["scalar"]["all_games"]["value"] == pytest.approx(1)
    assert turned["ranks"]["binary"]["same_openings"]["value"] == pytest.approx(-1)
    assert judges.compare(plan, "nobody", wins) is None


def test_a_stopped_evaluation_goes_on(tmp_path: Path) -> None:
    model = tmp_path / "a.safetensors"
    OpeningTD(rows=5, plies=6, hidden=3).initialise().save(model)
    log = tmp_path / "parts.jsonl"
    values = [
        lab.evaluate(str(model), "random", "playouts:1", games=games, seed=3, log=log)
        for games in (50, 100)
    ]
    assert len(lab.read_lines(log)) == 2
    log.write_text(log.read_text().replace('"scores": [', '"scores": [1.0, 1.0, '))
    assert (
        lab.evaluate(str(model), "random", "playouts:1", games=100, seed=3, log=log)["games"] == 104
    )
    whole = lab.evaluate(str(model), "random", "playouts:1", games=100, seed=3)
    assert values[1] == whole


@pytest.mark.slow
def test_a_training_killed_outright_ends_the_same(tmp_path: Path) -> None:
    options = [
        sys.executable, "-c", START, "opening-td", "train", *SMALL, "--games", "1500",
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
    plan = lab.Plan(Path("unused"))
    for encoding, measure in (("scalar", "relative"), ("binary", "points")):
        shares = {f: [w / 100] for f, w in tables.PAPER_WINS[encoding].items()}
        gains = tables._gains(plan, shares, tables.PAPER_GAINS[encoding])
        for feature, paper in tables.PAPER_GAINS[encoding].items():
            assert 100 * gains[feature][measure]["value"] == pytest.approx(paper, abs=0.75), feature


def test_variants_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = variants.VariantPlan(
        tmp_path, (0, 1), 2, "playouts:1", 2, ("paper", "lambda 0.6", "against static"),
        (("rows", 5), ("plies", 6), ("hidden", 3)),
    )  # fmt: skip
    value = variants.run(plan)
    assert set(value["variants"]["lambda 0.6"]) == {"random", "maxlib", "paper"}
    assert value["variants"]["paper"]["random"]["seeds"] == 2
    assert variants.run(plan) == value
    assert len(variants.sheets(value)[0][2]) == 3
    assert 'opponent = "static"' in (tmp_path / "against-static-0" / "config.toml").read_text()
    assert value["variants"]["paper"]["random"]["p"] is None
    assert 0 <= value["variants"]["lambda 0.6"]["maxlib"]["p"] <= 1
    assert command("experiment", "--variants", "--only", "nonsense") == 1
    assert "nonsense" in capsys.readouterr().err
