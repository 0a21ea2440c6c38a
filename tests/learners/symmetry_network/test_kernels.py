"""The fast kernels against the plain definition: evaluation, categories, candidates, gradient."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board.kernels import block_liberties, new_state, play_move
from tengen.board.layout_kernels import BLACK, COLOUR, COLS, EMPTY, HEAD, ROWS, SCALARS, TURN, WHITE
from tengen.learners.symmetry_network import SymmetrySettings
from tengen.learners.symmetry_network import game_kernels as gk
from tengen.learners.symmetry_network import kernels as ek
from tengen.learners.symmetry_network import network as definition
from tengen.learners.symmetry_network.network import (
    Architecture,
    forward,
    gradient,
    target_table,
    value_table,
)
from tengen.learners.symmetry_network.training import Packing, split

TABLE = value_table(0.4, 0.4).astype(np.float32)
TARGETS = target_table(0.4).astype(np.float32)


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
        {"tied": False, "mixture": {"T": 1}},
    ],
)
def test_collect_is_the_transpose_of_flat(options):
    architecture = Architecture(**options)
    pack = Packing(architecture)
    rng = np.random.default_rng(1)
    free, flat = rng.normal(size=architecture.size), rng.normal(size=pack.size)
    assert pack.flat(free) @ flat == pytest.approx(free @ pack.collect(flat), rel=1e-5)


def test_kernels_and_definition_agree_on_numbers():
    for name in ("INPUTS", "EMPTY_POINT", "OFF_BOARD", "BY_LIBERTIES"):
        assert getattr(ek, name) == getattr(definition, name)


def test_tanh_is_accurate():
    x = np.linspace(-12, 12, 20001).astype(np.float32)
    out = x.copy()
    ek.tanh_all(out, len(out))
    assert np.abs(out - np.tanh(x.astype(np.float64))).max() < 5e-7


def slow_symbols(s: np.ndarray, outputs: np.ndarray, settings: SymmetrySettings) -> np.ndarray:
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
            (e1, e2), (o1, o2) = settings.eyes, settings.openings
            if settings.categories == "liberties":
                kind = min(n, 6) - 1
            elif e >= e2:
                kind = 5
            elif e >= e1:
                kind = 3 + (z - e >= o1)
            else:
                kind = int(z - e >= o1) + int(z - e >= o2)
            symbols[row, col] = kind + (6 if colour == BLACK else 0)
    return symbols


@pytest.mark.parametrize(
    ("rows", "cols", "categories", "options"),
    [(9, 9, "eyes", {}), (5, 7, "liberties", {}), (5, 5, "eyes", {"mixture": {"T": 2, "F": 1}})],
)
def test_games_follow_the_definition(rows, cols, categories, options):
    """Along a random game: inputs, outputs and values, and every candidate by full evaluation."""
    architecture, free, net = network(2, **options)
    settings = SymmetrySettings(categories=categories)
    cats = settings.sorting
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
            assert np.array_equal(symbols, slow_symbols(s, before, settings))
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


@pytest.mark.parametrize("options", [{}, {"mixture": {"T": 2, "F": 1}}])
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
    symbols = rng.integers(0, 13, (3, rows * cols))
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
            stones[t, p] = EMPTY if x == 12 else WHITE if x < 6 else BLACK
            outs[t, p, :7] = outputs.reshape(-1, 7)[i]
            classes[p] = final[i]
    table = target_table(0.4)
    for t in range(plies, -1, -1):
        errors = np.zeros((rows * cols, 7))
        for i, p in enumerate(cells):
            if t == 0:
                q = np.zeros(5, np.float32)
                gk.decode(stones[1, p], outs[1], p, q)
                assert q.sum() == pytest.approx(1)
                aim[i] = 0.1 * q + 0.9 * aim[i]
            reads = {EMPTY: (0, 3, 4), BLACK: (2, 6), WHITE: (1, 5)}[int(stones[t, p])]
            for k in reads:
                errors[i, k] = table[k] @ aim[i] - all_outputs[t][i, k]
        board = symbols[t].reshape(rows, cols)
        expected += gradient(architecture, free, board, errors.reshape(rows, cols, 7))
    grads = np.zeros(Packing(architecture).size, np.float32)
    pack = Packing(architecture)
    gk.td_gradient(
        net, TARGETS, 0.9, plies, xs, stones, outs, classes, rows, cols, False, split(grads)
    )
    learned = pack.collect(grads)
    assert np.abs(learned - expected).max() < 1e-4 * np.abs(expected).max()


def test_final_classes():
    s = new_state(3, 4)
    for p, colour in ((6, BLACK), (7, BLACK), (12, BLACK), (11, BLACK), (9, WHITE), (14, WHITE)):
        play_move(s, p, colour)
    classes = np.empty(s.shape[1], np.int64)
    gk.final_classes(s, classes)
    assert s[HEAD, 6] in (6, 7, 11, 12)
    assert classes[6] == gk.BLACK_STONE
    assert classes[9] == gk.WHITE_STONE
    assert classes[8] == gk.NOBODY
    play_move(s, 8, BLACK)
    play_move(s, 13, BLACK)
    play_move(s, 18, BLACK)
    gk.final_classes(s, classes)
    assert classes[16] == classes[17] == gk.BLACK_POINT
    assert classes[19] == gk.NOBODY


def test_categories_are_those_of_the_table():
    one = 1 << 20

    def sort(mode: str, liberties: int, openings: float, eyes: float) -> int:
        territory = int((openings + eyes) * one) + liberties * ek.COUNT
        cats = SymmetrySettings(categories=mode).sorting
        return int(ek.category(territory, int(eyes * one), cats)) + 1

    table = {(0.2, 0.2): 1, (1.0, 0.2): 2, (2.0, 0.2): 3, (0.2, 1.0): 4, (2.0, 1.0): 5}
    for (openings, eyes), kind in table.items():
        assert sort("eyes", 4, openings, eyes) == kind
    assert sort("eyes", 1, 0.0, 2.0) == 6
    assert [sort("liberties", n, 0.0, 0.0) for n in (1, 3, 6, 9)] == [1, 3, 6, 6]
