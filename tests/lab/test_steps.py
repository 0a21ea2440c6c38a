"""The laboratory runs each step once, goes on after a kill, and tells what it cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.errors import TengenError
from tengen.lab.content import Result
from tengen.lab.cost import Meter, memory_in_use
from tengen.lab.progress import Teller, make_watch, span
from tengen.lab.steps import Context, Experiment, Kept, Step, Watch, results, run_steps, settings_of

CALLS: list[str] = []


def good(context: Context) -> Result:
    CALLS.append("good")
    context.at(0.5, "half way")
    return Result(text="fine", data={"seed": context.seed})


def broken(context: Context) -> Result:
    CALLS.append("broken")
    context.once("broken/part", lambda: CALLS.append("part") or [1, 2])
    raise KeyboardInterrupt


STEPS = [Step("good", "ground", "Good", good), Step("broken", "player", "Broken", broken)]


def context(folder: Path, seed: int = 3, **options: Path) -> Context:
    return Context(folder, seed, 1, **options)


def test_finished_steps_and_parts_of_steps_are_not_done_again(tmp_path: Path) -> None:
    CALLS.clear()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_steps(STEPS, context(tmp_path))
    assert CALLS == ["good", "broken", "part", "broken"]
    assert results(tmp_path)["good"].result.data["seed"] == 3


def test_a_part_reads_back_what_was_written(tmp_path: Path) -> None:
    here = context(tmp_path)
    assert here.once("a/b", lambda: (1, 2)) == [1, 2]
    assert here.once("a/b", lambda: (3, 4)) == [1, 2]


@pytest.mark.parametrize(("seed", "mode", "what"), [(4, "quick", "seed = 3"), (3, "full", "mode")])
def test_another_run_is_refused(tmp_path: Path, seed: int, mode: str, what: str) -> None:
    run_steps(STEPS[:1], context(tmp_path))
    assert settings_of(tmp_path)["mode"] == "quick"
    with pytest.raises(TengenError, match=f"holds a run with {what}"):
        run_steps(STEPS[:1], context(tmp_path, seed), mode=mode)


def test_damaged_results_are_named(tmp_path: Path) -> None:
    run_steps(STEPS[:1], context(tmp_path))
    kept = json.loads((tmp_path / "steps" / "good.json").read_text())
    for text in ("{", "[]", "{}", json.dumps({**kept, "result": {"tables": 3}})):
        (tmp_path / "steps" / "good.json").write_text(text)
        with pytest.raises(TengenError, match=r"good\.json: is no result of a step"):
            results(tmp_path)


def test_an_experiment_is_a_step_at_each_of_its_sizes(tmp_path: Path) -> None:
    experiment = Experiment(
        "sized", "ground", "Sized", lambda _, size: Result(text=f"{size} games"),
        quick=3, full=400, minutes=(1, 60), needs=("there.sgf",),
    )  # fmt: skip
    quick, full = experiment.step("quick"), experiment.step("full")
    assert quick is not None and full is not None
    assert (quick.minutes, quick.needs, full.minutes, full.needs) == (1, (), 60, ("there.sgf",))
    assert quick.run(context(tmp_path)).text == "3 games"
    assert full.run(context(tmp_path)).text == "400 games"
    only = Experiment("only", "ground", "Only", lambda _, size: Result(text=size), full="")
    assert only.step("quick") is None and only.step("full") is not None


def test_missing_games_are_named_before_anything_runs(tmp_path: Path) -> None:
    CALLS.clear()
    needy = Step("needy", "scoring", "Needy", good, needs=("there.sgf", "missing.sgf"))
    with pytest.raises(TengenError, match="needs --collection DIR"):
        run_steps([STEPS[0], needy], context(tmp_path / "a"))
    (tmp_path / "there.sgf").write_text("(;)")
    with pytest.raises(TengenError, match=r"missing\.sgf: no such file"):
        run_steps([STEPS[0], needy], context(tmp_path / "b", corpus=tmp_path))
    assert CALLS == []


def test_cost_of_a_killed_attempt_is_added(tmp_path: Path) -> None:
    path = tmp_path / "cost"
    path.write_text(json.dumps({"seconds": 100.0, "processor": 50.0, "memory": 1e15}))
    with Meter(path) as meter:
        pass
    cost = meter.cost()
    assert 100 <= cost["seconds"] < 110 and cost["processor"] >= 50 and cost["memory"] == 1e15
    with pytest.raises(ValueError), Meter(path):
        raise ValueError
    assert json.loads(path.read_text())["seconds"] >= 100
    meter.forget()
    assert not path.exists()


def test_a_result_tells_its_cost(tmp_path: Path) -> None:
    kept: Kept = run_steps(STEPS[:1], context(tmp_path))["good"]
    assert kept.seconds >= 0 and kept.processor >= 0
    if Path("/proc/self/statm").exists():
        assert memory_in_use() > 1e6 and kept.memory > 1e6
    assert not list((tmp_path / "steps").glob("*.cost"))


def test_watchers_hear_of_whole_and_part(tmp_path: Path) -> None:
    heard: list[str] = []
    now = [0.0]
    teller = Teller(heard.append, lambda: now[0])
    steps = [Step(n, "ground", n.title(), good, minutes=1.0) for n in ("first", "second")]
    teller.plan(steps, set())
    teller.begin(steps[0])
    assert "[1/2] First (first): begins; about 2 min 0 s in all" in heard[-1]
    now[0] = 30.0
    teller.at(steps[0], 0.25, "game 1/4")
    assert "25%, game 1/4" in heard[-1] and "in all" in heard[-1]
    # A quarter took 30 s: 90 s of its own pace, 30 s by the guess.
    assert teller.step_left(steps[0]) == pytest.approx(0.25 * 90 + 0.75 * 30)
    now[0] = 120.0
    teller.end(steps[0], 120.0)
    teller.begin(steps[1])
    # The first took twice as long as was guessed, so the second is expected to take longer too.
    assert 60 < teller.left(steps[1]) < 120
    run_steps(steps, context(tmp_path), watch=Watch())


def test_bars_follow_the_steps(tmp_path: Path) -> None:
    from tengen.lab.progress import Bars

    bars = Bars()
    run_steps([STEPS[0]], context(tmp_path), watch=bars)
    bars.close()
    whole, part = bars._bars.tasks
    assert (whole.completed, part.completed) == (1.0, 1.0) and part.description == "good"


def test_who_watches_depends_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert type(make_watch(quiet=True)) is Watch
    watch = make_watch(quiet=False)
    assert isinstance(watch, Teller)
    watch.begin(STEPS[0])
    assert f"begins; about {span(60)} in all" in capsys.readouterr().err
