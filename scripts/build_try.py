"""Write the page that needs no server: a folder for any web host.

    python scripts/build_try.py [FOLDER]

The built page comes from the package, networks and ratings from its models and ladders. The folder
is `build/try` unless another is named.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tengen.arena.placing import ELO_PER_RANK, elo_of
from tengen.board import BLACK, PASS, WHITE, Board, index_of
from tengen.board.counting import format_result
from tengen.board.rules import KO_NUMBERS
from tengen.library import load_network
from tengen.models.registry import DRAWN_FROM, JUDGE
from tengen.records.from_board import start_of
from tengen.web import exhibits, tasks
from tengen.web.machines import list_opponents, rungs_of
from tengen.web.positions import rows_of, to_board, to_value
from tengen.web.problems import shipped
from tengen.web.tasks import STATIC
from tengen.web.wasm.networks import page_network
from tengen.web.workers import Context

ROOT = Path(__file__).parents[1]
_SIZES = (9, 13, 19)
_RANKS = [*(f"{n} kyu" for n in range(30, 0, -1)), *(f"{n} dan" for n in range(1, 10))]


def write(folder: Path, *, papers: bool = True) -> None:
    """Write the folder anew; without `papers`, whose tables take minutes, for tests."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(STATIC, folder / "static", ignore=shutil.ignore_patterns("app.js", "*.html"))
    shutil.copyfile(STATIC / "alone.html", folder / "index.html")
    (folder / "static" / "sw.js").rename(folder / "sw.js")
    data = folder / "data"
    data.mkdir()
    networks = {name: _network(model, data) for name, model in _NETWORKS.items()}
    facts = {"networks": networks, **_facts()}
    _write(data / "facts.json", facts)
    shown = [_exhibit(one) for one in exhibits.listed()] if papers else []
    _write(data / "papers.json", shown)


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, separators=(",", ":")), encoding="utf-8")


_NETWORKS = {"best": JUDGE, "people": DRAWN_FROM}


def _network(model: str, folder: Path) -> dict[str, Any]:
    """Write a network's file, whose name changes with what is in it."""
    content = page_network(load_network(model))
    file = f"{model}-{hashlib.blake2b(content, digest_size=4).hexdigest()}.safetensors"
    (folder / file).write_bytes(content)
    return {"file": file, "bytes": len(content)}


def _facts() -> dict[str, Any]:
    """Return opponents, ratings and problems, as the page reads them."""
    opponents = list_opponents()
    kept = [one for one in opponents.values() if one.kind in ("level", "person")]
    ladder = {}
    for size in _SIZES:
        rungs, first = rungs_of(kept, size)
        ladder[f"{size}x{size}"] = {"rungs": [rung._asdict() for rung in rungs], "first": first}
    return {
        "opponents": [asdict(one) for one in kept],
        "rated": {
            "elo": {rank: elo_of(rank) for rank in _RANKS},
            "ladder": ladder, "perRank": ELO_PER_RANK, "mostStones": 9,
        },
        "problems": [_problem(one) for one in shipped()],
    }  # fmt: skip


def _problem(one: dict[str, Any]) -> dict[str, Any]:
    """Return a problem with its board as the page stores it."""
    value = one["board"]
    board = to_board(value)
    rows, cols, rules = board.rows, board.cols, board.rules
    return {
        **one,
        "board": {
            "size": [rows, cols], "rules": {**asdict(rules), "ko": KO_NUMBERS[rules.ko]},
            "komi": board.komi, "handicap": board.handicap, "stones": rows_of(start_of(board)),
            "first": value["first"], "turn": board.turn,
            "moves": [[c, -1 if p == PASS else index_of(p, rows, cols)] for c, p in board.moves],
        },
    }  # fmt: skip


def _exhibit(listed: dict[str, Any]) -> dict[str, Any]:
    """Return a paper as lists show it, its exhibit, and what its rows say.

    What the machine says to the positions where it fails is computed here, since it needs Python.
    """
    name = listed["id"]
    shown = exhibits.described(name)
    context = Context(tell=lambda part: None, stop=lambda: False)
    for failure in shown["failures"]:
        if shown["machine"]["plays"]:
            board = Board(failure["size"])
            for colour, move in failure["moves"]:
                board.play(move, {"B": BLACK, "W": WHITE}[colour])
            player = exhibits.player_of(name, exhibits.MACHINE, {})
            asked = {"board": to_value(board), "player": player, "seed": 0}
            failure["said"] = tasks.choose(asked, context)["move"]
        else:
            board = Board.from_ascii("\n".join(failure["stones"]))
            at = shown["machine"]["snapshots"][-1]
            seen = exhibits.see({"board": to_value(board), "paper": name, "at": at}, context)
            failure["said"] = format_result(round(seen["value"], 1))
    if shown["machine"]["sees"]:
        shown["sights"] = sights_of(shown)
    return {
        "listed": listed,
        "exhibit": shown,
        "results": exhibits.results({"paper": name}, context),
    }


_SEEN = ("wishes", "policy", "ownership", "maps", "value", "blocks")


def sights_of(shown: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what every snapshot and the finished machine make of an exhibit's positions.

    The positions are the first one and those of the failures, in the page's order.
    """
    machine, exhibit = shown["machine"], exhibits.find_paper(shown["id"]).exhibit
    boards = [Board(machine["size"], setup="/".join(machine["start"]))]
    boards += [failure.board() for failure in (exhibit.failures if exhibit else ())]
    return [
        {
            "end" if at is None else str(at): _sight(shown["id"], at, board)
            for at in (*machine["snapshots"], None)
        }
        for board in boards
    ]


def _sight(name: str, at: int | None, board: Board) -> dict[str, Any]:
    """Return what one machine makes of a position."""
    context = Context(tell=lambda part: None, stop=lambda: False)
    seen = exhibits.see({"board": to_value(board), "paper": name, "at": at}, context)
    kept = {key: seen[key] for key in _SEEN if key in seen}
    if "wishes" in kept:
        kept["wishes"] = kept["wishes"][:3]
    found: dict[str, Any] = _rounded(kept)
    return found


def _rounded(value: Any) -> Any:
    """Return a value with numbers of three digits."""
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def main() -> None:
    """Write the folder that the command line names."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "try"
    write(folder)
    print(f"{folder}/index.html")


if __name__ == "__main__":
    main()
