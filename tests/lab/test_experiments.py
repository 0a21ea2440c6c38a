"""Every experiment works at a tiny size, can be shown, and is reproducible."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from tengen.lab import experiments
from tengen.lab.evidence import NewRows
from tengen.lab.papers import data_folder, papers
from tengen.lab.rendering import report_page, write_page
from tengen.lab.report import report_of
from tengen.lab.steps import DATA, Experiment, LabContext, Step, run_steps

EXPERIMENTS = {each.name: each for each in experiments()}

# Settings of a tiny size of each experiment: of its quick size, or of the full one if it has only
# that. Several settings are separated by "; ".
QUICK = {
    "opening-td": "games=20; trainings=2; curve_every=10; curve_games=4; expert=builtin:playouts=4",
    "opening-td-inputs": "games=8; pair_games=2; features=A,AB; expert=builtin:playouts=4",
    "opening-td-shipped": "games=4",
    "scoring-failure": "board=5; made=12; games=6; test_games=4; seeds=2; steps=4; "
    "versions=rpnc,repaired",
    "scoring": "board=5; made=12; test_games=4; epochs=2; rounds=2",
    "scoring-bootstrap": "board=5; made=24; test_games=6; games=16; first=6; rounds=2; epochs=2",
    "scoring-life": "board=5; made=24; test_games=6; games=16; first=6; rounds=2; epochs=2",
    "symmetry-weights": "boards=5; networks=2",
    "symmetry-network": "games=20; linear_games=4; snapshot_every=10; pair_games=2; panel_games=2",
    "symmetry-designs": "games=12; linear_games=4; snapshot_every=6; match_games=2",
    "symmetry-search": "match_games=2",
    "symmetry-rating": "rated_games=2",
    "move-prediction": "made=24; test_games=4; width_games=8; widths=0.5,0.9; top_games=8; "
    "sizes=4,8; iterations=5",
    "move-prediction-ranks": "made=20; games=8; test_games=4",
    "move-prediction-own-moves": "made=20; games=8; test_games=4; plies=10",
    "move-prediction-pruning": "made=20; games=8; test_games=2; widths=1,10; match_games=2",
    "opening-evolution-dense": "generations=2; every=1; seeds=2; starts=1",
    "opening-evolution": "generations=1; seeds=2; starts=1",
}
_TD = "games=6; trainings=2; pair_games=2; expert=builtin:playouts=4"
FULL = {
    "opening-td-mixed": _TD,
    "opening-td-hidden": f"{_TD}; hidden=4",
    "opening-td-boards": "games=4; trainings=2; curve_every=2; curve_games=2; boards=13; "
    "expert=builtin:playouts=4",
    "opening-td-prior": _TD,
    "opening-td-edges": _TD,
    "opening-td-joseki": f"{_TD}; curve_every=3; curve_games=2",
    "opening-td-gnugo": f"{_TD}; features=A,AB; curve_every=3; curve_games=2",
    "symmetry-evolution": "seeds=2; games=12; linear_games=2; snapshot_every=4; start=4; "
    "duel_games=2; panel_games=2",
    "move-prediction-match": "made=20; board=9; games=8; match_games=2; opponent=random; "
    "solver=passes",
    "opening-evolution-spatial": "generations=1; every=1; seeds=1; starts=1",
    "opening-evolution-changes": "generations=1; seeds=2; starts=1; changes=none,co-evolution",
    "opening-evolution-champions": "starts=1",
}


def tiny(name: str) -> Step:
    """Return an experiment at a tiny size."""
    mode, sizes = ("quick", QUICK) if name in QUICK else ("full", FULL)
    step = EXPERIMENTS[name].step(mode, sizes[name].split("; "))
    assert step is not None
    return step


def catalogue(mode: str) -> list[Step]:
    """Return the steps of a laboratory."""
    every = (each.step(mode) for each in EXPERIMENTS.values() if not each.named_only)
    return [step for step in every if step is not None]


def plain(made: list[NewRows]) -> list[tuple[str, list[dict[str, object]]]]:
    """Return rows without what differs from run to run."""
    varying = ("seconds", "memory")
    return [
        (
            each.name,
            [{k: v for k, v in row.items() if not k.endswith(varying)} for row in each.rows],
        )
        for each in made
    ]


# One or two of each paper; the rows of the others are tested with their paper.
FIRST = {"opening-td", "scoring-failure", "scoring", "symmetry-weights", "symmetry-network",
         "move-prediction", "opening-evolution"}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in FIRST else [pytest.mark.slow]) for n in (*QUICK, *FULL)],
)
def test_a_tiny_run_becomes_rows_and_a_page(name: str, tmp_path: Path) -> None:
    step, context = tiny(name), LabContext(tmp_path, 5, 1)
    assert run_steps([step], context)[name].rows
    [(key, paper)] = [each for each in papers().items() if each[1].folder.name == step.paper]
    found = report_of(paper, data_folder(paper, tmp_path / DATA))
    assert found.tables or found.claims or found.questions
    for table in found.tables:
        assert table.rows and {len(row) for row in table.rows} == {len(table.columns)}
    page = write_page(tmp_path / "report.html", report_page(tmp_path / DATA, {key: found}))
    assert paper.title in html.unescape(page.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_the_same_seed_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    def rows(folder: str, workers: int) -> list[tuple[str, list[dict[str, object]]]]:
        return plain(list(tiny(name).run(LabContext(tmp_path / folder, 5, workers))))

    assert rows("a", 1) == rows("b", 2)


@pytest.mark.parametrize("mode", ["quick", "full"])
def test_lists_of_steps_make_sense(mode: str) -> None:
    steps = catalogue(mode)
    names = [step.name for step in steps]
    assert len(set(names)) == len(names)
    assert {step.paper for step in steps} == {paper.folder.name for paper in papers().values()}
    assert all(step.minutes > 0 for step in steps)


def test_every_experiment_is_tried_here() -> None:
    assert set(QUICK) | set(FULL) == set(EXPERIMENTS)


def test_no_quick_step_needs_games_and_together_they_are_short() -> None:
    assert all(step.needs == () for step in catalogue("quick"))
    assert sum(step.minutes for step in catalogue("quick")) <= 5.0


def test_experiments_know_their_paper() -> None:
    folders = {paper.folder.name for paper in papers().values()}
    found: list[Experiment[object]] = list(EXPERIMENTS.values())
    assert {each.paper for each in found} == folders
