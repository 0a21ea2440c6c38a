import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tengen.board import Board
from tengen.errors import SpecError
from tengen.players import PLAYERS, make_expert, make_player, parse_spec
from tengen.players.simple import OpeningPlayer, RandomPlayer


def test_a_player_is_called_by_its_spec() -> None:
    assert (
        make_player(" greedy:model=area,temperature=2 ").name == "greedy:model=area,temperature=2"
    )
    assert make_player("mcts:playouts=7").name == "mcts:playouts=7"


def test_options_reach_the_player() -> None:
    player = make_player("random:fill_eyes=yes")
    assert isinstance(player, RandomPlayer)
    assert player.fill_eyes


def test_a_nested_spec_takes_the_rest() -> None:
    player = make_player("opening:model=area,moves=3,then=greedy:model=area,temperature=1")
    assert isinstance(player, OpeningPlayer)
    assert player.moves == 3
    assert player.then.name == "greedy:model=area,temperature=1"


def test_quotes_hold_commas() -> None:
    assert parse_spec('greedy:model="a,b",temperature=1')[1] == {"model": "a,b", "temperature": "1"}


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
    for kind in PLAYERS.values():
        assert parse_spec(kind.example)[0] == kind.name
        assert kind.help.endswith(".")


def test_the_command_lists_all_players_as_json() -> None:
    code = "import sys; from tengen.cli import run; sys.exit(run(['players', '--json']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == list(PLAYERS)
    one = subprocess.run(
        [sys.executable, "-c", code.replace("'--json'", "'mcts', '--json'")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {"playouts", "seconds"} <= {o["name"] for o in json.loads(one.stdout)["options"]}


def test_importing_the_table_needs_no_numba() -> None:
    code = "import sys, tengen.cli.players, tengen.cli.options; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_random_players_follow_their_generator() -> None:
    player, board = make_player("random"), Board(9)
    moves = [player.choose(board, np.random.default_rng(s)) for s in (1, 1, 2, 3, 4, 5)]
    assert moves[0] == moves[1]
    assert len(set(moves)) > 1


def test_options_are_split_at_commas_outside_quotes_and_a_player_takes_the_rest() -> None:
    from tengen.players.kinds import Option, PlayerKind, read_options, split_options

    kind = PlayerKind(
        "walk",
        "",
        "",
        (
            Option("steps", "int", "how far", required=True),
            Option("title", "text", "a name", parameter="name"),
            Option("then", "player", "who goes on"),
        ),
    )
    text = ' steps = 3 , title="a, b" , then=mcts:playouts=5,seconds=2'
    found = split_options(kind, text, "walk")
    assert found == {"steps": "3", "title": "a, b", "then": "mcts:playouts=5,seconds=2"}
    readers = {"int": lambda text, option: int(text), "text": lambda text, option: text}
    assert read_options(kind, "steps=3,title=x", "walk", readers) == {"steps": 3, "name": "x"}
    for wrong, message in (
        ("steps=1,steps=2", "option steps is given twice"),
        ("steps", "option steps of walk needs a value"),
        ("steps=", "option steps of walk is empty"),
        ('title="a', "the quotes of option title do not end"),
        ("speed=1", "speed"),
    ):
        with pytest.raises(SpecError, match=message):
            split_options(kind, wrong, "walk:" + wrong)
    with pytest.raises(SpecError, match=r"walk needs steps=\.\.\. \(how far\)"):
        read_options(kind, "title=x", "walk:title=x", readers)
