"""Run the worked examples of docs/guide/extending.md: write their files, check their sessions."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "extending.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)
FILE = re.compile(r"# src/(\S+\.py)\n")


def _install(name: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a block as a file and make it importable under the name its path says."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    module_name = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert importlib.util.find_spec(module_name) is None, f"{module_name} exists already"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module_name, module)
    parent, _, child = module_name.rpartition(".")
    monkeypatch.setattr(importlib.import_module(parent), child, module, raising=False)
    spec.loader.exec_module(module)


def test_the_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tengen.models import registry
    from tengen.players import kinds, spec

    monkeypatch.setattr(registry, "KINDS", dict(registry.KINDS))
    monkeypatch.setattr(kinds, "PLAYERS", players := dict(kinds.PLAYERS))
    monkeypatch.setattr(spec, "PLAYERS", players)
    monkeypatch.chdir(tmp_path)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    names: dict[str, object] = {}
    sessions = files = 0
    for block in BLOCK.findall(PAGE.read_text()):
        if found := FILE.match(block):
            _install(found[1], block, tmp_path / "src", monkeypatch)
            files += 1
            continue
        test = parser.get_doctest(block, names, "extending.md", str(PAGE), 0)
        assert test.examples, f"neither a file nor a session: {block[:80]}"
        said: list[str] = []
        runner.run(test, out=said.append, clear_globs=False)
        assert not said, "".join(said)
        names = test.globs
        sessions += 1
    assert (files, sessions) == (3, 4)
    assert "capture" in players and runner.summarize(verbose=False).failed == 0
