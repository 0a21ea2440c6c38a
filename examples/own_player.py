"""Play a match between a player of your own and GNU Go, or any other player."""

import sys

import tengen


class Corners:
    name = "corners"

    def choose(self, board: tengen.Board, rng: object) -> tengen.Point:
        points = [point for point in board.legal_moves if point] or [board.point("pass")]
        return min(points, key=lambda p: min(p.row % 8, 4) + min(p.col % 8, 4) if p else 0)


print(tengen.play_match(Corners(), sys.argv[1] if len(sys.argv) > 1 else "gnugo", games=2))
