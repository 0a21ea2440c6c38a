"""The command `lab`: all experiments with one report, or one experiment with its settings."""

from __future__ import annotations

from pathlib import Path

import typer

from tengen.cli.commands import EXPERIMENTS, lazy_group
from tengen.cli.options import Seed, Shown, Workers, derived_options, flag, option
from tengen.cli.printing import emit, remark

app = typer.Typer(
    cls=lazy_group({"One experiment, with its settings": EXPERIMENTS}),
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
@derived_options()
def lab(
    invoked: typer.Context,
    quick: bool = flag("--quick", "The small laboratory (default): minutes, no download."),
    full: bool = flag("--full", "Every experiment at its paper's scale: days."),
    collection: Path | None = option(None, "Folder of the game collections, for --full."),
    only: list[str] | None = option(None, "Run only this step; repeatable."),
    out: Path | None = option(None, "Folder of the run (runs/lab, runs/lab-full)."),
    workers: Workers = 2,
    seed: Seed = 1,
    *,
    shown: Shown,
) -> None:
    """Train every learner, compare with the papers and the shipped models, write one page.

    A run that was interrupted or killed goes on where it stopped: call it again.
    """
    from tengen.errors import TengenError, unknown
    from tengen.lab.catalogue import steps
    from tengen.lab.progress import Bars, make_watch
    from tengen.lab.report import write_report
    from tengen.lab.steps import FULL, QUICK, Context, results, run_steps

    if invoked.invoked_subcommand is not None:
        return
    if quick and full:
        raise TengenError("--quick or --full, not both")
    mode = FULL if full else QUICK
    every = steps(mode)
    if collection is not None and not collection.is_dir():
        raise TengenError(f"{collection}: no such folder")
    known = [step.name for step in every]
    for name in only or []:
        if name not in known:
            raise TengenError(unknown("step", name, known))
    chosen = [step for step in every if not only or step.name in only]
    folder = out or Path("runs") / ("lab-full" if full else "lab")
    context = Context(folder, seed, workers, corpus=collection)
    watch = make_watch(quiet=shown.quiet)
    try:
        done = run_steps(chosen, context, mode=mode, watch=watch)
    except KeyboardInterrupt:
        there = len([name for name in results(folder) if name in known])
        remark(
            f"stopped with {there} of {len(every)} steps done; the same command goes on where it "
            f"stopped (the run is in {folder})"
        )
        raise
    finally:
        if isinstance(watch, Bars):
            watch.close()
    path = write_report(folder, every, done)
    answer = {
        "report": str(path),
        "results": str(path.with_name("results.md")),
        "steps": [name for name in known if name in done],
        "left": [name for name in known if name not in done],
    }
    emit(answer, json=shown.json, text=f"Open {path} in a browser.")
