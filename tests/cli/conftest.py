"""Commands as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tengen.cli import run


class Tengen:
    """Run commands; strings are split at spaces, paths are not."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.err = ""
        """Standard error of the last command."""

    def __call__(self, *words: str | Path, status: int = 0) -> str:
        """Return what a command prints on standard output."""
        split = [[str(word)] if isinstance(word, Path) else word.split() for word in words]
        self.capsys.readouterr()
        found = run([word for part in split for word in part])
        out, self.err = self.capsys.readouterr()
        assert found == status, self.err
        return out

    def json(self, *words: str | Path) -> Any:
        """Return the JSON value of a command."""
        return json.loads(self(*words, "--json"), parse_constant=pytest.fail)

    def mistake(self, *words: str | Path) -> str:
        """Return the one line with which a command fails."""
        out = self(*words, status=1)
        lines = self.err.splitlines()
        assert out == "" and lines, self.err
        assert lines[0].startswith("Usage: ") or len(lines) == 1, self.err
        return lines[-1]


@pytest.fixture
def tengen(capsys: pytest.CaptureFixture[str]) -> Tengen:
    return Tengen(capsys)
