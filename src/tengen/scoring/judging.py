"""Judge positions: who is dead or will survive, what the score is, and whether the game is over.

The learned scorer judges finished games; without one, playouts do, which cannot detect seki. Games
in progress are estimated by a network or by playouts. Counting itself is in `tengen.board`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import (
    BLACK,
    EMPTY,
    PASS,
    WHITE,
    Block,
    Board,
    Move,
    Point,
    index_of,
    playouts,
    point_at,
)
from tengen.board import kernels as k
from tengen.board.counting import Count, count_board, unconditional
from tengen.board.drawing import Mark
from tengen.board.tactics_kernels import is_own_eye
from tengen.contracts import BlockStatus, ScoreEstimate, ScoreEstimator, Scorer, Status, Verdict
from tengen.models import has_model, load_learner, load_scorer
from tengen.models.registry import DRAWN_FROM, JUDGE

_PLAYOUTS = 400
DEAD_ABOVE = 0.5
"""Mean ownership by the enemy above which a block is called dead."""
_FEWEST_STONES = 0.3
"""A board with fewer stones than this share of its points is never finished."""
_LINES, _LINE_LENGTH, _CHANGE = 6, 24, 2.0
"""In a game that seems over: first moves tried per side, moves played after each of them, and the
points that a side may gain by that."""
_GAIN = 3.0
"""Points that a search may find for a side in a finished game; twice as many on 19x19."""
_END_PLAYOUTS = 64
_MIN_PLAYOUT_AGREEMENT, _SURE, _SURE_NETWORK = 0.95, 0.3, 0.5
"""Ownership with which every block must confirm the scorer's status: by playouts alone, or by
playouts and network together."""
_LIKELY, _CERTAIN = 0.8, 0.9
"""Least probability of the scorer's verdict, and the ownership that both playouts and network must
reach for every block where that verdict is not safe (as in seki) or the turn is worth points."""
_REMEMBERED = 16
"""Confirmed positions that are remembered: players query one position several times."""
_DECLINED = 2
"""How many passes in a row by one side are declined because of doubt."""


@dataclass(frozen=True)
class Outlook:
    """The result of a game: a count if it is finished, otherwise an estimate."""

    score: float
    ownership: FloatArray | None
    finished: bool
    by: str
    """Source of the result, for display."""
    spread: float = 0.0
    """Standard deviation of an estimate's score, in points."""


class PlayoutScorer:
    """A scorer without a model, based on the ownership of playouts."""

    def __init__(self, *, count: int = _PLAYOUTS, seed: int = 1) -> None:
        self.count, self.seed = count, seed

    def status(self, board: Board) -> Verdict:
        """Call a block dead when most playouts give its points to the other side."""
        result = playouts(board, self.count, seed=self.seed, kind="heavy", threads=1)
        blocks = []
        for block, held in held_blocks(board, result.ownership):
            status = Status.DEAD if held < -DEAD_ABOVE else Status.ALIVE
            blocks.append(BlockStatus(block.stones, block.colour, status, 0.5 + abs(held) / 2))
        settled = float(np.mean(np.abs(result.ownership) > DEAD_ABOVE))
        return Verdict(tuple(blocks), settled > 0.9, settled, result.ownership)


class _Confirmation(NamedTuple):
    """Agreement of playouts and of the network with a verdict, -1 to 1, for the least sure block.

    Blocks in seki are left out, since playouts cannot judge them. A count is steady if no likely
    move gains anything when the network plays on for both sides, and quiet if a search finds no
    gain either.
    """

    playouts: float
    network: float
    steady: bool
    quiet: bool = True

    @property
    def is_likely(self) -> bool:
        return self.steady and max(self.playouts, self.network) >= _SURE


@dataclass(frozen=True)
class _Question:
    """A verdict to confirm; questions are equal if position, komi and rules are."""

    key: tuple[Any, ...]
    board: Board = field(compare=False)
    verdict: Verdict = field(compare=False)


class Judge:
    """Judge positions by a scorer, by a network and by playouts.

    Without a `scorer`, the model of that name is one, or playouts are. `search` returns Black's
    lead after a short search with a network; if given, it decides doubts whether a game is over.
    """

    def __init__(
        self, scorer: Scorer | None = None, search: Callable[[Any, Board], float] | None = None
    ) -> None:
        self._scorer, self._search = scorer, search

    # ----- Finished games -----

    @property
    def scorer(self) -> Scorer:
        """The scorer in use."""
        if self._scorer is not None:
            return self._scorer
        return load_scorer("scorer", shared=True) if has_model("scorer") else PlayoutScorer()

    @property
    def is_learned(self) -> bool:
        """Whether the scorer is a learned one."""
        return not isinstance(self.scorer, PlayoutScorer)

    def status(self, board: Board) -> Verdict:
        """Judge every block of a position."""
        return self.scorer.status(board)

    def score(self, board: Board) -> ScoreEstimate:
        """Count a position under its rules, without its dead stones."""
        scorer = self.scorer
        if isinstance(scorer, ScoreEstimator):
            return scorer.score(board)
        verdict = scorer.status(board)
        count = count_without(board, verdict.stones(Status.DEAD))
        return ScoreEstimate(
            count.score, count.black, count.white, ownership=verdict.ownership, safe=verdict.safe
        )

    def finished(self, board: Board, least: float = 1.0) -> Verdict | None:
        """Return the verdict if its count is safe, or right with probability `least`, else None."""
        if np.count_nonzero(board.grid()) < _FEWEST_STONES * board.rows * board.cols:
            return None
        verdict = self.status(board)
        return verdict if verdict.safe or verdict.safe_probability >= least else None

    def verdict_if_over(self, board: Board) -> Verdict | None:
        """Return the verdict on a game in which no move gains a point any more, else None.

        Under area scoring a neutral point that can be filled is worth a point; under territory
        scoring it is worth nothing. Network and playouts must confirm the scorer's verdict. Where
        they do not, the first two passes in a row by a side are declined; after that, small doubts
        are ignored.
        """
        verdict = self.finished(board, _LIKELY)
        enough_declined = _passes_in_a_row(board) > _DECLINED
        if verdict is None or (_in_atari(board, verdict) and not enough_declined):
            return None
        if board.rules.scoring == "area" and neutral_points(board, verdict):
            return None
        sure = self._confirmed(board, verdict)
        if verdict.safe:
            alike = sure.playouts >= _SURE and sure.network >= _SURE_NETWORK
            agreed = sure.playouts >= _MIN_PLAYOUT_AGREEMENT or alike
        else:
            agreed = min(sure.playouts, sure.network) >= _CERTAIN
        return verdict if sure.is_likely and ((agreed and sure.quiet) or enough_declined) else None

    def is_over(self, board: Board) -> bool:
        """Return whether no move gains a point any more."""
        return self.verdict_if_over(board) is not None

    def confident_dead_stones(self, board: Board) -> tuple[int, ...]:
        """List the dead stones of a finished game; none if there is any doubt."""
        verdict = self.finished(board)
        if verdict is None or not self._confirmed(board, verdict).is_likely:
            return ()
        return verdict.stones(Status.DEAD)

    def accepts_pass(self, board: Board) -> bool:
        """Return whether the side to move should answer a pass with a pass: the game is over.

        This is for games whose dead stones come off by agreement. Where all stones count, a
        player may have to capture some before it passes.
        """
        return board.last_move == PASS and self.is_over(board)

    def _confirmed(self, board: Board, verdict: Verdict) -> _Confirmation:
        key = board.rows, board.cols, board.hash, board.komi, board.rules
        return self._confirm(_Question(key, board, verdict))

    @functools.lru_cache(maxsize=_REMEMBERED)  # noqa: B019 (a few judges may stay)
    def _confirm(self, question: _Question) -> _Confirmation:
        """Check a verdict by playouts and network with each side to move; the worse one counts."""
        board, verdict = question.board, question.verdict
        sides, seed = _both_to_move(board), board.hash >> 1
        found = [playouts(b, _END_PLAYOUTS, seed=seed, kind="heavy", threads=1) for b in sides]
        by_playouts = min(_agreement(board, verdict, one.ownership) for one in found)
        network = _network_for(JUDGE, board)
        if network is None:
            return _Confirmation(by_playouts, -1.0, True)
        views = network.evaluate(sides)
        by_network = min(_agreement(board, verdict, view.ownership) for view in views)
        if max(by_playouts, by_network) < _SURE:
            return _Confirmation(by_playouts, by_network, False)
        count, gains = self._count(sides[0]), [0.0]
        for side, view in zip(sides, views, strict=True):
            for line in _played_on(network, side, view.proposals[:-1]):
                change = self._count(line) - count
                gains.append(change if side.turn == BLACK else -change)
        steady, quiet = max(gains) <= _CHANGE, True
        if (
            steady
            and self._search is not None
            and min(by_playouts, by_network) < _MIN_PLAYOUT_AGREEMENT
        ):
            leads = [self._search(network, side) for side in sides]
            gain = max(leads[0] - count, count - leads[1])
            quiet = gain <= _GAIN * (1 + board.rows * board.cols / 361)
        return _Confirmation(by_playouts, by_network, steady, quiet)

    def _count(self, board: Board) -> float:
        return count_without(board, self.status(board).stones(Status.DEAD)).score

    # ----- Games in progress -----

    def estimate(self, board: Board) -> Outlook:
        """Count a finished game, or estimate the result of one in progress."""
        if self.is_learned and (verdict := self.finished(board)) is not None:
            return Outlook(self.score(board).score, verdict.ownership, True, "the learned scorer")
        return self.outlook(board)

    def outlook(self, board: Board) -> Outlook:
        """Estimate the result of a game in progress, by the network or by playouts."""
        network = _network_for(JUDGE, board)
        if network is not None:
            (view,) = network.evaluate([board])
            return Outlook(view.score, view.ownership, False, "the network", view.spread)
        result = playouts(board, _PLAYOUTS, seed=1, kind="heavy", threads=1)
        spread = float(result.scores.std())
        return Outlook(result.mean_score, result.ownership, False, "playouts", spread)

    def pass_chance(self, board: Board) -> float | None:
        """Return the probability that people pass; None without a network."""
        network = _network_for(DRAWN_FROM, board)
        return None if network is None else float(network.priors(board)[-1])


def _network_for(name: str, board: Board) -> Any:
    """Return a shipped network if it is there and supports the board, else None."""
    if not has_model(name):
        return None
    network: Any = load_learner(name, shared=True)
    return network if network.supports(board.rows, board.cols) else None


def _both_to_move(board: Board) -> list[Board]:
    """Return a position with each side to move, by area rules: moves in own territory are free."""
    grid, komi = board.grid(), board.komi
    return [
        Board.from_grid(grid, to_play=turn, rules="chinese", komi=komi) for turn in (BLACK, WHITE)
    ]


def _played_on(network: Any, board: Board, proposals: FloatArray) -> list[Board]:
    """Return the positions after likely first moves and the network's play for both sides."""
    lines = []
    for move in list(_likely_moves(board, proposals))[:_LINES]:
        lines.append(board.copy())
        lines[-1].play(move)
    for _ in range(_LINE_LENGTH):
        if not (going := [line for line in lines if not line.is_over]):
            break
        for line, view in zip(going, network.evaluate(going), strict=True):
            line.play(next(_likely_moves(line, view.proposals)))
    return lines


def _likely_moves(board: Board, proposals: FloatArray) -> Iterator[Move]:
    """Yield the legal moves, likeliest first; the index after the last point is a pass."""
    for index in np.argsort(-proposals, kind="stable").tolist():
        passes = index == board.rows * board.cols
        move = PASS if passes else board.to_point(point_at(index, board.rows, board.cols))
        if passes or board.is_legal(move):
            yield move


def _agreement(board: Board, verdict: Verdict, ownership: FloatArray) -> float:
    """Return the least agreement of ownership with a verdict, -1 to 1, over blocks not in seki."""
    status = {block.stones[0]: block.status for block in verdict.blocks}
    sure = [1.0]
    for block, held in held_blocks(board, with_certain(board, ownership)):
        found = status[block.stones[0]]
        if found is not Status.SEKI:
            sure.append(-held if found is Status.DEAD else held)
    return min(sure)


def _in_atari(board: Board, verdict: Verdict) -> bool:
    """Return whether a living block is in atari: it can be captured, or a ko is left."""
    living = {block.stones[0] for block in verdict.blocks if block.status is Status.ALIVE}
    return any(len(b.liberties) == 1 and b.stones[0] in living for b in board.blocks())


def _passes_in_a_row(board: Board) -> int:
    """Count the passes in a row, up to now, of the side that moved last."""
    mine = [move for colour, move in board.moves if colour == board.moves[-1][0]]
    return next((n for n, move in enumerate(reversed(mine)) if move != PASS), len(mine))


# ----- Stones -----


def held_blocks(board: Board, ownership: FloatArray) -> Iterator[tuple[Block, float]]:
    """Yield every block with the mean ownership of its points by its own side, -1 to 1."""
    for block in board.blocks():
        cells = [index_of(point, board.rows, board.cols) for point in block.stones]
        side = 1.0 if block.colour == BLACK else -1.0
        yield block, side * float(ownership[cells].mean())


def with_certain(board: Board, ownership: FloatArray) -> FloatArray:
    """Return a copy of the ownership in which unconditional life (Benson) is certain."""
    ownership, grid = ownership.copy(), board.grid()
    for colour, owner in ((BLACK, 1.0), (WHITE, -1.0)):
        safe = unconditional(grid, colour)
        ownership[(safe.stones | safe.points).ravel()] = owner
    return ownership


def dead_stones(board: Board, ownership: FloatArray) -> list[int]:
    """List the stones of blocks whose points the enemy owns."""
    held = held_blocks(board, ownership)
    return [stone for block, sure in held if sure < -DEAD_ABOVE for stone in block.stones]


def count_without(board: Board, dead: Iterable[int]) -> Count:
    """Count a position under its rules, given the points of its dead stones."""
    mask = np.zeros((board.rows, board.cols), np.bool_)
    for point in dead:
        mask.flat[index_of(point, board.rows, board.cols)] = True
    return count_board(board, mask)


def neutral_points(board: Board, verdict: Verdict) -> list[int]:
    """List the neutral points outside of seki that one side can fill without harm."""
    count = count_without(board, verdict.stones(Status.DEAD))
    seki = set(verdict.stones(Status.SEKI))
    width = board.cols + 1
    empty = np.flatnonzero(count.dame & (count.grid == EMPTY)).tolist()
    return [
        point
        for point in (point_at(index, board.rows, board.cols) for index in empty)
        if seki.isdisjoint((point - 1, point + 1, point - width, point + width))
        and (is_sound(board, point, BLACK) or is_sound(board, point, WHITE))
    ]


def is_sound(board: Board, point: int, colour: int) -> bool:
    """Return whether a stone there is legal, no own eye, and captures or has two liberties."""
    trial = board.copy()
    trial.turn = colour
    if not trial.is_legal(trial.to_point(point)) or is_own_eye(trial.state, point, colour):
        return False
    return k.place(trial.state, point, colour) > 0 or trial.liberties(trial.to_point(point)) >= 2


# ----- Survival -----

_FAINT = 0.5
"""Blocks with a smaller chance to survive are drawn faint."""


@dataclass(frozen=True)
class BlockSurvival:
    """One block and its chance to survive: that its colour owns its points at the end."""

    stones: tuple[Point, ...]
    colour: int
    chance: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "colour": "black" if self.colour == BLACK else "white",
            "stones": [str(stone) for stone in self.stones],
            "survival": self.chance,
        }


def survival(board: Board, ownership: FloatArray) -> list[BlockSurvival]:
    """Return every block's chance to survive, the weakest first."""
    found = [
        BlockSurvival(block.stones, block.colour, min(max((1 + held) / 2, 0.0), 1.0))
        for block, held in held_blocks(board, ownership)
    ]
    return sorted(found, key=lambda block: (block.chance, str(block.stones[0])))


def draw_survival(board: Board, blocks: Sequence[BlockSurvival]) -> str:
    """Draw the board as SVG with each block's chance in percent; doomed blocks are faint."""
    labels: dict[Move, str | Mark] = {b.stones[0]: f"{100 * b.chance:.0f}" for b in blocks}
    dead: list[Move] = [stone for b in blocks if b.chance < _FAINT for stone in b.stones]
    return board.svg(marks=labels, dead=dead, cell=40)
