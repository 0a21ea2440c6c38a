"""A paper in a distribution of its own: installed beside Tengen, all of it is there.

pip installs `examples/sixth_paper` into a folder, and processes that find it there are asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.needs import need

from tengen import Board, extensions
from tengen.contracts import check_evaluator, check_learner, check_player
from tengen.extensions import PLAYERS, register
from tengen.lab.decisions import VERDICTS
from tengen.players import make_player

need("hatchling")
ROOT = Path(__file__).parents[1] / "examples" / "sixth_paper"
NAME = "monte-carlo-go"
ON_THE_PAGE = """
import json
from tengen.web import exhibits
from tengen.web.machines import list_opponents, machines
told = exhibits.described("monte-carlo-go")
results = exhibits.results({"paper": "monte-carlo-go"}, None)
player = exhibits.player_of("monte-carlo-go", "machine", {})
exhibit = [told["story"], told["machine"]["plays"], told["recorded"], player, results["claims"]]
opponents = {one.id: [one.kind, one.spec, one.about] for one in list_opponents().values()}
print(json.dumps([exhibit, opponents, {one.id: [one.paper, one.models] for one in machines()}]))
"""


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes that find the paper where pip has put it."""
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run(
        [*command, "--no-build-isolation", "--target", str(site), str(ROOT)],
        check=True, capture_output=True,
    )  # fmt: skip
    found = site / "models"
    found.mkdir()
    return os.environ | {"PYTHONPATH": str(site), "TENGEN_MODELS": str(found)}


COMMANDS = {
    "players": "players",
    "match": "arena match gobble:games=60 random --size 5 --games 4",
    "trained": f"train {NAME} --out {{models}}/first.safetensors --evaluations 4 --games 100",
    "evaluated": f"evaluate {NAME} first --games 4",
    "experiments": "lab --list",
    "small": f"lab {NAME} --set positions=3 --set games=30 --out {{models}}/../run",
    "report": "lab report",
}
RUN = """
import contextlib, io, json, sys
from tengen.cli import run
said = {}
for name, words in json.loads(sys.argv[1]).items():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert run([*words.split(), "--json"]) == 0, words
    said[name] = json.loads(out.getvalue())
print(json.dumps(said))
"""


def python(*words: str, env: dict[str, str]) -> Any:
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def said(env: dict[str, str]) -> dict[str, Any]:
    """What all the commands say, run one after the other."""
    words = {name: each.format(models=env["TENGEN_MODELS"]) for name, each in COMMANDS.items()}
    found: dict[str, Any] = python("-c", RUN, json.dumps(words), env=env)
    return found


def test_it_is_listed_and_plays_in_the_arena(said: dict[str, Any]) -> None:
    assert [row["name"] for row in said["players"]].count("gobble") == 1
    assert said["match"]["games"] == 4 and said["match"]["faults"] == 0


def test_its_learner_is_trained_evaluated_and_seen_on_the_page(
    said: dict[str, Any], env: dict[str, str]
) -> None:
    assert said["trained"]["best"] > 0 > said["trained"]["worst"]
    assert said["evaluated"]["games"] == 4 and 0 <= said["evaluated"]["win_rate"] <= 1
    exhibit, opponents, machines = python("-c", ON_THE_PAGE, env=env)
    story, plays, recorded, player, claims = exhibit
    assert story.startswith("In 1993") and plays and recorded and player == "gobble:games=100"
    assert {claim["id"] for claim in claims} >= {"brugmann.twice.shared"}
    kind, spec, about = opponents["added-gobble"]
    assert kind == "own" and spec.startswith("gobble") and about
    assert machines["first"] == ["Brügmann 1993", {"9x9": "first"}]


def test_its_experiments_run_and_its_recorded_rows_are_in_the_report(
    said: dict[str, Any], env: dict[str, str]
) -> None:
    assert {NAME, f"{NAME}-matches"} <= said["experiments"].keys()
    mine = [claim for claim in said["small"]["claims"] if claim["paper"] == NAME]
    assert len(mine) == 2 and not any(claim["full"] for claim in mine)
    claims = {each["id"]: each for each in said["report"]["claims"] if each["paper"] == NAME}
    assert set(claims) == {"brugmann.twice.shared", "brugmann.twice.shift"}
    for claim in claims.values():
        assert claim["verdict"] in VERDICTS and claim["full"] and claim["rows"] > 0
        assert claim["data"].startswith(env["PYTHONPATH"])
    answers = [each for each in said["report"]["questions"] if each["paper"] == NAME]
    assert len(answers) == 4 and all(each["interval"] for each in answers)


def test_a_saved_game_does_not_start_it(env: dict[str, str], tmp_path: Path) -> None:
    game = tmp_path / "game.sgf"
    spec = "opening:model=td-best-9x9,then=Gobble"
    about = json.dumps({"player": spec, "human": 1, "seed": 1, "clock": None})
    game.write_text(f"(;GM[1]SZ[9]XT[{about}];B[ee])")
    command = [sys.executable, "-m", "tengen", "play", "--resume", "--out", str(game)]
    done = subprocess.run(command, env=env, input="", capture_output=True, text=True)
    assert done.returncode == 1 and "--player" in done.stderr


def test_player_and_model_keep_the_contracts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "src"))
    monkeypatch.setattr(extensions, "entries", cache(extensions.entries.__wrapped__))
    from monte_carlo_go.learner import FirstMoves, FirstMovesSettings

    register(PLAYERS, "gobble", "monte_carlo_go.player:KIND")
    check_player(make_player("gobble:games=20"), plies=6)

    def fit(model: FirstMoves) -> FirstMoves:
        model.settings = FirstMovesSettings(size=5, evaluations=4, games=200)
        return model.fit()

    same = lambda a, b: np.array_equal(a.values_, b.values_)  # noqa: E731
    model = check_learner(FirstMoves, fit, tmp_path, same=same)
    check_evaluator(model, boards=[Board(5), Board(5, moves="B C3 W B2")])
    assert model.values_[2, 2] > model.values_[0, 0]
    assert np.allclose(model.values_, np.rot90(model.values_))


def test_values_of_moves_follow_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "src"))
    from monte_carlo_go.player import GobblePlayer, move_values

    board = Board(5)
    values, mean = move_values(board, 400, seed=1)
    assert values[board.point("C3")] > values[board.point("A1")] and -25 <= mean <= 25
    board = Board(5, moves="B B1 W A1 B E5 W E1 B D5 W D1")  # White's corner stone is in atari
    for seed in range(3):
        assert board.is_legal(GobblePlayer(games=300).choose(board, np.random.default_rng(seed)))
