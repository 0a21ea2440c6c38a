"""Score the last positions of game records; only parse, call and print."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tengen.cli.options import Records, Shared, Shown, command, flag, option
from tengen.cli.printing import emit, progress, table, tell_faults

if TYPE_CHECKING:
    from tengen.game.judging import Judge
    from tengen.learners.scoring import BlockScorer
    from tengen.records.corpus import PackedGame

app = typer.Typer()

_TOGETHER = 16  # games that a worker is given at once: one takes milliseconds
_ONE_GAME = 30_000  # bytes: a long game with comments
_COLUMNS = (
    "file", "game", "finished", "result", "estimate", "spread", "recorded", "territory", "area",
    "dead", "seki", "safe", "safe_probability", "remarks",
)  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    """What to do with each game."""

    model: str
    dead: tuple[str, ...]
    alive: tuple[str, ...]
    pages: bool
    marked: bool


@dataclass(frozen=True)
class _Scored:
    """What became of one game: plain values, a page for people, a marked copy; or a fault."""

    value: dict[str, Any]
    page: str = ""
    marked: bytes = b""
    fault: str = ""


@command(app)
def score(
    files: Records,
    dead: list[str] | None = option(None, "Call the block at this vertex dead."),
    alive: list[str] | None = option(None, "Call the block at this vertex alive."),
    out: Path | None = option(None, "Write copies with TB and TW to this file."),
    model: str = option("scorer", "Name or file of the scorer."),
    boards: bool = flag("--boards", "Show the board of every game, of many too."),
    sheet: bool = flag("--csv", "Print one line a game for spreadsheets."),
    *,
    work: Shared,
    shown: Shown,
) -> None:
    """Count every game, or estimate it where it is not finished.

    One game is shown with its board, the dead stones and both counts, many as a table. What cannot
    be read or scored is named at the end; the others are scored.
    """
    if len(files) == 1 and _is_one_game(Path(files[0])):
        from tengen import compiling

        compiling.spare(compiling.SCORING_KERNELS)
    from tengen.errors import TengenError
    from tengen.files import refuse_inputs, write_atomic
    from tengen.learners.scoring import BlockScorer
    from tengen.parallel import map_jobs
    from tengen.records.corpus import packed_games

    if out is not None:
        refuse_inputs(out, files)
    BlockScorer.load(model)  # a wrong name is told before the first game
    faults: list[str] = []
    games = list(packed_games(files, faults.append))
    unread = len(faults)
    asked = _Asked(
        model, tuple(dead or ()), tuple(alive or ()), boards or len(games) == 1, out is not None
    )
    scored: list[_Scored] = []
    with progress("games", len(games), quiet=shown.quiet or len(games) == 1) as bar:
        count = partial(_score, asked)
        for found in map_jobs(count, _batches(games), workers=work.workers, ray=work.ray):
            bar.advance(len(found))
            faults += [one.fault for one in found if one.fault]
            scored += [one for one in found if not one.fault]
    if not scored:
        raise TengenError(faults[0] if len(faults) == 1 else _nobody(files, faults))
    if out is not None:
        write_atomic(out, b"\n".join(one.marked for one in scored) + b"\n")
    _show(scored, asked.pages, as_csv=sheet, json=shown.json)
    tell_faults(faults, quiet=shown.quiet)
    if unread and len(files) > 1:
        raise TengenError(f"{unread} could not be read; the other games were scored")


def _is_one_game(path: Path) -> bool:
    """Tell at a glance whether a file is the record of one game; of an archive it says no."""
    try:
        small = path.is_file() and path.stat().st_size < _ONE_GAME  # a pipe can be read only once
        return small and path.read_bytes().count(b"SZ[") == 1
    except OSError:
        return False  # which is told where it is read


def _nobody(files: list[str], faults: list[str]) -> str:
    why = f" ({faults[0]}; {len(faults) - 1} more)" if faults else ""
    return f"{', '.join(files)}: no game could be scored{why}"


def _batches(games: list[PackedGame]) -> Iterator[list[PackedGame]]:
    """Yield the games in portions."""
    source = iter(games)
    while batch := list(islice(source, _TOGETHER)):
        yield batch


def _score(asked: _Asked, games: list[PackedGame]) -> list[_Scored]:
    """Score some games; runs in a worker."""
    from tengen.errors import TengenError
    from tengen.learners.scoring.game_score import score_record
    from tengen.records.sgf_grammar import format_tree

    scorer, judge = _tools(asked.model)
    found = []
    for game in games:
        try:
            sheet = score_record(
                scorer, game.record(), dead=asked.dead, alive=asked.alive, judge=judge
            )
        except TengenError as wrong:
            place = "" if game.file in str(wrong) else f"{game.file}: game {game.game}: "
            found.append(_Scored({}, fault=f"{place}{wrong}"))
            continue
        page = str(sheet) if asked.pages else ""
        marked = format_tree(sheet.marked()) if asked.marked else b""
        found.append(_Scored(sheet.to_dict(), page, marked))
    return found


@lru_cache(maxsize=2)
def _tools(model: str) -> tuple[BlockScorer, Judge]:
    """Load a model once a process."""
    from tengen.game.judging import Judge
    from tengen.learners.scoring import BlockScorer

    scorer = BlockScorer.load(model)
    return scorer, Judge(scorer)


def _show(scored: list[_Scored], pages: bool, *, as_csv: bool, json: bool) -> None:
    """Print what was found: JSON, CSV, boards, or a table."""
    from tengen.sanitize import csv_cell

    values = [one.value for one in scored]
    if json:
        emit(values, json=True)
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for value in values:
            writer.writerow([csv_cell(_cell(value, name)) for name in _COLUMNS])
    elif pages:
        print("\n\n".join(one.page for one in scored))
    else:
        _print_table(values)


def _cell(value: dict[str, Any], name: str) -> Any:
    """Return a game's value for one column of the CSV."""
    if name in ("territory", "area"):
        return value[name]["result"]
    if name in ("estimate", "spread"):
        told = value["estimate"]
        return "" if told is None else round(told[{"estimate": "score"}.get(name, name)], 2)
    found = value[name]
    if isinstance(found, list):
        return ("; " if name == "remarks" else " ").join(found)
    return "" if found is None else round(found, 4) if isinstance(found, float) else found


def _print_table(values: list[dict[str, Any]]) -> None:
    """Print one line a game, and how many were finished, safe, and as recorded."""
    rows = [
        (
            f"{Path(value['file']).name}, {value['game']}",
            value["result"] or "{result} ± {spread:.0f}".format(**value["estimate"]),
            "" if value["recorded"] in ("", "?") else value["recorded"],
            "safe" if value["safe"] else "" if value["finished"] else "unfinished",
            f"{value['safe_probability']:.0%}",
            len(value["dead"]),
        )
        for value in values
    ]
    table("", ["game", "score", "recorded", "", "sure", "dead stones"], rows)
    done = [value for value in values if value["finished"]]
    told = [value for value in done if value["recorded"] not in ("", "?")]
    same = sum(value["result"] == value["recorded"] for value in told)
    print(
        f"{len(values):,} games: {len(done):,} finished, {sum(v['safe'] for v in values):,} safe"
        + (f", {same:,} of {len(told):,} as recorded" if told else "")
        + ("; scores with ± are estimates" if len(done) < len(values) else "")
    )
