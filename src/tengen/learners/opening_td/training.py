"""Train opening players: openings, the expert's verdicts, learning curve, checkpoints.

Game number g draws from streams named by (seed, g), so a training that is stopped after any game
and continued gives the same weights, bit for bit, as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, PASS, WHITE, Board
from tengen.board.kernels import HASH, SCALARS, new_state
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_td import game_kernels
from tengen.learners.opening_td.features import geometry
from tengen.learners.opening_td.game_kernels import NETWORK, RANDOM, Memory
from tengen.learners.opening_td.judges import OwnershipExpert
from tengen.learners.opening_td.kernels import Net
from tengen.learners.opening_td.network import CLIP
from tengen.models import Checkpoints

if TYPE_CHECKING:
    from tengen.learners.opening_td.learner import OpeningTD


@dataclass
class TrainedGame:
    """One opening that was learned from."""

    moves: list[int]
    score: float
    """The expert's, from Black's view."""
    memory: Memory = field(repr=False)


class Trainer:
    """Play openings with a learner and teach it; the learner is changed in place.

    `on_game(learner, game)` is called after each game, with `learner.games_` already counted.
    """

    def __init__(
        self,
        learner: OpeningTD,
        expert: Expert,
        opponent: Player | None = None,
        *,
        checkpoints: Checkpoints | None = None,
        every: int = 500,
        on_game: Callable[[OpeningTD, TrainedGame], None] | None = None,
        state: dict[str, Any] | None = None,
    ) -> None:
        learner.check()
        if learner.target == "ownership" and not isinstance(expert, OwnershipExpert):
            raise TengenError("a target of ownership needs an expert with `finish_ownership`")
        self.learner, self.expert, self.opponent = learner, expert, opponent
        self.checkpoints, self.every, self.on_game = checkpoints, every, on_game
        self.state: dict[str, Any] = {} if state is None else state
        """What else checkpoints should carry; the learning curve, for instance."""

    def run(self, until: int | None = None) -> OpeningTD:
        """Train up to `until` games (all of them by default), from the newest checkpoint if any."""
        learner = self.learner
        if not self._resume():
            learner.initialise()
        last = learner.games if until is None else min(until, learner.games)
        for _ in self.play(last - learner.games_):
            if self.checkpoints is not None and learner.games_ % self.every == 0:
                self.save()
        if self.checkpoints is not None:
            self.save()
        return learner

    def play(self, games: int) -> Iterator[TrainedGame]:
        """Play and learn from so many further games, one after the other."""
        for _ in range(games):
            game = self.one_game()
            if self.on_game is not None:
                self.on_game(self.learner, game)
            yield game

    def one_game(self) -> TrainedGame:
        """Play the next opening, learn from it, and count it."""
        learner, number = self.learner, self.learner.games_
        _, memory = learner.work()
        if self.opponent is None:
            self._play_in_kernel(number)
        else:
            self._play_opponent(number)
        moves = [int(m) for m in memory.move]
        score, target = self._verdict(moves, number)
        room, _ = learner.work()
        game_kernels.learn(
            memory,
            learner.plies - 1,
            target,
            learner.net_,
            geometry(*learner.shape),
            learner.chosen.layout(*learner.shape),
            room,
            self.rate(number),
            learner.trace,
        )
        learner.games_ += 1
        return TrainedGame(moves, score, memory)

    # ----- What changes over the games -----

    def _share(self, number: int) -> float:
        """Return how far the training has come at a game, 0 to 1."""
        return number / max(self.learner.games - 1, 1)

    def rate(self, number: int) -> float:
        """Return the learning rate of a game; it falls geometrically."""
        learner = self.learner
        if learner.alpha_end is None:
            return learner.alpha
        return float(learner.alpha * (learner.alpha_end / learner.alpha) ** self._share(number))

    def explore(self, number: int) -> float:
        """Return the chance of exploring in a game; it falls linearly."""
        learner = self.learner
        return learner.explore + (learner.explore_end - learner.explore) * self._share(number)

    # ----- Playing -----

    def _lot(self, number: int) -> tuple[int, bool]:
        """Draw a game's number of random first plies and whether one side plays at random."""
        learner = self.learner
        if learner.random_plies == 0 and learner.random_opponent == 0:
            return 0, False
        rng = np.random.default_rng([learner.seed, number, 1])
        plies = int(rng.integers(learner.random_plies + 1))
        return plies, bool(rng.random() < learner.random_opponent)

    def _play_in_kernel(self, number: int) -> None:
        learner = self.learner
        room, memory = learner.work()
        random_plies, against_random = self._lot(number)
        who = [NETWORK, RANDOM if against_random else NETWORK]
        if number % 2:
            who.reverse()
        state = new_state(*learner.shape)
        game_kernels.train_opening(
            state,
            learner.net_,
            learner.komi,
            geometry(*learner.shape),
            learner.chosen.layout(*learner.shape),
            memory,
            room,
            np.zeros(learner.outputs),
            learner.plies,
            self.rate(number),
            learner.trace,
            self.explore(number),
            learner.temperature_in_outputs,
            random_plies,
            who[0],
            who[1],
            learner.seed,
            number,
        )

    def _play_opponent(self, number: int) -> None:
        """Play against somebody who is asked move by move; learn from both sides' moves."""
        learner = self.learner
        assert self.opponent is not None
        room, memory = learner.work()
        tables, layout = geometry(*learner.shape), learner.chosen.layout(*learner.shape)
        target = np.zeros(learner.outputs)
        rng = np.random.default_rng([learner.seed, number, 2])
        word = rng.integers(0, 2**63, size=1, dtype=np.uint64)
        random_plies, _ = self._lot(number)
        board = Board(*learner.shape, komi=learner.komi)
        own = BLACK if number % 2 == 0 else WHITE
        game_kernels.start(board.state, memory)
        for ply in range(learner.plies):
            position = (board.state, learner.net_, learner.komi, tables, layout, memory, ply, room)
            if ply < random_plies:
                move = game_kernels.choose_random(board.state, tables, memory, ply, room, word)
            elif board.turn == own:
                temperature = learner.temperature_in_outputs
                move = game_kernels.choose(*position, self.explore(number), temperature, word)
            else:
                move = self.opponent.choose(board, rng)
                memory.best[ply] = memory.chosen[ply] = -1
                if move < PASS:
                    raise TengenError(f"{self.opponent.name} resigned in the opening")
            memory.move[ply], memory.side[ply] = move, board.turn
            board.push(int(move))
            memory.hashes[ply + 1] = board.state[SCALARS, HASH]
            game_kernels.after_ply(
                board.state, memory, ply, learner.net_, learner.komi, tables, layout, room, target,
                self.rate(number), learner.trace,
            )  # fmt: skip

    def _verdict(self, moves: list[int], number: int) -> tuple[float, NDArray[np.float64]]:
        """Ask the expert; return the score and the target, both from Black's view."""
        learner = self.learner
        board = opening_board(moves, *learner.shape, learner.komi)
        seeds = expert_seeds(learner.seed, number, learner.finishes)
        boards = [board] * learner.finishes
        if learner.target == "ownership":
            assert isinstance(self.expert, OwnershipExpert)
            owners = self.expert.finish_ownership(boards, seeds).mean(axis=0)
            target = np.clip((owners + 1) / 2, CLIP, 1 - CLIP)
            return float(owners.sum()) - learner.komi, target
        scores = self.expert.finish(boards, seeds)
        targets = np.mean([learner.target_of(float(score)) for score in scores], axis=0)
        return float(np.mean(scores)), targets

    # ----- Checkpoints -----

    def save(self) -> None:
        """Write a checkpoint of this moment."""
        assert self.checkpoints is not None
        learner = self.learner
        state = {"settings": learner.settings(), "more": self.state}
        self.checkpoints.save(learner.games_, learner.net_._asdict(), state)

    def _resume(self) -> bool:
        """Go back to the newest checkpoint; tell whether there was one."""
        latest = None if self.checkpoints is None else self.checkpoints.latest()
        if latest is None:
            return False
        if latest.state.get("settings") != self.learner.settings():
            assert self.checkpoints is not None
            raise TengenError(f"{self.checkpoints.folder}: holds a training with other settings")
        self.learner.net_ = Net(*(latest.arrays[key].copy() for key in Net._fields))
        self.learner.games_ = latest.step
        self.state.clear()
        self.state.update(latest.state["more"])
        return True


def opening_board(moves: list[int], rows: int, cols: int, komi: float) -> Board:
    """Return the board after an opening."""
    board = Board(rows, cols, komi=komi)
    for move in moves:
        board.push(move)
    return board


def expert_seeds(seed: int, number: int, count: int) -> list[int]:
    """Return the expert's seeds for a game."""
    words = np.random.SeedSequence([seed, number, 3]).generate_state(count, np.uint64)
    return [int(w >> np.uint64(1)) for w in words]
