"""What hostile use found: a second server, signals, full disks, slow visitors, slow uploads."""

from __future__ import annotations

import resource
import signal
import socket
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvicorn
from tests.web.conftest import Server

from tengen.cli import run
from tengen.web import security

SGF = {"content-type": "application/x-go-sgf"}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that the test may end."""
    server = Server(tmp_path / "games.sqlite")
    server.start()
    yield server
    server.stop()


def log_of(server: Server) -> list[str]:
    """Return what a server wrote after the line with its address."""
    return server.database.with_suffix(".log").read_text().splitlines()[1:]


@contextmanager
def streams(server: Server, count: int) -> Iterator[None]:
    """Hold streams of analyses open, as pages do."""
    held = []
    for _ in range(count):
        held.append(socket.create_connection(("127.0.0.1", server.port)))
        request = (
            "POST /api/analyse?visits=2500 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        )
        held[-1].sendall(request.encode())
        assert b"200" in held[-1].recv(4096)
    yield
    for each in held:
        each.close()


@pytest.mark.parametrize(
    ("number", "count", "status", "line"),
    [(signal.SIGINT, 2, 3, "tengen: interrupted"), (signal.SIGTERM, 30, 143, "tengen: terminated")],
)
def test_signals_end_the_server_in_one_line(own_server, number, count, status, line):
    assert own_server.process is not None
    with streams(own_server, count):
        own_server.process.send_signal(number)
        assert own_server.process.wait(60) == status
    assert log_of(own_server) == [line]


def test_a_second_server_on_one_database_is_refused(server, tmp_path, capsys):
    link = tmp_path / "link.sqlite"
    link.symlink_to(server.database)
    for path in (server.database, link):
        assert run(["web", "--port", "0", "--no-browser", "--database", str(path)]) == 1
        told = capsys.readouterr().err
        assert (
            told.startswith(f"tengen: {path}: in use by another process") and told.count("\n") == 1
        )


def test_an_archive_with_false_sizes_is_refused_at_once(client):
    member = tarfile.TarInfo("a.sgf")
    member.size = 2**40
    lie = member.tobuf() + b"(;SZ[9];B[ee])" + b"\0" * 2000
    for way in ("/api/reviews", "/api/records", "/api/games/upload"):
        answer = client.post(f"{way}?name=big.tar", content=lie, headers=SGF)
        assert answer.status_code == 422 and "damaged archive" in answer.json()["detail"]
    assert client.post("/api/collections?name=big.tar", content=lie, headers=SGF).status_code == 422


def test_uploads_are_read_outside_of_the_event_loop(server, client):
    nested = b"(;SZ[9]" + b"(;B[aa]" * 100_000 + b")" * 100_001
    waits: list[float] = []
    ended = threading.Event()

    def look() -> None:
        with server.client() as second:
            while not ended.is_set():
                begun = time.monotonic()
                second.get("/api/ladder")
                waits.append(time.monotonic() - begun)

    second = threading.Thread(target=look, daemon=True)
    second.start()
    begun = time.monotonic()
    client.post("/api/reviews?name=nested.sgf", content=nested, headers=SGF)
    client.post("/api/reviews?name=bytes.sgf", content=b"\xff" * 7_900_000, headers=SGF)
    ended.set()
    second.join()
    # Other clients were served meanwhile, not after it.
    assert max(waits) < (time.monotonic() - begun) / 2 or max(waits) < 0.5
    for review in client.get("/api/reviews").json():
        client.delete(f"/api/reviews/{review['id']}")


def limit_files(server: Server, size: int) -> None:
    """Let no file of a server grow beyond a size: for it, the disk is full."""
    assert server.process is not None
    unlimited = resource.RLIM_INFINITY
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, unlimited))


@pytest.mark.skipif(sys.platform != "linux", reason="sets limits of another process")
def test_on_a_full_disk_nothing_is_shown_that_is_not_stored(own_server, wait_for):
    settled = {"size": 5, "opponent": "level-1"}
    with own_server.client() as client:
        way = f"/api/games/{client.post('/api/games', json=settled).json()['id']}"
        client.post(f"{way}/moves", json={"move": "C3"})
        before = wait_for(lambda: (s := client.get(way).json())["turn"] == "black" and s)
        limit_files(own_server, 1)
        for path, body in (
            (f"{way}/moves", {"move": "pass", "sure": True}),
            ("/api/games", settled),
        ):
            answer = client.post(path, json=body)
            assert answer.status_code == 507 and "is the disk full?" in answer.json()["detail"]
        sgf = b"(;SZ[5];B[cc])"
        refused = client.post("/api/reviews?name=a.sgf", content=sgf, headers=SGF)
        assert refused.status_code in (422, 507) and refused.json()["detail"]
        assert client.get(way).json() == before
        assert (len(client.get("/api/games").json()), client.get("/api/reviews").json()) == (1, [])
        # The machine's answer finds no room: it is not shown, and played once there is some.
        limit_files(own_server, resource.RLIM_INFINITY)
        assert own_server.process is not None
        workers = psutil.Process(own_server.process.pid).children(recursive=True)
        for worker in workers:
            worker.suspend()
        free = next(v for v in ("A1", "E5") if ["W", v] not in before["moves"])
        assert client.post(f"{way}/moves", json={"move": free}).status_code == 200
        limit_files(own_server, 1)
        for worker in workers:
            worker.resume()
        state = wait_for(lambda: (s := client.get(way).json())["trouble"] and s)
        assert len(state["moves"]) == len(before["moves"]) + 1
        own_server.kill()
        own_server.start()
        again = client.get(way).json()
        assert again["moves"] == state["moves"]
        wait_for(lambda: len(client.get(way).json()["moves"]) == len(state["moves"]) + 1)


def test_idle_and_slow_connections_are_closed(monkeypatch, tmp_path):
    monkeypatch.setattr(security, "_ARRIVAL", 0.5)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    config = uvicorn.Config(
        app, http=security.Connection, port=0, lifespan="off", log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    whole = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    part = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n123"
    for begun in (b"", b"GET / HT", part, whole + b"GET"):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as visitor:
            visitor.sendall(begun)
            got = b""
            try:
                while data := visitor.recv(1000):
                    got += data
            except ConnectionResetError:
                pass
            assert (b"204" in got) == begun.startswith(whole)
    server.should_exit = True
    thread.join()
