"""`tengen review` of many games: the folder, the tables, what is refused, and kill -9."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tengen.board import PASS, Board
from tengen.cli import run
from tengen.errors import TengenError
from tengen.records import loads, read_game
from tengen.reviews import ReviewSettings
from tengen.reviews.batch import (
    headline,
    kind_of,
    make_index,
    moves_csv,
    review_library,
    sum_up_sides,
    summarise,
)
from tengen.reviews.causes import PHASES, phase_of

Out = pytest.CaptureFixture[str]
QUICK = ["--visits", "5", "--player", "mcts", "--quiet"]


def game(black: str, white: str, moves: str) -> str:
    played = "".join(f";{'BW'[n % 2]}[{p}]" for n, p in enumerate(moves.split()))
    return f"(;SZ[5]KM[0.5]PB[{black}]PW[{white}]BR[3k]WR[1d]{played})"


GAMES = [
    game("Ann", "Bob", "cc cb bb dc bc"),
    game("Bob", "Ann", "bb dd bd db cc"),
    game("Ann", "=cmd()", "cc dd dc cd"),
]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    file = tmp_path / "three.sgf"
    file.write_text("\n".join(GAMES))
    return file


def files_of(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.is_file() and p.name != ".lock")
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


def test_every_game_of_a_file(collection: Path, capsys: Out) -> None:
    assert run(["review", str(collection), *QUICK, "--json"]) == 0
    games = json.loads(capsys.readouterr().out)
    folder = collection.parent / "three.review"
    assert [value["game"] for value in games] == [1, 2, 3]
    assert [len(value["moves"]) for value in games] == [5, 5, 4]
    told = json.loads((folder / "summary.json").read_text())
    assert told["games"] == 3 and told["faults"] == []
    ann = next(line for line in told["players"] if line["name"] == "Ann")
    assert (ann["games"], ann["moves"]) == (3, 7) and set(ann["phases"]) <= set(PHASES)
    assert told["ranks"]["3k"]["games"] == 3
    assert ann["against_rank"] == pytest.approx(
        ann["mean_points_lost"] - told["ranks"]["3k"]["mean_points_lost"]
    )
    with (folder / "moves.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 14 and {row["game"] for row in rows} == {"1", "2", "3"}
    assert {row["white"] for row in rows} == {"Bob", "Ann", "'=cmd()"}
    index = (folder / "index.html").read_text()
    assert index.count('<td class="left"><a href="games/') >= 3 and "=cmd()" in index
    page = (folder / "games" / "000002.html").read_text()
    assert "../index.html" in page and "three.sgf, game 2" in page
    assert read_game(folder / "games" / "000002.sgf").moves == read_game(collection, 2).moves


def test_one_game_is_as_before(collection: Path, tmp_path: Path) -> None:
    assert run(["review", str(collection), "--game", "2", *QUICK]) == 0
    assert read_game(tmp_path / "three.review.sgf").moves == read_game(collection, 2).moves
    assert not (tmp_path / "three.review").exists()


def test_bad_games_beside_good_ones(tmp_path: Path, capsys: Out) -> None:
    archive = tmp_path / "games.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("good.sgf", GAMES[0])
        made.writestr("illegal.sgf", "(;SZ[5];B[aa];W[aa])")
        made.writestr("full.sgf", "(;SZ[2]AB[aa][ab][ba][bb])")
        made.writestr("broken.sgf", "(;SZ[5];B[a")
    out = tmp_path / "out"
    options = [option for option in QUICK if option != "--quiet"]
    assert run(["review", str(archive), *options, "--out", str(out)]) == 0
    text, errors = capsys.readouterr()
    assert "illegal.sgf" in errors and "move 2" in errors and "full.sgf" in errors
    assert "3 games" in text and "Ann" in (out / "index.html").read_text()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["games"] == len(list((out / "games").glob("*.html"))) == 3
    assert any("illegal.sgf" in fault for fault in summary["faults"])
    assert "Not reviewed" in (out / "index.html").read_text()


def test_what_is_refused(collection: Path, tmp_path: Path, capsys: Out) -> None:
    out = tmp_path / "out"
    start = ["review", str(collection), *QUICK, "--out", str(out)]
    assert run(start) == 0
    capsys.readouterr()
    before = files_of(out)
    others = tmp_path / "others.sgf"
    others.write_text("\n".join([game("Cid", "Dan", "cc bb"), game("Dan", "Cid", "cc")]))
    for arguments, reason in (
        (start, "holds a run; resume it"),
        (["review", str(others), *start[2:], "--resume"], "holds reviews of other games"),
        ([*start, "--resume", "--seed", "1"], "begun with other settings: seed 0 there, 1 asked"),
        (["review", str(collection), *QUICK, "--out", str(tmp_path / "a.sgf")], "go to a folder"),
        (["review", str(tmp_path), *QUICK, "--out", str(out)], "lies in what is read"),
        (["review", str(collection), *QUICK, "--out", str(tmp_path)], "holds other files"),
        (["review", str(collection), str(collection), "--game", "1"], "of which file?"),
        (["review", str(collection), "--game", "9"], "there is no game 9"),
    ):
        assert run(arguments) == 1
        assert reason in capsys.readouterr().err
    assert files_of(out) == before
    (out / "config.toml").write_text("{")
    assert run([*start, "--resume"]) == 1
    assert "damaged" in capsys.readouterr().err


def test_a_changed_game_is_reviewed_anew(collection: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    start = ["review", str(collection), *QUICK, "--out", str(out)]
    assert run(start) == 0
    collection.write_text("\n".join([GAMES[0], game("Cid", "Dan", "cc"), GAMES[2]]))
    before = (out / "games" / "000001.json").stat().st_mtime_ns
    assert run([*start, "--resume"]) == 0
    assert json.loads((out / "games" / "000002.json").read_text())["black"] == "Cid"
    assert (out / "games" / "000001.json").stat().st_mtime_ns == before


def test_killed_and_resumed_is_equal_to_undisturbed(collection: Path, tmp_path: Path) -> None:
    collection.write_text("\n".join(GAMES * 3))  # so that the kill comes before the end
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    start = ["review", str(collection), *QUICK, "--out"]
    assert run([*start, str(whole)]) == 0
    words = [*start, str(torn), "--workers", "2"]
    command = [sys.executable, "-c", "from tengen.cli import main; main()", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 300
    while not list(torn.glob("games/*.json")) and time.monotonic() < end:
        time.sleep(0.002)
    process.kill()
    process.wait()
    assert not (torn / "index.html").exists()
    assert 0 < len(list(torn.glob("games/*.json"))) < 9
    assert run([*start, str(torn), "--resume"]) == 0
    assert files_of(torn) == files_of(whole)


def test_phases_and_kinds() -> None:
    assert [PHASES.index(phase_of(n, 9, 9)) for n in (13, 14, 40, 41)] == [0, 1, 1, 2]

    def kinds(*moves: str) -> list[str]:
        board, found = Board(9), []
        for move in moves:
            before = board.copy()
            board.play(move)
            found.append(kind_of(board.to_point(board.last_move or PASS), before, board))
        return found

    assert kinds("E5", "E6", "A1", "pass") == ["elsewhere", "contact", "elsewhere", "pass"]
    assert kinds("A1", "A2", "E5", "B1") == ["elsewhere", "atari", "elsewhere", "capture"]
    assert kinds("E5", "G7") == ["elsewhere", "near"]


def test_nothing_reviewed_makes_empty_tables() -> None:
    assert moves_csv([]).count("\n") == 1
    assert summarise([])["players"] == [] and summarise([])["all"] is None


def test_a_headline_says_what_the_record_says() -> None:
    told = headline(loads("(;SZ[5]KM[0.5]PB[Anna]RE[B+R];B[cc];W[bb];B[cb])")[0])
    assert (told["black"], told["white"], told["result"]) == ("Anna", "", "B+R")
    assert (told["size"], told["moves"], told["komi"]) == ([5, 5], 3, 0.5)


def test_a_library_without_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TengenError):
        review_library([], tmp_path / "out", ReviewSettings(), str, unread=["a.sgf: nothing"])


def test_accounts_add_up_by_phase_and_kind() -> None:
    row = {"phase": PHASES[0], "kind": "contact", "points_lost": 2.0, "rank": 1}
    row |= {"verdict": "mistake"}
    rows = [row, {**row, "points_lost": 0.0, "verdict": "", "rank": 3, "phase": PHASES[2]}]
    told = sum_up_sides([(rows, "5k")])
    assert (told["games"], told["rank"], told["moves"]) == (1, "5k", 2)
    assert told["mean_points_lost"] == 1.0 and told["predicted_first"] == 0.5
    assert told["phases"][PHASES[0]]["mistakes_per_100"] == 100
    assert set(told["kinds"]) == {"contact"}


def test_the_interval_needs_five_games_and_respects_zero() -> None:
    row = {"phase": PHASES[0], "kind": "near", "rank": 1, "verdict": ""}
    games = [[{**row, "points_lost": lost}] * 20 for lost in (0.1, 5.0, 0.2, 0.1, 9.0)]
    assert sum_up_sides([(rows, "") for rows in games[:4]])["interval"] is None
    low, high = sum_up_sides([(rows, "") for rows in games])["interval"]
    assert 0 < low < 2.88 < high


def test_the_page_of_many_games_shows_names_as_text() -> None:
    known = {"name": "<Anna>", "against_rank": None, "estimates": []}
    player = {**known, **sum_up_sides([([], "")] * 3)}
    summary = {**summarise([]), "all": sum_up_sides([]), "players": [player], "faults": ["<b>"]}
    page = make_index([], summary, ReviewSettings())
    assert (
        page.startswith("<!")
        and "&lt;Anna&gt;" in page
        and "<Anna>" not in page
        and "<b>" not in page
    )
