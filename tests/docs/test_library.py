"""Run the programs of docs/guide/library.md."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "library.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


def test_the_programs_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pettingzoo")
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
