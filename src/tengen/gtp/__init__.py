"""Speak the Go Text Protocol: as an engine for other programs, and as a client of other engines.

`protocol` knows lines, `game` the state of a session, `engine` and the `*_commands` modules put a
stateless player behind both; `client` and `session` drive any engine as a subprocess. Nothing is
imported here, so that an engine answers before the board is loaded.
"""
