"""Faults of game records.

A `Fault` names a file, a game and a byte. A `Damage` is the exception of the lower layers, which
have only the byte offset.
"""

from __future__ import annotations

from dataclasses import dataclass

from tengen.errors import RecordError


@dataclass(frozen=True)
class Fault:
    """One problem of one game: refused (`repaired` False) or mended while reading."""

    file: str
    game: int | None
    """Number of the game in its file, from 1; None when the file as a whole is meant."""
    offset: int
    """Byte offset in the file (after decompression)."""
    reason: str
    repaired: bool = False

    def __str__(self) -> str:
        game = f"game {self.game}, " if self.game is not None else ""
        return f"{self.file}: {game}byte {self.offset}: {self.reason}"

    def error(self) -> RecordError:
        """Return the exception that tells this fault."""
        return RecordError(str(self))


class Damage(RecordError):
    """A place where a record cannot be read, before file and game number are known."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"byte {offset}: {reason}")
        self.reason = reason
        self.offset = offset


def shown(raw: bytes, limit: int = 24) -> str:
    """Quote a piece of input for a message, short and printable.

    >>> shown(b"pd")
    "'pd'"
    """
    text = raw[:limit].decode("ascii", "backslashreplace")
    return repr(text) + ("..." if len(raw) > limit else "")
