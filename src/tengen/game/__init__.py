"""One game being played: its session, clock, judge, end and SGF; for gtp, web and terminal.

`session` holds the state of a game and saves it, `clock` the time of both sides, `judging` says who
is dead and whether the game is over, `endgame` helps players to finish it, `sgf` writes it.
Nothing is imported here, so that a GTP engine answers before the board is loaded.
"""
