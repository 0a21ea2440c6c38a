"""One player's reviewed games together: the worst positions, as a page and as problems."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from tengen import __version__
from tengen.board import Board
from tengen.board.coordinates import Move, format_sgf
from tengen.board.drawing import Mark
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.records import read_game
from tengen.records.from_board import record_of_board
from tengen.records.sgf_properties import format_text
from tengen.reviews.causes import SENTENCES
from tengen.reviews.game import legal_part
from tengen.reviews.strength import LEAST_GAMES, RankEstimate, estimate

MOST_MOMENTS = 20
"""Positions of a player that are shown, the worst."""


@dataclass(frozen=True)
class Moment:
    """A mistake: the position before it, its row of plain values, and the game."""

    board: Board
    row: Mapping[str, Any]
    game: str
    link: str = ""


def worst_rows(games: Iterable[Mapping[str, Any]], name: str) -> list[tuple[Any, Any]]:
    """Return the largest mistakes of a player as pairs of game and row, largest first."""
    found = [
        (game, row)
        for game in games
        for row in game["rows"]
        if row["verdict"] == "mistake" and game[row["colour"]] == name
    ]
    return sorted(found, key=lambda pair: -pair[1]["points_lost"])


def ranks_over_time(
    games: Sequence[tuple[str, str, Sequence[float | None]]],
) -> list[dict[str, Any]]:
    """Estimate the rank from each ten consecutive games on a board, in the order of their dates.

    A game is its date, its board and the probabilities of the player's moves. Boards on which
    ranks are not known are left out.
    """
    found: list[dict[str, Any]] = []
    for board in sorted({board for _, board, _ in games}):
        same = sorted((game for game in games if game[1] == board), key=lambda game: game[0])
        for end in range(LEAST_GAMES, len(same) + 1):
            part = same[end - LEAST_GAMES : end]
            told: RankEstimate = estimate(board, [moves for _, _, moves in part])
            if not told.reason:
                found.append({**told.to_dict(), "date": part[-1][0], "told": str(told)})
    return found


def problems_sgf(moments: Iterable[Moment]) -> bytes:
    """Return positions as problems in SGF: stones set up, and the better line as the solution."""
    texts = []
    for moment in moments:
        board, row = moment.board, moment.row
        fresh = Board.from_grid(
            board.grid(), to_play=board.turn, rules=board.rules, komi=board.komi
        )
        record = record_of_board(fresh)
        tree = record.tree
        title = f"{moment.game}, move {row['number']}"
        question = f"{row['move']} lost {row['points_lost']:.1f} points. Find a better move."
        tree.nodes[0] |= {"GN": [format_text(title)], "C": [format_text(question)]}
        parent = 0
        for number, point in enumerate(row["line"] or [row["best"]]):
            colour = "BW"[(row["colour"] == "white") ^ (number % 2)]
            value = format_sgf(board.to_point(point), board.rows, board.cols).encode("ascii")
            right = {} if number else {"TE": [b"1"], "C": [b"Correct"]}
            parent = tree.add(parent, {colour: [value], **right})
        texts.append(record.sgf())
    return b"\n".join(texts) + b"\n"


def player_page(name: str, moments: Sequence[Moment], remarks: Sequence[str]) -> str:
    """Return the worst positions of a player as a page that prints well."""
    figures = []
    for moment in moments:
        row = moment.row
        marks: dict[Move, str | Mark] = {}
        for point, mark in ((row["best"], Mark("A", 1.0)), (row["move"], "×")):
            if point != "pass":
                marks[point] = mark
        why = SENTENCES.get(row["cause"], "").format(stones=row["stones"])
        place = html.escape(f"{moment.game}, move {row['number']}")
        if moment.link:
            place = f'<a href="{html.escape(moment.link)}">{place}</a>'
        words = (
            f"{row['colour'].capitalize()} {row['move']} (×) lost {row['points_lost']:.1f} points, "
            f"{row['best']} (A) is better. {why}"
        )
        picture = moment.board.svg(marks=marks, cell=16)
        figures.append(
            f"<figure>{picture}<figcaption>{place}<br>{html.escape(words)}</figcaption></figure>"
        )
    return Template(Path(__file__).with_name("player.html").read_text("utf-8")).substitute(
        name=html.escape(name),
        remarks="".join(f"<p>{html.escape(remark)}</p>" for remark in remarks),
        figures="\n".join(figures) or "<p>No mistakes.</p>",
        version=__version__,
    )


def write_player(folder: Path, games: Sequence[Mapping[str, Any]], name: str) -> list[Path]:
    """Write the page and the problems of one player into a folder of reviews; return both paths."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    account = next((each for each in summary["players"] if each["name"] == name), None)
    if account is None:
        names = ", ".join(each["name"] for each in summary["players"][:10])
        raise TengenError(
            f"no reviewed game has a player {name!r}; there are {names or 'no names'}"
        )
    moments = []
    for game, row in worst_rows(games, name)[:MOST_MOMENTS]:
        place = f"games/{game['number']:06}"
        boards, _ = legal_part(read_game(folder / f"{place}.sgf"))
        title = " - ".join(filter(None, (game["black"], game["white"], game["date"])))
        link = f"{place}.html#{row['number'] - 1}"
        moments.append(Moment(boards[row["number"] - 1], row, title, link))
    lost = account["mean_points_lost"] or 0.0
    remarks = [f"{account['games']} games, {lost:.2f} points lost per move."]
    remarks += [f"Estimated rank on {e['told']}." for e in account["estimates"] if not e["reason"]]
    page, problems = folder / "player.html", folder / "player.sgf"
    write_atomic(page, player_page(name, moments, remarks))
    write_atomic(problems, problems_sgf(moments))
    return [page, problems]
