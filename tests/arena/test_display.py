"""The live table lists what was won and which games the workers hold."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace

from rich.console import Console

from tengen.arena.display import LiveTable


def test_games_under_way_are_listed_until_they_end() -> None:
    table = LiveTable(["a", "b"], [], quiet=True)
    table.begin(4, 0)
    table.handed_out(SimpleNamespace(key=("a", "b", 2)))  # type: ignore[arg-type]
    console = Console(file=StringIO(), width=120)
    console.print(table._draw())
    assert "game 3 of a - b" in console.file.getvalue()  # type: ignore[attr-defined]
    sides = SimpleNamespace(black=SimpleNamespace(name="a"), white=SimpleNamespace(name="b"))
    ended = SimpleNamespace(
        key=("a", "b", 2), is_void=True, job=sides, detail="lost", fault="a", result="Void"
    )
    table.finished(ended)  # type: ignore[arg-type]
    console = Console(file=StringIO(), width=120)
    console.print(table._draw())
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "game 3 of a - b" not in text and "0/4 games" in text
