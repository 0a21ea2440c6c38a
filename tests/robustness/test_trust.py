"""What files and protocols that name players may cause: one test for each row of the table."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import tomli_w

from tengen.arena import Database, play_match
from tengen.cli import run
from tengen.errors import ModelError
from tengen.models import find_model, load_learner
from tengen.models.store import CARD_KEY, pack, unpack

PAGE = Path(__file__).parents[2] / "docs/reference/trust.md"


@dataclass
class Place:
    """A folder with a trap: whatever starts the programs or classes of `specs` leaves a mark."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def mark(self) -> Path:
        return self.folder / "mark"

    @property
    def specs(self) -> list[str]:
        trap = self.folder / "trap.py"
        trap.write_text(f"open({str(self.mark)!r}, 'w').close()\n")
        command = f"gtp:touch {self.mark}"
        nested = f"opening:model=td-best-9x9,then=GTP : touch {self.mark}"
        return [command, nested, f"python:{trap}:P", f"mcts:policy=python:{trap}:P"]

    def tengen(self, *words: object, typed: str = "quit\n") -> int:
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        return run([str(word) for word in words])


Test = Callable[[Place], None]
ROWS: dict[str, Test] = {}


def row(name: str) -> Callable[[Test], Test]:
    def add(test: Test) -> Test:
        ROWS[name] = test
        return test

    return add


def test_every_row_of_the_table_is_tested() -> None:
    cells = re.findall(r"^\| ([^|]+?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    assert cells[1:] == list(ROWS)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return Place(tmp_path, monkeypatch)


def saved(spec: str) -> str:
    memo = json.dumps({"player": spec, "human": 1, "seed": 1, "clock": None})
    return f"(;GM[1]SZ[9]PW[{spec}]XT[{memo}];B[ee])"


@row("game record")
def _(place: Place) -> None:
    from tengen.web.positions import end_of_upload, packed
    from tengen.web.workers import Context

    context = Context(tell=lambda part: None, stop=lambda: False)
    file = place.folder / "game.sgf"
    for spec in place.specs:
        file.write_text(saved(spec))
        assert place.tengen("games", "check", file) == 0
        assert place.tengen("review", file, "--quick", "--quiet") == 0
        assert end_of_upload(packed(file.read_bytes(), file.name), context)["moves"]
    assert not place.mark.exists()


@row("game of `tengen play`")
def _(place: Place) -> None:
    file = place.folder / "game.sgf"
    resume = ("play", "--resume", "--out", file)
    (place.folder / "mine.safetensors").write_bytes(find_model("tengen-small").read_bytes())
    for spec in [*place.specs, "greedy:policy=mine.safetensors", "greedy:policy=./mine"]:
        file.write_text(saved(spec))
        assert place.tengen(*resume) == 1
        assert not place.mark.exists() and file.read_text() == saved(spec)
    for spec in ("random", "greedy:policy=tengen-small", "opening:model=td-best-9x9,then=static"):
        file.write_text(saved(spec))
        assert place.tengen(*resume) == 0
    file.write_text(saved("gtp:false"))
    assert place.tengen(*resume, "--player", "random") == 0
    assert place.tengen(*resume) == 0  # which is its player now


@row("`tournament.toml`")
def _(place: Place) -> None:
    file, players = place.folder / "t.toml", {"a": {"spec": "random"}}
    file.write_text(tomli_w.dumps({"players": players | {"b": {"spec": place.specs[0]}}}))
    place.tengen("arena", "run", file, "--quiet")
    assert place.mark.exists()


@row("arena database")
def _(place: Place) -> None:
    kept, file = place.folder / "kept.sqlite", place.folder / "ladder.sqlite"
    play_match("random", "maxlib", games=2, size=5, out=kept, quiet=True)
    with Database.look(kept) as opened:
        tournament = opened.tournament
    for spec in place.specs:
        shutil.copy(kept, file)
        bent = tournament.entrants[1].model_copy(update={"spec": spec})
        changed = tournament.model_copy(update={"entrants": (tournament.entrants[0], bent)})
        subprocess.run(
            [sys.executable, "-c", SET_TOURNAMENT, file, changed.model_dump_json()], check=True
        )
        rate = ("arena", "rate", "static", "--database", file, "--games", "2", "--quiet")
        assert place.tengen(*rate) == 0
        assert place.tengen("arena", "show", file) == 0
        assert place.tengen("arena", "export", file, "--out", file.with_suffix(".html")) == 0
        assert place.tengen("arena", "match", "random", "static", "--size", "5", "--games", "2",
                            "--out", file, "--quiet") == 0  # fmt: skip
        assert not place.mark.exists()
    place.tengen(*rate, "--programs")
    assert place.mark.exists()


SET_TOURNAMENT = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    database.execute("UPDATE meta SET value = ? WHERE key = 'tournament'", sys.argv[2:])
database.close()
"""


@row("run folder")
def _(place: Place) -> None:
    few = {
        "opening-td": "--games 2 --curve-every 2 --curve-games 0",
        "opening-evolution": "--size 5 --population 4 --generations 1",
    }
    for learner, words in few.items():
        config = place.folder / learner / "config.toml"
        train = ("train", learner, *words.split(), "--quiet", "--out", config.parent)
        assert place.tengen(*train) == 0
        before = tomllib.loads(config.read_text())
        for option in ("opponent", "expert"):
            for spec in place.specs:
                bent = {**before, "settings": before["settings"] | {option: spec}}
                config.write_text(tomli_w.dumps(bent))
                assert place.tengen(*train, "--resume") == 1
                assert not place.mark.exists()


@row("model")
def _(place: Place) -> None:
    tensors, metadata = unpack(find_model("td-best-9x9"))
    card = json.loads(metadata[CARD_KEY])
    path = place.folder / "bent.safetensors"
    for key, value in (("kind", "os:system"), ("remake", f"touch {place.mark}")):
        path.write_bytes(pack(tensors, {CARD_KEY: json.dumps(card | {key: value})}))
        with pytest.raises(ModelError):
            load_learner(path)
        place.tengen("models", "show", path)
    assert not place.mark.exists()


@row("index of openings")
def _(place: Place) -> None:
    file, index = place.folder / "game.sgf", place.folder / "game.openings"
    file.write_text("(;SZ[9]RE[B+1];B[ee];W[dd])")
    assert place.tengen("explore", file, "--index", index, "--json") == 0
    file.unlink()
    file.mkdir()  # which no program could read
    assert place.tengen("explore", index, "--json") == 0


@row("database of `tengen web`")
def _(place: Place) -> None:
    from tengen.web.games import NewGame, WebGame
    from tengen.web.services import Services
    from tengen.web.settings import Settings
    from tengen.web.store import Store

    settings = Settings(place.folder / "web.sqlite", runs=place.folder)
    store = Store(settings.database)
    for number, spec in enumerate(place.specs):
        game = WebGame.start(NewGame(size=5, colour="white", opponent=spec[:40]))
        game.id, game.opponent = str(number), spec
        store.put("game", game.id, game.summary(), game.body(0.0))
    store.close()

    async def look() -> list[str]:
        services = Services(settings)
        told = [services.games.state(str(number))["trouble"] for number in range(4)]
        services.close()
        return told

    with ThreadPoolExecutor(1) as pool:
        assert all(pool.submit(asyncio.run, look()).result())
    assert not place.mark.exists()


@row("request to `tengen web`")
def _(place: Place) -> None:
    async def ask(client: httpx.AsyncClient) -> None:
        board = {"size": 9, "moves": []}
        for spec in place.specs:
            for opponent in (spec, spec[:40]):
                told = await client.post("/api/games", json={"size": 9, "opponent": opponent})
                assert told.status_code == 422
            for path in ("see", "analyse", "predict"):
                told = await client.post(f"/api/{path}", json={"machine": spec, "position": board})
                assert told.status_code >= 400
        assert not place.mark.exists()

    serve(place, ask)


@row("report of the laboratory")
def _(place: Place) -> None:
    report = place.folder / "runs" / "lab" / "report.html"
    report.parent.mkdir(parents=True)
    report.write_text("<script>fetch('/api/games')</script>")

    async def ask(client: httpx.AsyncClient) -> None:
        [found] = (await client.get("/api/reports")).json()
        page = await client.get(f"/api/reports/{found['id']}")
        policy = page.headers["content-security-policy"]
        assert "sandbox" in policy and "allow-same-origin" not in policy
        assert "default-src 'none'" in policy and "connect-src" not in policy

    serve(place, ask)


def serve(place: Place, ask: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
    from tengen.web.app import make_app
    from tengen.web.services import Services
    from tengen.web.settings import Settings

    async def work() -> None:
        services = Services(Settings(place.folder / "web.sqlite", runs=place.folder / "runs"))
        transport = httpx.ASGITransport(make_app(services))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            await ask(client)
        services.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work()).result()


@row("GTP")
def _(place: Place) -> None:
    record = place.folder / "game.sgf"
    record.write_text("(;SZ[9];B[ee])")
    (place.folder / "mine.safetensors").write_bytes(find_model("tengen-small").read_bytes())
    specs = [*place.specs, "greedy:policy=mine.safetensors"]
    lines = [f"tengen-param player {spec}" for spec in specs]
    lines += [f"loadsgf {record}", f"printsgf {place.mark}", "tengen-param player static"]
    refused = [answer[0] for answer in gtp(lines, "--safe")]
    assert refused == ["?"] * (len(lines) - 1) + ["="]
    assert not place.mark.exists()
    gtp([lines[0], "genmove b"])
    assert place.mark.exists()


def gtp(lines: list[str], *options: str) -> list[str]:
    """Return the answers of an engine."""
    command = [sys.executable, "-m", "tengen", "gtp", *options]
    done = subprocess.run(command, input="\n".join([*lines, ""]), text=True, capture_output=True)
    return done.stdout.strip().split("\n\n")


@row("analysis queries")
def _(place: Place) -> None:
    query = {"id": "a", "moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5}
    lines = []
    for spec in place.specs:
        more = {"humanSLProfile": spec, "player": spec, "model": spec, "logFile": str(place.mark)}
        lines += [json.dumps({**query, "maxVisits": 2, "overrideSettings": more, **more})]
    command = [sys.executable, "-m", "tengen", "analysis", "--player", "mcts:playouts=2"]
    done = subprocess.run(command, input="\n".join([*lines, ""]), text=True, capture_output=True)
    assert done.returncode == 0 and '"id"' in done.stdout
    assert not place.mark.exists()


@row("compiled kernels")
def _(place: Place) -> None:
    from tengen import compiling

    theirs = place.folder / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    place.monkeypatch.setenv("NUMBA_CACHE_DIR", str(theirs))
    place.monkeypatch.setattr(compiling, "user_folder", lambda: place.folder / "mine")
    assert compiling.cache_folder.__wrapped__() == place.folder / "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="the trap is a POSIX command")
@pytest.mark.parametrize("name", ROWS)
def test_a_file_causes_no_more_than_the_table_says(place: Place, name: str) -> None:
    ROWS[name](place)
