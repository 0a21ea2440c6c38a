"""A small experiment with a verdict on the claim that Black wins 55 % of random games on 5x5."""

import tengen
from tengen.board import playouts
from tengen.lab.decisions import Estimate, decide
from tengen.lab.formatting import show_estimate

games = 1000
wins = int((playouts(tengen.Board(5, komi=0.0), games, seed=1).scores > 0).sum())
ours = Estimate.rate(wins, games)
word = decide(0.55, ours, no_effect=0.5, full=True)
print(f"Black wins {show_estimate(ours, '%')}, verdict: {word}")
