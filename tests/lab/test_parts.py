"""The laboratory's smaller parts: experiments, papers, ladders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.board import Board, play_random
from tengen.errors import RunError, SpecError
from tengen.lab import pictures
from tengen.lab.opening_evolution import METHODS, PANEL
from tengen.lab.opening_td import curve_of
from tengen.lab.opening_td_experiment import TrainingSize, players_of
from tengen.lab.papers import PAPERS, Paper
from tengen.lab.sections.move_prediction import telling_patterns
from tengen.lab.sections.symmetry_network import POSITION
from tengen.lab.self_ladder import ANCHORS, Plan, Step, plan_ladder, play_ladder
from tengen.lab.speed import CONTESTS, Contest, Speed, measure
from tengen.learners.move_prediction.settings import PredictionSettings
from tengen.players import make_player
from tengen.records import GameRecord
from tengen.records.arrays import from_records

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
    found = telling_patterns(games, PredictionSettings(), 4)
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
