"""The Go Text Protocol, as an engine and as a client, and KataGo's analysis protocol.

`protocol` reads and writes lines; `engine`, `commands` and `thinking` put a player behind a game;
`client` and `remote_game` drive any engine as a subprocess. Nothing is imported here, so that an
engine answers before the board is loaded.
"""
