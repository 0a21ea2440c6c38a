"""Self-play on the command line, from nothing to a ladder of its snapshots."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen
from tests.needs import need

from tengen.cli import run
from tengen.self_play import history

FEW = "--games 8 --evaluations 4 --considered 2 --device cpu --quiet"
SMALL = f"--size 5 --design tiny --positions 200 --batch 16 --window 500 {FEW}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = need("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("self-play") / "run"
    assert run(["train", "self-play", "--out", str(made), *SMALL.split()]) == 0
    torch.set_num_threads(threads)
    return made


def test_the_history_of_a_run_says_how_it_went(folder: Path) -> None:
    rows = history(folder)
    assert rows[-1]["positions"] >= 200 and rows[-1]["seconds"] > 0


def test_games_against_itself_teach_another_network(
    folder: Path, tmp_path: Path, tengen: Tengen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the training keeps its run
    model, shards = folder / "model.safetensors", tmp_path / "shards"
    games = ("train self-play --record 1 --size 5 --size 6", FEW, "--start", model, "--out", shards)
    told = tengen.json(*games)
    assert len(told["shards"]) == 2 and told["games"] + told["cut"] == 16
    settings = "--design tiny --steps 3 --batch 8 --device cpu --quiet"
    taught = tengen.json("train network", shards, settings, "--out", tmp_path / "m.safetensors")
    assert taught["games"] == told["games"]
    assert "holds shards already" in tengen.mistake(*games)


def test_snapshots_meet(folder: Path, tengen: Tengen) -> None:
    ladder = "evaluate self-play --snapshots 2 --games 2 --anchor random --quiet"
    steps = tengen.json(ladder, folder)
    assert ["minutes" in step for step in steps] == [True, True, False]
    assert [step["games_played"] for step in steps] == [4, 4, 4]
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
        ("evaluate self-play", "holds no run of self-play"),
        ("train self-play --start nothing-like-it --out", "nothing-like-it"),
        ("train self-play --size 7 --size 7 --out", "each named once"),
    ],
)
def test_bad_input_is_one_line(words: str, said: str, tmp_path: Path, tengen: Tengen) -> None:
    need("torch")
    assert said in tengen.mistake(words, tmp_path / "new")


def test_another_shape_to_start_with_is_refused(
    folder: Path, tmp_path: Path, tengen: Tengen
) -> None:
    start = ("--design zero --start", folder / "model.safetensors", "--out", tmp_path / "new")
    assert "design is not zero" in tengen.mistake("train self-play", *start)
    assert not (tmp_path / "new").exists()


def test_a_training_that_comes_apart_says_so(tmp_path: Path, tengen: Tengen) -> None:
    need("torch")
    train = ("train self-play", SMALL, "--out", tmp_path / "run")
    assert "'--komi'" in tengen.mistake(*train, "--komi 1e30")
    diverged = tengen.mistake(*train, "--positions 900 --rate 1e30")
    assert "(its loss is not a number)" in diverged
    assert history(tmp_path / "run")
