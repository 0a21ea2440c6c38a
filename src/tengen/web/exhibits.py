"""The exhibits of the papers: what their folders say, what their rows say, and their machines.

Papers are found by their entry points. Requests name a paper by its name and a snapshot of its
training by its number; no path from a request is opened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from tengen.lab.evidence import runs_in
from tengen.lab.exhibits import Exhibit, Failure
from tengen.lab.formatting import show, show_estimate
from tengen.lab.papers import Paper, papers
from tengen.lab.report import Answer, ClaimResult, learning_of, report_of
from tengen.lab.result import Plot
from tengen.lab.snapshots import snapshots_of
from tengen.models import has_model, load_learner, read_card
from tengen.web.machines import Opponent, outputs_of
from tengen.web.positions import named_moves, position_of, to_board
from tengen.web.store import UnknownItemError
from tengen.web.workers import Context, Json

MACHINE = "machine"
"""The player that is the paper's finished machine; its snapshots are `machine@NUMBER`."""


def listed() -> list[Json]:
    """List the papers with what their `paper.toml` says of them in short."""
    return [
        {"id": name, **{key: getattr(paper, key) for key in ("title", "authors", "year", "line")}}
        for name, paper in papers().items()
    ]


def find_paper(name: str) -> Paper:
    """Return a paper by its name."""
    try:
        return papers()[name]
    except KeyError:
        raise UnknownItemError("there is no such paper") from None


def described(name: str) -> Json:
    """Return what a paper's folder says: story, machine, snapshots, positions where it fails."""
    paper = find_paper(name)
    exhibit = paper.exhibit
    keys = ("title", "full_title", "authors", "year", "venue", "line", "story", "cost")
    told: Json = {"id": name, **{key: getattr(paper, key) for key in keys}}
    told |= {"folder": paper.package.replace(".", "/"), "recorded": paper.data.is_dir()}
    told["code"] = [file for file in files_of(paper) if "/" not in file]
    if exhibit is None:
        return {**told, "machine": None, "failures": []}
    return {
        **told,
        "machine": {
            "size": exhibit.size,
            "model": exhibit.model,
            "plays": bool(exhibit.player) and (_has_model(exhibit) or not exhibit.model),
            "sees": _has_model(exhibit),
            "counted": exhibit.counted,
            "claimed": exhibit.claimed,
            "learned_from": read_card(exhibit.model).data if _has_model(exhibit) else "",
            "start": list(exhibit.start),
            "snapshots": sorted(snapshots_of(paper)),
            "remake": f"tengen lab snapshots {name}" if exhibit.counted else "",
        },
        "failures": [_failure(each) for each in exhibit.failures],
    }


def _has_model(exhibit: Exhibit) -> bool:
    return bool(exhibit.model) and has_model(exhibit.model)


def _failure(failure: Failure) -> Json:
    board = failure.board()
    return {
        **{key: getattr(failure, key) for key in ("title", "why", "right", "size")},
        "moves": named_moves(board),
        **position_of(board),
    }


def files_of(paper: Paper) -> dict[str, Path]:
    """Return the files of a paper that visitors read: its code, and the rows of its runs."""
    code = [paper.folder / "paper.toml", *sorted(paper.folder.glob("*.py"))]
    rows = [*paper.data.glob("*/rows.csv.gz"), *paper.data.glob("*/run.json")]
    return {path.relative_to(paper.folder).as_posix(): path for path in (*code, *rows)}


# ----- From the rows -----


def results(arguments: Json, context: Context) -> Json:
    """Return what a paper's rows say: claims with verdicts, answers, the learning curve, runs."""
    name = arguments["paper"]
    paper = find_paper(name)
    if not paper.data.is_dir():
        return {"claims": [], "answers": [], "learning": None, "runs": []}
    found = report_of(paper, paper.data)
    curve = learning_of(paper, paper.data)
    return {
        "claims": [_claim(each) for each in found.claims],
        "answers": [_answer(each) for each in found.questions],
        "learning": curve and _plot(curve),
        "runs": [
            {"name": run, **{key: getattr(how, key) for key in ("command", "rows", "date")}}
            for run, how in runs_in(paper.data).items()
        ],
    }


def _claim(found: ClaimResult) -> Json:
    claim, ours = found.claim, found.ours
    measured = not math.isnan(ours.mean)
    keys = ("id", "where", "what", "figure", "no_effect", "unit", "headline")
    return {
        **{key: getattr(claim, key) for key in keys},
        "ours": ours.mean if measured else None,
        "interval": list(ours.interval) if measured and ours.interval else None,
        "verdict": found.verdict,
        "full": found.full,
        "units": f"{ours.units:,} {found.independent}{'' if ours.units == 1 else 's'}",
        "told": {
            "paper": show(claim.figure, None, claim.unit),
            "ours": show_estimate(ours, claim.unit),
        },
    }


def _answer(found: Answer) -> Json:
    return {"id": found.id, "question": found.question, "answer": found.text}


def _plot(plot: Plot) -> Json:
    told = asdict(plot)
    for line in told["lines"]:
        for key in ("x", "y", "low", "high"):
            line[key] = None if line[key] is None else [float(value) for value in line[key]]
    return told


# ----- Its machine -----


def model_of(paper: Paper, number: int | None) -> str | Path:
    """Return the finished machine, or a snapshot of its training, as models are named."""
    if number is None:
        if paper.exhibit is None or not paper.exhibit.model:
            raise UnknownItemError("this paper has no machine to look at")
        return paper.exhibit.model
    try:
        return snapshots_of(paper)[number]
    except KeyError:
        raise UnknownItemError("there is no such snapshot") from None


def player_of(name: str, player: str, opponents: Mapping[str, Opponent]) -> str:
    """Return the spec of a player by its id: the paper's machine, its snapshots, an opponent."""
    paper = find_paper(name)
    what, _, number = player.partition("@")
    if what == MACHINE and paper.exhibit is not None and paper.exhibit.player:
        if not paper.exhibit.model:
            return paper.exhibit.player
        model = model_of(paper, int(number) if number.isdecimal() else None)
        # Quoted, as a path may hold what ends an option.
        return paper.exhibit.player.replace("{}", f'"{model}"')
    if player in opponents and opponents[player].spec:
        return opponents[player].spec
    raise UnknownItemError("there is no such player")


def see(arguments: Json, context: Context) -> Json:
    """Return all outputs of a paper's machine for a position."""
    board = to_board(arguments["board"])
    model = load_learner(model_of(find_paper(arguments["paper"]), arguments["at"]), shared=True)
    return outputs_of(model, board)
