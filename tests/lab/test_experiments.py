"""Every experiment works at a tiny size and is reproducible."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from tengen.lab import experiments
from tengen.lab.drawing import draw
from tengen.lab.papers import all_claims
from tengen.lab.rendering import parts
from tengen.lab.result import Findings
from tengen.lab.steps import LabContext, Step
from tengen.lab.verdicts import UNMEASURED, WORDS, merge_recorded, recorded_runs
from tengen.papers.move_prediction import experiments as move_prediction
from tengen.papers.opening_evolution import experiments as opening_evolution
from tengen.papers.scoring_failure import experiments as scoring

EXPERIMENTS = {experiment.name: experiment for experiment in experiments()}
SLOW = ("scoring-failure", "symmetry-network")
QUICK = {
    "players": "games=1",
    "opening-td": "games=20 curve_every=10 curve_games=4 shipped_games=4",
    "opening-td-inputs": "games=6 pair_games=2 curve_games=0 features=A,ABCD,ABCDE "
    "expert=playouts:8",
    "scoring-failure": "made=6 test_games=3 steps=10 epochs=5",
    "symmetry-weights": "boards=5",
    "symmetry-network": "games=12 linear_games=4 snapshot_every=6 pair_games=2 match_games=2 "
    "large_games=1",
    "move-prediction": "made=20 games=20 test_games=6 sizes=10,20 widths=0.0,0.9 reranked=0,20,40",
    "opening-evolution": "generations=2 every=1 games=4 starts=1",
    "opening-evolution-dense": "generations=2 every=1 games=2 starts=1",
    "opening-evolution-paper": "games=2",
}
FULL = {
    "opening-td": QUICK["opening-td"],
    "opening-td-inputs": "games=4 pair_games=2 features=A,ABCD,ABCDE expert=playouts:8 seeds=2",
    "scoring-failure": "counts=6 steps=5",
    "scoring": "members=1 epochs=3 rounds=2 folds=2",
    "move-prediction": "board=9 games=8 sizes=8 widths=0.9 reranked=0,20",
    "move-prediction-match": "match_games=1 games=8 board=9",
    "opening-evolution-dense": "generations=2 every=1 seeds=1 games=2 starts=1",
    "opening-evolution": "generations=2 every=1 seeds=2 games=2 starts=1",
}
QUICK_STEPS = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in QUICK]


def tiny(name: str, mode: str) -> Step:
    """Return an experiment at a tiny size."""
    sizes = QUICK if mode == "quick" else FULL
    step = EXPERIMENTS[name].step(mode, sizes[name].split())
    assert step is not None
    return step


def catalogue(mode: str) -> list[Step]:
    """Return the steps of a laboratory."""
    every = (each.step(mode) for each in EXPERIMENTS.values() if not each.named_only)
    return [step for step in every if step is not None]


def check(result: Findings) -> str:
    """Check that a result can be stored and shown; return it as text."""
    text = json.dumps(result.json())
    assert TypeAdapter(Findings).validate_json(text).json() == result.json()
    for row in result.comparisons:
        assert row.verdict in WORDS and row.why and row.claim in all_claims()
        assert row.paper and row.ours
    for table in result.tables:
        assert table.rows and {len(row) for row in table.rows} == {len(table.columns)}
    for figure in result.figures:
        assert figure.title and "<svg" in draw(figure)
    return text


@pytest.mark.parametrize("name", QUICK_STEPS)
def test_quick_steps_give_what_the_page_can_show(name: str, tmp_path: Path) -> None:
    shares: list[float] = []
    step = tiny(name, "quick")
    result = step.run(LabContext(tmp_path, 5, 1, at=lambda share, note: shares.append(share)))
    check(result)
    assert all(0 <= share <= 1.0001 for share in shares)
    # Where a small run decides nothing a recorded one does, so that each claim has a verdict.
    for row in merge_recorded(result.comparisons, recorded_runs(step.part)):
        by_rows = row.claim.startswith("kendall.")  # see `tengen.papers.opening_evolution.report`
        assert row.verdict != UNMEASURED or by_rows or row.claim == "blair.cgos.19"


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_the_same_seed_gives_the_same_numbers(name: str, tmp_path: Path) -> None:
    # Tournaments name their games by number, never by who ended first.
    def numbers(folder: str, seed: int, workers: int) -> str:
        text = check(tiny(name, "quick").run(LabContext(tmp_path / folder, seed, workers)))
        return re.sub(r'"(seconds|processor_seconds|memory_gb)": [^,]*, ', "", text)

    first = numbers("a", 5, 1)
    assert first == numbers("b", 5, 2)
    if name in ("opening-td", "opening-td-inputs", "opening-evolution", "symmetry-network"):
        assert first != numbers("c", 6, 1)


@pytest.mark.parametrize("mode", ["quick", "full"])
def test_lists_of_steps_make_sense(mode: str) -> None:
    steps = catalogue(mode)
    names = [step.name for step in steps]
    assert len(set(names)) == len(names)
    assert {step.part for step in steps} == set(parts())
    assert all(step.minutes > 0 for step in steps)


def test_the_papers_scale_is_the_papers() -> None:
    assert opening_evolution.SPATIAL.length == 60_000 and opening_evolution.DENSE.step == 1_000
    assert len(EXPERIMENTS["opening-td-inputs"].full.sets) == 16
    assert EXPERIMENTS["opening-td"].full.games == 3_000


def test_no_quick_step_needs_games_and_together_they_are_short() -> None:
    assert all(step.needs == () for step in catalogue("quick"))
    assert sum(step.minutes for step in catalogue("quick")) <= 5.5


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a corpus of the right names: small boards, few games."""
    folder = tmp_path_factory.mktemp("corpus")
    scored = b"\n".join(game.sgf() for game in scoring.make_games(8, 9, seed=0))
    for name in (scoring.TRAIN, *scoring.TESTS):
        (folder / name).write_bytes(scored)
    for number, name in enumerate(("tom9d-train", "tom9d-dev")):
        games = move_prediction.sample_games(12, 9, number)
        text = b"\n".join(games.record(i).sgf() for i in range(len(games)))
        (folder / f"{name}.sgf").write_bytes(text)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_full_steps_start(name: str, corpus: Path, tmp_path: Path) -> None:
    context = LabContext(tmp_path, 5, 1, collection=corpus)
    first = tiny(name, "full").run(context)
    check(first)
    # Called again, it finds everything done.
    assert tiny(name, "full").run(context).json() == first.json()
