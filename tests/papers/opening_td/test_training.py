"""Learning is exact: gradients, one whole game against a slow learner, resuming bit for bit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.board import BLACK, WHITE, Board
from tengen.board.coordinates import point_at
from tengen.errors import ModelError, SpecError, TengenError
from tengen.models import Run
from tengen.papers.opening_td import OpeningTD, TDSettings, learner, play_match
from tengen.papers.opening_td.kernels import MOVE, rate_moves
from tengen.papers.opening_td.learner import dense_inputs
from tengen.papers.opening_td.settings import DEFAULTS, SELF
from tengen.players.evaluators import PlayoutExpert
from tengen.players.simple import static_move_values

sys.path.insert(0, str(Path(__file__).parent))
import slow_opening_td as slow


class CountingExpert:
    """Says something that depends on the position and the seed, quickly."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> NDArray[np.float64]:
        return np.array(
            [b.area_score() + s % 7 - 3 for b, s in zip(boards, seeds, strict=True)], float
        )


EXPERT = CountingExpert()


def player(**settings: Any) -> OpeningTD:
    return OpeningTD(settings=TDSettings(**settings))


SMALL: dict[str, Any] = {"rows": 5, "plies": 10, "hidden": 6, "games": 6, "alpha": 0.3}


class Corner:
    """An opponent that takes the first legal point."""

    name = "corner"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return next(p for p in board.legal_moves)


def test_the_slow_learner_follows_the_numerical_gradient() -> None:
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=shape) for shape in ((12, 5), (5,), (5, 1), (1,))]
    x, rate = rng.normal(size=12), 1e-3
    before, after = (slow.SlowLearner(tuple(weights), rate, 0.0) for _ in range(2))
    after.learn(x, 1, before.output(x) + 1)  # an error of 1
    for name in ("w1", "b1", "w2", "b2"):
        place = getattr(before, name)
        for at in np.ndindex(place.shape):
            kept, values = place[at], []
            for step in (1e-6, -1e-6):
                place[at] = kept + step
                values.append(before.output(x))
            place[at] = kept
            learned = (getattr(after, name)[at] - kept) / rate
            assert learned == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("features", "encoding", "trace"),
    [("ABCDE", "binary", 0.0), ("ABCDE", "scalar", 0.7), ("ACE", "mixed", 0.5)],
)
def test_a_training_game_equals_the_slow_learner(
    features: str, encoding: str, trace: float
) -> None:
    learner = player(
        features=features, encoding=encoding, trace=trace, alpha=0.5, games=2,
        rows=9, hidden=8, explore=0.5, plies=14, seed=4, random_plies=2,
    ).draw()  # fmt: skip
    learner.one_game(EXPERT)
    copy = slow.SlowLearner(tuple(w.copy() for w in learner.net_), 0.5, trace)
    assert learner.settings.rate(1) == 0.5
    played, score = learner.one_game(EXPERT)
    assert len(played.moves) == 14 and learner.games_ == 2
    before: tuple[Any, ...] | None = None
    board = Board(9, komi=5.5)
    for side, move in played.moves:
        board.play(move)
        x = slow.inputs(board.grid(), side, lead(board), features, dict(learner.settings.binary))
        if before is not None:
            copy.learn(*before, copy.black_view(x, side))
        before = (x, side)
    assert before is not None
    copy.learn(*before, 0.5 + score / 180)
    for name in ("w1", "b1", "w2", "b2"):
        difference = np.abs(getattr(learner.net_, name) - getattr(copy, name)).max()
        assert difference < 1e-9, name


def lead(board: Board) -> float:
    return board.prisoners[0] - board.prisoners[1] - 5.5


@pytest.mark.parametrize("opponent", [None, Corner()])
def test_stopping_and_resuming_changes_nothing(
    opponent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**SMALL, "games": 20, "explore": 0.4, "random_opponent": 0.3, "random_plies": 2}
    whole = player(**options).fit(EXPERT, opponent)

    def stop(games: int) -> None:
        if games == 10:
            raise KeyboardInterrupt

    monkeypatch.setattr(learner, "CHECKPOINT_EVERY", 4)
    with (
        pytest.raises(KeyboardInterrupt),
        Run.open(tmp_path, OpeningTD.kind, whole.settings) as run,
    ):
        player(**options).fit(EXPERT, opponent, run=run, on_game=stop)
    with Run.open(tmp_path, OpeningTD.kind, whole.settings, resume=True) as run:
        assert run.start is not None and run.start.step == 8
        resumed = player(**options).fit(EXPERT, opponent, run=run)
    assert all(map(np.array_equal, whole.net_, resumed.net_))
    other = TDSettings(**{**options, "alpha": 0.2})
    with pytest.raises(TengenError, match=r"alpha 0\.3 there, 0\.2 asked"):
        Run.open(tmp_path, OpeningTD.kind, other, resume=True)


def test_other_boards_are_refused() -> None:
    with pytest.raises(TengenError, match="has learned 9x9, not 5x5"):
        OpeningTD().draw().values([Board(5)])
    with pytest.raises(TengenError, match="learned nothing yet"):
        OpeningTD().best_move(Board(9))


def test_colours_are_treated_alike() -> None:
    learner = player(rows=5, hidden=5, komi=0.0, seed=3).draw()
    picture = ". X . . .\n. . O . .\n. X . O .\n. . . . .\n. . . . ."
    board = Board.from_ascii(picture, to_play=WHITE, komi=0.0)
    swapped = picture.replace("X", "#").replace("O", "X").replace("#", "O")
    twin = Board.from_ascii(swapped, to_play=BLACK, komi=0.0)
    assert learner.values([board])[0] == pytest.approx(-learner.values([twin])[0], abs=1e-12)


def test_matches_are_paired_and_repeatable() -> None:
    a, b = (player(**SMALL, seed=s).draw() for s in (1, 2))
    options: dict[str, Any] = {"games": 8, "seed": 5}
    first = play_match(a, b, EXPERT, **options)
    again = play_match(a, b, EXPERT, games=4, seed=5)
    assert first.openings[:4] == again.openings and first.scores[:4] == again.scores
    for game in range(0, 8, 2):
        assert first.openings[game][:2] == first.openings[game + 1][:2]
    assert 0 <= first.rate.win_rate <= 1 and first.rate.games == 8
    mirrored = play_match(b, a, EXPERT, **options)
    assert mirrored.openings[0] == first.openings[1]


def test_a_match_of_players_needs_terms() -> None:
    terms = TDSettings(**SMALL)
    match = play_match(Corner(), "random", EXPERT, games=2, seed=5, terms=terms)
    assert [len(opening) for opening in match.openings] == [10, 10]
    with pytest.raises(TengenError, match="needs terms"):
        play_match("random", "random", EXPERT, games=2, seed=1)


@pytest.mark.parametrize(
    ("encoding", "edges"),
    [
        ("scalar", "everywhere"), ("binary", "everywhere"), ("mixed", "everywhere"),
        ("scalar", "stones"), ("binary", "stones"),
    ],
)  # fmt: skip
def test_candidates_are_rated_as_the_positions_after_them(encoding: str, edges: str) -> None:
    """What a move changes, added up, is the position after it; on crowded boards with captures."""
    learner = player(rows=6, hidden=7, seed=8, encoding=encoding, edges=edges).draw()
    tables, layout, scratch, _ = learner.kernel_arrays
    copy = slow.SlowLearner(learner.net_, 0.0, 0.0)
    rng = np.random.default_rng(0)
    board, captured = Board(6, komi=5.5), 0
    for _ in range(60):
        count = rate_moves(
            board.state, learner.net_, 5.5, tables, layout, np.zeros(1, np.int64), 0, scratch
        )
        rated = dict(zip(scratch.moves[:count, MOVE], scratch.values[:count], strict=True))
        for move in [p for p in board.legal_moves if p]:
            after = board.copy()
            after.push(move)
            captured += sum(after.prisoners) - sum(board.prisoners)
            x = dense_inputs(after, learner.settings, friend=board.turn, komi=5.5)
            assert rated[move] == pytest.approx(copy.output(x), abs=1e-12)
        board.play(board.to_point(rng.choice([p for p in board.legal_moves if p] or [0])))
    assert captured > 20


def test_moves_are_confined_to_a_corner() -> None:
    learner = player(**{**SMALL, "rows": 7, "corner": 4}, explore=0.5).draw()
    played, _ = learner.one_game(EXPERT)
    match = play_match(learner, "random", EXPERT, games=4, seed=1)
    whole = player(**{**SMALL, "rows": 7}).draw()
    match.openings += play_match(
        learner, whole, EXPERT, games=4, seed=1, terms=learner.settings
    ).openings
    boards = [Board(7, komi=5.5) for _ in match.openings]
    for board, moves in zip(boards, match.openings, strict=True):
        for move in moves:
            board.push(move)
    for board in [played, *boards]:
        cells = np.argwhere(board.grid())
        assert len(cells) and cells.max() < 4
    with pytest.raises(TengenError, match="corner"):
        play_match(learner, Corner(), EXPERT, games=2, seed=1)


def test_static_rules_choose_the_candidates() -> None:
    one, all_ = (player(rows=7, hidden=4, seed=2, knowledge=k).draw() for k in (1, 49))
    board = Board(7, komi=5.5)
    for _ in range(6):
        values = static_move_values(board)
        assert one.best_move(board) == point_at(int(values.argmax()), 7, 7)
        playable = {point_at(int(c), 7, 7) for c in np.flatnonzero(np.isfinite(values))}
        assert all_.best_move(board) in playable
        assert one.priors(board).max() == 1.0
        board.play(one.best_move(board))


def test_settings_without_sense_are_refused(tmp_path: Path) -> None:
    for wrong, message in (
        ({"rows": 5, "random_plies": 6}, "6 random plies in an opening of 6"),
        ({"temperature": 0.0}, "temperature is 0"),
        ({"alpha": 0.0, "alpha_end": 0.1}, "alpha is 0"),
        *(({"features": bad}, f"'{bad}' are not A followed") for bad in ("BC", "ACB", "AX")),
    ):
        with pytest.raises(SpecError, match=message):
            TDSettings(**wrong)  # type: ignore[arg-type]
    bad = player(**SMALL).draw()
    bad.save(tmp_path / "a.safetensors")
    bad.settings = replace(bad.settings, hidden=7)
    bad.save(tmp_path / "b.safetensors")
    assert OpeningTD.load(tmp_path / "a.safetensors").games_ == 0
    with pytest.raises(ModelError, match="shape"):
        OpeningTD.load(tmp_path / "b.safetensors")


def test_it_learns_to_beat_random() -> None:
    """A few hundred openings on a small board bring it many points forward."""
    judge = PlayoutExpert(16)
    learner = player(rows=7, plies=12, games=250, alpha=0.5, hidden=20, seed=1)
    options: dict[str, Any] = {"games": 100, "seed": 3}
    before = play_match(learner.draw(), "random", judge, **options)
    after = play_match(learner.fit(judge), "random", judge, **options)
    assert after.rate.mean_score > before.rate.mean_score + 6
    assert after.rate.win_rate > before.rate.win_rate + 0.1


def test_the_defaults_are_the_papers_player() -> None:
    assert OpeningTD().settings is DEFAULTS and DEFAULTS.opponent == SELF
    assert (DEFAULTS.name, DEFAULTS.shape, DEFAULTS.opening_plies) == ("ABCDE binary", (9, 9), 20)
    assert TDSettings(rows=13).opening_plies == 42 and TDSettings(rows=3, cols=2).shape == (3, 2)
    assert DEFAULTS.largest == 90 and TDSettings(rows=5, komi=0.0).largest == 30


def test_rate_and_exploration_change_over_the_games() -> None:
    settings = TDSettings(games=101, alpha=0.5, alpha_end=0.05, explore=0.3, explore_end=0.1)
    assert [settings.rate(g) for g in (0, 50, 100)] == pytest.approx([0.5, 0.025**0.5, 0.05])
    assert [settings.exploration(g) for g in (0, 50, 100)] == pytest.approx([0.3, 0.2, 0.1])
    assert TDSettings(games=101).rate(100) == 0.5
