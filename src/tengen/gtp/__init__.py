"""Speak the Go Text Protocol: as an engine for other programs, and as a client of other engines.

`protocol` reads and writes lines, `engine` and the `*_commands` modules put a stateless player
behind a game; `client` and `remote_game` drive any engine as a subprocess. Nothing is imported
here, so that an engine answers before the board is loaded.
"""
