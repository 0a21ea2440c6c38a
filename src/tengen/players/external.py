"""Players that are GTP engines in separate processes.

The engine's board follows ours with the fewest commands: moves are added or undone where the games
share a beginning, otherwise everything is sent again. Its moves are checked on our board, so that
an illegal one is its fault and never the opponent's.
"""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from itertools import takewhile

import numpy as np

from tengen.board import BLACK, RESIGN, WHITE, Board, Point, parse_gtp
from tengen.errors import SpecError, TengenError
from tengen.gtp.client import (
    Client,
    EngineBadAnswer,
    EngineFault,
    EngineIllegalMove,
    EngineRefusal,
    Limits,
)
from tengen.gtp.commands import kata_rules
from tengen.records.from_board import record_of_board, start_of

_LETTERS = {BLACK: "b", WHITE: "w"}
# KGS's names for the same ko and scoring; superko is left to the engine.
_KGS_NAMES = {"territory": "japanese", "area": "chinese"}


class RemoteGame:
    """The engine's copy of our game; not thread-safe."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._start: str | None = None
        self._komi: float | None = None
        self._moves: list[tuple[int, Point]] = []

    def sync(self, board: Board) -> None:
        """Bring the engine's board to our position and game."""
        start = repr(start_of(board, komi=0.0))
        pairs = zip(self._moves, board.moves, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        back = len(self._moves) - shared
        if start != self._start or (back and not self.client.known("undo")):
            self._begin(board)
            self._start, shared = start, 0
        else:
            for _ in range(back):
                self.client.command("undo")
                self._moves.pop()
        if board.komi != self._komi:
            self.client.command("komi", f"{board.komi:g}")
            self._komi = board.komi
        for colour, point in board.moves[shared:]:
            self.client.command("play", _LETTERS[colour], str(point))
            self._moves.append((colour, point))

    def genmove(self, board: Board, *, seed: int | None = None) -> Point:
        """Let the engine choose and play for `board.turn`; a seed makes some engines repeatable."""
        self.sync(board)
        if seed is not None and self.client.known("set_random_seed"):
            self.client.command("set_random_seed", seed & 0x3FFFFFFF)
        answer = self.client.think("genmove", _LETTERS[board.turn])

        def fault(kind: type[EngineFault], reason: str) -> EngineFault:
            line = f"genmove {_LETTERS[board.turn]}"
            return kind(self.client.name, line, reason, self.client.stderr())

        try:
            move = parse_gtp(answer, board.rows, board.cols)
        except TengenError:
            raise fault(EngineBadAnswer, f"answered {answer[:40]!r}, no move") from None
        if move != RESIGN:
            self._moves.append((board.turn, move))
            if not board.is_legal(move):
                place = f"illegal at move {len(board.moves) + 1}"
                raise fault(EngineIllegalMove, f"played {answer.strip()}, which is {place}")
        return move

    def explain(self) -> str:
        """Return the engine's explanation of its last move; empty if it has none."""
        if not self.client.known("gomill-explain_last_move"):
            return ""
        return self.client.command("gomill-explain_last_move")

    def _begin(self, board: Board) -> None:
        """Send everything but the moves: rules (if there is a command for them), size, setup."""
        self._start, self._komi, self._moves = None, None, []
        if self.client.known("kata-set-rules"):
            self.client.command("kata-set-rules", json.dumps(kata_rules(board.rules)))
        elif self.client.known("kgs-rules"):
            self.client.command("kgs-rules", _KGS_NAMES[board.rules.scoring])
        if board.rows == board.cols:
            self.client.command("boardsize", board.rows)
        else:
            self.client.command("rectangular_boardsize", board.cols, board.rows)
        self.client.command("clear_board")
        record = record_of_board(start_of(board))
        if not record.setup:
            return
        stones = [(_LETTERS[colour], str(point)) for colour, point in record.setup]
        all_black = all(colour == BLACK for colour, _ in record.setup)
        if all_black and len(stones) > 1 and self.client.known("set_free_handicap"):
            self.client.command("set_free_handicap", *(vertex for _, vertex in stones))
        elif self.client.known("set_position"):
            self.client.command("set_position", *(word for pair in stones for word in pair))
        else:
            for colour, vertex in stones:
                self.client.command("play", colour, vertex)


class ExternalPlayer:
    """A GTP engine as a player; its process starts when first needed, and again after a fault."""

    def __init__(self, *, command: str, limits: Limits | None = None) -> None:
        try:
            shlex.split(command)
        except ValueError as wrong:  # an unclosed quotation
            raise SpecError(f"gtp:{command}: {str(wrong).lower()}") from None
        self.name = f"gtp:{command}"
        self.command = command
        self.limits = limits
        self._session: RemoteGame | None = None

    @property
    def version(self) -> str:
        """The engine's own name and version; starts it if needed."""
        client = self._running().client
        return f"{client.name} {client.version}".strip()

    def new_game(self, seed: int) -> None:
        """Clear the engine's cache and set its seed, if it has commands for that."""
        client = self._running().client
        self._session = RemoteGame(client)
        for line in (["clear_cache"], ["set_random_seed", seed & 0x3FFFFFFF]):
            if client.known(str(line[0])):
                with suppress(EngineRefusal):
                    client.command(*map(str, line))

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Return the engine's move, checked against our rules."""
        return self._running().genmove(board, seed=int(rng.integers(1, 2**30)))

    def explain(self, board: Board, move: int) -> str:
        """Return the engine's own explanation of its last move, empty if it has none."""
        return "" if self._session is None else self._session.explain()

    def close(self) -> None:
        """End the process; it starts again when the next move is requested."""
        if self._session is not None:
            self._session.client.close()
            self._session = None

    def _running(self) -> RemoteGame:
        """Return a session with the engine, restarted after a fault."""
        if self._session is not None and self._session.client.fault is not None:
            self.close()
        if self._session is None:
            client = Client.start(self.command, limits=self.limits or Limits())
            self._session = RemoteGame(client)
        return self._session

    def __getstate__(self) -> dict[str, object]:
        """Leave out the engine's process when pickled."""
        return {**self.__dict__, "_session": None}
