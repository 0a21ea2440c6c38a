"""Draw a board on the terminal, in colours or in plain text; know nothing of the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from tengen.board import Board


class Screen:
    """Where the game is shown: with colours on a terminal, as plain text elsewhere."""

    def __init__(self, stream: TextIO, *, plain: bool = False) -> None:
        self.stream = stream
        self.fancy = stream.isatty() and not plain and _can_draw(stream)

    def say(self, text: str) -> None:
        """Print text."""
        print(text, file=self.stream, flush=True)

    def ask(self, text: str) -> None:
        """Print a prompt."""
        print(text, end="", file=self.stream, flush=True)

    def draw(self, board: Board, marks: dict[int, str] | None = None) -> None:
        """Show the board; `marks` puts a character over row-major indices of empty points."""
        if self.fancy:
            _draw_with_colours(board, marks or {})
        else:
            self.say(_draw_plainly(board, marks or {}))


def _draw_plainly(board: Board, marks: dict[int, str]) -> str:
    """Return the board as ASCII with the last move in brackets and marks on points.

    >>> from tengen.board import Board
    >>> print(_draw_plainly(Board(2, moves="B A1"), {3: "a"}))
       A B
     2 . . 2
     1(X)a 1
       A B
    """
    from tengen.board.coordinates import GTP_LETTERS

    grid = board.grid()
    last = _last_index(board)
    header = "   " + " ".join(GTP_LETTERS[: board.cols])
    lines = [header]
    for r in range(board.rows):
        text = ""
        for c in range(board.cols + 1):
            index = r * board.cols + c
            before = c > 0 and index - 1 == last
            after = c < board.cols and index == last
            text += ")" if before else "(" if after else " "
            if c < board.cols:
                text += marks.get(index, ".XO"[grid[r, c]])
        lines.append(f"{board.rows - r:2}{text}{board.rows - r}")
    return "\n".join([*lines, header])


def _last_index(board: Board) -> int | None:
    from tengen.board import index_of

    if not board.last_move:
        return None
    return index_of(board.last_move, board.rows, board.cols)


def _draw_with_colours(board: Board, marks: dict[int, str]) -> None:
    """Draw stones on wood with rich."""
    from rich.console import Console
    from rich.text import Text

    from tengen.board.coordinates import GTP_LETTERS
    from tengen.board.drawing import star_points

    grid, last = board.grid(), _last_index(board)
    stars = {r * board.cols + c for r, c in star_points(board.rows, board.cols)}
    wood = "on #dcb468"
    header = Text("   " + " ".join(GTP_LETTERS[: board.cols]), style="dim")
    sheet = [header]
    for r in range(board.rows):
        line = Text(f"{board.rows - r:2} ", style="dim")
        for c in range(board.cols):
            index, stone = r * board.cols + c, int(grid[r, c])
            ink = ("#6b4f1d", "#000000", "#ffffff")[stone]
            sign = ("·", "●", "●")[stone] if index not in stars or stone else "+"
            if index in marks:
                sign = marks[index]
                ink = {"b": "#000000", "w": "#ffffff"}.get(sign, "#b00020")
            under = " underline" if index == last else ""
            line.append(sign, style=f"bold {ink} {wood}{under}")
            line.append(" " if c + 1 < board.cols else "", style=wood)
        line.append(f" {board.rows - r}", style="dim")
        sheet.append(line)
    Console(highlight=False).print(*sheet, header, sep="\n", soft_wrap=True)


def _can_draw(stream: TextIO) -> bool:
    """Tell whether the terminal can show stones."""
    try:
        "●·".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
