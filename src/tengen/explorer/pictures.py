"""An answer of the explorer as SVG: the board with the next moves, and a table of them."""

from __future__ import annotations

from xml.sax.saxutils import escape

from tengen.board import BLACK, Move
from tengen.board.drawing import Mark
from tengen.explorer.answers import OPINIONS, Answer, NextMove

_CELL = 26
_LINE = 20  # pixels from one line of the table to the next


def picture(answer: Answer) -> str:
    """Return a self-contained SVG; the more games played a move, the darker its disc."""
    board = answer.board
    found = answer.marks()
    most = max((move.share for move in found.values()), default=1.0)
    marks: dict[Move, str | Mark] = {}
    for letter, move in found.items():
        # Mirror images of the move have plain discs.
        marks |= dict.fromkeys(move.points[1:], letter)
        marks[move.points[0]] = Mark(letter, move.share / most)
    width, height = (board.cols + 1) * _CELL, (board.rows + 1) * _CELL
    table, table_width, table_height = _table(answer)
    full_width, full_height = width + table_width + 20, max(height, table_height + 10)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full_width:g} {full_height:g}" '
            f'width="{full_width:g}" height="{full_height:g}" font-family="sans-serif">',
            f'<rect width="{full_width:g}" height="{full_height:g}" fill="#fff"/>',
            board.svg(marks=marks, cell=_CELL),
            f'<g transform="translate({width + 12:g} 6)">{table}</g>',
            "</svg>",
        ]
    )


def _table(answer: Answer) -> tuple[str, float, float]:
    """Return the numbers as SVG text with its width and height."""
    shown = [name for name in OPINIONS if any(name in move.opinions for move in answer.moves)]
    headings = ["", "move", "times" if answer.corner else "games", "share", "Black wins", *shown]
    edges = [0.0, 18.0, 130.0, 185.0, 262.0]
    edges += [edges[-1] + 72.0 * (k + 1) for k in range(len(shown))]
    letters = {id(move): letter for letter, move in answer.marks().items()}
    lines = [
        [letters.get(id(move), ""), *cells(move, shown)]
        for move in answer.moves[: len(letters) + 2]
    ]
    side = "Black" if answer.board.turn == BLACK else "White"
    title = f"{side} to play: {answer.games:,} of {answer.collection:,} games"
    if answer.corner:
        title = f"{side} to play in this corner: {answer.games:,} times"
        lines.append(["", f"elsewhere at first: {answer.elsewhere:,} times"])
    out = [f'<text x="0" y="14" font-size="14" font-weight="bold">{escape(title)}</text>']
    for number, line in enumerate([headings, *lines]):
        y = 14 + _LINE * (number + 1.3)
        weight = ' fill="#555"' if number == 0 else ""
        for k, text in enumerate(line):
            anchor = "start" if k < 2 else "end"
            out.append(
                f'<text x="{edges[k]:g}" y="{y:g}" font-size="13" text-anchor="{anchor}"{weight}>'
                f"{escape(text)}</text>"
            )
    width = max(edges[-1], 8.0 * len(title))
    return "".join(out), width + 8, 14 + _LINE * (len(lines) + 2.3)


def cells(move: NextMove, shown: list[str]) -> list[str]:
    """Return the cells of a move: name, games, share, Black's wins, opinions of models."""
    rate = move.win_rate_black
    return [
        move.name,
        f"{move.count:,}",
        f"{100 * move.share:.1f} %",
        "" if rate is None else f"{100 * rate:.1f} %",
        *(_opinion(name, move.opinions.get(name)) for name in shown),
    ]


def _opinion(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:+.1f}" if name == "opening" else f"{100 * value:.1f} %"
