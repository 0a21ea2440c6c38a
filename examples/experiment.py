"""A small experiment with a verdict: does the claim "random play on 5x5 is even" hold?"""

import tengen
from tengen.board import playouts
from tengen.lab.verdicts import verdict
from tengen.statistics import wilson

games = 1000
wins = int((playouts(tengen.Board(5, komi=0.0), games, seed=1).scores > 0).sum())
word = verdict(0.5, wins / games, wilson(wins, games), aim=0)
print(f"Black wins {wins / games:.1%}, verdict: {word}")
