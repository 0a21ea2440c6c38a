"""Self-made games; GNU Go, whose failures cost only their own games."""

from __future__ import annotations

import stat
import sys
import time
from pathlib import Path

import pytest
from tests.needs import need

from tengen.board import Board
from tengen.errors import TengenError
from tengen.papers.scoring_failure.experiments import make_games
from tengen.papers.scoring_failure.others import DeadLists, measure
from tengen.records import loads
from tengen.scoring.game_score import Accuracy, read_scored_games
from tengen.scoring.training import label

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


def test_games_repeat_themselves_and_have_their_true_score() -> None:
    steps: list[tuple[int, int]] = []
    games = make_games(3, 5, seed=2, on_step=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert games and [g.sgf() for g in games] == [g.sgf() for g in make_games(3, 5, seed=2)]
    [labelled] = label(games)
    assert labelled.table.exact(labelled.alive).all()


def test_games_are_made_once_and_without_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tengen.players.mcts.SEARCHING_JUDGE", None)
    whole = make_games(3, 5, seed=2)
    stored = tmp_path / "games.jsonl"

    def killed(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_games(3, 5, seed=2, stored=stored, on_step=killed)
    steps: list[int] = []
    games = make_games(3, 5, seed=2, stored=stored, on_step=lambda done, total: steps.append(done))
    assert [game.sgf() for game in games] == [game.sgf() for game in whole] and steps == [3]


def asked(folder: Path) -> str:
    """Return the first digits of the komi of the games that the engine was asked about."""
    return (folder / "diary").read_text()


def test_an_answer_is_kept_and_not_asked_for_again(engine, tmp_path):
    kept = tmp_path / "run" / "kept.jsonl"
    first = DeadLists(10, stored=kept, limit=60, program=engine).ask(record(0.5))
    assert first["dead"] == ["B5", "G4"] and first["seconds"] == 0.25 and not first["failure"]
    assert DeadLists(10, stored=kept, limit=60, program=engine).ask(record(0.5)) == first
    assert asked(tmp_path) == "0"
    # Another level is another engine.
    DeadLists(1, stored=kept, limit=60, program=engine).ask(record(0.5))
    assert asked(tmp_path) == "00"
    kept.write_text('{"engine": "fakego level 10", "game": "x"}\n')
    with pytest.raises(TengenError, match="is damaged"):
        DeadLists(10, stored=kept, program=engine)


def test_hanging_crashing_and_refusing_are_answers_too(engine, tmp_path):
    kept = tmp_path / "kept.jsonl"
    lists = DeadLists(10, stored=kept, limit=6.0, program=engine)
    begin = time.monotonic()
    hung = lists.ask(record(1.5))
    assert time.monotonic() - begin < 50
    assert hung["dead"] is None and "ran out" in hung["failure"]
    assert "crash" in lists.ask(record(2.5))["failure"]
    assert "cannot read it" in lists.ask(record(3.5))["failure"]
    assert lists.ask(record(0.5))["dead"] == ["B5", "G4"]
    # A failure is remembered, and tried again only with a longer limit.
    DeadLists(10, stored=kept, limit=6.0, program=engine).ask(record(2.5))
    assert asked(tmp_path) == "1230"
    DeadLists(10, stored=kept, limit=60.0, program=engine).ask(record(2.5))
    assert asked(tmp_path) == "12302"


def test_failed_games_count_as_wrong_and_are_counted(engine, tmp_path):
    file = tmp_path / "games.sgf"
    results = [(0.5, "B+6.5"), (2.5, "B+4.5"), (4.5, "B+20.5"), (5.5, "B+1.5")]
    file.write_text("\n".join(sgf(*pair) for pair in results))
    seen: list[tuple[str, int, int]] = []
    lists = DeadLists(10, limit=60, program=engine)
    games = read_scored_games([file])
    row = measure(lists.engine, lists.margin, games, "careful", lambda *about: seen.append(about))
    assert row["failed"] == 1 and row["exact"] == 0.5 and row["winner"] == 0.75
    assert seen[-1] == ("fakego level 10", 4, 4)


def test_a_missing_engine_is_a_failure_with_a_reason(tmp_path):
    lists = DeadLists(10, program=str(tmp_path / "nothing"))
    assert "cannot be started" in lists.ask(record(0.5))["failure"]


def test_the_real_one_finds_the_dead():
    need("gnugo")
    answer = DeadLists(1, limit=300).ask(record(0.5))
    assert answer["dead"] is not None and set(answer["dead"]) == {"B5", "G4"}


def test_a_comparison_has_an_interval_and_counts_what_failed(tmp_path):
    file = tmp_path / "games.sgf"
    file.write_text(sgf(0.5, "B+6.5"))
    [case] = read_scored_games([file])
    found = Accuracy()
    assert found.add(6.5, case) and not found.add(7.5, case) and not found.add(-6.5, case)
    found.off.append(float("inf"))
    rates = found.rates()
    assert rates["exact"] == 1 / 4 and rates["winner"] == 2 / 4
    assert found.within(0) == 1 and found.within(1) == 2 and found.games == 4
    low, high = rates["exact_interval"]
    assert 0 < low < 1 / 4 < high < 1
    with pytest.raises(TengenError, match="no games"):
        resigned = tmp_path / "resigned.sgf"
        resigned.write_text(sgf(0.5, "B+R"))
        read_scored_games([resigned])
