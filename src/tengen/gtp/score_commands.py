"""Answer commands about the end of the game: what is dead, and what the score is."""

from __future__ import annotations

from tengen.contracts.values import Status
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure
from tengen.gtp.words import BLACK, EMPTY, PASS, WHITE, format_score, need

TERRITORY = {"black_territory": BLACK, "white_territory": WHITE}


def final_score(engine: Engine, call: Call) -> str:
    """Count the game without what is dead."""
    return format_score(engine.judge.score(engine.game.board).score)


def estimate_score(engine: Engine, call: Call) -> str:
    """Guess the score at the end of the game."""
    return format_score(round(engine.judge.estimate(engine.game.board), 1))


def final_status(engine: Engine, call: Call) -> str:
    """Say the status of one point."""
    point = engine.point(need(call.args, 1)[0])
    if point == PASS:
        raise GtpFailure("invalid coordinate")
    for block in engine.judge.status(engine.game.board).blocks:
        if point in block.stones:
            return block.status.value
    for name, colour in TERRITORY.items():
        if point in _territory(engine, colour):
            return name
    return "dame"


def final_status_list(engine: Engine, call: Call) -> str:
    """List the stones of one status, a block to a line, or the points of one territory."""
    word = need(call.args, 1)[0].lower()
    if word in TERRITORY:
        return " ".join(engine.vertex(p) for p in _territory(engine, TERRITORY[word]))
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
    """Find empty points and dead stones' points that only one colour's living stones reach."""
    board = engine.game.board
    rows, cols = board.rows, board.cols
    grid = board.grid()
    for point in engine.judge.status(board).stones(Status.DEAD):
        row, col = divmod(point - 1, cols + 1)
        grid[row - 1, col] = EMPTY
    found: list[int] = []
    seen: set[tuple[int, int]] = set()
    for start in ((row, col) for row in range(rows) for col in range(cols)):
        if start in seen or grid[start] != EMPTY:
            continue
        region, edge, todo = [], set(), [start]
        seen.add(start)
        while todo:
            row, col = todo.pop()
            region.append((row + 1) * (cols + 1) + col + 1)
            for near in ((row, col - 1), (row, col + 1), (row - 1, col), (row + 1, col)):
                if not (0 <= near[0] < rows and 0 <= near[1] < cols):
                    continue
                if grid[near] != EMPTY:
                    edge.add(int(grid[near]))
                elif near not in seen:
                    seen.add(near)
                    todo.append(near)
        if edge == {colour}:
            found += region
    return sorted(found)
