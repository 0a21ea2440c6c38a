"""The command that starts the board in the browser: mistakes are told before anything is served."""

from __future__ import annotations

from pathlib import Path

import pytest
import uvicorn
from tests.cli.conftest import Tengen


def test_mistakes_are_one_line_each_and_nothing_is_served(
    tmp_path: Path, tengen: Tengen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(server: uvicorn.Server, sockets: object) -> None:
        raise AssertionError("it would serve until interrupted")

    monkeypatch.setattr(uvicorn.Server, "run", serve)
    file = tmp_path / "a-file"
    file.write_text("no database")
    fine, gone = ("--database", tmp_path / "games.sqlite"), tmp_path / "gone"
    for options, word in (
        ((*fine, "--player nonsense"), "no player 'nonsense'"),
        (("--database", tmp_path), "not a database of games"),
        (("--database", file), "not a database of games"),
        (("--database", file / "games.sqlite"), "cannot be made"),
        ((*fine, "--arena", gone), "--arena"),
        ((*fine, "--arena", tmp_path), "there is no such file"),
        ((*fine, "--collection", gone), "--collection"),
    ):
        assert word in tengen.mistake("web --port 0 --no-browser", *options)
