"""The site builds, links lead somewhere, and every page is in the menu."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.needs import need

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Return the names of a page's headings as links spell them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.M)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()).strip() for title in titles)
    return {"", *(title.replace(" ", "-") for title in plain)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", link):
            place, _, anchor = link.partition("#")
            target = (page.parent / place) if place else page
            known = target.exists() and (target.suffix != ".md" or anchor in anchors(target))
            if not known:
                dead.append(link)
    assert dead == []


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = (page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md"))
    assert [page for page in pages if f": {page}\n" not in menu] == []


def test_the_site_builds_without_a_warning_and_tells_every_public_name(tmp_path: Path) -> None:
    need("mkdocs")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT,
        check=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    told = set()
    for page in (tmp_path / "api").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        told |= set(re.findall(r'id="(tengen\.[\w.]+)"', text))
        told |= set(re.findall(r"<code>(tengen\.[\w.]+)</code>", text))
    assert (tmp_path / "search" / "search_index.json").exists()
    packages = re.findall(r"^::: (tengen[\w.]+)$", all_references(), flags=re.M)
    missing = []
    for name in packages:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            # A function that has the name of its own module is told under the module's path.
            if not {f"{name}.{public}", f"{name}.{public}.{public}"} & told:
                missing.append(f"{name}.{public}")
    assert len(packages) > 12 and missing == []


def all_references() -> str:
    return "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs/api").glob("*.md"))
