"""The site builds, links lead somewhere, and every page is reached from the menu."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def menu() -> list[Path]:
    """Return the pages of the site's menu."""
    text = (ROOT / "zensical.toml").read_text(encoding="utf-8")

    def below(entries: list[dict[str, Any]]) -> Iterator[Path]:
        for entry in entries:
            for value in entry.values():
                yield from below(value) if isinstance(value, list) else [ROOT / "docs" / value]

    return list(below(tomllib.loads(text)["project"]["nav"]))


def test_every_page_is_reached_from_the_menu_which_is_short() -> None:
    shown = menu()
    assert len(shown) == len(set(shown)) <= 30
    reached, waiting = set(shown), [*shown, ROOT / "CONTRIBUTING.md"]
    while waiting:
        page = waiting.pop()
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists() and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert [page for page in (ROOT / "docs").rglob("*.md") if page not in reached] == []


def test_every_picture_is_used() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    pictures = [picture.name for picture in (ROOT / "docs" / "pictures").iterdir()]
    assert [name for name in pictures if not any(name in text for text in texts)] == []


def test_the_site_builds_without_a_warning_and_tells_every_public_name() -> None:
    need("zensical")
    need("pettingzoo")
    subprocess.run([sys.executable, ROOT / "scripts" / "build_site.py"], cwd=ROOT, check=True)
    site = ROOT / "build" / "site"
    names: dict[Path, set[str]] = {}
    for page in site.rglob("*.html"):
        names[page.resolve()] = set(re.findall(r'\bid="?([^"\s>]+)', page.read_text("utf-8")))
    told = {name for page, found in names.items() if "api" in page.parts for name in found}
    told |= {
        name
        for page in (site / "api").rglob("*.html")
        for name in re.findall(r"<code>(tengen\.[\w.]+)</code>", page.read_text("utf-8"))
    }
    dead = []
    for page in names:
        if page.name == "404.html":
            continue
        for link in re.findall(r'\bhref="?([^"\s>]+)', page.read_text("utf-8")):
            place, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:|/", link):
                continue
            target = (page.parent / place).resolve() if place else page
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (anchor and anchor not in names.get(target, {anchor})):
                dead.append((page.relative_to(site.resolve()).as_posix(), link))
    assert dead == []
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
