"""Let KaTrain's own core (engine, game, strategies; no window) use `tengen analysis` on real games.

    python benchmarks/katrain_review.py GAME.sgf ... --visits 50 --player tengen

prints, per game, the mean of the points that KaTrain says were lost and the share of moves that
gained; with `--strategies` also what each of its strategies plays in the last position. `--first N`
takes only so many moves of each game. Needs the package `katrain` from PyPI.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from typing import Any

from tengen.records import GameRecord, read_game

os.environ.setdefault("KIVY_NO_ARGS", "1")
os.environ.setdefault("KIVY_NO_CONSOLELOG", "1")
os.environ.setdefault("KIVY_NO_FILELOG", "1")


class Host:
    """What KaTrain's core asks of the program around it: settings, a log, and nothing to draw."""

    debug_level = -1
    pondering = False

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.errors: list[str] = []
        self.controls = self
        self.players_info: dict[str, Any] = {}

    def config(self, path: str, default: Any = None) -> Any:
        part: Any = self.settings
        for name in path.split("/"):
            part = part.get(name, {}) if isinstance(part, dict) else {}
        return part if part != {} else default

    def log(self, message: str, level: int = 0) -> None:
        if level == -1:  # KaTrain's OUTPUT_ERROR
            self.errors.append(str(message))

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **named: None


def start(player: str, visits: int, extra: str = "") -> tuple[Host, Any]:
    """Start KaTrain's engine on our analysis command."""
    import json
    from importlib.resources import files

    from katrain.core.engine import KataGoEngine

    settings = json.loads(files("katrain").joinpath("config.json").read_text())
    # Without `exec` KaTrain would end the shell and leave us running.
    tengen = f"exec {shlex.quote(sys.executable)} -m tengen"
    command = f"{tengen} analysis --quiet --player {shlex.quote(player)}"
    settings["engine"] |= {
        "altcommand": f"{command} {extra}",
        "max_visits": visits,
        "max_time": 1e6,
    }
    host = Host(settings)
    return host, KataGoEngine(host, settings["engine"])


def stop(engine: Any) -> None:
    """End the engine, and close the pipes that KaTrain leaves open."""
    process = engine.katago_process
    engine.shutdown(finish=False)
    if process is not None:
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def wait(engine: Any, host: Host, seconds: float = 3600.0) -> None:
    """Wait until every query is answered."""
    end = time.monotonic() + seconds
    time.sleep(0.3)
    while not engine.is_idle() and time.monotonic() < end:
        if engine.katago_process is None or engine.katago_process.poll() is not None:
            raise RuntimeError(f"the engine has ended: {host.errors[-3:]}")
        time.sleep(0.05)


def review(host: Host, engine: Any, sgf: str) -> list[float]:
    """Return the points that each move of a game lost, as KaTrain counts them."""
    from katrain.core.game import Game, KaTrainSGF

    game = Game(host, engine, move_tree=KaTrainSGF.parse_sgf(sgf))
    time.sleep(1.0)
    wait(engine, host)
    nodes = list(game.root.nodes_in_tree)[1:]
    return [node.points_lost for node in nodes if node.points_lost is not None]


def play_all(host: Host, engine: Any, sgf: str) -> dict[str, str]:
    """Let each of KaTrain's strategies play one move of the game's last position."""
    from katrain.core.ai import generate_ai_move
    from katrain.core.constants import AI_STRATEGIES
    from katrain.core.game import Game, KaTrainSGF

    found = {}
    for strategy in AI_STRATEGIES:
        game = Game(host, engine, move_tree=KaTrainSGF.parse_sgf(sgf))
        while game.current_node.children:
            game.redo(1)
        wait(engine, host)
        move, node = generate_ai_move(game, strategy, host.config(f"ai/{strategy}", {}))
        found[strategy] = move.gtp() if move is not None and node is not None else "none"
        wait(engine, host)
    return found


def main() -> None:
    """Review games and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--visits", type=int, default=50)
    parser.add_argument("--player", default="tengen")
    parser.add_argument("--first", type=int, help="moves of each game")
    parser.add_argument("--strategies", action="store_true")
    options = parser.parse_args()
    host, engine = start(options.player, options.visits)
    for name in options.games:
        record = read_game(name)
        part = GameRecord(record.rows, record.cols, record.moves[: options.first], record.komi)
        part.rules = record.rules
        sgf = part.sgf().decode()
        if options.strategies:
            moves = play_all(host, engine, sgf)
            told = ", ".join(f"{strategy} {move}" for strategy, move in moves.items())
            print(f"{name}: {len(moves)} strategies: {told}", flush=True)
        lost = review(host, engine, sgf)
        gained = sum(loss < 0 for loss in lost) / max(len(lost), 1)
        mean = sum(lost) / max(len(lost), 1)
        print(
            f"{name}: {len(lost)} moves, {mean:+.2f} points lost a move, {gained:.0%} gain",
            flush=True,
        )
    stop(engine)


if __name__ == "__main__":
    main()
