"""Train opening players: openings, the expert's verdicts, learning curve, checkpoints.

Game number g draws from streams named by (seed, g), so a training that is stopped after any game
and continued gives the same weights, bit for bit, as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, WHITE, Board
from tengen.board.kernels import new_state
from tengen.board.layout_kernels import HASH, SCALARS
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_td import game_kernels
from tengen.learners.opening_td.game_kernels import NETWORK, RANDOM
from tengen.learners.opening_td.judges import OwnershipExpert
from tengen.learners.opening_td.kernels import Net
from tengen.learners.opening_td.matches import RANDOM_NAME, opening_board, play_match
from tengen.learners.opening_td.model import OpeningModel
from tengen.learners.opening_td.network import CLIP, score_to_output
from tengen.learners.opening_td.settings import TDSettings
from tengen.models.runs import Run

CHECKPOINT_EVERY = 250
"""Games between the states of a run."""


@dataclass(frozen=True)
class TrainedOpening:
    """One opening that was learned from."""

    moves: list[int]
    score: float
    """The expert's, from Black's view."""


def train(
    model: OpeningModel,
    expert: Expert,
    opponent: Player | None,
    *,
    referee: Expert | None,
    run: Run[TDSettings] | None,
    on_game: Callable[[int], None],
) -> None:
    """Play all openings of the model's settings, from where the run stands; see `OpeningTD.fit`."""
    settings = model.settings
    lesson = Lesson(model, expert, opponent)
    judge = referee or expert
    if run and run.start:
        model.net_ = Net(*(run.start.arrays[key].copy() for key in Net._fields))
        model.games_ = run.start.step
    else:
        model.draw()
        if run:
            _note_curve(model, judge, run)
    while model.games_ < settings.games:
        lesson.one_game()
        if run:
            _note_curve(model, judge, run)
            if model.games_ % CHECKPOINT_EVERY == 0 or model.games_ == settings.games:
                run.save(model.games_, model.net_._asdict())
        on_game(model.games_)


def _note_curve(model: OpeningModel, referee: Expert, run: Run[TDSettings]) -> None:
    """Note one point of the learning curve, if it is time: games against random openings."""
    settings = model.settings
    if settings.curve_games == 0 or model.games_ % settings.curve_every:
        return
    seed = 1_000_003 * (settings.seed + 1) + model.games_
    rate = play_match(model, RANDOM_NAME, referee, games=settings.curve_games, seed=seed).rate
    run.note(
        model.games_,
        win_rate=rate.win_rate,
        interval=list(rate.interval),
        mean_score=rate.mean_score,
    )


class Lesson:
    """Play openings with a model and teach it; the model is changed in place."""

    def __init__(self, model: OpeningModel, expert: Expert, opponent: Player | None = None) -> None:
        if model.settings.target == "ownership" and not isinstance(expert, OwnershipExpert):
            raise TengenError("a target of ownership needs an expert with `finish_ownership`")
        self.model, self.expert, self.opponent = model, expert, opponent

    def one_game(self) -> TrainedOpening:
        """Play the next opening, learn from it, and count it."""
        model, settings, number = self.model, self.model.settings, self.model.games_
        tables, layout, room, memory = model.desk()
        if self.opponent is None:
            self._play_in_kernel(number)
        else:
            self._play_opponent(number, self.opponent)
        moves = [int(m) for m in memory.move]
        score, target = self._verdict(moves, number)
        last, rate = settings.opening_plies - 1, settings.rate(number)
        game_kernels.learn(
            memory, last, target, model.net_, tables, layout, room, rate, settings.trace
        )
        model.games_ += 1
        return TrainedOpening(moves, score)

    def _lot(self, number: int) -> tuple[int, bool]:
        """Draw a game's number of random first plies and whether one side plays at random."""
        settings = self.model.settings
        if settings.random_plies == 0 and settings.random_opponent == 0:
            return 0, False
        rng = np.random.default_rng([settings.seed, number, 1])
        plies = int(rng.integers(settings.random_plies + 1))
        return plies, bool(rng.random() < settings.random_opponent)

    def _play_in_kernel(self, number: int) -> None:
        """Play against itself, or against random moves, learning from both sides' moves."""
        model, settings = self.model, self.model.settings
        tables, layout, room, memory = model.desk()
        random_plies, against_random = self._lot(number)
        who = [NETWORK, RANDOM if against_random else NETWORK]
        if number % 2:
            who.reverse()
        game_kernels.train_opening(
            new_state(*settings.shape),
            model.net_,
            settings.komi,
            tables,
            layout,
            memory,
            room,
            np.zeros(settings.outputs),
            settings.opening_plies,
            settings.rate(number),
            settings.trace,
            settings.exploration(number),
            settings.temperature_in_outputs,
            random_plies,
            who[0],
            who[1],
            settings.seed,
            number,
        )

    def _play_opponent(self, number: int, opponent: Player) -> None:
        """Play against somebody who is asked move by move; learn from both sides' moves."""
        model, settings = self.model, self.model.settings
        tables, layout, room, memory = model.desk()
        target = np.zeros(settings.outputs)
        explore, temperature = settings.exploration(number), settings.temperature_in_outputs
        rng = np.random.default_rng([settings.seed, number, 2])
        word = rng.integers(0, 2**63, size=1, dtype=np.uint64)
        random_plies, _ = self._lot(number)
        board = Board(*settings.shape, komi=settings.komi)
        own = BLACK if number % 2 == 0 else WHITE
        game_kernels.start(board.state, memory)
        for ply in range(settings.opening_plies):
            if ply < random_plies:
                move = game_kernels.choose_random(board.state, tables, memory, ply, room, word)
            elif board.turn == own:
                move = game_kernels.choose(
                    board.state, model.net_, settings.komi, tables, layout, memory, ply, room,
                    explore, temperature, word,
                )  # fmt: skip
            else:
                move = opponent.choose(board, rng)
                memory.best[ply] = memory.chosen[ply] = -1
                if move < PASS:
                    raise TengenError(f"{opponent.name} resigned in the opening")
            memory.move[ply], memory.side[ply] = move, board.turn
            board.push(int(move))
            memory.hashes[ply + 1] = board.state[SCALARS, HASH]
            game_kernels.after_ply(
                board.state, memory, ply, model.net_, settings.komi, tables, layout, room, target,
                settings.rate(number), settings.trace,
            )  # fmt: skip

    def _verdict(self, moves: list[int], number: int) -> tuple[float, FloatArray]:
        """Ask the expert; return the score and the target, both from Black's view."""
        settings = self.model.settings
        board = opening_board(moves, settings)
        word = np.random.SeedSequence([settings.seed, number, 3]).generate_state(1, np.uint64)[0]
        seed = int(word >> np.uint64(1))
        if settings.target == "ownership":
            assert isinstance(self.expert, OwnershipExpert)
            owners = self.expert.finish_ownership([board], [seed])[0]
            target = np.clip((owners + 1) / 2, CLIP, 1 - CLIP)
            return float(owners.sum()) - settings.komi, target
        score = float(self.expert.finish([board], [seed])[0])
        if settings.target == "win":
            goal = min(max(1.0 if score > 0 else 0.5 if score == 0 else 0.0, CLIP), 1 - CLIP)
        else:
            goal = score_to_output(score, settings.largest)
        return score, np.array([goal])
