"""Review a game: what each position was worth, what each move lost, what nobody expected.

Positions are judged by a searching player, moves predicted by a policy where there is one, the
end counted with the scorer. `review_sgf` writes the review into the record, `review_page` makes a
page of it. Every number follows from the game, the models and the seed.

The points a move loses are the value of the best move less the value of the position after the
move played, both as mean scores of playouts; a best move with few visits is trusted only in part.
Playouts scatter, so that each loss comes with an error, and only losses that exceed it clearly are
called mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, format_gtp, index_of, playouts, point_at
from tengen.board.colours import COLOUR_NAMES
from tengen.board.counting import Count
from tengen.contracts import Analyser, Analysis, JudgingPlayer, Player, Policy, Status
from tengen.errors import SpecError
from tengen.gtp.judging import Judge, PlayoutScorer, count_without
from tengen.records import GameRecord
from tengen.records.replay import board_at, positions
from tengen.review.settings import ReviewSettings

_SPREAD_PLAYOUTS = 32
"""Playouts from each position by which the scatter of their scores is measured."""
_TRUST = 0.5
"""Visits, as a share of all, at which a best move's own score counts half."""
_LEAST_MISTAKE = 2.0
"""Points below which nothing is called a mistake."""
_CLEARLY = 3.0
"""Errors that a loss must exceed to be called a mistake; with 2 chance alone makes some a game."""
_DOUBTFUL = 1.5
"""Errors that a loss must exceed to be called doubtful."""
SCATTER = 0.56
"""Error of a loss = this x the playouts' standard deviation / visits ** 0.25.

A search's values steady more slowly than a mean of playouts, since the tree differs too. Fitted to
the differences between two seeds on a 9x9 game: 3.2, 2.2 and 1.5 points at 200, 1000 and 4000.
"""
NETWORK_SCATTER = 0.2
"""The same for a search with a network, of the spread that the network gives the final score.

Such a search follows from the position alone; what scatters is what looking longer would change.
Fitted by `benchmarks/review_scatter.py` to 85 moves of made 9x9 games, each looked at eight times
as long: 0.196 [0.136, 0.262].
"""
_SURPRISING = 0.02
"""Probability below which a move is a surprise."""
_GUESSES = 5
"""Predicted moves kept for each position."""


@dataclass(frozen=True)
class Position:
    """What is thought of one position; win rate and score are Black's."""

    board: Board = field(repr=False)
    winrate: float
    score: float
    after_score: float
    """Mean score of all playouts: the worth of the move that led here."""
    best: int
    """The searching player's choice."""
    line: tuple[int, ...]
    spread: float
    """Standard deviation of the final score: of playouts, or as a network says."""
    visits: int
    ownership: FloatArray | None = field(default=None, repr=False)
    priors: FloatArray | None = field(default=None, repr=False)
    scatter: float = SCATTER
    """What makes an error of the spread; see `SCATTER` and `NETWORK_SCATTER`."""

    def guesses(self, count: int = _GUESSES) -> list[tuple[int, float]]:
        """Return the predicted moves, likeliest first, with their probabilities."""
        if self.priors is None:
            return []
        order = np.argsort(-self.priors, kind="stable")[:count]
        rows, cols = self.board.rows, self.board.cols
        return [(point_at(int(i), rows, cols), float(self.priors[i])) for i in order]


@dataclass(frozen=True)
class MoveReview:
    """What one move did. `lost` are points, `error` how far that may be off by chance."""

    number: int
    colour: int
    move: int
    lost: float
    error: float
    winrate_lost: float
    best: int
    line: tuple[int, ...]
    probability: float | None = None
    rank: int | None = None
    """1 for the likeliest move."""

    @property
    def is_mistake(self) -> bool:
        """Whether the loss is large, and clearly more than chance."""
        return self.lost >= max(_LEAST_MISTAKE, _CLEARLY * self.error)

    @property
    def is_doubtful(self) -> bool:
        """Whether the loss is large, but may be chance."""
        large = self.lost >= max(_LEAST_MISTAKE, _DOUBTFUL * self.error)
        return large and not self.is_mistake

    def to_dict(self, rows: int, cols: int) -> dict[str, Any]:
        """Return it as plain values, points by their names on a board of this size."""
        return {
            "number": self.number,
            "colour": COLOUR_NAMES[self.colour].lower(),
            "move": format_gtp(self.move, rows, cols),
            "lost": round(self.lost, 3),
            "error": round(self.error, 3),
            "winrate_lost": round(self.winrate_lost, 4),
            "verdict": "mistake" if self.is_mistake else "doubtful" if self.is_doubtful else "",
            "best": format_gtp(self.best, rows, cols),
            "line": [format_gtp(point, rows, cols) for point in self.line],
            "probability": self.probability,
            "rank": self.rank,
        }


@dataclass(frozen=True)
class Ending:
    """How a finished game was counted, and by whom."""

    count: Count
    dead: tuple[int, ...]
    judge: str


@dataclass(frozen=True)
class Review:
    """A game with what was found out about it."""

    record: GameRecord
    positions: list[Position]
    moves: list[MoveReview]
    ending: Ending | None
    player: str
    policy: str
    seed: int

    def mistakes(self, count: int = 5) -> list[MoveReview]:
        """Return the largest mistakes, largest first."""
        found = [m for m in self.moves if m.is_mistake]
        return sorted(found, key=lambda m: (-m.lost, m.number))[:count]

    def doubts(self, count: int = 5) -> list[MoveReview]:
        """Return the largest losses that may be chance, as many as mistakes leave room for."""
        found = [m for m in self.moves if m.is_doubtful]
        room = max(count - len(self.mistakes(count)), 0)
        return sorted(found, key=lambda m: (-m.lost, m.number))[:room]

    def surprises(self, count: int = 5) -> list[MoveReview]:
        """Return the least expected moves, least expected first."""
        found = [m for m in self.moves if m.probability is not None and m.probability < _SURPRISING]
        return sorted(found, key=lambda m: (m.probability or 0.0, m.number))[:count]

    def striking(self, count: int = 5) -> tuple[list[MoveReview], ...]:
        """Return the largest mistakes, the doubtful moves and the surprises."""
        return self.mistakes(count), self.doubts(count), self.surprises(count)

    def side(self, colour: int) -> dict[str, float | int | None]:
        """Sum up one side: moves, mean points lost, mistakes, shares predicted."""
        mine = [m for m in self.moves if m.colour == colour]
        ranked = [m.rank for m in mine if m.rank is not None]
        return {
            "moves": len(mine),
            "mean_lost": math.fsum(m.lost for m in mine) / len(mine) if mine else 0.0,
            "mistakes": sum(m.is_mistake for m in mine),
            "top1": sum(r == 1 for r in ranked) / len(ranked) if ranked else None,
            "top5": sum(r <= 5 for r in ranked) / len(ranked) if ranked else None,
        }


def review_game(
    record: GameRecord,
    player: Analyser,
    *,
    policy: Policy | None = None,
    policy_name: str = "",
    judge: Judge | None = None,
    seed: int = 0,
    on_position: Callable[[], None] = lambda: None,
) -> Review:
    """Judge every position of a game's main line.

    Raises
    ------
    SpecError
        If the player cannot analyse.
    IllegalMoveError
        If the record has an illegal move; the message names it.
    """
    positions = []
    for position in judge_positions(record, player, policy=policy, seed=seed):
        positions.append(position)
        on_position()
    return assemble(
        record, positions, judge=judge, player=player.name, policy=policy_name, seed=seed
    )


def judge_positions(
    record: GameRecord,
    player: Analyser,
    *,
    policy: Policy | None = None,
    seed: int = 0,
    done: Sequence[Position] = (),
) -> Iterator[Position]:
    """Yield what is thought of each position, the one before the first move first.

    `done` are the first positions from an earlier time; they are not judged again.
    """
    if not isinstance(player, Analyser):
        raise SpecError(f"{getattr(player, 'name', player)} cannot say what it thinks; take mcts")
    asked = player.judge if isinstance(player, JudgingPlayer) else player
    last = done[-1] if done else None
    for number, board in enumerate(boards_of(record)):
        if number < len(done):
            continue
        if board.is_over and last is not None:
            last = _carried(board, last)
        else:
            last = _judge(board, asked, policy, seed, number)
        yield last


def assemble(
    record: GameRecord,
    positions: list[Position],
    *,
    judge: Judge | None = None,
    player: str = "",
    policy: str = "",
    seed: int = 0,
) -> Review:
    """Make a review of a game whose positions are all judged."""
    moves = [
        review_move(number, record.moves[number - 1], positions[number - 1], positions[number])
        for number in range(1, len(positions))
    ]
    end = positions[-1].board
    ending = _count(end, judge or Judge()) if _is_finished(record, end) else None
    return Review(record, positions, moves, ending, player, policy, seed)


def _is_finished(record: GameRecord, board: Board) -> bool:
    """Tell whether a game was played to its end: two passes, or a counted result."""
    return board.is_over or record.result.kind in ("score", "draw")


def boards_of(record: GameRecord) -> Iterator[Board]:
    """Yield the board before each move and after the last."""
    end = board_at(record)  # tells the place of an illegal move
    for board, _ in positions(record):
        yield board
    yield end


def _judge(
    board: Board, player: Analyser, policy: Policy | None, seed: int, number: int
) -> Position:
    """Search one position and ask the policy."""
    rng = np.random.default_rng([seed & (2**64 - 1), number])
    *_, report = player.analyse(board.copy(), rng, interval=1e9, limited=True)
    by_network = math.isfinite(report.raw_spread)
    spread = report.raw_spread if by_network else _spread(board, seed + number)
    winrate, score = _best_values(report)
    mine = board.turn == BLACK
    best = report.candidates[0] if report.candidates else None
    return Position(
        board=board,
        winrate=winrate if mine else 1 - winrate,
        score=score if mine else -score,
        after_score=report.score if mine else -report.score,
        best=best.move if best else PASS,
        line=best.pv if best else (),
        spread=spread,
        visits=report.visits,
        ownership=report.ownership,
        priors=None if policy is None else policy.priors(board),
        scatter=NETWORK_SCATTER if by_network else SCATTER,
    )


def _spread(board: Board, seed: int) -> float:
    """Return the scatter of playouts' scores from a position."""
    scores = playouts(board, _SPREAD_PLAYOUTS, seed=seed, kind="heavy", threads=1).scores
    return float(scores.std())


def _best_values(report: Analysis) -> tuple[float, float]:
    """Return win rate and score of the best move, drawn to the mean of all where visits lack."""
    if not report.candidates:
        return report.winrate, report.score
    best = report.candidates[0]
    weight = best.visits / (best.visits + _TRUST * max(report.visits, 1))
    return (
        report.winrate + weight * (best.winrate - report.winrate),
        report.score + weight * (best.score - report.score),
    )


def _carried(board: Board, last: Position) -> Position:
    """Judge a position after the game's end as the one before it."""
    return Position(
        board, last.winrate, last.score, last.score, PASS, (), 0.0, last.visits, last.ownership
    )


def review_move(
    number: int, played: tuple[int, int], before: Position, after: Position
) -> MoveReview:
    """Compare the positions before and after a move.

    A move after which the record puts down stones itself has lost nothing that is known.
    """
    colour, move = played
    edited = after.board.moves[-1:] != [played]
    side = 1.0 if colour == BLACK else -1.0
    lost = winrate_lost = 0.0
    if move != before.best and not after.board.is_over and not edited:
        lost = max(0.0, side * (before.score - after.after_score))
        winrate_lost = max(0.0, side * (before.winrate - after.winrate))
    error = before.scatter * before.spread / max(before.visits, 1) ** 0.25
    probability = rank = None
    if before.priors is not None and move != PASS:
        chance = before.priors[index_of(move, before.board.rows, before.board.cols)]
        probability = float(chance)
        rank = 1 + int((before.priors > chance).sum())
    return MoveReview(
        number, colour, move, lost, error, winrate_lost, before.best, before.line, probability, rank
    )


def _count(board: Board, judge: Judge) -> Ending:
    """Count a finished game with the judge's dead stones."""
    dead = judge.status(board).stones(Status.DEAD)
    plain = isinstance(judge.scorer, PlayoutScorer)
    name = "playouts (no scorer model is installed)" if plain else "the learned scorer"
    return Ending(count_without(board, dead), dead, name)


def with_policy(player: Player, policy: Policy | None) -> Player:
    """Return the player with the policy to order its search, if it takes one and has none.

    Without, a few hundred playouts on 19x19 call moves mistakes that every expert plays.
    """
    known: Any = player
    if policy is None or getattr(known, "policy", policy) is not None:
        return player
    if "policy" not in getattr(known, "__dataclass_fields__", {}):
        return player
    guided: Player = replace(known, policy=policy)
    return guided


@dataclass(frozen=True)
class Thinker:
    """Who reviews games on boards of one size."""

    player: Any
    policy: Policy | None
    policy_name: str
    missing: str
    """Why no moves are predicted; empty when they are, or when nobody asked for it."""

    def review(
        self, record: GameRecord, seed: int, on_position: Callable[[], None] = lambda: None
    ) -> Review:
        """Judge every position of a game's main line; see `review_game`."""
        return review_game(
            *(record, self.player),
            policy=self.policy,
            policy_name=self.policy_name,
            seed=seed,
            on_position=on_position,
        )


def find_thinker(rows: int, cols: int, settings: ReviewSettings) -> Thinker:
    """Make the player that judges, guided by the policy, and load the policy that predicts."""
    from tengen.gtp.analysis_server import limit_playouts
    from tengen.players import make_player

    policy, name, missing = find_policy(rows, cols, settings.policy)
    plain = limit_playouts(make_player(settings.player), settings.playouts)
    player: Any = with_policy(plain, policy)
    guide = "" if player is plain else f" and {name}"
    player.name = f"{settings.player} with {settings.playouts} playouts{guide}"
    return Thinker(player, policy, name, missing)


def find_policy(rows: int, cols: int, name: str | None) -> tuple[Policy | None, str, str]:
    """Load the policy for a board: the model, its name, and a remark when there is none.

    `name` None takes the shipped one for the size, "none" nobody; a model that was asked for by
    name must exist.
    """
    from tengen.errors import ModelError
    from tengen.models import load_policy
    from tengen.models.defaults import policy_for

    if name == "none":
        return None, "", ""
    wanted = name or policy_for(rows, cols)
    try:
        return load_policy(wanted, shared=True), wanted, ""
    except ModelError as failure:
        if name is not None:
            raise
        return None, "", f"no moves are predicted: {failure}"
