"""The kernels of both tree searches. The search by playouts runs entirely inside one kernel.

Its tree is two arrays with a row per node: `ti` (int32: T_MOVE, T_FIRST child, T_COUNT) and
`tf` (float64: visits, wins, the same for RAVE, prior visits and wins, policy probability, score
sum, evaluation). The children of a node are contiguous, so that choosing among them reads memory
in order. A node's numbers are from the view of the side that made the move into it. Node 0 is the
root.

A kernel cannot call a model. Where one is used, `search` stops at every node it has just expanded,
leaves its number in meta[M_ASKS], its position in `s` and the meta[M_DEPTH] moves that led there
from meta[M_LINE] on, and is called again once the answers are written.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from tengen.arrays import (
    Arrays,
    BoolArray,
    Float32Array,
    FloatArray,
    Int32Array,
    IntArray,
    UInt64Array,
)
from tengen.board.kernels import (
    area_score,
    copy_row,
    copy_state,
    is_allowed,
    near,
    play_move,
    point_at,
    point_of,
    seed_stream,
)
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTIES,
    EMPTY,
    HEAD,
    LAST,
    N_EMPTY,
    PASS,
    PASSES,
    ROWS,
    SCALARS,
    TURN,
)
from tengen.board.playout_kernels import (
    HEAD_,
    RECORD,
    SIZE_,
    U0,
    V_RNG,
    V_SIZE,
    U,
    atari,
    final_score,
    heavy_playout,
    is_playable,
    liberties_after,
    load,
    shape_index,
)
from tengen.board.playout_kernels import near as near_record
from tengen.board.tactics_kernels import is_own_eye
from tengen.jit import kernel

T_MOVE, T_FIRST, T_COUNT, T_WIDTH = 0, 1, 2, 3
F_N, F_W, _F_RN, _F_RW, F_PN, F_PW, F_POLICY, F_SCORE, F_EVAL, F_WIDTH = range(10)
M_USED, _M_SIMS, M_ASKS, M_DEPTH, M_LINE = 0, 1, 2, 3, 4

EXPAND = 2.0
"""Visits after which a leaf gets children."""
_RAVE = 2000.0
"""Visits of a move at which RAVE, with many samples, has half of the weight."""
_POLICY, _SCORE, _MIX = 0.6, 0.05, 0.5
"""Weights of the policy's prior, of the margin in a result, and of the evaluator's value."""
_PRIOR = 10.0
"""Scale of the built-in priors, in visits."""
_MAX_DEPTH = 400
M_WIDTH = M_LINE + _MAX_DEPTH + 2
NO_EVAL = -1.0


@kernel
def _near_last(s: IntArray, dist: IntArray, queue: IntArray) -> None:
    """Fill `dist` with the steps (1 to 3, else 4) from the last move; none within a block."""
    n = s.shape[1]
    for i in range(n):
        dist[i] = 4
    last = s[SCALARS, LAST]
    if last <= 0:
        return
    width = s[SCALARS, COLS] + 1
    dist[last] = 0
    queue[0] = last
    head, tail = 0, 1
    while head < tail:
        p = queue[head]
        head += 1
        for k in range(4):
            q = near(p, k, width)
            c = s[COLOUR, q]
            if c == BORDER:
                continue
            joined = c != EMPTY and s[COLOUR, p] == c and s[HEAD, p] == s[HEAD, q]
            d = dist[p] + (0 if joined else 1)
            if d < dist[q] and d < 4:
                dist[q] = d
                if tail < queue.shape[0]:
                    queue[tail] = q
                    tail += 1


@kernel
def _lonely(s: IntArray, row: int, col: int) -> bool:
    """Return whether no stone is within three steps of a point."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    for dr in range(-3, 4):
        for dc in range(-3, 4):
            r, c = row + dr, col + dc
            if abs(dr) + abs(dc) <= 3 and 0 <= r < rows and 0 <= c < cols:
                if s[COLOUR, point_of(r, c, cols)] != EMPTY:
                    return False
    return True


@kernel
def _prior(
    s: IntArray, b: UInt64Array, p: int, colour: int, width: int, shapes: BoolArray, dist: IntArray,
    row_out: FloatArray,
) -> None:  # fmt: skip
    """Write built-in prior visits and wins for a move into a tree row."""
    o = U(p) * RECORD
    u = U(colour)
    visits, wins = 1.0, 0.5
    gain = 0
    rescue = False
    for k in range(4):
        q = near_record(o, k, width)
        c = b[q]
        if c != U0 and c != U(3):
            h = b[q + HEAD_]
            if atari(b, h):
                if c != u:
                    gain += np.int64(b[h + SIZE_])
                else:
                    rescue = True
    libs = liberties_after(b, o, u, width)
    if gain > 0:
        bonus = 1.5 if gain == 1 else 3.0
        visits += bonus
        wins += bonus
    elif rescue and libs >= 2:
        visits += 1.5
        wins += 1.5
    if libs <= 1 and gain == 0:
        visits += 1.5
    if shapes[shape_index(b, o, width)]:
        visits += 1.0
        wins += 1.0
    d = dist[p]
    if d < 4:
        bonus = 2.4 if d == 1 else 2.0 if d == 2 else 0.8
        visits += bonus
        wins += bonus * 0.9
    cols = s[SCALARS, COLS]
    row, col = p // (cols + 1) - 1, p % (cols + 1) - 1
    line = min(row, col, s[SCALARS, ROWS] - 1 - row, cols - 1 - col)
    if line < 3 and _lonely(s, row, col):
        visits += 1.0
        if line == 2:
            wins += 1.0
    row_out[F_PN] = visits * _PRIOR
    row_out[F_PW] = wins * _PRIOR


@kernel
def _expand(
    node: int, s: IntArray, game: tuple[IntArray, int, float],
    tree: tuple[Int32Array, FloatArray, IntArray], shapes: BoolArray, scratch: Arrays,
) -> None:  # fmt: skip
    """Give a leaf its children: all sensible legal moves and the pass, with priors."""
    table, ko_rule, komi = game
    ti, tf, meta = tree
    b, empty, v, dist, queue = scratch
    colour = s[SCALARS, TURN]
    width = U((s[SCALARS, COLS] + 1) * 8)
    load(s, b, empty, v)
    _near_last(s, dist, queue)
    first = meta[M_USED]
    count = 0
    for i in range(s[SCALARS, N_EMPTY]):
        p = s[EMPTIES, i]
        if is_playable(b, U(p) * RECORD, U(colour), width) and is_allowed(
            s, table, ko_rule, p, colour
        ):
            child = first + count
            ti[child, T_MOVE] = p
            ti[child, T_COUNT] = 0
            tf[child, :] = 0.0
            tf[child, F_EVAL] = NO_EVAL
            _prior(s, b, p, colour, width, shapes, dist, tf[child])
            count += 1
    # Passing is bad while there are other moves, unless it ends a game that is won.
    child = first + count
    ti[child, T_MOVE] = PASS
    ti[child, T_COUNT] = 0
    tf[child, :] = 0.0
    tf[child, F_EVAL] = NO_EVAL
    tf[child, F_PN] = 2.0 * _PRIOR
    tf[child, F_PW] = 0.2 * _PRIOR
    if s[SCALARS, PASSES] >= 1:
        margin = area_score(s) - komi
        if (margin > 0) == (colour == BLACK):
            tf[child, F_PW] = 2.0 * _PRIOR
    count += 1
    ti[node, T_FIRST] = first
    ti[node, T_COUNT] = count
    meta[M_USED] = first + count


@kernel
def _choose(node: int, ti: Int32Array, tf: FloatArray, guided: bool) -> int:
    """Return the child with the best mixture of results, RAVE, priors and policy."""
    first, count = ti[node, T_FIRST], ti[node, T_COUNT]
    total = tf[node, F_N]
    root_total = math.sqrt(total + 1.0)
    best, best_value = first, -1e9
    for c in range(first, first + count):
        n = tf[c, F_N] + tf[c, F_PN]
        value = (tf[c, F_W] + tf[c, F_PW]) / n
        rn = tf[c, _F_RN]
        if rn > 0.0:
            beta = rn / (rn + n + rn * n / _RAVE)
            value += beta * (tf[c, _F_RW] / rn - value)
        if guided:
            value += _POLICY * tf[c, F_POLICY] * root_total / (1.0 + tf[c, F_N])
        if value > best_value:
            best, best_value = c, value
    return best


_STOP = -1
"""Instead of a depth: the tree is full, or the models are asked."""


@kernel
def _go_down(
    s: IntArray, game: tuple[IntArray, int, float], tree: tuple[Int32Array, FloatArray, IntArray],
    shapes: BoolArray, ask: bool, way: tuple[IntArray, IntArray], scratch: Arrays,
) -> int:  # fmt: skip
    """Play from the root to a leaf, which may get children; return its depth, or _STOP.

    The nodes and who moved to them are left in `way`.
    """
    ti, tf, meta = tree
    path, movers = way
    most_children = s[SCALARS, ROWS] * s[SCALARS, COLS] + 1
    node, depth = np.int64(0), 0
    path[0] = 0
    while True:
        if ti[node, T_COUNT] == 0:
            if s[SCALARS, PASSES] >= 2 or depth >= _MAX_DEPTH:
                return depth
            if tf[node, F_N] < EXPAND and node != 0:
                return depth
            if meta[M_USED] + most_children > ti.shape[0]:
                return _STOP if node == 0 else depth
            _expand(node, s, game, tree, shapes, scratch)
            if ask:
                meta[M_ASKS] = node
                meta[M_DEPTH] = depth
                for i in range(depth):
                    meta[M_LINE + i] = ti[path[i + 1], T_MOVE]
                return _STOP
        node = _choose(node, ti, tf, ask)
        movers[depth] = s[SCALARS, TURN]
        depth += 1
        path[depth] = node
        play_move(s, np.int64(ti[node, T_MOVE]), s[SCALARS, TURN])


@kernel
def _give_back(
    tree: tuple[Int32Array, FloatArray, IntArray], way: tuple[IntArray, IntArray], depth: int,
    turn: int, black: float, score: float, amaf: IntArray,
) -> None:  # fmt: skip
    """Add a result, `black` for a win of Black, to the nodes of a path and to their siblings.

    `amaf` has who first played each point; `turn` is to move at the root.
    """
    ti, tf, _ = tree
    path, movers = way
    for d in range(depth, -1, -1):
        node = path[d]
        mover = movers[d - 1] if d > 0 else 3 - turn
        tf[node, F_N] += 1.0
        tf[node, F_W] += black if mover == BLACK else 1.0 - black
        tf[node, F_SCORE] += score
        first, count = ti[node, T_FIRST], ti[node, T_COUNT]
        following = 3 - mover
        win = black if following == BLACK else 1.0 - black
        for c in range(first, first + count):
            p = ti[c, T_MOVE]
            if p != PASS and amaf[p] == following:
                tf[c, _F_RN] += 1.0
                tf[c, _F_RW] += win
        if d > 0:
            amaf[ti[node, T_MOVE]] = mover


@kernel(makes_arrays=True)
def search(
    root: IntArray, game: tuple[IntArray, int, float],
    tree: tuple[Int32Array, FloatArray, IntArray], shapes: BoolArray, ownership: Int32Array,
    seed: int, sims: int, ask: bool, s: IntArray,
) -> int:  # fmt: skip
    """Run up to `sims` playouts; return how many were completed.

    `game` has the table of earlier positions, the ko rule and komi, `tree` its arrays (ti, tf,
    meta). Stops early when the tree is full, or, with `ask`, at a node for the models (in
    meta[M_ASKS]).
    """
    _, tf, meta = tree
    komi = game[2]
    rows, cols = root[SCALARS, ROWS], root[SCALARS, COLS]
    points = root.shape[1]
    width = U((cols + 1) * 8)
    b = np.zeros(points * 8, np.uint64)
    empty = np.zeros(points, np.uint64)
    v = np.zeros(V_SIZE, np.uint64)
    limit = 3 * rows * cols
    trace = np.zeros(limit + 1, np.uint64)
    rng = np.zeros(1, np.uint64)
    path = np.zeros(_MAX_DEPTH + 2, np.int64)
    way = path, np.zeros(_MAX_DEPTH + 2, np.int64)
    scratch = b, empty, v, np.zeros(points, np.int64), np.zeros(points * 2, np.int64)
    amaf = np.zeros(points, np.int64)
    meta[M_ASKS] = -1
    done = 0
    while done < sims:
        copy_state(root, s)
        depth = _go_down(s, game, tree, shapes, ask, way, scratch)
        if depth == _STOP:
            return done
        # Play on and count.
        plies = 0
        to_move = s[SCALARS, TURN]
        if s[SCALARS, PASSES] >= 2:
            score = area_score(s) - komi
        else:
            load(s, b, empty, v)
            seed_stream(rng, seed, meta[_M_SIMS])
            v[V_RNG] = rng[0]
            plies = heavy_playout(b, empty, v, U(to_move), width, limit, trace, shapes)
            score = final_score(b, rows, cols, ownership) - komi
        meta[_M_SIMS] += 1
        black = 1.0 if score > 0 else 0.5 if score == 0 else 0.0
        squashed = 0.5 + 0.5 * score / (abs(score) + 0.1 * rows * cols)
        black += _SCORE * (squashed - black)
        for d in range(depth, -1, -1):  # the models were asked when a position got its children
            if tf[path[d], F_EVAL] != NO_EVAL:
                black += _MIX * (tf[path[d], F_EVAL] - black)
                break
        # Record who first played each point; going backwards, earlier moves overwrite later ones.
        for i in range(points):
            amaf[i] = 0
        for i in range(plies - 1, -1, -1):
            p = np.int64(trace[U(i)] // RECORD)
            amaf[p] = to_move if i % 2 == 0 else 3 - to_move
        _give_back(tree, way, depth, root[SCALARS, TURN], black, score, amaf)
        done += 1
    return done


@kernel(makes_arrays=True)
def keep_subtree(
    ti: Int32Array, tf: FloatArray, meta: IntArray, node: int, new_ti: Int32Array,
    new_tf: FloatArray,
) -> None:  # fmt: skip
    """Copy the tree below `node` into empty arrays of the same size; its row becomes the root."""
    origin = np.zeros(ti.shape[0], np.int32)
    origin[0] = node
    copy_row(ti[node], new_ti[0])
    copy_row(tf[node], new_tf[0])
    used = 1
    done = 0
    while done < used:
        old = origin[done]
        count = ti[old, T_COUNT]
        if count > 0:
            first = ti[old, T_FIRST]
            new_ti[done, T_FIRST] = used
            for c in range(first, first + count):
                origin[used] = c
                copy_row(ti[c], new_ti[used])
                copy_row(tf[c], new_tf[used])
                used += 1
        done += 1
    meta[M_USED] = used


# ----- Network search: descent and backup in the tree of `network_tree`, likely moves -----

NOBODY = -1
"""Parent of the root, and child of an edge that was never taken."""
_EXPLORE, _EXPLORE_GROWTH, _EXPLORE_BASE = 1.0, 0.45, 500.0
"""Weight of a move's prior, and how it grows, slowly, with the visits of a node."""
_URGENCY = 0.2
"""First-play urgency: how far an untried move is valued below its position."""


@kernel
def walk(
    nodes: Arrays, edges: tuple[Int32Array, Float32Array, Int32Array], path: Int32Array
) -> tuple[int, int]:
    """Write the nodes from the root to a position to evaluate, or one that is over, to `path`.

    `nodes` and `edges` are those of a `NetworkTree`. Return the length of the path, and the edge
    below its last node that is to be opened, or NOBODY.
    """
    evaluated, over, turn, _, _, first, count, opened, explored, visits, waiting, sums = nodes
    _, edge_prior, edge_child = edges
    node, length = 0, 0
    path[0] = 0
    while evaluated[node] and not over[node]:
        total = visits[node] + waiting[node]
        growth = _EXPLORE + _EXPLORE_GROWTH * math.log1p(total / _EXPLORE_BASE)
        reach = growth * math.sqrt(total)
        side, start = turn[node], first[node]
        best, edge = -np.inf, start
        for e in range(start, start + opened[node]):
            child = edge_child[e]
            tried = visits[child] + waiting[child]
            worth = (side * sums[child, 0] - waiting[child]) / tried
            worth += np.float32(reach) * edge_prior[e] / (1 + tried)
            if worth > best:
                best, edge = worth, e
        if opened[node] < count[node]:
            e = start + opened[node]
            mean = side * sums[node, 0] / max(visits[node], 1)
            guess = mean - _URGENCY * math.sqrt(explored[node])
            # Ties go to the opened move, which is likelier.
            if guess + reach * np.float64(edge_prior[e]) > best:
                return length + 1, e
        node = edge_child[edge]
        length += 1
        path[length] = node
    return length + 1, NOBODY


@kernel
def descend(
    nodes: Arrays, edges: tuple[Int32Array, Float32Array, Int32Array], used: int, path: Int32Array
) -> int:
    """Walk to a position that is new, over or waiting; mark the nodes on the way as waiting.

    A new one becomes node `used`. Return the length of the path.
    """
    _, _, turn, parent, move, _, _, opened, explored, _, waiting, _ = nodes
    edge_move, edge_prior, edge_child = edges
    length, edge = walk(nodes, edges, path)
    if edge != NOBODY:
        node = path[length - 1]
        parent[used], move[used], turn[used] = node, edge_move[edge], -turn[node]
        edge_child[edge] = used
        opened[node] += 1
        explored[node] += edge_prior[edge]
        path[length] = used
        length += 1
    for i in range(length):
        waiting[path[i]] += 1
    return length


OWNERSHIP_SCALE = 127.0
"""Ownership is stored as int8."""


@kernel
def store_evaluation(
    node: int, ends: bool, found: tuple[FloatArray, FloatArray, IntArray, FloatArray], start: int,
    nodes: Arrays, edges: tuple[Int32Array, Float32Array, Int32Array],
) -> None:  # fmt: skip
    """Store an evaluated position, with its moves, likeliest first, from edge `start` on.

    `found` has its terms, owners, moves and priors; `nodes`, which of a tree's arrays they go to.
    """
    terms, owners, moves, priors = found
    evaluated, over, first, count, own, ownership = nodes
    edge_move, edge_prior, edge_child = edges
    first[node], count[node] = start, moves.shape[0]
    for i in range(moves.shape[0]):
        edge_move[start + i] = moves[i]
        edge_prior[start + i] = priors[i]
        edge_child[start + i] = NOBODY
    for k in range(terms.shape[0]):
        own[node, k] = terms[k]
    for p in range(owners.shape[0]):
        ownership[node, p] = np.int8(np.rint(owners[p] * OWNERSHIP_SCALE))
    evaluated[node] = True
    over[node] = ends


@kernel
def back_up(
    path: IntArray, waiting: Int32Array, visits: IntArray, sums: FloatArray, own: FloatArray
) -> None:
    """Add the value of the last node of a path to all its nodes; they no longer wait."""
    last = path[-1]
    for node in path:
        waiting[node] -= 1
        visits[node] += 1
        for k in range(sums.shape[1]):
            sums[node, k] += own[last, k]


@kernel
def keep_likely(
    s: IntArray, order: IntArray, priors: FloatArray, moves: IntArray, chances: FloatArray
) -> int:
    """Write the moves of `order` that fill no own eye, and the pass, with their priors.

    `order` is likeliest first, and read until a prior is zero. Return how many are kept.
    """
    rows, cols, colour = s[SCALARS, ROWS], s[SCALARS, COLS], s[SCALARS, TURN]
    count, passes = 0, False
    for index in order:
        if not priors[index] > 0:
            break
        point = PASS
        if index == rows * cols:
            passes = True
        else:
            point = point_at(index, cols)
            if is_own_eye(s, point, colour):
                continue
        moves[count], chances[count] = point, priors[index]
        count += 1
    if not passes:
        moves[count], chances[count] = PASS, priors[-1]
        count += 1
    return count
