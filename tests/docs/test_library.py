"""Run the programs of the documentation: the tutorials, library.md and extending.md."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import random
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.needs import need

from tengen import Board, extensions

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(page: str) -> list[str]:
    text = (GUIDE / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.S | re.M)


def run_sessions(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the blocks that begin with a file name; run the others as doctests."""
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=OPTIONS)
    names: dict[str, object] = {}
    for block in blocks(page):
        if found := re.match(r"# (\S+\.py)\n", block):
            Path(found[1]).parent.mkdir(parents=True, exist_ok=True)
            Path(found[1]).write_text(block, encoding="utf-8")
            if found[1].startswith("src/"):
                install(Path(found[1]), monkeypatch)
            continue
        test = parser.get_doctest(block, names, page, page, 0)
        assert test.examples, f"neither a file nor a session: {block[:80]}"
        said: list[str] = []
        runner.run(test, out=said.append, clear_globs=False)
        assert not said, "".join(said)
        names = test.globs
    assert names and runner.summarize(verbose=False).failed == 0


def install(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file importable under the name its path says."""
    name = path.relative_to("src").as_posix()
    module_name = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert importlib.util.find_spec(module_name) is None, f"{module_name} exists already"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module_name, module)
    parent, _, child = module_name.rpartition(".")
    monkeypatch.setattr(importlib.import_module(parent), child, module, raising=False)
    spec.loader.exec_module(module)


def test_the_state_of_the_page_plays_as_openspiel_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyspiel = need("pyspiel")
    (program,) = (block for block in blocks("library.md") if "GoState:" in block)
    names: dict[str, object] = {}
    exec(program, names)
    make_state: object = names["GoState"]
    game = pyspiel.load_game("go", {"board_size": 7, "komi": 6.5})
    for seed in range(5):
        rng = random.Random(seed)
        ours, theirs = make_state(Board(7, komi=6.5)), game.new_initial_state()  # type: ignore[operator]
        for ply in range(46):
            assert ours.legal_actions() == theirs.legal_actions(), (seed, ply)
            assert ours.current_player() == theirs.current_player()
            passing = ply >= 44 or not ours.legal_actions()[:-1]
            action = 49 if passing else rng.choice(ours.legal_actions()[:-1])
            ours.apply_action(action)
            theirs.apply_action(action)
            if theirs.is_terminal():
                break
        assert ours.is_terminal() and theirs.is_terminal()
        assert ours.returns() == theirs.returns()


@pytest.mark.parametrize("page", ["../tutorial/python.md", "../tutorial/paper.md"])
def test_the_tutorials(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(GUIDE.parents[1] / "examples" / "sixth_paper" / "src"))
    run_sessions(page, monkeypatch)


def test_the_programs_of_the_library_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("pettingzoo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nearest", raising=False)
    run_sessions("library.md", monkeypatch)


def test_the_examples_of_the_extending_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extensions, "entries", cache(extensions.entries.__wrapped__))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("nearby", "capture"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    run_sessions("extending.md", monkeypatch)
