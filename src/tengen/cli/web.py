"""Start the board in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.common import Quiet, remark
from tengen.errors import TengenError

app = typer.Typer(add_completion=False)


@app.command()
def web(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes any.")] = 8361,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to listen on; another than this machine's own needs --token."
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option("--token", help="Secret that every visitor must show; `new` makes one."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page at once.")
    ] = True,
    games: Annotated[
        Path | None, typer.Option("--games", help="Database of games and reviews.")
    ] = None,
    player: Annotated[
        list[str] | None, typer.Option("--player", help="Spec of a further opponent; repeatable.")
    ] = None,
    arena: Annotated[
        list[Path] | None,
        typer.Option("--arena", help="Database of a tournament to show; repeatable."),
    ] = None,
    collection: Annotated[
        list[Path] | None,
        typer.Option("--collection", help="Games, or their index, to explore; repeatable."),
    ] = None,
    runs: Annotated[
        Path, typer.Option("--runs", help="Folder of trainings and reports to show.")
    ] = Path("runs"),
    quiet: Quiet = False,
) -> None:
    """Play, review, score, and see what each machine sees, on a board in the browser."""
    import secrets

    from tengen.web.serving import serve
    from tengen.web.settings import LOOPBACK, Settings, default_database

    for path in collection or ():
        if not path.exists():
            raise TengenError(f"--collection {path}: there is no such file or folder")
    if token == "new":
        token = secrets.token_urlsafe(18)
    if host not in LOOPBACK and not token:
        raise TengenError(f"--host {host}: others can reach it; give --token (`new` makes one)")
    settings = Settings(
        database=games or default_database(),
        host=host,
        port=port,
        token=token,
        players=tuple(player or ()),
        arenas=tuple(arena or ()),
        collections=tuple(collection or ()),
        runs=runs,
    )
    serve(settings, open_browser=browser, tell=lambda line: remark(line, quiet=quiet))
