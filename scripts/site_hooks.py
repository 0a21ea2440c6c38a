"""Generate pages of the site: a card per shipped model, and the help of every command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tengen import cli
from tengen.models import Card, Measurement, list_models
from tengen.models.store import SHIPPED


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the menu."""
    cards: list[Any] = [{name: f"models/{name}.md"} for name, _, _ in _cards()]
    for section in config.nav or []:
        if "Models" in section:
            section["Models"] += cards
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, size, card in _cards():
        text = _card_page(name, size, card)
        files.append(File.generated(config, f"models/{name}.md", content=text))
    files.append(File.generated(config, "reference/commands.md", content=_command_page()))
    return files


def _cards() -> list[tuple[str, int, Card]]:
    found = [info for info in list_models() if info.path.parent == SHIPPED]
    return [(info.name, info.bytes, info.card) for info in found if info.card is not None]


def _card_page(name: str, size: int, card: Card) -> str:
    lines = [
        f"# {name}",
        card.what,
        f"| kind | size | made by | licence | seed |\n|---|---|---|---|---|\n"
        f"| {card.kind} | {size / 1000:,.0f} kB | tengen {card.version} | {card.licence} | "
        f"{'' if card.seed is None else card.seed} |",
        f"**Data.** {card.data}",
        f"**To make it again.** `{card.remake}`" if card.remake else "",
        "## Measured",
        "| what | value | 95 % | n | how |\n|---|---|---|---|---|\n"
        + "\n".join(_measured(entry) for entry in card.results),
        "## Recipe",
        "\n".join(f"- `{key}`: `{value}`" for key, value in card.recipe.items()),
    ]
    return "\n\n".join(line for line in lines if line) + "\n"


def _measured(entry: Measurement) -> str:
    interval = "" if entry.interval is None else "{:.3g} to {:.3g}".format(*entry.interval)
    count = "" if entry.count is None else f"{entry.count:,}"
    return f"| {entry.what} | {entry.value:.4g} | {interval} | {count} | {entry.how} |"


def _command_page() -> str:
    lines = ["# Commands", "The help of every command; `tengen COMMAND --help` prints the same."]
    for path, command in _walk("tengen", typer.main.get_command(cli._app)):
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
