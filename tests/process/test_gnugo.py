"""GNU Go as an opponent through the client, and GNU Go's opinion of our board."""

from __future__ import annotations

import sys

import pytest
from tests.needs import need

from tengen.board import PASS, RESIGN, Board, parse_gtp
from tengen.gtp.client import Client, Limits
from tengen.players.external import RemoteGame

GNUGO = "gnugo --mode gtp --level 1 --chinese-rules --positional-superko"


@pytest.fixture(autouse=True)
def need_gnugo() -> None:
    need("gnugo")


def game(seed: int, plies: int = 60) -> list[int]:
    """Let GNU Go play both sides on our board."""
    board = Board(9, komi=7.5)
    with Client.start(GNUGO, limits=Limits(move=60)) as client:
        session = RemoteGame(client)
        for _ in range(plies):
            move = session.genmove(board, seed=seed)
            if move == RESIGN:
                break
            board.play(move)
            if board.is_over:
                break
        stones = {
            parse_gtp(vertex, 9, 9): colour
            for colour, name in ((1, "black"), (2, "white"))
            for vertex in client.command("list_stones", name).split()
        }
    ours = {p: b.colour for b in board.blocks() for p in b.stones}
    assert stones == ours
    return [point for _, point in board.moves]


def test_gnugo_repeats_itself_by_seed_and_agrees_about_the_board() -> None:
    first = game(1)
    assert len(first) > 10 and first == game(1)
    assert PASS not in first[:10]


def test_gnugo_plays_our_engine_and_finds_no_illegal_move() -> None:
    ours = [sys.executable, "-m", "tengen", "gtp", "--player", "random"]
    board = Board(7, komi=0.5)
    with Client.start(GNUGO) as black, Client.start([*ours, "--seed", "4"]) as white:
        sides = [RemoteGame(black), RemoteGame(white)]
        assert white.name == "Tengen"
        for ply in range(80):
            move = sides[ply % 2].genmove(board, seed=ply)
            if move == RESIGN or board.is_over:
                break
            board.play(move)
        for side in sides:
            side.sync(board)
        assert white.command("final_score")[0] in "BW0"
    assert len(board.moves) > 10
