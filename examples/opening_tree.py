"""Print the opening tree of a collection: what was played, how often, who won."""

import sys

import tengen
from tengen.explorer import explore, index_of_games

openings = index_of_games([sys.argv[1]])
board = tengen.Board(int(next(iter(openings.about.sizes)).split("x")[0]))
for _ in range(3):
    answer = explore(openings, board, limit=3)
    print(", ".join(f"{move.name} {move.count}" for move in answer.moves))
    board.play(answer.moves[0].name)
