"""The ways in which an engine fails.

Every fault names the engine, the command and the last lines of its standard error.
"""

from __future__ import annotations

from tengen.errors import EngineError


class EngineFault(EngineError):
    """A failure of `engine` during `command`; `kind` is a word for tables."""

    kind = "fault"

    def __init__(
        self, engine: str, command: str, reason: str, stderr: tuple[str, ...] = ()
    ) -> None:
        self.engine, self.command, self.reason, self.stderr = engine, command, reason, stderr
        said = f"; it said: {' | '.join(stderr[-3:])}" if stderr else ""
        during = f" at `{command}`" if command else ""
        super().__init__(f"engine {engine}{during}: {reason}{said}")

    def __reduce__(self) -> tuple[type[EngineFault], tuple[str, str, str, tuple[str, ...]]]:
        """Pickle all four parts, for other processes."""
        return type(self), (self.engine, self.command, self.reason, self.stderr)


class EngineStartFault(EngineFault):
    """It could not be started, or did not answer."""

    kind = "start"


class EngineCrash(EngineFault):
    """It ended by a signal or with a failing exit status."""

    kind = "crash"


class EngineExit(EngineFault):
    """It ended by itself, or closed its output, before `quit`."""

    kind = "exit"


class EngineTimeout(EngineFault):
    """It did not answer in time; `reason` says whether start-up, move or game time ran out."""

    kind = "timeout"


class EngineBadAnswer(EngineFault):
    """It answered something that is not GTP, or not what the command asks for."""

    kind = "bad answer"


class EngineRefusal(EngineFault):
    """It refused a command that it must support."""

    kind = "refusal"


class EngineIllegalMove(EngineFault):
    """It played a move that the rules do not allow."""

    kind = "illegal move"
