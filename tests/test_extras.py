"""What is installed: the name of the distribution, and extras that are missing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
OTHER_PROGRAM = re.compile(
    r"\b(?:install|run|add|uvx)\s+(?:-\S+\s+)*['\"]?tengen(?![\w-])|\btengen\[[a-z]"
    r"|uvx\s+tengen(?![\w-])|--from\s+tengen(?![\w-])"
)


def test_nobody_is_told_to_install_another_program() -> None:
    where = ["src", "docs", "web", "examples", "README.md", "CONTRIBUTING.md", "Makefile"]
    listed = subprocess.run(
        ["git", "ls-files", *where], cwd=ROOT, capture_output=True, text=True, check=True
    )
    texts = {
        name: (ROOT / name).read_bytes().decode(errors="ignore")
        for name in listed.stdout.split("\n")
        if name
    }
    told = [
        (name, found[0]) for name, text in texts.items() if (found := OTHER_PROGRAM.search(text))
    ]
    assert len(texts) > 300 and not told
    for wrong in ("pip install tengen", "pip install -q 'tengen[torch]'", "uvx tengen web"):
        assert OTHER_PROGRAM.search(wrong)
    assert not OTHER_PROGRAM.search("pip install 'tengen-go[torch]', uvx --from tengen-go tengen")
