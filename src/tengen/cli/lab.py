"""`tengen lab`: run the papers' experiments and write one report."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tengen.cli.options import Seed, Shown, WorkOptions, argument, command, flag, option
from tengen.cli.printing import emit, remark, table

if TYPE_CHECKING:
    from tengen.lab.result import Findings

app = typer.Typer()


@command(app)
def lab(
    names: list[str] = argument("Experiments to run; all by default.", default=[]),
    full: bool = flag("--full", "Run at the papers' scale, which takes days, not minutes."),
    change: list[str] = option(
        [], "Change a setting of the named experiment, as games=200; repeatable.", "--set"
    ),
    collection: Path | None = option(None, "Folder of game collections, for --full."),
    listed: bool = flag("--list", "List the experiments with their settings."),
    out: Path | None = option(None, "Folder of the run (runs/lab, runs/lab-full)."),
    seed: Seed = 1,
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Run the papers' experiments, compare with the papers, write one page.

    An interrupted run continues with the same command.
    """
    from tengen.errors import SpecError, TengenError, unknown
    from tengen.lab import experiments
    from tengen.lab.rendering import write_report
    from tengen.lab.steps import FULL, QUICK, LabContext, results, run_steps
    from tengen.progress import Progress

    mode = FULL if full else QUICK
    known = {experiment.name: experiment for experiment in experiments()}
    if listed:
        _print_list(list(known.values()), mode, json=shown.json)
        return
    if collection is not None and not collection.is_dir():
        raise TengenError(f"{collection}: no such folder")
    if change and len(names) != 1:
        raise SpecError("--set changes the settings of one named experiment")
    chosen = []
    for name in names:
        if name not in known:
            raise SpecError(unknown("experiment", name, known))
        step = known[name].step(mode, change)
        if step is None:
            raise SpecError(f"{name} has no small size; run it with --full")
        chosen.append(step)
    page = [
        step
        for experiment in known.values()
        if not experiment.named_only and (step := experiment.step(mode)) is not None
    ]
    page += [step for step in chosen if known[step.name].named_only]
    folder = out or Path("runs") / ("lab-full" if full else "lab")
    context = LabContext(folder, seed, work.workers, collection=collection, ray=work.ray)
    try:
        with Progress(quiet=shown.quiet) as progress:
            done = run_steps(chosen or page, context, mode=mode, progress=progress)
    except KeyboardInterrupt:
        finished = len([step for step in page if step.name in results(folder)])
        remark(
            f"stopped with {finished} of {len(page)} steps done; the same command continues (the "
            f"run is in {folder})"
        )
        raise
    path = write_report(folder, page, done)
    answer = {
        "report": str(path),
        "results": str(path.with_name("results.md")),
        "steps": [step.name for step in page if step.name in done],
        "left": [step.name for step in page if step.name not in done],
        "data": {name: done[name].result.data for name in names},
    }
    if not shown.json:
        for name in names:
            _print_findings(done[name].result)
    emit(answer, json=shown.json, text=f"Open {path} in a browser.")


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


def _print_list(experiments: list[Any], mode: str, *, json: bool) -> None:
    """Print the experiments with their settings."""
    found = [(each, each.size(mode)) for each in experiments if each.size(mode) is not None]
    settings = {
        each.name: {field.name: getattr(size, field.name) for field in fields(size)}
        for each, size in found
    }
    if json:
        emit(settings, json=True)
        return
    rows = [
        (each.name, each.title, ", ".join(f"{k}={v}" for k, v in settings[each.name].items()))
        for each, _ in found
    ]
    table(f"Experiments, {mode}", ("name", "title", "settings"), rows)
