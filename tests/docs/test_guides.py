"""The guides name what exists: GoGui's commands, words of the game, options."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.needs import need

from tengen.cli import run

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def test_the_table_of_gogui_commands_is_whole() -> None:
    from tengen.gtp.commands import ANALYZE_COMMANDS

    page = (GUIDE / "sabaki-and-gogui.md").read_text()
    for line in ANALYZE_COMMANDS:
        assert f"| {line.split('/')[1]} |" in page


def test_the_words_of_a_game_are_told() -> None:
    from tengen.cli.play import WORDS

    page = (GUIDE / "play-and-review.md").read_text()
    for word in WORDS:
        assert re.search(rf"`{word}\b", page), word


@pytest.mark.parametrize("page", ["sabaki-and-gogui.md", "play-and-review.md"])
def test_options_that_are_named_exist(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = set()
    for command in ("play", "players", "review", "analysis", "gtp"):
        run([command, "--help"])
        known |= set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
    # Scripts and other programs have options of their own (scripts': `test_commands`).
    text = (GUIDE / page).read_text()
    text = re.sub(r"`python [^`]*`|(?m:^    (?!tengen|printf).*$)", "", text)
    named = set(re.findall(r"`?(--[a-z][a-z-]*)", text))
    assert named <= known, named - known


def test_links_between_guides_lead_somewhere() -> None:
    for page in ("sabaki-and-gogui.md", "play-and-review.md", "extending.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (GUIDE / page).read_text()):
            assert (GUIDE / target).exists(), f"{page}: {target}"


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
