"""Classes of one's own as players, evaluators and policies, and what is told if they are wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.arena import play_match
from tengen.board import PASS, RESIGN, Board
from tengen.cli import run
from tengen.contracts import Analyser, TimedPlayer, check_evaluator, check_player, check_policy
from tengen.errors import SpecError, TengenError
from tengen.players import make_expert, make_player, parse_spec, player_kinds
from tengen.players.evaluators import make_evaluator, make_policy
from tengen.players.plugins import checked_player
from tengen.players.simple import OpeningPlayer, RandomPlayer


def test_a_player_is_called_by_its_spec() -> None:
    assert (
        make_player(" greedy:model=area,temperature=2 ").name == "greedy:model=area,temperature=2"
    )
    player = make_player("random:fill_eyes=yes")
    assert isinstance(player, RandomPlayer)
    assert player.fill_eyes and player.name == "random:fill_eyes=yes"


def test_a_nested_spec_takes_the_rest() -> None:
    player = make_player("opening:model=area,moves=3,then=greedy:model=area,temperature=1")
    assert isinstance(player, OpeningPlayer)
    assert player.moves == 3
    assert player.then.name == "greedy:model=area,temperature=1"


def test_quotes_hold_commas() -> None:
    name, options = parse_spec('opening:model="a,b" , then=mcts:playouts=5,seconds=2')
    assert options == {"model": "a,b", "then": "mcts:playouts=5,seconds=2"} and name == "opening"


def test_a_command_line_keeps_its_text() -> None:
    name, options = parse_spec("gtp: gnugo --mode gtp --x=a,b:c ")
    assert (name, options["command"]) == ("gtp", "gnugo --mode gtp --x=a,b:c")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", ["no player ''", "random", "mcts"]),
        ("rnadom", ["rnadom", "did you mean 'random'"]),
        ("random:eyes=1", ["eyes", "fill_eyes"]),
        ("random:fill_eyes=perhaps", ["perhaps", "yes nor no"]),
        ("random:fill_eyes", ["needs a value"]),
        ("random:fill_eyes=", ["empty"]),
        ("static:x=1", ["no option of static 'x'", "resign"]),
        ("maxlib:average=mean", ["mean", "block, stone"]),
        ("greedy", ["model=... or policy="]),
        ("greedy:model=no-such-model", ["no-such-model", "playouts"]),
        ("greedy:policy=no-such-model", ["no-such-model", "uniform"]),
        ("greedy:model=area,model=area", ["twice"]),
        ("greedy:model=area,temperature=-1", ["-1", "less than 0"]),
        ("greedy:model=area,temperature=nan", ["nan", "finite"]),
        ('greedy:model="area', ["quotes"]),
        ("greedy:model=area,width=3", ["policy"]),
        ("alphabeta:model=area,depth=deep", ["deep", "whole number"]),
        ("alphabeta:depth=2", ["model"]),
        ("sample", ["sample needs model="]),
        ("opening:then=random", ["opening needs model="]),
        ("opening:model=area,then=nobody", ["then", "nobody"]),
        ("mcts:playouts=0", ["0", "less than 1"]),
        ("gtp:", ["command line"]),
        (None, ["None", "a spec is text"]),
    ],
)
def test_mistakes_are_named(spec: Any, words: list[str]) -> None:
    with pytest.raises(SpecError) as failure:
        make_player(spec)
    for word in words:
        assert word in str(failure.value)


def test_experts_are_builtin_or_players() -> None:
    board = Board(5, komi=0.5)
    assert make_expert("builtin:playouts=8").finish([board], [1]).shape == (1,)
    score = make_expert("random").finish([board], [1])
    assert score[0] % 1 == 0.5
    with pytest.raises(SpecError, match="no expert 'nobody'"):
        make_expert("nobody")
    with pytest.raises(SpecError, match="playouts"):
        make_expert("builtin:games=3")


def test_every_example_of_the_table_parses() -> None:
    for kind in player_kinds().values():
        assert parse_spec(kind.example)[0] == kind.name
        assert kind.help.endswith(".")


def test_the_command_lists_all_players_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["players", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(player_kinds())
    assert run(["players", "mcts", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert {"playouts", "seconds"} <= {option["name"] for option in one["options"]}


def test_random_players_follow_their_generator() -> None:
    player, board = make_player("random"), Board(9)
    moves = [player.choose(board, np.random.default_rng(s)) for s in (1, 1, 2, 3, 4, 5)]
    assert moves[0] == moves[1]
    assert len(set(moves)) > 1


MODULE = '''
from dataclasses import dataclass

import numpy as np

CONSTANT = 3


class First:
    """Play the first legal move after `skip` others."""

    def __init__(self, skip: int = 0, *, resign=False, word: str = "x"):
        self.skip, self.resign, self.word = skip, resign, word

    def choose(self, board, rng):
        if self.resign:
            return "resign"
        return list(board.legal_moves)[self.skip % len(board.legal_moves)]


@dataclass(frozen=True)
class Frozen:
    share: float = 0.5

    def choose(self, board, rng):
        return (0, 0) if "A9" in board.legal_moves else "pass"


class Slots:
    __slots__ = ("name",)

    def choose(self, board, rng):
        return board.point("pass")


@dataclass(frozen=True, slots=True)
class Timed:
    seconds: float = 9.0

    def within(self, seconds):
        return Timed(seconds)

    def choose(self, board, rng):
        return "pass" if self.seconds < 1 else "A1"


class Numbers:
    def choose(self, board, rng):
        return 41


class Broken:
    def choose(self, board, rng):
        return 1 / 0


class Refuses:
    def __init__(self):
        raise RuntimeError("not today")


class Area:
    def values(self, boards):
        return [board.area_score() for board in boards]

    def priors(self, board):
        return board.legal_mask() / board.legal_mask().sum()


class BadShapes:
    def values(self, boards):
        return np.zeros(3)

    def priors(self, board):
        return np.full(7, np.nan)


def made(share: float):
    return Frozen(share)
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "plugged_in_a_test.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "plugged_in_a_test", raising=False)
    return "python:plugged_in_a_test"


def choice(spec: str, board: Board | None = None) -> str:
    return str(make_player(spec).choose(board or Board(9), np.random.default_rng(1)))


def test_a_class_with_options_is_a_player(module: str) -> None:
    assert choice(f"{module}:First") == "A9"
    assert choice(f"{module}:First:skip=2") == "C9"
    assert choice(f"{module}:First:resign=yes,word=a b") == "resign"
    assert choice(f"{module}:Frozen:share=0.25") == choice(f"{module}:made:share=1") == "A9"
    assert choice(f"{module}:Slots") == "pass"
    assert make_player(f"{module}:First:skip=2").name == f"{module}:First:skip=2"
    assert choice("python:plugged_in_a_test.py:First:skip=1") == "B9"
    check_player(make_player(f"{module}:First"), boards=[Board(9), Board(5, moves="B C3")])


def test_a_class_with_a_clock_is_a_timed_player_and_its_object_stays_as_it_is(module: str) -> None:
    player = make_player(f"{module}:Timed")
    assert isinstance(player, TimedPlayer) and not isinstance(player, Analyser)
    assert player.choose(Board(9), np.random.default_rng(1)) == Board(9).point("A1")
    assert player.within(0.5).choose(Board(9), np.random.default_rng(1)) == PASS
    own = sys.modules["plugged_in_a_test"].Timed()
    checked_player(own, "mine")
    assert type(own).__name__ == "Timed" and own.choose(Board(9), None) == "A1"


def test_a_class_goes_anywhere_a_spec_goes(module: str) -> None:
    assert choice(f"greedy:model={module}:Area")
    assert choice(f"sample:model={module}:Area,temperature=1")
    assert choice(f"opening:model={module}:Area,moves=0,then={module}:First:skip=3") == "D9"
    assert len(make_expert(f"{module}:Frozen").finish([Board(5)], [1])) == 1
    check_evaluator(make_evaluator(f"{module}:Area"), boards=[Board(9), Board(5, moves="B C3")])
    check_policy(make_policy(f"{module}:Area"), boards=[Board(9)])


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("", "write python:package.module:Class"),
        (":Nobody", "plugged_in_a_test has no Nobody"),
        (":CONSTANT", "is no class"),
        (":Area", "no method choose"),
        (":Refuses", "making it failed: RuntimeError: not today"),
        (":First:skip=x", "skip: 'x' is no whole number"),
        (":First:jump=1", "no option of .*'jump'.*skip, resign, word"),
        (":made", "needs share"),
    ],
)
def test_a_mistake_is_reported_in_one_line(module: str, end: str, told: str) -> None:
    with pytest.raises(SpecError, match=told) as failure:
        make_player(module + end)
    assert "\n" not in str(failure.value) and "plugged_in_a_test" in str(failure.value)


def test_modules_that_do_not_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "half_a_module.py").write_text("def (")
    (tmp_path / "clumsy.py").write_text("import math\nmath.nosuch\nclass Player: pass")
    for spec, told in (
        ("python:no.such.module:Player", "ModuleNotFoundError"),
        ("python:half_a_module:Player", "SyntaxError"),
        ("python:clumsy.py:Player", "importing .* AttributeError: .*'nosuch'"),
        ("python:nowhere.py:Player", "FileNotFoundError"),
    ):
        for read in (make_player, parse_spec):
            with pytest.raises(SpecError, match=told):
                read(spec)


def test_broken_contracts_name_the_plug_in(module: str) -> None:
    with pytest.raises(SpecError, match="Numbers: choose: the plain number 41 names no move"):
        choice(f"{module}:Numbers")
    with pytest.raises(SpecError, match="Broken: choose failed: ZeroDivisionError"):
        choice(f"{module}:Broken")
    with pytest.raises(SpecError, match=r"BadShapes: values have shape \(3,\), not \(1,\)"):
        make_evaluator(f"{module}:BadShapes").values([Board(9)])
    with pytest.raises(SpecError, match=r"BadShapes: priors have shape \(7,\), not \(82,\)"):
        make_policy(f"{module}:BadShapes").priors(Board(9))


def test_objects_play_in_the_arena(tmp_path: Path) -> None:
    class Passes:
        name = "passes"

        def choose(self, board: Board, rng: np.random.Generator) -> object:
            return PASS

    class Resigns(Passes):
        def choose(self, board: Board, rng: np.random.Generator) -> object:
            return RESIGN

    result = play_match(Passes(), "random", games=4, size=5, openings=2, seed=3)
    assert (result.a, result.b, result.games) == ("passes", "random", 4)
    assert result.win_rate_a is not None and result.win_rate_a < 0.5
    same = play_match(Resigns(), Passes(), games=2, size=5)
    assert (same.a, same.b, same.wins_b) == ("passes", "passes (2)", 2)
    with pytest.raises(SpecError, match="an object plays in one process"):
        play_match(Passes(), "random", workers=2)
    with pytest.raises(SpecError, match="needs a method choose"):
        play_match(object(), "random")  # type: ignore[arg-type]
    with pytest.raises(TengenError):
        play_match("random", "nobody")
