"""Review games: write annotated records and pages; only parse, call and print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tengen.cli.options import Records, Shared, Shown, command, flag, option
from tengen.cli.printing import emit, progress, remark, table, tell_faults
from tengen.review.settings import ReviewSettings

if TYPE_CHECKING:
    from tengen.records.packed import PackedGame
    from tengen.review.game import MoveReview, Review

app = typer.Typer(add_completion=False)

_PLAYERS = 20  # rows of the table of players


@command(app)
def review(
    files: Records,
    settings: ReviewSettings,
    game: int | None = option(None, "Only this game of the file.", min=1),
    out: Path | None = option(
        None,
        "One game: the SGF or the page to write, the other lies beside it; "
        "FILE.review.sgf. Many games: the folder; FILE.review.",
    ),
    resume: bool = flag("--resume", "Go on with the reviews in the folder."),
    *,
    work: Shared,
    shown: Shown,
) -> None:
    """Annotate games: surprises, points lost, final score.

    Of one game it writes an SGF that any viewer opens and a page with curves, at the end. Of many
    it fills a folder, game by game, with an index, a table of all moves and a summary of the
    players; a stopped one goes on with --resume.
    """
    from tengen.errors import TengenError
    from tengen.records.packed import packed_games

    faults: list[str] = []
    if game is not None and len(files) != 1:
        raise TengenError(f"--game {game}: of which file? {', '.join(files)}")
    jobs = list(packed_games(files, faults.append))
    if game is not None:
        jobs = [job for job in jobs if job.game == game]
        if not jobs:
            raise TengenError(f"{files[0]}: there is no game {game}")
        jobs, faults = jobs[:1], []
    if not jobs:
        raise TengenError(f"{', '.join(files)}: no game could be read")
    plain = len(jobs) == 1 and not faults and not (files[0] != "-" and Path(files[0]).is_dir())
    if plain and not resume:
        _one(jobs[0], files[0], settings, out, json=shown.json, quiet=shown.quiet)
        return
    _many(
        jobs,
        faults,
        files,
        settings,
        out,
        _Crew(resume, work.workers, work.ray),
        json=shown.json,
        quiet=shown.quiet,
    )


def _one(
    job: PackedGame,
    file: str,
    settings: ReviewSettings,
    out: Path | None,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Review one game into a record and a page."""
    from tengen.files import write_atomic
    from tengen.review.annotate import annotate
    from tengen.review.game import find_thinker
    from tengen.review.page import make_page

    record = job.record()
    name = "review" if file == "-" else Path(file).stem
    sgf = out or (Path() if file == "-" else Path(file).parent) / f"{name}.review.sgf"
    sgf, page = _side_by_side(sgf, file)
    thinker = find_thinker(record.rows, record.cols, settings)
    if thinker.missing:
        remark(thinker.missing, quiet=quiet)
    with progress("positions", len(record.moves) + 1, quiet=quiet) as bar:
        found = thinker.review(record, settings.seed, bar.advance)
    title = f"{Path(file).name}, game {job.game}" if job.game > 1 else Path(file).name
    write_atomic(sgf, annotate(found, top=settings.top, ownership=settings.ownership))
    write_atomic(page, make_page(found, title="Review" if file == "-" else title, top=settings.top))
    value = _summary(found, file, job.game, sgf, page, settings.top)
    emit(value, json=json, text=_words(found, value, settings.top))


@dataclass(frozen=True)
class _Crew:
    """Who works on many games."""

    resume: bool
    workers: int
    ray: str | None


def _many(
    jobs: list[PackedGame],
    faults: list[str],
    files: list[str],
    settings: ReviewSettings,
    out: Path | None,
    crew: _Crew,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Review many games into a folder."""
    from tengen.review.batch import review_library

    folder = _folder(files, out)
    with progress("games", len(jobs), quiet=quiet) as bar:
        summary = review_library(
            jobs,
            folder,
            settings,
            unread=faults,
            resume=crew.resume,
            workers=crew.workers,
            ray=crew.ray,
            on_game=lambda title: bar.advance(1, title),
        )
    tell_faults(summary["faults"], quiet=quiet)
    emit({"folder": str(folder), **summary}, json=json)
    if not json:
        _print_players(summary)
        print(f"written: {folder / 'index.html'}, {folder / 'moves.csv'}, {folder / 'games'}")


def _folder(files: list[str], out: Path | None) -> Path:
    """Return where reviews of many games go; never into a folder that is read."""
    from tengen.errors import TengenError

    first = Path("review" if files[0] == "-" else files[0]).resolve()
    name = first.name if first.is_dir() else first.name.split(".")[0]
    folder = out or (Path(files[0]).parent if files[0] != "-" else Path()) / f"{name}.review"
    if out is not None and out.suffix.lower() in (".sgf", ".html", ".htm"):
        raise TengenError(f"--out {out}: reviews of many games go to a folder")
    for file in files:
        if file != "-" and Path(file).resolve() in (folder.resolve(), *folder.resolve().parents):
            raise TengenError(f"--out {folder}: lies in what is read; name another folder")
    return folder


def _print_players(summary: dict[str, Any]) -> None:
    """Print points lost a move by player and phase."""
    from tengen.review.tables import PHASES

    def points(tally: dict[str, Any] | None) -> str:
        return "" if not tally or tally["mean_lost"] is None else f"{tally['mean_lost']:.2f}"

    everybody = {**summary["all"], "name": "all", "rank": "", "games": summary["games"]}
    rows = [
        [
            line["name"],
            line["rank"],
            line["games"],
            line["moves"],
            points(line),
            *(points(line["phases"].get(phase)) for phase in PHASES),
        ]
        for line in (everybody, *summary["players"][:_PLAYERS])
    ]
    table("points lost a move", ["player", "rank", "games", "moves", "all", *PHASES], rows)


def _side_by_side(out: Path, file: str) -> tuple[Path, Path]:
    """Return the names of the record and of the page; neither may be what is read."""
    from tengen.files import refuse_inputs

    if out.suffix.lower() in (".html", ".htm"):
        sgf, page = out.with_suffix(".sgf"), out
    else:
        sgf, page = out, out.with_suffix(".html")
    for place in (sgf, page):
        refuse_inputs(place, [file])
    return sgf, page


def _summary(
    found: Review, file: str, game: int, sgf: Path, page: Path, top: int
) -> dict[str, Any]:
    """Return what was found as plain values."""
    from tengen.board import format_gtp

    rows, cols = found.record.rows, found.record.cols

    def plain(move: MoveReview) -> dict[str, Any]:
        value = move.to_dict(rows, cols)
        return {"vertex": value.pop("move"), "move": value.pop("number"), **value}

    ending = found.ending
    return {
        "file": file,
        "game": game,
        "sgf": str(sgf),
        "page": str(page),
        "player": found.player,
        "policy": found.policy or None,
        "seed": found.seed,
        "black": found.side(1),
        "white": found.side(2),
        "mistakes": [plain(m) for m in found.mistakes(top)],
        "doubts": [plain(m) for m in found.doubts(top)],
        "surprises": [plain(m) for m in found.surprises(top)],
        "moves": [plain(m) for m in found.moves],
        "winrates": [round(p.winrate, 4) for p in found.positions],
        "scores": [round(p.score, 3) for p in found.positions],
        "final": None
        if ending is None
        else {
            **ending.count.to_dict(),
            "judge": ending.judge,
            "dead": [format_gtp(p, rows, cols) for p in ending.dead],
        },
    }


def _words(found: Review, value: dict[str, Any], top: int) -> str:
    """Say what was found in a few lines."""
    from tengen.review.annotate import move_words

    lines = []
    for name in ("black", "white"):
        side = value[name]
        text = f"{name}: {side['mean_lost']:.2f} points lost a move, {side['mistakes']} mistakes"
        if side["top1"] is not None:
            text += f", {100 * side['top1']:.0f} % predicted first"
        lines.append(text)
    titles = ("mistake", "doubtful", "surprise")
    for title, moves in zip(titles, found.striking(top), strict=True):
        for move in moves:
            text = move_words(found, move).replace("\n", "; ")
            lines.append(f"{title} at move {move.number}: {text}")
    if value["final"] is not None:
        final = value["final"]
        dead = " ".join(final["dead"]) or "none"
        lines.append(f"counted by {final['judge']}: {final['result']}, dead: {dead}")
    lines.append(f"written: {value['sgf']} and {value['page']}")
    return "\n".join(lines)
