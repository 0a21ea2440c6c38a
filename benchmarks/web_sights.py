"""Ask the web server for all that its pages show on 9x9, 13x13 and 19x19, and tell its memory.

    python benchmarks/web_sights.py

prints how long each of three rounds takes, and the most that the server and each of its workers
has held. A round asks every machine, the predictor, the scorer and a search, on each board; a
move against the strongest level and a review on each board follow.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import psutil

from web_hour import start

SIZES = (9, 13, 19)
ROUNDS, PREDICTIONS = 3, 20


def main() -> None:
    """Ask, and tell what it took."""
    with tempfile.TemporaryDirectory() as folder:
        server, url = start(Path(folder))
        try:
            client = httpx.Client(base_url=url, timeout=300)
            for _ in range(ROUNDS):
                begun = time.monotonic()
                for size in SIZES:
                    look(client, size)
                tell(f"a round in {time.monotonic() - begun:.1f} s", server.pid)
            begun = time.monotonic()
            for _ in range(PREDICTIONS):
                ask(client, "/api/predict", position(9))
            tell(f"{PREDICTIONS} predictions in {time.monotonic() - begun:.1f} s", server.pid)
            for size in SIZES:
                play_and_review(client, size)
            tell("after play and reviews", server.pid)
        finally:
            server.terminate()
            server.wait(30)


def position(size: int) -> dict[str, Any]:
    """Return a position on a board as the page sends it."""
    return {"size": size, "moves": [["B", "D4"], ["W", "E5"]]}


def look(client: httpx.Client, size: int) -> None:
    """Ask for everything that there is to see in a position; not every machine knows each board."""
    for machine in client.get("/api/machines").json():
        client.post(f"/api/see/{machine['id']}", json=position(size))
    ask(client, "/api/predict", position(size))
    ask(client, "/api/score", position(size))
    ask(client, "/api/analyse?playouts=500", position(size))


def play_and_review(client: httpx.Client, size: int) -> None:
    """Play a move, wait for the answer, and have two moves reviewed."""
    game = ask(client, "/api/games", {"size": size, "opponent": "level-10"}).json()["id"]
    ask(client, f"/api/games/{game}/moves", {"move": "D4"})
    while len(client.get(f"/api/games/{game}").json()["moves"]) < 2:
        time.sleep(0.2)
    sgf = f"(;SZ[{size}];B[cc];W[dd])"
    kind = {"content-type": "application/x-go-sgf"}
    client.post("/api/reviews?playouts=100", content=sgf, headers=kind).raise_for_status()
    while any(one["status"] == "waiting" for one in client.get("/api/reviews").json()):
        time.sleep(0.2)


def ask(client: httpx.Client, way: str, body: dict[str, Any]) -> httpx.Response:
    """Ask for what must be answered."""
    return client.post(way, json=body).raise_for_status()


def tell(what: str, pid: int) -> None:
    """Print the most megabytes that each process has held, the largest first."""
    server = psutil.Process(pid)
    held = []
    for process in (server, *server.children(recursive=True)):
        status = Path(f"/proc/{process.pid}/status").read_text()
        held += [int(x.split()[1]) // 1024 for x in status.splitlines() if x.startswith("VmHWM")]
    print(f"{what}; MB at most: {', '.join(map(str, sorted(held, reverse=True)))}", flush=True)


if __name__ == "__main__":
    main()
