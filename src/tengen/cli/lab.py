"""The command `lab`."""

from __future__ import annotations

import json as encoder
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tengen.commands import Seed, Shown, WorkOptions, argument, command, flag, option, table
from tengen.errors import SpecError, TengenError, unknown
from tengen.extras import need

if TYPE_CHECKING:
    from tengen.lab.result import Findings

app = typer.Typer()


@command(app)
def lab(
    names: list[str] = argument(
        "Experiments to run, all by default; or `report`, from recorded rows.", default=[]
    ),
    full: bool = flag("--full", "Run at the papers' scale, which takes days, not minutes."),
    change: list[str] = option(
        [], "Change a setting of the named experiment, as games=200; repeatable.", "--set"
    ),
    collection: Path | None = option(None, "Folder of game collections, for --full."),
    listed: bool = flag("--list", "List the experiments with their settings."),
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
    computes claims, verdicts, tables and plots from the rows of recorded runs.
    """
    need("lab", "scipy", "matplotlib", "jinja2", "cma")
    if names == ["report"]:
        _report(data, out, shown)
        return
    if data is not None:
        raise SpecError("--data is for `tengen lab report`")
    from tengen.lab import experiments
    from tengen.lab.rendering import write_report
    from tengen.lab.steps import FULL, QUICK, LabContext, results, run_steps

    mode = FULL if full else QUICK
    known = {experiment.name: experiment for experiment in experiments()}
    if listed:
        sizes = {name: asdict(size) for name, e in known.items() if (size := e.size(mode))}
        if not shown.as_json(sizes):
            rows = [
                (name, known[name].title, ", ".join(f"{k}={v}" for k, v in size.items()))
                for name, size in sizes.items()
            ]
            table(f"Experiments, {mode}", ("name", "title", "settings"), rows)
        return
    if collection is not None and not collection.is_dir():
        raise TengenError(f"{collection}: no such folder")
    if change and len(names) != 1:
        raise SpecError("--set changes the settings of one named experiment")
    chosen = []
    for name in names:
        if name not in known:
            raise SpecError(unknown("experiment", name, known))
        if (step := known[name].step(mode, change)) is None:
            raise SpecError(f"{name} has no small size; run it with --full")
        chosen.append(step)
    every = (e.step(mode) for e in known.values() if not e.named_only)
    page = [step for step in every if step is not None]
    page += [step for step in chosen if known[step.name].named_only]
    folder = out or Path("runs") / ("lab-full" if full else "lab")
    context = LabContext(folder, seed, work.workers, collection=collection, ray=work.ray)
    try:
        with shown.progress() as progress:
            done = run_steps(chosen or page, context, mode=mode, progress=progress)
    except KeyboardInterrupt as stop:
        finished = len([step for step in page if step.name in results(folder)])
        stop.add_note(f"{folder}: {finished} of {len(page)} steps done; the same command continues")
        raise
    path = write_report(folder, page, done)
    answer = {
        "report": str(path),
        "results": str(path.with_name("results.md")),
        "steps": [step.name for step in page if step.name in done],
        "left": [step.name for step in page if step.name not in done],
        "data": {name: done[name].result.data for name in names},
    }
    if not shown.as_json(answer):
        for name in names:
            _print_findings(done[name].result)
        print(f"Open {path} in a browser.")


def _report(data: Path | None, out: Path | None, shown: Shown) -> None:
    """Print, and with `out` write, what the recorded rows say."""
    from tengen.files import write_atomic
    from tengen.lab.drawing import draw
    from tengen.lab.report import CLAIM_COLUMNS, as_json, claim_row, read_reports

    if data is not None and not data.is_dir():
        raise TengenError(f"{data}: no such folder")
    begin = time.monotonic()
    found = read_reports(data)
    if out is not None:
        for name, each in found.items():
            for number, figure in enumerate(each.figures, 1):
                write_atomic(out / f"{name}-{number}.svg", draw(figure))
    answer = {**as_json(found), "seconds": round(time.monotonic() - begin, 2)}
    if out is not None:
        write_atomic(out / "report.json", encoder.dumps(answer, allow_nan=False))
    if shown.as_json(answer):
        return
    for each in found.values():
        for sheet in each.tables:
            table(sheet.title, sheet.columns, sheet.rows)
    rows = [claim_row(claim) for each in found.values() for claim in each.claims]
    table("Claims", CLAIM_COLUMNS, rows)
    for question in answer["questions"]:
        print(f"{question['question']} {question['answer']}")


def _print_findings(found: Findings) -> None:
    """Print text, tables and comparisons; figures are only on the page."""
    if found.text:
        print(found.text)
    if found.points:
        print("\n  ".join([f"{found.points_title}:", *found.points]))
    for each in found.tables:
        table(each.title, each.columns, each.rows)
        if each.note:
            print(each.note)
    if found.comparisons:
        rows = [(c.where, c.what, c.paper, c.ours, c.verdict) for c in found.comparisons]
        table("Compared with the paper", ["where", "what", "paper", "ours", "verdict"], rows)
