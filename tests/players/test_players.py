"""Every built-in player keeps the contract, and each does what its name says."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from tests.needs import need

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, WHITE, Board, Rules, index_of, parse_gtp, playouts
from tengen.board.counting import count_board
from tengen.board.tactics_kernels import BY_BLOCK, BY_STONE, is_own_eye, liberty_balance
from tengen.contracts import (
    Analyser,
    Explainer,
    TimedPlayer,
    check_evaluator,
    check_player,
    check_policy,
)
from tengen.errors import SpecError
from tengen.game.endgame import estimate_by_playouts, score_as_it_stands
from tengen.models import load_evaluator
from tengen.network import layers
from tengen.players import make_expert, make_player, player_kinds
from tengen.players.alphabeta import AlphaBetaPlayer, AlphaBetaSearch
from tengen.players.evaluators import EVALUATORS, POLICIES, AreaEvaluator, make_policy
from tengen.players.external import ExternalPlayer
from tengen.players.mcts import MctsPlayer
from tengen.players.simple import GreedyPlayer, SamplePlayer, finish_score

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
    "mcts:playouts=20",
    "search:model=zero-9x9,visits=3",
    "tengen:level=1",
    "python:tengen.players.simple:RandomPlayer",
]


def test_every_kind_is_here() -> None:
    assert {*(spec.partition(":")[0] for spec in SPECS), "gtp"} == set(player_kinds())


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
    assert all(_play("maxlib", "random", Board(7, komi=0.5), seed) > 0 for seed in range(3))


def test_static_beats_maxlib() -> None:
    wins = sum(_play("static", "maxlib", Board(7, komi=0.5), seed) > 0 for seed in range(3))
    wins += sum(_play("maxlib", "static", Board(7, komi=0.5), seed) < 0 for seed in range(3))
    assert wins >= 5


def test_liberty_balance_by_hand() -> None:
    board = Board.from_ascii("""
        X X . . .
        . . . O .
        . . . . .
        X . . . .
        . . . . .
    """)
    # Black: three liberties for two stones, three for one; White: four for one.
    assert liberty_balance(board.state, BLACK, BY_BLOCK) == pytest.approx(3 - 4)
    assert liberty_balance(board.state, WHITE, BY_STONE) == pytest.approx(4 - 3)


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        (". X / X X", True),
        (". X / X O", False),  # the diagonal is the enemy's, at the edge
        ("O X O / X . X / . X .", False),  # two diagonals
        ("O X . / X . X / . X .", True),  # one diagonal is allowed
        (". X . / X . X / . O .", False),
    ],
)
def test_own_eyes(picture: str, expected: bool) -> None:
    grid = np.array([[".XO".index(c) for c in row.split()] for row in picture.split("/")], np.int8)
    inside = int(len(grid) == 3)
    # Empty points around keep the blocks out of atari.
    board = Board.from_grid(np.pad(grid, (inside, 2)), to_play=BLACK)
    assert is_own_eye(board.state, board.point((2 * inside, 2 * inside)), BLACK) is expected


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


def test_without_a_width_a_policy_gives_eight_moves() -> None:
    class Counting(AreaEvaluator):
        asked = 0

        def values(self, boards: Sequence[Board]) -> FloatArray:
            self.asked += len(boards)
            return super().values(boards)

    model, policy = Counting(), make_policy("static")
    GreedyPlayer(model=model, policy=policy).choose(Board(9), np.random.default_rng(0))
    assert model.asked == 8
    assert len(AlphaBetaSearch(model, policy, None).moves(Board(9))) == 8
    assert len(AlphaBetaSearch(model, None, None).moves(Board(9))) == 81


def test_alphabeta_keeps_to_the_clock() -> None:
    player = make_player("alphabeta:model=area,policy=static,width=6")
    assert isinstance(player, TimedPlayer)
    assert player.within(0.01).choose(Board(9), np.random.default_rng(0)) > 0


def test_a_policy_that_looks_at_the_last_moves_guides_the_search() -> None:
    player = make_player("mcts:policy=predictor-paper,playouts=20")
    assert Board(19).is_legal(player.choose(Board(19), np.random.default_rng(0)))


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


def test_models_get_the_moves_that_led_to_a_leaf() -> None:
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


_SIDE = 9


def settled(size: int = _SIDE, **options: object) -> Board:
    """Return a board of two groups with two eyes each and nothing else: Black has four columns."""
    rows = [list("X" * 4 + "O" * (size - 4)) for _ in range(size)]
    rows[0][0] = rows[-1][0] = rows[1][-1] = rows[-2][-1] = "."
    return Board.from_ascii("\n".join(map("".join, rows)), **options)  # type: ignore[arg-type]


def verdicts(board: Board) -> dict[str, float]:
    """Ask all who need no model what a settled board is worth."""
    found = {
        "area": board.area_score(),
        "count": count_board(board, None).score,
        "as it stands": score_as_it_stands(board),
        "judgement": estimate_by_playouts(board).mean_score,
        "finish": finish_score(board),
    }
    for kind in ("light", "heavy"):
        found[kind] = playouts(board, 8, kind=kind).mean_score  # type: ignore[arg-type]
    for name in ("builtin", "static", "static:resign=no"):
        found[f"expert {name}"] = float(make_expert(name).finish([board], [1])[0])
    for name, make in EVALUATORS.items():
        found[f"evaluator {name}"] = float(make().values([board])[0])
    player = make_player("mcts:playouts=16")
    *_, report = player.analyse(board, np.random.default_rng(1), limited=True)  # type: ignore[attr-defined]
    found["search"] = report.score
    return found


@pytest.mark.parametrize(
    ("rules", "handicap", "bonus"),
    [("chinese", 4, 11.5), ("aga", 4, 10.5), ("chinese", 0, 7.5), ("cgos", 4, 7.5)],
)
def test_all_judges_agree_on_a_settled_board(rules: str, handicap: int, bonus: float) -> None:
    board = settled(rules=rules, handicap=handicap)
    assert board.white_bonus == bonus
    found = verdicts(board)
    assert found == dict.fromkeys(found, 36 - 45 - bonus)


@pytest.mark.parametrize(
    "name", ["evolved-spatial-13x13", "isn-9x9", "isn-best", "scorer", "td-best-9x9", "zero-9x9"]
)
def test_models_take_compensation_for_komi(name: str) -> None:
    model, size = load_evaluator(name), 13 if "13x13" in name else 9
    given = settled(size, rules="chinese", komi=0.5, handicap=4)
    same = settled(size, rules="chinese", komi=4.5)
    even = settled(size, rules="chinese", komi=0.5)
    a, b, c = model.values([given, same, even])
    assert a == b < c
    rate = getattr(model, "move_scores", None)
    if rate is not None:
        assert np.array_equal(rate(given), rate(same))


def test_a_network_gets_komi_and_compensation() -> None:
    boards = [settled(rules="chinese", komi=0.5, handicap=4, to_play=side) for side in (1, 2)]
    assert layers.pack_boards(boards).komi.tolist() == [-4.5, 4.5]


class UtilityFunction:
    """Like points more the later they come, with a great liking for the centre."""

    def priors(self, board: Board) -> np.ndarray:
        weights = np.arange(1.0, board.rows * board.cols + 2)
        weights[12] = 1000.0
        weights[~board.legal_mask()] = 0
        return weights / weights.sum()


class Nothing:
    """Judge every position as even."""

    def values(self, boards: list[Board]) -> np.ndarray:
        return np.zeros(len(boards))


@pytest.mark.parametrize(
    "player",
    [SamplePlayer(model=UtilityFunction(), temperature=0), GreedyPlayer(policy=UtilityFunction())],
    ids=["sample", "greedy"],
)
def test_the_likeliest_moves_are_reported_best_first(player: SamplePlayer) -> None:
    assert isinstance(player, Analyser) and isinstance(player, Explainer)
    board = Board(5)
    reports = list(player.analyse(board, np.random.default_rng(0)))
    assert len(reports) == 1
    found = reports[0].candidates
    assert len(found) == 20
    centre = parse_gtp("C3", 5, 5)
    assert found[0].move == reports[0].choice == centre
    chances = [candidate.prior for candidate in found]
    assert chances == sorted(chances, reverse=True)
    # The pass has no share: 1 to 25 without the centre's 13, and the centre's 1000.
    assert found[0].prior == pytest.approx(1000 / (25 * 13 - 13 + 1000))
    assert found[0].visits == round(10_000 * found[0].prior)
    words = player.explain(board, centre)
    assert words.startswith("C3: number 1 of the policy, 76.2")
    assert player.explain(board, PASS) == ""


def test_without_a_policy_the_choice_alone_is_reported() -> None:
    player = GreedyPlayer(model=Nothing())
    board = Board(5)
    (report,) = player.analyse(board, np.random.default_rng(0))
    assert [candidate.move for candidate in report.candidates] == [report.choice]
    assert 0 <= index_of(report.choice, 5, 5) < 25
    assert player.explain(board, report.choice) == ""


ENGINE = f"{sys.executable} -c 'from tengen.cli import main; main()' gtp --player random --seed 1"


def test_an_engine_plays_and_follows_another_game() -> None:
    player = make_player(f"gtp:{ENGINE}")
    assert isinstance(player, ExternalPlayer)
    rng = np.random.default_rng(0)
    try:
        board = Board(5)
        for _ in range(4):
            move = player.choose(board, rng)
            assert board.is_legal(move)
            board.play(move)
        other = Board(7, moves="B C3 W D4")
        assert other.is_legal(player.choose(other, rng))
        assert player.version
    finally:
        player.close()


def test_it_travels_without_its_process() -> None:
    player = ExternalPlayer(command="x")
    assert pickle.loads(pickle.dumps(player)).command == "x"


def test_gnu_go_repeats_itself_with_the_same_generator() -> None:
    need("gnugo")
    player = make_player("gtp:gnugo --mode gtp --level 0 --chinese-rules --never-resign")
    try:
        games = []
        for _ in range(2):
            board, rng = Board(5), np.random.default_rng(3)
            while not board.is_over and len(board.moves) < 30:
                board.play(player.choose(board, rng))
            games.append(board.moves)
        assert games[0] == games[1]
        assert games[0][-1][1] == PASS
    finally:
        assert isinstance(player, ExternalPlayer)
        player.close()


def test_a_quotation_without_an_end_is_reported_at_once() -> None:
    with pytest.raises(SpecError, match="no closing quotation"):
        make_player('gtp:"gnugo')
