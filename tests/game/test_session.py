"""A game between a person and a player, without a terminal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, PASS, WHITE, Board, parse_gtp
from tengen.errors import IllegalMoveError, RecordError
from tengen.game.clock import Clock, Side
from tengen.game.session import LocalGame, new_place, read_saved, save
from tengen.players import make_player
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.records import read_game


class Passing:
    """A player that passes."""

    name = "passing"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return PASS


def game_against_passes(human: int = BLACK) -> LocalGame:
    return LocalGame(Board(5, komi=0.5), human, seed=1, player=Passing(), judge=SEARCHING_JUDGE)


def test_a_game_is_counted_after_two_passes(tmp_path: Path) -> None:
    game = game_against_passes()
    with pytest.raises(IllegalMoveError, match="after both sides have passed"):
        game.toggle("C3")
    game.act(parse_gtp("C3", 5, 5))
    assert game.waits_for_machine and game.answer() == PASS and not game.waits_for_machine
    game.act(PASS)
    assert game.has_ended and game.open and game.result == "B+24.5"
    with pytest.raises(IllegalMoveError, match="the game is over"):
        game.act(PASS)
    game.toggle("C3")
    assert game.result == "W+0.5" and game.summary()["dead"] == ["C3"]
    game.toggle("C3")
    assert game.result == "B+24.5" and game.dead == set()
    (tmp_path / "game.sgf").write_bytes(game.sgf("passing"))
    record = read_game(tmp_path / "game.sgf")
    assert str(record.result) == "B+24.5" and len(record.tree.nodes[-1]["TB"]) == 24


def test_somebody_who_watches_sees_the_end() -> None:
    game = game_against_passes(human=0)
    while game.waits_for_machine:
        game.answer()
    assert game.has_ended and game.result and game.summary()["colour"] is None


def test_advice_and_estimate() -> None:
    game = game_against_passes()
    assert game.advice() == PASS
    outlook, owners = game.estimate()
    assert abs(outlook.score) <= 40 and not outlook.finished and outlook.by
    assert owners is None or owners.shape == (25,)


def test_a_machine_plays_on_after_a_pass_in_an_open_game_and_accepts_one_that_ends_it() -> None:
    settled = Board.from_ascii(". X X O .\nX X X O O\nX X X O .\n. X X O O\nX X X O .", komi=9.5)
    for board, over in ((Board(5, moves="B C3"), False), (settled, True)):
        game = LocalGame(
            board, board.turn, player=make_player("tengen:level=1"), judge=SEARCHING_JUDGE
        )
        assert game.loses_by_passing is not over
        game.act(PASS)
        assert (game.answer() == PASS) is over
        assert game.is_counting is over


def game(board: Board, clock: Clock | None = None) -> LocalGame:
    return LocalGame(
        board, 1, 3, clock or Clock(), player=make_player("random"), judge=SEARCHING_JUDGE
    )


def test_two_games_of_one_second_get_two_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.strftime", lambda form: "2026-01-02-030405")
    found = []
    for _ in range(3):
        found.append(new_place(tmp_path, Board(9, 13)))
        found[-1].touch()
    stem = "2026-01-02-030405-9x13"
    assert [place.name for place in found] == [f"{stem}.sgf", f"{stem}-2.sgf", f"{stem}-3.sgf"]


def test_an_illegal_move_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    save(game(Board(9, moves="B E5")), path)
    path.write_text(path.read_text().replace(";B[ee]", ";B[ee];W[ee]"))
    with pytest.raises(IllegalMoveError, match="E5 at move 2: the point is taken"):
        read_saved(path)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('{"1":60.0,"2":60.0}', "[60\\]"),
        ('{"1":60.0,"2":60.0}', '{"1":60.0}'),
        ('{"1":60.0,"2":60.0}', '{"1":60.0,"2":60.0,"3":60.0}'),
        ('"main":60.0', '"main":NaN'),
        ('"increment":5.0', '"increment":1e400'),
        ('"1":60.0', '"1":-1'),
        ('"human":1', '"human":7'),
        ('"human":1', '"human":true'),
        ('"seed":3', '"seed":1e400'),
        ('"seed":3', '"seed":null'),
        ('"player":"random"', '"player":["random"\\]'),
        ('{"player"', '{{"player"'),
        ('{"player"', "[" * 100_000 + '{"player"'),
    ],
)
def test_a_damaged_memo_is_reported(good: str, bad: str, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    save(game(Board(9), Clock.fischer(60.0, 5.0)), path)
    assert read_saved(path)[0].clock == Clock.fischer(60.0, 5.0)
    text = path.read_text()
    assert good in text
    path.write_text(text.replace(good, bad))
    with pytest.raises(RecordError, match=r"game\.sgf: its property XT is damaged"):
        read_saved(path)


def test_without_limits_there_is_no_budget() -> None:
    assert Clock().budget(1, 81, 0) is None
    # GTP: a period with no stones means no limit.
    assert Clock.settings(0, 1, 0).budget(1, 81, 0) is None


@pytest.mark.parametrize(
    ("main", "period", "stones"),
    [(300, 0, 0), (10, 0, 0), (60, 30, 5), (0, 30, 5), (60, 5, 1), (0, 5, 1), (1, 0, 0)],
)
@pytest.mark.parametrize("points", [81, 361])
def test_a_player_that_uses_its_budget_never_loses_on_time(
    main: float, period: float, stones: int, points: int
) -> None:
    clock = Clock.settings(main, period, stones)
    side = clock.sides[1]
    for ply in range(0, 2 * points, 2):
        budget = clock.budget(1, points, ply)
        assert budget is not None and budget > 0
        side = clock.sides[1]
        available = side.left + (period if side.stones == 0 and stones else 0.0)
        # Only the shortest time of all may exceed what is left: absolute time runs out some day.
        assert budget <= max(available, 0.0101)
        clock.spend(1, budget)
    if not stones:
        assert side.left >= 0


def test_no_clock_makes_a_move_last_for_ever() -> None:
    clock = Clock.settings(1e20, 0, 0)
    assert clock.budget(1, 361, 0) == 600
    clock.set_left(1, 1e20, 1)
    assert clock.budget(1, 361, 0) == 600


def test_a_program_knows_better_than_our_count() -> None:
    clock = Clock.settings(600, 0, 0)
    before = clock.budget(2, 361, 0)
    clock.set_left(2, 10.0, 0)
    after = clock.budget(2, 361, 0)
    assert before is not None and after is not None and after < before / 10
    clock.set_left(2, 25.0, 5)
    assert clock.budget(2, 361, 0) == pytest.approx(4.6)
    clock.restart()
    assert clock.budget(2, 361, 0) == before


def test_japanese_periods_run_out_one_by_one() -> None:
    clock = Clock.japanese(10.0, 5.0, 3)
    clock.since = 0.0
    assert clock.until_lost(BLACK, BLACK, 0.0) == 25.0
    clock.press(BLACK, 12.0)  # 2 seconds into the first period: a whole period again
    assert clock.sides[BLACK] == Side(5.0, 1, 3)
    clock.press(WHITE, 12.0)
    assert clock.side(BLACK, BLACK, 18.0) == Side(4.0, 1, 2)
    clock.press(BLACK, 24.0)  # 12 seconds: two periods are gone
    assert clock.sides[BLACK] == Side(5.0, 1, 1)
    clock.press(WHITE, 24.0)
    assert clock.remaining(BLACK, BLACK, 28.0) == 1.0
    assert clock.remaining(BLACK, BLACK, 29.0) == 0.0


def test_a_canadian_period_is_renewed_after_its_stones() -> None:
    clock = Clock.settings(10.0, 6.0, 2)
    clock.since = 0.0
    clock.press(BLACK, 11.0)  # the move that ends main time counts in the period
    assert clock.sides[BLACK] == Side(5.0, 1)
    clock.press(WHITE, 11.0)
    clock.press(BLACK, 15.0)
    assert clock.sides[BLACK] == Side(6.0, 2)
    clock.press(WHITE, 15.0)
    assert clock.until_lost(BLACK, BLACK, 15.0) == 6.0
    assert clock.remaining(BLACK, BLACK, 21.0) == 0.0


def test_fischers_clock_gives_time_back() -> None:
    clock = Clock.fischer(30, 5)
    for ply in range(0, 400, 2):
        budget = clock.budget(1, 361, ply)
        assert budget is not None and 0 < budget < clock.sides[1].left
        clock.spend(1, budget)
    assert clock.sides[1].left >= 5
    assert budget > 3  # the increment is used, not hoarded
