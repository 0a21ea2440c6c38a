"""Every built-in player keeps the contract, and each does what its name says."""

from collections.abc import Sequence

import numpy as np
import pytest

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, WHITE, Board, Rules, index_of
from tengen.board.simple_kernels import BY_BLOCK, BY_STONE, is_own_eye, liberty_balance
from tengen.contracts import TimedPlayer, check_evaluator, check_player, check_policy
from tengen.players import PLAYERS, make_player
from tengen.players.alphabeta import AlphaBetaPlayer, Search
from tengen.players.evaluators import EVALUATORS, POLICIES, AreaEvaluator, make_policy
from tengen.players.mcts import MctsPlayer
from tengen.players.simple import GreedyPlayer, SamplePlayer

SPECS = [
    "random",
    "random:fill_eyes=yes",
    "maxlib",
    "maxlib:average=stone",
    "static",
    "sample:model=static",
    "sample:model=uniform,temperature=0",
    "greedy:model=area",
    "greedy:model=area,temperature=2",
    "greedy:policy=static",
    "alphabeta:model=area,policy=static,depth=2,width=3",
    "opening:model=area,moves=4,then=static",
]


@pytest.mark.parametrize("spec", SPECS)
def test_players_keep_the_contract(spec: str) -> None:
    check_player(make_player(spec), plies=12)


@pytest.mark.parametrize("name", POLICIES)
def test_built_in_policies_keep_the_contract(name: str) -> None:
    check_policy(make_policy(name))


@pytest.mark.parametrize("name", EVALUATORS)
def test_built_in_evaluators_keep_the_contract(name: str) -> None:
    check_evaluator(EVALUATORS[name]())


def _play(black: str, white: str, board: Board, seed: int) -> float:
    rng = np.random.default_rng(seed)
    sides = {BLACK: make_player(black), WHITE: make_player(white)}
    while not board.is_over and len(board.moves) < 3 * board.rows * board.cols:
        board.play(sides[board.turn].choose(board, rng))
    return board.area_score()


def test_maxlib_beats_random() -> None:
    assert all(_play("maxlib", "random", Board(7, komi=0.5), seed) > 0 for seed in range(5))


def test_static_beats_maxlib() -> None:
    wins = sum(_play("static", "maxlib", Board(9, komi=0.5), seed) > 0 for seed in range(5))
    wins += sum(_play("maxlib", "static", Board(9, komi=0.5), seed) < 0 for seed in range(5))
    assert wins >= 8


def test_liberty_balance_by_hand() -> None:
    board = Board.from_ascii("""
        X X . . .
        . . . O .
        . . . . .
        X . . . .
        . . . . .
    """)
    stamp = np.zeros(board.state.shape[1], np.int64)
    # Black: three liberties for two stones, three for one; White: four for one.
    assert liberty_balance(board.state, BLACK, BY_BLOCK, stamp) == pytest.approx(3 - 4)
    assert liberty_balance(board.state, WHITE, BY_STONE, stamp) == pytest.approx(4 - 3)


@pytest.mark.parametrize(
    ("picture", "colour", "expected"),
    [
        (". X / X X", BLACK, True),
        (". X . / X O . / . . .", BLACK, False),  # the diagonal is the enemy's, at the edge
        ("O X O / X . X / . X .", BLACK, False),  # two diagonals
        ("O X . / X . X / . X .", BLACK, True),  # one diagonal is allowed
        (". X . / X . X / . O .", BLACK, False),
    ],
)
def test_own_eyes(picture: str, colour: int, expected: bool) -> None:
    rows = [row.split() for row in picture.split("/")]
    size = max(5, len(rows))
    inside = len(rows) == 3 and rows[1][1] == "."
    shift = 1 if inside else 0
    grid = np.zeros((size, size), np.int8)
    for r, row in enumerate(rows):
        for c, mark in enumerate(row):
            grid[r + shift, c + shift] = ".XO".index(mark)
    # Keep the blocks out of atari by liberties elsewhere.
    board = Board.from_grid(grid, to_play=colour)
    row, col = (2, 2) if inside else (0, 0)
    point = (row + 1) * (size + 1) + col + 1
    assert is_own_eye(board.state, point, colour) is expected


def test_greedy_takes_what_counts() -> None:
    board = Board.from_ascii("""
        . O O X .
        X O O X .
        X X X X .
        . . . . .
        . . . . .
    """)
    move = GreedyPlayer(model=AreaEvaluator()).choose(board, np.random.default_rng(0))
    assert move == board.point("A5")


def test_boltzmann_sampling_prefers_good_moves_but_plays_others() -> None:
    board = Board.from_ascii("X O . . .\n. . . . .\n. . . . .\n. . . . .\n. . . . .", to_play=BLACK)
    player = GreedyPlayer(model=AreaEvaluator(), temperature=1.0)
    moves = [player.choose(board, np.random.default_rng(s)) for s in range(40)]
    assert len(set(moves)) > 5


def test_sampling_at_zero_takes_the_likeliest() -> None:
    policy = POLICIES["static"]()
    board = Board(9, moves="B C3 W G7 B G3")
    index = int(policy.priors(board).argmax())
    move = SamplePlayer(model=policy, temperature=0).choose(board, np.random.default_rng(0))
    assert index_of(move, 9, 9) == index


def test_alphabeta_equals_plain_minimax() -> None:
    board = Board(3, komi=0.5, moves="B B2 W B1")
    player = AlphaBetaPlayer(model=AreaEvaluator(), depth=3)

    def minimax(node: Board, depth: int) -> float:
        from tengen.game.endgame import candidates

        sign = 1 if node.turn == BLACK else -1
        if node.is_over or depth == 0:
            return sign * node.area_score()
        values = []
        for move in candidates(node) or [PASS]:
            child = node.copy()
            child.push(move)
            values.append(-minimax(child, depth - 1))
        return max(values)

    assert player.search(board)[0] == minimax(board, 3)


def test_alphabeta_sees_a_snapback_two_plies_deep() -> None:
    # Depth one would take the stone at once; depth three sees who is left standing.
    board = Board(5, komi=0.5, moves="B C3 W C4 B D4 W B3 B B4")
    for depth in (1, 2, 3):
        value, move = AlphaBetaPlayer(model=AreaEvaluator(), depth=depth, width=6).search(board)
        assert board.is_legal(board.answer(move))
        assert np.isfinite(value)


def test_the_widths_shown_are_those_in_force() -> None:
    class Counting(AreaEvaluator):
        asked = 0

        def values(self, boards: Sequence[Board]) -> FloatArray:
            self.asked += len(boards)
            return super().values(boards)

    shown = {
        name: next(o.default for o in PLAYERS[name].options if o.name == "width")
        for name in ("greedy", "alphabeta")
    }
    assert shown == {"greedy": "8", "alphabeta": "8 with a policy, else all"}
    model, policy = Counting(), make_policy("static")
    GreedyPlayer(model=model, policy=policy).choose(Board(9), np.random.default_rng(0))
    assert model.asked == 8
    assert len(Search(model, policy, None).moves(Board(9))) == 8
    assert len(Search(model, None, None).moves(Board(9))) == 81


def test_alphabeta_keeps_to_the_clock() -> None:
    import time

    player = make_player("alphabeta:model=area,policy=static,width=6")
    assert isinstance(player, TimedPlayer)
    player.within(0.01).choose(Board(9), np.random.default_rng(0))  # loads the kernels
    start = time.monotonic()
    move = player.within(0.3).choose(Board(9), np.random.default_rng(0))
    assert time.monotonic() - start < 10
    assert move > 0


def test_territory_rules_reach_the_players() -> None:
    board = Board.from_ascii(SETTLED, rules=Rules.preset("japanese"), komi=0.5)
    # Filling own territory would cost points, so a settled board is passed once it is late.
    board.moves.extend([(BLACK, PASS)] * 20)
    board.moves.append((BLACK, board.point("D1")))
    assert make_player("greedy:model=area").choose(board, np.random.default_rng(0)) == PASS


SETTLED = """
    . X . X O . O
    X X X X O O O
    . . . X O . .
    . . . X O . .
    X X X X O O O
    . X . X O . O
    X . X X O O .
"""


def test_models_hear_the_moves_that_led_to_a_leaf() -> None:
    heard: list[tuple[int, ...]] = []

    class Listener:
        def priors(self, board: Board) -> np.ndarray:
            replayed = Board(5)
            for colour, move in board.moves:
                replayed.play(move, colour)
            assert np.array_equal(replayed.grid(), board.grid())
            assert replayed.turn == board.turn
            heard.append(tuple(move for _, move in board.moves))
            return np.full(26, 1 / 26)

    player = MctsPlayer(playouts=60, policy=Listener())
    player.choose(Board(5, moves="B C3"), np.random.default_rng(1))
    assert max(map(len, heard)) >= 3


def test_a_narrowed_player_looks_at_nothing_else() -> None:
    board = Board(9, moves="B E5 W C3")
    wanted = {board.point("A1"), board.point("J9")}
    player = make_player("mcts:playouts=80").only(wanted)  # type: ignore[attr-defined]
    *_, report = player.analyse(board, np.random.default_rng(2), limited=True)
    assert {c.move for c in report.candidates} <= wanted
    assert sum(c.visits for c in report.candidates) >= 78
    assert report.choice in wanted
