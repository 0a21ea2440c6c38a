"""A game in progress, for gtp, web and terminal: session, clock, judging, endgame and SGF.

`session` holds and saves the state of a game, `clock` keeps the time of both sides, `judging` finds
dead stones and whether the game is over, `endgame` helps players to finish it, `sgf` writes it.
Nothing is imported here, so that a GTP engine answers before the board is loaded.
"""
