"""`tengen play`: a game through a pipe, a game on a pseudo-terminal, and every word."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen.board import PASS
from tengen.records import loads, read_game

NEW, RESUME = "play --size 5 --player random --seed 1", "play --resume"
Play = Callable[..., str]


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Games that nobody names a file for are kept here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "tengen" / "games"


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tengen: Tengen) -> Play:
    """Play with words separated by commas, on 5x5 against random moves unless told otherwise."""

    def play(words: str, *options: str | Path, start: str = NEW, status: int = 0) -> str:
        text = "".join(word.strip() + "\n" for word in words.split(","))
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        return tengen(start, *options, status=status)

    return play


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The player passes at once, so that the game is counted as it stands."""
    from tengen.players.simple import RandomPlayer

    monkeypatch.setattr(RandomPlayer, "choose", lambda self, board, rng: PASS)


def test_a_game_to_the_end_and_its_sgf(
    play: Play, tengen: Tengen, passing: None, tmp_path: Path
) -> None:
    file = tmp_path / "game.sgf"
    out = play(f"C3, C4, pass, pass, save {file}, quit", "--komi 0.5")
    assert "(X)" in out and "White: pass" in out
    assert "Result: B+24.5" in out and tengen.err == ""
    record = read_game(file)
    assert str(record.result) == "B+24.5" and record.komi == 0.5
    assert len(record.moves) == 5  # White passed last, then Black
    assert len(record.tree.nodes[-1]["TB"]) == 23
    assert record.properties["PB"] == ["You"] and record.properties["PW"] == ["random"]


def test_a_blocks_fate_can_be_changed(play: Play, passing: None) -> None:
    out = play("dead C3, C3, pass, pass, dead C3, dead C3, dead A1, dead")
    assert out.count("Result: B+17.5") == 2
    assert "Result: W+7.5" in out
    assert "after both sides have passed" in out and "no stone on A1" in out


def test_undo_takes_back_the_answer_and_a_resignation(play: Play, tengen: Tengen) -> None:
    value = json.loads(play("undo, C3, undo, B2", "--json"))
    assert "no move of yours" in tengen.err
    assert value["moves"][0] == ["B", "B2"] and len(value["moves"]) == 2
    assert value["result"] is None and value["seed"] == 1
    value = json.loads(play("C3, resign, B2, undo, resign", "--json"))
    assert value["result"] == "W+R" and len(value["moves"]) == 2
    assert "the game is over" in tengen.err


def test_hint_and_score(play: Play) -> None:
    out = play("C3, hint, score", "--player mcts:playouts=20")
    assert "a  " in out and "wins" in out
    assert "Estimate, not a count" in out
    assert "I would play" in play("hint")


def test_the_same_seed_gives_the_same_game(play: Play) -> None:
    games = [json.loads(play("quit", f"--colour none --json --seed {seed}")) for seed in (3, 3, 4)]
    assert games[0] == games[1]
    assert games[0]["moves"] != games[2]["moves"]
    assert games[0]["result"] is not None


def test_white_and_handicap(play: Play, tmp_path: Path) -> None:
    file = tmp_path / "h.sgf"
    options = ("--size 9 --handicap 2 --json --colour white --out", file)
    value = json.loads(play("E5", *options))
    assert value["komi"] == 0.5 and value["handicap"] == 2
    assert value["moves"][0] == ["W", "E5"] and value["moves"][1][0] == "B"
    record = read_game(file)
    assert record.handicap == 2 and len(record.setup) == 2


@pytest.mark.parametrize(
    "word", ["Z9", "C9", "I3", "dance", "save", "save /nowhere/x.sgf", "C3 C3"]
)
def test_wrong_input_is_reported_and_the_game_goes_on(play: Play, word: str) -> None:
    assert "take back your last move" in play(f"{word}, help, quit")


@pytest.mark.parametrize("option", ["--colour red", "--player nobody", "--handicap 9"])
def test_mistakes_on_the_command_line(play: Play, tengen: Tengen, option: str) -> None:
    play("quit", option, status=1)
    assert tengen.err.startswith("tengen:")


def test_on_a_terminal() -> None:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "tengen", *NEW.split()]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(command, **streams, close_fds=True, env=environment)
    os.close(slave)
    try:
        seen = _read_until(master, "to play>")
        assert "\x1b[" in seen  # colours
        os.write(master, b"C3\n")
        seen = _read_until(master, "to play>")
        assert "●" in seen and "White:" in seen
        os.write(master, b"quit\n")
        assert process.wait(120) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _read_until(master: int, text: str, seconds: float = 240) -> str:
    end, seen = time.monotonic() + seconds, b""
    while time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            seen += os.read(master, 4096)
            if text.encode() in seen:
                return seen.decode("utf-8", "replace")
    raise AssertionError(f"no {text!r} in {seen.decode('utf-8', 'replace')[-500:]!r}")


def test_a_game_is_kept_and_goes_on(play: Play, tengen: Tengen, kept: Path) -> None:
    assert "`tengen play --resume` goes on" in play("C3, B2", "--komi 3.5")
    [file] = kept.iterdir()
    assert len(read_game(file).moves) == 4
    value = json.loads(play("undo, quit", "--json", start=RESUME))
    assert value["player"] == "random" and value["komi"] == 3.5 and value["seed"] == 1
    assert len(value["moves"]) == 2 and value["colour"] == "black"
    play("B2, quit")  # another game has a file of its own
    assert len(list(kept.iterdir())) == 2
    for _ in range(2):
        play("resign", "--json", start=RESUME)
    play("quit", start=RESUME, status=1)  # both are over now
    assert "no game to go on with" in tengen.err


def test_no_game_is_written_over(play: Play, tengen: Tengen, tmp_path: Path) -> None:
    other, mine = tmp_path / "other.sgf", tmp_path / "mine.sgf"
    other.write_text("(;SZ[5];B[aa])")
    play("quit", "--out", other, status=1)
    assert "already exists" in tengen.err
    named = tmp_path / "my game.sgf"
    out = play("C3, quit", "--out", named)
    assert f"`tengen play --resume --out '{named}'` goes on" in out
    out = play(f"C3, save {other}, save {mine}, undo, save {mine}, quit")
    assert "already exists" in out and out.count(f"saved {mine}") == 2
    assert other.read_text() == "(;SZ[5];B[aa])" and len(read_game(mine).moves) == 0
    play("quit", "--out", other, start=RESUME, status=1)
    assert "was not saved by `tengen play`; open it with `tengen web`" in tengen.err
    mine.write_text(mine.read_text().replace("XT[{", "XT[{{"))
    play("quit", "--out", mine, start=RESUME, status=1)
    assert "damaged" in tengen.err


def test_the_clock(play: Play, tengen: Tengen, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Black to play (10:00)>" in play("C3, quit", "--clock 10+5")
    assert "Black to play (10:0" in play("quit", start=RESUME)
    for text in ("soon", "-1", "0", "10+x", "nan"):
        play("quit", f"--clock {text}", status=1)
        assert f"--clock {text}" in tengen.err

    now = iter(range(0, 100000, 50))  # every look at the clock comes 50 seconds later
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    value = json.loads(play("C3, B2, D4", "--clock 1 --json"))
    assert value["result"] in ("W+T", "B+T") and "has no time left" in tengen.err


def test_the_review_at_the_end(play: Play, kept: Path) -> None:
    out = play("C3, review x, resign, review 5, quit")
    assert "Type review" in out and "points lost per move" in out and "say review" in out
    assert len(list(kept.glob("*.review.html"))) == 1


@pytest.mark.parametrize(
    ("size", "level", "moves"),
    [(9, 1, "D6, G4, F7"), (5, 8, "C3, B2")],
)
def test_an_early_pass_does_not_end_the_game(
    play: Play, tengen: Tengen, size: int, level: int, moves: str
) -> None:
    options = f"--size {size} --player tengen:level={level} --json"
    value = json.loads(play(f"{moves}, pass, pass, quit", options))
    assert value["result"] is None
    assert "Really pass?" in tengen.err and "count anyway" in tengen.err
    # The person passed once, and the machine played on.
    assert [move for _, move in value["moves"]].count("pass") == 1
    assert value["moves"][-1][1] != "pass"


def test_an_open_game_is_counted_when_the_person_wants_it(play: Play, tengen: Tengen) -> None:
    value = json.loads(play("C3, pass, pass, count, count", "--json"))
    assert value["result"] is not None and value["dead"] == []
    assert "the game is over" in tengen.err


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many more times a game can be saved before the disk is full."""
    from tengen.game import session

    room, write = [10**6], session.write_atomic

    def write_or_fail(path: Path, content: bytes) -> None:
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, content)

    monkeypatch.setattr(session, "write_atomic", write_or_fail)
    return room


@pytest.mark.parametrize("room", [0, 1, 2])
def test_a_game_that_cannot_be_saved_goes_on(
    play: Play, tengen: Tengen, kept: Path, disk: list[int], room: int
) -> None:
    disk[0] = room  # for no move, the person's, the machine's too
    value = json.loads(play("A1, A2, A3, quit", "--json", status=1))
    assert len(value["moves"]) == 6 and tengen.err.count("Not saved!") == 1
    shown = tengen.err[tengen.err.index("(;") : tengen.err.rindex(")") + 1]
    assert len(loads(shown.encode())[0].moves) == 6
    assert [len(read_game(file).moves) for file in kept.glob("*.sgf")] == [room] * (room > 0)


def test_a_game_without_room_is_kept_elsewhere(
    play: Play, tengen: Tengen, disk: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tengen.cli.terminal import Conversation

    elsewhere, find_room = tmp_path / "b.sgf", Conversation.do_save

    def do_save(self: Conversation, words: list[str]) -> None:
        disk[0] = 10**6
        find_room(self, words)

    monkeypatch.setattr(Conversation, "do_save", do_save)
    disk[0] = 0
    out = play(f"A1, save {elsewhere}, A2, quit", "--out", tmp_path / "a.sgf")
    assert f"--resume --out {elsewhere}" in out and len(read_game(elsewhere).moves) == 4


def test_a_game_is_played_in_one_place_at_a_time(
    play: Play, tengen: Tengen, kept: Path, tmp_path: Path
) -> None:
    from tengen.game.session import held

    named = tmp_path / "game.sgf"
    play("C3, quit", "--out", named)
    play("C3, quit")
    [unnamed] = kept.iterdir()  # and nothing else, such as a lock
    for path, options in ((named, ("--out", named)), (unnamed, ())):
        before = path.read_bytes()
        with held(path):
            play("B2, quit", *options, start=RESUME, status=1)
            assert f"{path}: in use by another process ({os.getpid()})" in tengen.err
            assert path.read_bytes() == before
        play("B2, quit", *options, start=RESUME)
        assert len(read_game(path).moves) == 4
    assert sorted(tmp_path.iterdir()) == [tmp_path / "data", named]
    play("quit", "--out", tmp_path / "none" / "game.sgf", start=RESUME, status=1)
    assert not (tmp_path / "none").exists()


def test_a_board_in_colours_goes_where_the_words_go() -> None:
    from tengen.board import Board
    from tengen.cli.terminal import Screen

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    with contextlib.redirect_stdout(io.StringIO()) as out:
        Screen(terminal := Terminal()).draw(Board(5, moves="B C3"))
    assert "●" in terminal.getvalue() and out.getvalue() == ""


def test_resigning_and_passing_after_a_mistake_are_the_persons(play: Play, tengen: Tengen) -> None:
    options = "--size 9 --teach --threshold 3 --json"
    value = json.loads(play("A1, pass, resign, undo, pass, quit", options))
    assert [move for _, move in value["moves"]] == ["A1"] and value["result"] is None
    assert tengen.err.count("type undo, better or go first") == 2
    assert "Black resigns. Result: W+R" in tengen.err


def test_problems_are_kept_while_the_server_runs(play: Play, tmp_path: Path) -> None:
    from tengen.web.store import Store, default_database, list_problems

    store = Store(default_database())
    assert "Kept as problems" in play("A1, go, resign", "--size 9 --teach --threshold 3")
    [problem] = list_problems(store)
    assert problem["number"] == 1
    store.close()
    default_database().write_text("no database " * 1000)
    out = play("A1, go, resign, quit", "--size 9 --teach --threshold 3")
    assert "move 1, A1: lost" in out and "Not kept as problems" in out


def test_a_teacher_stops_the_game_and_keeps_problems(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "A1, E5, better, undo, A1, go, resign, problem"
    out = play(words, "--size 9 --teach --threshold 3")
    assert out.count("A1 lost about") == 2 and "undo, better or go first" in out
    assert "is better." in out and "no problem is due" in out
    assert "move 1, A1: lost" in out.partition("most expensive moves")[2]

    monkeypatch.setattr("tengen.cli.coach.time.time", lambda: 4e9)  # another day
    out = play("problem, A1, problem, E5", "--teach")
    assert out.count("You played A1 here") == 1 and "A1 loses about" in out
