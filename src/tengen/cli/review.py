"""`tengen review`: parse, call, print."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tengen.cli.options import Records, Shared, Shown, command, flag, option
from tengen.cli.printing import Progress, emit, progress, remark, table, tell_faults
from tengen.reviews.settings import ReviewSettings

if TYPE_CHECKING:
    from tengen.records.corpus import PackedGame
    from tengen.reviews.game import Review

app = typer.Typer()

_PLAYERS = 20  # rows of the table of players


@command(app)
def review(
    files: Records,
    settings: ReviewSettings,
    game: int | None = option(None, "Only this game of the file.", min=1),
    out: Path | None = option(
        None,
        "One game: the SGF or the page to write, the other is written beside it; "
        "FILE.review.sgf. Several games: the folder; FILE.review.",
    ),
    resume: bool = flag("--resume", "Continue the reviews in the folder."),
    *,
    work: Shared,
    shown: Shown,
) -> None:
    """Review games: points lost by each move, better moves, surprises, the final score.

    A first pass evaluates every position once; then the doubtful moves are searched, unless --quick
    is given. One game gives an annotated SGF and a page that opens in any browser; the page is
    there after the first pass already. Several games fill a folder with one page per game, an
    index, a table of all moves and a summary of the players; --resume continues.
    """
    from tengen.errors import TengenError
    from tengen.records.corpus import packed_games

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
    single = len(jobs) == 1 and not faults and not (files[0] != "-" and Path(files[0]).is_dir())
    if single and not resume:
        _one(jobs[0], files[0], settings, out, shown)
    else:
        _many(jobs, faults, files, settings, out, resume, work, shown)


def _one(
    job: PackedGame, file: str, settings: ReviewSettings, out: Path | None, shown: Shown
) -> None:
    """Review one game into a record and a page."""
    from tengen.files import write_atomic
    from tengen.reviews.annotate import annotate
    from tengen.reviews.game import find_reviewer, review_game
    from tengen.web.review_tasks import review_page

    begin = time.monotonic()
    record = job.record()
    name = "review" if file == "-" else Path(file).stem
    sgf = out or (Path() if file == "-" else Path(file).parent) / f"{name}.review.sgf"
    sgf, page = _side_by_side(sgf, file)
    title = "Review" if file == "-" else Path(file).name
    title += f", game {job.game}" if job.game > 1 else ""

    def show_first(found: Review) -> None:
        write_atomic(page, review_page(found, title))
        remark(f"first pass: {found.sides()}; written: {page}", quiet=shown.quiet)

    with _Stages(quiet=shown.quiet) as stages:
        reviewer = find_reviewer(record.rows, record.cols, settings)
        found = review_game(
            record, reviewer, seed=settings.seed, on_step=stages.step, on_first=show_first
        )
    write_atomic(sgf, annotate(found, top=settings.top, ownership=settings.ownership))
    write_atomic(page, review_page(found, title))
    value = {
        "file": file,
        "game": job.game,
        "sgf": str(sgf),
        "page": str(page),
        "moves": [move.to_dict(record.rows, record.cols) for move in found.moves],
        "summary": found.summary(),
        "seconds": round(time.monotonic() - begin, 2),
    }
    emit([value], json=shown.json, text=f"{found.words(settings.top)}\nwritten: {sgf} and {page}")


class _Stages:
    """One progress bar after the other, as a review passes through its stages."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet, self.stage = quiet, ""
        self.bar: Progress | None = None

    def step(self, stage: str, done: int, total: int) -> None:
        """Show that so many steps of a stage are done."""
        if self.bar is None or stage != self.stage:
            self.__exit__()
            self.stage, self.bar = stage, Progress(stage, total, quiet=self.quiet)
        self.bar.advance(done - self.bar.done)

    def __enter__(self) -> _Stages:
        return self

    def __exit__(self, *failure: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _many(
    jobs: list[PackedGame],
    faults: list[str],
    files: list[str],
    settings: ReviewSettings,
    out: Path | None,
    resume: bool,
    work: Shared,
    shown: Shown,
) -> None:
    """Review several games into a folder."""
    from tengen.reviews.batch import review_library
    from tengen.web.review_tasks import review_page

    begin = time.monotonic()
    folder = _folder(files, out)
    with progress("games", len(jobs), quiet=shown.quiet) as bar:
        games = review_library(
            jobs,
            folder,
            settings,
            review_page,
            unread=faults,
            resume=resume,
            workers=work.workers,
            ray=work.ray,
            on_game=lambda title: bar.advance(1, title),
        )
    tell_faults([*faults, *(game["fault"] for game in games if game["fault"])], quiet=shown.quiet)
    seconds = round(time.monotonic() - begin, 2)
    values = [
        {
            "file": game["file"],
            "game": game["game"],
            "sgf": str(folder / "games" / f"{game['number']:06}.sgf"),
            "page": str(folder / "games" / f"{game['number']:06}.html"),
            "moves": game["rows"],
            "summary": game["summary"],
            "seconds": round(seconds / len(games), 2),
        }
        for game in games
        if not game["fault"]
    ]
    emit(values, json=shown.json)
    if not shown.json:
        _print_players(folder)
        print(f"written: {folder / 'index.html'}, {folder / 'moves.csv'}, {folder / 'games'}")


def _folder(files: list[str], out: Path | None) -> Path:
    """Return the folder for the reviews of several games; never one that is read."""
    from tengen.errors import TengenError

    first = Path("review" if files[0] == "-" else files[0]).resolve()
    name = first.name if first.is_dir() else first.name.split(".")[0]
    folder = out or (Path(files[0]).parent if files[0] != "-" else Path()) / f"{name}.review"
    if out is not None and out.suffix.lower() in (".sgf", ".html", ".htm"):
        raise TengenError(f"--out {out}: reviews of several games go to a folder")
    for file in files:
        if file != "-" and Path(file).resolve() in (folder.resolve(), *folder.resolve().parents):
            raise TengenError(f"--out {folder}: lies in what is read; name another folder")
    return folder


def _print_players(folder: Path) -> None:
    """Print points lost per move by player and phase."""
    import json

    from tengen.reviews.tables import PHASES

    def points(tally: dict[str, Any] | None) -> str:
        lost = tally and tally["mean_points_lost"]
        return "" if lost is None else f"{lost:.2f}"

    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
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
    table("points lost per move", ["player", "rank", "games", "moves", "all", *PHASES], rows)


def _side_by_side(out: Path, file: str) -> tuple[Path, Path]:
    """Return the names of the record and of the page; neither may be the file that is read."""
    from tengen.files import refuse_inputs

    if out.suffix.lower() in (".html", ".htm"):
        sgf, page = out.with_suffix(".sgf"), out
    else:
        sgf, page = out, out.with_suffix(".html")
    for place in (sgf, page):
        refuse_inputs(place, [file])
    return sgf, page
