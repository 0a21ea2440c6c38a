"""A game of `tengen play` against a model of it: played, taken back, saved, resumed and killed.

`python tests/game/test_session_states.py SECONDS` searches for so long and prints its steps.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, format_gtp, point_at
from tengen.errors import IllegalMoveError, TengenError
from tengen.game import session as sessions
from tengen.game.clock import Clock
from tengen.game.session import BOTH, LocalGame, move_generator, read_saved, save
from tengen.records import read_game

AFTER_UNDO = 30.0  # seconds that a person has at least
STEPS: Counter[str] = Counter()


class Whimsical:
    """A player that passes and resigns now and then."""

    name = "random"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        legal, mood = np.flatnonzero(board.legal_mask()[:-1]), rng.integers(20)
        if mood == 0:
            return RESIGN
        return PASS if mood < 4 or not len(legal) else point(board, int(rng.choice(legal)))


class Hasty:
    """A judge that finds every game over and all stones alive."""

    def accepts_pass(self, board: Board) -> bool:
        return board.last_move == PASS

    def is_over(self, board: Board) -> bool:
        return True

    def confident_dead_stones(self, board: Board) -> tuple[int, ...]:
        return ()


def point(board: Board, index: int) -> int:
    return board.to_point(point_at(index % (board.rows * board.cols), board.rows, board.cols))


@dataclass
class Model:
    """What a game should be."""

    shape: tuple[int, int]
    human: int
    increment: float
    left: dict[int, float]  # empty without a clock
    since: float = 0.0
    moves: list[tuple[int, int]] = field(default_factory=list)
    loser: int = 0
    late: bool = False  # whether the loser lost on time
    stopped: bool = False
    accepted: bool = False
    dead: set[int] = field(default_factory=set)

    def board(self) -> Board:
        board = Board(*self.shape)
        for colour, move in self.moves:
            board.play(board.to_point(move), colour)
        return board

    @property
    def turn(self) -> int:
        return BLACK if len(self.moves) % 2 == 0 else WHITE

    @property
    def counting(self) -> bool:
        passed = [move for _, move in self.moves[-2:]] == [PASS, PASS]
        long = len(self.moves) >= 3 * self.shape[0] * self.shape[1]
        return (self.stopped or passed or long) and not (self.loser or self.accepted)

    @property
    def going(self) -> bool:
        return not (self.loser or self.accepted or self.counting)

    def left_of(self, colour: int, now: float) -> float:
        runs = colour == self.turn and (self.going or self.late)
        return max(self.left[colour] - (now - self.since if runs else 0.0), 0.0)

    def look(self, now: float) -> bool:
        """Let the side to move lose on time; return whether it did."""
        if self.left and self.going and self.left_of(self.turn, now) == 0:
            self.loser, self.late = self.turn, True
            return True
        return False

    def play(self, move: int, now: float) -> None:
        if self.look(now):
            return
        if move == RESIGN:
            self.loser = self.turn
            return
        if self.left:
            self.left[self.turn] = self.left_of(self.turn, now) + self.increment
        self.since = now
        self.moves.append((self.turn, move))

    def undo(self, now: float) -> bool:
        """Take back; return False if there is nothing to."""
        if not (self.stopped or self.human & self.loser):
            mine = [number for number, (colour, _) in enumerate(self.moves) if colour & self.human]
            if not mine:
                return False
        if self.left and self.going:
            self.left[self.turn] = self.left_of(self.turn, now)
        if not (self.stopped or self.human & self.loser):
            del self.moves[mine[-1] :]
        self.late = self.stopped = self.accepted = False
        self.loser, self.dead = 0, set()
        self.since = now
        for colour in self.left:
            if colour & self.human:
                self.left[colour] = max(self.left[colour], AFTER_UNDO)
        return True


class Play(RuleBasedStateMachine):
    """Rules are what a person, the machine and bad luck do; each change is saved if it can be."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.full, self.numbers = 1000.0, False, 0
        self.folder = tempfile.TemporaryDirectory()
        write = sessions.write_atomic

        def write_if_room(path: Path, content: bytes) -> None:
            if self.full:
                raise OSError(28, "No space left on device", str(path))
            write(path, content)

        clock = SimpleNamespace(monotonic=lambda: self.now)
        self.patches = [
            mock.patch.object(sessions, "write_atomic", write_if_room),
            mock.patch.object(sessions, "time", clock),
        ]
        for patch in self.patches:
            patch.start()

    def teardown(self) -> None:
        for patch in self.patches:
            patch.stop()
        self.folder.cleanup()

    @initialize(
        shape=st.tuples(st.integers(2, 4), st.integers(2, 4)),
        human=st.sampled_from([BLACK, BLACK, WHITE, BOTH, 0]),
        seconds=st.sampled_from([None, 20.0, 100.0, 100.0]),
        increment=st.sampled_from([0.0, 2.0]),
        seed=st.integers(-(2**70), 2**70),
    )
    def begin(
        self, shape: tuple[int, int], human: int, seconds: float | None, increment: float, seed: int
    ) -> None:
        STEPS["begin"] += 1
        self.numbers += 1
        self.path = Path(self.folder.name) / f"{self.numbers}.sgf"
        left = {} if seconds is None else dict.fromkeys((BLACK, WHITE), seconds)
        self.model = Model(shape, human, increment, left, self.now)
        self.kept: Model | None = None  # what the file should say
        clock = Clock() if seconds is None else Clock.fischer(seconds, increment)
        self.seed = seed
        self.game = self.sit_down(sessions.Session(Board(*shape), human, seed, clock), "random")

    def sit_down(self, left: sessions.Session, spec: str) -> LocalGame:
        player, judge = Whimsical(), Hasty()
        game = LocalGame(
            left.board, left.human, left.seed, left.clock, player=player, spec=spec, judge=judge
        )  # type: ignore[arg-type]
        game.clock.since = self.now
        return game

    def keep(self) -> None:
        """Save, and read again what was saved."""
        before = self.path.read_bytes() if self.path.exists() else None
        try:
            save(self.game, self.path)
        except OSError:
            assert self.full
            assert (self.path.read_bytes() if self.path.exists() else None) == before
            return
        kept = self.kept = deepcopy(self.model)
        kept.left = {colour: kept.left_of(colour, self.now) for colour in kept.left}
        assert read_game(self.path).result.kind == "unknown" or not kept.going
        if kept.going:
            found, spec = read_saved(self.path)
            assert (found.board.moves, found.human) == (kept.moves, kept.human)
            assert (found.seed, spec) == (self.seed, "random")
            left = {colour: side.left for colour, side in found.clock.sides.items()}
            assert left == pytest.approx(kept.left)
            assert not kept.left or found.clock.increment == kept.increment
        else:
            with pytest.raises(TengenError, match="the game is over"):
                read_saved(self.path)

    def act(self, move: int) -> None:
        self.game.act(move)
        self.model.play(move, self.now)
        self.keep()

    # ----- What the person does -----

    @rule(index=st.integers(0, 15))
    def move(self, index: int) -> None:
        STEPS["move"] += 1
        board = self.model.board()
        move, waits = point(board, index), self.game.waits_for_machine
        if waits:
            return
        late = deepcopy(self.model).look(self.now)
        if late or (self.model.going and board.is_legal(move)):
            self.act(move)
        else:
            with pytest.raises(IllegalMoveError):
                self.game.act(move)

    @precondition(lambda self: self.model.going and not self.game.waits_for_machine)
    @rule(move=st.sampled_from([PASS, PASS, PASS, RESIGN]))
    def leave(self, move: int) -> None:
        STEPS["pass, resign"] += 1
        self.act(move)

    @precondition(lambda self: self.game.waits_for_machine and self.model.human)
    @rule()
    def resign_out_of_turn(self) -> None:
        STEPS["pass, resign"] += 1
        self.game.resign(self.model.human)
        self.model.loser = self.model.human
        self.keep()

    @rule()
    def undo(self) -> None:
        STEPS["undo"] += 1
        if self.model.undo(self.now):
            self.game.undo(self.now)
            self.keep()
        else:
            with pytest.raises(IllegalMoveError):
                self.game.undo(self.now)

    @rule()
    def count(self) -> None:
        STEPS["count"] += 1
        if self.model.going:
            self.game.stop()
            self.game.finish()
            self.model.stopped = True
            self.keep()
        else:
            with pytest.raises(IllegalMoveError):
                self.game.stop()

    @precondition(lambda self: self.model.counting)
    @rule(index=st.integers(0, 15), agree=st.booleans())
    def settle(self, index: int, agree: bool) -> None:
        STEPS["dead stones"] += 1
        board = self.model.board()
        if agree:
            self.game.accept()
            self.model.accepted = True
        elif board[point(board, index)]:
            self.game.toggle(format_gtp(point(board, index), board.rows, board.cols))
            stones = set(board.block(point(board, index)).stones)
            dead = self.model.dead
            self.model.dead = dead - stones if dead & stones else dead | stones
        self.keep()

    # ----- What the machine does -----

    @precondition(lambda self: self.game.waits_for_machine)
    @rule()
    def answer(self) -> None:
        STEPS["answer"] += 1
        board = self.model.board()
        due = Whimsical().choose(board, move_generator(self.seed, board))
        due = PASS if board.last_move == PASS else due
        assert self.game.answer() == due
        self.model.play(due, self.now)
        self.keep()

    # ----- What happens -----

    @rule(seconds=st.sampled_from([0.5, 4.0, 9.0, 40.0]))
    def think(self, seconds: float) -> None:
        STEPS["clock"] += 1
        self.now += seconds

    @rule()
    def look_at_the_clock(self) -> None:
        STEPS["clock"] += 1
        assert self.game.check_clock(self.now) == self.model.look(self.now)

    @rule()
    def fill_or_empty_the_disk(self) -> None:
        STEPS["disk"] += 1
        self.full = not self.full

    @rule(quits=st.booleans(), pause=st.sampled_from([0.0, 1e6]))
    def resume(self, quits: bool, pause: float) -> None:
        """Be killed or leave; a clock stands still meanwhile."""
        STEPS["quit, resume" if quits else "kill, resume"] += 1
        if quits:
            self.keep()
        self.now += pause
        if self.kept is None or not self.kept.going:
            self.begin(self.model.shape, self.model.human, 20.0, 2.0, 1)
            return
        self.game, self.model = self.sit_down(*read_saved(self.path)), deepcopy(self.kept)
        self.model.since = self.now

    @invariant()
    def agree(self) -> None:
        game, model = self.game, self.model
        assert game.board.moves == model.moves and game.board.hash == model.board().hash
        assert (game.resigned | game.timed_out, bool(game.timed_out)) == (model.loser, model.late)
        assert (game.is_counting, game.accepted) == (model.counting, model.accepted)
        assert game.has_ended == bool(game.result) == (not model.going)
        assert {c: game.left(c, self.now) for c in game.clock.sides} == pytest.approx(
            {colour: model.left_of(colour, self.now) for colour in model.left}
        )
        if model.counting:
            assert game.dead == model.dead


def test_a_session_is_its_model_through_everything() -> None:
    few = settings(max_examples=80, stateful_step_count=40, deadline=None, database=None)
    run_state_machine_as_test(Play, settings=few)


if __name__ == "__main__":
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        many = settings(max_examples=200, stateful_step_count=100, deadline=None, database=None)
        run_state_machine_as_test(Play, settings=many)
    print(sum(STEPS.values()), dict(STEPS))
