"""What a release says of itself: version, citation, changelog, the address of its repository."""

from __future__ import annotations

import re
import runpy
import shutil
import tomllib
from pathlib import Path

import tengen

ROOT = Path(__file__).parents[2]


def test_citation_and_changelog_name_this_version() -> None:
    assert f"\nversion: {tengen.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    # Changes after a release belong to the next version.
    assert headings[0] == tengen.__version__ or (
        headings[0] == "Unreleased" and headings[1] != tengen.__version__
    )


def test_a_release_names_the_repository_that_publishes_it(tmp_path: Path) -> None:
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    script = runpy.run_path(str(ROOT / "scripts" / "name_repository.py"))
    script["name_repository"](tmp_path, "https://example.org/somebody/tengen", "v9.9.9")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Repository"] == "https://example.org/somebody/tengen"
    readme = (tmp_path / "README.md").read_text("utf-8")
    addresses = re.findall(r'\]\(([^)\s]+)\)|src(?:set)?="([^"]+)"', readme)
    assert len(addresses) > 10
    assert all("".join(found).startswith("https://") for found in addresses)
