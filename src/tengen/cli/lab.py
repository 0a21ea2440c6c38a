"""The command `lab`."""

from __future__ import annotations

import json as encoder
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tengen.commands import Seed, Shown, WorkOptions, argument, command, flag, option, table
from tengen.errors import SpecError, TengenError, unknown
from tengen.extras import need
from tengen.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tengen.lab.report import PaperReport
    from tengen.lab.steps import Experiment, LabContext, Step

app = typer.Typer()


@command(app)
def lab(
    names: list[str] = argument(
        "Experiments to run, all by default; or `report` from recorded rows, `snapshots PAPER`.",
        default=[],
    ),
    full: bool = flag("--full", "Run at the papers' scale, which takes days, not minutes."),
    change: list[str] = option(
        [], "Change a setting of the named experiment, as games=200; repeatable.", "--set"
    ),
    collection: Path | None = option(None, "Folder of game collections, for --full and snapshots."),
    listed: bool = flag("--list", "List the experiments with their settings and times."),
    data: Path | None = option(
        None, "For `report`: a folder with one of rows per paper, instead of the recorded ones."
    ),
    out: Path | None = option(None, "Folder of the run (runs/lab, runs/lab-full)."),
    seed: Seed = 1,
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Run the papers' experiments, compare with the papers, write one page.

    An interrupted run continues with the same command. `tengen lab report` plays nothing: it
    computes claims, verdicts, tables and plots from the rows of recorded runs. `tengen lab
    snapshots PAPER` repeats a recorded training and keeps its states, which the page shows.
    """
    need("lab", "scipy", "matplotlib", "jinja2", "cma")
    if names == ["report"]:
        _report(data, out, shown)
        return
    if names[:1] == ["snapshots"]:
        _snapshots(names[1:], collection, shown)
        return
    if data is not None:
        raise SpecError("--data is for `tengen lab report`")
    from tengen.lab import experiments
    from tengen.lab.steps import FULL, QUICK, LabContext

    mode = FULL if full else QUICK
    known = {experiment.name: experiment for experiment in experiments()}
    if listed:
        _list(known, mode, shown)
        return
    if collection is not None and not collection.is_dir():
        raise TengenError(f"{collection}: no such folder")
    chosen = _chosen(names, known, mode, change)
    every = (e.step(mode) for e in known.values() if not e.named_only)
    page = [step for step in every if step is not None]
    page += [step for step in chosen if known[step.name].named_only]
    folder = out or Path("runs") / ("lab-full" if full else "lab")
    context = LabContext(folder, seed, work.workers, collection=collection, ray=work.ray)
    _run(context, chosen, page, mode, shown)


def _chosen(
    names: list[str], known: Mapping[str, Experiment[Any]], mode: str, change: list[str]
) -> list[Step]:
    """Return the steps of the named experiments."""
    if change and len(names) != 1:
        raise SpecError("--set changes the settings of one named experiment")
    chosen = []
    for name in names:
        if name not in known:
            raise SpecError(unknown("experiment", name, known))
        if (step := known[name].step(mode, change)) is None:
            raise SpecError(f"{name} has no small size; run it with --full")
        chosen.append(step)
    return chosen


def _run(
    context: LabContext, chosen: list[Step], page: list[Step], mode: str, shown: Shown
) -> None:
    """Run the chosen steps, by default all of the page, and write the page."""
    from tengen.lab.rendering import run_page, write_page
    from tengen.lab.report import as_json, read_reports
    from tengen.lab.steps import DATA, FULL, results, run_steps

    folder = context.folder
    try:
        with shown.progress() as progress:
            done = run_steps(chosen or page, context, mode=mode, progress=progress)
    except KeyboardInterrupt as stop:
        finished = len([step for step in page if step.name in results(folder)])
        stop.add_note(f"{folder}: {finished} of {len(page)} steps done; the same command continues")
        raise
    scale = " --full --collection DIR" if mode == FULL else ""
    made = f"tengen lab{scale} --seed {context.seed}"
    found = read_reports(folder / DATA)
    path = write_page(folder / "report.html", run_page(folder, page, done, found, made))
    figures = as_json(found)
    write_atomic(path.with_suffix(".json"), encoder.dumps(figures, allow_nan=False))
    answer = {
        "report": str(path),
        "data": str(folder / DATA),
        "steps": [step.name for step in page if step.name in done],
        "left": [step.name for step in page if step.name not in done],
        **figures,
    }
    if not shown.as_json(answer):
        if chosen:
            _print(found)
        print(f"Open {path} in a browser.")


def _snapshots(names: list[str], collection: Path | None, shown: Shown) -> None:
    """Make the snapshots of the named papers, by default of all that show a training."""
    from tengen.lab.papers import papers
    from tengen.lab.snapshots import make_snapshots

    known = {name: p for name, p in papers().items() if p.exhibit and p.exhibit.counted}
    for name in names:
        if name not in known:
            raise SpecError(unknown("paper with a training to show", name, known))
    made = {
        name: [str(path) for path in make_snapshots(name, known[name], collection)]
        for name in names or known
    }
    if not shown.as_json(made):
        for path in (path for paths in made.values() for path in paths):
            print(path)


def _list(known: Mapping[str, Experiment[Any]], mode: str, shown: Shown) -> None:
    """Show the experiments that have this size, with their settings and expected times."""
    from tengen.lab.steps import FULL
    from tengen.progress import span

    sizes = {name: asdict(size) for name, e in known.items() if (size := e.size(mode))}
    minutes = {name: known[name].minutes[mode == FULL] for name in sizes}
    if not shown.as_json(
        {name: {**size, "minutes": minutes[name]} for name, size in sizes.items()}
    ):
        rows = [
            (
                name, known[name].title, span(60 * minutes[name]),
                ", ".join(f"{k}={v}" for k, v in size.items()),
            )
            for name, size in sizes.items()
        ]  # fmt: skip
        table(f"Experiments, {mode}", ("name", "title", "about", "settings"), rows)


def _report(data: Path | None, out: Path | None, shown: Shown) -> None:
    """Print, and with `out` write, what the recorded rows say."""
    from tengen.lab.rendering import report_page, write_page
    from tengen.lab.report import as_json, read_reports

    if data is not None and not data.is_dir():
        raise TengenError(f"{data}: no such folder")
    begin = time.monotonic()
    found = read_reports(data)
    answer = {**as_json(found), "seconds": round(time.monotonic() - begin, 2)}
    if out is not None:
        path = write_page(out / "report.html", report_page(data, found))
        write_atomic(path.with_suffix(".json"), encoder.dumps(answer, allow_nan=False))
        answer["report"] = str(path)
    if not shown.as_json(answer):
        _print(found)


def _print(reports: Mapping[str, PaperReport]) -> None:
    """Print tables, claims and answers; plots are only on the page."""
    from tengen.lab.report import CLAIM_COLUMNS, QUESTION_COLUMNS, claim_row, question_row

    for found in reports.values():
        for sheet in found.tables:
            table(sheet.title, sheet.columns, sheet.rows)
            if sheet.note:
                print(sheet.note)
    claims = [claim_row(claim) for found in reports.values() for claim in found.claims]
    questions = [question_row(each) for found in reports.values() for each in found.questions]
    if claims:
        table("Claims", CLAIM_COLUMNS, claims)
    if questions:
        table("Open questions", QUESTION_COLUMNS, questions)
