"""The command that starts the board in the browser: mistakes are told before anything is served."""

from __future__ import annotations

from pathlib import Path

import pytest
import uvicorn

from tengen.cli import run

Out = pytest.CaptureFixture[str]


def test_mistakes_are_one_line_each_and_nothing_is_served(
    tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(server: uvicorn.Server, sockets: object) -> None:
        raise AssertionError("it would serve until interrupted")

    monkeypatch.setattr(uvicorn.Server, "run", serve)
    file = tmp_path / "a-file"
    file.write_text("no database")
    fine = str(tmp_path / "games.sqlite")
    for options, word in (
        (["--database", fine, "--player", "nonsense"], "no player 'nonsense'"),
        (["--database", str(tmp_path)], "not a database of games"),
        (["--database", str(file)], "not a database of games"),
        (["--database", str(file / "games.sqlite")], "cannot be made"),
        (["--database", fine, "--arena", str(tmp_path / "gone")], "--arena"),
        (["--database", fine, "--arena", str(tmp_path)], "there is no such file"),
        (["--database", fine, "--collection", str(tmp_path / "gone")], "--collection"),
    ):
        assert run(["web", "--port", "0", "--no-browser", *options]) == 1, options
        told = capsys.readouterr().err
        assert told.startswith("tengen: ") and told.count("\n") == 1 and word in told, told
