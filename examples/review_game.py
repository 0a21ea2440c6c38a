"""Review a game: which moves lost points, and what was better."""

import sys

import tengen

review = tengen.review(tengen.read_game(sys.argv[1]), quick=True)
print(review)
for move in review.mistakes():
    print(move.number, f"{move.points_lost:.1f} points lost")
