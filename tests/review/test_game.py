"""`tengen review`: numbers, the annotated record, the page, and that the same seed repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board
from tengen.cli import run
from tengen.contracts import Analysis, BlockStatus, Candidate, Status, Verdict
from tengen.errors import IllegalMoveError, SpecError
from tengen.gtp.judging import Judge
from tengen.players import make_player
from tengen.records import loads, read_game
from tengen.records.replay import board_at
from tengen.review.annotate import LABELLED, LABELS, annotate, move_words
from tengen.review.game import (
    NETWORK_SCATTER,
    SCATTER,
    Ending,
    MoveReview,
    Position,
    Review,
    Thinker,
    assemble,
    boards_of,
    find_thinker,
    judge_positions,
    review_game,
    review_move,
    with_policy,
)
from tengen.review.page import make_page
from tengen.review.settings import DEFAULT_PLAYER, ReviewSettings

Out = pytest.CaptureFixture[str]

# Black's wall and White's with a dead white stone at A1 (sgf ae); ends by two passes.
GAME = (
    "(;GM[1]FF[4]SZ[5]KM[0.5]RU[Chinese]PB[A]PW[B]RE[B+0.5]C[old \\] words]"
    ";B[cc];W[dc]LB[aa:Z];B[cb];W[db];B[ca];W[da];B[cd];W[dd]"
    "(;B[ce];W[de];B[bc];W[ae];B[];W[])(;B[be]C[other];W[ce]))"
)


class Known:
    """An analyser for whom the best move is always A5, with +10 points for the side to move."""

    name = "known"
    scores = (10.0,)

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return board.point("A5")

    def analyse(self, board: Board, rng: np.random.Generator, **how: object) -> Iterator[Analysis]:
        best = board.point("A5")
        # All visits on the best move, so that nothing draws its score to the mean.
        value = 40.0 if len(board.moves) == 3 else 10.0
        candidate = Candidate(best, 1000, 0.8, value, pv=(best, board.point("B1")))
        ownership = np.full(board.rows * board.cols, 0.5)
        yield Analysis((candidate,), best, 1000, 0.8, value, ownership)


class Predictor:
    """A policy that gives everything to E5 and a little to the rest."""

    def priors(self, board: Board) -> Any:
        mask = board.legal_mask().astype(float) * 0.01
        if mask[4]:
            mask[4] = 1.0
        return mask / mask.sum()


class Scorer:
    """A scorer for whom the stone on A1 is dead."""

    def status(self, board: Board) -> Verdict:
        dead = board.point("A1")
        blocks = tuple(
            BlockStatus(b.stones, b.colour, Status.DEAD if dead in b.stones else Status.ALIVE, 1.0)
            for b in board.blocks()
        )
        return Verdict(blocks, True)


@pytest.fixture
def reviewed() -> Review:
    [record] = loads(GAME)
    return review_game(
        record, Known(), policy=Predictor(), policy_name="toy", judge=Judge(Scorer()), seed=1
    )


def test_points_lost_are_best_less_what_came_of_it(reviewed: Review) -> None:
    # Before move 1 Black expects +10; after it White expects +10: 20 points lost.
    assert reviewed.moves[0].lost == pytest.approx(20)
    # After move 3 White, to move, expects +40: Black lost 50, the largest mistake.
    assert reviewed.moves[2].lost == pytest.approx(50)
    assert reviewed.mistakes(1)[0].number == 3
    assert reviewed.moves[2].best == reviewed.positions[0].board.point("A5")
    # Scores and win rates are Black's.
    assert [p.score for p in reviewed.positions[:4]] == pytest.approx([10, -10, 10, -40])
    assert reviewed.positions[1].winrate == pytest.approx(0.2)


def test_a_loss_that_may_be_chance_is_doubtful_and_not_a_mistake(reviewed: Review) -> None:
    def loss(lost: float, error: float) -> tuple[bool, bool]:
        move = replace(reviewed.moves[0], lost=lost, error=error)
        return move.is_mistake, move.is_doubtful

    assert loss(9, 2) == (True, False)
    assert loss(4, 2) == (False, True)
    assert loss(2.5, 2) == (False, False)
    assert loss(1.5, 0.1) == (False, False)  # too small to matter
    moves = [replace(m, lost=5.0, error=2.0) for m in reviewed.moves[:4]]
    unsure = replace(reviewed, moves=[*moves, *reviewed.moves[4:]])
    clear = len(unsure.mistakes(99))
    assert len(unsure.doubts(clear)) == 0
    assert len(unsure.doubts(clear + 2)) == 2
    tree = loads(annotate(unsure, top=20))[0].tree
    assert tree.nodes[1]["DO"] == [b""] and "BM" not in tree.nodes[1]
    assert "Doubtful moves" in make_page(unsure, title="x", top=20)


def test_playing_the_best_move_loses_nothing() -> None:
    [record] = loads("(;SZ[5];B[aa];W[cc])")
    found = review_game(record, Known(), seed=1)
    assert found.moves[0].lost == 0 and found.moves[1].lost > 0
    assert found.ending is None


def test_a_thinker_reviews_with_its_own_policy(reviewed: Review) -> None:
    seen: list[int] = []
    thinker = Thinker(Known(), Predictor(), "toy", "")
    found = thinker.review(reviewed.record, 1, lambda: seen.append(1))
    assert found.policy == "toy" and len(seen) == len(reviewed.record.moves) + 1
    assert [m.lost for m in found.moves] == [m.lost for m in reviewed.moves]
    mistakes, doubts, surprises = found.striking(2)
    assert [m.number for m in mistakes] == [m.number for m in reviewed.mistakes(2)]
    assert doubts == [] and surprises[0].probability == found.moves[0].probability


def test_predictions_and_surprises(reviewed: Review) -> None:
    first = reviewed.moves[0]
    assert first.rank == 2 and first.probability == pytest.approx(0.01 / 1.25)
    assert reviewed.moves[-1].probability is None  # passes are not predicted
    assert reviewed.surprises(3)[0].probability == min(
        m.probability for m in reviewed.moves if m.probability is not None
    )


def test_the_annotated_record(reviewed: Review) -> None:
    text = annotate(reviewed)
    [record] = loads(text)
    nodes = record.tree.nodes
    assert record.moves == reviewed.record.moves
    board_at(record)
    assert b"old \\] words" in nodes[0]["C"][0] and b"Reviewed by tengen" in nodes[0]["C"][0]
    assert nodes[2]["LB"] == [b"aa:Z"]  # the record's own mark stays
    assert nodes[1]["LB"] == [b"ea:A"]
    assert nodes[3]["BM"] == [b"2"] and nodes[3]["HO"] == [b"1"] and nodes[3]["V"] == [b"-40"]
    assert text.count(b"C[other]") == 1  # the old variation stays
    # The better line stands beside the mistake and starts with the same side.
    beside = [
        n
        for n, parent in zip(nodes, record.tree.parents, strict=True)
        if parent == 2 and "Better by" in n["C"][0].decode()
    ]
    assert beside[0]["B"] == [b"aa"]


def test_the_end_is_counted_without_dead_stones(reviewed: Review) -> None:
    assert isinstance(reviewed.ending, Ending)
    assert reviewed.ending.count.result == "B+4.5"
    last = loads(annotate(reviewed))[0].tree
    node = last.nodes[last.main_line()[-1]]
    assert b"ae" in node["TB"] and b"ea" in node["TW"]
    comment = node["C"][0].decode()
    assert "Dead: A1" in comment and "The record says B+0.5" in comment


def test_ownership_on_every_node(reviewed: Review) -> None:
    assert annotate(reviewed).count(b"TB[") == 1
    owned = Known()
    found = review_game(reviewed.record, owned, judge=Judge(Scorer()))
    for position in found.positions:
        assert position.ownership is not None
        position.ownership[:] = 0.9
    assert annotate(found, ownership=True).count(b"TB[") == len(found.positions)


def test_the_page(reviewed: Review) -> None:
    page = make_page(reviewed, title="<a game>")
    assert "&lt;a game&gt;" in page and "<a game>" not in page
    assert page.count("<svg") >= 2 + len(reviewed.mistakes())
    assert "Largest mistakes" in page and "Largest surprises" in page and "The end" in page
    assert not re.search(r'(?:src|href)="?https?:', page)
    data = re.search(r'id="game">(.*?)</script>', page, re.S)
    assert data is not None
    game = json.loads(data[1])
    assert len(game["frames"]) == len(reviewed.positions)
    assert game["frames"][1]["s"].count("X") == 1 and game["frames"][1]["l"] == 12


def test_the_command(tmp_path: Path, capsys: Out) -> None:
    file = tmp_path / "game.sgf"
    file.write_text(GAME)
    values = []
    pages = []
    for seed in ("3", "3", "4"):
        options = ["--playouts", "10", "--player", "mcts", "--seed", seed, "--json"]
        assert run(["review", str(file), *options]) == 0
        values.append(json.loads(capsys.readouterr().out))
        pages.append((tmp_path / "game.review.html").read_bytes())
        assert read_game(tmp_path / "game.review.sgf").moves == read_game(file).moves
    assert values[0] == values[1] and pages[0] == pages[1]
    assert values[0]["scores"] != values[2]["scores"]
    assert len(values[0]["winrates"]) == 15 and len(values[0]["moves"]) == 14
    assert values[0]["final"]["result"].startswith(("B+", "W+"))
    assert {p.name for p in tmp_path.iterdir()} == {
        "game.sgf",
        "game.review.sgf",
        "game.review.html",
    }


def test_a_network_says_how_sure_it_is_itself() -> None:
    class Networked(Known):
        def analyse(
            self, board: Board, rng: np.random.Generator, **how: object
        ) -> Iterator[Analysis]:
            for report in super().analyse(board, rng, **how):
                yield replace(report, raw_spread=20.0, visits=16)

    [record] = loads("(;SZ[5];B[cc];W[dd])")
    found = review_game(record, Networked(), seed=1)
    assert found.moves[0].error == pytest.approx(NETWORK_SCATTER * 20.0 / 2)
    assert review_game(record, Known(), seed=1).moves[0].error != found.moves[0].error


def test_for_people_and_out(tmp_path: Path, capsys: Out) -> None:
    file, out = tmp_path / "game.sgf", tmp_path / "other.sgf"
    file.write_text(GAME)
    options = ["--playouts", "5", "--out", str(out), "--policy", "none", "--quiet"]
    assert run(["review", str(file), *options]) == 0
    text, err = capsys.readouterr()
    assert "points lost a move" in text and "counted by" in text and err == ""
    assert out.exists() and out.with_suffix(".html").exists()


def test_out_may_name_the_page_and_never_the_game(tmp_path: Path, capsys: Out) -> None:
    file, out = tmp_path / "game.sgf", tmp_path / "page.html"
    file.write_text(GAME)
    options = ["--playouts", "5", "--policy", "none", "--quiet"]
    assert run(["review", str(file), *options, "--out", str(out)]) == 0
    assert "<html" in out.read_text()
    assert read_game(out.with_suffix(".sgf")).moves == read_game(file).moves
    capsys.readouterr()
    for name in (file, file.with_suffix(".html")):  # the record would lie beside the page
        assert run(["review", str(file), *options, "--out", str(name)]) == 1
        assert (
            capsys.readouterr().err == f"tengen: {file}: is what is read; write to another name\n"
        )
    assert file.read_text() == GAME


def test_mistakes_of_the_user(tmp_path: Path, capsys: Out) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;SZ[5];B[aa];W[aa])")
    assert run(["review", str(file)]) == 1
    assert "move 2" in capsys.readouterr().err
    assert run(["review", str(tmp_path / "none.sgf")]) == 1
    file.write_text(GAME)
    assert run(["review", str(file), "--policy", "nobody"]) == 1
    assert run(["review", str(file), "--player", "random", "--policy", "none"]) == 1
    assert "cannot say what it thinks" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["game.sgf"]


def test_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    from tengen.players.mcts import MctsPlayer

    def stop(*args: Any, **options: Any) -> Iterator[Analysis]:
        raise KeyboardInterrupt

    monkeypatch.setattr(MctsPlayer, "analyse", stop)
    file = tmp_path / "game.sgf"
    file.write_text(GAME)
    assert run(["review", str(file), "--player", "mcts", "--policy", "none"]) == 3
    assert "interrupted" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["game.sgf"]


def test_games_with_setup_edits_and_no_moves() -> None:
    for text, count in (
        ("(;SZ[5]AB[aa][bb]HA[2];W[cc])", 1),
        ("(;SZ[5];B[aa];AW[cc]AB[cd];W[dd];B[ee])", 3),
        ("(;SZ[5])", 0),
        ("(;SZ[4:6];B[aa];B[bb];W[cc])", 3),
    ):
        [record] = loads(text)
        found = review_game(record, Known(), seed=1)
        assert len(found.moves) == count
        for move in found.moves:  # what the record itself puts down is nobody's loss
            assert move.lost == 0 or not any(at == move.number for at, *_ in record.edits)
        assert loads(annotate(found))[0].moves == record.moves
        assert make_page(found, title="x")


def test_colours_that_do_not_alternate() -> None:
    [record] = loads("(;SZ[5];B[aa];B[bb];W[cc])")
    found = review_game(record, Known(), seed=1)
    assert [p.board.turn for p in found.positions] == [BLACK, BLACK, WHITE, BLACK]


def test_the_policy_guides_the_search_too() -> None:
    plain, policy = make_player("mcts:playouts=5"), Predictor()
    guided = with_policy(plain, policy)
    assert guided.policy is policy and guided.playouts == 5  # type: ignore[attr-defined]
    assert with_policy(guided, Predictor()) is guided
    assert with_policy(plain, None) is plain
    known = Known()
    assert with_policy(known, policy) is known


def test_who_may_review() -> None:
    [record] = loads("(;SZ[5];B[aa])")
    with pytest.raises(SpecError):
        review_game(record, make_player("random"))  # type: ignore[arg-type]
    [record] = loads("(;SZ[5];B[aa];W[aa])")
    with pytest.raises(IllegalMoveError):
        review_game(record, Known())


SHORT = "(;SZ[5]KM[0.5]PB[Anna]RE[B+R];B[cc];W[bb];B[cb])"


class Sure:
    """An analyser that finds Black ten points ahead, and C3 best."""

    name = "sure"

    def choose(self, board: Board, rng: object) -> int:
        return board.point("C3")

    def analyse(self, board: Board, rng: object, **how: object) -> Iterator[Analysis]:
        best, side = board.point("C3"), 1 if board.turn == BLACK else -1
        candidate = Candidate(best, 100, 0.5 + 0.3 * side, 10.0 * side, pv=(best,))
        yield Analysis((candidate,), best, 100, 0.5 + 0.3 * side, 10.0 * side)


def position(score: float, moves: str = "", **more: Any) -> Position:
    board = Board(5, moves=moves)
    best = board.point("C3")
    return Position(board, 0.5, score, score, best, (best,), 4.0, 16, **more)


def test_a_move_loses_what_the_score_falls_for_its_side() -> None:
    priors = np.zeros(26)
    priors[[0, 12]] = 0.25, 0.75
    before, after = position(5.0, priors=priors), position(2.0, "B A5")
    lost = review_move(1, (BLACK, int(before.board.point("A5"))), before, after)
    assert isinstance(lost, MoveReview)
    assert (lost.lost, lost.probability, lost.rank) == (3.0, 0.25, 2)
    assert lost.error == SCATTER * 4.0 / 2
    assert review_move(1, (WHITE, int(before.board.point("A5"))), before, after).lost == 0
    assert review_move(1, (BLACK, before.best), before, after).lost == 0  # as the player would
    assert [chance for _, chance in before.guesses(2)] == [0.75, 0.25]
    assert position(0.0).guesses() == []


def test_a_game_is_judged_before_each_move_and_after_the_last() -> None:
    record = loads(SHORT)[0]
    assert [len(board.moves) for board in boards_of(record)] == [0, 1, 2, 3]
    positions = list(judge_positions(record, Sure()))
    assert len(positions) == 4 and list(judge_positions(record, Sure(), done=positions)) == []
    review = assemble(record, positions, player="sure")
    assert isinstance(review, Review) and [move.number for move in review.moves] == [1, 2, 3]
    assert review.ending is None  # resigned
    words = move_words(review, review.moves[1])
    assert words.startswith("White B4") and "Black wins" in words
    with pytest.raises(SpecError, match="cannot say what it thinks"):
        next(judge_positions(record, object()))  # type: ignore[arg-type]


def test_a_thinker_has_as_many_playouts_as_it_was_told() -> None:
    thinker = find_thinker(5, 5, ReviewSettings(playouts=7, player="mcts", policy="none"))
    assert thinker.policy is None and getattr(thinker.player, "playouts", None) == 7
    assert "7 playouts" in thinker.player.name
    assert ReviewSettings().player == DEFAULT_PLAYER
    assert callable(getattr(make_player(DEFAULT_PLAYER), "analyse", None))


def test_every_guess_that_is_named_has_a_letter_of_its_own() -> None:
    priors = np.full(26, LABELLED)
    assert len(position(0.0, priors=priors).guesses()) <= len(LABELS) == len(set(LABELS))
