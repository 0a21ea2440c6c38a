"""Evaluate every position of a game with a network, in one batch."""

import sys

import tengen

record = tengen.read_game(sys.argv[1])
network = tengen.load_network("tengen-small")
boards = [board for board, _ in record.positions()]
for number, found in enumerate(network.evaluate(boards), 1):
    print(f"before move {number}: Black wins {found.win_probability:.0%}, {found.score:+.1f}")
