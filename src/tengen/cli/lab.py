"""`tengen lab`: reproduce the papers and write one report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.common import Json, Quiet, Seed, Workers, emit, remark

app = typer.Typer(add_completion=False)


@app.command()
def lab(
    quick: Annotated[
        bool, typer.Option("--quick", help="The small laboratory; nothing to download.")
    ] = True,
    only: Annotated[list[str] | None, typer.Option(help="Run only this step.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/lab"),
    workers: Workers = 2,
    seed: Seed = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train every learner at a small scale, compare with the shipped models, write a page.

    A run that was interrupted or killed goes on where it stopped: call it again.
    """
    from tengen.errors import TengenError
    from tengen.lab.quick import STEPS
    from tengen.lab.report import write_report
    from tengen.lab.steps import Context, Step, run_steps

    known = [step.name for step in STEPS]
    for name in only or []:
        if name not in known:
            raise TengenError(f"no step called {name!r}; there are {', '.join(known)}")
    chosen = [step for step in STEPS if not only or step.name in only]

    def on_step(step: Step, done: bool, left: float) -> None:
        state = "done" if done else f"begins; about {left:.0f} minutes in all are left"
        remark(f"{step.title} ({step.name}): {state}", quiet=quiet)

    context = Context(out, seed, workers, lambda text: remark(text, quiet=quiet))
    results = run_steps(chosen, context, on_step)
    path = write_report(out, STEPS, results)
    answer = {"report": str(path), "steps": sorted(results)}
    emit(answer, as_json=as_json, text=f"Open {path} in a browser.")
