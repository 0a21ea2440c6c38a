"""Players without search: random, maxlib, static, sample, greedy and learned openings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.board import (
    BLACK,
    PASS,
    RESIGN,
    WHITE,
    Board,
    Point,
    index_of,
    indices_of,
    point_at,
)
from tengen.board import layout_kernels as layout
from tengen.board.playouts import shape_table
from tengen.board.tactics_kernels import BY_BLOCK, BY_STONE, maxlib_move, random_move
from tengen.contracts import Candidate, Evaluator, Player, Policy, SearchInfo, TimedPlayer
from tengen.errors import SpecError
from tengen.game.endgame import adjust_at_game_end, can_pass_and_win, candidates, finishing_move
from tengen.players.mcts import MctsPlayer
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.players.static_kernels import VALUE, W_PASS, finish_static, new_work, static_values
from tengen.scoring.judging import is_sound, neutral_points

_SHOWN = 20  # candidates of a policy

# ----- Random and maxlib -----


@dataclass(eq=False, kw_only=True)
class RandomPlayer:
    """Play a random legal point, own eyes only with `fill_eyes`; pass only if there is none."""

    fill_eyes: bool = False
    name: str = "random"

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a random move."""
        mask = board.legal_mask()
        raw = random_move(board.state, board.turn, self.fill_eyes, mask, _word(rng))
        return board.to_point(raw)


@dataclass(eq=False, kw_only=True)
class MaxlibPlayer:
    """Maximise the average liberties of own blocks minus the average of the enemy's blocks.

    With `average="stone"` each stone counts the liberties of its block; ties are broken at random.
    It passes when only eyes are left, or when the enemy has passed and the count is won.
    """

    average: Literal["block", "stone"] = "block"
    name: str = "maxlib"

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the move with the best balance of liberties."""
        if can_pass_and_win(board, SEARCHING_JUDGE):
            return PASS
        weighting = BY_STONE if self.average == "stone" else BY_BLOCK
        mask = board.legal_mask()
        return board.to_point(maxlib_move(board.state, board.turn, weighting, mask, _word(rng)))


def _word(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return the state of a kernel's random generator, seeded by this one."""
    return rng.integers(0, 2**63, size=1, dtype=np.uint64)


# ----- Static -----


@dataclass(eq=False, kw_only=True)
class StaticPlayer:
    """Play by one-ply rules, like a program of the 1990s; pass when no move is worth playing."""

    resign: bool = False
    name: str = "static"

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the move of the highest value."""
        values = static_move_values(board)
        index = int(values.argmax())
        best = point_at(index, board.rows, board.cols)
        move = best if values[index] > W_PASS else PASS
        return adjust_at_game_end(board, move, SEARCHING_JUDGE, resign=self.resign)


def static_move_values(board: Board) -> FloatArray:
    """Return the static value of every point in points of area, row-major; -inf if never played."""
    state = board.state.copy()  # ladders are played out on it
    work, floats = new_work(state.shape[1])
    static_values(state, board.turn, shape_table(), work, floats)
    values: FloatArray = floats[VALUE][state[layout.COLOUR] != layout.BORDER]
    values[~board.legal_mask()[:-1]] = -np.inf
    return values


def finish_score(board: Board) -> float:
    """Play both sides to the end by the static rules; return Black's score, komi included."""
    state = board.state.copy()
    area = float(finish_static(state, shape_table()))
    if board.rules.scoring == "territory":
        area -= stones_played(state)
    return area - board.white_bonus


def stones_played(state: NDArray[np.int64]) -> int:
    """Return how many more stones Black has played than White: area minus territory, seki aside."""
    colours, scalars = state[layout.COLOUR], state[layout.SCALARS]
    on_board = np.count_nonzero(colours == BLACK) - np.count_nonzero(colours == WHITE)
    return int(on_board + scalars[layout.PRISONERS_W] - scalars[layout.PRISONERS_B])


# ----- Policies -----


@dataclass(eq=False, kw_only=True)
class SamplePlayer:
    """Draw a move from a policy's priors; at temperature 0 it is the likeliest."""

    model: Policy
    temperature: float = 1.0
    name: str = "sample"

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Draw a move from the policy, or pass where that is sensible."""
        return adjust_at_game_end(board, self.draw(board, rng), SEARCHING_JUDGE)

    def draw(
        self, board: Board, rng: np.random.Generator, among: Sequence[int] | None = None
    ) -> Point:
        """Draw a point, from `among` if given; PASS if none is left."""
        shares = self.shares(board, among)
        index = int(rng.choice(len(shares), p=shares)) if self.temperature else int(shares.argmax())
        return board.to_point(point_at(index, board.rows, board.cols))

    def shares(self, board: Board, among: Sequence[int] | None = None) -> FloatArray:
        """Return the probability of drawing each move, the pass last; it is 1 if none is left."""
        priors = playable_priors(self.model, board, among)
        if priors.sum() <= 0 or self.temperature == 0:
            drawn = int(priors.argmax()) if priors.sum() > 0 else -1
            return np.asarray(np.eye(len(priors))[drawn], np.float64)
        weights = (priors / priors.max()) ** (1 / self.temperature)
        return np.asarray(weights / weights.sum(), np.float64)

    def analyse(
        self, board: Board, rng: np.random.Generator, **how: object
    ) -> Iterator[SearchInfo]:
        """Yield the likeliest moves once, with their chances in 10,000ths as visits.

        At temperature 0, where only the first is played, these are the chances that the policy
        gives.
        """
        often = replace(self, temperature=self.temperature or 1.0)
        shares = often.shares(board)
        best = [int(i) for i in np.argsort(-shares, kind="stable")[:_SHOWN] if shares[i] > 0]
        moves = [point_at(index, board.rows, board.cols) for index in best]
        yield SearchInfo(
            tuple(
                Candidate(move, round(10_000 * shares[i]), 0.5, prior=float(shares[i]), pv=(move,))
                for move, i in zip(moves, best, strict=True)
            ),
            self.choose(board, rng),
            visits=10_000,
            raw_policy=shares,
            human_policy=shares,
        )

    def explain(self, board: Board, move: int) -> str:
        """Return the policy's probability of the move in words, not counting own eyes."""
        if move in (PASS, RESIGN):
            return ""
        priors = playable_priors(self.model, board)
        prior = priors[index_of(move, board.rows, board.cols)]
        share, rank = prior / max(float(priors.sum()), 1e-300), 1 + int((priors > prior).sum())
        return f"{board.to_point(move)}: number {rank} of the policy, {100 * share:.1f} %"


def playable_priors(policy: Policy, board: Board, among: Sequence[int] | None = None) -> FloatArray:
    """Return a policy's priors with own eyes at zero, and the pass too while a point is left.

    Policies learn from games that were not played out, so `game.endgame` decides about passes.
    """
    priors = np.array(policy.priors(board), np.float64)
    allowed = np.zeros(len(priors), np.bool_)
    points = np.array(candidates(board) if among is None else among, np.int64)
    allowed[indices_of(points, board.rows, board.cols)] = True
    priors[~allowed] = 0
    if allowed.any() and priors.sum() <= 0:
        priors[allowed] = 1.0
    return priors


class DrawingPlayer(SamplePlayer):
    """Draw moves; when the enemy passes in a finished game, fill neutral points, then pass.

    A version that passed first lost 7 of 10 games on 19x19 to an enemy that played on.
    """

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Draw a move from the policy, or end the game."""
        if board.last_move != PASS or (finished := SEARCHING_JUDGE.finished(board)) is None:
            return super().choose(board, rng)
        if (over := SEARCHING_JUDGE.verdict_if_over(board)) is not None:
            return finishing_move(board, over)
        neutral = neutral_points(board, finished) if board.rules.scoring == "area" else []
        mine = [point for point in neutral if is_sound(board, point, board.turn)]
        return self.draw(board, rng, among=mine) if mine else super().choose(board, rng)


# ----- Evaluators -----


@dataclass(eq=False, kw_only=True)
class GreedyPlayer:
    """Play the best move by an evaluator after one ply, or a policy's likeliest move.

    With `temperature` > 0 moves are drawn in proportion to exp(value / temperature). With both an
    evaluator and a policy only the policy's best `width` moves are tried.
    """

    model: Evaluator | None = None
    policy: Policy | None = None
    temperature: float = 0.0
    width: int | None = None
    resign: bool = False
    name: str = "greedy"

    def __post_init__(self) -> None:
        if self.model is None and self.policy is None:
            raise SpecError("greedy needs model=... or policy=...")
        if self.width is not None and self.policy is None:
            raise SpecError("width=... needs policy=...")

    @property
    def _sampler(self) -> SamplePlayer:
        assert self.policy is not None
        return SamplePlayer(model=self.policy, temperature=self.temperature)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the best move, or draw one by its value."""
        if self.model is None:
            return self._sampler.choose(board, rng)
        if self.policy is None:
            moves = candidates(board)
        else:
            moves = best_by_policy(self.policy, board, self.width or 8)
        if not moves:
            return adjust_at_game_end(board, PASS, SEARCHING_JUDGE, resign=self.resign)
        rate = getattr(self.model, "move_values", None)
        if rate is None:
            values = values_after(self.model, board, moves)
        else:
            # A model that values moves itself (row-major, pass last), in its own units.
            rated = np.asarray(rate(board), np.float64)
            values = rated[[index_of(move, board.rows, board.cols) for move in moves]]
        if self.temperature > 0:
            weights = np.exp((values - values.max()) / self.temperature)
            move = moves[int(rng.choice(len(moves), p=weights / weights.sum()))]
        else:
            best = np.flatnonzero(values >= values.max() - 1e-12)
            move = moves[int(rng.choice(best))]
        return adjust_at_game_end(board, move, SEARCHING_JUDGE, resign=self.resign)

    def analyse(
        self, board: Board, rng: np.random.Generator, **how: object
    ) -> Iterator[SearchInfo]:
        """Yield once: a policy's likeliest moves, or the one that an evaluator chooses."""
        if self.model is None:
            yield from self._sampler.analyse(board, rng)
        else:
            yield SearchInfo.of_choice(self.choose(board, rng))

    def explain(self, board: Board, move: int) -> str:
        """Return the policy's probability of the move in words; nothing for an evaluator."""
        return "" if self.model is not None else self._sampler.explain(board, move)


def values_after(model: Evaluator, board: Board, moves: Sequence[int]) -> FloatArray:
    """Return the value of each move for the side to move: the model's value after it."""
    after = []
    for move in moves:
        child = board.copy()
        child.push(move)
        after.append(child)
    values = np.asarray(model.values(after), np.float64)
    return values if board.turn == BLACK else -values


def scores_after(model: Evaluator, board: Board, moves: Sequence[int]) -> FloatArray:
    """Return the same as `values_after`, all at once if the model has `move_scores` (row-major)."""
    rate = getattr(model, "move_scores", None)
    if rate is None:
        return values_after(model, board, moves)
    cells = [index_of(move, board.rows, board.cols) for move in moves]
    return np.asarray(rate(board), np.float64)[cells]


def best_by_policy(policy: Policy, board: Board, width: int) -> list[int]:
    """List the policy's best `width` moves that fill no own eye, best first."""
    priors = playable_priors(policy, board)
    moves = candidates(board)
    moves.sort(key=lambda p: -priors[index_of(p, board.rows, board.cols)])
    return moves[:width]


# ----- Openings -----


@dataclass(eq=False, kw_only=True)
class OpeningPlayer:
    """Play greedily by an evaluator for the first `moves` plies of the game, then as `then`.

    A model that is a player itself (evolved networks look ahead) chooses its own moves.
    """

    model: Evaluator
    moves: int | None = None
    then: Player = field(default_factory=MctsPlayer)
    name: str = "opening"

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose by the opening's model or by the player after it."""
        player: Player = self.then
        if len(board.moves) < self.plies(board):
            model = self.model
            player = model if isinstance(model, Player) else GreedyPlayer(model=model)
        return player.choose(board, rng)

    def plies(self, board: Board) -> int:
        """Return the length of the opening: as given, the model's, or a quarter of the points."""
        own = getattr(self.model, "opening_plies", None) if self.moves is None else self.moves
        return board.rows * board.cols // 4 if own is None else int(own)

    def within(self, seconds: float) -> OpeningPlayer:
        """Return the same player with the later player under a clock, if it supports one."""
        if not isinstance(self.then, TimedPlayer):
            return self
        return replace(self, then=self.then.within(seconds))

    def close(self) -> None:
        """Close the later player."""
        close = getattr(self.then, "close", None)
        if close is not None:
            close()
