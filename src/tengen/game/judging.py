"""Judge positions: who is dead or will survive, what the score is, and whether the game is over.

The learned scorer judges finished games; without one, playouts stand in, which find no seki. Games
in progress are estimated by a network, or by playouts. Counting itself is `tengen.board`'s.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from tengen import compiling
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

_PLAYOUTS = 400
DEAD_ABOVE = 0.5
"""Mean ownership by the enemy above which a block is called dead."""
_FEWEST_STONES = 1 / 3
"""A board with fewer stones than this share of its points is not finished, whatever is said."""
_NETWORK, _END_NETWORK = "tengen-small", "tengen-judge"
"""Networks that estimate games in progress, and that confirm that one is over."""
_LINES, _LINE_LENGTH, _CHANGE = 6, 24, 2.0
"""How many first moves of each side are tried in a game that seems over, how many moves are played
on, and the points by which the count may change."""
_TURN = 3.0
"""Points that the turn may be worth to the network in a finished game; twice as many on 19x19."""
_END_PLAYOUTS = 64
_SURE_ALONE, _SURE, _SURE_NETWORK = 0.95, 0.3, 0.5
"""How surely every block must be owned as the scorer says, by playouts alone, or by playouts and
network together."""
_LIKELY, _CERTAIN = 0.8, 0.9
"""Where the scorer is not quite sure, as in seki, or the turn is worth points, playouts and network
must be certain of every block."""
_DECLINED = 2
"""Passes in a row that are declined because of a doubt."""


@dataclass(frozen=True)
class Outlook:
    """What a game comes to: a count where it is finished, an estimate where it is not."""

    score: float
    ownership: FloatArray | None
    finished: bool
    by: str
    """Who says so, for people."""
    spread: float = 0.0
    """Standard deviation of an estimate's score, in points."""


class PlayoutScorer:
    """A scorer without a model: playouts say who ends up where."""

    def __init__(self, *, count: int = _PLAYOUTS, seed: int = 1) -> None:
        self.count, self.seed = count, seed

    def status(self, board: Board) -> Verdict:
        """Call a block dead when most playouts give its points to the other side."""
        result = playouts(board, self.count, seed=self.seed, kind="heavy", threads=1)
        blocks = []
        for block, held in held_blocks(board, result.ownership):
            status = Status.DEAD if held < -DEAD_ABOVE else Status.ALIVE
            sure = min(max(0.5 + abs(held) / 2, 0.0), 1.0)
            blocks.append(BlockStatus(block.stones, block.colour, status, sure))
        settled = float(np.mean(np.abs(result.ownership) > DEAD_ABOVE))
        return Verdict(tuple(blocks), settled > 0.9, settled, result.ownership)


class _UncompiledScorer:
    """The shipped scorer in plain Python, for the time before its kernels are compiled."""

    def status(self, board: Board) -> Verdict:
        """Judge every block."""
        return cast(Verdict, _ask_uncompiled("status", board))

    def score(self, board: Board) -> ScoreEstimate:
        """Count a position under its rules."""
        return cast(ScoreEstimate, _ask_uncompiled("score", board))


def _ask_uncompiled(method: str, board: Board) -> object:
    return compiling.interpreted(_ask, method, board, unless=compiling.SCORING_KERNELS)


def _ask(method: str, board: Board) -> object:
    return getattr(load_scorer("scorer", shared=True), method)(board)


class _Confirmation(NamedTuple):
    """How surely the least sure block ends as a verdict says, -1 to 1, by playouts and network.

    Blocks in seki are left out, since playouts cannot judge them. A count is steady if no likely
    move gains anything when the network plays on for both sides, and quiet if the network's lead
    hardly depends on who is to move.
    """

    playouts: float
    network: float
    steady: bool
    quiet: bool = True

    @property
    def is_likely(self) -> bool:
        return self.steady and max(self.playouts, self.network) >= _SURE


class Judge:
    """Judge positions by the model called `scorer`, by a network and by playouts."""

    def __init__(self, scorer: Scorer | None = None) -> None:
        self._scorer = scorer
        self._asked: tuple[Any, _Confirmation] | None = None
        """The position last asked about; a player asks several times about one."""

    # ----- Finished games -----

    @property
    def scorer(self) -> Scorer:
        """The scorer in use; loaded when first needed."""
        if self._scorer is None:
            if not has_model("scorer"):
                self._scorer = PlayoutScorer()
            elif compiling.is_compiled(compiling.SCORING_KERNELS):
                self._scorer = load_scorer("scorer")
            else:
                self._scorer = _UncompiledScorer()
        return self._scorer

    @property
    def is_learned(self) -> bool:
        """Whether the scorer is a learned one."""
        return not isinstance(self.scorer, PlayoutScorer)

    def status(self, board: Board) -> Verdict:
        """Judge every block of a position."""
        return self.scorer.status(board)

    def score(self, board: Board) -> ScoreEstimate:
        """Count a position under its rules, without what is dead."""
        scorer = self.scorer
        if isinstance(scorer, ScoreEstimator):
            return scorer.score(board)
        verdict = scorer.status(board)
        count = count_without(board, verdict.stones(Status.DEAD))
        return ScoreEstimate(
            count.score, count.black, count.white, ownership=verdict.ownership, safe=verdict.safe
        )

    def finished(self, board: Board, least: float = 1.0) -> Verdict | None:
        """Return the verdict if the count is right for sure, or with a probability of `least`."""
        if np.count_nonzero(board.grid()) < _FEWEST_STONES * board.rows * board.cols:
            return None
        verdict = self.status(board)
        return verdict if verdict.safe or verdict.safe_probability >= least else None

    def over(self, board: Board) -> Verdict | None:
        """Return the verdict on a game in which no move gains a point any more, else None.

        Under area scoring a neutral point that can be filled is worth a point; under territory
        scoring it is worth nothing. Network and playouts have to confirm the scorer's verdict;
        where they do not, a side that keeps passing is declined twice before a smaller doubt is
        overruled.
        """
        verdict = self.finished(board, _LIKELY)
        tired = _passes_in_a_row(board) > _DECLINED
        if verdict is None or (_in_atari(board, verdict) and not tired):
            return None
        if board.rules.scoring == "area" and neutral_points(board, verdict):
            return None
        sure = self._confirmed(board, verdict)
        if verdict.safe and sure.quiet:
            alike = sure.playouts >= _SURE and sure.network >= _SURE_NETWORK
            agreed = sure.playouts >= _SURE_ALONE or alike
        else:
            agreed = min(sure.playouts, sure.network) >= _CERTAIN
        return verdict if sure.is_likely and (agreed or tired) else None

    def dead_for_sure(self, board: Board) -> tuple[int, ...]:
        """List the dead stones of a finished game; none where there is a doubt."""
        verdict = self.finished(board)
        if verdict is None or not self._confirmed(board, verdict).is_likely:
            return ()
        return verdict.stones(Status.DEAD)

    def accepts_pass(self, board: Board) -> bool:
        """Return whether the side to move should answer a pass by a pass: the game is over.

        This is for games whose dead stones come off by agreement. Where all stones count, a
        player may have to capture some before it passes.
        """
        return board.last_move == PASS and self.over(board) is not None

    def _confirmed(self, board: Board, verdict: Verdict) -> _Confirmation:
        """Ask playouts and the network about a verdict, for the worse side to move."""
        key = board.rows, board.cols, board.hash, board.komi, board.rules
        if self._asked is None or self._asked[0] != key:
            self._asked = key, self._confirm(board, verdict)
        return self._asked[1]

    def _confirm(self, board: Board, verdict: Verdict) -> _Confirmation:
        sides = [board.copy(), board.copy()]
        sides[0].turn, sides[1].turn = BLACK, WHITE
        seed = board.hash >> 1
        found = [playouts(b, _END_PLAYOUTS, seed=seed, kind="heavy", threads=1) for b in sides]
        by_playouts = min(_agreement(board, verdict, one.ownership) for one in found)
        network = _network_for(_END_NETWORK, board)
        if network is None:
            return _Confirmation(by_playouts, -1.0, True)
        sides = _both_to_move(board)
        views = network.evaluate(sides)
        by_network = min(_agreement(board, verdict, view.ownership) for view in views)
        if max(by_playouts, by_network) < _SURE:
            return _Confirmation(by_playouts, by_network, False)
        count, gains = self._count(sides[0]), [0.0]
        for side, view in zip(sides, views, strict=True):
            for line in _played_on(network, side, view.proposals[:-1]):
                change = self._count(line) - count
                gains.append(change if side.turn == BLACK else -change)
        quiet = views[0].score - views[1].score <= _TURN * (1 + board.rows * board.cols / 361)
        return _Confirmation(by_playouts, by_network, max(gains) <= _CHANGE, quiet)

    def _count(self, board: Board) -> float:
        return count_without(board, self.status(board).stones(Status.DEAD)).score

    # ----- Games in progress -----

    def estimate(self, board: Board) -> Outlook:
        """Return what a game that may still be in progress comes to."""
        if self.is_learned and (verdict := self.finished(board)) is not None:
            return Outlook(self.score(board).score, verdict.ownership, True, "the learned scorer")
        return self.outlook(board)

    def outlook(self, board: Board) -> Outlook:
        """Estimate what a game in progress will come to, by the network or by playouts."""
        network = _network_for(_NETWORK, board)
        if network is not None:
            (view,) = network.evaluate([board])
            return Outlook(view.score, view.ownership, False, "the network", view.spread)
        result = playouts(board, _PLAYOUTS, seed=1, kind="heavy", threads=1)
        spread = float(result.scores.std())
        return Outlook(result.mean_score, result.ownership, False, "playouts", spread)

    def pass_chance(self, board: Board) -> float | None:
        """Return how likely the network finds a pass; None without a network."""
        network = _network_for(_NETWORK, board)
        return None if network is None else float(network.priors(board)[-1])


@functools.cache
def shared_judge() -> Judge:
    """Return the judge that all players of this process ask."""
    return Judge()


def _network_for(name: str, board: Board) -> Any:
    """Return a shipped network if it is there and supports the board, else None."""
    if not has_model(name):
        return None
    network: Any = load_learner(name, shared=True)
    return network if network.supports(board.rows, board.cols) else None


def _both_to_move(board: Board) -> list[Board]:
    """Return a position with either side to move, counted by area: moves inside cost nothing."""
    grid, komi = board.grid(), board.komi
    return [
        Board.from_grid(grid, to_play=turn, rules="chinese", komi=komi) for turn in (BLACK, WHITE)
    ]


def _played_on(network: Any, board: Board, proposals: FloatArray) -> list[Board]:
    """Return where play leads from the likely first moves, as the network plays for both sides."""
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
    """Yield the legal moves, the likeliest first; what stands after the points is a pass."""
    for index in np.argsort(-proposals, kind="stable").tolist():
        passes = index == board.rows * board.cols
        move = PASS if passes else board.answer(point_at(index, board.rows, board.cols))
        if passes or board.is_legal(move):
            yield move


def _agreement(board: Board, verdict: Verdict, ownership: FloatArray) -> float:
    """Return how surely the least sure block outside of seki ends as a verdict says."""
    status = {block.stones[0]: block.status for block in verdict.blocks}
    sure = [1.0]
    for block, held in held_blocks(board, with_certain(board, ownership)):
        said = status[block.stones[0]]
        if said is not Status.SEKI:
            sure.append(-held if said is Status.DEAD else held)
    return min(sure)


def _in_atari(board: Board, verdict: Verdict) -> bool:
    """Return whether a living block is in atari: it can be captured, or a ko is left."""
    living = {block.stones[0] for block in verdict.blocks if block.status is Status.ALIVE}
    return any(len(b.liberties) == 1 and b.stones[0] in living for b in board.blocks())


def _passes_in_a_row(board: Board) -> int:
    """Count the latest moves of the side that moved last, back to its last one that was no pass."""
    mine = [move for colour, move in board.moves if colour == board.moves[-1][0]]
    return next((n for n, move in enumerate(reversed(mine)) if move != PASS), len(mine))


# ----- Stones -----


def held_blocks(board: Board, ownership: FloatArray) -> Iterator[tuple[Block, float]]:
    """Yield every block with how surely its own side holds its points, -1 to 1."""
    for block in board.blocks():
        cells = [index_of(point, board.rows, board.cols) for point in block.stones]
        side = 1.0 if block.colour == BLACK else -1.0
        yield block, side * float(ownership[cells].mean())


def with_certain(board: Board, ownership: FloatArray) -> FloatArray:
    """Return an ownership in which unconditional life (Benson) is certain."""
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
    return compiling.interpreted(count_board, board, mask, unless="board.counting_kernels")


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
    """Return whether a stone there is legal, no own eye, and captures or keeps two liberties."""
    trial = board.copy()
    trial.turn = colour
    if not trial.is_legal(trial.answer(point)) or is_own_eye(trial.state, point, colour):
        return False
    return k.place(trial.state, point, colour) > 0 or trial.liberties(trial.answer(point)) >= 2


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
    return board.svg(marks=labels, dead=dead)
