"""Check that an engine which hangs, crashes or refuses costs no more than its own games."""

from __future__ import annotations

import stat
import sys
import time

import pytest
from tests.needs import need

from tengen.board import Board
from tengen.errors import TengenError
from tengen.lab import scoring as gnugo
from tengen.lab.scoring import measure_gnugo
from tengen.learners.scoring.game_score import Accuracy, read_scored_games
from tengen.records import loads

ENGINE = """#!{python}
import sys, time
say = lambda text: print("= " + text + "\\n", flush=True)
sgf = ""
for line in sys.stdin:
    words = line.split()
    if words[0] == "loadsgf":
        sgf = open(words[1]).read()
        with open({diary!r}, "a") as diary:
            diary.write(sgf.split("KM[")[1][0])
        if "KM[3" in sgf:
            print("? cannot read it\\n", flush=True)
            continue
        say("")
    elif words[0] == "final_status_list":
        if "KM[1" in sgf:
            time.sleep(60)
        if "KM[2" in sgf:
            sys.exit(3)
        say("B5\\nG4")
    elif words[0] == "cputime":
        say("0.25")
    else:
        say("")
"""
PICTURE = """
. . . X O . .
. . . X O . .
. O . X O . .
. . . X O . X
. . . X O . .
. . . X O . .
. . . X O . .
"""


def sgf(komi, result):
    grid = Board.from_ascii(PICTURE).grid()
    stones = {
        colour: "".join(
            f"[{chr(97 + x)}{chr(97 + y)}]" for y in range(7) for x in range(7) if grid[y, x] == n
        )
        for colour, n in (("AB", 1), ("AW", 2))
    }
    setup = "".join(name + points for name, points in stones.items())
    return f"(;GM[1]FF[4]SZ[7]KM[{komi}]RU[Japanese]RE[{result}]{setup};B[];W[])"


@pytest.fixture
def engine(tmp_path):
    path = tmp_path / "fakego"
    path.write_text(ENGINE.format(python=sys.executable, diary=str(tmp_path / "diary")))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def record(komi, result="B+6.5"):
    return next(iter(loads(sgf(komi, result).encode(), "test")))


def test_an_answer_is_kept_and_not_asked_for_again(engine, tmp_path):
    kept = tmp_path / "run" / "kept.jsonl"
    lists = gnugo.DeadLists(10, stored=kept, limit=60, program=engine)
    first = lists.ask(record(0.5))
    assert first.dead == ["B5", "G4"] and first.seconds == 0.25 and not first.failure
    again = gnugo.DeadLists(10, stored=kept, limit=60, program=engine)
    assert again.ask(record(0.5)) == first
    assert (tmp_path / "diary").read_text() == "0"
    # Another level is another engine.
    gnugo.DeadLists(1, stored=kept, limit=60, program=engine).ask(record(0.5))
    assert (tmp_path / "diary").read_text() == "00"


def test_a_kill_in_the_middle_of_a_line_loses_that_line_only(engine, tmp_path):
    kept = tmp_path / "kept.jsonl"
    lists = gnugo.DeadLists(10, stored=kept, limit=60, program=engine)
    lists.ask(record(0.5))
    lists.ask(record(4.5))
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-30])
    again = gnugo.DeadLists(10, stored=kept, limit=60, program=engine)
    again.ask(record(0.5))
    again.ask(record(4.5))
    assert (tmp_path / "diary").read_text() == "044"
    third = gnugo.DeadLists(10, stored=kept, limit=60, program=engine)
    assert third.ask(record(4.5)).dead == ["B5", "G4"]
    assert (tmp_path / "diary").read_text() == "044"


def test_a_file_of_something_else_is_refused(engine, tmp_path):
    kept = tmp_path / "kept.jsonl"
    kept.write_text('{"engine": "fakego level 10", "game": "x"}\n')
    with pytest.raises(TengenError, match="is damaged"):
        gnugo.DeadLists(10, stored=kept, program=engine)


def test_hanging_crashing_and_refusing_are_answers_too(engine, tmp_path):
    kept = tmp_path / "kept.jsonl"
    lists = gnugo.DeadLists(10, stored=kept, limit=6.0, program=engine)
    begin = time.monotonic()
    hung = lists.ask(record(1.5))
    assert time.monotonic() - begin < 50
    assert hung.dead is None and hung.failure.startswith("timeout")
    assert lists.ask(record(2.5)).failure.startswith("crash")
    assert "cannot read it" in lists.ask(record(3.5)).failure
    assert lists.ask(record(0.5)).dead == ["B5", "G4"]
    # A failure is remembered, and tried again by the more patient only.
    gnugo.DeadLists(10, stored=kept, limit=6.0, program=engine).ask(record(2.5))
    assert (tmp_path / "diary").read_text() == "1230"
    gnugo.DeadLists(10, stored=kept, limit=60.0, program=engine).ask(record(2.5))
    assert (tmp_path / "diary").read_text() == "12302"


def test_failed_games_count_as_wrong_and_are_counted(engine, tmp_path):
    file = tmp_path / "games.sgf"
    results = [(0.5, "B+6.5"), (2.5, "B+4.5"), (4.5, "B+20.5"), (5.5, "B+1.5")]
    file.write_text("\n".join(sgf(*pair) for pair in results))
    seen: list[tuple[str, int, int]] = []
    lists = gnugo.DeadLists(10, limit=60, program=engine)
    row = measure_gnugo(
        lists, read_scored_games([file]), "careful", lambda *about: seen.append(about)
    )
    assert row["failed"] == 1 and row["exact"] == 0.5 and row["winner"] == 0.75
    assert seen[-1] == ("fakego level 10", 4, 4)


def test_a_missing_engine_is_a_failure_with_a_reason(tmp_path):
    lists = gnugo.DeadLists(10, program=str(tmp_path / "nothing"))
    assert "cannot be started" in lists.ask(record(0.5)).failure


def test_the_real_one_finds_the_dead():
    need("gnugo")
    answer = gnugo.DeadLists(1, limit=300).ask(record(0.5))
    assert answer.dead is not None and set(answer.dead) == {"B5", "G4"}


def test_a_comparison_has_an_interval_and_counts_what_failed(tmp_path):
    file = tmp_path / "games.sgf"
    file.write_text(sgf(0.5, "B+6.5"))
    [case] = read_scored_games([file])
    found = Accuracy()
    assert found.add(6.5, case) and not found.add(7.5, case) and not found.add(-6.5, case)
    found.fail()
    rates = found.rates()
    assert rates["exact"] == 1 / 4 and rates["winner"] == 2 / 4
    assert found.within(0) == 1 and found.within(1) == 2 and found.games == 4
    low, high = rates["exact_interval"]
    assert 0 < low < 1 / 4 < high < 1
    with pytest.raises(TengenError, match="no games"):
        resigned = tmp_path / "resigned.sgf"
        resigned.write_text(sgf(0.5, "B+R"))
        read_scored_games([resigned])
