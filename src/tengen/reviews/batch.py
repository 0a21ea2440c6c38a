"""Review every game of files, folders and archives into one folder, on several cores.

    FOLDER/index.html     one line per game, players and ranks summed up
    FOLDER/moves.csv      one line per move of all games
    FOLDER/summary.json   the figures of the index as plain values
    FOLDER/games/         NUMBER.html, NUMBER.sgf and NUMBER.json for each game
    FOLDER/settings.json  the settings of the reviews

A game is done when its JSON file exists, which is written last; resuming skips such games. The
files follow from the games, the models and the settings alone, so a resumed run writes the same
files as one that was never stopped.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from tengen import __version__
from tengen.board import PASS, Board, Point
from tengen.errors import RunError, TengenError
from tengen.files import lock, sweep, write_atomic
from tengen.models.settings import differences, fingerprint, from_plain, to_plain
from tengen.parallel import map_jobs
from tengen.records import GameRecord
from tengen.records.corpus import PackedGame
from tengen.reviews.annotate import annotate
from tengen.reviews.game import Review, find_reviewer, review_game
from tengen.reviews.settings import ReviewSettings
from tengen.sanitize import csv_cell
from tengen.statistics import mean_interval

Page = Callable[[Review, str, str], str]
"""Makes the page of a review from its title and the address of the index page."""

_GAMES, _SETTINGS, _LOCK = "games", "settings.json", ".lock"
_INDEX_PLAYERS = 50
"""Players shown on the index page; the others are in the summary."""


@dataclass(frozen=True)
class _Done:
    """A reviewed game, as a worker returns it."""

    job: PackedGame
    value: dict[str, Any]
    sgf: bytes
    page: str


def review_library(
    jobs: Sequence[PackedGame],
    folder: Path,
    settings: ReviewSettings,
    make_page: Page,
    *,
    unread: Sequence[str] = (),
    resume: bool = False,
    workers: int = 1,
    ray: str | None = None,
    on_game: Callable[[str], None] = lambda title: None,
) -> list[dict[str, Any]]:
    """Review games into a folder and return what its JSON files hold of each, in order.

    `unread` lists what could not be read, for the index page and the summary; games with an illegal
    move join it. `on_game` gets the title of each game when it is done, or was done before.
    """
    with _claimed(folder, settings, resume):
        values: dict[int, dict[str, Any]] = {}
        for job in jobs:
            old = _read_done(folder, job)
            if old is not None:
                values[job.number] = old
                on_game(_title_of(old))
        if not values:
            _refuse_others(folder, jobs)
        todo = [job for job in jobs if job.number not in values]
        work = partial(_review_job, settings, make_page)
        try:
            for done in map_jobs(work, todo, workers=workers, ray=ray, ordered=False):
                _write(folder, done)
                values[done.job.number] = done.value
                on_game(_title_of(done.value))
        except KeyboardInterrupt as stop:
            stop.add_note(f"{folder}: {len(values)} of {len(jobs)} games done; resume to continue")
            raise
        games = [values[job.number] for job in jobs]
        _sum_up(folder, games, list(unread), settings)
        return games


def _review_job(settings: ReviewSettings, make_page: Page, job: PackedGame) -> _Done:
    """Review one game; `fault` says why a game could not be reviewed."""
    record = job.record()
    about = {**headline(record), "number": job.number, "fingerprint": fingerprint(job.sgf.hex())}
    try:
        # A new reviewer for each game: what a search keeps of another game would change this one.
        reviewer = find_reviewer(record.rows, record.cols, settings)
        review = review_game(record, reviewer, seed=settings.seed)
    except TengenError as wrong:
        place = f"{job.file}: game {job.game}"
        told = str(wrong) if job.file in str(wrong) else f"{place}: {wrong}"
        return _Done(job, {**about, "fault": told, "rows": []}, b"", "")
    value = {
        **about,
        "fault": "",
        "summary": review.summary(),
        "scores": [round(p.score, 2) for p in review.positions],
        "rows": _move_rows(review),
    }
    return _Done(
        job,
        value,
        annotate(review, top=settings.top, ownership=settings.ownership),
        make_page(review, _title_of(about), "../index.html"),
    )


def headline(record: GameRecord) -> dict[str, Any]:
    """Return what a list of games shows of one."""
    texts = record.properties

    def first(name: str) -> str:
        return texts.get(name, [""])[0].strip()[:120]

    return {
        "file": record.file,
        "game": record.game,
        "black": first("PB"),
        "white": first("PW"),
        "black_rank": first("BR"),
        "white_rank": first("WR"),
        "event": first("EV"),
        "date": first("DT"),
        "result": str(record.result) if record.result.kind != "unknown" else "",
        "size": [record.rows, record.cols],
        "komi": record.komi,
        "handicap": record.handicap,
        "rules": record.rules,
        "moves": len(record.moves),
    }


def _move_rows(review: Review) -> list[dict[str, Any]]:
    """Return one row of plain values per move."""
    rows, cols = review.record.rows, review.record.cols
    found = []
    for move in review.moves:
        before, after = review.positions[move.number - 1], review.positions[move.number]
        point = after.board.answer(move.move)
        found.append(
            {
                **move.to_dict(rows, cols),
                "phase": phase_of(move.number, rows, cols),
                "kind": kind_of(point, before.board, after.board),
            }
        )
    return found


def _title_of(value: dict[str, Any]) -> str:
    """Name a game for people."""
    return f"{Path(value['file']).name}, game {value['game']}"


def _claimed(folder: Path, settings: ReviewSettings, resume: bool) -> FileLock:
    """Lock the folder and check that its reviews, if any, can be resumed."""
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder}: is not a folder")
    path = folder / _SETTINGS
    if path.exists():
        if not resume:
            raise RunError(f"{folder}: already holds reviews; resume them or choose another folder")
        _check_settings(path, settings)
    elif folder.is_dir() and any(each.name != _LOCK for each in folder.iterdir()):
        raise RunError(f"{folder}: holds other files; choose another folder")
    (folder / _GAMES).mkdir(parents=True, exist_ok=True)
    held = lock(folder / _LOCK, folder, "choose another folder")
    for part in (folder, folder / _GAMES):
        sweep(part)
    value = {"tengen": __version__, "settings": to_plain(settings)}
    write_atomic(path, json.dumps(value, indent=1) + "\n")
    return held


def _check_settings(path: Path, settings: ReviewSettings) -> None:
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
        old = from_plain(ReviewSettings, there["settings"], where=str(path))
        version = str(there["tengen"])
    except (ValueError, KeyError, TypeError):
        raise RunError(f"{path}: damaged; choose another folder") from None
    if version != __version__:
        raise RunError(f"{path.parent}: started by tengen {version}, this is {__version__}")
    if different := differences(old, settings):
        raise RunError(f"{path.parent}: started with other settings: {'; '.join(different)}")


def _read_done(folder: Path, job: PackedGame) -> dict[str, Any] | None:
    """Return the stored review of a game; None if it is not done or was another game."""
    value = _read_value(folder / _GAMES / f"{job.number:06}.json")
    return value if value.get("fingerprint") == fingerprint(job.sgf.hex()) else None


def _read_value(path: Path) -> dict[str, Any]:
    """Return the stored review of a game; nothing if the file is missing or damaged."""
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value


def _refuse_others(folder: Path, jobs: Sequence[PackedGame]) -> None:
    """Raise `RunError` if the folder holds only other games: they would be overwritten."""
    there = {_read_value(path).get("fingerprint") for path in (folder / _GAMES).glob("*.json")}
    if there - {None} and there.isdisjoint(fingerprint(job.sgf.hex()) for job in jobs):
        raise RunError(f"{folder}: holds reviews of other games; choose another folder")


def _write(folder: Path, done: _Done) -> None:
    """Write a game; its JSON last, because it marks the others as complete."""
    base = folder / _GAMES / f"{done.job.number:06}"
    if not done.value["fault"]:
        write_atomic(base.with_suffix(".sgf"), done.sgf)
        write_atomic(base.with_suffix(".html"), done.page)
    write_atomic(base.with_suffix(".json"), json.dumps(done.value, allow_nan=False) + "\n")


def _sum_up(
    folder: Path, games: Sequence[dict[str, Any]], unread: list[str], settings: ReviewSettings
) -> None:
    """Write the tables over all games."""
    faults = [*unread, *(game["fault"] for game in games if game["fault"])]
    good = [game for game in games if not game["fault"]]
    if not good:
        raise TengenError(f"no game could be reviewed: {faults[0]}")
    summary = {**summarise(good), "faults": faults}
    write_atomic(folder / "moves.csv", moves_csv(good))
    write_atomic(folder / "summary.json", json.dumps(summary, indent=1, allow_nan=False) + "\n")
    write_atomic(folder / "index.html", make_index(good, summary, settings))


def make_index(
    games: Sequence[dict[str, Any]], summary: dict[str, Any], settings: ReviewSettings
) -> str:
    """Return the page as HTML; links lead to the games beside it."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("tengen.reviews", "."), autoescape=select_autoescape()
    )
    return environment.get_template("index.html").render(
        version=__version__,
        settings=settings,
        judges="; ".join(sorted({game["summary"]["judge"] for game in games})),
        games=[_line(game) for game in games],
        summary=summary,
        players=summary["players"][:_INDEX_PLAYERS],
        phases=PHASES,
        kinds=[kind for kind in KINDS if kind in summary["all"]["kinds"]],
    )


def _line(game: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a game's line: sides, the worst move, the course of the score."""
    worst = max(game["rows"], key=lambda row: row["points_lost"], default=None)
    return {
        **game,
        "name": Path(game["file"]).name,
        "page": f"games/{game['number']:06}.html",
        "worst": worst if worst and worst["verdict"] else None,
        "spark": _spark(game["scores"]),
    }


def _spark(scores: Sequence[float], width: int = 120, height: int = 24) -> str:
    """Return the points of a small curve of the score; the middle is an even game."""
    most = max((abs(score) for score in scores), default=0.0) or 1.0
    step = width / max(len(scores) - 1, 1)
    return " ".join(
        f"{step * n:.1f},{height / 2 * (1 - score / most):.1f}" for n, score in enumerate(scores)
    )


# ----- Tables -----

PHASES = ("opening", "middle game", "endgame")
KINDS = ("capture", "atari", "contact", "near", "elsewhere", "pass")
"""What a move does: the first that fits. `near` is within three lines of the move before."""
_NEAR = 3

_Game = dict[str, Any]
_Row = dict[str, Any]


def phase_of(number: int, rows: int, cols: int) -> str:
    """Return the phase of a move by its number.

    The opening lasts a sixth of the board's points, the middle game to their half.

    >>> phase_of(60, 19, 19), phase_of(61, 19, 19), phase_of(200, 19, 19)
    ('opening', 'middle game', 'endgame')
    """
    points = rows * cols
    return PHASES[0 if 6 * number <= points else 1 if 2 * number <= points else 2]


def kind_of(move: Point, before: Board, after: Board) -> str:
    """Return the kind of a move; see `KINDS`."""
    if move == PASS:
        return "pass"
    if sum(after.prisoners) > sum(before.prisoners):
        return "capture"
    enemies = _enemies(move, after)
    if any(after.liberties(near) == 1 for near in enemies):
        return "atari"
    if enemies:
        return "contact"
    last = before.last_move
    if last is not None and last != PASS:
        away = max(abs(last.row - move.row), abs(last.col - move.col))
        if away <= _NEAR:
            return "near"
    return "elsewhere"


def _enemies(move: Point, after: Board) -> list[tuple[int, int]]:
    """List the stones of the other side next to a move, by row and column."""
    colour = after[move]
    beside = [(move.row + r, move.col + c) for r, c in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    return [
        (r, c)
        for r, c in beside
        if 0 <= r < after.rows and 0 <= c < after.cols and after[r, c] == 3 - colour
    ]


def moves_csv(games: Iterable[_Game]) -> str:
    """Return one line per move of all games."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    told = ("file", "game", "black", "white", "black_rank", "white_rank", "date", "result")
    columns: list[str] | None = None
    for game in games:
        for row in game.get("rows", ()):
            if columns is None:
                columns = list(row)
                sheet.writerow([*told, *columns])
            cells = (*(game[t] for t in told), *row.values())
            sheet.writerow([csv_cell(plain_cell(cell)) for cell in cells])
    return out.getvalue()


def plain_cell(value: Any) -> Any:
    """Return a plain value as one cell: lists as words, numbers with four decimals."""
    if isinstance(value, list):
        return " ".join(value)
    return "" if value is None else round(value, 4) if isinstance(value, float) else value


def summarise(games: Iterable[_Game]) -> dict[str, Any]:
    """Sum up players and ranks, most games first, and everybody together.

    `against_rank` is a player's points lost per move less those of all players of the same rank
    in these games.
    """
    held = list(games)
    everybody = _accounts(held, lambda game, side: "all")
    ranks = _accounts(held, lambda game, side: game[f"{side}_rank"])
    lines = []
    for name, line in _accounts(held, lambda game, side: game[side]).items():
        expected = ranks.get(line["rank"], {}).get("mean_points_lost") if line["rank"] else None
        known = expected is not None and line["mean_points_lost"] is not None
        against = line["mean_points_lost"] - expected if known else None
        lines.append({"name": name, **line, "against_rank": against})
    return {
        "games": len(held),
        "all": everybody.get("all"),
        "players": sorted(lines, key=lambda line: (-line["games"], line["name"])),
        "ranks": ranks,
    }


def _accounts(games: list[_Game], key: Callable[[_Game, str], str]) -> dict[str, dict[str, Any]]:
    """Sum up the sides of all games by a key; sides without one are left out."""
    found: dict[str, list[tuple[list[_Row], str]]] = {}
    for game in games:
        for side in ("black", "white"):
            if key(game, side) and game.get("rows"):
                rows = [row for row in game["rows"] if row["colour"] == side]
                found.setdefault(key(game, side), []).append((rows, game[f"{side}_rank"]))
    return {name: sum_up_sides(sides) for name, sides in found.items()}


def sum_up_sides(sides: Sequence[tuple[list[_Row], str]]) -> dict[str, Any]:
    """Sum up one player or rank: the rows and the rank of each game; the interval is over games."""
    rows = [row for side, _ in sides for row in side]
    ranks = Counter(rank for _, rank in sides)
    predicted = [row["rank"] for row in rows if row["rank"] is not None]
    per_game = [sum(row["points_lost"] for row in side) / len(side) for side, _ in sides if side]

    def parts(key: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        chosen = {name: [row for row in rows if row[key] == name] for name in names}
        return {name: _tally(some) for name, some in chosen.items() if some}

    return {
        "games": len(sides),
        "rank": min(ranks, key=lambda rank: (-ranks[rank], rank), default=""),
        **_tally(rows),
        "interval": mean_interval(per_game),
        "predicted_first": predicted.count(1) / len(predicted) if predicted else None,
        "phases": parts("phase", PHASES),
        "kinds": parts("kind", KINDS),
    }


def _tally(rows: Sequence[_Row]) -> dict[str, Any]:
    """Count moves, points lost per move, and mistakes per 100 moves."""
    count, mistakes = len(rows), sum(row["verdict"] == "mistake" for row in rows)
    return {
        "moves": count,
        "mean_points_lost": sum(row["points_lost"] for row in rows) / count if count else None,
        "mistakes_per_100": 100 * mistakes / count if count else None,
    }
