"""Play openings and learn from them by temporal differences.

A *memory* holds one opening: for each ply the inputs of the position after it, who had moved, and
the gradient taken when it was learned from. Predictions are compared from Black's view.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.kernels import copy_row, is_legal, play_move
from tengen.board.layout_kernels import BLACK, COLOUR, EMPTY, HASH, PASS, SCALARS, TURN
from tengen.board.random_kernels import below, seed_stream, uniform
from tengen.jit import kernel
from tengen.learners.opening_td.kernels import (
    add_inputs,
    best_orientation,
    captures,
    constant_sums,
    evaluate,
    finish_forward,
    position_keys,
    rate_moves,
    repeats,
    step_weights,
)

# One opening, ply by ply (plies first).
#   index, value, count   the inputs
#   side                  who had moved
#   activity, slope, w2   hidden activity, slope of the output and second layer when learned from
#   output                the network's prediction
#   move, best, chosen    the move, the best candidate's value (-1: not asked), its own value
#   hashes                of the positions before each ply and at the end, for superko
Memory = namedtuple(
    "Memory",
    "index value count side activity slope w2 output move best chosen hashes",
)

NETWORK, RANDOM = 0, 1
"""Who chooses the moves of a side in a kernel's game."""


@kernel
def _draw_softmax(values, count, temperature, chances, rng):
    """Draw a candidate with chances that grow exponentially with its value."""
    top = values[0]
    for i in range(1, count):
        top = max(top, values[i])
    total = 0.0
    for i in range(count):
        chances[i] = np.exp((values[i] - top) / temperature)
        total += chances[i]
    left = uniform(rng) * total
    for i in range(count):
        left -= chances[i]
        if left < 0:
            return i
    return count - 1


@kernel
def choose(s, net, komi, geometry, layout, memory, ply, room, explore, temperature, rng):
    """Choose a move: the best, or with probability `explore` one drawn from a softmax.

    Returns a pass where there is no other move. Notes the best value in the memory.
    """
    count = rate_moves(s, net, komi, geometry, layout, memory.hashes, ply + 1, room)
    if count == 0:
        return PASS
    best = 0
    for i in range(1, count):
        if room.values[i] > room.values[best]:
            best = i
    memory.best[ply] = room.values[best]
    if explore > 0 and uniform(rng) < explore:
        best = _draw_softmax(room.values, count, temperature, room.chances, rng)
    memory.chosen[ply] = room.values[best]
    return room.moves[best]


@kernel
def choose_random(s, geometry, memory, ply, room, rng):
    """Choose any legal move but a pass with the same chance; a pass where there is no other."""
    colour = s[SCALARS, TURN]
    memory.best[ply] = -1.0
    memory.chosen[ply] = -1.0
    count = 0
    for cell in range(geometry.cells.shape[0]):
        p = geometry.cells[cell]
        if s[COLOUR, p] == EMPTY and is_legal(s, p, colour):
            taking = captures(s, p, colour)
            if taking and repeats(s, p, colour, memory.hashes, ply + 1, room.after):
                continue
            room.moves[count] = p
            count += 1
    return room.moves[below(rng, count)] if count > 0 else PASS


@kernel
def start(s, memory):
    """Begin an opening."""
    memory.hashes[0] = s[SCALARS, HASH]


@kernel
def play(s, memory, ply, move):
    """Play a move and note it."""
    memory.move[ply] = move
    memory.side[ply] = s[SCALARS, TURN]
    play_move(s, move, s[SCALARS, TURN])
    memory.hashes[ply + 1] = s[SCALARS, HASH]


@kernel
def _remember_inputs(s, memory, ply, net, komi, geometry, layout, room):
    """Note the inputs of the position after `ply` and the network's present output for it."""
    friend = memory.side[ply]
    position_keys(s, friend, geometry, room.keys)
    orientation = best_orientation(room.keys)
    constant_sums(net, layout, room.fixed)
    output, n = evaluate(s, friend, komi, orientation, net, geometry, layout, room)
    memory.count[ply] = n
    copy_row(room.index[:n], memory.index[ply, :n])
    copy_row(room.value[:n], memory.value[ply, :n])
    memory.output[ply] = output


@kernel
def view(output, side):
    """Return an output from Black's view."""
    return output if side == BLACK else 1.0 - output


@kernel
def learn(memory, ply, target, net, layout, room, rate, trace):
    """Move the weights so that the prediction after `ply` comes closer to `target` (Black's view).

    Predicts again with the present weights and takes the gradient there; with `trace` > 0 the plies
    before, with the gradients they were learned with, follow with weight trace ** age.
    """
    constant_sums(net, layout, room.sums)
    n = memory.count[ply]
    add_inputs(net, memory.index[ply], memory.value[ply], n, room.sums)
    output = finish_forward(net, room.sums, memory.activity[ply])
    memory.slope[ply] = output * (1.0 - output)
    memory.w2[ply] = net.w2
    error = target - view(output, memory.side[ply])
    weight = 1.0
    for t in range(ply, -1, -1):
        sign = 1.0 if memory.side[t] == BLACK else -1.0
        step_weights(
            net,
            layout,
            memory.index[t],
            memory.value[t],
            memory.count[t],
            memory.activity[t],
            memory.w2[t],
            sign * error * memory.slope[t],
            room.slopes,
            rate * weight,
        )
        weight *= trace
        if weight == 0.0:
            break


@kernel
def after_ply(s, memory, ply, net, komi, geometry, layout, room, rate, trace):
    """Note the position after `ply` and learn at the one before it; needed once after each ply."""
    _remember_inputs(s, memory, ply, net, komi, geometry, layout, room)
    if ply > 0:
        target = view(memory.output[ply], memory.side[ply])
        learn(memory, ply - 1, target, net, layout, room, rate, trace)


@kernel
def train_opening(
    s, net, komi, geometry, layout, memory, room, plies, rate, trace, explore, temperature,
    first_random, black, white, seed, game,
):  # fmt: skip
    """Play one opening from the empty board and learn after every ply but the last.

    The first `first_random` plies are drawn at random; `black` and `white` say who chooses after
    that. The last position stays in the memory for `learn` with the expert's score.
    """
    rng = np.empty(1, np.uint64)
    seed_stream(rng, seed, game)
    start(s, memory)
    for ply in range(plies):
        who = black if s[SCALARS, TURN] == BLACK else white
        if ply < first_random or who == RANDOM:
            move = choose_random(s, geometry, memory, ply, room, rng)
        else:
            move = choose(
                s, net, komi, geometry, layout, memory, ply, room, explore, temperature, rng
            )
        play(s, memory, ply, move)
        after_ply(s, memory, ply, net, komi, geometry, layout, room, rate, trace)


@kernel
def match_openings(
    states, moves, plies, komi, first_random, paired, seed, first_game,
    geometry, net_a, layout_a, room_a, net_b, layout_b, room_b, who_a, who_b, memory,
):  # fmt: skip
    """Play openings between A and B: A is Black in games of even number.

    `paired` games 2k and 2k + 1 share their random first plies. Fills final `states` and `moves`.
    """
    rng = np.empty(1, np.uint64)
    for g in range(states.shape[0]):
        s = states[g]
        game = first_game + g
        seed_stream(rng, seed, game // 2 if paired else game)
        start(s, memory)
        for ply in range(plies):
            if paired and ply == first_random:
                seed_stream(rng, seed ^ 0x5DEECE66D, game)
            a_moves = (s[SCALARS, TURN] == BLACK) == (game % 2 == 0)
            who = who_a if a_moves else who_b
            if ply < first_random or who == RANDOM:
                move = choose_random(s, geometry, memory, ply, room_a, rng)
            elif a_moves:
                move = choose(
                    s, net_a, komi, geometry, layout_a, memory, ply, room_a, 0.0, 1.0, rng
                )
            else:
                move = choose(
                    s, net_b, komi, geometry, layout_b, memory, ply, room_b, 0.0, 1.0, rng
                )
            play(s, memory, ply, move)
            moves[g, ply] = move
