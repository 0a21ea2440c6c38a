"""The fast kernels against the plain definition: outputs, values of moves, gradient."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import BLACK, EMPTY, WHITE, Board, index_of
from tengen.board.kernels import new_state, play_move
from tengen.papers.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.papers.symmetry_network import kernels as gk
from tengen.papers.symmetry_network.learner import make_scratch, packing, split
from tengen.papers.symmetry_network.network import (
    Architecture,
    area_table,
    forward,
    target_table,
    value_table,
)

READS = {EMPTY: (0, 3, 4), BLACK: (2, 6), WHITE: (1, 5)}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"colour": True},
        {"tied": False},
        {"tied": False, "mixture": {"T": 1}},
        {"recurrent": True},
    ],
)
def test_collect_is_the_transpose_of_flat(options):
    architecture = Architecture(**options)
    pack = packing(architecture)
    rng = np.random.default_rng(1)
    free, flat = rng.normal(size=architecture.size), rng.normal(size=pack.shape)
    assert pack.expand(free) @ flat == pytest.approx(free @ pack.collect(flat), rel=1e-5)


def as_liberties(board: Board, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what each point counts as a liberty of the next position: White's, eyes of both.

    A stone counts as what it leaves behind if it is captured.
    """
    grid, out = board.grid(), outputs
    z = np.choose(grid, [out[..., 0], out[..., 2], out[..., 1]])
    white = np.choose(grid, [out[..., 3], out[..., 6], 0 * z])
    black = np.choose(grid, [out[..., 4], 0 * z, out[..., 5]])
    return z.ravel(), np.stack([0 * z.ravel(), black.ravel(), white.ravel()])


def symbols_of(board: Board, settings: SymmetrySettings, z: np.ndarray, eyes: np.ndarray):
    """Categorise by the definition: a block's liberties, summed one by one."""
    symbols = np.full(board.rows * board.cols, 12)
    (e1, e2), (o1, o2) = settings.eyes, settings.openings
    for block in board.blocks():
        at = [index_of(p, board.rows, board.cols) for p in block.liberties]
        e = eyes[block.colour, at].sum()
        q = (z[at] if block.colour == WHITE else 1 - z[at]).sum() - e
        if settings.categories == "liberties":
            kind = min(len(at), 6) - 1
        elif e >= e1:
            kind = 5 if e >= e2 else 3 + int(q >= o1)
        else:
            kind = int(q >= o1) + int(q >= o2)
        stones = [index_of(p, board.rows, board.cols) for p in block.stones]
        symbols[stones] = kind + (6 if block.colour == BLACK else 0)
    return symbols.reshape(board.rows, board.cols)


def value_of(board: Board, outputs: np.ndarray, table: np.ndarray) -> float:
    rows = table[board.grid()]
    return float((rows[..., :7] * outputs).sum() + rows[..., 8].sum())


@pytest.mark.parametrize(
    ("rows", "cols", "options"),
    [
        (9, 9, {}),
        (5, 7, {"categories": "liberties"}),
        (5, 5, {"mixture": {"T": 2, "F": 1}, "eyes": (0.3, 1.0)}),
        (5, 6, {"recurrent": True}),
    ],
)
def test_positions_and_moves_are_valued_by_the_definition(rows, cols, options):
    """Along a random game: the outputs of every position and the value after every move."""
    settings, rng = SymmetrySettings(**options), np.random.default_rng(7)
    free = rng.normal(0, 0.3, settings.architecture.size)
    network = SymmetryNetwork.from_free(free, settings)
    board, captures = Board(rows, cols, komi=1.5), 0
    for ply in range(90):
        if ply % 9 == 0:
            outputs = np.full((rows, cols, 7), 0.12)
            outputs[..., :3] = 0.5
            past = None
            for _ in range(4):
                symbols = symbols_of(board, settings, *as_liberties(board, outputs))
                outputs, hidden = forward(settings.architecture, free, symbols, past)
                past = hidden if settings.recurrent else None
            assert np.abs(outputs.reshape(-1, 7) - network.outputs(board)).max() < 1e-5
            area = -value_of(board, outputs, area_table()) - 1.5
            assert network.values([board])[0] == pytest.approx(area, abs=1e-4)
            rated, sign = network.move_values(board), 1 if board.turn == WHITE else -1
            for move in board.legal_moves:
                after = board.copy()
                after.push(move)
                taken = sum(after.prisoners) - sum(board.prisoners)
                captures += taken > 0
                symbols = symbols_of(after, settings, *as_liberties(board, outputs))
                found, _ = forward(settings.architecture, free, symbols, past)
                value = sign * value_of(after, found, value_table(0.4, 0.4)) + 0.4 * taken
                at = index_of(move, rows, cols) if move else -1
                assert rated[at] == pytest.approx(value, abs=1e-4)
        board.push(int(rng.choice(list(board.legal_moves)[:-1] or [0])))
    assert captures > 2


@pytest.mark.parametrize(
    "options",
    [{}, {"mixture": {"T": 2, "F": 1}}, {"colour": True}, {"recurrent": True}],
)
def test_gradient_of_a_game_is_that_of_the_definition(options):
    """Three positions of a made-up game, lambda-returns written out by hand."""
    architecture, rng = Architecture(**options), np.random.default_rng(0)
    free, pack = rng.normal(0, 0.3, architecture.size), packing(architecture)
    rows = cols = 4
    n, plies = (rows + 2) * (cols + 1) + 1, 2
    xs, stones = np.full((plies + 1, n), 13), np.full((plies + 1, n), 3)
    outs = np.zeros((plies + 1, n, 8), np.float32)
    classes = np.full(n, -1)
    cells = [(r + 1) * (cols + 1) + c + 1 for r in range(rows) for c in range(cols)]
    symbols = rng.integers(0, 13, (plies + 1, rows, cols))
    classes[cells] = rng.integers(0, 5, rows * cols)
    pasts = np.zeros((plies + 1 if architecture.recurrent else 0, n, 12), np.float32)
    game = outputs_of(architecture, free, symbols)
    for t in range(plies + 1):
        x = symbols[t].ravel()
        xs[t, cells], outs[t, cells, :7] = x, game[t][0]
        if architecture.recurrent and t > 0:
            pasts[t, cells] = game[t - 1][1]
        stones[t, cells] = np.where(x == 12, EMPTY, np.where(x < 6, WHITE, BLACK))
    errors = np.zeros((plies + 1, rows * cols, 7))
    aim = np.eye(5)[classes[cells]]
    for t in range(plies, -1, -1):
        for i, p in enumerate(cells):
            if t == 0:
                aim[i] = 0.1 * implied_classes(stones[1, p], outs[1, p]) + 0.9 * aim[i]
            for k in READS[int(stones[t, p])]:
                errors[t, i, k] = target_table(0.4)[k] @ aim[i] - outs[t, p, k]

    def weighted(at: np.ndarray) -> float:
        """Return the net inputs of all outputs, weighted by their errors."""
        found = np.array([outputs for outputs, _ in outputs_of(architecture, at, symbols)])
        return float((np.log(found / (1 - found)) * errors).sum())

    grads = np.zeros(pack.shape, np.float32)
    targets, offset = target_table(0.4).astype(np.float32), make_scratch(rows, cols).work.offset
    played, board = (plies, xs, pasts, stones, outs, classes), (offset, rows, cols)
    net = split(pack.expand(free).astype(np.float32))
    gk.td_gradient(net, targets, 0.9, played, board, split(grads))
    learned = pack.collect(grads)
    for part in architecture.slices.values():
        for _ in range(3):
            step = np.zeros(architecture.size)
            step[part] = rng.normal(0, 1e-5, part.stop - part.start)
            numeric = (weighted(free + step) - weighted(free - step)) / 2
            assert learned @ step == pytest.approx(numeric, rel=1e-3, abs=1e-9)


def outputs_of(architecture: Architecture, free: np.ndarray, boards: np.ndarray) -> list:
    """Return the outputs and hidden units of every position of a game."""
    found, past = [], None
    for symbols in boards:
        outputs, hidden = forward(architecture, free, symbols, past)
        past = hidden if architecture.recurrent else None
        found.append((outputs.reshape(-1, 7), hidden.reshape(-1, architecture.hidden)))
    return found


def implied_classes(state: int, out: np.ndarray) -> np.ndarray:
    """Return the probabilities of the final classes that a vertex's outputs imply."""
    z, _, *eyes = (float(out[k]) for k in (READS[state][0], 0, *READS[state][1:]))
    white = eyes[0] if state != WHITE else 0.0
    black = eyes[-1] if state != BLACK else 0.0
    likely = np.maximum([white, z - white, 0, 1 - z - black, black], 0)
    return likely / likely.sum()


def test_final_classes():
    s = new_state(3, 4)
    for p, colour in ((6, BLACK), (7, BLACK), (12, BLACK), (11, BLACK), (9, WHITE), (14, WHITE)):
        play_move(s, p, colour)
    classes = np.empty(s.shape[1], np.int64)
    gk.final_classes(s, classes)
    assert classes[[6, 9, 8]].tolist() == [gk.BLACK_STONE, gk.WHITE_STONE, gk.NOBODY]
    for p in (8, 13, 18):
        play_move(s, p, BLACK)
    gk.final_classes(s, classes)
    assert classes[[16, 17, 19]].tolist() == [gk.BLACK_POINT, gk.BLACK_POINT, gk.NOBODY]
