"""The report follows from the rows: what is known of made-up rows is what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.lab.decisions import AGREES, BETTER, REFUTED, UNDECIDED, WORSE
from tengen.lab.evidence import record_of, write_evidence
from tengen.lab.report import PaperReport
from tengen.papers.move_prediction.model import TOPS
from tengen.papers.move_prediction.report import PAPER, report

GAMES, MOVES = 500, 200
REAL = {"made": 0, "board": 19, "test_games": GAMES, "solvers": ["optimum", "passes"],
        "train": "some.sgf", "threads": 1}  # fmt: skip


def write(data: Path, name: str, rows: list[dict[str, Any]], **settings: Any) -> None:
    run = record_of("made up", [0], {**REAL, **settings}, seconds=0, cpu_seconds=0)
    write_evidence(data / name, rows, run)


def hit_rows(
    rates: dict[int, float], games: int = GAMES, spread: float = 0.01
) -> list[dict[str, Any]]:
    """Return rows of test games whose rates by rank are these on average."""
    noise = np.random.default_rng(int(1e6 * sum(rates.values()))).standard_normal(games)
    noise = spread * (noise - noise.mean())
    return [
        {"test": game, "moves": MOVES,
         **{f"hits{top}": round(MOVES * (rates.get(top, 0.9) + noise[game]), 3) for top in TOPS}}
        for game in range(games)
    ]  # fmt: skip


def training(games: int, width: float = 0.9, top: int = 20, solver: str = "optimum", seed: int = 0):
    return {"games": games, "width": width, "top": top, "solver": solver, "seed": seed}


def rows_of(trainings: list[tuple[dict[str, Any], dict[int, float]]], **kind: Any) -> list[Any]:
    return [{**each, **row} for each, rates in trainings for row in hit_rows(rates, **kind)]


def paper_tables() -> list[tuple[dict[str, Any], dict[int, float]]]:
    """Return trainings with the paper's rates of Tables I to IV."""
    found = [
        (training(2000, float(width)), {1: figure})
        for width, figure in PAPER.figures("araki.table1").items()
        if width not in ("gain", "0.9")
    ]
    for top in (0, 20, 40, 60, 80):
        figures = PAPER.figures(f"araki.table2.{top}")
        found.append((training(2000, top=top), {int(rank): f for rank, f in figures.items()}))
    for games in (5000, 10_000, 15_000, 20_000):
        figures = PAPER.figures(f"araki.games.{games}")
        found.append((training(games), {int(rank): f for rank, f in figures.items()}))
    return found


def verdicts(found: PaperReport) -> dict[str, str]:
    return {each.claim.id: each.verdict for each in found.claims}


def test_the_papers_own_figures_agree(tmp_path: Path) -> None:
    write(tmp_path, "move-prediction", rows_of(paper_tables()))
    found = report(tmp_path)
    said = verdicts(found)
    skipped = {"araki.cost.days", "araki.cost.memory", "araki.match"}
    assert set(said) == set(PAPER.claims) - skipped
    agreed = {id for id, word in said.items() if word == AGREES}
    assert agreed == {id for id in said if PAPER.claims[id].comparable}
    assert all(each.full for each in found.claims)
    assert [table.key for table in found.tables] == ["table-1", "table-2", "table-3"]
    for table in found.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_few_games_leave_small_effects_undecided(tmp_path: Path) -> None:
    rows = [
        {**training(2000, width), **row}
        for width, rate in ((0.0, 0.27), (0.9, 0.282))
        for row in hit_rows({1: rate}, games=6, spread=0.05)
    ]
    write(tmp_path, "move-prediction", rows, test_games=6)
    [gain] = [each for each in report(tmp_path).claims if each.claim.id == "araki.table1.gain"]
    assert gain.verdict == UNDECIDED and not gain.full and gain.independent == "test game"


def test_no_effect_refutes_only_at_the_papers_scale(tmp_path: Path) -> None:
    none = rows_of([(training(2000, width), {1: 0.28}) for width in (0.0, 0.9)])
    write(tmp_path, "move-prediction", none)
    assert verdicts(report(tmp_path))["araki.table1.gain"] == REFUTED
    fewer = [{**row, "games": 500} for row in none]
    write(tmp_path, "move-prediction", fewer)
    said = verdicts(report(tmp_path))
    assert said["araki.table1.gain"] == UNDECIDED
    assert "araki.table1.0.9" not in said  # a rate after 500 games is not a rate after 2,000


def test_rates_of_made_games_are_not_compared(tmp_path: Path) -> None:
    write(tmp_path, "move-prediction", rows_of(paper_tables()), made=400)
    assert all("gain" in id for id in verdicts(report(tmp_path)))


def test_several_trainings_are_the_unit(tmp_path: Path) -> None:
    rows = [
        {**training(2000, width, seed=seed), **row}
        for seed in range(5)
        for width, rate in ((0.0, 0.27), (0.9, 0.282 + 0.001 * (seed % 2)))
        for row in hit_rows({1: rate}, games=10)
    ]
    write(tmp_path, "move-prediction", rows)
    [gain] = [each for each in report(tmp_path).claims if each.claim.id == "araki.table1.gain"]
    assert (gain.independent, gain.ours.units) == ("training", 5)


def test_cost_is_read_off_the_trainings(tmp_path: Path) -> None:
    write(tmp_path, "move-prediction", rows_of(paper_tables()))
    trainings = [
        {**training(games), "patterns": 9, "features": 9, "iterations": 90, "violation": 1.0,
         "seconds": games / 10, "cpu_seconds": games / 5, "peak_memory": games / 5000}
        for games in (2000, 5000, 10_000, 15_000, 20_000)
    ]  # fmt: skip
    write(tmp_path, "move-prediction-trainings", trainings)
    found = report(tmp_path)
    said = verdicts(found)
    assert said["araki.cost.memory"] == BETTER
    [cost] = found.questions
    assert cost.ours is not None and cost.ours.mean == pytest.approx(0.3394 - 0.3373, abs=1e-5)
    assert len(found.figures) == 3 and found.table("cost") is not None


@pytest.mark.parametrize(
    ("wins", "games", "verdict"), [(0, 40, AGREES), (10, 40, WORSE), (1, 2, UNDECIDED)]
)
def test_the_match(tmp_path: Path, wins: int, games: int, verdict: str) -> None:
    rows = [
        {"game": n, "seed": n, "black": "paper", "white": "opponent", "won": float(n < wins),
         "result": "", "plies": 9} if n % 2 else
        {"game": n, "seed": n, "black": "opponent", "white": "paper", "won": float(n < wins),
         "result": "", "plies": 9}
        for n in range(games)
    ]  # fmt: skip
    settings = {"games": 20_000, "solver": "optimum", "opponent": "gtp:gnugo"}
    write(tmp_path, "move-prediction-match", rows, **settings)
    [found] = report(tmp_path).claims
    # More wins than the paper's are better, as long as they are fewer than half.
    assert found.verdict == (BETTER if verdict == WORSE else verdict)


def test_answers_about_weaker_players_and_own_moves(tmp_path: Path) -> None:
    ranks = [
        {"group": group, "seed": 0, "tested": tested, **row}
        for group in ("6d", "8d")
        for tested in ("6d", "8d")
        for row in hit_rows({1: 0.30 + 0.02 * (group == tested)}, games=20)
    ]
    settings = {"groups": ["6d", "8d"], "games": 100}
    write(tmp_path, "move-prediction-ranks", ranks, **settings)
    own = [
        {"test": game, "line": line, "features": features, "moves": 10,
         "hits1": 3.0 + help * (features == "history") + 0.1 * (game % 2), "hits5": 6.0}
        for line, help in (("expert", 1.0), ("own", -0.5))
        for features in ("history", "none")
        for game in range(20)
    ]  # fmt: skip
    write(tmp_path, "move-prediction-own-moves", own, expert="static", games=100)
    answers = {each.id: each for each in report(tmp_path).questions}
    assert answers["araki.weaker.strong"].text.startswith("no")
    assert answers["araki.weaker.weak"].text.startswith("yes")
    assert answers["araki.own.help"].text.startswith("no")
    less = answers["araki.own.mislead"].ours
    assert less is not None and less.mean == pytest.approx(-0.15)


def test_answers_about_pruning(tmp_path: Path) -> None:
    rows = [
        {"test": game, "ply": 20, "moves": 100, "width": width,
         "kept": int(width == 10 or game < 5), "lost": 0.0 if width == 10 else 2.0}
        for game in range(10)
        for width in (1, 10)
    ]  # fmt: skip
    settings = {"match_width": 10, "games": 100, "evaluator": "area"}
    write(tmp_path, "move-prediction-pruning", rows, **settings)
    won = [{"game": n, "won": float(n != 3)} for n in range(4)]
    write(tmp_path, "move-prediction-pruning-match", won, **settings)
    found = report(tmp_path)
    kept, match = found.questions
    assert kept.text.startswith("100.0 %") and match.text.startswith("undecided")
    table = found.table("pruning")
    assert table is not None and [row[0] for row in table.rows] == ["1", "10"]


def test_without_rows_there_is_nothing_to_say(tmp_path: Path) -> None:
    found = report(tmp_path)
    assert not (found.claims or found.tables or found.figures or found.questions)
