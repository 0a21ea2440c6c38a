"""Check that an implementation keeps its contract, on a few boards; raise `ContractBroken`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.contracts.protocols import (
    Analyser,
    Evaluator,
    Expert,
    Learner,
    OwnershipEvaluator,
    Player,
    Policy,
    Scorer,
    Status,
)
from tengen.errors import IllegalMoveError

if TYPE_CHECKING:
    from tengen.board import Board, Point

_PASS, _RESIGN = 0, -1


class ContractBroken(AssertionError):
    """An implementation breaks its protocol."""


def sample_boards(seed: int = 0, sizes: Sequence[tuple[int, int]] = ()) -> list[Board]:
    """Make a few boards: empty, in play, and nearly full.

    `sizes` are (rows, columns); by default 9x9, 5x5 and 7x6.
    """
    from tengen.board import Board, play_random

    rng = np.random.default_rng(seed)
    boards = []
    for rows, cols in sizes or ((9, 9), (5, 5), (7, 6)):
        for share in (0.0, 0.4, 1.2):
            board = Board(rows, cols, komi=6.5)
            boards.append(play_random(board, int(share * rows * cols), rng))
    return boards


def check_player(
    player: Player,
    *,
    boards: Sequence[Board] | None = None,
    seed: int = 0,
    repeatable: bool = True,
    plies: int = 30,
) -> None:
    """Check that a player chooses legal moves, does not change boards and is repeatable.

    `repeatable=False` is for players limited by a clock and engines without a seed. It also plays
    `plies` plies against itself.
    """
    _need(isinstance(player, Player), f"{player!r} lacks `name` or `choose`")
    _need(isinstance(player.name, str) and bool(player.name), f"name {player.name!r} is no name")
    boards = sample_boards(seed) if boards is None else boards
    first = [_try_choose(player, board, seed) for board in boards]
    if repeatable:
        again = [_try_choose(player, board, seed) for board in reversed(boards)][::-1]
        _need(first == again, f"same seed, other moves: {first} then {again}")
    if boards:
        _try_game(player, boards[0].copy(), seed, plies)
        if isinstance(player, Analyser):
            _check_analyse(player, boards[0], seed)


def check_policy(policy: Policy, *, boards: Sequence[Board] | None = None, seed: int = 0) -> None:
    """Check that priors are probabilities of legal moves and pass, the same each time."""
    _need(isinstance(policy, Policy), f"{policy!r} lacks `priors`")
    for board in sample_boards(seed) if boards is None else boards:
        before = _picture(board)
        priors = policy.priors(board)
        where = _where(board)
        _need(isinstance(priors, np.ndarray), f"priors are a {type(priors).__name__} {where}")
        size = board.rows * board.cols + 1
        _need(priors.shape == (size,), f"priors have shape {priors.shape}, not ({size},) {where}")
        _need(priors.dtype.kind == "f", f"priors are {priors.dtype}, not floats {where}")
        _need(bool(np.all(np.isfinite(priors))), f"a prior is not finite {where}")
        _need(bool(np.all(priors >= 0)), f"a prior is negative {where}")
        _need(abs(float(priors.sum()) - 1) < 1e-5, f"priors sum to {priors.sum()} {where}")
        bad = np.flatnonzero((priors > 0) & ~board.legal_mask())
        _need(len(bad) == 0, f"illegal moves {bad[:5]} have a prior {where}")
        _need(np.array_equal(priors, policy.priors(board)), f"priors change when repeated {where}")
        _need(_picture(board) == before, f"priors changed the board {where}")


def check_evaluator(
    evaluator: Evaluator,
    *,
    boards: Sequence[Board] | None = None,
    seed: int = 0,
    tolerance: float = 1e-6,
) -> None:
    """Check that values are finite, independent of their batch, and fall when komi rises."""
    _need(isinstance(evaluator, Evaluator), f"{evaluator!r} lacks `values`")
    boards = sample_boards(seed) if boards is None else boards
    before = [_picture(board) for board in boards]
    values = np.asarray(evaluator.values(boards))
    _need(values.shape == (len(boards),), f"{len(boards)} boards gave values {values.shape}")
    _need(values.dtype.kind == "f", f"values are {values.dtype}, not floats")
    _need(bool(np.all(np.isfinite(values))), f"a value is not finite: {values}")
    for board, value in zip(boards, values, strict=True):
        single = float(evaluator.values([board])[0])
        _need(abs(single - value) <= tolerance, f"{single} alone, {value} in a batch")
        dearer = board.copy()
        dearer.komi = board.komi + 10
        _need(
            float(evaluator.values([dearer])[0]) < value,
            f"komi 10 points higher does not lower the value {value} {_where(board)}",
        )
        if isinstance(evaluator, OwnershipEvaluator):
            _check_ownership(evaluator.ownership(board), board)
    _need([_picture(board) for board in boards] == before, "values changed a board")


def check_scorer(scorer: Scorer, *, boards: Sequence[Board] | None = None, seed: int = 0) -> None:
    """Check that every stone has exactly one status of a sensible probability."""
    _need(isinstance(scorer, Scorer), f"{scorer!r} lacks `status`")
    for board in sample_boards(seed) if boards is None else boards:
        before, where = _picture(board), _where(board)
        verdict = scorer.status(board)
        grid = board.grid()
        seen: set[int] = set()
        for block in verdict.blocks:
            _need(isinstance(block.status, Status), f"{block.status!r} is no Status {where}")
            _need(0 <= block.probability <= 1, f"probability {block.probability} {where}")
            for stone in block.stones:
                _need(stone not in seen, f"point {stone} has two statuses {where}")
                seen.add(stone)
                point = board.answer(stone)
                _need(board[point] == block.colour, f"no such stone on {point} {where}")
        _need(len(seen) == int(np.count_nonzero(grid)), f"a stone has no status {where}")
        _need(verdict.safe in (True, False), f"safe is {verdict.safe!r} {where}")
        if verdict.ownership is not None:
            _check_ownership(verdict.ownership, board)
        _need(_picture(board) == before, f"status changed the board {where}")


def check_expert(
    expert: Expert,
    *,
    boards: Sequence[Board] | None = None,
    seed: int = 0,
    repeatable: bool = True,
) -> None:
    """Check that an expert's scores are possible, repeatable, and that boards do not change."""
    _need(isinstance(expert, Expert), f"{expert!r} lacks `finish`")
    boards = sample_boards(seed) if boards is None else boards
    seeds = [seed + i for i in range(len(boards))]
    before = [_picture(board) for board in boards]
    scores = np.asarray(expert.finish(boards, seeds))
    _need(scores.shape == (len(boards),), f"{len(boards)} boards gave scores {scores.shape}")
    for board, score in zip(boards, scores, strict=True):
        limit = board.rows * board.cols * 2 + abs(board.komi)
        _need(math.isfinite(score) and abs(score) <= limit, f"score {score} {_where(board)}")
    if repeatable:
        again = np.asarray(expert.finish(boards[::-1], seeds[::-1]))[::-1]
        _need(np.array_equal(scores, again), f"same seeds, other scores: {scores} then {again}")
    _need([_picture(board) for board in boards] == before, "finish changed a board")


def check_learner(
    kind: type[Any],
    fit: Callable[[Any], Any],
    folder: Path,
    *,
    same: Callable[[Any, Any], bool],
) -> Any:
    """Check an estimator's `__init__`, `fit`, `save` and `load`; return it fitted.

    `fit(learner)` calls the learner's `fit` with small data; `same(a, b)` compares two learners.
    """
    for name, parameter in list(inspect.signature(kind.__init__).parameters.items())[1:]:
        _need(parameter.kind is parameter.KEYWORD_ONLY, f"{kind.__name__}: {name} not keyword-only")
        _need(parameter.default is not parameter.empty, f"{kind.__name__}: {name} has no default")
    learner = kind()
    _need(isinstance(learner, Learner), f"{kind.__name__} lacks `fit`, `save` or `load`")
    for name, parameter in list(inspect.signature(kind.__init__).parameters.items())[1:]:
        _need(hasattr(learner, name), f"{kind.__name__} does not store {name}")
        stored = getattr(learner, name)
        _need(
            stored is parameter.default or stored == parameter.default, f"{name} stored otherwise"
        )
    learned = [n for n in vars(learner) if n.endswith("_") and not n.startswith("_")]
    _need(not learned, f"{kind.__name__} has learned {learned} before fit")
    _need(fit(learner) is learner, f"{kind.__name__}.fit does not return self")
    path = folder / "checked.safetensors"
    learner.save(path)
    _need(same(learner, kind.load(path)), f"{kind.__name__} differs after save and load")
    _need(same(learner, fit(kind())), f"{kind.__name__} differs when fitted again")
    return learner


def _try_choose(player: Player, board: Board, seed: int) -> Point:
    before = _picture(board)
    move = player.choose(board, np.random.default_rng(seed))
    where = _where(board)
    _need(_picture(board) == before, f"{player.name} changed the board {where}")
    try:
        point = board.answer(move)
    except IllegalMoveError:
        raise ContractBroken(f"{player.name} chose {move!r}, no move {where}") from None
    legal = point == _RESIGN or board.is_legal(point)
    _need(legal, f"{player.name} chose {point}, which is illegal {where}")
    return point


def _try_game(player: Player, board: Board, seed: int, plies: int) -> None:
    passes = 0
    for ply in range(plies):
        move = _try_choose(player, board, seed + ply)
        passes = passes + 1 if move == _PASS else 0
        if move == _RESIGN or passes == 2:
            break
        board.play(move)


def _check_analyse(player: Analyser, board: Board, seed: int) -> None:
    before = _picture(board)
    reports = list(player.analyse(board, np.random.default_rng(seed), interval=0.05, limited=True))
    _need(bool(reports), f"{player.name} analysed without a report")
    last = reports[-1]
    moves = [c.move for c in last.candidates]
    _need(len(set(moves)) == len(moves), f"{player.name} names a candidate twice")
    for c in last.candidates:
        _need(0 <= c.winrate <= 1, f"{player.name}: winrate {c.winrate}")
        _need(not c.pv or c.pv[0] == c.move, f"{player.name}: pv does not start with its move")
    if last.ownership is not None:
        _check_ownership(last.ownership, board)
    _need(_picture(board) == before, f"{player.name} changed the board while analysing")


def _check_ownership(ownership: Any, board: Board) -> None:
    ownership = np.asarray(ownership)
    size = board.rows * board.cols
    _need(ownership.shape == (size,), f"ownership has shape {ownership.shape}, not ({size},)")
    _need(bool(np.all(np.abs(ownership) <= 1 + 1e-9)), "ownership outside -1 to +1")


def _picture(board: Board) -> tuple[object, ...]:
    return (board.grid().tobytes(), board.turn, board.komi, board.hash, len(board.moves))


def _where(board: Board) -> str:
    return f"on {board.rows}x{board.cols} after {len(board.moves)} plies"


def _need(kept: bool, reason: str) -> None:
    if not kept:
        raise ContractBroken(reason)
