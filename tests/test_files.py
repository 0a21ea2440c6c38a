"""Writing destroys nothing: half-written files never appear, and nothing is written over inputs."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from rich.console import Console

from tengen.arena.runner import LiveTable
from tengen.cli import run
from tengen.errors import TengenError
from tengen.files import TEMPORARY, neighbour, refuse_inputs, replacing, write_atomic
from tengen.sanitize import csv_cell, for_rich, printable


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"half")
            (beside,) = set(os.listdir(tmp_path)) - {"a"}
            assert beside.endswith(TEMPORARY)
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="space"):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="rights of POSIX")
@pytest.mark.parametrize("umask", [0o077, 0o027, 0o022])
def test_new_files_have_the_rights_of_the_umask_and_old_ones_keep_theirs(
    umask: int, tmp_path: Path
) -> None:
    new, old, script = tmp_path / "new", tmp_path / "old", tmp_path / "script"
    for path, rights in ((old, 0o640), (script, 0o500)):
        path.touch()
        path.chmod(rights)
    before = os.umask(umask)
    try:
        for path in (new, old, script):
            write_atomic(path, "content")
    finally:
        os.umask(before)
    rights = [path.stat().st_mode & 0o777 for path in (new, old, script)]
    assert rights == [0o666 & ~umask, 0o640, 0o500]


def test_a_folder_that_takes_no_file_is_reported_by_the_name_that_was_asked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / ("x" * 254)  # there is no room for a longer name beside it
    with pytest.raises(OSError) as failed:
        write_atomic(path, "content")
    assert failed.value.filename == str(path)


def test_links_and_devices_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "link").symlink_to("a")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new"
    with replacing("/dev/null") as file:
        file.write(b"new")
    assert not os.path.isfile("/dev/null")


def test_an_output_that_is_an_input_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "link").symlink_to("a")
    refuse_inputs(tmp_path / "b", [tmp_path / "a", "-"])
    with pytest.raises(TengenError, match="link: is what is read"):
        refuse_inputs(tmp_path / "link", [tmp_path / "a"])


def test_a_neighbour_takes_the_place_of_its_file_only_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "a"
    with neighbour(path) as beside:
        assert beside.parent == path.parent and beside.read_bytes() == b"" and not path.exists()
        beside.write_text("first")
    assert path.read_text() == "first" and os.listdir(path.parent) == ["a"]

    def fail() -> None:
        with neighbour(path) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "first" and os.listdir(path.parent) == ["a"]


WRITER = """
import sys
from tengen.files import write_atomic
size = 0
while True:
    size = size % 7 + 1
    write_atomic(sys.argv[1], bytes([size]) * (size * 200_000))
    print(size, flush=True)
"""


def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for pause in (0.0, 0.01, 0.03):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(pause)
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
        content = path.read_bytes()
        assert content == content[:1] * (content[0] * 200_000)


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
    table.under_way[(EVIL, EVIL, 0)] = 0.0
    out = io.StringIO()
    Console(file=out, width=200).print(table.draw())
    assert out.getvalue().count("a[/red]\\x1b[2Jb") == 3


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
