"""Build the site in `build/site`: the pages of `docs` with model cards and commands added.

    python scripts/build_site.py

The pages are copied to `build/docs`. There the cards of the shipped models follow `models.md`, the
help of every command follows `reference/commands.md`, and the programs that `gallery.md` links to
stand in it. The page that needs no server is in `try`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import build_try
from tengen import cli
from tengen.models import Card, Measurement, list_models
from tengen.models.store import SHIPPED

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "docs"
_PROGRAM = re.compile(r"^\[`(examples/[\w.]+)`\]\(\S+\)$", re.M)


def write_pages() -> None:
    """Copy the pages and write the generated ones beside them."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    gallery = PAGES / "gallery.md"
    shown = _PROGRAM.sub(_program, gallery.read_text(encoding="utf-8"))
    gallery.write_text(shown, encoding="utf-8")
    with (PAGES / "models.md").open("a", encoding="utf-8") as page:
        page.writelines(f"\n{_card(*entry)}" for entry in _cards())
    with (PAGES / "reference" / "commands.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{_commands()}")


def _program(link: re.Match[str]) -> str:
    """Return a program as a block of code, in place of a link on a line of its own."""
    return f"```python\n{(ROOT / link[1]).read_text(encoding='utf-8')}```"


def main() -> int:
    """Write the pages and build the site; a warning is an error."""
    write_pages()
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    built = subprocess.run(command, cwd=ROOT, check=False).returncode
    if built == 0:
        build_try.write(ROOT / "build" / "site" / "try")
    return built


def _cards() -> list[tuple[str, int, Card]]:
    found = [info for info in list_models() if info.path.parent == SHIPPED]
    return [(info.name, info.bytes, info.card) for info in found if info.card is not None]


def _card(name: str, size: int, card: Card) -> str:
    lines = [
        f"## {name}",
        card.what,
        f"| kind | size | made by | licence | seed |\n|---|---|---|---|---|\n"
        f"| {card.kind} | {size / 1000:,.0f} kB | tengen {card.version} | {card.licence} | "
        f"{'' if card.seed is None else card.seed} |",
        f"**Data.** {card.data}",
        f"**To make it again.** `{card.remake}`" if card.remake else "",
        "### Measured",
        "| what | value | 95 % | n | how |\n|---|---|---|---|---|\n"
        + "\n".join(_measured(entry) for entry in card.results),
        "### Recipe",
        "\n".join(f"- `{key}`: `{value}`" for key, value in card.recipe.items()),
    ]
    return "\n\n".join(line for line in lines if line) + "\n"


def _measured(entry: Measurement) -> str:
    interval = "" if entry.interval is None else "{:.3g} to {:.3g}".format(*entry.interval)
    count = "" if entry.count is None else f"{entry.count:,}"
    return f"| {entry.what} | {entry.value:.4g} | {interval} | {count} | {entry.how} |"


def _commands() -> str:
    lines = []
    for path, command in _walk("tengen", typer.main.get_command(cli.app)):
        if hasattr(command, "list_commands"):
            continue
        lines.append(f"## {path}\n\n{(command.help or '').strip()}")
        rows = [
            f"| `{' '.join(param.opts) if param.param_type_name == 'option' else param.name}` | "
            f"{(getattr(param, 'help', '') or '').replace('|', ' or ')} |"
            for param in command.params
            if not getattr(param, "hidden", False)
        ]
        if rows:
            lines.append("| option | meaning |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(lines) + "\n"


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    if hasattr(command, "list_commands"):
        with command.make_context(path, ["--help"], resilient_parsing=True) as context:
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                if found is not None and not found.hidden:
                    yield from _walk(f"{path} {name}", found)


if __name__ == "__main__":
    sys.exit(main())
