"""Foreign words are data: for the terminal, for Rich and for spreadsheets."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest
from rich.console import Console

from tengen.arena.display import LiveTable
from tengen.cli import run
from tengen.sanitize import csv_cell, for_rich, printable

EVIL = "a[/red]\x1b[2Jb"


def test_control_characters_are_spelled_out() -> None:
    assert printable(EVIL) == "a[/red]\\x1b[2Jb"
    assert printable("\u202e\x9b\r") == "\\u202e\\x9b\\r"
    assert printable("two\nlines, \t碁 ✓") == "two\nlines, \t碁 ✓"


def test_markup_is_shown_as_it_is() -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(for_rich(EVIL))
    assert out.getvalue() == "a[/red]\\x1b[2Jb\n"


def test_cells_are_no_formulas() -> None:
    assert [csv_cell(text)[0] for text in ("=1", "+1", "-1", "@a", "\t=1")] == ["'"] * 5
    assert [csv_cell(value) for value in (-1.5, None, "a=b")] == [-1.5, None, "a=b"]


def test_the_live_table_shows_any_name() -> None:
    table = LiveTable([EVIL], [], quiet=True)
    table.note = EVIL
    table.under_way[(EVIL, EVIL, 0)] = 0.0
    out = io.StringIO()
    Console(file=out, width=200).print(table._draw())
    assert out.getvalue().count("a[/red]\\x1b[2Jb") == 4


def test_names_in_a_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "t.toml"
    config.write_text(
        'games = 2\nsize = 5\n[players]\n"=a[/red]\\u001b[2Jb" = "random"\nother = "random"\n'
    )
    assert run(["arena", "run", str(config), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert "=a[/red]\\x1b[2Jb" in out and "\x1b" not in out + err
    database = str(tmp_path / "t.sqlite")
    assert run(["arena", "export", database, "--out", str(tmp_path / "t.csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert {rows[0]["black"][:2], rows[0]["white"][:2]} == {"'=", "ot"}


def test_names_in_archives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(f"{EVIL}.sgf", "(;SZ[9];B[zz])")
        archive.writestr("good.sgf", "(;SZ[9];B[aa])")
    assert run(["games", "stat", str(tmp_path / "a.zip")]) == 0
    err = capsys.readouterr().err
    assert "a[/red]" in err and "\x1b" not in err
