"""Start the board in the browser."""

from __future__ import annotations

from pathlib import Path

import typer

from tengen.cli.options import Quiet, option
from tengen.cli.printing import remark
from tengen.errors import TengenError

app = typer.Typer()


@app.command()
def web(
    port: int = option(8361, "0 takes any.", min=0, max=65535),
    host: str = option(
        "127.0.0.1", "Address to listen on; another than this machine's own needs --token."
    ),
    token: str | None = option(None, "Secret that every visitor must show; `new` makes one."),
    browser: bool = option(True, "Open the page at once.", "--browser/--no-browser"),
    database: Path | None = option(None, "Database of games and reviews."),
    player: list[str] | None = option(None, "Spec of a further opponent; repeatable."),
    arena: list[Path] | None = option(None, "Database of a tournament to show; repeatable."),
    collection: list[Path] | None = option(None, "Games, or their index, to explore; repeatable."),
    runs: Path = option(Path("runs"), "Folder of trainings and reports to show."),
    quiet: Quiet = False,
) -> None:
    """Play, review, score, and see what each machine sees, on a board in the browser."""
    import secrets

    from tengen import compiling

    # Moves are checked one at a time here: plain Python does until the next start.
    compiling.spare("board.kernels", children=False)
    from tengen.web.serving import serve
    from tengen.web.settings import LOOPBACK, Settings, default_database

    for path in collection or ():
        if not path.exists():
            raise TengenError(f"--collection {path}: there is no such file or folder")
    for path in arena or ():
        if not path.is_file():
            raise TengenError(f"--arena {path}: there is no such file")
    if token == "new":
        token = secrets.token_urlsafe(18)
    if host not in LOOPBACK and not token:
        raise TengenError(f"--host {host}: others can reach it; give --token (`new` makes one)")
    settings = Settings(
        database=database or default_database(),
        host=host,
        port=port,
        token=token,
        players=tuple(player or ()),
        arenas=tuple(arena or ()),
        collections=tuple(collection or ()),
        runs=runs,
    )
    serve(settings, open_browser=browser, tell=lambda line: remark(line, quiet=quiet))
