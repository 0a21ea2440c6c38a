"""Ask an installed GNU Go which stones of finished games are dead, and survive whatever it does.

Every game gets an engine of its own, so that an answer depends on nothing but the game, and a
limit in seconds. Answers go to a JSON-lines file at once: a measurement that was killed goes on
where it stopped. Nothing here counts or judges.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from tengen.errors import TengenError
from tengen.gtp.client import Client, Limits, find_program
from tengen.gtp.faults import EngineFault, EngineRefusal
from tengen.records import GameRecord

PROGRAM = "gnugo"
PATIENCE = 120.0
"""Seconds it may take for one game."""


@dataclass(frozen=True)
class Answer:
    """What an engine said of one game: the dead stones' vertices, or why it said nothing."""

    engine: str
    game: str
    """Digest of the game's SGF."""
    dead: tuple[str, ...] | None
    seconds: float
    """Its processor time where it tells, else the time that went by."""
    limit: float
    failure: str = ""


def installed(program: str = PROGRAM) -> bool:
    """Tell whether GNU Go can be found."""
    return find_program(program) is not None


class DeadLists:
    """GNU Go's dead lists at one level, kept in a file if one is given."""

    def __init__(
        self,
        level: int = 10,
        *,
        kept: Path | None = None,
        limit: float = PATIENCE,
        program: str = PROGRAM,
    ) -> None:
        self.level, self.kept, self.limit = level, kept, limit
        self.command = (program, "--mode", "gtp", "--quiet", "--level", str(level), "--seed", "1")
        self.engine = f"{Path(program).name} level {level}"
        self._known = {} if kept is None else _read(kept, self.engine)

    def ask(self, record: GameRecord) -> Answer:
        """Return the dead stones of a game's last position; a failure is an answer, too.

        A game on which the engine failed before is tried again only with a longer limit.
        """
        text = record.utf8_sgf(main_line=True)
        game = hashlib.sha256(text).hexdigest()[:24]
        before = self._known.get(game)
        if before is not None and (before.dead is not None or before.limit >= self.limit):
            return before
        answer = self._ask(text, game)
        self._known[game] = answer
        if self.kept is not None:
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            with self.kept.open("ab") as file:
                file.write(b"\n" if _torn(self.kept) else b"")
                file.write(json.dumps(asdict(answer)).encode() + b"\n")
        return answer

    def _ask(self, text: bytes, game: str) -> Answer:
        limits = Limits(startup=self.limit, command=self.limit, close=1.0)
        begin = time.monotonic()
        dead: tuple[str, ...] | None = None
        failure, seconds = "", 0.0
        with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
            file = Path(folder) / "game.sgf"
            file.write_bytes(text)
            try:
                with Client.start(self.command, limits=limits) as client:
                    client.command("loadsgf", file)
                    left = max(0.1, self.limit - (time.monotonic() - begin))
                    words = client.command("final_status_list", "dead", timeout=left).split()
                    seconds = time.monotonic() - begin
                    with suppress(EngineRefusal, ValueError):
                        seconds = float(client.command("cputime"))
                dead = tuple(words)
            except EngineFault as fault:
                failure = f"{fault.kind}: {fault.reason}"
                seconds = time.monotonic() - begin
        return Answer(self.engine, game, dead, round(seconds, 3), self.limit, failure)


def _read(path: Path, engine: str) -> dict[str, Answer]:
    """Read the answers of one engine; a line cut off by a kill is left out."""
    if not path.is_file():
        return {}
    known = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        with suppress(json.JSONDecodeError):
            entry = json.loads(line)
            try:
                if entry["engine"] != engine:
                    continue
                words = entry["dead"]
                known[str(entry["game"])] = Answer(
                    engine,
                    str(entry["game"]),
                    None if words is None else tuple(map(str, words)),
                    float(entry["seconds"]),
                    float(entry["limit"]),
                    str(entry["failure"]),
                )
            except (KeyError, TypeError, ValueError):
                raise TengenError(f"{path}, line {number}: no answer about dead stones") from None
    return known


def _torn(path: Path) -> bool:
    """Tell whether a file ends in the middle of a line."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) != b"\n"
