"""`tengen bench`: measure speed side by side with other libraries, in one run, as ratios.

A peer that is not installed leaves its ratio empty. Rounds of ours and the peer's alternate, and
the best round of each counts, because the machine may be busy with other things.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, emit, remark, table

app = typer.Typer(add_completion=False)

ROUNDS = 3
SECONDS = 1.0
"""How long one round of one side lasts, about."""

Work = Callable[[], float]
"""Do some work on one core and return how many units were done."""


def rate(work: Work, seconds: float) -> float:
    """Return units a CPU second, repeating the work for about so many seconds."""
    done, start = 0.0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += work()
    return done / spent


def light_playouts(size: int) -> Work:
    """Return the work of light playouts from the empty board, in games."""
    from tengen.board import Board, playouts

    board, seeds = Board(size), iter(range(1_000_000))
    n = 400 if size < 13 else 60

    def work() -> float:
        playouts(board, n, seed=next(seeds), threads=1)
        return n

    return work


def heavy_playouts(size: int) -> Work:
    """Return the work of heavy playouts, in games."""
    from tengen.board import Board, playouts

    board, seeds = Board(size), iter(range(1_000_000))
    n = 200 if size < 13 else 40

    def work() -> float:
        playouts(board, n, seed=next(seeds), kind="heavy", threads=1)
        return n

    return work


def openspiel_games(size: int) -> Work:
    """Return the same work through OpenSpiel's Python interface."""
    import random

    import pyspiel

    game = pyspiel.load_game(f"go(board_size={size},komi=7.5)")
    rng = random.Random(1)

    def work() -> float:
        for _ in range(5):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        return 5

    return work


def sample_games(path: Path | None, count: int = 300) -> bytes:
    """Return SGF text: the beginning of a file, or random games made on the spot."""
    if path is not None:
        return b"\n".join(path.read_bytes().splitlines()[:count])
    import numpy as np

    from tengen.board import PASS, Board, format_sgf

    rng = np.random.default_rng(1)
    games = []
    for _ in range(60):
        board = Board(19, rules="japanese")
        nodes = []
        for _ in range(240):
            choices = np.flatnonzero(board.legal_mask()[:-1])
            index = int(rng.choice(choices))
            point = (index // 19 + 1) * 20 + index % 19 + 1
            nodes.append(f";{'.BW'[board.turn]}[{format_sgf(point, 19, 19)}]")
            board.push(point)
        board.push(PASS)
        games.append(f"(;GM[1]FF[4]SZ[19]KM[6.5]RE[B+R]PB[a]PW[b]{''.join(nodes)})")
    return "\n".join(games).encode()


def sgf_read(data: bytes) -> Work:
    """Return the work of reading games to arrays of moves, in games."""
    import tempfile

    from tengen.records import Corpus

    folder = tempfile.TemporaryDirectory()
    place = Path(folder.name) / "games.sgf"
    place.write_bytes(data)

    def work(_keep: Any = folder) -> float:
        return len(Corpus([place]).as_arrays())

    return work


def sgfmill_read(data: bytes) -> Work:
    """Return the same work by sgfmill."""
    from sgfmill import sgf

    lines = data.splitlines()[:40]

    def work() -> float:
        for line in lines:
            game = sgf.Sgf_game.from_bytes(line)
            for node in game.get_main_sequence():
                node.get_move()
        return len(lines)

    return work


def replay(data: bytes) -> Work:
    """Return the work of replaying games with every move checked, in moves."""
    import tempfile

    import numpy as np

    from tengen.board.replay_kernels import replay_games
    from tengen.records import Corpus

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "games.sgf"
        place.write_bytes(data)
        games = Corpus([place]).as_arrays()
    refused = np.zeros(len(games), np.int64)

    def work() -> float:
        return float(
            replay_games(
                games.moves,
                games.colours,
                games.offsets,
                games.rows,
                games.cols,
                games.setup,
                games.setup_colours,
                games.setup_offsets,
                0,
                refused,
            )
        )

    return work


def sgfmill_replay(data: bytes) -> Work:
    """Return the same work on sgfmill's board."""
    from sgfmill import boards, sgf

    games = [
        [node.get_move() for node in sgf.Sgf_game.from_bytes(line).get_main_sequence()]
        for line in data.splitlines()[:20]
    ]

    def work() -> float:
        played = 0
        for game in games:
            board = boards.Board(19)
            for colour, move in game:
                if colour and move:
                    board.play(*move, colour)
                    played += 1
        return played

    return work


def legal_masks() -> Work:
    """Return the work of exact legal masks under positional superko, 150 moves into a game."""
    import numpy as np

    from tengen.board import Board, play_random

    board = play_random(Board(19), 150, np.random.default_rng(2))

    def work() -> float:
        for _ in range(1000):
            board.legal_mask()
        return 1000

    return work


def mcts(size: int) -> Work:
    """Return the work of tree search from the empty board, in playouts."""
    import numpy as np

    from tengen.board import Board
    from tengen.players.mcts import MctsPlayer

    player, board = MctsPlayer(playouts=1000 if size < 13 else 300), Board(size)
    rng = np.random.default_rng(1)

    def work() -> float:
        player.choose(board, rng)
        return player.playouts

    return work


def measure(
    name: str, unit: str, ours: Work, peer: Callable[[], Work] | None, peer_name: str | None
) -> dict[str, Any]:
    """Run both in turn and return a row of the report."""
    theirs: Work | None = None
    if peer is not None:
        try:
            theirs = peer()
        except ImportError:
            peer_name = f"{peer_name} (not installed)"
    ours()
    best = best_peer = 0.0
    for _ in range(ROUNDS):
        best = max(best, rate(ours, SECONDS))
        if theirs is not None:
            best_peer = max(best_peer, rate(theirs, SECONDS))
    return {
        "name": name,
        "unit": unit,
        "ours": round(best, 1),
        "peer": round(best_peer, 1) if theirs else None,
        "peer_name": peer_name,
        "ratio": round(best / best_peer, 1) if theirs else None,
    }


@app.command()
def bench(
    games: Annotated[Path | None, typer.Option(help="An SGF file to read and replay.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Measure only this name.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure speed on one core, side by side with OpenSpiel and sgfmill where installed."""
    data = sample_games(games)
    plan: list[tuple[str, str, Callable[[], Work], Callable[[], Work] | None, str | None]] = []
    for size in (9, 19):
        peer = "OpenSpiel"
        name = f"playouts-light-{size}x{size}"
        plan.append(
            (
                name,
                "games/s",
                lambda s=size: light_playouts(s),  # type: ignore[misc]
                lambda s=size: openspiel_games(s),  # type: ignore[misc]
                peer,
            )
        )
    plan.append(
        ("sgf-read", "games/s", lambda: sgf_read(data), lambda: sgfmill_read(data), "sgfmill")
    )
    plan.append(
        ("replay", "moves/s", lambda: replay(data), lambda: sgfmill_replay(data), "sgfmill")
    )
    for size in (9, 19):
        name = f"playouts-heavy-{size}x{size}"
        plan.append((name, "games/s", lambda s=size: heavy_playouts(s), None, None))  # type: ignore[misc]
        plan.append((f"mcts-{size}x{size}", "playouts/s", lambda s=size: mcts(s), None, None))  # type: ignore[misc]
    plan.append(("legal-mask-19x19", "masks/s", legal_masks, None, None))
    rows = []
    for name, unit, ours, peer_work, peer_name in plan:
        if only and name not in only:
            continue
        rows.append(measure(name, unit, ours(), peer_work, peer_name))
        remark(f"{name}: {rows[-1]['ours']:,.0f} {unit}", quiet=quiet)
    if as_json:
        emit(rows, as_json=True)
        return
    table(
        "One core, best of three rounds each",
        ("what", "ours", "peer", "", "ratio"),
        (
            (
                row["name"],
                f"{row['ours']:,.0f} {row['unit']}",
                f"{row['peer']:,.0f}" if row["peer"] else "",
                row["peer_name"] or "",
                row["ratio"] or "",
            )
            for row in rows
        ),
    )
