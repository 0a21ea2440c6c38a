"""The laboratory runs each step once, goes on after a kill, and tells what it cost."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tengen.errors import SpecError, TengenError
from tengen.lab.evidence import NewRows, read_evidence
from tengen.lab.steps import (
    Experiment,
    Journal,
    LabContext,
    Resources,
    Row,
    Step,
    change,
    results,
    run_steps,
)

CALLS: list[str] = []


def made(games: float, name: str = "curve") -> list[NewRows]:
    return [NewRows(name, [{"games": games}], [1], {"games": games})]


def good(context: LabContext) -> list[NewRows]:
    CALLS.append("good")
    context.at(0.5, "half way")
    return made(context.seed)


def broken(context: LabContext) -> list[NewRows]:
    CALLS.append("broken")
    context.once("broken/part", lambda: CALLS.append("part") or [1, 2])
    raise KeyboardInterrupt


STEPS = [
    Step("good", "a_paper", "Good", good, "tengen lab good"),
    Step("broken", "a_paper", "Broken", broken),
]


def context(folder: Path, seed: int = 3, **options: Path) -> LabContext:
    return LabContext(folder, seed, 1, **options)


def test_finished_steps_and_parts_of_steps_are_not_done_again(tmp_path: Path) -> None:
    CALLS.clear()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_steps(STEPS, context(tmp_path))
    assert CALLS == ["good", "broken", "part", "broken"]
    assert results(tmp_path)["good"].rows == ["curve"]
    found = read_evidence(tmp_path / "data" / "a_paper" / "curve")
    assert found["games"].tolist() == [3]
    assert found.run.command == "tengen lab good --seed 3" and found.run.settings == {"games": 3}


def test_a_part_reads_back_what_was_written(tmp_path: Path) -> None:
    here = context(tmp_path)
    assert here.once("a/b", lambda: (1, 2)) == [1, 2]
    assert here.once("a/b", lambda: (3, 4)) == [1, 2]


def test_parts_of_a_killed_attempt_with_other_settings_are_done_again(tmp_path: Path) -> None:
    killed: list[int] = []

    def run(here: LabContext, size: Size) -> list[NewRows]:
        found = here.once("games", lambda: size.games)
        if not killed:
            killed.append(size.games)
            raise KeyboardInterrupt
        return made(found)

    experiment = Experiment("sized", "Sized", run, paper="p", quick=Size(40))
    before, after = experiment.step("quick"), experiment.step("quick", ["games=4"])
    assert before is not None and after is not None
    with pytest.raises(KeyboardInterrupt):
        run_steps([before], context(tmp_path))
    run_steps([after], context(tmp_path))
    found = read_evidence(tmp_path / "data" / "p" / "curve")
    assert (killed, found["games"].tolist()) == ([40], [4])
    assert found.run.command == "tengen lab sized --set games=4 --seed 3"


@pytest.mark.parametrize(
    ("seed", "mode", "what"), [(4, "quick", "seed 3 there, 4"), (3, "full", "mode quick there")]
)
def test_another_run_is_refused(tmp_path: Path, seed: int, mode: str, what: str) -> None:
    run_steps(STEPS[:1], context(tmp_path))
    with pytest.raises(TengenError, match=what):
        run_steps(STEPS[:1], context(tmp_path, seed), mode=mode)


def test_damaged_results_are_named(tmp_path: Path) -> None:
    run_steps(STEPS[:1], context(tmp_path))
    kept = json.loads((tmp_path / "steps" / "good.json").read_text())
    for text in ("{", "[]", "{}", json.dumps({**kept, "rows": 3})):
        (tmp_path / "steps" / "good.json").write_text(text)
        with pytest.raises(TengenError, match=r"good\.json: not a result of a step"):
            results(tmp_path)


def test_an_experiment_is_a_step_at_each_of_its_sizes(tmp_path: Path) -> None:
    experiment = Experiment(
        "sized", "Sized", lambda _, size: made(size.games),
        quick=Size(3), full=Size(400), minutes=(1, 60),
        needs=lambda size: ("there.sgf",) if size.games > 99 else (),
    )  # fmt: skip
    quick, full = experiment.step("quick"), experiment.step("full")
    assert quick is not None and full is not None
    assert (quick.minutes, quick.needs, full.minutes, full.needs) == (1, (), 60, ("there.sgf",))
    assert [each.settings for each in quick.run(context(tmp_path))] == [{"games": 3}]
    assert full.command == "tengen lab sized --full"
    only = Experiment("only", "Only", lambda _, size: made(1), full=Size(1))
    assert only.step("quick") is None and only.step("full") is not None
    named = replace(only, named_only=True)
    assert named.step("quick") is not None


def test_missing_games_are_named_before_anything_runs(tmp_path: Path) -> None:
    CALLS.clear()
    needy = Step("needy", "scoring", "Needy", good, needs=("there.sgf", "missing.sgf"))
    with pytest.raises(TengenError, match="needs the folder of the game"):
        run_steps([STEPS[0], needy], context(tmp_path / "a"))
    (tmp_path / "there.sgf").write_text("(;)")
    with pytest.raises(TengenError, match=r"missing\.sgf: no such file"):
        run_steps([STEPS[0], needy], context(tmp_path / "b", collection=tmp_path))
    assert CALLS == []


def test_cost_of_a_killed_attempt_is_added(tmp_path: Path) -> None:
    path = tmp_path / "cost"
    path.write_text(json.dumps({"seconds": 100.0, "processor": 50.0, "memory": 1e15}))
    with Resources(path) as meter:
        pass
    cost = meter.used
    assert 100 <= cost["seconds"] < 110 and cost["processor"] >= 50 and cost["memory"] == 1e15
    with pytest.raises(ValueError), Resources(path):
        raise ValueError
    assert json.loads(path.read_text())["seconds"] >= 100


# ----- Settings -----


@dataclass(frozen=True)
class Size:
    games: int = 3
    rates: tuple[float, ...] = (0.5,)
    name: str | None = None


def test_settings_are_changed_by_text() -> None:
    changed = change(Size(), ["games=20", "rates=0.1,2", "name=a=b"], "sized")
    assert changed == Size(20, (0.1, 2.0), "a=b")
    assert change(Size(), ["rates="], "sized").rates == ()
    with pytest.raises(SpecError, match=r"sized has no setting 'game=2'; it has games=3, rates="):
        change(Size(), ["game=2"], "sized")
    with pytest.raises(SpecError, match="games=few is not of type"):
        change(Size(), ["games=few"], "sized")


def test_a_step_with_other_settings_is_refused(tmp_path: Path) -> None:
    experiment = Experiment("sized", "S", lambda _, size: made(1), quick=Size())
    first, other = experiment.step("quick"), experiment.step("quick", ["games=4"])
    assert first is not None and other is not None
    run_steps([first], context(tmp_path))
    run_steps([first], context(tmp_path))
    with pytest.raises(TengenError, match="holds sized with other settings"):
        run_steps([other], context(tmp_path))


# ----- Journal -----


def double(number: int) -> Row:
    return {"twice": 2 * number}


def test_jobs_are_done_once_and_come_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "work.jsonl")
    told: list[tuple[int, int]] = []
    first = journal.complete({"b": 2, "a": 1}, double, on_step=lambda *shares: told.append(shares))
    assert first == [{"key": "b", "twice": 4}, {"key": "a", "twice": 2}]
    assert told == [(1, 2), (2, 2)]
    again = journal.complete({"a": 1, "c": 3, "b": 2}, double, on_step=lambda *s: told.append(s))
    assert [row["twice"] for row in again] == [2, 6, 4] and told[2:] == [(3, 3)]
    assert list(journal.rows()) == ["b", "a", "c"]
    assert Journal(None).complete({"a": 1}, double) == [{"key": "a", "twice": 2}]


def test_a_torn_line_is_dropped_and_a_damaged_one_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "work.jsonl")
    journal.complete({"a": 1, "b": 2}, double)
    whole = journal.path and journal.path.read_text()
    assert journal.path and whole
    journal.path.write_text(whole[:-5])
    assert journal.complete({"a": 1, "b": 2}, double)[1]["twice"] == 4
    assert journal.path.read_text() == whole
    for damage in ("nonsense\n", '["no", "row"]\n', '{"twice": 1}\n'):
        journal.path.write_text(damage + whole)
        with pytest.raises(TengenError, match="is damaged"):
            journal.rows()
