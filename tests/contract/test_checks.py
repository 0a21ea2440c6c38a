"""The checks accept what keeps its promise and refuse, with the reason, what does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import PASS, Board, playouts, point_at
from tengen.contracts import (
    BlockStatus,
    ContractBroken,
    Status,
    Verdict,
    check_evaluator,
    check_expert,
    check_learner,
    check_player,
    check_policy,
    check_scorer,
    sample_boards,
    win_probability,
)
from tengen.errors import ModelError, SpecError
from tengen.models import Card, load_model, save_model
from tengen.players.evaluators import make_network
from tengen.scoring.judging import PlayoutScorer


class Uniform:
    """A good player, policy, evaluator and expert in one."""

    name = "uniform"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        legal = np.flatnonzero(board.legal_mask())
        return point_at(int(rng.choice(legal)), board.rows, board.cols)

    def priors(self, board: Board) -> np.ndarray:
        mask = board.legal_mask().astype(float)
        return mask / mask.sum()

    def values(self, boards: list[Board]) -> np.ndarray:
        return np.array([board.area_score() for board in boards])

    def ownership(self, board: Board) -> np.ndarray:
        return np.zeros(board.rows * board.cols)

    def finish(self, boards: list[Board], seeds: list[int]) -> np.ndarray:
        pairs = zip(boards, seeds, strict=True)
        return np.array([playouts(b, 1, seed=s, threads=1).mean_score for b, s in pairs])


def spoilt(**methods: Callable[..., Any]) -> Uniform:
    """Make a `Uniform` of which some methods misbehave."""
    return type("Spoilt", (Uniform,), methods)()


@pytest.fixture(scope="module")
def boards() -> list[Board]:
    return sample_boards(seed=1, sizes=((5, 5), (4, 6)))


def test_good_ones_pass(boards: list[Board]) -> None:
    good = Uniform()
    check_player(good, boards=boards)
    check_policy(good, boards=boards)
    check_evaluator(good, boards=boards)
    check_expert(good, boards=boards)
    check_scorer(PlayoutScorer(count=20), boards=boards)


def count_up(self: Any) -> int:
    self.calls = getattr(self, "calls", -1) + 1
    return int(self.calls)


def play_and_pass(self: Any, board: Board, rng: object) -> int:
    board.play(PASS)
    return PASS


def shift_pass(self: Any, board: Board, rng: object) -> int:
    legal = np.flatnonzero(board.legal_mask())
    return point_at(int(legal[count_up(self) % len(legal)]), board.rows, board.cols)


def equal_shares(self: Any, board: Board) -> np.ndarray:
    return np.full(board.rows * board.cols + 1, 1 / (board.rows * board.cols + 1))


def values_by_place(self: Any, boards: list[Board]) -> np.ndarray:
    return np.arange(len(boards)) - np.array([board.komi for board in boards])


def scores_by_call(self: Any, boards: list[Board], seeds: object) -> np.ndarray:
    return np.full(len(boards), float(count_up(self)))


@pytest.mark.parametrize(
    ("check", "reason", "method", "wrong"),
    [
        (check_player, "no move", "choose", lambda self, board, rng: "Z99"),
        (check_player, "no move", "choose", lambda self, board, rng: 1),
        (check_player, "no move", "choose", lambda self, board, rng: 10_000),
        (check_player, "illegal", "choose", lambda self, board, rng: board.last_move or (0, 0)),
        (check_player, "changed the board", "choose", play_and_pass),
        (check_player, "other moves", "choose", shift_pass),
        (check_policy, "shape", "priors", lambda self, board: np.ones(3)),
        (check_policy, "sum to", "priors", lambda self, board: board.legal_mask() * 0.5),
        (check_policy, "negative", "priors", lambda self, board: -Uniform().priors(board)),
        (check_policy, "illegal moves", "priors", equal_shares),
        (check_policy, "not finite", "priors", lambda self, b: Uniform().priors(b) * np.nan),
        (check_policy, "not floats", "priors", lambda self, b: b.legal_mask().astype(int)),
        (check_evaluator, "gave values", "values", lambda self, boards: np.zeros(1)),
        (check_evaluator, "komi", "values", lambda self, boards: np.zeros(len(boards))),
        (
            check_evaluator,
            "not finite",
            "values",
            lambda self, boards: np.full(len(boards), np.inf),
        ),
        (check_evaluator, "in a batch", "values", values_by_place),
        (check_evaluator, "outside", "ownership", lambda self, b: np.full(b.rows * b.cols, 2.0)),
        (check_expert, "score", "finish", lambda self, boards, seeds: np.full(len(boards), 1e6)),
        (check_expert, "other scores", "finish", scores_by_call),
    ],
)
def test_bad_ones_are_refused(
    check: Any, reason: str, method: str, wrong: Any, boards: list[Board]
) -> None:
    with pytest.raises(ContractBroken, match=reason):
        check(spoilt(**{method: wrong}), boards=[board.copy() for board in boards])


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("no status", lambda blocks: blocks[1:]),
        ("two statuses", lambda blocks: blocks + blocks),
        ("probability", lambda blocks: tuple(replace(b, probability=2.0) for b in blocks)),
        ("no such stone", lambda blocks: tuple(replace(b, colour=3 - b.colour) for b in blocks)),
    ],
)
def test_bad_scorers_are_refused(reason: str, change: Any, boards: list[Board]) -> None:
    class Bad:
        def status(self, board: Board) -> Verdict:
            return Verdict(change(PlayoutScorer(count=10).status(board).blocks), True)

    with pytest.raises(ContractBroken, match=reason):
        check_scorer(Bad(), boards=boards)


class Mean:
    """The smallest learner: remembers a mean."""

    def __init__(self, *, weight: float = 1.0) -> None:
        self.weight = weight

    def fit(self, numbers: np.ndarray) -> Mean:
        self.mean_ = np.array([numbers.mean() * self.weight])
        return self

    def save(self, path: Path) -> None:
        save_model(path, {"mean": self.mean_}, Card(name="mean", kind="mean", what=""))

    @classmethod
    def load(cls, path: Path) -> Mean:
        learner = cls()
        learner.mean_ = load_model(path, kind="mean")[0]["mean"]
        return learner


def same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a.mean_, b.mean_))


def test_learners_keep_their_manners(tmp_path: Path) -> None:
    data = np.arange(5.0)
    check_learner(Mean, lambda m: m.fit(data), tmp_path, same=same)

    class Forgetful(Mean):
        @classmethod
        def load(cls, path: Path) -> Mean:
            learner = cls()
            learner.mean_ = np.zeros(1)
            return learner

    class Positional(Mean):
        def __init__(self, weight: float = 1.0) -> None:
            self.weight = weight

    class Eager(Mean):
        def __init__(self, *, weight: float = 1.0) -> None:
            self.weight, self.mean_ = weight, np.zeros(1)

    class Silent(Mean):
        def fit(self, numbers: np.ndarray) -> Any:
            super().fit(numbers)

    for kind, reason in (
        (Forgetful, "after save and load"),
        (Positional, "not keyword-only"),
        (Eager, "before fit"),
        (Silent, "return self"),
    ):
        with pytest.raises(ContractBroken, match=reason):
            check_learner(kind, lambda m: m.fit(data), tmp_path, same=same)
    with pytest.raises(ModelError):
        Mean.load(tmp_path / "nothing.safetensors")


def test_win_probabilities_are_symmetric_and_never_overflow() -> None:
    for value in (0.0, 0.5, 30.0, 1e6):
        assert win_probability(value, 3.0) + win_probability(-value, 3.0) == pytest.approx(1.0)
    assert win_probability(3.0, 3.0) == pytest.approx(0.7310585786)


def test_verdicts_list_stones_by_status() -> None:
    blocks = (BlockStatus((30, 31), 1, Status.DEAD, 0.9), BlockStatus((12,), 2, Status.DEAD, 1.0))
    verdict = Verdict(blocks, True)
    assert verdict.stones("dead") == (12, 30, 31)
    assert verdict.stones(Status.SEKI) == ()


def test_only_a_network_is_a_network() -> None:
    assert make_network("tengen-small").supports(9, 9)
    with pytest.raises(SpecError, match="is not a network with moves, winner and score"):
        make_network("scorer")
    with pytest.raises(SpecError):
        make_network("no-such-network")
