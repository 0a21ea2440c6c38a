"""Train opening players and play matches of openings that an expert finishes.

Game number g of a training draws from streams named by (seed, g), so a training that is stopped
after any game and continued gives the same weights, bit for bit.

A side of a match is a trained model (played greedily, in a kernel), the word "random" (any legal
move, the paper's Random, in a kernel) or any `Player`. Side A has Black in games of even number.
Networks are deterministic, so matches begin with a few random plies, each start played with both
colours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, WHITE, Board, playouts, random_point
from tengen.board.kernels import new_state
from tengen.board.layout_kernels import HASH, SCALARS
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_td import game_kernels
from tengen.learners.opening_td.game_kernels import NETWORK, RANDOM
from tengen.learners.opening_td.kernels import Net
from tengen.learners.opening_td.learner import OpeningTD
from tengen.learners.opening_td.network import make_memory
from tengen.learners.opening_td.settings import FeatureSet, TDSettings
from tengen.models.runs import Run
from tengen.statistics import Rate

CLIP = 0.02
"""Targets of the sigmoid stay this far from 0 and 1, which it cannot reach."""
CHECKPOINT_EVERY = 250
"""Games between checkpoints."""


@dataclass(frozen=True)
class TrainedOpening:
    """One opening of a training."""

    moves: list[int]
    score: float
    """The expert's, from Black's view."""


def train(
    model: OpeningTD,
    expert: Expert,
    opponent: Player | None,
    *,
    referee: Expert | None,
    run: Run[TDSettings] | None,
    on_game: Callable[[int], None],
) -> None:
    """Play all openings of the model's settings; see `OpeningTD.fit`."""
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


def _note_curve(model: OpeningTD, referee: Expert, run: Run[TDSettings]) -> None:
    """Write one point of the learning curve if it is due: games against random openings."""
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

    def __init__(self, model: OpeningTD, expert: Expert, opponent: Player | None = None) -> None:
        self.model, self.expert, self.opponent = model, expert, opponent

    def one_game(self) -> TrainedOpening:
        """Play the next opening, learn from it, and count it."""
        model, settings, number = self.model, self.model.settings, self.model.games_
        _, layout, room, memory = model.desk()
        if self.opponent is None:
            self._play_in_kernel(number)
        else:
            self._play_opponent(number, self.opponent)
        moves = [int(m) for m in memory.move]
        score = self._score(moves, number)
        target = min(max(0.5 + score / (2 * settings.largest), CLIP), 1 - CLIP)
        last, rate = settings.opening_plies - 1, settings.rate(number)
        game_kernels.learn(memory, last, target, model.net_, layout, room, rate, settings.trace)
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
            settings.opening_plies,
            settings.rate(number),
            settings.trace,
            settings.exploration(number),
            settings.temperature / (2 * settings.largest),
            random_plies,
            who[0],
            who[1],
            settings.seed,
            number,
        )

    def _play_opponent(self, number: int, opponent: Player) -> None:
        """Play against a player, move by move; learn from both sides' moves."""
        model, settings = self.model, self.model.settings
        tables, layout, room, memory = model.desk()
        explore, temperature = (
            settings.exploration(number),
            settings.temperature / (2 * settings.largest),
        )
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
                board.state, memory, ply, model.net_, settings.komi, tables, layout, room,
                settings.rate(number), settings.trace,
            )  # fmt: skip

    def _score(self, moves: list[int], number: int) -> float:
        """Return the expert's score of an opening, from Black's view."""
        settings = self.model.settings
        word = np.random.SeedSequence([settings.seed, number, 3]).generate_state(1, np.uint64)[0]
        board = opening_board(moves, settings)
        return float(self.expert.finish([board], [int(word >> np.uint64(1))])[0])


class PlayoutJudge:
    """An expert that scores a position by the mean of heavy playouts, without a search."""

    def __init__(self, n: int = 64) -> None:
        self.n = n

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the mean score for Black, komi included, one per board."""
        return np.array(
            [
                playouts(b, self.n, seed=s, kind="heavy", threads=1).mean_score
                for b, s in zip(boards, seeds, strict=True)
            ]
        )


# ----- Matches -----

Side = OpeningTD | Player | str
"""A trained model, a player, or "random"."""

RANDOM_NAME = "random"
_BATCH = 50
"""Openings that the expert finishes in one call."""


@dataclass
class OpeningMatch:
    """A match that was played: the scores from side A's view, and the openings."""

    scores: list[float] = field(default_factory=list)
    openings: list[list[int]] = field(default_factory=list)

    @property
    def rate(self) -> Rate:
        """How side A did; pairs are taken as independent games."""
        return Rate.of(self.scores)

    @property
    def duplicates(self) -> int:
        """Number of games whose opening had been played before in this match."""
        return len(self.openings) - len({tuple(o) for o in self.openings})


def play_match(
    a: Side,
    b: Side,
    expert: Expert,
    *,
    games: int,
    seed: int,
    random_plies: int | None = None,
    terms: TDSettings | None = None,
    batch: int = _BATCH,
) -> OpeningMatch:
    """Play openings between A and B and let the expert finish them.

    `terms` give board, komi and length; by default they are the settings of the model that plays.
    `random_plies` is 2 by default, but 0 if a side plays at random anyway.
    """
    terms = terms or _terms_of(a, b)
    match = OpeningMatch()
    for openings in _play_openings(a, b, terms, games, seed, random_plies, batch):
        first = len(match.openings)
        boards = [opening_board(o, terms) for o in openings]
        scores = expert.finish(boards, _judge_seeds(seed, first, len(boards)))
        for number, score in enumerate(scores, first):
            match.scores.append(float(score) if number % 2 == 0 else -float(score))
        match.openings += openings
    return match


def _play_openings(
    a: Side,
    b: Side,
    terms: TDSettings,
    games: int,
    seed: int,
    random_plies: int | None = None,
    batch: int = _BATCH,
) -> Iterator[list[list[int]]]:
    """Yield openings, a batch at a time, as lists of moves."""
    if random_plies is None:
        random_plies = 0 if RANDOM_NAME in (a, b) else 2
    for first in range(0, games, batch):
        numbers = range(first, min(first + batch, games))
        if _in_kernel(a) and _in_kernel(b):
            yield _play_in_kernel(a, b, terms, numbers, seed, random_plies)
        else:
            yield [_play_one(a, b, terms, number, seed, random_plies) for number in numbers]


def opening_board(moves: list[int], terms: TDSettings) -> Board:
    """Return the board after an opening."""
    board = Board(*terms.shape, komi=terms.komi)
    for move in moves:
        board.push(move)
    return board


def _terms_of(a: Side, b: Side) -> TDSettings:
    """Return the settings of the first model among two sides."""
    for side in (a, b):
        if isinstance(side, OpeningTD):
            return side.settings
    raise TengenError("a match between players needs terms: board, komi and length")


def _judge_seeds(seed: int, first: int, count: int) -> list[int]:
    """Return the expert's seeds for games `first` and following of a match."""
    words = (
        np.random.SeedSequence([seed, number, 4]).generate_state(1, np.uint64)[0]
        for number in range(first, first + count)
    )
    return [int(word >> np.uint64(1)) for word in words]


def _in_kernel(side: Side) -> bool:
    return isinstance(side, OpeningTD) or side == RANDOM_NAME


def _play_in_kernel(
    a: Side, b: Side, terms: TDSettings, numbers: range, seed: int, random_plies: int
) -> list[list[int]]:
    """Play the openings of these numbers."""
    shape, plies = terms.shape, terms.opening_plies
    sides = [s if isinstance(s, OpeningTD) else _nobody(terms) for s in (a, b)]
    for side in sides:
        if side.settings.shape != shape:
            raise TengenError(f"{side.name} has learned another board than {shape[0]}x{shape[1]}")
    states = np.repeat(new_state(*shape)[None], len(numbers), axis=0)
    moves = np.zeros((len(numbers), plies), np.int64)
    memory = make_memory(FeatureSet("A"), *shape, 1, plies)
    (net_a, desk_a), (net_b, desk_b) = ((s.net_, s.desk()) for s in sides)
    who = [NETWORK if isinstance(s, OpeningTD) else RANDOM for s in (a, b)]
    game_kernels.match_openings(
        states, moves, plies, terms.komi, random_plies, random_plies > 0, seed, numbers.start,
        desk_a.tables, net_a, desk_a.layout, desk_a.room, net_b, desk_b.layout, desk_b.room,
        who[0], who[1], memory,
    )  # fmt: skip
    return [[int(m) for m in game] for game in moves]


def _nobody(terms: TDSettings) -> OpeningTD:
    """Return a tiny network, to take the place of a random player in a kernel's arguments."""
    rows, cols = terms.shape
    small = TDSettings(features="A", hidden=1, rows=rows, cols=cols, plies=terms.opening_plies)
    return OpeningTD(settings=small).draw()


def _play_one(
    a: Side, b: Side, terms: TDSettings, number: int, seed: int, random_plies: int
) -> list[int]:
    """Play one opening move by move, with players of any kind."""
    board = Board(*terms.shape, komi=terms.komi)
    start = np.random.default_rng([seed, number // 2, 5])
    rng = np.random.default_rng([seed, number, 6])
    for ply in range(terms.opening_plies):
        side = a if (board.turn == BLACK) == (number % 2 == 0) else b
        if ply < random_plies:
            move = random_point(board, start)
        elif isinstance(side, str):
            move = random_point(board, rng)
        elif isinstance(side, OpeningTD):
            move = side.best_move(board)
        else:
            move = side.choose(board, rng)
            if move < 0:
                raise TengenError(f"{side.name} resigned in the opening")
        board.play(move)
    return [int(move) for _, move in board.moves]
