"""The checks accept what keeps its promise and refuse, with the reason, what does not."""

from __future__ import annotations

from collections.abc import Callable
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
from tengen.game.judging import PlayoutScorer
from tengen.models import Card, load_model, save_model
from tengen.players.evaluators import make_network


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


@pytest.mark.parametrize(
    ("reason", "choose"),
    [
        ("no move", lambda self, board, rng: "Z99"),
        ("no move", lambda self, board, rng: 1),
        ("no move", lambda self, board, rng: 10_000),
        ("illegal", lambda self, board, rng: board.last_move or (0, 0)),
        ("changed the board", play_and_pass),
        ("other moves", shift_pass),
    ],
)
def test_bad_players_are_refused(reason: str, choose: Any, boards: list[Board]) -> None:
    with pytest.raises(ContractBroken, match=reason):
        check_player(spoilt(choose=choose), boards=[b.copy() for b in boards])


@pytest.mark.parametrize(
    ("reason", "priors"),
    [
        ("shape", lambda self, board: np.ones(3)),
        ("sum to", lambda self, board: board.legal_mask() * 0.5),
        ("negative", lambda self, board: Uniform().priors(board) * np.array([-1.0])),
        (
            "illegal moves",
            lambda self, board: np.full(len(board.legal_mask()), 1.0) / len(board.legal_mask()),
        ),
        ("not finite", lambda self, board: Uniform().priors(board) * np.nan),
        ("not floats", lambda self, board: board.legal_mask().astype(int)),
    ],
)
def test_bad_policies_are_refused(reason: str, priors: Any, boards: list[Board]) -> None:
    with pytest.raises(ContractBroken, match=reason):
        check_policy(spoilt(priors=priors), boards=boards)


@pytest.mark.parametrize(
    ("reason", "values"),
    [
        ("gave values", lambda self, boards: np.zeros(1)),
        ("komi", lambda self, boards: np.zeros(len(boards))),
        ("not finite", lambda self, boards: np.full(len(boards), np.inf)),
        (
            "in a batch",
            lambda self, boards: np.arange(len(boards)) - np.array([b.komi for b in boards]),
        ),
    ],
)
def test_bad_evaluators_are_refused(reason: str, values: Any, boards: list[Board]) -> None:
    with pytest.raises(ContractBroken, match=reason):
        check_evaluator(spoilt(values=values), boards=boards)


def test_bad_ownership_and_experts_are_refused(boards: list[Board]) -> None:
    with pytest.raises(ContractBroken, match="outside"):
        check_evaluator(
            spoilt(ownership=lambda self, b: np.full(b.rows * b.cols, 2.0)), boards=boards
        )
    with pytest.raises(ContractBroken, match="score"):
        check_expert(spoilt(finish=lambda self, b, s: np.full(len(b), 1e6)), boards=boards)
    with pytest.raises(ContractBroken, match="other scores"):
        check_expert(
            spoilt(finish=lambda self, b, s: np.full(len(b), float(count_up(self)))), boards=boards
        )


def statuses(change: Callable[[tuple[BlockStatus, ...]], tuple[BlockStatus, ...]]) -> Any:
    """Make a scorer that spoils the blocks of a good one."""

    class Bad:
        def status(self, board: Board) -> Verdict:
            return Verdict(change(PlayoutScorer(count=10).status(board).blocks), True)

    return Bad()


def test_bad_scorers_are_refused(boards: list[Board]) -> None:
    with pytest.raises(ContractBroken, match="no status"):
        check_scorer(statuses(lambda blocks: blocks[1:]), boards=boards)
    with pytest.raises(ContractBroken, match="two statuses"):
        check_scorer(statuses(lambda blocks: blocks + blocks), boards=boards)
    with pytest.raises(ContractBroken, match="probability"):
        check_scorer(
            statuses(lambda bs: tuple(BlockStatus(b.stones, b.colour, b.status, 2.0) for b in bs)),
            boards=boards,
        )
    with pytest.raises(ContractBroken, match="no such stone"):
        check_scorer(
            statuses(
                lambda bs: tuple(BlockStatus(b.stones, 3 - b.colour, b.status, 1.0) for b in bs)
            ),
            boards=boards,
        )


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
        learner.mean_ = load_model(path, kind="mean", expect={"mean": (1,)})[0]["mean"]
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
