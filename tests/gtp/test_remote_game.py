"""An engine's board follows ours by few commands, and its moves are checked on ours."""

from __future__ import annotations

import queue
from collections.abc import Mapping

import pytest

from tengen.board import WHITE, Board
from tengen.gtp.client import (
    ChannelClosed,
    Client,
    Deadline,
    EngineBadAnswer,
    EngineIllegalMove,
    EngineRefusal,
)
from tengen.gtp.commands import commands_of
from tengen.gtp.protocol import Command, Dispatcher
from tengen.players.external import RemoteGame


class LocalChannel:
    """A channel to an engine in this process, given by its table of commands."""

    name = "local"

    def __init__(self, commands: Mapping[str, Command]) -> None:
        self.sent: list[str] = []
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.dispatcher = Dispatcher(commands, lambda text: self._answers.put(text.encode()))
        self._over = False

    def send(self, data: bytes, deadline: Deadline) -> None:
        self.sent.append(data.decode().strip())
        for line in data.decode().splitlines():
            if self._over:
                raise ChannelClosed
            # Whoever sends a line is not going to wait for an endless analysis.
            self._over = not self.dispatcher.handle(line, lambda: True)

    def taken(self) -> list[str]:
        """Return what was sent since the last call."""
        sent, self.sent = self.sent, []
        return sent

    def receive(self, deadline: Deadline) -> bytes:
        try:
            return self._answers.get_nowait()
        except queue.Empty:
            raise ChannelClosed from None

    def stderr(self) -> tuple[str, ...]:
        return ()

    def fate(self) -> int | None:
        return 0

    def close(self, patience: float, farewell: bytes = b"") -> None:
        self._over = True


@pytest.fixture
def engine(make_talk):
    return make_talk("first").engine


@pytest.fixture
def session(engine) -> RemoteGame:
    client = Client(LocalChannel(commands_of(engine)))
    client.greet()
    client.channel.taken()
    return RemoteGame(client)


def test_boards_follow_by_the_fewest_commands(session: RemoteGame, engine) -> None:
    board = Board(5, komi=0.5)
    board.play("C3")
    session.sync(board)
    assert engine.game.board.moves == board.moves and engine.game.board.komi == 0.5
    assert session.client.channel.taken()[-1] == "play b C3"
    board.play("B2")
    session.sync(board)
    assert session.client.channel.taken() == ["play w B2"]
    board.undo()
    board.undo()
    board.play("D4")
    board.komi = 1.5
    session.sync(board)
    assert session.client.channel.taken() == ["undo", "undo", "komi 1.5", "play b D4"]
    session.sync(board)
    assert session.client.channel.taken() == []


@pytest.mark.parametrize("rules", ["japanese", "chinese", "tromp_taylor", "aga"])
def test_setups_sizes_and_rules_arrive(session: RemoteGame, engine, rules: str) -> None:
    board = Board(5, 4, komi=3.0, rules=rules)
    board.set_stones(black=["A1"], white=["D5", "C3"], to_play=WHITE)
    board.play("B1", WHITE)
    session.sync(board)
    copy = engine.game.board
    assert (copy.grid() == board.grid()).all() and copy.komi == 3.0
    assert copy.rules.with_(komi=0) == board.rules.with_(komi=0)
    handicap = Board(9)
    handicap.place_handicap(3)
    session.sync(handicap)
    assert engine.game.board.handicap == 3 and engine.game.board.turn == WHITE


def test_moves_come_back_checked(session: RemoteGame, engine) -> None:
    board = Board(5)
    move = session.genmove(board, seed=5)
    assert engine.seed == 5
    board.play(move)
    session.client.channel.taken()
    second = session.genmove(board)
    assert session.client.channel.taken() == ["genmove w"]
    assert second != move
    # An engine that believes in other rules plays what ours forbid.
    board.play("E5")
    session.client.channel.dispatcher.commands["genmove"] = lambda call: "E5"
    with pytest.raises(EngineIllegalMove, match="played E5, which is illegal at move 3"):
        session.genmove(board)


def test_nonsense_and_refusals_are_distinguished(session: RemoteGame, engine) -> None:
    commands = session.client.channel.dispatcher.commands
    commands["genmove"] = lambda call: "Z99"
    with pytest.raises(EngineBadAnswer, match="answered 'Z99', no move"):
        session.genmove(Board(5))
    with pytest.raises(EngineRefusal, match="refused: unacceptable size"):
        session.client.command("boardsize", 99)
    assert session.client.command("name") == "Tengen"


def test_control_characters_before_an_answer_are_ignored() -> None:
    class Noisy(LocalChannel):
        def receive(self, deadline: Deadline) -> bytes:
            return b"\x00\x07\r\n \x7f" + super().receive(deadline).replace(b"Noisy", b"No\x08isy")

    client = Client(Noisy({"name": lambda call: "Noisy"}))
    assert client.command("name") == "Noisy"
