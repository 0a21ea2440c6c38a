"""Engines over GTP are players; here our own engine stands in for any."""

import pickle
import sys

import numpy as np
import pytest
from tests.needs import need

from tengen.board import PASS, Board
from tengen.errors import EngineError, SpecError
from tengen.players import make_player
from tengen.players.external import ExternalPlayer

ENGINE = f"{sys.executable} -c 'from tengen.cli import main; main()' gtp --player random --seed 1"


def test_an_engine_plays_and_follows_another_game() -> None:
    player = make_player(f"gtp:{ENGINE}")
    assert isinstance(player, ExternalPlayer)
    rng = np.random.default_rng(0)
    try:
        board = Board(5)
        for _ in range(4):
            move = player.choose(board, rng)
            assert board.is_legal(move)
            board.play(move)
        other = Board(7, moves="B C3 W D4")
        assert other.is_legal(player.choose(other, rng))
        assert player.version
    finally:
        player.close()


def test_a_missing_engine_is_named() -> None:
    player = make_player("gtp:no-such-engine-anywhere --mode gtp")
    with pytest.raises(EngineError, match="no-such-engine-anywhere"):
        player.choose(Board(5), np.random.default_rng(0))


def test_it_travels_without_its_process() -> None:
    player = ExternalPlayer(command="x")
    assert pickle.loads(pickle.dumps(player)).command == "x"


def test_gnu_go_repeats_itself_with_the_same_generator() -> None:
    need("gnugo")
    player = make_player("gtp:gnugo --mode gtp --level 0 --chinese-rules --never-resign")
    try:
        games = []
        for _ in range(2):
            board, rng = Board(5), np.random.default_rng(3)
            while not board.is_over and len(board.moves) < 30:
                board.play(player.choose(board, rng))
            games.append(board.moves)
        assert games[0] == games[1]
        assert games[0][-1][1] == PASS
    finally:
        assert isinstance(player, ExternalPlayer)
        player.close()


def test_a_quotation_without_an_end_is_told_at_once() -> None:
    with pytest.raises(SpecError, match="no closing quotation"):
        make_player('gtp:"gnugo')
