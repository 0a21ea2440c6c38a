"""The Go Text Protocol, as an engine and as a client, and KataGo's analysis protocol.

`protocol` reads and writes lines; `engine` and `commands` let a player play over GTP; `client`
drives any engine as a subprocess. Players are known by their contracts alone. Nothing is imported
here, so that an engine answers before the board is loaded.
"""
