"""The fast kernels against the plain definition: evaluation, categories, candidates, gradient."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board.kernels import block_liberties, new_state, play_move
from tengen.board.layout_kernels import BLACK, COLOUR, COLS, EMPTY, HEAD, ROWS, SCALARS, TURN, WHITE
from tengen.learners.symmetry_network import evaluation_kernels as ek
from tengen.learners.symmetry_network import game_kernels as gk
from tengen.learners.symmetry_network import gradient_kernels as grk
from tengen.learners.symmetry_network.features import Categories, exchanged_inputs, stone_inputs
from tengen.learners.symmetry_network.imitation_kernels import from_mover
from tengen.learners.symmetry_network.network import Architecture, forward, gradient
from tengen.learners.symmetry_network.packing import Packing
from tengen.learners.symmetry_network.rewards import target_table, value_table

TABLE = value_table(0.4, 0.4).astype(np.float32)
TARGETS = target_table(0.4).astype(np.float32)


STACK = {"mixtures": ({"T": 4, "S": 2, "D": 2, "F": 2},) * 3}


def network(seed: int = 0, **options):
    architecture = Architecture(**options)
    free = np.random.default_rng(seed).normal(0, 0.3, architecture.size)
    return architecture, free, Packing(architecture).net(free)


def inside(field: np.ndarray, rows: int, cols: int) -> np.ndarray:
    return field[:-1].reshape(rows + 2, cols + 1, -1)[1:-1, 1:]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"colour": True},
        {"tied": False},
        {"steps": 2},
        {"categories": 12},
        {"single": True},
        {"tied": False, "mixtures": ({"T": 1},)},
    ],
)
def test_collect_is_the_transpose_of_flat(options):
    architecture = Architecture(**options)
    pack = Packing(architecture)
    rng = np.random.default_rng(1)
    free, flat = rng.normal(size=architecture.size), rng.normal(size=pack.size)
    assert (pack.flat(free) - pack.fixed) @ flat == pytest.approx(
        free @ pack.collect(flat), rel=1e-5
    )


def test_exchanged_weights_judge_the_exchanged_board():
    architecture, free, _ = network(5, categories=12)
    pack = Packing(architecture)
    rng = np.random.default_rng(0)
    s = new_state(5, 5)
    n = s.shape[1]
    flat = pack.flat(free)
    views = []
    symbols = rng.choice([i for i in range(26) if i != 13], (5, 5))
    for weights, board in ((flat, symbols), (pack.exchanged(flat), exchanged_of(symbols))):
        view, work = ek.make_view(n), ek.make_work(n, 6)
        view.x[:-1].reshape(7, 6)[1:-1, 1:] = board
        ek.evaluate(s, pack.split(weights), view, work, TABLE)
        views.append(inside(view.out, 5, 5)[..., :7])
    a, b = views
    assert np.abs(b[..., 0] - (1 - a[..., 0])).max() < 1e-6
    assert np.abs(b[..., 1] - (1 - a[..., 2])).max() < 1e-6
    assert np.abs(b[..., 3] - a[..., 4]).max() < 1e-6
    assert np.abs(b[..., 6] - a[..., 5]).max() < 1e-6
    assert np.array_equal(pack.exchanged(pack.exchanged(flat)), flat)


def exchanged_of(symbols: np.ndarray) -> np.ndarray:
    return np.array(exchanged_inputs(12))[symbols]


def test_tanh_is_accurate():
    x = np.linspace(-12, 12, 20001).astype(np.float32)
    out = x.copy()
    ek.tanh_all(out, len(out))
    assert np.abs(out - np.tanh(x.astype(np.float64))).max() < 5e-7


def slow_symbols(s: np.ndarray, outputs: np.ndarray, categories: Categories) -> np.ndarray:
    """Categorise by the definition: a block's liberties, summed one by one."""
    rows, cols = int(s[SCALARS, ROWS]), int(s[SCALARS, COLS])
    found = np.zeros(s.shape[1], np.int64)
    symbols = np.full((rows, cols), 12)
    for row in range(rows):
        for col in range(cols):
            p = (row + 1) * (cols + 1) + col + 1
            colour = s[COLOUR, p]
            if colour == EMPTY:
                continue
            n = block_liberties(s, p, found)
            z = sum(outputs[q, 0] if colour == WHITE else 1 - outputs[q, 0] for q in found[:n])
            e = sum(outputs[q, 3 if colour == WHITE else 4] for q in found[:n])
            (e1, e2), (o1, o2) = categories.eyes, categories.openings
            mode = categories.mode
            if mode == "liberties":
                kind = min(n, 6) - 1
            elif mode == "both":
                kind = min(n, 6) - 1 if e < e1 else 5 + min(n, 4) if e < e2 else 10 + (n > 3)
            elif e >= e2:
                kind = 5
            elif mode == "mixed":
                kind = n - 1 if n <= 2 else 4 if e >= e1 else min(n, 4) - 1
            elif e >= e1:
                kind = 3 + (z - e >= o1)
            else:
                kind = int(z - e >= o1) + int(z - e >= o2)
            symbols[row, col] = stone_inputs(kind)[1 if colour == BLACK else 0]
    return symbols


@pytest.mark.parametrize(
    ("rows", "cols", "mode", "options"),
    [
        (9, 9, "eyes", {}),
        (5, 7, "liberties", {}),
        (6, 6, "mixed", {}),
        (6, 6, "both", {"categories": 12}),
        (5, 5, "eyes", STACK),
        (5, 5, "eyes", {"steps": 2}),
    ],
)
def test_games_follow_the_definition(rows, cols, mode, options):
    """Along a random game: inputs, outputs and values, and every candidate by full evaluation."""
    architecture, free, net = network(2, **options)
    categories = Categories(mode=mode)
    cats = categories.packed()
    rng = np.random.default_rng(7)
    s = new_state(rows, cols)
    n = s.shape[1]
    now, base, other = ek.make_view(n), ek.make_view(n), ek.make_view(n)
    work, spare = ek.make_work(n, cols + 1), ek.make_work(n, cols + 1)
    points, values = np.zeros(n + 1, np.int64), np.zeros(n + 1)
    seen = np.zeros(1024, np.int64)
    captures = 0
    before, vacated = None, False
    for ply in range(90):
        ek.categorise(s, now, work, cats)
        total = ek.evaluate(s, net, now, work, TABLE)
        symbols = inside(now.x[:, None], rows, cols)[..., 0]
        if before is not None and ply % 5 == 0 and not vacated:
            assert np.array_equal(symbols, slow_symbols(s, before, categories))
        outputs, _ = forward(architecture, free, symbols)
        assert np.abs(outputs - inside(now.out, rows, cols)[..., :7]).max() < 1e-5
        stones = inside(s[COLOUR][:, None], rows, cols)[..., 0]
        plain = (TABLE[stones][..., :7] * outputs).sum() + TABLE[stones][..., 8].sum()
        assert total == pytest.approx(plain, abs=1e-4)
        count = gk.rate_moves(s, seen, net, cats, TABLE, 0.4, now, base, work, points, values)
        me = s[SCALARS, TURN]
        for p, value in zip(points[:count], values[:count], strict=True):
            t = s.copy()
            taken = play_move(t, p, me)
            captures += taken > 0
            ek.categorise(t, other, work, cats)
            full = ek.evaluate(t, net, other, spare, TABLE)
            assert value == pytest.approx(full + (0.4 if me == WHITE else -0.4) * taken, abs=1e-4)
        before = now.out.astype(np.float64)
        vacated = play_move(s, points[1 + rng.integers(count - 1)] if count > 1 else 0, me) > 0
    assert captures > 20


@pytest.mark.parametrize("options", [{}, STACK, {"steps": 2}, {"categories": 12}])
def test_gradient_of_a_game_is_that_of_the_definition(options):
    """Two positions of a made-up game, lambda-returns written out by hand."""
    architecture, free, net = network(3, **options)
    rng = np.random.default_rng(0)
    rows = cols = 4
    n = (rows + 2) * (cols + 1) + 1
    plies = 2
    xs = np.full((plies + 1, n), 13, np.uint8)
    stones = np.full((plies + 1, n), 3, np.uint8)
    outs = np.zeros((plies + 1, n, 8), np.float32)
    classes = np.full(n, -1)
    cells = [(r + 1) * (cols + 1) + c + 1 for r in range(rows) for c in range(cols)]
    symbols = rng.choice([i for i in range(architecture.inputs) if i != 13], (3, rows * cols))
    final = rng.integers(0, 5, rows * cols)
    expected = np.zeros(architecture.size)
    aim = np.eye(5)[final]
    all_outputs = []
    for t in range(plies + 1):
        outputs, _ = forward(architecture, free, symbols[t].reshape(rows, cols))
        all_outputs.append(outputs.reshape(-1, 7))
        for i, p in enumerate(cells):
            x = symbols[t, i]
            xs[t, p] = x
            stones[t, p] = EMPTY if x == 12 else WHITE if x < 6 or 13 < x < 20 else BLACK
            outs[t, p, :7] = outputs.reshape(-1, 7)[i]
            classes[p] = final[i]
    table = target_table(0.4)
    for t in range(plies, -1, -1):
        errors = np.zeros((rows * cols, 7))
        for i, p in enumerate(cells):
            if t == 0:
                q = np.zeros(5, np.float32)
                grk.decode(stones[1, p], outs[1], p, q)
                assert q.sum() == pytest.approx(1)
                aim[i] = 0.1 * q + 0.9 * aim[i]
            reads = {EMPTY: (0, 3, 4), BLACK: (2, 6), WHITE: (1, 5)}[int(stones[t, p])]
            for k in reads:
                errors[i, k] = table[k] @ aim[i] - all_outputs[t][i, k]
        board = symbols[t].reshape(rows, cols)
        expected += gradient(architecture, free, board, errors.reshape(rows, cols, 7))
    grads = np.zeros(Packing(architecture).size, np.float32)
    pack = Packing(architecture)
    into = pack.split(grads)
    grk.td_gradient(
        *((net, net), TARGETS, 0.9, plies, -1, xs, stones, outs, classes, rows, cols, False),
        (into, into),
    )
    learned = pack.collect(grads)
    assert np.abs(learned - expected).max() < 1e-4 * np.abs(expected).max()


def test_final_classes():
    s = new_state(3, 4)
    for p, colour in ((6, BLACK), (7, BLACK), (12, BLACK), (11, BLACK), (9, WHITE), (14, WHITE)):
        play_move(s, p, colour)
    classes = np.empty(s.shape[1], np.int64)
    grk.final_classes(s, classes)
    assert s[HEAD, 6] in (6, 7, 11, 12)
    assert classes[6] == grk.BLACK_STONE
    assert classes[9] == grk.WHITE_STONE
    assert classes[8] == grk.NOBODY
    play_move(s, 8, BLACK)
    play_move(s, 13, BLACK)
    play_move(s, 18, BLACK)
    grk.final_classes(s, classes)
    assert classes[16] == classes[17] == grk.BLACK_POINT
    assert classes[19] == grk.NOBODY


def test_categories_are_those_of_the_table():
    one = 1 << 20

    def sort(mode: str, liberties: int, openings: float, eyes: float) -> int:
        territory = int((openings + eyes) * one) + liberties * ek.COUNT
        return int(ek.category(territory, int(eyes * one), Categories(mode=mode).packed())) + 1

    table = {(0.2, 0.2): 1, (1.0, 0.2): 2, (2.0, 0.2): 3, (0.2, 1.0): 4, (2.0, 1.0): 5}
    for (openings, eyes), kind in table.items():
        assert sort("eyes", 4, openings, eyes) == kind
    assert sort("eyes", 1, 0.0, 2.0) == 6
    assert [sort("liberties", n, 0.0, 0.0) for n in (1, 3, 6, 9)] == [1, 3, 6, 6]
    assert [sort("mixed", n, 0.0, 1.0) for n in (1, 2, 5)] == [1, 2, 5]
    assert [sort("both", n, 0.0, e) for n, e in ((6, 0), (1, 1), (4, 1), (3, 2), (4, 2))] == [
        6, 7, 10, 11, 12,
    ]  # fmt: skip
    assert sort("none", 3, 1.0, 1.0) == 1


def test_inputs_of_stones_have_one_numbering():
    for kind in range(12):
        white, black = stone_inputs(kind)
        assert ek.symbol(kind, WHITE) == white and ek.symbol(kind, BLACK) == black
    for x in range(14):
        assert from_mover(from_mover(x, BLACK), BLACK) == from_mover(x, WHITE) == x
