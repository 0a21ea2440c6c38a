"""Measure speed on one core beside other libraries, where they are installed.

A `Contest` is one kind of work, done by us and by a peer. Rounds of both alternate and the best
round of each counts, because the machine may be busy. Without its peer a contest has no ratio.
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
from tengen.board.playouts import Kind
from tengen.errors import SpecError, TengenError
from tengen.records import Corpus
from tengen.records.corpus import replay_all
from tengen.records.record import GameRecord
from tengen.records.sgf_properties import parse_result

if TYPE_CHECKING:
    from tengen.learners.network.inputs import Positions

_GAMES = 300
"""Games of a file that are read and replayed."""
_ROUNDS = 3
_SECONDS = 1.0
"""Approximate length of one round of one side."""
_BATCH = 8
"""Positions that a network evaluates at once."""

_Work = Callable[[], float]
"""Does some work on one core and returns the number of units."""
_Maker = Callable[[Path], _Work]
"""Prepares work; gets a file of SGF games, one per line."""


@dataclass(frozen=True)
class Contest:
    """One kind of work, and the library it is compared with."""

    name: str
    unit: str
    ours: _Maker
    peer: _Maker | None = None
    peer_name: str | None = None


@dataclass(frozen=True)
class Speed:
    """What was measured, in units per processor second; None without a peer."""

    name: str
    unit: str
    ours: float
    peer: float | None
    peer_name: str | None
    ratio: float | None


def compare(names: Iterable[str], games: Path | None = None) -> Iterator[Speed]:
    """Measure the contests of these names; on the first games of a file, or on random ones."""
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


def measure(
    contest: Contest, games: Path, *, rounds: int = _ROUNDS, seconds: float = _SECONDS
) -> Speed:
    """Run both sides alternately."""
    our_work, theirs, peer_name = contest.ours(games), None, contest.peer_name
    if contest.peer is not None:
        try:
            theirs = contest.peer(games)
        except ImportError:
            peer_name = f"{peer_name} (pip install 'tengen[bench]')"
    our_work()
    best = best_peer = 0.0
    for _ in range(rounds):
        best = max(best, _rate(our_work, seconds))
        if theirs is not None:
            best_peer = max(best_peer, _rate(theirs, seconds))
    ours, peer, ratio = round(best, 1), None, None
    if theirs is not None:
        peer, ratio = round(best_peer, 1), round(best / best_peer, 1)
    return Speed(contest.name, contest.unit, ours, peer, peer_name, ratio)


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
    """Return units per processor second, repeating the work for about this long."""
    done, start = 0.0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += work()
    return done / spent


# ----- Our work -----


def _playouts(size: int, kind: Kind, number: int, games: Path) -> _Work:
    """Play random games from the empty board."""
    board, seeds = Board(size), count()

    def work() -> float:
        playouts(board, number, seed=next(seeds), kind=kind, threads=1)
        return number

    return work


def _search(size: int, number: int, games: Path) -> _Work:
    """Search from the empty board, in playouts."""
    from tengen.players.mcts import MctsPlayer

    player, board, rng = MctsPlayer(playouts=number), Board(size), np.random.default_rng(1)

    def work() -> float:
        player.choose(board, rng)
        return number

    return work


def _read(games: Path) -> _Work:
    """Read a file of games to arrays of moves, in games."""
    return lambda: len(Corpus([games]).as_arrays())


def _replay(games: Path) -> _Work:
    """Replay games with every move checked, in moves."""
    return partial(replay_all, Corpus([games]).as_arrays())


def _legal_masks(games: Path) -> _Work:
    """Find the legal moves under positional superko, 150 moves into a game."""
    board = play_random(Board(19), 150, np.random.default_rng(2))

    def work() -> float:
        for _ in range(1000):
            board.legal_mask()
        return 1000

    return work


def _evaluate(games: Path) -> _Work:
    """Evaluate 19x19 positions with `tengen-small`, in batches as a search does."""
    from tengen.learners.network import DeepNetwork

    engine, positions = DeepNetwork.load("tengen-small").engine, _positions()

    def work() -> float:
        engine(positions)
        return len(positions)

    return work


def _positions() -> Positions:
    from tengen.learners.network.inputs import of_boards

    generators = map(np.random.default_rng, range(_BATCH))
    return of_boards([play_random(Board(19), 95, rng) for rng in generators])


# ----- Work of the peers -----


def _onnx_evaluate(games: Path) -> _Work:
    """Evaluate the same positions with ONNX Runtime."""
    import onnxruntime

    from tengen.learners.network import DeepNetwork
    from tengen.learners.network.export import export_onnx

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
        Contest(
            "playouts-light-9x9", "games/s", partial(_playouts, 9, "light", 400),
            partial(_openspiel_games, 9), "OpenSpiel",
        ),
        Contest(
            "playouts-light-19x19", "games/s", partial(_playouts, 19, "light", 60),
            partial(_openspiel_games, 19), "OpenSpiel",
        ),
        Contest("sgf-read", "games/s", _read, _sgfmill_read, "sgfmill"),
        Contest("replay", "moves/s", _replay, _sgfmill_replay, "sgfmill"),
        Contest("network-19x19", "positions/s", _evaluate, _onnx_evaluate, "ONNX Runtime"),
        Contest("playouts-heavy-9x9", "games/s", partial(_playouts, 9, "heavy", 200)),
        Contest("mcts-9x9", "playouts/s", partial(_search, 9, 1000)),
        Contest("playouts-heavy-19x19", "games/s", partial(_playouts, 19, "heavy", 40)),
        Contest("mcts-19x19", "playouts/s", partial(_search, 19, 300)),
        Contest("legal-mask-19x19", "masks/s", _legal_masks),
    )
}  # fmt: skip
