"""Games that are kept: where, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.board import Board
from tengen.errors import IllegalMoveError, RecordError, TengenError
from tengen.game.clock import Clock
from tengen.game.saved_games import default_folder, new_place, read_saved, refuse_other, save
from tengen.game.session import LocalGame
from tengen.players import make_player


def game(board: Board, clock: Clock | None = None) -> LocalGame:
    return LocalGame(board, 1, 3, clock or Clock(), player=make_player("random"))


def test_games_are_kept_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_folder().parts[-2:] == ("tengen", "games")


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


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    refuse_other(tmp_path / "game.sgf")
    (tmp_path / "game.sgf").write_text("(;SZ[9])")
    with pytest.raises(TengenError, match="is there already; name another file"):
        refuse_other(tmp_path / "game.sgf")


def test_a_record_of_somebody_else_is_no_saved_game(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;SZ[9];B[ee])")
    with pytest.raises(TengenError, match=r"game\.sgf"):
        read_saved(tmp_path / "game.sgf")


def test_an_illegal_move_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    save(game(Board(9, moves="B E5")), path)
    path.write_text(path.read_text().replace(";B[ee]", ";B[ee];W[ee]"))
    with pytest.raises(IllegalMoveError, match="E5 at move 2: the point is taken"):
        read_saved(path)


def test_a_damaged_clock_is_told(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    save(game(Board(9), Clock.fischer(60.0, 5.0)), path)
    assert read_saved(path)[0].clock == Clock.fischer(60.0, 5.0)
    text = path.read_text()
    assert '"left": {"1": 60.0, "2": 60.0}' in text
    path.write_text(text.replace('{"1": 60.0, "2": 60.0}', "[60\\]"))
    with pytest.raises(RecordError, match="XT is damaged"):
        read_saved(path)
