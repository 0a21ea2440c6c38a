"""Play openings and learn from them by temporal differences; know no expert and no file.

A *memory* holds one opening: for each ply the inputs of the position after it, who had moved, in
which orientation it was read, and the gradient taken when it was learned from. All predictions are
compared from Black's view and in the board's own cells: `view` turns a network's outputs into that,
and errors are turned back for each remembered ply.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.kernels import is_legal, play_move
from tengen.board.layout_kernels import BLACK, COLOUR, EMPTY, HASH, PASS, SCALARS, TURN
from tengen.board.random_kernels import below, seed_stream, uniform
from tengen.jit import kernel
from tengen.learners.opening_td.candidate_kernels import captures, evaluate, rate_moves, repeats
from tengen.learners.opening_td.kernels import (
    add_inputs,
    best_orientation,
    constant_sums,
    finish_forward,
    hidden_slopes,
    position_keys,
    step_weights,
)

# One opening, ply by ply (plies first).
#   index, value, count   the inputs
#   side                  who had moved
#   orientation           in which the position was read
#   activity, slope, w2   hidden activity, slope of the outputs and second layer when learned from
#   output                what the network had said
#   move, best, chosen    the move, the best candidate's value (-1: not asked), its own value
#   hashes                of the positions before each ply and at the end, for superko
Memory = namedtuple(
    "Memory",
    "index value count side orientation activity slope w2 output move best chosen hashes",
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
    """Note the inputs of the position after `ply` and the network's present outputs for it."""
    friend = memory.side[ply]
    position_keys(s, friend, geometry, room.keys)
    orientation = best_orientation(room.keys)
    constant_sums(net, layout, room.fixed)
    _, n = evaluate(s, friend, komi, orientation, net, geometry, layout, room)
    memory.orientation[ply] = orientation
    memory.count[ply] = n
    memory.index[ply, :n] = room.index[:n]
    memory.value[ply, :n] = room.value[:n]
    memory.output[ply] = room.output


@kernel
def view(output, side, turned, out):
    """Write outputs from Black's view, those for each cell in the board's own cells."""
    if output.shape[0] == 1:
        out[0] = output[0] if side == BLACK else 1.0 - output[0]
        return
    for cell in range(turned.shape[0]):
        o = output[turned[cell]]
        out[cell] = o if side == BLACK else 1.0 - o


@kernel
def learn(memory, ply, target, net, geometry, layout, room, rate, trace):
    """Move the weights so that the prediction after `ply` comes closer to `target` (Black's view).

    Predicts again with the weights of the moment and takes the gradient there; with `trace` > 0
    the plies before, with the gradients they were learned with, follow with weight trace ** age.
    """
    constant_sums(net, layout, room.sums)
    n = memory.count[ply]
    add_inputs(net, memory.index[ply], memory.value[ply], n, room.sums)
    finish_forward(net, room.sums, memory.activity[ply], room.output)
    outputs = room.output.shape[0]
    for m in range(outputs):
        memory.slope[ply, m] = room.output[m] * (1.0 - room.output[m])
    memory.w2[ply] = net.w2
    orientation = memory.orientation[ply]
    view(room.output, memory.side[ply], geometry.turned[orientation], room.chances)
    for m in range(outputs):
        room.values[m] = target[m] - room.chances[m]
    weight = 1.0
    for t in range(ply, -1, -1):
        sign = 1.0 if memory.side[t] == BLACK else -1.0
        if outputs == 1:
            room.error[0] = sign * room.values[0] * memory.slope[t, 0]
        else:
            turned = geometry.turned[memory.orientation[t]]
            for cell in range(outputs):
                m = turned[cell]
                room.error[m] = sign * room.values[cell] * memory.slope[t, m]
        hidden_slopes(memory.w2[t], memory.activity[t], room.error, room.slopes)
        step_weights(
            net,
            layout,
            memory.index[t],
            memory.value[t],
            memory.count[t],
            memory.activity[t],
            room.error,
            room.slopes,
            rate * weight,
        )
        weight *= trace
        if weight == 0.0:
            break


@kernel
def _learn_from_next(memory, ply, net, geometry, layout, room, target, rate, trace):
    """Learn at the position before `ply` from what is predicted after it (already noted)."""
    orientation = memory.orientation[ply]
    view(memory.output[ply], memory.side[ply], geometry.turned[orientation], target)
    learn(memory, ply - 1, target, net, geometry, layout, room, rate, trace)


@kernel
def after_ply(s, memory, ply, net, komi, geometry, layout, room, target, rate, trace):
    """Note the position after `ply` and learn at the one before it; needed once after each ply."""
    _remember_inputs(s, memory, ply, net, komi, geometry, layout, room)
    if ply > 0:
        _learn_from_next(memory, ply, net, geometry, layout, room, target, rate, trace)


@kernel
def train_opening(
    s, net, komi, geometry, layout, memory, room, target, plies, rate, trace, explore, temperature,
    first_random, black, white, seed, game,
):  # fmt: skip
    """Play one opening from the empty board and learn after every ply but the last.

    The first `first_random` plies are drawn at random; `black` and `white` say who chooses after
    that. The last position is left in the memory for `learn` with the expert's verdict.
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
        after_ply(s, memory, ply, net, komi, geometry, layout, room, target, rate, trace)


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
