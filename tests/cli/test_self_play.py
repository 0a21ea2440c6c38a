"""Self-play on the command line, from nothing to a ladder of its snapshots."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.needs import need

from tengen.cli import run

SMALL = [
    "--size", "5", "--design", "tiny", "--games", "8", "--positions", "200", "--batch", "16",
    "--evaluations", "4", "--considered", "2", "--window", "500", "--device", "cpu",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = need("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("self-play") / "run"
    assert run(["train", "self-play", "--out", str(made), *SMALL, "--quiet"]) == 0
    torch.set_num_threads(threads)
    return made


def test_show_tells_how_it_went(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "self-play", str(folder), "--history", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[-1]["positions"] >= 200 and rows[-1]["seconds"] > 0
    assert run(["evaluate", "self-play", str(folder), "--history", "--rows", "3"]) == 0
    assert str(rows[-1]["positions"]) in capsys.readouterr().out


def test_games_against_itself_teach_another_network(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # where the training keeps its run
    model, shards = str(folder / "model.safetensors"), str(tmp_path / "shards")
    games = ["train", "self-play", "--start", model, "--record", "1", "--out", shards]
    few = [
        "--size",
        "5",
        "--size",
        "6",
        "--games",
        "8",
        "--evaluations",
        "4",
        "--considered",
        "2",
        "--device",
        "cpu",
    ]
    assert run([*games, *few, "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["shards"]) == 2 and told["games"] + told["cut"] == 16
    taught = str(tmp_path / "taught.safetensors")
    settings = ["--design", "tiny", "--steps", "3", "--batch", "8", "--device", "cpu"]
    assert run(["train", "network", shards, *settings, "--out", taught, "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == told["games"]
    assert run([*games, *few, "--quiet"]) == 1
    assert "holds shards already" in capsys.readouterr().err


def test_a_folder_with_a_run_goes_on_only_if_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = ["train", "self-play", "--out", str(folder), "--quiet"]
    assert run([*again, *SMALL]) == 1
    assert "holds a run; resume it" in capsys.readouterr().err
    assert run([*again, "--resume", "--json", "--device", "cpu"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["free_parameters"] == 3282 and Path(told["model"]).exists()
    assert run([*again, "--resume", "--komi", "3"]) == 1
    assert "komi 7.0 there, 3.0 asked" in capsys.readouterr().err


def test_snapshots_meet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ladder = ["evaluate", "self-play", str(folder), "--snapshots", "2", "--games", "2"]
    assert run([*ladder, "--anchor", "random", "--json", "--quiet"]) == 0
    steps = json.loads(capsys.readouterr().out)
    assert [("minutes" in step, step["games_played"]) for step in steps] == [
        (True, 4), (True, 4), (False, 4)
    ]  # fmt: skip
    assert all(step["low"] <= step["elo"] <= step["high"] for step in steps)


def test_anchors_stand_where_the_shipped_ladder_has_them(folder: Path) -> None:
    from tengen.arena.placing import plan_snapshots

    named = ["mcts-10", "mcts:playouts=10", "static:weights=none"]
    plan = plan_snapshots(folder, size=9, anchors=named)
    by_name, by_spec, unknown = plan.tournament.entrants[-3:]
    assert by_name.spec == by_spec.spec == "mcts:playouts=10"
    assert by_name.elo == by_spec.elo is not None and unknown.elo is None
    assert plan_snapshots(folder, anchors=["random"]).tournament.entrants[-1].elo is None  # on 5x5


def test_a_run_may_lie_under_any_name(folder: Path, tmp_path: Path) -> None:
    from tengen.arena.placing import plan_snapshots
    from tengen.players import parse_spec

    place = Path(shutil.copytree(folder, tmp_path / "one, two"))
    for entrant in plan_snapshots(place, snapshots=2, anchors=[]).tournament.entrants:
        assert Path(parse_spec(entrant.spec)[1]["model"]).parent.parent == place


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["evaluate", "self-play", "{tmp}", "--history"], "holds no run of self-play"),
        (["evaluate", "self-play", "{tmp}"], "holds no run of self-play"),
        (
            ["train", "self-play", "--out", "{tmp}/new", "--start", "nothing-like-it"],
            "nothing-like-it",
        ),
        (
            ["train", "self-play", "--out", "{tmp}/new", "--size", "7", "--size", "7"],
            "each named once",
        ),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("torch")
    assert run([*(word.replace("{tmp}", str(tmp_path)) for word in words)]) == 1
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1 and said in told[0]


def test_another_shape_to_start_with_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = ["--start", str(folder / "model.safetensors"), "--design", "zero"]
    assert run(["train", "self-play", "--out", str(tmp_path / "new"), *start]) == 1
    assert "design is not zero" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_training_that_comes_apart_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("torch")
    again = [*SMALL, "--quiet", "--out", str(tmp_path / "run")]
    assert run(["train", "self-play", *again, "--komi", "1e30"]) == 1
    assert "'--komi'" in capsys.readouterr().err
    assert run(["train", "self-play", *again, "--positions", "900", "--rate", "1e30"]) == 1
    assert "(its loss is not a number)" in capsys.readouterr().err
    assert run(["evaluate", "self-play", str(tmp_path / "run"), "--history", "--json"]) == 0
    json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
