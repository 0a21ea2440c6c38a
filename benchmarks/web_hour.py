"""Let eight clients play on one server, and measure clicks, memory and lost moves.

    python benchmarks/web_hour.py --minutes 60

Each client asks for the changes of its game, as a page does, and plays against level 1 on 9x9.
Prints moves, the time of a click (a move of the person until the server has stored it), and the
memory of the server with its workers, every tenth of the time. At the end the server is killed and
started again, and every move that it had confirmed must be there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

LONGEST = 80
"""Moves after which a game is left for a new one."""
COLUMNS = "ABCDEFGHJ"


@dataclass
class Player:
    """One client: its games with the moves that the server confirmed, and the seconds of clicks."""

    url: str
    rng: random.Random
    games: dict[str, list[Any]] = field(default_factory=dict)
    clicks: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def play(self, until: float) -> None:
        """Play game after game until the time is up."""
        with httpx.Client(base_url=self.url, timeout=120) as client:
            while time.monotonic() < until:
                state = client.post("/api/games", json={"size": 9}).json()
                way = f"/api/games/{state['id']}"
                while self._answer(client, way, state, until):
                    time.sleep(0.1)
                    news = client.get(way, params={"version": state["version"]})
                    state = news.json() if news.status_code == 200 else {**state, "turn": "white"}

    def _answer(self, client: httpx.Client, way: str, state: dict[str, Any], until: float) -> bool:
        """Note a position and make a move in it; return False when the game is left."""
        self.games[state["id"]] = state["moves"]
        if state["trouble"]:
            self.problems.append(state["trouble"])
        over = state["status"] != "playing" or len(state["moves"]) > LONGEST
        if over or time.monotonic() > until:
            return False
        if state["turn"] != "black":
            return True
        empty = [
            f"{COLUMNS[x]}{9 - y}"
            for y, row in enumerate(state["stones"])
            for x, stone in enumerate(row)
            if stone == "."
        ]
        legal = [vertex for vertex in empty if vertex not in state["illegal"]]
        if not legal:
            return False
        time.sleep(self.rng.uniform(0.2, 0.8))
        move = {"move": self.rng.choice(legal), "version": state["version"]}
        begun = time.monotonic()
        answer = client.post(f"{way}/moves", json=move)
        self.clicks.append(time.monotonic() - begun)
        if answer.status_code != 200:
            self.problems.append(answer.text)
            return False
        self.games[state["id"]] = answer.json()["moves"]
        return True


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a server and return its address."""
    log = folder / "log"
    command = [sys.executable, "-m", "tengen", "web", "--port", "0", "--no-browser"]
    with log.open("w") as stream:
        games = ["--database", str(folder / "games.sqlite")]
        server = subprocess.Popen([*command, *games], stderr=stream, text=True)
    while not (told := re.search(r"the board is at (\S+)", log.read_text())):
        time.sleep(0.1)
    return server, told.group(1).rstrip("/")


def memory(server: psutil.Process) -> float:
    """Return the resident memory of a server and all its processes, in MB."""
    every = [server, *server.children(recursive=True)]
    return float(sum(one.memory_info().rss for one in every)) / 2**20


def report(players: list[Player], megabytes: list[float]) -> dict[str, Any]:
    """Return the figures so far."""
    clicks = sorted(second for player in players for second in player.clicks)
    return {
        "games": sum(len(player.games) for player in players),
        "moves": sum(len(moves) for player in players for moves in player.games.values()),
        "clicks": len(clicks),
        "click_ms": {
            str(share): round(1000 * clicks[int(share * (len(clicks) - 1))])
            for share in (0.5, 0.99, 1.0)
            if clicks
        },
        "megabytes": [round(each) for each in megabytes],
        "problems": [problem for player in players for problem in player.problems][:5],
    }


def main() -> None:
    """Play, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server, url = start(Path(folder))
        until = time.monotonic() + 60 * given.minutes
        players = [Player(url, random.Random(number)) for number in range(given.clients)]
        threads = [threading.Thread(target=one.play, args=(until,)) for one in players]
        megabytes: list[float] = []
        try:
            for thread in threads:
                thread.start()
            while time.monotonic() < until:
                time.sleep(6 * given.minutes)
                megabytes.append(memory(psutil.Process(server.pid)))
                print(json.dumps(report(players, megabytes)), flush=True)
            for thread in threads:
                thread.join()
        finally:
            server.kill()
            server.wait()
        server, url = start(Path(folder))
        with httpx.Client(base_url=url, timeout=60) as client:
            lost = sum(
                client.get(f"/api/games/{key}").json()["moves"][: len(moves)] != moves
                for player in players
                for key, moves in player.games.items()
            )
        server.terminate()
        server.wait(30)
    grown = round(megabytes[-1] - megabytes[2]) if len(megabytes) > 3 else None
    final = {**report(players, megabytes), "games_with_lost_moves": lost, "grown_megabytes": grown}
    print(json.dumps(final))


if __name__ == "__main__":
    main()
