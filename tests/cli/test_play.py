"""`tengen play`: a game through a pipe, a game on a pseudo-terminal, and every word."""

from __future__ import annotations

import io
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen.board import PASS
from tengen.cli import run
from tengen.records import read_game

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Games that nobody names a file for are kept here."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "tengen" / "games"


def play(monkeypatch: pytest.MonkeyPatch, words: str, *options: str) -> int:
    """Play on 5x5 against random moves, with words separated by commas."""
    text = "".join(word.strip() + "\n" for word in words.split(","))
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    base = ["play", "--size", "5", "--player", "random", "--seed", "1"]
    return run([*base, *options])


def test_a_game_to_the_end_and_its_sgf(
    monkeypatch: pytest.MonkeyPatch, capsys: Out, tmp_path: Path
) -> None:
    # The player passes at once, so that the game is counted as it stands.
    import tengen.players.simple as simple

    monkeypatch.setattr(simple.RandomPlayer, "choose", lambda self, board, rng: PASS)
    file = tmp_path / "game.sgf"
    assert play(monkeypatch, f"C3, C4, pass, pass, save {file}, quit", "--komi", "0.5") == 0
    out, err = capsys.readouterr()
    assert "(X)" in out and "White: pass" in out
    assert "Result: B+24.5" in out and err == ""
    record = read_game(file)
    assert str(record.result) == "B+24.5" and record.komi == 0.5
    assert len(record.moves) == 5  # White passed last, then Black
    assert len(record.tree.nodes[-1]["TB"]) == 23
    assert record.properties["PB"] == ["You"] and record.properties["PW"] == ["random"]


def test_a_blocks_fate_can_be_changed(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    import tengen.players.simple as simple

    monkeypatch.setattr(simple.RandomPlayer, "choose", lambda self, board, rng: PASS)
    assert play(monkeypatch, "dead C3, C3, pass, pass, dead C3, dead C3, dead A1, dead") == 0
    out = capsys.readouterr().out
    assert out.count("Result: B+17.5") == 2
    assert "Result: W+7.5" in out
    assert "after both sides have passed" in out and "no stone on A1" in out


def test_undo_takes_back_the_answer_too(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    assert play(monkeypatch, "undo, C3, undo, B2", "--json") == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert "no move of yours" in err
    assert value["moves"][0] == ["B", "B2"] and len(value["moves"]) == 2
    assert value["result"] is None and value["seed"] == 1


def test_undo_after_a_resignation(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    assert play(monkeypatch, "C3, resign, B2, undo, resign", "--json") == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert value["result"] == "W+R" and len(value["moves"]) == 2
    assert "the game is over" in err


def test_hint_and_score(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    assert play(monkeypatch, "C3, hint, score", "--player", "mcts:playouts=20") == 0
    out = capsys.readouterr().out
    assert "a  " in out and "wins" in out
    assert "Estimate, not a count" in out
    assert play(monkeypatch, "hint") == 0
    assert "I would play" in capsys.readouterr().out


def test_the_same_seed_gives_the_same_game(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    games = []
    for seed in ("3", "3", "4"):
        assert play(monkeypatch, "quit", "--colour", "none", "--json", "--seed", seed) == 0
        games.append(json.loads(capsys.readouterr().out))
    assert games[0] == games[1]
    assert games[0]["moves"] != games[2]["moves"]
    assert games[0]["result"] is not None


def test_white_and_handicap(monkeypatch: pytest.MonkeyPatch, capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "h.sgf"
    options = ("--size", "9", "--handicap", "2", "--out", str(file), "--json")
    assert play(monkeypatch, "E5", *options, "--colour", "white") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["komi"] == 0.5 and value["handicap"] == 2
    assert value["moves"][0] == ["W", "E5"] and value["moves"][1][0] == "B"
    record = read_game(file)
    assert record.handicap == 2 and len(record.setup) == 2


@pytest.mark.parametrize(
    "word", ["Z9", "C9", "I3", "dance", "save", "save /nowhere/x.sgf", "C3 C3"]
)
def test_what_makes_no_sense_is_told_and_the_game_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: Out, word: str
) -> None:
    assert play(monkeypatch, f"{word}, help, quit") == 0
    out = capsys.readouterr().out
    assert "take back your last move" in out


def test_mistakes_on_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    assert play(monkeypatch, "quit", "--colour", "red") == 1
    assert play(monkeypatch, "quit", "--player", "nobody") == 1
    assert play(monkeypatch, "quit", "--handicap", "9") == 1
    assert "tengen:" in capsys.readouterr().err


def test_on_a_terminal() -> None:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from tengen.cli import main; main()",
            *("play", "--size", "5", "--player", "random", "--seed", "1"),
        ],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
        env={**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
    )
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


def resume(monkeypatch: pytest.MonkeyPatch, words: str, *options: str) -> int:
    text = "".join(word.strip() + "\n" for word in words.split(","))
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return run(["play", "--resume", *options])


def test_a_game_is_kept_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: Out, kept: Path
) -> None:
    assert play(monkeypatch, "C3, B2", "--komi", "3.5") == 0
    assert "`tengen play --resume` goes on" in capsys.readouterr().out
    [file] = kept.iterdir()
    assert len(read_game(file).moves) == 4
    assert resume(monkeypatch, "undo, quit", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["player"] == "random" and value["komi"] == 3.5 and value["seed"] == 1
    assert len(value["moves"]) == 2 and value["colour"] == "black"
    assert play(monkeypatch, "B2, quit") == 0  # another game has a file of its own
    assert len(list(kept.iterdir())) == 2
    assert resume(monkeypatch, "resign", "--json") == 0
    assert resume(monkeypatch, "resign", "--json") == 0
    assert resume(monkeypatch, "quit") == 1  # both are over now
    assert "no game to go on with" in capsys.readouterr().err


def test_a_resumed_game_is_the_undisturbed_one(
    monkeypatch: pytest.MonkeyPatch, capsys: Out, kept: Path
) -> None:
    words = ["A1", "A2", "A3", "A4", "E1", "E2", "E3", "pass"]
    assert play(monkeypatch, ",".join([*words, "quit"]), "--json") == 0
    whole = json.loads(capsys.readouterr().out)
    for left in kept.iterdir():
        left.unlink()
    assert play(monkeypatch, ",".join([*words[:3], "quit"]), "--json") == 0
    assert resume(monkeypatch, ",".join([*words[3:], "quit"]), "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == whole


def test_no_game_is_written_over(
    monkeypatch: pytest.MonkeyPatch, capsys: Out, tmp_path: Path
) -> None:
    other, mine = tmp_path / "other.sgf", tmp_path / "mine.sgf"
    other.write_text("(;SZ[5];B[aa])")
    assert play(monkeypatch, "quit", "--out", str(other)) == 1
    assert "is there already" in capsys.readouterr().err
    named = tmp_path / "my game.sgf"
    assert play(monkeypatch, "C3, quit", "--out", str(named)) == 0
    assert f"`tengen play --resume --out '{named}'` goes on" in capsys.readouterr().out
    words = f"C3, save {other}, save {mine}, undo, save {mine}, quit"
    assert play(monkeypatch, words) == 0
    out = capsys.readouterr().out
    assert "is there already" in out and out.count(f"saved {mine}") == 2
    assert other.read_text() == "(;SZ[5];B[aa])" and len(read_game(mine).moves) == 0
    assert resume(monkeypatch, "quit", "--out", str(other)) == 1
    assert "is no game of `tengen play`" in capsys.readouterr().err
    mine.write_text(mine.read_text().replace("XT[{", "XT[{{"))
    assert resume(monkeypatch, "quit", "--out", str(mine)) == 1
    assert "damaged" in capsys.readouterr().err


def test_undo_goes_over_passes(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    import tengen.players.simple as simple

    monkeypatch.setattr(simple.RandomPlayer, "choose", lambda self, board, rng: PASS)
    assert play(monkeypatch, "C3, pass, pass, undo, undo, B2, pass, pass", "--json") == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert [move for _, move in value["moves"]] == ["B2", "pass", "pass"]
    assert value["result"] is not None and err.count("The game is over") == 2


def test_the_clock(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    assert play(monkeypatch, "C3, quit", "--clock", "10+5") == 0
    assert "Black to play (10:00)>" in capsys.readouterr().out
    assert resume(monkeypatch, "quit") == 0
    assert "Black to play (10:0" in capsys.readouterr().out
    for text in ("soon", "-1", "0", "10+x", "nan"):
        assert play(monkeypatch, "quit", "--clock", text) == 1
        assert f"--clock {text}" in capsys.readouterr().err

    now = iter(range(0, 100000, 50))  # every look at the clock comes 50 seconds later
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    assert play(monkeypatch, "C3, B2, D4", "--clock", "1", "--json") == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert value["result"] in ("W+T", "B+T") and "has no time left" in err


def test_the_review_at_the_end(monkeypatch: pytest.MonkeyPatch, capsys: Out, kept: Path) -> None:
    assert play(monkeypatch, "C3, review x, resign, review 5, quit") == 0
    out = capsys.readouterr().out
    assert "Type review" in out and "points lost per move" in out and "say review" in out
    assert len(list(kept.glob("*.review.html"))) == 1


@pytest.mark.parametrize(
    ("size", "level", "moves"),
    [(9, 1, "D6 G4 F7"), (9, 10, "D6 G4 F7"), (13, 3, "D4 K10 K4"), (5, 8, "C3 B2")],
)
def test_an_early_pass_does_not_end_the_game(
    monkeypatch: pytest.MonkeyPatch, capsys: Out, size: int, level: int, moves: str
) -> None:
    options = ("--size", str(size), "--player", f"tengen:level={level}")
    words = ", ".join([*moves.split(), "pass", "pass", "quit"])
    assert play(monkeypatch, words, *options, "--json") == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert value["result"] is None and "Really pass?" in err and "count anyway" in err
    # The person passed once, and the machine played on.
    assert [move for _, move in value["moves"]].count("pass") == 1
    assert value["moves"][-1][1] != "pass"


def test_an_open_game_is_counted_when_the_person_wants_it(
    monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    words = "C3, pass, pass, count, count"
    assert play(monkeypatch, words, "--json") == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert value["result"] is not None and value["dead"] == []
    assert "the game is over" in err


def test_a_teacher_stops_the_game_and_keeps_problems(
    monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    words = "A1, E5, better, undo, A1, go, resign, problem"
    assert play(monkeypatch, words, "--size", "9", "--teach", "--threshold", "3") == 0
    out = capsys.readouterr().out
    assert out.count("A1 lost about") == 2 and "undo, better or go first" in out
    assert "is better." in out and "no problem is due" in out
    assert "move 1, A1: lost" in out.partition("most expensive moves")[2]

    monkeypatch.setattr("tengen.cli.play.time.time", lambda: 4e9)  # another day
    assert play(monkeypatch, "problem, A1, problem, E5", "--teach") == 0
    out = capsys.readouterr().out
    assert out.count("You played A1 here") == 1 and "A1 loses about" in out
