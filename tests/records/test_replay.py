"""Records on the board: positions, refusals, edits, and the whole of a real collection."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tengen.bench import sample_games
from tengen.board import BLACK, BORDER, WHITE, Board, Rules
from tengen.errors import IllegalMoveError, RecordError
from tengen.records import Corpus, loads, read_games
from tengen.records.arrays import from_records
from tengen.records.corpus import check, last_positions, replay_all, replay_refusals
from tengen.records.record import Refusal, board_at, positions, rules_named

KO = "(;SZ[5];B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[cb];W[bb];B[cb])"


def refusals(path: Path, rules: Rules | None = None) -> list[Refusal]:
    return [item for item in check(Corpus(path), rules) if isinstance(item, Refusal)]


def test_the_position_before_a_move() -> None:
    [record] = loads("(;SZ[5]KM[3.5]HA[2]AB[aa][ee];W[cc];B[cd];W[])")
    assert board_at(record, 1).grid().tolist()[0] == [1, 0, 0, 0, 0]
    board = board_at(record, 2)
    assert (board.turn, board.komi, board.handicap) == (BLACK, 3.5, 2)
    assert board.grid()[2, 2] == WHITE
    assert board.grid()[3, 2] == 0
    assert board_at(record).grid()[3, 2] == BLACK
    with pytest.raises(RecordError, match="no move 5"):
        board_at(record, 5)


def test_edits_are_applied() -> None:
    [record] = loads("(;SZ[5];B[aa];W[bb];AE[aa]AB[cc];W[dd];AW[ee])")
    assert np.count_nonzero(board_at(record, 3).grid()) == 2
    assert board_at(record).grid()[4, 4] == WHITE
    assert board_at(record).grid()[0, 0] == 0


def test_every_position_is_a_board_of_its_own() -> None:
    [record] = loads("(;SZ[5];B[aa];B[bb];AE[aa]AB[cc];W[dd])")
    found = list(positions(record))
    assert [move for _, move in found] == record.moves
    assert [board.turn for board, _ in found] == [BLACK, BLACK, WHITE]
    for number, (board, _) in enumerate(found, 1):
        assert board.grid().tolist() == board_at(record, number).grid().tolist()


@pytest.mark.parametrize(
    ("text", "move", "reason"),
    [
        (KO, 9, "ko"),
        ("(;SZ[5];B[aa];W[aa])", 2, ""),
        ("(;SZ[5];B[ab];W[cc];B[ba];W[aa])", 4, ""),
        ("(;SZ[3]AB[aa][ab][ac][ba][bb][bc][ca][cb][cc];W[])", 0, ""),
        ("(;SZ[5]AB[aa];W[aa])", 1, ""),
    ],
)
def test_moves_against_the_rules_are_told(
    tmp_path: Path, text: str, move: int, reason: str
) -> None:
    path = tmp_path / "x.sgf"
    path.write_text("(;SZ[9];B[aa])" + text + "(;SZ[9];B[bb])")
    [refusal] = refusals(path)
    assert (refusal.file, refusal.game, refusal.move) == (str(path), 2, move)
    assert reason in refusal.reason
    with pytest.raises(IllegalMoveError, match=f"x.sgf: game 2, move {move}: "):
        board_at(list(read_games(path))[1])


def test_rules_of_the_record_decide_about_suicide(tmp_path: Path) -> None:
    game = "(;SZ[5]RU[{}];B[ba];W[];B[bb];W[ab];B[ac];W[aa])"
    (tmp_path / "x.sgf").write_text(game.format("Japanese") + game.format("NZ"))
    assert [refusal.game for refusal in refusals(tmp_path)] == [1]
    assert [refusal.game for refusal in refusals(tmp_path, Rules.preset("cgos"))] == [1, 2]


def test_games_played_by_the_board_are_not_refused(tmp_path: Path) -> None:
    (tmp_path / "x.sgf").write_bytes(sample_games(20))
    assert refusals(tmp_path) == []
    games = [item for item in check(Corpus(tmp_path)) if not isinstance(item, Refusal)]
    assert sum(len(batch) for batch in games) == 20


GAMES = os.environ.get("TENGEN_GAMES")
needs_games = pytest.mark.skipif(not GAMES, reason="set TENGEN_GAMES to a folder of records")


@pytest.mark.slow
@needs_games
def test_real_games_are_written_back_unchanged() -> None:
    """Every game, written and read again, has the same tree and the same moves."""
    assert GAMES
    count = 0
    for record in Corpus(GAMES):
        [again] = loads(record.sgf())
        assert again.tree.nodes == record.tree.nodes
        assert again.tree.parents == record.tree.parents
        assert (again.moves, again.setup) == (record.moves, record.setup)
        assert record.raw is None or record.sgf() == record.raw
        count += 1
    assert count > 0


@pytest.mark.slow
@needs_games
def test_real_games_replay() -> None:
    """The board refuses nothing but a ko that the record retakes at once."""
    assert GAMES
    found = refusals(Path(GAMES))
    assert all("retake the ko" in refusal.reason for refusal in found), found


def test_collections_are_replayed_to_their_last_positions() -> None:
    small = loads("(;SZ[3];B[ac];W[ab];B[ca];W[bc])")[0]
    large = loads("(;SZ[5]AB[cc];W[cd];B[cc];W[aa])")[0]  # the second move is onto a stone
    games = from_records([small, large])
    grids, taken = last_positions(games)
    assert grids.shape == (2, 5, 5) and (grids[0, 3:] == BORDER).all()
    assert (grids[0, :3, :3] == Board(3, moves="B A1 W A2 B C3 W B1").grid()).all()
    assert taken.tolist() == [[0, 1], [0, 0]]
    assert grids[1, 0, 0] == WHITE and grids[1, 2, 2] == BLACK
    half, _ = last_positions(games, 0.5)
    assert np.count_nonzero(half[0, :3, :3]) == 2
    assert replay_refusals(games).tolist() == [False, True]
    assert replay_all(games) == 4 + 1


def test_unknown_rules_are_taken_for_others() -> None:
    assert rules_named("Chinese").scoring == "area"
    assert rules_named("house rules").scoring == "territory"
    assert rules_named("house rules", "aga").handicap_bonus == "n-1"
