"""Small pieces of work that use the kernels, for running with the JIT on and off.

    python tests/scenarios_for_jit.py NAME

prints the answers as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tengen.board import BatchBoard, Board, play_random, playouts
from tengen.records import GameArrays, GameRecord
from tengen.records.arrays import from_records

# Unsigned words wrap around by design, which NumPy reports when the JIT is off.
warnings.simplefilter("ignore", RuntimeWarning)


def boards(*sizes: tuple[int, int], seed: int = 1, share: float = 0.6) -> list[Board]:
    """Return boards in the middle of random games."""
    rng = np.random.default_rng(seed)
    return [
        play_random(Board(rows, cols, komi=5.5), int(share * rows * cols), rng)
        for rows, cols in sizes
    ]


def games(count: int = 2, size: int = 5, plies: int = 14) -> GameArrays:
    """Return short random games."""
    records = []
    for seed in range(count):
        board = play_random(Board(size), plies, np.random.default_rng(seed))
        records.append(GameRecord(rows=size, cols=size, moves=board.moves))
    return from_records(records)


class Even:
    """An expert that calls every opening a matter of its stones."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> Any:
        return np.array([board.area_score() for board in boards], np.float64)


# ----- Scenarios -----


def board() -> list[Any]:
    answers: list[Any] = []
    rng = np.random.default_rng(3)
    for rules in ("japanese", "cgos", "aga", "tromp_taylor"):
        position = Board(4, 5, rules=rules)
        for _ in range(60):
            mask = position.legal_mask()
            position.play(position.answer(rng.choice(list(position.legal_moves))))
            answers += [mask, position.grid(), position.hash % 10**6, position.prisoners]
        position.undo()
        answers += [position.area_score(), [b.liberties for b in position.blocks()]]
    for kind in ("light", "heavy"):
        result = playouts(Board(5, moves="B C3 W C2"), 8, seed=2, kind=kind, threads=1)
        answers += [result.scores, result.ownership]
    answers.append(playouts(Board(5), 4, seed=2, kind="heavy").scores)
    long = Board(9)
    while len(long.moves) < 140:
        long.play(long.answer(rng.choice(list(long.legal_moves)[:-1] or [0])))
    answers += [long.hash % 10**6, long.legal_mask()]
    many = BatchBoard(3, 5)
    for index in (0, 7, 12):
        many.play(np.array([index, index + 1, index + 2]))
        answers += [many.legal_masks(), many.area_scores(), many.over]
    return answers


def counting() -> list[Any]:
    from tengen.board.counting import count_area, count_territory, territory_margins, unconditional
    from tengen.board.counting_kernels import careful_kinds
    from tengen.board.layout_kernels import COLOUR
    from tengen.board.tactics_kernels import eye_map, read_ladder, safety_scratch

    answers: list[Any] = []
    rng = np.random.default_rng(11)
    for _ in range(300):
        size = rng.integers(3, 9, size=2)
        grid = rng.choice([0, 0, 1, 1, 2], size=size).astype(np.int8)
        dead = (rng.random(size) < 0.5) & (grid == 2)
        answers.append(count_territory(grid, dead).kinds)
    for position in boards((5, 5), (4, 6), (7, 7), share=1.1):
        grid = position.grid()
        for count in (count_area(grid), count_territory(grid)):
            answers += [count.score, count.black, count.white]
        for colour in (1, 2):
            answers += unconditional(grid, colour)
        owners = np.zeros(position.state.shape[1], np.int64)
        eye_map(position.state[COLOUR], position.cols + 1, owners)
        answers.append(owners)
        answers.append(territory_margins([grid], [np.zeros(grid.shape, bool)]))
        kinds = np.zeros(grid.shape, np.int8)
        careful_kinds(grid.astype(np.int8), np.zeros(grid.shape, np.bool_), kinds)
        answers.append(kinds)
        scratch = safety_scratch(position.state.shape[1])
        for block in position.blocks():
            for attacking in (True, False)[: 3 - min(len(block.liberties), 2)]:
                line, reads = position.state[COLOUR].copy(), np.zeros(1, np.int64)
                place = int(block.stones[0]), position.cols + 1
                answers.append(read_ladder(line, *place, attacking, 0, reads, scratch))
    return answers


def records() -> list[Any]:
    import io

    from tengen.records import arrays
    from tengen.records.corpus import Unseen, replay_refusals

    text = b"(;SZ[9]AB[aa][cc]PB[\xc3\xa9\xe7\x8e\x8b]RE[B+3.5];W[ee];B[ef](;W[fe];B[])(;W[dd]))"
    text += b"\n(;SZ[5];B[aa];W[bb])"
    answers: list[Any] = []
    for batch in arrays.read_in_bulk(io.BytesIO(text), "x", lambda fault: None):  # type: ignore[arg-type]
        a = batch.arrays
        answers += [a.moves, a.colours, a.offsets, a.rows, a.cols, a.setup, Unseen()(a)]
        answers += [list(map(str, replay_refusals(a)))]
    return answers


def players() -> list[Any]:
    from tengen.game.endgame import cleanup_move
    from tengen.players.evaluators import BuiltinExpert
    from tengen.players.mcts import MctsPlayer, PlayoutTree
    from tengen.players.simple import finish_score, static_move_values
    from tengen.players.spec import make_player

    answers: list[Any] = []
    for position in boards((5, 5), (4, 6)):
        for spec in ("random", "maxlib", "maxlib:average=stone", "static", "mcts:playouts=12"):
            answers.append(make_player(spec).choose(position, np.random.default_rng(1)))
        answers += [finish_score(position), np.nan_to_num(static_move_values(position))]
        answers.append(BuiltinExpert(playouts=4).finish([position], [1]))
        answers.append(cleanup_move(position))
    tree = PlayoutTree.grow(Board(4), 2000, seed=1)
    MctsPlayer()._advance(tree, 40)
    later = Board(4)
    later.play(later.answer(int(tree.children()[0][0, 0])))
    answers += [tree.descend(later), tree.ti[:20], tree.tf[:20]]
    return answers


def move_prediction() -> list[Any]:
    from tengen.learners.move_prediction.learner import MovePredictor
    from tengen.learners.move_prediction.settings import PredictionSettings

    predictor = MovePredictor(settings=PredictionSettings(minimum=1, top=2)).fit(games())
    positions = boards((5, 5), (5, 5), seed=2)
    return [predictor.evaluate(games(3)).loss, *map(predictor.priors, positions)]


def scoring() -> list[Any]:
    from tengen.learners.scoring.features import describe
    from tengen.learners.scoring.judgement import judge
    from tengen.records.corpus import last_positions

    answers: list[Any] = list(last_positions(games(2)))
    for position in boards((4, 5), (6, 6), share=1.0):
        described = describe(position.grid())
        verdict = judge(described, np.linspace(-1, 1, len(described.bond)))
        answers += [described.features, verdict.alive]
    return answers


def symmetry_network() -> list[Any]:
    from tengen.learners.symmetry_network.learner import SymmetryNetwork, play_games
    from tengen.learners.symmetry_network.settings import SymmetrySettings

    answers: list[Any] = []
    for categories in ("eyes", "liberties"):
        settings = SymmetrySettings(games=2, linear_games=1, size=4, categories=categories)
        network = SymmetryNetwork(settings=settings).fit()
        (position,) = boards((4, 4))
        answers += [network.free_, network.values([position]), network.priors(position)]
    for opponent, beta in (("random", 20.0), ("random", 1e9), ("maxlib", 20.0)):
        answers.append(play_games(network, opponent, games=1, size=4, beta=beta))
    return answers


def opening_td() -> list[Any]:
    from tengen.learners.opening_td.learner import OpeningTD, dense_inputs, play_match
    from tengen.learners.opening_td.settings import TDSettings

    answers: list[Any] = []
    for encoding in ("binary", "scalar", "mixed"):
        settings = TDSettings(
            rows=4, plies=20, games=3, hidden=3, encoding=encoding,
            trace=0.5, explore=0.5, random_plies=1, random_opponent=0.5,
        )  # fmt: skip
        learner = OpeningTD(settings=settings).fit(Even())
        for position in boards((4, 4), share=0.5):
            answers += [learner.values([position]), learner.best_move(position)]
            answers.append(dense_inputs(position, settings, friend=1, komi=5.5))
        answers.append(play_match(learner, "random", Even(), games=2, seed=1).scores)
    return answers


def opening_evolution() -> list[Any]:
    from tengen.learners.opening_evolution.networks import Dense, Shared, Spatial

    answers: list[Any] = []
    for shape in (
        Dense(5, 5),
        Spatial(5, 5),
        Shared(5, 5),
        Spatial(5, 5, plies=2),
        Shared(4, 5, plies=2),
    ):
        weights = np.sin(np.arange(shape.n_weights) * 1.7)
        for position in boards((shape.rows, shape.cols), share=0.2):
            answers += [shape.move(weights, position), shape.value(weights, position, 1)]
    return answers


def network() -> list[Any]:
    from tengen.learners.network.inputs_kernels import encode_games
    from tengen.learners.network.learner import untrained
    from tengen.learners.network.settings import Design
    from tengen.players.network_search import SearchPlayer

    network = untrained(Design(fields=1, blocks=3, head_fields=1, value_hidden=2))
    answers: list[Any] = []
    for position in boards((5, 5), (5, 7)):
        answers += [network.values([position]), network.priors(position)]
    player = SearchPlayer(network, visits=4)
    answers.append(str(player.choose(position, np.random.default_rng(1))))
    g = games(2)
    codes = np.zeros((len(g.moves), 25), np.uint8)
    encode_games(
        g.moves, g.colours, g.offsets, g.setup, g.setup_colours, g.setup_offsets,
        np.ones(len(g), np.bool_), 0, len(g), 5, 5, codes,
    )  # fmt: skip
    answers.append(codes)
    return answers


def self_play() -> list[Any]:
    from tengen.learners.network import inputs_kernels
    from tengen.learners.network.inputs import of_boards

    found = of_boards(boards((5, 5), (5, 5)), ladders=False)
    codes, history = np.repeat(found.codes, 2, 0), np.repeat(found.history, 2, 0)
    facts, slots = np.ones((4, inputs_kernels.FACTS), np.int32), np.array([0, 2])
    owners = np.zeros((2, 25), np.int8)
    legal = (found.codes & 3 == 0) & (found.codes >> 2 > 0)
    moves = np.array([legal[0].argmax(), 25])
    inputs_kernels.play_moves(codes, history, facts, slots, moves, slots + 1, 5)
    inputs_kernels.write_owners(codes, slots + 1, owners, 5)
    return [codes, history, facts, owners]


def explorer() -> list[Any]:
    from tengen.explorer import build, explore

    text = "(;SZ[9]RE[B+R]DT[1998-05-01];B[gc];W[ge];B[cg];W[ee])"
    text += "(;SZ[9]RE[W+R]DT[2001];B[cc];W[cg];B[ec];W[ce])(;SZ[9];W[cc];B[ee];W[ce])"
    answers: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "g.sgf"
        place.write_text(text)
        openings = build([place], Path(folder) / "g.openings")
        for moves in ("", "B G7", "B C7 W D7"):
            for corner in (False, True):
                told = explore(openings, Board(9, moves=moves), corner=corner).to_dict()
                answers.append(json.dumps(told, default=str).replace(folder, ""))
    return answers


def plain(value: Any) -> Any:
    """Turn an answer into JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return round(value, 6) if isinstance(value, float) else value


if __name__ == "__main__":
    print(json.dumps(plain(globals()[sys.argv[1]]())))
