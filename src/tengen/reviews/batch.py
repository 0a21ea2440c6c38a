"""Review every game of files, folders and archives into one folder, on several cores.

    FOLDER/index.html     one line per game, players and ranks summed up
    FOLDER/moves.csv      one line per move of all games
    FOLDER/summary.json   the figures of the index as plain values
    FOLDER/games/         NUMBER.html, NUMBER.sgf and NUMBER.json for each game
    FOLDER/config.toml    the settings of the reviews; the folder is a `Run`

A game is done when its JSON file exists, which is written last; resuming skips such games and
writes the same files as a run that was never stopped.
"""

from __future__ import annotations

import html
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

from tengen import __version__
from tengen.board import PASS, Board, Point
from tengen.errors import RunError, TengenError
from tengen.files import sweep, write_atomic
from tengen.models import Run
from tengen.models.runs import read_run
from tengen.models.settings import fingerprint
from tengen.parallel import map_jobs
from tengen.records import GameRecord
from tengen.records.corpus import PackedGame
from tengen.reviews import ReviewSettings
from tengen.reviews.annotate import annotate
from tengen.reviews.causes import PHASES
from tengen.reviews.game import Review, find_reviewer, review_game
from tengen.reviews.player import worst_rows
from tengen.reviews.strength import LEAST_GAMES, estimates, fitted_model, lines
from tengen.sanitize import csv_text
from tengen.statistics import ratio_interval

# Makes the page of a review from its title and the address of the index page.
Page = Callable[[Review, str, str], str]
_INDEX_PLAYERS = 50  # players shown on the index page; the others are in the summary
_PLAYER_MISTAKES = 12  # mistakes shown of each player, the largest
_LEAST_GAMES = 5  # games from which an interval says something

_Game = dict[str, Any]
_Row = dict[str, Any]


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
) -> list[_Game]:
    """Review games into a folder and return the contents of their JSON files, in order.

    `unread` lists what could not be read, for the index page and the summary; games with an illegal
    move, which are reviewed up to there, join it. `on_game` gets the title of each game when it is
    done, or was done before.
    """
    if read_run(folder) is None and any(folder.glob("[!.]*")):
        raise RunError(f"{folder}: holds other files; choose another folder")
    with Run.open(folder, "review", settings, resume=resume):
        places = {job.number: folder / "games" / f"{job.number:06}" for job in jobs}
        sweep(folder / "games")
        values: dict[int, _Game] = {}
        for job in jobs:
            old = _read_value(places[job.number].with_suffix(".json"))
            if old.get("fingerprint") == fingerprint(job.sgf.hex()):
                values[job.number] = old
                on_game(_title_of(old))
        if not values:
            _refuse_others(folder, jobs)
        todo = [job for job in jobs if job.number not in values]
        work = partial(_review_job, settings, make_page)
        for value, files in map_jobs(work, todo, workers=workers, ray=ray, ordered=False):
            for suffix, content in files.items():
                write_atomic(places[value["number"]].with_suffix(suffix), content)
            values[value["number"]] = value
            on_game(_title_of(value))
        games = [values[job.number] for job in jobs]
        _sum_up(folder, games, list(unread), settings)
        return games


def _review_job(
    settings: ReviewSettings, make_page: Page, job: PackedGame
) -> tuple[_Game, dict[str, bytes | str]]:
    """Return the review of a game and its files; `fault` says why it could not be reviewed whole.

    A game with an illegal move is reviewed up to there; one without `summary` is not reviewed.
    """
    record = job.record()
    value = {**headline(record), "number": job.number, "fingerprint": fingerprint(job.sgf.hex())}
    files: dict[str, bytes | str] = {}
    place = f"{job.file}: game {job.game}"
    try:
        # A new reviewer for each game: state left from another game would change this review.
        reviewer = find_reviewer(record.rows, record.cols, settings)
        review = review_game(record, reviewer, seed=settings.seed)
    except TengenError as wrong:
        text = str(wrong) if job.file in str(wrong) else f"{place}: {wrong}"
        value |= {"fault": text, "rows": []}
    else:
        scores = [round(p.score, 2) for p in review.positions]
        fault = f"{place}: {review.remark}" if review.remark else ""
        value |= {"fault": fault, "summary": review.summary(), "scores": scores}
        value |= {"rows": _move_rows(review)}
        files[".sgf"] = annotate(review, top=settings.top, ownership=settings.ownership)
        files[".html"] = make_page(review, _title_of(value), "../index.html")
    # Last, because it marks the others as complete.
    return value, {**files, ".json": json.dumps(value, allow_nan=False) + "\n"}


def headline(record: GameRecord) -> dict[str, Any]:
    """Return the values of a game that lists of games show."""
    keys = {"black": "PB", "white": "PW", "black_rank": "BR", "white_rank": "WR"}
    keys |= {"event": "EV", "date": "DT"}
    texts = record.properties
    return {
        "file": record.file,
        "game": record.game,
        **{name: texts.get(key, [""])[0].strip()[:120] for name, key in keys.items()},
        "result": str(record.result) if record.result.kind != "unknown" else "",
        "size": [record.rows, record.cols],
        "komi": record.komi,
        "handicap": record.handicap,
        "rules": record.rules,
        "moves": len(record.moves),
    }


def _move_rows(review: Review) -> list[_Row]:
    """Return one row of plain values per move."""
    found = []
    for move in review.moves:
        before, after = review.positions[move.number - 1].board, review.positions[move.number].board
        kind = kind_of(move.move, before, after)
        found.append({**move.to_dict(), "kind": kind})
    return found


def _title_of(value: _Game) -> str:
    """Return the title of a game for display."""
    return f"{Path(value['file']).name}, game {value['game']}"


def _read_value(path: Path) -> _Game:
    """Return the stored review of a game; nothing if the file is missing or damaged."""
    try:
        value: _Game = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value


def _refuse_others(folder: Path, jobs: Sequence[PackedGame]) -> None:
    """Raise `RunError` if the folder holds only other games: they would be overwritten."""
    there = {_read_value(path).get("fingerprint") for path in (folder / "games").glob("*.json")}
    if there - {None} and there.isdisjoint(fingerprint(job.sgf.hex()) for job in jobs):
        raise RunError(f"{folder}: holds reviews of other games; choose another folder")


def _sum_up(
    folder: Path, games: Sequence[_Game], unread: list[str], settings: ReviewSettings
) -> None:
    """Write the tables over all games."""
    faults = [*unread, *(game["fault"] for game in games if game["fault"])]
    good = [game for game in games if "summary" in game]
    if not good:
        raise TengenError(f"no game could be reviewed: {faults[0]}")
    summary = {**summarise(good), "faults": faults}
    write_atomic(folder / "moves.csv", moves_csv(good))
    write_atomic(folder / "summary.json", json.dumps(summary, indent=1, allow_nan=False) + "\n")
    write_atomic(folder / "index.html", make_index(good, summary, settings))


def make_index(games: Sequence[_Game], summary: _Game, settings: ReviewSettings) -> str:
    """Return the index page as HTML; its links lead to the pages of the games."""
    players = summary["players"][:_INDEX_PLAYERS]
    everyone = {"name": "all", "kinds": summary["all"]["kinds"]}
    kinds = [kind for kind in KINDS if kind in everyone["kinds"]]
    parts = ["<h2>Games</h2>", _SEARCH, _sheet(_GAME_COLUMNS, map(_game_row, games))]
    if players:
        more = len(summary["players"]) - len(players)
        parts += [
            "<h2>Players</h2>",
            _remark(
                "Points lost per move, with a 95 % interval over games where there are at least "
                f"{_LEAST_GAMES}, and by phase. Against the rank: the difference to all players of "
                "the same rank in these games. A name leads to the player's largest mistakes. "
                f"Estimated rank: from {LEAST_GAMES} games without handicap on "
                f"{' or '.join(lines())}, by how likely people play the moves; 95 % interval."
            ),
            _sheet([*_PLAYER_COLUMNS, *PHASES], map(_player_row, range(len(players)), players)),
            *(_mistakes_of(n, player["name"], games) for n, player in enumerate(players)),
            _remark(f"{more} more are in the summary.") if more else "",
        ]
    parts += [
        "<h2>By kind of move</h2>",
        _remark(
            "A move is a capture, an atari, in contact with the other side, near the previous "
            "move, or elsewhere: the first that fits."
        ),
        _sheet(
            ["who", *kinds],
            ([_text(who["name"]), *_points(who["kinds"], kinds)] for who in [everyone, *players]),
        ),
    ]
    if summary["ranks"]:
        rows = (
            [_text(rank), row["games"], row["moves"], _lost(row)] + _points(row["phases"], PHASES)
            for rank, row in summary["ranks"].items()
        )
        columns = ["rank", "games", "moves", "lost per move", *PHASES]
        parts += ["<h2>By rank</h2>", _sheet(columns, rows)]
    if summary["faults"]:
        faults = "".join(f"<li>{_text(fault)}</li>" for fault in summary["faults"])
        parts += ["<h2>Not reviewed, or not to the end</h2>", f'<ul class="sans">{faults}</ul>']
    return Template(Path(__file__).with_name("index.html").read_text("utf-8")).substitute(
        title=f"{summary['games']} games",
        judges=_text("; ".join(sorted({game["summary"]["judge"] for game in games}))),
        sections="\n".join(parts),
        version=__version__,
        seed=settings.seed,
    )


_GAME_COLUMNS = (
    "game", "Black", "White", "date", "board", "moves", "result", "Black lost", "White lost",
    "mistakes", "largest", "score",
)  # fmt: skip
_PLAYER_COLUMNS = (
    "player", "rank", "games", "moves", "lost per move", "95 % interval", "against the rank",
    "mistakes per 100 moves", "people's first choice", "estimated rank",
)  # fmt: skip
_SEARCH = '<p class="sans"><label>Search: <input id="search" type="search"></label></p>'
_LEFT = {
    "Black",
    "White",
    "date",
    "largest",
    "score",
    "better",
    "phase",
    "kind",
    "in",
    "estimated rank",
}  # and every first column


def _text(value: object) -> str:
    return html.escape(str(value))


def _remark(text: str) -> str:
    return f'<p class="soft">{text}</p>'


def _sheet(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table of cells that are HTML."""
    sides = [' class="left"' if not i or name in _LEFT else "" for i, name in enumerate(columns)]

    def line(tag: str, cells: Iterable[object]) -> str:
        pairs = zip(sides, cells, strict=True)
        return f"<tr>{''.join(f'<{tag}{side}>{cell}</{tag}>' for side, cell in pairs)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return (
        f'<div class="scroll"><table><thead>{line("th", columns)}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _number(value: float | None, style: str) -> str:
    return "" if value is None else format(value, style)


def _lost(row: _Row | None) -> str:
    return _number(row["mean_points_lost"], ".2f") if row else ""


def _points(row: _Row, names: Iterable[str]) -> list[str]:
    return [_lost(row.get(name)) for name in names]


def _player_row(number: int, player: _Row) -> list[object]:
    interval, first = player["interval"], player["predicted_first"]
    return [
        f'<a href="#player-{number}">{_text(player["name"])}</a>',
        _text(player["rank"]),
        player["games"],
        player["moves"],
        _lost(player),
        f'<span class="soft">{interval[0]:.2f} to {interval[1]:.2f}</span>' if interval else "",
        _number(player["against_rank"], "+.2f"),
        _number(player["mistakes_per_100"], ".1f"),
        "" if first is None else f"{first:.0%}".replace("%", " %"),
        "<br>".join(_text(each["told"]) for each in player["estimates"] if not each["reason"]),
        *_points(player["phases"], PHASES),
    ]


def _mistakes_of(number: int, name: str, games: Sequence[_Game]) -> str:
    """Return a player's largest mistakes, which the page shows when the name is clicked."""
    rows = worst_rows(games, name)
    cells = [
        [
            _place(game, row),
            _text(_name_of(game)),
            _text(row["best"]),
            f"{row['points_lost']:.1f} &plusmn; {row['error']:.1f}",
            row["phase"],
            row["kind"],
        ]
        for game, row in rows[:_PLAYER_MISTAKES]
    ]
    columns = ["move", "in", "better", "points lost", "phase", "kind"]
    table = _sheet(columns, cells) if cells else _remark("None.")
    title = f"<h3>Mistakes of {_text(name)}: {len(rows)}</h3>"
    return f'<section class="mistakes" id="player-{number}">{title}{table}</section>'


def _name_of(game: _Game) -> str:
    """Name a game's file, and its number if it is not the first of the file."""
    name = Path(game["file"]).name
    return f"{name}, {game['game']}" if game["game"] > 1 else name


def _place(game: _Game, row: _Row) -> str:
    """Return a link to the position before a move."""
    page = f"games/{game['number']:06}.html#{row['number'] - 1}"
    return f'<a href="{page}">{row["number"]} {_text(row["move"])}</a>'


def _game_row(game: _Game) -> list[object]:
    """Return a game's cells for the index page: with its worst move and a curve of the score."""
    mistakes = [row for row in game["rows"] if row["verdict"] == "mistake"]
    doubts = [row for row in game["rows"] if row["verdict"]]
    worst = max(mistakes or doubts, key=lambda row: row["points_lost"], default=None)
    largest = ""
    if worst:
        lost = f'<span data-sort="{worst["points_lost"]}">&minus;{worst["points_lost"]:.1f}</span>'
        largest = f'<span class="whole">{_place(game, worst)} {lost}</span>'
        largest += "" if mistakes else " (doubtful)"
    most = max(map(abs, game["scores"]), default=0.0) or 1.0
    step = 120 / max(len(game["scores"]) - 1, 1)
    curve = (f"{step * n:.1f},{12 - 12 * s / most:.1f}" for n, s in enumerate(game["scores"]))
    sides = game["summary"]["black"], game["summary"]["white"]
    return [
        f'<a href="games/{game["number"]:06}.html">{_text(_name_of(game))}</a>',
        *(_text(f"{game[side]} {game[f'{side}_rank']}") for side in ("black", "white")),
        f'<span class="whole">{_text(game["date"])}</span>',
        f"{game['size'][1]}&times;{game['size'][0]}",
        len(game["rows"]),
        _text(game["result"]),
        *map(_lost, sides),
        f'<span data-sort="{len(mistakes)}">{" : ".join(str(s["mistakes"]) for s in sides)}</span>',
        largest,
        '<svg width="120" height="24" role="img" aria-label="score">'
        '<line class="mid" x1="0" x2="120" y1="12" y2="12"/>'
        f'<polyline points="{" ".join(curve)}"/></svg>',
    ]


# ----- Tables -----

KINDS = ("capture", "atari", "contact", "near", "elsewhere", "pass")  # the first that fits
_NEAR = 3  # lines from the move before


def kind_of(move: Point, before: Board, after: Board) -> str:
    """Return the kind of a move; see `KINDS`."""
    if move == PASS:
        return "pass"
    if sum(after.prisoners) > sum(before.prisoners):
        return "capture"
    sides = ((0, 1), (1, 0), (0, -1), (-1, 0))
    beside = [(move.row + row, move.col + col) for row, col in sides]
    enemies = [
        (row, col)
        for row, col in beside
        if 0 <= row < after.rows and 0 <= col < after.cols and after[row, col] == 3 - after[move]
    ]
    if any(after.liberties(near) == 1 for near in enemies):
        return "atari"
    if enemies:
        return "contact"
    last = before.last_move
    if last is None or last == PASS:
        return "elsewhere"
    away = max(abs(last.row - move.row), abs(last.col - move.col))
    return "near" if away <= _NEAR else "elsewhere"


def moves_csv(games: Iterable[_Game]) -> str:
    """Return one line per move of all games."""
    names = ("file", "game", "black", "white", "black_rank", "white_rank", "date", "result")
    rows = [(game, row) for game in games for row in game["rows"]]
    columns = [*names, *rows[0][1]] if rows else names
    cells = ((*(game[t] for t in names), *row.values()) for game, row in rows)
    return csv_text(columns, cells, decimals=4)


def summarise(games: Iterable[_Game]) -> dict[str, Any]:
    """Sum up players and ranks, most games first, and all players together.

    `against_rank` is a player's points lost per move minus those of all players of the same rank
    in these games.
    """
    held = list(games)
    sides = _sides_without_handicap(held)
    everybody = _accounts(held, lambda game, side: "all")
    ranks = _accounts(held, lambda game, side: game[f"{side}_rank"])
    accounts = []
    for name, line in _accounts(held, lambda game, side: game[side]).items():
        expected = ranks.get(line["rank"], {}).get("mean_points_lost") if line["rank"] else None
        known = expected is not None and line["mean_points_lost"] is not None
        against = line["mean_points_lost"] - expected if known else None
        found = [{**each.to_dict(), "told": str(each)} for each in estimates(sides[name])]
        accounts.append({"name": name, **line, "against_rank": against, "estimates": found})
    return {
        "games": len(held),
        "all": everybody.get("all"),
        "players": sorted(accounts, key=lambda line: (-line["games"], line["name"])),
        "ranks": ranks,
    }


def _sides_without_handicap(
    games: Iterable[_Game],
) -> dict[str, list[tuple[str, list[float | None]]]]:
    """Return, for each player, the board and the moves' probabilities of each even game.

    Reviews by another model than that of the lines say nothing about ranks.
    """
    found: dict[str, list[tuple[str, list[float | None]]]] = defaultdict(list)
    for game in games:
        if not game["handicap"] and game["summary"]["judge"].startswith(fitted_model()):
            board = "x".join(map(str, game["size"]))
            for side in ("black", "white"):
                rows = [row["probability"] for row in game["rows"] if row["colour"] == side]
                found[game[side]].append((board, rows))
    return found


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
    """Sum up one player or rank: the rows and the rank of each game; the interval is over games.

    With fewer than `_LEAST_GAMES` games there is no interval.
    """
    rows = [row for side, _ in sides for row in side]
    ranks = Counter(rank for _, rank in sides)
    predicted = [row["rank"] for row in rows if row["rank"] is not None]
    played = [side for side, _ in sides if side]
    lost = [sum(row["points_lost"] for row in side) for side in played]

    enough = len(played) >= _LEAST_GAMES
    interval = ratio_interval(lost, list(map(len, played))) if enough else None

    def parts(key: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        chosen = {name: [row for row in rows if row[key] == name] for name in names}
        return {name: _tally(some) for name, some in chosen.items() if some}

    return {
        "games": len(sides),
        "rank": min(ranks, key=lambda rank: (-ranks[rank], rank), default=""),
        **_tally(rows),
        "interval": interval,
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
