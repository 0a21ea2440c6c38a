"""Measure speed on one core, compared with other libraries where they are installed.

A `Contest` is one task, done by Tengen and by a peer library. Rounds of both alternate and the best
round of each counts, because the machine may be busy. Without the peer there is no ratio.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tengen.board import Board, play_random, playouts
from tengen.errors import SpecError, TengenError
from tengen.extras import how_to_get
from tengen.records import Corpus
from tengen.records.corpus import replay_all
from tengen.records.record import GameRecord
from tengen.records.sgf_properties import parse_result

if TYPE_CHECKING:
    from tengen.network.layers import Positions

_GAMES = 300  # games of a file that are read and replayed
_BATCH = 8  # positions that a network evaluates at once

_Work = Callable[[], float]  # does some work on one core and returns the number of units
_Maker = Callable[[Path], _Work]  # prepares work; gets a file of SGF games, one per line


@dataclass(frozen=True)
class Contest:
    """One task to measure, and the library to compare with."""

    name: str
    unit: str
    ours: _Maker
    peer: _Maker
    peer_name: str


@dataclass(frozen=True)
class Speed:
    """The measured speeds in units per processor second; None where the peer is missing."""

    name: str
    unit: str
    ours: float
    peer: float | None
    peer_name: str
    ratio: float | None


def compare(names: Iterable[str], games: Path | None = None) -> Iterator[Speed]:
    """Measure the named contests on the first games of a file, or on random games."""
    if games is None:
        data = sample_games()
    else:
        found = [record.sgf() for record in islice(Corpus(games), _GAMES)]
        if not found:
            raise TengenError(f"{games}: no game could be read")
        data = b"\n".join(game.replace(b"\n", b" ") for game in found)  # peers read lines
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "games.sgf"
        place.write_bytes(data)
        for name in names:
            yield measure(CONTESTS[name], place)


def measure(contest: Contest, games: Path, *, rounds: int = 3, seconds: float = 1.0) -> Speed:
    """Run both sides alternately, each round for about `seconds`."""
    sides, peer_name = [contest.ours(games)], contest.peer_name
    try:
        sides.append(contest.peer(games))
    except ImportError:
        peer_name = f"{peer_name} ({how_to_get('bench')})"
    sides[0]()
    rates = [[_rate(work, seconds) for work in sides] for _ in range(rounds)]
    best, *peers = (max(side) for side in zip(*rates, strict=True))
    peer, ratio = (round(peers[0], 1), round(best / peers[0], 1)) if peers else (None, None)
    return Speed(contest.name, contest.unit, round(best, 1), peer, peer_name, ratio)


def sample_games(games: int = 60, plies: int = 240, seed: int = 1) -> bytes:
    """Return SGF games of random moves on 19x19, one per line, for measuring without data."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(games):
        board = Board(19, rules="japanese")
        play_random(board, plies, rng)
        record = GameRecord(moves=board.moves, komi=6.5, rules="Japanese")
        record.result = parse_result("W+Resign")
        lines.append(record.sgf().replace(b"\n", b""))
    return b"\n".join(lines) + b"\n"


def _rate(work: _Work, seconds: float) -> float:
    """Return units per processor second, repeating the work for about `seconds`."""
    done, start = 0.0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += work()
    return done / spent


# ----- Our work -----


def _playouts(size: int, number: int, games: Path) -> _Work:
    """Play random games from the empty board."""
    board, seeds = Board(size), count()
    return lambda: len(playouts(board, number, seed=next(seeds), threads=1).scores)


def _read(games: Path) -> _Work:
    """Read a file of games into arrays; the unit is games."""
    return lambda: len(Corpus([games]).as_arrays())


def _replay(games: Path) -> _Work:
    """Replay games, checking every move; the unit is moves."""
    return partial(replay_all, Corpus([games]).as_arrays())


def _evaluate(games: Path) -> _Work:
    """Evaluate 19x19 positions with `tengen-small`, in batches as a search does."""
    from tengen.network import DeepNetwork

    engine, positions = DeepNetwork.load("tengen-small").engine, _positions()

    def work() -> float:
        engine(positions)
        return len(positions)

    return work


def _positions() -> Positions:
    from tengen.network.layers import pack_boards

    generators = map(np.random.default_rng, range(_BATCH))
    return pack_boards([play_random(Board(19), 95, rng) for rng in generators])


# ----- The peers' work -----


def _onnx_evaluate(games: Path) -> _Work:
    """Evaluate the same positions with ONNX Runtime."""
    import onnxruntime

    from tengen.network import DeepNetwork
    from tengen.network.export import export_onnx

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    path = games.with_name("network.onnx")
    try:
        export_onnx(DeepNetwork.load("tengen-small"), path)
    except SpecError as missing:
        raise ImportError(str(missing)) from None
    session, planes = onnxruntime.InferenceSession(str(path), options), _positions().planes()

    def work() -> float:
        session.run(None, {"planes": planes})
        return len(planes)

    return work


def _openspiel_games(size: int, games: Path) -> _Work:
    """Play random games through OpenSpiel's Python interface."""
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


def _sgfmill_read(games: Path) -> _Work:
    """Read games with sgfmill."""
    from sgfmill import sgf

    lines = games.read_bytes().splitlines()[:40]

    def work() -> float:
        for line in lines:
            game = sgf.Sgf_game.from_bytes(line)
            for node in game.get_main_sequence():
                node.get_move()
        return len(lines)

    return work


def _sgfmill_replay(games: Path) -> _Work:
    """Replay games on sgfmill's board."""
    from sgfmill import boards, sgf

    sequences = [
        [node.get_move() for node in sgf.Sgf_game.from_bytes(line).get_main_sequence()]
        for line in games.read_bytes().splitlines()[:20]
    ]

    def work() -> float:
        played = 0
        for sequence in sequences:
            board = boards.Board(19)
            for colour, move in sequence:
                if colour and move:
                    board.play(*move, colour)
                    played += 1
        return played

    return work


CONTESTS: dict[str, Contest] = {
    contest.name: contest
    for contest in (
        *(
            Contest(
                f"playouts-light-{size}x{size}", "games/s", partial(_playouts, size, number),
                partial(_openspiel_games, size), "OpenSpiel",
            )
            for size, number in ((9, 400), (19, 60))
        ),
        Contest("sgf-read", "games/s", _read, _sgfmill_read, "sgfmill"),
        Contest("replay", "moves/s", _replay, _sgfmill_replay, "sgfmill"),
        Contest("network-19x19", "positions/s", _evaluate, _onnx_evaluate, "ONNX Runtime"),
    )
}  # fmt: skip
