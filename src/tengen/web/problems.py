"""Problems from files: those that ship with Tengen, and collections of the user's in SGF.

`scripts/make_problems.py` makes those that ship. A game of a user's collection is a problem if it
sets up stones and goes on with a solution.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from tengen.board import BLACK, WHITE
from tengen.board.coordinates import parse_sgf
from tengen.errors import RecordError, TengenError
from tengen.models.settings import fingerprint
from tengen.records import GameRecord
from tengen.records.sgf_grammar import GameTree
from tengen.records.sgf_properties import parse_text
from tengen.reviews.game import legal_part
from tengen.web.positions import NAMES, read_upload, to_value, vertex
from tengen.web.workers import Context, Json

SHIPPED = Path(__file__).with_name("problems.json")
_RIGHT = re.compile(r"\b(right|correct|richtig)\b|正解|正确|정해|정답", re.IGNORECASE)
_LONGEST_TITLE = 80


def shipped() -> list[Json]:
    """Return the problems that ship with Tengen, as lessons with ids."""
    found: list[Json] = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return [{**one, "id": f"start-{number:03}"} for number, one in enumerate(found, 1)]


def problems_of_upload(arguments: Json, context: Context) -> Json:
    """Return the problems of a file of the user's, and how many of its games are none."""
    records, unread = read_upload(**arguments)
    found = [one for record in records if (one := _problem_of(record)) is not None]
    if not found:
        name = arguments["name"]
        raise RecordError(f"{name}: no game in it sets up stones and goes on with a solution")
    return {"problems": found, "others": len(records) - len(found), "unread": unread}


def _problem_of(record: GameRecord) -> Json | None:
    """Return a game as a problem with all its right first moves; None if it is none."""
    boards, _ = legal_part(record)
    board = boards[0]
    if not board.grid().any() or len(boards) < 2:
        return None
    colour = boards[1].moves[-1][0]
    answers = _answers(record, colour)
    first = vertex(boards[1].moves[-1][1], board)
    board.turn = colour
    texts = record.properties
    title = next((t for key in ("GN", "EV") if (t := texts.get(key, [""])[0].strip())), "")
    return {
        "id": f"own-{fingerprint(record.utf8_sgf().hex())[:16]}",
        "board": to_value(board),
        "number": len(board.moves),
        "colour": NAMES[colour],
        "move": "",
        "best": answers[0] if answers else first,
        "answers": answers or [first],
        "points_lost": 0.0,
        "title": title[:_LONGEST_TITLE] or f"{Path(record.file).name}, {record.game}",
    }


def _answers(record: GameRecord, colour: int) -> list[str]:
    """Return the first moves that lead to a node which is called right."""
    tree, key = record.tree, {BLACK: "B", WHITE: "W"}[colour]
    starts: dict[int, int] = {}  # the first move above each node
    found: dict[int, str] = {}
    for index, node in enumerate(tree.nodes):
        parent = tree.parents[index]
        starts[index] = starts.get(parent, -1)
        if starts[index] < 0 and key in node:
            starts[index] = index
        if starts[index] >= 0 and _is_right(tree, index, record.encoding):
            start = tree.nodes[starts[index]][key][0].decode("ascii", "replace")
            with suppress(TengenError):  # a move beside the board answers nothing
                found[starts[index]] = str(parse_sgf(start, record.rows, record.cols))
    return list(dict.fromkeys(found.values()))


def _is_right(tree: GameTree, index: int, encoding: str) -> bool:
    """Return whether a node is marked as a good move, or its comment calls the line right."""
    node = tree.nodes[index]
    comment = parse_text(node["C"][0], encoding) if node.get("C") else ""
    return "TE" in node or (bool(_RIGHT.search(comment)) and not re.search(r"not right", comment))
