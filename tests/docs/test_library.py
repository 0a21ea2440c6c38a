"""Run the programs of docs/guide/library.md."""

from __future__ import annotations

import doctest
import random
import re
import sys
from pathlib import Path

import pytest
from tests.needs import need

from tengen import Board

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "library.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


def test_the_state_of_the_page_plays_as_openspiel_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyspiel = need("pyspiel")
    monkeypatch.syspath_prepend(tmp_path)
    (program,) = (b for b in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if "GoState:" in b)
    (tmp_path / "spiel_state.py").write_text(program, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "spiel_state", raising=False)
    from spiel_state import GoState  # type: ignore[import-not-found]

    game = pyspiel.load_game("go", {"board_size": 7, "komi": 6.5})
    for seed in range(5):
        rng = random.Random(seed)
        ours, theirs = GoState(Board(7, komi=6.5)), game.new_initial_state()
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


def test_the_programs_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("pettingzoo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nearest", raising=False)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=options)
    names: dict[str, object] = {}
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if found := re.match(r"# (\S+\.py)\n", block):
            Path(found[1]).write_text(block, encoding="utf-8")
            continue
        test = parser.get_doctest(block, names, "library.md", str(PAGE), 0)
        assert test.examples, f"neither a file nor a session: {block[:80]}"
        said: list[str] = []
        runner.run(test, out=said.append, clear_globs=False)
        assert not said, "".join(said)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0
