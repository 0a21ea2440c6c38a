"""Answer commands about the end of the game: what is dead, and what the score is."""

from __future__ import annotations

from tengen.contracts.values import Status
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure
from tengen.gtp.words import BLACK, PASS, WHITE, format_score, need

_TERRITORY = {"black_territory": BLACK, "white_territory": WHITE}


def final_score(engine: Engine, call: Call) -> str:
    """Count the game without what is dead."""
    return format_score(engine.judge.score(engine.game.board).score)


def estimate_score(engine: Engine, call: Call) -> str:
    """Guess the score at the end of the game."""
    return format_score(round(engine.judge.estimate(engine.game.board).score, 1))


def final_status(engine: Engine, call: Call) -> str:
    """Say the status of one point."""
    point = engine.point(need(call.args, 1)[0])
    if point == PASS:
        raise GtpFailure("invalid coordinate")
    for block in engine.judge.status(engine.game.board).blocks:
        if point in block.stones:
            return block.status.value
    for name, colour in _TERRITORY.items():
        if point in _territory(engine, colour):
            return name
    return "dame"


def final_status_list(engine: Engine, call: Call) -> str:
    """List the stones of one status, a block to a line, or the points of one territory."""
    word = need(call.args, 1)[0].lower()
    if word in _TERRITORY:
        return " ".join(engine.vertex(p) for p in _territory(engine, _TERRITORY[word]))
    try:
        wanted = Status(word)
    except ValueError:
        raise GtpFailure("unknown status") from None
    verdict = engine.judge.status(engine.game.board)
    return "\n".join(
        " ".join(map(engine.vertex, block.stones))
        for block in verdict.blocks
        if block.status is wanted
    )


def _territory(engine: Engine, colour: int) -> list[int]:
    """Find the points that count as one side's territory, dead stones' points included."""
    import numpy as np

    from tengen.board import point_at
    from tengen.gtp.judging import count_without

    board = engine.game.board
    count = count_without(board, engine.judge.status(board).stones(Status.DEAD))
    places = np.flatnonzero(count.territory(colour))
    return [point_at(int(index), board.rows, board.cols) for index in places]
