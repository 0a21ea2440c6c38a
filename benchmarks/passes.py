"""Play games in which a person passes at random moments, and check how the machine answers.

The games themselves are drawn quickly by a level that does not search; the level under test
answers only the passes. When it agrees to end a game, the strongest player plays on for both
sides: a score that changes by more than two points means that the game was open. Moves that it
plays after a pass without changing the score are extra moves of a finished game, if the strongest
player finds that game finished, too.

Run as a script: python benchmarks/passes.py [GAMES] [FIRST SEED]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import numpy as np

from tengen.board import BLACK, PASS, RESIGN, Board
from tengen.contracts import Status
from tengen.game.session import LocalGame
from tengen.players import make_player
from tengen.players.network_search import SEARCHING_JUDGE, SearchPlayer
from tengen.players.tengen import TengenPlayer
from tengen.scoring.judging import count_without

SIZES = (5, 6, 7, 8, 9, 10, 11, 13, 15, 19)
LEVELS = range(1, 11)
ALLOWED = 2.0
"""Points by which the score of a finished game may change if play goes on."""
_PLAYED_ON = 24
_VISITS = 60


@dataclass
class Ending:
    """How one game ended."""

    size: int
    level: int
    rules: str
    passes: int = 0
    """Passes of the person that the machine answered by a move."""
    resigned: bool = False
    ended: bool = False
    changed: float = 0.0
    """Points by which the score changed when play went on."""
    extra: int = 0
    """Passes in a row, at the end, that the machine declined without gaining anything."""
    board: Board = field(default_factory=lambda: Board(5), repr=False)

    @property
    def was_open(self) -> bool:
        return self.ended and abs(self.changed) > ALLOWED


def play_one(seed: int) -> Ending:
    """Play one game; size, level, rules and moments follow from the seed."""
    rng = np.random.default_rng([seed, 77])
    size, level = SIZES[seed % len(SIZES)], LEVELS[(seed // len(SIZES)) % len(LEVELS)]
    rules = "japanese" if rng.random() < 0.3 else "chinese"
    ending = Ending(size, level, rules)
    board = Board(size, rules=rules)
    drawer = make_player(f"tengen:level={rng.integers(4, 7)}")
    game = LocalGame(
        board, BLACK, seed, player=make_player(f"tengen:level={level}"), judge=SEARCHING_JUDGE
    )
    judge = game.judge
    chance = 1.5 / size**2
    before: list[tuple[Board, float]] = []  # positions and scores at the latest passes
    insisting = 0  # passes that follow one in a finished position
    while len(board.moves) < 3 * size**2 - 2:  # the board ends a game after three times its points
        done = judge.finished(board) is not None
        if insisting or rng.random() < (0.5 if done else chance):
            insisting = insisting - 1 if insisting else 3 * done
            game.human = board.turn
            before.append((board.copy(), score_of(game)))
            board.play(PASS)
            if game.answer() == PASS:
                ending.ended = True
                break
            ending.passes += 1
            if game.resigned:
                ending.resigned = True
                break
            if insisting:
                continue
        move = drawer.choose(board.copy(), rng)
        if move in (PASS, RESIGN):
            continue
        board.play(move)
        before.clear()
    if ending.ended:
        final = score_of(game)
        for position, score in reversed(before[:-1]):
            if score != final or abs(play_on(position) - score) > ALLOWED:
                break
            ending.extra += 1
        ending.changed = play_on(board) - final
    ending.board = board
    return ending


def score_of(game: LocalGame) -> float:
    """Count a position by area without what the scorer calls dead: captures then cost nothing."""
    board = game.board
    dead = game.judge.status(board).stones(Status.DEAD)
    by_area = Board.from_grid(board.grid(), rules="chinese", komi=board.komi)
    return count_without(by_area, dead).score


def play_on(board: Board) -> float:
    """Let the strongest player go on for both sides; return the score after that."""
    game = LocalGame(board.copy(), player=make_player("random"), judge=SEARCHING_JUDGE)
    player = TengenPlayer(visits=_VISITS)
    board = game.board
    search = player.search(board)
    assert isinstance(search, SearchPlayer)
    passed = 0
    for ply in range(_PLAYED_ON):
        rng = np.random.default_rng(ply)
        report = None
        for report in search.analyse(board, rng, interval=0.0, stop=lambda: False):
            if report.visits >= _VISITS:
                break
        assert report is not None
        best = report.candidates[0].move if report.candidates else PASS
        passed = passed + 1 if best == PASS else 0
        if passed == 2:
            break
        board.play(board.to_point(best))
    return score_of(game)


def main() -> None:
    """Play games and print what came of them."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    endings = []
    for seed in range(first, first + games):
        ending = play_one(seed)
        endings.append(ending)
        mark = " OPEN" if ending.was_open else " LATE" if ending.extra > 2 else ""
        print(
            f"{seed}: {ending.size}x{ending.size} level {ending.level} {ending.rules}, "
            f"{len(ending.board.moves)} moves, played on {ending.passes}, "
            f"{'resigned' if ending.resigned else 'ended' if ending.ended else 'not ended'}, "
            f"changed {ending.changed:+.1f}, extra {ending.extra}{mark}",
            flush=True,
        )
        if mark:
            print(ending.board, flush=True)
    ended = [e for e in endings if e.ended]
    print(
        f"{len(endings)} games, {len(ended)} ended by agreement, "
        f"{sum(e.resigned for e in endings)} resigned; "
        f"open: {sum(e.was_open for e in ended)}; more than two extra moves: "
        f"{sum(e.extra > 2 for e in ended)}; passes answered by a move: "
        f"{sum(e.passes for e in endings)}"
    )


if __name__ == "__main__":
    main()
