"""Writing destroys nothing: half-written files never appear, and nothing is written over inputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tengen.errors import TengenError
from tengen.files import TEMPORARY, neighbour, refuse_inputs, replacing, write_atomic


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


def test_a_folder_that_takes_no_file_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
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
