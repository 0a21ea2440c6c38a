"""Every experiment works at a tiny size and is reproducible."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tengen.lab import (
    experiments,
    move_prediction,
    opening_evolution,
    opening_td,
    scoring,
    symmetry_network,
    tournaments,
)
from tengen.lab.drawing import draw
from tengen.lab.papers import CLAIMS
from tengen.lab.rendering import PARTS
from tengen.lab.result import Findings
from tengen.lab.steps import LabContext, Step
from tengen.lab.verdicts import UNMEASURED, WORDS, beside, recorded_runs


def catalogue(mode: str) -> list[Step]:
    """Return the steps of a laboratory."""
    every = (experiment.step(mode) for experiment in experiments() if not experiment.named_only)
    return [step for step in every if step is not None]


SETS = ("A", "ABCD", "ABCDE")
CURVE = opening_td.CurveSize(games=20, curve_every=10, curve_games=4, shipped_games=4)
TABLES = opening_td.InputTables(
    games=6, pair_games=2, curve_games=0, features=SETS, expert="playouts:8"
)
SCORING = scoring.Size(made=6, test_games=3, steps=10, epochs=5)
ISN = symmetry_network.TrainingSize(
    games=12,
    linear_games=4,
    rate=5e-5,
    snapshot_every=6,
    pair_games=2,
    match_games=2,
    large_games=1,
)
MP = move_prediction.PredictionTables(
    made=20, board=9, games=20, test_games=6, sizes=(10, 20), widths=(0.0, 0.9),
    reranked=(0, 20, 40),
)  # fmt: skip
SMALL = (("rows", 9), ("moves", 4), ("population", 4))
BREEDING = opening_evolution.BreedingSize(
    network="spatial", method="better", generations=4, every=2, seeds=1, games=4, starts=1,
    changes=SMALL,
)  # fmt: skip
WEIGHTS = symmetry_network.WeightsSize((5,))

slow = pytest.mark.slow
Run = Callable[[LabContext], Findings]
TINY = [
    pytest.param(
        "players",
        partial(tournaments.simple_players, size=tournaments.PlayersSize(games=1)),
        id="players",
    ),
    pytest.param("opening-td", partial(opening_td.learning, size=CURVE), id="opening-td"),
    pytest.param("opening-td-inputs", partial(opening_td.tables, size=TABLES), id="inputs"),
    pytest.param(
        "scoring-failure", partial(scoring.failure, size=SCORING), id="failure", marks=slow
    ),
    pytest.param(
        "symmetry-weights",
        partial(symmetry_network.weights, size=symmetry_network.WeightsSize((5,))),
        id="weights",
    ),
    pytest.param(
        "symmetry-network",
        partial(symmetry_network.training, size=ISN),
        id="symmetry",
        marks=slow,
    ),
    pytest.param("move-prediction", partial(move_prediction.tables, size=MP), id="prediction"),
    pytest.param(
        "opening-evolution", partial(opening_evolution.breeding, size=BREEDING), id="evolution"
    ),
    pytest.param(
        "opening-evolution-paper",
        partial(opening_evolution.paper_numbers, size=opening_evolution.PaperSize(games=2)),
        id="evolution-paper",
    ),
]


def check(result: Findings) -> str:
    """Check that a result can be stored and shown; return it as text."""
    text = json.dumps(result.json())
    assert Findings.from_json(json.loads(text)).json() == result.json()
    for row in result.comparisons:
        assert row.verdict in WORDS and row.why and row.claim in CLAIMS
        assert row.paper and row.ours
    for table in result.tables:
        assert table.rows and {len(row) for row in table.rows} == {len(table.columns)}
    for figure in result.figures:
        assert figure.title and "<svg" in draw(figure)
    return text


@pytest.mark.parametrize(("name", "run"), TINY)
def test_quick_steps_give_what_the_page_can_show(name: str, run: Run, tmp_path: Path) -> None:
    shares: list[float] = []
    context = LabContext(tmp_path, 5, 1, at=lambda share, note: shares.append(share))
    result = run(context)
    check(result)
    assert all(0 <= share <= 1.0001 for share in shares)
    (step,) = [step for step in catalogue("quick") if step.name == name]
    # Where a small run decides nothing a recorded one does, so that each claim has a verdict.
    for row in beside(result.comparisons, recorded_runs(step.part)):
        assert row.verdict != UNMEASURED or row.claim == "blair.cgos.19"


@slow
@pytest.mark.parametrize(("name", "run"), TINY)
def test_the_same_seed_gives_the_same_numbers(name: str, run: Run, tmp_path: Path) -> None:
    # Tournaments name their games by number, never by who ended first.
    def numbers(folder: str, seed: int, workers: int) -> str:
        text = check(run(LabContext(tmp_path / folder, seed, workers)))
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
    assert {step.part for step in steps} == set(PARTS)
    assert all(step.minutes > 0 for step in steps)


def test_the_papers_scale_is_the_papers() -> None:
    assert opening_evolution.SPATIAL.length == 60_000 and opening_evolution.DENSE.step == 1_000
    sizes = {e.name: e.full for e in (*opening_td.EXPERIMENTS, *opening_evolution.EXPERIMENTS)}
    assert len(sizes["opening-td-inputs"].sets) == 16 and sizes["opening-td"].games == 3_000


def test_no_quick_step_needs_games_and_together_they_are_short() -> None:
    assert all(step.needs == () for step in catalogue("quick"))
    assert sum(step.minutes for step in catalogue("quick")) <= 8


# ----- The paper's scale, on tiny settings -----


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a corpus of the right names: small boards, few games."""
    folder = tmp_path_factory.mktemp("corpus")
    made = scoring.make_games(8, 9, seed=0)
    scored = b"\n".join(game.sgf() for game in made)
    for name in (scoring.TRAIN, *scoring.TESTS):
        (folder / name).write_bytes(scored)
    for number, name in enumerate(("tom9d-train", "tom9d-dev", "kgs6d-train", "kgs6d-dev")):
        games = move_prediction.sample_games(12, 9, number)
        text = b"\n".join(games.record(i).sgf() for i in range(len(games)))
        (folder / f"{name}.sgf").write_bytes(text)
    return folder


FULL = {
    "opening-td": partial(opening_td.learning, size=CURVE),
    "opening-td-inputs": partial(opening_td.tables, size=opening_td.InputTables(
        games=4, pair_games=2, features=SETS, expert="playouts:8", seeds=2)),
    "scoring-failure": partial(
        scoring.failure, size=scoring.Size(made=0, counts=(6,), steps=5)),
    "scoring": partial(scoring.scorer, size=scoring.Size(
        made=0, members=1, epochs=3, rounds=2, folds=2)),
    "move-prediction": partial(move_prediction.tables, size=move_prediction.PredictionTables(
        board=9, games=8, sizes=(8,), widths=(0.9,), reranked=(0, 20))),
    "move-prediction-match": partial(
        move_prediction.match, size=move_prediction.MatchSize(match_games=1, games=8, board=9)),
    "opening-evolution-dense": partial(
        opening_evolution.breeding, size=opening_evolution.BreedingSize(
            generations=2, every=1, seeds=1, games=2, starts=1, changes=(("population", 2),))),
    "opening-evolution": partial(
        opening_evolution.breeding, size=opening_evolution.BreedingSize(
            network="spatial", method="better", generations=2, every=1, seeds=2, games=2, starts=1,
            changes=SMALL)),
}  # fmt: skip


@slow
@pytest.mark.parametrize("name", FULL)
def test_full_steps_start(name: str, corpus: Path, tmp_path: Path) -> None:
    run = FULL[name]
    context = LabContext(tmp_path, 5, 1, collection=corpus)
    first = run(context)
    check(first)
    # Called again, it finds everything done.
    assert run(context).json() == first.json()
