"""Review of one game: a first pass over every position, then search where it matters.

The first pass evaluates each position once with the network, in batches. The moves that seem to
have lost points, or that the network would hardly have played, are then searched: the position
before the move and the one after it, each with the same number of visits. The points a move lost
are the difference of the two scores; both come from the first pass or both from a search, never
one from each. A loss has an error, and only losses clearly above it are called mistakes. One wrong
evaluation makes two moves look like mistakes, the one before it and the one after it: none is
called so before a search. A quick review searches only those moves, with few visits.

Winning probabilities, scores and ownership are from Black's view.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import (
    BLACK,
    COLOUR_NAMES,
    EMPTY,
    PASS,
    Board,
    Point,
    index_of,
    playouts,
)
from tengen.board.coordinates import point_at, point_from
from tengen.board.counting import Count, format_result
from tengen.contracts import Analyser, Policy, Status, limit_visits
from tengen.errors import ModelError, SpecError
from tengen.models import has_model, load_policy
from tengen.models.registry import JUDGE, network_for, policy_for
from tengen.players import make_player
from tengen.players.evaluators import make_network
from tengen.players.network_search import SearchNetwork, SearchPlayer
from tengen.records import GameRecord
from tengen.records.record import Refusal, board_at, positions
from tengen.reviews import DEFAULT_PLAYER, ReviewSettings
from tengen.reviews.causes import NO_CAUSE, SENTENCES, Cause, cause_of, phase_of
from tengen.reviews.display import review_html
from tengen.scoring.judging import Judge, count_without
from tengen.tables import data_frame

if TYPE_CHECKING:
    from pandas import DataFrame

Stage = Literal["first pass", "search", "lines"]

_BATCH = 16  # positions per call of the network in the first pass
_VISITS = {15 * 15: 50, 11 * 11: 70, 0: 100}  # per searched position, by points of the board
_CONFIRMING = 16  # visits per position by which a quick review confirms a mistake
_CONFIRMED = {11 * 11: 12, 0: 30}  # most moves that it searches, largest loss first
_LEAST_INTEREST = 1.0  # points at stake from which a move is worth a search
_UNLIKELY = 0.1  # share of the score's spread at stake in a move the network would not play
_LEAST_MISTAKE = 2.0  # points below which nothing is called a mistake
_CLEARLY, _DOUBTFUL = 3.0, 1.5  # errors that a loss must exceed to be called a mistake, or doubtful
# Error of a loss = this x the spread of the final score / visits ** 0.25. Fitted by
# `benchmarks/review_scatter.py` to 85 moves of 9x9 games, each searched eight times as long:
# 0.196 [0.136, 0.262].
NETWORK_SCATTER = 0.2
# The same for a search by playouts, whose spread is that of 32 playouts. Fitted to the differences
# between two seeds on a 9x9 game: 3.2, 2.2 and 1.5 points at 200, 1000 and 4000 playouts.
SCATTER = 0.56
_SPREAD_PLAYOUTS = 32
_SURPRISING = 0.02  # probability below which a move is a surprise
_GUESSES = 5  # predicted moves kept for each position
LINE = 6  # moves of a better line
_LINES = 10  # better lines that are completed, of the largest losses
_LEAST_LINE_VISITS = 3  # visits that a move of a searched line needs
_WIDTH = 96  # characters of a line of the review in words
_CANDIDATES = 5  # moves of a search that are kept with their points
_LEAST_SHARE = 0.05  # share of a search's visits that such a move needs: few visits prove little
LABELS = "ABCDE"
LABELLED = 0.03  # probability that a predicted move needs for a letter on the board
_DAME_REGION = 4  # points of the largest empty region in which a move may be neutral
_DAME_CHANGE = 0.3  # change of ownership of any other point that a neutral move may cause


def _point(index: int, board: Board) -> Point:
    """Return the point with this row-major index, one past the last for a pass."""
    return point_from(point_at(index, board.rows, board.cols), board.rows, board.cols)


def _names(points: Iterable[Point]) -> str:
    return " ".join(map(str, points))


@dataclass(frozen=True)
class EvaluatedPosition:
    """The evaluation of one position, from Black's view."""

    board: Board = field(repr=False)
    win_probability: float
    score: float
    spread: float  # standard deviation of the final score
    visits: int  # visits of the search; 1 after the first pass
    best: Point
    line: tuple[Point, ...] = ()  # a line of play that starts with the best move
    candidates: tuple[tuple[Point, float], ...] = ()  # moves of a search, points lost by each
    ownership: FloatArray | None = field(default=None, repr=False)
    priors: FloatArray | None = field(default=None, repr=False)  # probabilities of people's moves
    proposals: FloatArray | None = field(default=None, repr=False)  # probability that each is best
    scatter: float = NETWORK_SCATTER  # factor of the error; see `NETWORK_SCATTER` and `SCATTER`
    first: tuple[float, float] | None = None  # win rate and score of the first pass, if any

    @property
    def searched(self) -> bool:
        """Whether more than one position was evaluated."""
        return self.visits > 1

    def guesses(self, count: int = _GUESSES) -> list[tuple[Point, float]]:
        """Return the moves that people are most likely to play, with their probabilities."""
        if self.priors is None:
            return []
        order = np.argsort(-self.priors, kind="stable")[:count]
        return [(_point(int(i), self.board), float(self.priors[i])) for i in order]


@dataclass(frozen=True)
class MoveReview:
    """The review of one move; the values are those after it, from Black's view."""

    number: int
    colour: int
    move: Point
    points_lost: float
    error: float  # standard error of `points_lost`
    win_probability: float
    score: float
    best: Point
    line: tuple[Point, ...]
    visits: int = 1  # visits behind `points_lost`; 1 if it comes from the first pass
    probability: float | None = None  # probability that people play it
    rank: int | None = None  # 1 for the likeliest move
    phase: str = ""
    cause: Cause = NO_CAUSE  # why it is worse than the best move; empty where it lost nothing

    @property
    def verdict(self) -> str:
        """`mistake`, `doubtful` (the loss may be an error of the evaluation) or nothing."""
        if self.visits > 1 and self.exceeds(_CLEARLY):
            return "mistake"
        return "doubtful" if self.exceeds(_DOUBTFUL) else ""

    def exceeds(self, errors: float) -> bool:
        """Return whether it lost points, and more than so many times their error."""
        return self.points_lost >= max(_LEAST_MISTAKE, errors * self.error)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, points by their names; the names are those of JSON."""
        return {
            "number": self.number,
            "colour": COLOUR_NAMES[self.colour].lower(),
            "move": str(self.move),
            "points_lost": round(self.points_lost, 3),
            "error": round(self.error, 3),
            "verdict": self.verdict,
            "best": str(self.best),
            "line": [str(point) for point in self.line],
            "winrate": round(self.win_probability, 4),
            "score": round(self.score, 3),
            "visits": self.visits,
            "probability": self.probability,
            "rank": self.rank,
            "phase": self.phase,
            "cause": self.cause.name,
            "stones": self.cause.stones,
        }


COLUMNS = (
    *("number", "colour", "move", "points_lost", "error", "verdict", "best", "line"),
    *("winrate", "score", "visits", "probability", "rank", "phase", "cause", "stones"),
)
"""The keys of `MoveReview.to_dict`."""


@dataclass(frozen=True)
class Ending:
    """The count of a finished game."""

    count: Count
    dead: tuple[Point, ...]
    judge: str  # what decided which stones are dead


@dataclass(frozen=True)
class Review:
    """A reviewed game."""

    record: GameRecord
    positions: list[EvaluatedPosition]
    moves: list[MoveReview]
    ending: Ending | None
    judge: str  # what evaluated the positions, in words
    remark: str = ""  # why the review ends before the record does: an illegal move

    def mistakes(self, count: int = 5) -> list[MoveReview]:
        """Return the largest mistakes, largest first."""
        return self._largest("mistake", count)

    def doubts(self, count: int = 5) -> list[MoveReview]:
        """Return the largest doubtful losses, as many as the mistakes leave room for."""
        return self._largest("doubtful", max(count - len(self.mistakes(count)), 0))

    def _largest(self, verdict: str, count: int) -> list[MoveReview]:
        found = [move for move in self.moves if move.verdict == verdict]
        return sorted(found, key=lambda move: (-move.points_lost, move.number))[:count]

    def surprises(self, count: int = 5) -> list[MoveReview]:
        """Return the moves that people are least likely to play, least likely first."""
        found = [m for m in self.moves if m.probability is not None and m.probability < _SURPRISING]
        return sorted(found, key=lambda m: (m.probability or 0.0, m.number))[:count]

    def side(self, colour: int) -> dict[str, float | int | None]:
        """Sum up one side: moves, mean points lost, mistakes, shares of predicted moves."""
        mine = [m for m in self.moves if m.colour == colour]
        ranked = [m.rank for m in mine if m.rank is not None]
        return {
            "moves": len(mine),
            "mean_points_lost": math.fsum(m.points_lost for m in mine) / max(len(mine), 1),
            "mistakes": sum(m.verdict == "mistake" for m in mine),
            "top1": sum(r == 1 for r in ranked) / len(ranked) if ranked else None,
            "top5": sum(r <= 5 for r in ranked) / len(ranked) if ranked else None,
        }

    def sides(self) -> str:
        """Sum up both sides in one line."""
        sides = ((name, self.side(colour)) for name, colour in (("black", 1), ("white", 2)))
        return ", ".join(
            f"{name} {side['mean_points_lost']:.2f} points lost per move, "
            f"{side['mistakes']} mistakes"
            for name, side in sides
        )

    def describe(self, move: MoveReview) -> str:
        """Describe the review of a move in a few lines."""
        position = self.positions[move.number]
        lines = [f"{COLOUR_NAMES[move.colour]} {move.move}"]
        if move.probability is not None:
            lines[0] += f" (people play it: {100 * move.probability:.1f} %, choice {move.rank})"
        if move.points_lost > 0:
            verdict = move.verdict.capitalize() or "Lost"
            lines.append(f"{verdict}: {move.points_lost:.1f} points (± {move.error:.1f})")
            if move.verdict:
                if why := SENTENCES.get(move.cause.name):
                    lines.append(why.format(stones=move.cause.stones))
                lines.append(f"Better: {_names(move.line[:LINE])}")
        expected = format_result(round(position.score, 1))
        lines.append(f"Black's chance {100 * position.win_probability:.0f} %, expected {expected}")
        guesses = [
            f"{letter} {point} {100 * chance:.0f} %"
            for letter, (point, chance) in zip(LABELS, position.guesses(), strict=False)
            if chance >= LABELLED
        ]
        if guesses:
            lines.append(f"Next: {', '.join(guesses)}")
        return "\n".join(lines)

    def words(self, top: int = 5) -> str:
        """Return the review in a few lines: both sides, `top` moves of each kind, the count."""
        lines = [self.remark] if self.remark else []
        lines.append(self.sides())
        for title, moves in (
            ("mistake", self.mistakes(top)),
            ("doubtful", self.doubts(top)),
            ("surprise", self.surprises(top)),
        ):
            for move in moves:
                text = f"{title} at move {move.number}: {self.describe(move)}".replace("\n", "; ")
                lines += textwrap.wrap(text, _WIDTH, subsequent_indent="    ")
        if end := self.ending:
            dead = _names(end.dead) or "none"
            lines.append(f"counted by {end.judge}: {end.count.result}, dead: {dead}")
        return "\n".join([*lines, f"evaluated by {self.judge}"])

    def __repr__(self) -> str:
        return f"<Review: {len(self.moves)} moves, {self.sides()}>"

    def __str__(self) -> str:
        return self.words()

    def to_frame(self) -> DataFrame:
        """Return one row per move as a data frame, with the names that JSON has."""
        return data_frame(COLUMNS, (move.to_dict() for move in self.moves))

    def _repr_html_(self) -> str:
        """Show curve, largest loss and a table of losses in a notebook."""
        worst = [*self.mistakes(10), *self.doubts(10)]
        positions = [(position.board, position.score) for position in self.positions]
        return review_html(self.sides(), positions, self.moves, worst)

    def summary(self) -> dict[str, Any]:
        """Return both sides, the judge and the count at the end as plain values."""
        ending = self.ending and {
            **self.ending.count.to_dict(),
            "dead": [str(point) for point in self.ending.dead],
            "judge": self.ending.judge,
        }
        sides = {"black": self.side(1), "white": self.side(2)}
        return {"judge": self.judge, **sides, "ending": ending, "remark": self.remark}


@dataclass(frozen=True)
class Reviewer:
    """The network and the player that evaluate the positions of a game."""

    player: Analyser | None  # searches positions; None for the first pass only
    network: SearchNetwork | None = None  # makes the first pass; None to search every position
    policy: Policy | None = None  # predicts moves where there is no network
    searches: int = 30  # moves to search at most
    name: str = ""
    quick: bool = False  # searches only what would be a mistake by the first pass


def _of_board(table: Mapping[int, int], points: int) -> int:
    """Return a value of a table by the points of the board."""
    return next(value for least, value in table.items() if points >= least)


def find_reviewer(rows: int, cols: int, settings: ReviewSettings) -> Reviewer:
    """Load the network for a board and make the player that searches."""
    visits = settings.visits or _of_board(_VISITS, rows * cols)
    if settings.player == DEFAULT_PLAYER and network_for(rows, cols) and has_model(JUDGE):
        network = make_network(JUDGE, shared=True)
        if settings.quick:
            about = f"{JUDGE}, one evaluation per position, {_CONFIRMING} to confirm a mistake"
            confirming = SearchPlayer(network, visits=_CONFIRMING)
            most = _of_board(_CONFIRMED, rows * cols)
            return Reviewer(confirming, network, None, most, about, quick=True)
        about = f"{JUDGE}, {visits} visits for up to {settings.searches} moves"
        player: Any = SearchPlayer(network, visits=visits)
        return Reviewer(player, network, None, settings.searches, about)
    if settings.quick:
        raise SpecError(f"a quick review needs a network, and there is none for {rows}x{cols}")
    player = limit_visits(make_player(settings.player), visits)
    if not isinstance(player, Analyser):
        raise SpecError(f"{settings.player} cannot analyse positions; mcts can")
    try:
        policy = load_policy(policy_for(rows, cols), shared=True)
    except ModelError:
        policy = None
    return Reviewer(player, None, policy, name=f"{settings.player}, {visits} visits per position")


def review_game(
    record: GameRecord,
    reviewer: Reviewer,
    *,
    judge: Judge | None = None,
    seed: int = 0,
    on_step: Callable[[Stage, int, int], None] = lambda stage, done, total: None,
    on_first: Callable[[Review], None] = lambda review: None,
) -> Review:
    """Review a game's main line, up to its first illegal move if there is one.

    `on_step` gets the stage, the steps done and their total; `on_first` the review after the first
    pass, if a search follows.
    """
    found: dict[int, EvaluatedPosition] = {}
    for stage, number, position, steps in evaluate(record, reviewer, seed=seed):
        found[number] = position
        on_step(stage, *steps)
        if stage == "first pass" and steps[0] == steps[1] and reviewer.player is not None:
            on_first(assemble(record, list(found.values()), judge=judge, name=reviewer.name))
    return assemble(record, list(found.values()), judge=judge, name=reviewer.name)


Step = tuple[Stage, int, EvaluatedPosition, tuple[int, int]]
"""Stage, number of the position, its evaluation, steps done and their total."""


def evaluate(
    record: GameRecord,
    reviewer: Reviewer,
    *,
    seed: int = 0,
    known: Mapping[int, EvaluatedPosition] | None = None,
) -> Iterator[Step]:
    """Yield every position once, in order, and again whenever a later stage improves it.

    `known` are searched positions of an earlier review by the same reviewer, by number; they are
    not searched again.
    """
    known = known or {}
    boards, _ = legal_part(record)
    found: list[EvaluatedPosition] = []

    def search(number: int) -> EvaluatedPosition:
        if number in known:
            return known[number]
        if number and boards[number].is_over:
            last = found[number - 1]
            return replace(last, board=boards[number], best=PASS, line=(), candidates=())
        assert reviewer.player is not None
        return search_position(boards[number], reviewer.player, seed, number)

    if reviewer.network is None:
        for number, board in enumerate(boards):
            policy = None if board.is_over else reviewer.policy
            priors = None if policy is None else policy.priors(board)
            found.append(replace(search(number), priors=priors))
            yield "search", number, found[-1], (number + 1, len(boards))
        return
    for number, first in enumerate(first_pass(boards, reviewer.network)):
        found.append(first)
        shown = _joined(known[number], first) if number in known else first
        yield "first pass", number, shown, (number + 1, len(boards))
    chosen = sorted({n for move in _chosen(record, found, reviewer) for n in (move - 1, move)})
    for count, number in enumerate(chosen, 1):
        found[number] = _joined(search(number), found[number])
        yield "search", number, found[number], (count, len(chosen))
    yield from _complete_lines(record, found, reviewer.network)


def _joined(searched: EvaluatedPosition, first: EvaluatedPosition) -> EvaluatedPosition:
    """Return a searched position with what only the first pass found."""
    return replace(searched, priors=first.priors, proposals=first.proposals, first=first.first)


def first_pass(boards: Sequence[Board], network: SearchNetwork) -> Iterator[EvaluatedPosition]:
    """Evaluate each board once; after the end of a game, the values before it are kept."""
    starts = range(0, len(boards), _BATCH)
    views = (view for start in starts for view in network.evaluate(boards[start : start + _BATCH]))
    values: tuple[float, float] | None = None
    for board, view in zip(boards, views, strict=True):
        best = _point(int(view.proposals.argmax()), board)
        if board.is_over and values is not None:
            best = PASS
        else:
            values = view.win_probability, view.score
        yield EvaluatedPosition(
            board, *values, view.spread, 1, best, (best,), ownership=view.ownership,
            priors=view.priors, proposals=view.proposals, first=values,
        )  # fmt: skip


def review_last_move(board: Board, reviewer: Reviewer) -> MoveReview:
    """Review the last move of a game in progress by the first pass."""
    assert reviewer.network is not None
    before = board.copy()
    before.undo()
    return review_move(
        len(board.moves), board.moves[-1], *first_pass([before, board], reviewer.network)
    )


def _chosen(
    record: GameRecord, found: Sequence[EvaluatedPosition], reviewer: Reviewer
) -> list[int]:
    """Return the numbers of the moves worth a search: most points at stake first."""
    if reviewer.player is None:
        return []
    stakes: list[tuple[float, int]] = []
    for move in _reviewed(record, found):
        before, after = found[move.number - 1], found[move.number]
        edited = _is_edited(record.moves[move.number - 1], after)
        if move.move == PASS or edited or _is_neutral(move.move, before, after):
            continue
        if reviewer.quick:
            if move.exceeds(_CLEARLY):
                stakes.append((-move.points_lost, move.number))
            continue
        assert before.proposals is not None
        chance = before.proposals[index_of(move.move, before.board.rows, before.board.cols)]
        unlikely = 1 - float(chance) / float(before.proposals.max())
        stake = move.points_lost + _UNLIKELY * before.spread * unlikely
        if stake >= _LEAST_INTEREST:
            stakes.append((-stake, move.number))
    return [number for _, number in sorted(stakes)[: reviewer.searches]]


def search_position(
    board: Board, player: Analyser, seed: int = 0, number: int = 0
) -> EvaluatedPosition:
    """Search one position."""
    rng = np.random.default_rng([seed & (2**64 - 1), number])
    *_, info = player.analyse(board.copy(), rng, interval=1e9, limited=True)
    best = info.candidates[0] if info.candidates else None
    line = best.pv if best else ()
    least = max(_LEAST_LINE_VISITS, _LEAST_SHARE * info.visits)
    sign = 1.0 if board.turn == BLACK else -1.0
    candidates = [
        (board.to_point(c.move), max(0.0, sign * (best.score - c.score)))
        for c in info.candidates[:_CANDIDATES]
        if best and (c is best or c.visits >= least)
    ]
    if best and best.pv_visits:
        trusted = sum(visits >= _LEAST_LINE_VISITS for visits in best.pv_visits)
        line = line[: max(trusted, 1)]
    spread, scatter = info.raw_spread, NETWORK_SCATTER
    if not math.isfinite(spread):  # a search by playouts
        result = playouts(board, _SPREAD_PLAYOUTS, seed=seed + number, kind="heavy", threads=1)
        spread, scatter = float(result.scores.std()), SCATTER
    return EvaluatedPosition(
        board, info.winrate, info.score, spread, max(info.visits, 2),
        board.to_point(best.move) if best else PASS, tuple(map(board.to_point, line[:LINE])),
        tuple(candidates), info.ownership, scatter=scatter,
    )  # fmt: skip


def _complete_lines(
    record: GameRecord, found: list[EvaluatedPosition], network: SearchNetwork
) -> Iterator[Step]:
    """Continue the better lines of mistakes and doubtful moves with the network's choices."""
    lost = [move for move in _reviewed(record, found) if move.verdict]
    lost = sorted(lost, key=lambda move: -move.points_lost)[:_LINES]
    lines = {move.number - 1: list(move.line) for move in lost}
    boards = {number: found[number].board.copy() for number in lines}
    for number, line in lines.items():
        for point in line:
            boards[number].push(int(point))
    growing = set(lines)
    while growing := {n for n in growing if len(lines[n]) < LINE and not boards[n].is_over}:
        order = sorted(growing)
        for number, view in zip(order, network.evaluate([boards[n] for n in order]), strict=True):
            board = boards[number]
            point = _point(int(view.proposals.argmax()), board)
            if point == PASS:
                growing.discard(number)
                continue
            board.push(int(point))
            lines[number].append(point)
    for count, (number, line) in enumerate(lines.items(), 1):
        found[number] = replace(found[number], line=tuple(line))
        yield "lines", number, found[number], (count, len(lines))


def assemble(
    record: GameRecord,
    positions: list[EvaluatedPosition],
    *,
    judge: Judge | None = None,
    name: str = "",
) -> Review:
    """Make the review of a game whose positions are all evaluated."""
    end, ending = positions[-1].board, None
    _, remark = legal_part(record)
    if not remark and (end.is_over or record.result.kind in ("score", "draw")):
        judge = judge or Judge()
        dead = judge.status(end).stones(Status.DEAD)
        plain = "playouts (no scorer model is installed)"
        by = "the learned scorer" if judge.is_learned else plain
        stones = tuple(end.to_point(stone) for stone in dead)
        ending = Ending(count_without(end, dead), stones, by)
    return Review(record, positions, _reviewed(record, positions), ending, name, remark)


def _reviewed(record: GameRecord, found: Sequence[EvaluatedPosition]) -> list[MoveReview]:
    return [
        review_move(number, played, found[number - 1], found[number])
        for number, played in enumerate(record.moves[: len(found) - 1], 1)
    ]


def legal_part(record: GameRecord) -> tuple[list[Board], str]:
    """Return the boards before each move and after the last, up to the first illegal move.

    Also returns what is wrong with that move, or nothing. The rules are the record's own; an
    illegal setup raises `Refusal`.
    """
    boards: list[Board] = []
    try:
        for board, _ in positions(record):
            boards.append(board)
        boards.append(board_at(record))
    except Refusal as wrong:
        if not boards:
            raise
        return boards, f"reviewed up to move {len(boards) - 1}: {wrong.reason}"
    return boards, ""


def review_move(
    number: int, played: tuple[int, int], before: EvaluatedPosition, after: EvaluatedPosition
) -> MoveReview:
    """Compare the positions before and after a move.

    Neutral points, passes after which the other side would pass too, and moves after which the
    record itself changes stones lose nothing; no move loses more points than the board has.
    """
    colour, move = played
    searched = before.searched and after.searched
    visits = min(before.visits, after.visits) if searched else 1
    start = before.score if searched or before.first is None else before.first[1]
    end = after.score if searched or after.first is None else after.first[1]
    lost = max(0.0, (start - end) * (1.0 if colour == BLACK else -1.0))
    lost = min(lost, float(before.board.rows * before.board.cols))
    if (
        move == before.best
        or (move == PASS and after.best == PASS)
        or after.board.is_over
        or _is_edited(played, after)
        or _is_neutral(move, before, after)
    ):
        lost = 0.0
    probability = rank = None
    if before.priors is not None and move != PASS:
        chance = before.priors[index_of(move, before.board.rows, before.board.cols)]
        probability = float(chance)
        rank = 1 + int((before.priors > chance).sum())
    error = before.scatter * before.spread / visits**0.25
    point, board = before.board.to_point(move), before.board
    cause = cause_of(colour, point, before, after) if lost > 0 else NO_CAUSE
    return MoveReview(
        number, colour, point, lost, error, after.win_probability, after.score, before.best,
        before.line, visits, probability, rank, phase_of(number, board.rows, board.cols), cause,
    )  # fmt: skip


def _is_edited(played: tuple[int, int], after: EvaluatedPosition) -> bool:
    """Return whether the record put down or removed stones after a move."""
    return after.board.moves[-1:] != [played]


def _is_neutral(move: int, before: EvaluatedPosition, after: EvaluatedPosition) -> bool:
    """Return whether a move fills a neutral point (dame).

    It lies in a small empty region that touches both colours, and ownership of all other points
    stays as it was: no group is put at risk by filling a liberty.
    """
    if move == PASS or before.ownership is None or after.ownership is None:
        return False
    grid = before.board.grid()
    region, size = np.zeros(grid.shape, np.bool_), 0
    region.flat[index_of(move, *grid.shape)] = True
    while size < region.sum() <= _DAME_REGION:
        size = region.sum()
        framed = np.pad(region, 1)
        beside = framed[:-2, 1:-1] | framed[2:, 1:-1] | framed[1:-1, :-2] | framed[1:-1, 2:]
        region |= beside & (grid == EMPTY)
    beside &= ~region
    change = np.abs(np.asarray(after.ownership) - before.ownership).reshape(grid.shape)
    return bool(
        region.sum() <= _DAME_REGION
        and len(np.unique(grid[beside])) == 2
        and change[~region].max() < _DAME_CHANGE
    )
