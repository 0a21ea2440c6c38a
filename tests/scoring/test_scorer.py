"""Check the shipped scorer: symmetry, consistency, known positions, bad input, commands."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.needs import need
from typer.testing import CliRunner

from tengen.board import PASS, WHITE, Board
from tengen.board.coordinates import transform
from tengen.cli import app
from tengen.cli import run as tengen
from tengen.models import load_scorer
from tengen.scoring import BlockScorer
from tengen.scoring.features import describe
from tengen.scoring.judgement import DOUBTS, judgement_of
from tengen.scoring.learner import CanonicalPosition

FINISHED = """
. O . X . X . X .
O O O O X X X X X
. O . O O X . . X
O O O X O O X X X
. O . X X O O X .
. O O O X X O X X
O . . O O X O O O
. O O . O X X O .
. . . O O X O O .
"""
SEKI = """
. O X . O X .
. O X X O X .
. O X X O X .
. O X X O X .
. O X X O X .
. O X X O X .
. O X . O X .
"""
DEAD = """
. . . X O . .
. . . X O . .
. O . X O . .
. . . X O . X
. . . X O . .
. . . X O . .
. . . X O . .
"""


@pytest.fixture(scope="module")
def scorer():
    return load_scorer("scorer")


def grid_of(picture):
    return Board.from_ascii(picture).grid()


def random_game(seed, size, plies):
    rng = np.random.default_rng(seed)
    board = Board(size)
    for _ in range(plies):
        legal = [m for m in board.legal_moves if m > 0]
        if not legal:
            break
        board.play(board.to_point(rng.choice(legal)))
    return board


@pytest.mark.parametrize("picture", [FINISHED, SEKI, DEAD])
def test_turning_and_swapping_colours_turns_the_answer(scorer, picture):
    grid = grid_of(picture)
    first = scorer.read(grid)
    for element in range(8):
        for swapped in (False, True):
            coloured = np.array([0, 2, 1], np.int8)[grid] if swapped else grid
            other = scorer.read(np.ascontiguousarray(transform(coloured, element)))
            np.testing.assert_array_equal(other.dead, transform(first.dead, element))
            np.testing.assert_array_equal(other.seki, transform(first.seki, element))
            np.testing.assert_allclose(other.alive, transform(first.alive, element), atol=1e-12)
            sign = -1 if swapped else 1
            np.testing.assert_allclose(
                other.ownership, sign * transform(first.ownership, element), atol=1e-12
            )
            assert other.safe_probability == pytest.approx(first.safe_probability)


def test_a_position_that_looks_the_same_turned_is_judged_the_same_turned(scorer):
    grid = grid_of("X . O . .\n. . . . .\nO . . . O\n. . . . .\n. . O . X")
    reading = scorer.read(grid)
    np.testing.assert_allclose(reading.alive, np.rot90(reading.alive, 2), atol=1e-12)
    form = CanonicalPosition(grid)
    corner = np.zeros((5, 5))
    corner[0, 0] = 1.0
    assert len(form.ways) > 1 and form.even_out(corner).max() == 0.5
    plain = CanonicalPosition(grid_of(DEAD))
    assert plain.even_out(corner) is corner  # looks like nothing else


def test_a_pass_changes_nothing(scorer):
    board = Board.from_ascii(DEAD)
    before = scorer.status(board)
    board.play(PASS)
    after = scorer.status(board)
    assert before.blocks == after.blocks
    assert before.safe_probability == after.safe_probability


def test_lone_invaders_are_dead_and_both_sides_of_a_seki_live(scorer):
    assert np.argwhere(scorer.read(grid_of(DEAD)).dead).tolist() == [[2, 1], [3, 6]]
    reading = scorer.read(grid_of(SEKI))
    assert not reading.dead.any()
    assert reading.seki[0, 2] and reading.seki[0, 4]


@pytest.mark.parametrize(("logit", "dead"), [(-0.2, False), (-2.0, True)])
def test_a_lopsided_count_turns_only_a_doubtful_verdict_over(logit, dead):
    walls = ". O . O . O X . .\nO O O O O O X . .\nX X X X X X X . .\n"
    described = describe(Board.from_ascii(walls + 6 * ". . . . . . . . .\n").grid())
    logits = np.where(described.position.colour == WHITE, logit, 9.0)
    found = judgement_of(described, logits)
    assert found.dead.any() == dead
    # Whoever was turned over stays in doubt.
    assert found.doubts.shape == (DOUBTS,) and (found.doubts[2] < 0) == (not dead)


@pytest.mark.parametrize("seed", range(6))
def test_touching_enemies_are_never_both_dead(scorer, seed):
    board = random_game(seed, 9, 70)
    grid, dead = board.grid(), scorer.read(board.grid()).dead
    for a, b, c, d in (
        (grid[1:], grid[:-1], dead[1:], dead[:-1]),
        (grid[:, 1:], grid[:, :-1], dead[:, 1:], dead[:, :-1]),
    ):
        assert not ((a + b == 3) & (a > 0) & (b > 0) & c & d).any()


@pytest.mark.parametrize(
    "board",
    [Board(9), Board(2), Board(25), Board.from_ascii("X .\n. ."), random_game(1, 9, 25),
     random_game(2, 13, 60)],
    ids=["empty", "2x2", "25x25", "one stone", "fight 9x9", "fight 13x13"],
)  # fmt: skip
def test_what_is_not_finished_is_not_safe(scorer, board):
    verdict = scorer.status(board)
    assert not verdict.safe
    assert verdict.safe_probability < 0.9
    assert np.isfinite(scorer.score(board).score)


def test_stones_without_liberties_are_answered_without_certainty(scorer):
    reading = scorer.read(np.array([[1, 2, 0], [2, 2, 0], [0, 0, 0]], np.int8))
    assert not reading.safe and reading.safe_probability == 0.0


def test_the_count_follows_the_rules_of_the_board(scorer):
    from tengen.board import Rules

    results = {}
    for name in ("chinese", "japanese"):
        board = Board.from_ascii(DEAD, rules=Rules.preset(name), komi=0.5)
        results[name] = scorer.score(board).score
    # Three columns and a wall against two columns and a wall; one dead stone each.
    assert results == {"chinese": 28 - 21 - 0.5, "japanese": 21 + 1 - 14 - 1 - 0.5}


def sgf(picture, result, moves=";B[];W[]", extra=""):
    rows = [row.split() for row in picture.strip().splitlines()]
    points = {c: "".join(f"[{chr(97 + x)}{chr(97 + y)}]" for y, row in enumerate(rows)
              for x, p in enumerate(row) if p == c) for c in "XO"}  # fmt: skip
    return (
        f"(;GM[1]FF[4]SZ[{len(rows)}]KM[0.5]RU[Japanese]RE[{result}]{extra}"
        f"AB{points['X']}AW{points['O']}{moves})"
    )


def run(*arguments):
    answer = CliRunner().invoke(app, [*map(str, arguments)])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_score_prints_counts_and_writes_territory(tmp_path):
    file = tmp_path / "game.sgf"
    file.write_text(sgf(DEAD, "B+6.5"))
    [sheet] = json.loads(run("score", file, "--json", "--out", tmp_path / "marked.sgf"))
    assert sheet["result"] == "B+6.5"
    assert sheet["dead"] == ["B5", "G4"]
    assert sheet["seki"] == []
    assert sheet["territory"] == {"black": 22.0, "white": 15.5, "result": "B+6.5"}
    assert sheet["area"]["result"] == "B+6.5"
    marked = (tmp_path / "marked.sgf").read_text()
    assert marked.count("TB[") == 1 and "[bc]" in marked.split("TB")[1].split("TW")[0]
    assert "B5" in run("score", file)


def score(tmp_path, text, *words):
    """Score one game by the command; return its JSON."""
    file = tmp_path / "game.sgf"
    file.write_text(text)
    [sheet] = json.loads(run("score", file, "--json", *words))
    return sheet


def test_score_can_be_overruled(tmp_path):
    sheet = score(tmp_path, sgf(DEAD, "B+6.5"), "--alive", "B5", "--dead", "E1")
    assert "B5" not in sheet["dead"] and "E1" in sheet["dead"]


def test_score_says_why_no_game_of_several_could_be_scored(tmp_path, capsys):
    file = tmp_path / "games.sgf"
    file.write_text("\n".join([sgf(DEAD, "B+6.5")] * 2))
    assert tengen(["score", str(file), "--dead", "Z9", "--quiet"]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "game 1: 'Z9' is no vertex" in told and "1 more" in told


def test_score_says_when_a_game_was_not_counted(tmp_path):
    sheet = score(tmp_path, sgf(DEAD, "B+R", moves=";B[aa]"))
    assert not sheet["safe"] and len(sheet["remarks"]) == 2


def test_evaluate_has_its_keys(tmp_path):
    file = tmp_path / "games.sgf"
    file.write_text("\n".join([sgf(DEAD, "B+6.5"), sgf(DEAD, "W+20.5")]))
    words = ("evaluate", "scoring", file, "--json", "--quiet")
    answer = json.loads(run(*words, "--baselines", "--out", tmp_path))
    assert json.loads((tmp_path / "evaluation.json").read_text()) == answer
    low, high = answer["exact_interval"]
    assert low < 0.5 < high
    assert answer["games"] == 2 and answer["exact"] == 0.5 and answer["winner"] == 0.5
    assert {"within1", "safe", "exact_when_safe", "seconds_per_game"} <= set(answer)
    names = {row["name"]: row for row in answer["baselines"]}
    assert {"all alive", "benson", "playout majority"} <= set(names)
    assert names["all alive"]["exact"] == 0.0
    assert names["playout majority"]["exact"] == 0.5
    plain = json.loads(run(*words, "--count", "plain"))
    assert plain["exact"] == 0.5


def test_a_few_stones_on_an_open_board_are_not_all_dead(scorer):
    board = Board.from_ascii(". . . . .\n. X . . .\n. . . . .\n. . . O .\n. . . . .")
    reading = scorer.read(board.grid())
    assert not reading.dead.all(where=board.grid() > 0)
    assert reading.safe_probability < 0.5


@pytest.mark.parametrize("size", [3, 25])
def test_boards_it_was_never_tried_on_are_not_safe(scorer, size):
    grid = np.zeros((size, size), np.int8)
    middle = size // 2
    grid[:, middle], grid[:, middle + 1] = 1, 2
    reading = scorer.read(grid)
    assert not reading.safe and reading.safe_probability <= 0.5


def test_rules_that_are_not_known_are_said_to_be(tmp_path):
    for named, told in (("RU[Martian]", "Martian"), ("", "no rules")):
        sheet = score(tmp_path, sgf(DEAD, "B+6.5").replace("RU[Japanese]", named))
        assert any(told in remark for remark in sheet["remarks"])
        assert sheet["result"] == "B+6.5"


def test_unfinished_games_are_estimated_and_called_so(tmp_path):
    for result, moves, finished in (
        ("B+6.5", ";B[];W[]", True),  # two passes
        ("B+6.5", ";B[];W[];B[]", True),
        ("B+7.5", ";B[]", False),  # counted otherwise than it stands
        ("?", ";B[]", False),  # broken off
    ):
        sheet = score(tmp_path, sgf(DEAD, result, moves))
        assert sheet["finished"] is finished, (result, moves)
        assert (sheet["result"] is not None) is finished
        assert (sheet["estimate"] is None) is finished
    text = run("score", tmp_path / "game.sgf")
    assert "not finished; estimate: " in text and " ± " in text and "if it ended here" in text
    assert sheet["estimate"]["spread"] > 0
    assert score(tmp_path, sgf(FINISHED, "?", ""))["finished"]  # a position alone
    # Passes on an open board end no game; whoever judges blocks has ended it.
    assert not score(tmp_path, "(;SZ[9];B[ee];W[];B[])")["finished"]
    assert score(tmp_path, sgf(DEAD, "?", ";B[]"), "--dead", "E1")["finished"]


def test_a_settled_game_in_which_nobody_would_pass_is_not_finished(tmp_path):
    from tengen.records import read_games
    from tengen.scoring.game_score import LEAST_PASS, score_record
    from tengen.scoring.judging import Judge

    class Settled(BlockScorer):
        def read(self, grid):
            return replace(super().read(grid), safe=True)

    class Passing(Judge):
        def __init__(self, scorer, chance):
            super().__init__(scorer)
            self.chance = chance

        def pass_chance(self, board):
            return self.chance

    scorer = Settled.load("scorer")
    file = tmp_path / "game.sgf"
    dame = "\n".join([". . . X . O ."] * 7)
    for picture, result, chance, finished in (
        (dame, "B+13.5", LEAST_PASS, True),
        (dame, "B+13.5", None, True),
        (dame, "B+13.5", LEAST_PASS / 2, False),
        (DEAD, "B+6.5", LEAST_PASS / 2, False),
    ):
        file.write_text(sgf(picture, result, ";B[]"))
        [record] = read_games(file)
        sheet = score_record(scorer, record, judge=Passing(scorer, chance))
        assert (sheet.estimate is None) is finished, (result, chance)
    board = Board(9)
    assert 0 <= Judge().pass_chance(board) < 0.01
    assert Judge().pass_chance(Board(3)) is None


def test_many_games_as_table_and_by_workers(tmp_path):
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.sgf").write_text("\n".join([sgf(DEAD, "B+6.5"), sgf(DEAD, "?", ";B[]")]))
    (folder / "b.sgf").write_text("(;SZ[5];B[aa];W[aa])")
    text = run("score", folder, "--quiet")
    assert "2 games: 1 finished, 0 safe, 1 of 1 as recorded; scores with ± are estimates" in text
    alone, together = (
        run("score", folder, "--json", "--quiet", "--workers", n) for n in ("1", "2")
    )
    assert alone == together
    first, second = json.loads(alone)
    assert (first["finished"], first["result"]) == (True, "B+6.5") and first["dead"] == ["B5", "G4"]
    assert (second["finished"], second["result"]) == (False, None)
    assert second["estimate"]["spread"] > 0
    assert run("score", folder, "--boards", "--quiet").count("dead: ") == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray leaves sockets to the end of the interpreter
def test_a_ray_cluster_scores_the_same(tmp_path):
    ray = need("ray")
    file = tmp_path / "games.sgf"
    file.write_text("\n".join([sgf(DEAD, "B+6.5"), sgf(SEKI, "?")]))
    try:
        there = run("score", file, "--json", "--quiet", "--ray", "local")
    finally:
        ray.shutdown()
    assert there == run("score", file, "--json", "--quiet")


def test_what_fails_is_named_at_the_end(tmp_path, capsys):
    good, bad = tmp_path / "good.sgf", tmp_path / "bad.sgf"
    good.write_text(sgf(DEAD, "B+6.5") + "(;SZ[5];B[aa];W[aa])")
    bad.write_text("nothing")
    assert tengen(["score", str(good), "--json"]) == 0
    told = capsys.readouterr()
    assert "move 2" in told.err and len(json.loads(told.out)) == 1
    out = tmp_path / "marked.sgf"
    files = [str(tmp_path / "none.sgf"), str(bad), str(good)]
    assert tengen(["score", *files, "--json", "--out", str(out)]) == 1
    assert out.read_text().count("(;") == 1  # one bad file does not cost the others
    errors = capsys.readouterr().err
    assert "none.sgf" in errors and "bad.sgf" in errors and "move 2" in errors
    for each in files[:2]:
        assert tengen(["score", each]) == 1
        assert each in capsys.readouterr().err
