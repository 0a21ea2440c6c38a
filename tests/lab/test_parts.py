"""The laboratory's smaller parts, each by its own name: reviews, fates, ladders, papers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board, play_random
from tengen.board.counting import count_board
from tengen.contracts import Analysis, Candidate
from tengen.errors import RunError, SpecError, TengenError
from tengen.lab import pictures
from tengen.lab.fates import Fate, Fates, usual_models
from tengen.lab.opening_evolution import METHODS, PANEL
from tengen.lab.opening_td import curve_of
from tengen.lab.opening_td_experiment import TrainingSize, players_of
from tengen.lab.papers import PAPERS, Paper
from tengen.lab.prediction_pictures import telling_patterns
from tengen.lab.review import (
    SCATTER,
    Ending,
    MoveReview,
    Position,
    Review,
    assemble,
    boards_of,
    find_thinker,
    judge_positions,
    review_move,
)
from tengen.lab.review_index import make_index
from tengen.lab.review_library import headline, review_library
from tengen.lab.review_settings import DEFAULT_PLAYER, ReviewSettings
from tengen.lab.review_sgf import LABELLED, LABELS, move_words
from tengen.lab.review_tables import PHASES, Account, summarise
from tengen.lab.sections.symmetry_network import POSITION
from tengen.lab.self_ladder import ANCHORS, Plan, Step, plan_ladder, play_ladder
from tengen.lab.speed import CONTESTS, Contest, Speed, measure
from tengen.learners.move_prediction.settings import PaperSettings
from tengen.players import make_player
from tengen.records import GameRecord, loads
from tengen.records.arrays import from_records

GAME = "(;SZ[5]KM[0.5]PB[Anna]RE[B+R];B[cc];W[bb];B[cb])"


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


# ----- Reviews -----


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
    record = loads(GAME)[0]
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


def test_an_ending_keeps_the_count_and_who_counted() -> None:
    board = Board.from_ascii("\n".join([". X . O ."] * 5), komi=0.5)
    ending = Ending(count_board(board, None), (), "somebody")
    assert ending.count.score == -0.5 and ending.judge == "somebody"


def test_a_thinker_has_as_many_playouts_as_it_was_told() -> None:
    thinker = find_thinker(5, 5, ReviewSettings(playouts=7, player="mcts", policy="none"))
    assert thinker.policy is None and getattr(thinker.player, "playouts", None) == 7
    assert "7 playouts" in thinker.player.name
    assert ReviewSettings().player == DEFAULT_PLAYER
    assert callable(getattr(make_player(DEFAULT_PLAYER), "analyse", None))


def test_a_headline_says_what_the_record_says() -> None:
    told = headline(loads(GAME)[0])
    assert (told["black"], told["white"], told["result"]) == ("Anna", "", "B+R")
    assert (told["size"], told["moves"], told["komi"]) == ([5, 5], 3, 0.5)


def test_a_library_without_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TengenError):
        review_library([], tmp_path / "out", ReviewSettings(), unread=["a.sgf: nothing"])


def test_accounts_add_up_by_phase_and_kind() -> None:
    account = Account()
    row = {"phase": PHASES[0], "kind": "contact", "lost": 2.0, "rank": 1, "verdict": "mistake"}
    rows = [row, {**row, "lost": 0.0, "verdict": "", "rank": 3, "phase": PHASES[2]}]
    account.add(rows, "5k")
    told = account.to_dict()
    assert (told["games"], told["rank"], told["moves"]) == (1, "5k", 2)
    assert told["mean_lost"] == 1.0 and told["predicted_first"] == 0.5
    assert told["phases"][PHASES[0]]["mistakes_per_100"] == 100 and set(told["kinds"]) == {
        "contact"
    }


def test_the_page_of_many_games_shows_names_as_text() -> None:
    player = {"name": "<Anna>", "against_rank": None, **Account(games=3).to_dict()}
    summary = {**summarise([]), "all": Account().to_dict(), "players": [player], "unread": []}
    page = make_index([], summary, ReviewSettings())
    assert page.startswith("<!") and "&lt;Anna&gt;" in page and "<Anna>" not in page


def test_every_guess_that_is_named_has_a_letter_of_its_own() -> None:
    priors = np.full(26, LABELLED)
    assert len(position(0.0, priors=priors).guesses()) <= len(LABELS) == len(set(LABELS))


# ----- Fates -----


def test_fates_are_drawn_and_told_block_by_block() -> None:
    board = Board.from_ascii("X . O\n. . .\n. . .")
    block = Fate((board.point("A3"),), BLACK, {"life": 0.25, "other": 1.0})
    assert block.to_dict()["block"] == block.name == "A3" and block.to_dict()["colour"] == "black"
    drawing = Fates(board, (block,), ("life", "other")).svg()
    assert drawing.count(">life<") == 1 == drawing.count(">other<")
    assert "25" in drawing and drawing.rstrip().endswith("</svg>")


def test_usual_models_say_who_owns_what() -> None:
    (name, model), *_ = usual_models(9, 9).items()
    assert name == "life" and callable(model.ownership)


# ----- Experiments -----


def test_a_curve_is_read_from_the_rows_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 10, "win_rate": 0.5}\n')
    assert curve_of(tmp_path) == [{"games": 10, "win_rate": 0.5}]


def test_a_training_size_names_its_players_and_its_judge() -> None:
    size = TrainingSize(games=7, rows=5)
    assert (size.terms.games, size.terms.rows, size.judged_by) == (7, 5, "builtin")
    assert TrainingSize(referee="static").judged_by == "static"
    with pytest.raises(SpecError):
        TrainingSize(games=0)
    assert players_of("0 ABC-binary A-scalar") == [("ABC", "binary"), ("A", "scalar")]


def test_patterns_that_tell_are_drawn_likeliest_first() -> None:
    boards = [play_random(Board(5), 12, np.random.default_rng(seed)) for seed in range(24)]
    games = from_records([GameRecord(rows=5, cols=5, moves=board.moves) for board in boards])
    found = telling_patterns(games, PaperSettings(), 4)
    shares = [float(picture.title.split()[1]) for picture in found]
    assert 0 < len(found) <= 4 and shares == sorted(shares, reverse=True)


def test_cells_of_pictures_are_told_apart() -> None:
    cells = {pictures.OWN, pictures.ENEMY, pictures.OUTSIDE, pictures.UNKNOWN}
    assert len(cells) == 4


def test_every_method_of_evolution_and_every_opponent_of_the_panel_is_there() -> None:
    for make, generations in METHODS.values():
        assert generations > 0 and make("dense", 3, 7, 5).seed == 3
    assert [make_player(name).name for name in PANEL] == list(PANEL)


def test_the_position_to_look_at_is_a_game_so_far() -> None:
    assert len(Board(9, moves=POSITION).moves) == len(POSITION.split()) // 2


def test_papers_are_named_once_and_say_what_they_claim() -> None:
    assert len(PAPERS) == 5
    for key, paper in PAPERS.items():
        assert isinstance(paper, Paper) and paper.key == key
        assert paper.line.strip() and paper.cost.strip()


def test_a_contest_without_a_peer_has_no_ratio(tmp_path: Path) -> None:
    work = Contest("nothing", "things/s", lambda games: lambda: 3)
    found = measure(work, tmp_path, rounds=1, seconds=0.01)
    assert isinstance(found, Speed) and found.ours > 0
    assert (found.peer, found.ratio) == (None, None)
    assert all(isinstance(contest, Contest) for contest in CONTESTS.values())


# ----- The ladder of a run -----


def test_a_ladder_needs_a_run_and_keeps_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        plan_ladder(tmp_path)
    for anchor in ANCHORS:
        assert make_player(anchor).name
    assert Step("a", 1.0, 0.0, 2.0, 4, minutes=2.5).value() == {
        "name": "a", "elo": 1.0, "low": 0.0, "high": 2.0, "games_played": 4, "minutes": 2.5,
    }  # fmt: skip


def test_a_ladder_rates_whom_its_plan_names(tmp_path: Path) -> None:
    from tengen.arena import Conditions, Entrant, Tournament

    entrants = (Entrant(name="new", spec="maxlib"), Entrant(name="old", spec="random", elo=0.0))
    pairs = (("new", "old"),)
    tournament = Tournament(
        kind="pairs", games=2, conditions=Conditions(rows=3, cols=3), entrants=entrants, pairs=pairs
    )
    known = {"new": {"seconds": 90, "games": 12, "positions": 100}}
    steps = {
        step.name: step for step in play_ladder(Plan(tournament, known), tmp_path / "l.sqlite")
    }
    assert steps["old"].elo == 0.0 and steps["old"].minutes is None
    assert (steps["new"].minutes, steps["new"].games, steps["new"].games_played) == (1.5, 12, 2)
