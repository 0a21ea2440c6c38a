"""A game in progress, for gtp, web and terminal: session, clock and endgame.

`session` holds and saves the state of a game, `clock` keeps the time of both sides, `endgame` helps
players to finish it. Protocols and players are not known here.
Nothing is imported here, so that a GTP engine answers before the board is loaded.
"""
