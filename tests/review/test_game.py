"""Reviews of one game: first pass, search, verdicts, the annotated record, the command."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import BLACK, PASS, WHITE, Board
from tengen.cli import run
from tengen.contracts import BlockStatus, Candidate, SearchInfo, Status, Verdict
from tengen.errors import SpecError
from tengen.network import Evaluation
from tengen.records import loads, read_game
from tengen.records.record import board_at
from tengen.reviews import ReviewSettings
from tengen.reviews.annotate import annotate
from tengen.reviews.game import (
    LINE,
    NETWORK_SCATTER,
    SCATTER,
    Ending,
    EvaluatedPosition,
    MoveReview,
    Review,
    Reviewer,
    evaluate,
    find_reviewer,
    legal_part,
    review_game,
    review_move,
)
from tengen.scoring.judging import Judge

Out = pytest.CaptureFixture[str]

# Black's wall and White's with a dead white stone at A1 (sgf ae); ends by two passes.
GAME = (
    "(;GM[1]FF[4]SZ[5]KM[0.5]RU[Chinese]PB[A]PW[B]RE[B+0.5]C[old \\] words]"
    ";B[cc];W[dc]LB[aa:Z];B[cb];W[db];B[ca];W[da];B[cd];W[dd]"
    "(;B[ce];W[de];B[bc];W[ae];B[];W[])(;B[be]C[other];W[ce]))"
)
SHORT = "(;SZ[5]KM[0.5]PB[Anna]RE[B+R];B[cc];W[bb];B[cb])"


class Known:
    """An analyser whose best move is always A5, with +10 points for the side to move."""

    name = "known"

    def __init__(self) -> None:
        self.searched: list[int] = []

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return board.point("A5")

    def analyse(
        self, board: Board, rng: np.random.Generator, **how: object
    ) -> Iterator[SearchInfo]:
        self.searched.append(len(board.moves))
        best = board.point("A5")
        value = 40.0 if len(board.moves) == 3 else 10.0
        candidate = Candidate(best, 1000, 0.8, value, pv=(best, board.point("B1")))
        ownership = np.full(board.rows * board.cols, 0.5 if board.turn == BLACK else -0.5)
        mine = SearchInfo((candidate,), best, 1000, 0.8, value).seen_by(board.turn)
        yield replace(mine, ownership=ownership)


class Networked(Known):
    """The same with the spread of a network, a line of visits and few visits."""

    def analyse(
        self, board: Board, rng: np.random.Generator, **how: object
    ) -> Iterator[SearchInfo]:
        for report in super().analyse(board, rng, **how):
            [candidate] = report.candidates
            told = replace(candidate, pv_visits=(9, 2))
            yield replace(report, candidates=(told,), raw_spread=20.0, visits=16)


class Network:
    """A network with given scores by number of moves, that prefers the first empty points."""

    def __init__(self, scores: Sequence[float], *, spread: float = 4.0, best: bool = False) -> None:
        self.scores, self.spread, self.best = scores, spread, best
        self.calls: list[int] = []

    def supports(self, rows: int, cols: int) -> bool:
        return True

    def evaluate(self, boards: Sequence[Board]) -> list[Evaluation]:
        self.calls.append(len(boards))
        return [self._view(board) for board in boards]

    def _view(self, board: Board) -> Evaluation:
        legal = board.legal_mask().astype(float)
        priors = legal * np.linspace(2.0, 1.0, len(legal))
        priors /= priors.sum()
        score = self.scores[min(len(board.moves), len(self.scores) - 1)]
        owner = np.full(board.rows * board.cols, np.tanh(score / 10))
        best = None
        if self.best:
            best = priors[::-1] * legal
            best[-1] = 0
        return Evaluation(priors, float(1 / (1 + np.exp(-score))), score, self.spread, owner, best)


class Predictor:
    """A policy that gives everything to E5 and a little to the rest."""

    def priors(self, board: Board) -> Any:
        mask = board.legal_mask().astype(float) * 0.01
        if mask[4]:
            mask[4] = 1.0
        return mask / mask.sum()


class Scorer:
    """A scorer for which the stone on A1 is dead."""

    def status(self, board: Board) -> Verdict:
        dead = board.point("A1")
        blocks = tuple(
            BlockStatus(b.stones, b.colour, Status.DEAD if dead in b.stones else Status.ALIVE, 1.0)
            for b in board.blocks()
        )
        return Verdict(blocks, True)


def by_known(text: str = GAME, **more: Any) -> Review:
    """Review a game without a network: every position is searched."""
    [record] = loads(text)
    reviewer = Reviewer(Known(), policy=Predictor(), name="known")
    return review_game(record, reviewer, judge=Judge(Scorer()), **more)


@pytest.fixture
def reviewed() -> Review:
    return by_known(seed=1)


def position(score: float, moves: str = "", **more: Any) -> EvaluatedPosition:
    board = Board(5, moves=moves)
    best = board.point("C3")
    return EvaluatedPosition(board, 0.5, score, 4.0, 16, best, (best,), **more)


# ----- First pass -----


def test_the_first_pass_evaluates_every_position_once_in_batches() -> None:
    points = [f"{x}{y}" for y in "edcb" for x in "ace"]
    text = "".join(f";{'BW'[n % 2]}[{p}]" for n, p in enumerate(points))
    [record] = loads(f"(;SZ[5]KM[0]{text})")
    network = Network([0.0, -9.0, -9.0, -9.0, 3.0])
    found = review_game(record, Reviewer(None, network))
    assert network.calls[0] == 13 and all(p.visits == 1 for p in found.positions)
    assert found.moves[0].points_lost == pytest.approx(9)  # Black's first move
    assert found.moves[3].points_lost == pytest.approx(12)  # White's second
    assert found.moves[1].points_lost == 0
    assert found.moves[0].verdict == "doubtful" and found.moves[0].visits == 1
    assert found.moves[0].error == pytest.approx(NETWORK_SCATTER * 4.0)
    assert found.moves[0].win_probability < 0.01 and found.moves[0].score == -9.0


def test_the_best_move_comes_from_the_output_for_best_moves() -> None:
    [record] = loads(SHORT)
    plain = review_game(record, Reviewer(None, Network([0.0])))
    better = review_game(record, Reviewer(None, Network([0.0], best=True)))
    assert plain.positions[0].best == Board(5).point("A5")
    assert better.positions[0].best == Board(5).point("E1")
    assert better.moves[0].probability == plain.moves[0].probability  # people's moves


# ----- Search -----


def test_only_moves_that_matter_are_searched_with_both_their_positions() -> None:
    [record] = loads("(;SZ[5]KM[0];B[ee];W[de];B[ce];W[be];B[ae];W[ed];B[dd];W[cd])")
    scores = [0.0, 0.0, 0.0, -8.0, -8.0, -8.0, -8.0, -8.0, -8.0]
    player = Networked()
    stages: list[str] = []
    first: list[Review] = []
    found = review_game(
        record,
        Reviewer(player, Network(scores, spread=1.0)),
        on_step=lambda stage, done, total: stages.append(f"{stage} {done}/{total}"),
        on_first=first.append,
    )
    assert player.searched == [2, 3]
    assert stages[8:11] == ["first pass 9/9", "search 1/2", "search 2/2"]
    assert len(first) == 1 and first[0].moves[2].visits == 1
    # Before the move Black expects +10, after it White expects +40: searched values on both sides,
    # and more than the 25 points of the board.
    assert found.moves[2].points_lost == pytest.approx(25) and found.moves[2].visits == 16
    # The next move starts from a searched position and ends at one that is not: first pass for it.
    assert found.moves[3].points_lost == 0 and found.moves[3].visits == 1


def test_the_number_of_searched_moves_is_limited() -> None:
    [record] = loads("(;SZ[5]KM[0];B[ee];W[de];B[ce];W[be])")
    player = Networked()
    network = Network([0.0, -5.0, 9.0, -9.0, 3.0])
    review_game(record, Reviewer(player, network, searches=1))
    assert player.searched == [2, 3]  # the largest loss


def test_known_searches_are_not_repeated() -> None:
    [record] = loads("(;SZ[5]KM[0];B[ee];W[de];B[ce];W[be])")
    network = Network([0.0, -5.0, 9.0, -9.0, 3.0])
    steps = list(evaluate(record, Reviewer(Networked(), network)))
    found = {number: position for _, number, position, _ in steps}
    again = Networked()
    known = {n: p for n, p in found.items() if p.searched and n != 2}
    resumed = list(evaluate(record, Reviewer(again, network), known=known))
    assert again.searched == [2]
    last = {number: position for _, number, position, _ in resumed}
    assert [last[n].score for n in sorted(last)] == [found[n].score for n in sorted(found)]
    assert all(p.searched for _, n, p, _ in resumed if n in known)  # never shown worse than before


def test_better_lines_go_on_with_legal_moves_of_the_network() -> None:
    [record] = loads("(;SZ[5]KM[0];B[cc];W[dd])")
    found = review_game(record, Reviewer(Networked(), Network([0.0, -30.0, 0.0])))
    assert [m.verdict for m in found.moves] == ["mistake", "mistake"]
    for move in found.moves:
        # The searched line is cut where its visits end, after A5; the network goes on from there.
        assert move.line[0] == move.best == Board(5).point("A5") and len(move.line) == LINE
        board = found.positions[move.number - 1].board.copy()
        for point in move.line:
            board.play(board.to_point(point))


def test_positions_are_under_the_rules_of_the_record() -> None:
    for rules, scoring in (("Japanese", "territory"), ("Chinese", "area")):
        [record] = loads(f"(;SZ[5]RU[{rules}];B[cc])")
        assert {board.rules.scoring for board in legal_part(record)[0]} == {scoring}


class Steady(Known):
    """A player for which every position is worth the same, but the one after `bad` moves."""

    bad = 5

    def analyse(
        self, board: Board, rng: np.random.Generator, **how: object
    ) -> Iterator[SearchInfo]:
        for report in super().analyse(board, rng, **how):
            score = -30.0 if len(board.moves) >= self.bad else 0.0
            [candidate] = report.candidates
            told = replace(candidate, score=score)
            yield replace(report, candidates=(told,), score=score, raw_spread=4.0, visits=8)


def test_a_quick_review_confirms_mistakes_with_few_visits() -> None:
    # The network misjudges the position after move 2: moves 2 and 3 seem to lose points. Move 5,
    # Black's, does lose.
    [record] = loads("(;SZ[5]KM[0];B[cc];W[dd];B[bb];W[bd];B[db])")
    network = Network([0.0, 0.0, 30.0, 0.0, 0.0, -30.0])
    player = Steady()
    found = review_game(record, Reviewer(player, network, quick=True))
    assert player.searched == [1, 2, 3, 4, 5]
    assert [m.number for m in found.moves if m.verdict] == [5]
    assert found.moves[4].verdict == "mistake" and found.moves[4].visits == 8
    # What was not confirmed is doubtful; the largest losses come first, the earlier of two equal.
    found = review_game(record, Reviewer(Steady(), network, searches=1, quick=True))
    assert [m.verdict for m in found.moves] == ["", "", "doubtful", "", "doubtful"]


# ----- Losses -----


def test_points_lost_are_the_difference_of_the_scores(reviewed: Review) -> None:
    # Before move 1 Black expects +10; after it White expects +10: 20 points lost.
    assert reviewed.moves[0].points_lost == pytest.approx(20)
    # After move 3 White, to move, expects +40: Black lost all 25, the largest mistake.
    assert reviewed.moves[2].points_lost == pytest.approx(25)
    assert reviewed.mistakes(1)[0].number == 3
    assert reviewed.moves[2].best == reviewed.positions[0].board.point("A5")
    assert [p.score for p in reviewed.positions[:4]] == pytest.approx([10, -10, 10, -40])
    assert reviewed.positions[1].win_probability == pytest.approx(0.2)


def test_a_move_loses_what_the_score_falls_for_its_side() -> None:
    priors = np.zeros(26)
    priors[[0, 12]] = 0.25, 0.75
    before, after = position(5.0, priors=priors), position(2.0, "B A5")
    lost = review_move(1, (BLACK, int(before.board.point("A5"))), before, after)
    assert isinstance(lost, MoveReview)
    assert (lost.points_lost, lost.probability, lost.rank) == (3.0, 0.25, 2)
    assert lost.error == NETWORK_SCATTER * 4.0 / 2
    assert review_move(1, (WHITE, int(before.board.point("A5"))), before, after).points_lost == 0
    assert review_move(1, (BLACK, before.best), before, after).points_lost == 0
    assert [chance for _, chance in before.guesses(2)] == [0.75, 0.25]
    assert position(0.0).guesses() == []


def test_a_small_loss_is_doubtful_or_nothing(reviewed: Review) -> None:
    def verdict(lost: float, error: float) -> str:
        return replace(reviewed.moves[0], points_lost=lost, error=error).verdict

    assert verdict(9, 2) == "mistake"
    assert verdict(4, 2) == "doubtful"
    assert verdict(2.5, 2) == ""
    assert verdict(1.5, 0.1) == ""  # too small to matter
    moves = [replace(m, points_lost=5.0, error=2.0) for m in reviewed.moves[:4]]
    unsure = replace(reviewed, moves=[*moves, *reviewed.moves[4:]])
    clear = len(unsure.mistakes(99))
    assert len(unsure.doubts(clear)) == 0
    assert len(unsure.doubts(clear + 2)) == 2
    tree = loads(annotate(unsure, top=20))[0].tree
    assert tree.nodes[1]["DO"] == [b""] and "BM" not in tree.nodes[1]


def test_a_pass_is_a_mistake_while_the_other_side_would_play_on(reviewed: Review) -> None:
    # The player that knows no pass would go on after the first; the second ends the game.
    assert [m.points_lost > 0 for m in reviewed.moves if m.move == PASS] == [True, False]
    settled = replace(reviewed.positions[1], best=PASS)
    assert review_move(1, (BLACK, PASS), reviewed.positions[0], settled).points_lost == 0
    early = by_known("(;SZ[5];B[];W[cc])").moves[0]
    assert early.points_lost > 0 and early.cause.name == "pass"


DAME = ". X . O .\n. X . O .\n. X . O .\n. X . O .\n. X . O ."  # five points between walls
ONE_DAME = DAME.replace("X . O", "X X O", 4)  # only C1 is left, and either wall is settled
OWNER = np.where(np.arange(25) % 5 < 3, 1.0, -1.0)


@pytest.mark.parametrize(
    ("picture", "move", "after_owner", "lost"),
    [
        (ONE_DAME, "C1", OWNER, 0.0),  # the score fell, but nothing on the board changed hands
        (ONE_DAME, "C1", np.full(25, -1.0), 4.0),  # it costs a group
        (DAME, "C3", OWNER, 4.0),  # the region is large
    ],
)
def test_only_filling_a_neutral_point_is_never_a_mistake(
    picture: str, move: str, after_owner: Any, lost: float
) -> None:
    board = Board.from_ascii(picture)
    played, best = board.copy(), board.point("A1")
    played.play(move)
    before = EvaluatedPosition(board, 0.5, 6.0, 1.0, 50, best, ownership=OWNER)
    after = EvaluatedPosition(played, 0.5, 2.0, 1.0, 50, best, ownership=after_owner)
    assert review_move(1, (BLACK, int(board.point(move))), before, after).points_lost == lost


def test_no_move_loses_more_than_the_board_holds() -> None:
    [record] = loads("(;SZ[5];B[cc])")
    before, after = (
        EvaluatedPosition(board, 0.5, score, 1.0, 1, board.point("A1"))
        for board, score in zip(legal_part(record)[0], (20.0, -20.0), strict=True)
    )
    assert review_move(1, record.moves[0], before, after).points_lost == 25


def test_a_review_ends_before_an_illegal_move() -> None:
    [record] = loads("(;SZ[5]RE[B+3];B[cc];W[bb];B[bb];W[dd])")
    found = review_game(record, find_reviewer(5, 5, ReviewSettings(quick=True)))
    assert len(found.moves) == 2 and len(found.positions) == 3 and found.ending is None
    assert "up to move 2" in found.remark and "taken" in found.remark
    assert found.remark in str(found) and found.summary()["remark"] == found.remark
    [again] = loads(annotate(found))
    assert again.moves == record.moves and found.remark in again.properties["C"][0]


def test_playing_the_best_move_loses_nothing() -> None:
    found = by_known("(;SZ[5];B[aa];W[cc])")
    assert found.moves[0].points_lost == 0 and found.moves[1].points_lost > 0
    assert found.ending is None


def test_predictions_and_surprises(reviewed: Review) -> None:
    first = reviewed.moves[0]
    assert first.rank == 2 and first.probability == pytest.approx(0.01 / 1.25)
    assert reviewed.moves[-1].probability is None  # passes are not predicted
    assert reviewed.surprises(3)[0].probability == min(
        m.probability for m in reviewed.moves if m.probability is not None
    )


def test_a_search_by_playouts_has_a_larger_error() -> None:
    [record] = loads("(;SZ[5];B[cc];W[dd])")
    found = review_game(record, Reviewer(Networked()))
    assert found.moves[0].error == pytest.approx(NETWORK_SCATTER * 20.0 / 2)
    assert review_game(record, Reviewer(Known())).positions[0].scatter == SCATTER


def test_games_with_setup_edits_and_no_moves() -> None:
    for text, count in (
        ("(;SZ[5]AB[aa][bb]HA[2];W[cc])", 1),
        ("(;SZ[5];B[aa];AW[cc]AB[cd];W[dd];B[ee])", 3),
        ("(;SZ[5])", 0),
        ("(;SZ[4:6];B[aa];B[bb];W[cc])", 3),
    ):
        [record] = loads(text)
        for found in (by_known(text), review_game(record, Reviewer(None, Network([0.0, 5.0])))):
            assert len(found.moves) == count
            for move in found.moves:  # stones the record itself puts down are nobody's loss
                assert move.points_lost == 0 or all(at != move.number for at, *_ in record.edits)
            assert loads(annotate(found))[0].moves == record.moves


def test_colours_that_do_not_alternate() -> None:
    found = by_known("(;SZ[5];B[aa];B[bb];W[cc])")
    assert [p.board.turn for p in found.positions] == [BLACK, BLACK, WHITE, BLACK]


# ----- Reviewers -----


def test_reviewers_for_every_board() -> None:
    judged = find_reviewer(9, 9, ReviewSettings())
    assert judged.network is not None and judged.player is not None
    assert find_reviewer(9, 9, ReviewSettings(quick=True)).quick
    small = find_reviewer(4, 4, ReviewSettings(visits=7))
    assert small.network is None and small.player is not None
    other = find_reviewer(9, 9, ReviewSettings(player="mcts", visits=7))
    assert other.network is None and getattr(other.player, "playouts", None) == 7
    with pytest.raises(SpecError, match="needs a network"):
        find_reviewer(4, 4, ReviewSettings(quick=True))
    with pytest.raises(SpecError, match="cannot analyse"):
        find_reviewer(9, 9, ReviewSettings(player="random"))


# ----- The annotated record -----


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
    found = by_known()
    for each in found.positions:
        assert each.ownership is not None
        each.ownership[:] = 0.9
    assert annotate(found, ownership=True).count(b"TB[") == len(found.positions)


# ----- The command -----


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.sgf"
    path.write_text(GAME)
    return path


def test_the_command(file: Path, tmp_path: Path, capsys: Out) -> None:
    values = []
    pages = []
    for _ in range(2):
        assert run(["review", str(file), "--visits", "8", "--json", "--quiet"]) == 0
        [value] = json.loads(capsys.readouterr().out)
        assert value.pop("seconds") > 0
        values.append(value)
        pages.append((tmp_path / "game.review.html").read_bytes())
        assert read_game(tmp_path / "game.review.sgf").moves == read_game(file).moves
    assert values[0] == values[1] and pages[0] == pages[1]
    assert values[0]["file"] == str(file) and values[0]["game"] == 1
    assert len(values[0]["moves"]) == 14
    needed = {"number", "move", "points_lost", "best", "winrate", "score"}
    assert needed <= set(values[0]["moves"][0])
    assert {move["visits"] for move in values[0]["moves"]} >= {1, 8}
    assert values[0]["summary"]["ending"]["result"].startswith(("B+", "W+"))
    assert values[0]["summary"]["black"]["moves"] == 7
    written = {"game.sgf", "game.review.sgf", "game.review.html"}
    assert {p.name for p in tmp_path.iterdir()} == written


def test_for_people_and_out(file: Path, tmp_path: Path, capsys: Out) -> None:
    out = tmp_path / "other.sgf"
    options = ["--player", "mcts", "--visits", "5", "--out", str(out), "--quiet"]
    assert run(["review", str(file), *options]) == 0
    text, err = capsys.readouterr()
    assert "points lost per move" in text and "counted by" in text and err == ""
    assert out.exists() and out.with_suffix(".html").exists()


def test_out_may_name_the_page_and_never_the_game(file: Path, tmp_path: Path, capsys: Out) -> None:
    out = tmp_path / "page.html"
    options = ["--quick", "--quiet", "--json"]
    assert run(["review", str(file), *options, "--out", str(out)]) == 0
    assert "<html" in out.read_text()
    assert read_game(out.with_suffix(".sgf")).moves == read_game(file).moves
    [value] = json.loads(capsys.readouterr().out)
    assert all(move["visits"] > 1 for move in value["moves"] if move["verdict"] == "mistake")
    for name in (file, file.with_suffix(".html")):  # the record would lie beside the page
        assert run(["review", str(file), *options, "--out", str(name)]) == 1
        assert str(file) in capsys.readouterr().err
    assert file.read_text() == GAME


def test_mistakes_of_the_user(file: Path, tmp_path: Path, capsys: Out) -> None:
    file.write_text("(;SZ[2]AB[aa][ab][ba][bb])")
    assert run(["review", str(file)]) == 1
    assert "move 0" in capsys.readouterr().err
    assert run(["review", str(tmp_path / "none.sgf")]) == 1
    file.write_text(GAME)
    assert run(["review", str(file), "--player", "nobody"]) == 1
    assert run(["review", str(file), "--player", "random"]) == 1
    assert "cannot analyse" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["game.sgf"]


def test_an_interrupted_search_leaves_the_page_of_the_first_pass(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    from tengen.players.network_search import SearchPlayer

    def stop(*args: Any, **options: Any) -> Iterator[SearchInfo]:
        raise KeyboardInterrupt

    monkeypatch.setattr(SearchPlayer, "analyse", stop)
    assert run(["review", str(file)]) == 3
    assert "interrupted" in capsys.readouterr().err
    assert {p.name for p in tmp_path.iterdir()} == {"game.sgf", "game.review.html"}
