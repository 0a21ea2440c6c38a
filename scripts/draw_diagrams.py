"""Draw how a position becomes a move and how a paper plugs in, as SVG for light and dark pages.

    python scripts/draw_diagrams.py

writes `docs/pictures/how-a-move.svg` and `how-a-paper.svg`. In the first, planes, weights,
evaluation and search are those of a real position and the shipped network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

import tengen
from tengen.board import BLACK
from tengen.board.coordinates import transform
from tengen.network import DeepNetwork
from tengen.network.layers import N_PLANES, PLANES, pack_boards

OUT = Path(__file__).parents[1] / "docs" / "pictures"
NETWORK = "tengen-judge"
POSITION = "B E5 W F7 B D7 W F3 B G5 W C4"
SHOWN = ("own stone", "enemy stone", "move 1 ago", "move 2 ago")
VISITS = 100
STYLE = """
text { font: 15px system-ui, sans-serif; fill: #1d1d1f; }
.title { font-weight: 600; font-size: 17px; }
.code { font-family: ui-monospace, monospace; font-size: 14px; }
.small { font-size: 12px; } .soft { fill: #5c5c61; } .page { fill: #fdfcf9; }
.card { fill: #f6f2e9; stroke: #c9c2b2; }
.arrow { stroke: #8a5a14; stroke-width: 2.5; fill: none; } .head { fill: #8a5a14; }
.grid { fill: #fff; stroke: #c9c2b2; } .on { fill: #37507a; } .bar { fill: #37507a; }
.plus { fill: #b4541a; } .minus { fill: #2f6fb0; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8e6e1; } .soft { fill: #aaa8a2; } .page { fill: #16171a; }
  .card { fill: #1f2126; stroke: #4a4d54; } .arrow { stroke: #e0a458; } .head { fill: #e0a458; }
  .grid { fill: #101114; stroke: #4a4d54; } .on { fill: #9db8e6; } .bar { fill: #9db8e6; }
  .plus { fill: #e8894a; } .minus { fill: #6aa8e6; }
}
"""


def text(x: float, y: float, words: str, look: str = "", anchor: str = "start") -> str:
    """Write one line."""
    return f'<text x="{x:g}" y="{y:g}" class="{look}" text-anchor="{anchor}">{escape(words)}</text>'


def lines(x: float, y: float, several: Sequence[str], look: str = "soft") -> str:
    """Write lines below each other."""
    return "".join(text(x, y + 20 * n, line, look) for n, line in enumerate(several))


def card(x: float, y: float, width: float, height: float) -> str:
    """Draw the frame of a step."""
    return f'<rect class="card" x="{x}" y="{y}" width="{width}" height="{height}" rx="10"/>'


def arrow(*points: tuple[float, float]) -> str:
    """Draw a line through points with a head at its end, which lies in the last direction."""
    (a, b), (x, y) = points[-2:]
    way = " ".join(f"{px:g},{py:g}" for px, py in points)
    turn = float(np.degrees(np.arctan2(y - b, x - a)))
    return (
        f'<polyline class="arrow" points="{way}"/><path class="head" d="M2 0L-9 -6L-9 6Z" '
        f'transform="translate({x:g} {y:g}) rotate({turn:.0f})"/>'
    )


def squares(values: NDArray[np.floating], x: float, y: float, side: float, signed: bool) -> str:
    """Draw a small matrix, each value as a square of its size, with a colour for its sign."""
    rows, cols = values.shape
    step, most = side / rows, float(np.abs(values).max()) or 1.0
    out = [
        f'<rect class="grid" x="{x:g}" y="{y:g}" width="{side * cols / rows:g}" height="{side:g}"/>'
    ]
    for (row, col), value in np.ndenumerate(values):
        half = step * 0.45 * min(1.0, abs(float(value)) / most) ** 0.5
        if half > step * 0.08:
            look = ("plus" if value > 0 else "minus") if signed else "on"
            left, top = x + (col + 0.5) * step - half, y + (row + 0.5) * step - half
            out.append(
                f'<rect class="{look}" x="{left:.1f}" y="{top:.1f}" width="{2 * half:.1f}" '
                f'height="{2 * half:.1f}"/>'
            )
    return "".join(out)


def picture(svg: str, x: float, y: float, side: float) -> str:
    """Place a picture of a board."""
    place = f'<svg x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}" viewBox='
    return re.sub(r'^<svg [^>]*?viewBox=("[^"]*")[^>]*>', rf"{place}\1>", svg)


def whole(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """Return a document of its own."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>'
        f'<rect class="page" width="{width}" height="{height}" rx="12"/>{"".join(parts)}</svg>\n'
    )


def how_a_move() -> str:
    """Draw position, planes, layers, evaluation, search, judge and move."""
    board = tengen.Board(9, moves=POSITION)
    network = tengen.load_network(NETWORK)
    [seen] = network.evaluate([board])
    found = tengen.analyse(board, visits=VISITS)
    planes = pack_boards([board]).planes()[0]
    side = "Black" if board.turn == BLACK else "White"
    parts = []

    parts += [card(10, 10, 210, 270), text(24, 36, "1  Position", "title")]
    parts += [picture(board.svg(coordinates=False), 24, 48, 182)]
    parts += [lines(24, 252, [f"{side} to play, komi 7.5"])]

    parts += [card(250, 10, 190, 270), text(264, 36, f"2  {N_PLANES} planes", "title")]
    for n, name in enumerate(SHOWN):
        left, top = 264 + 86 * (n % 2), 50 + 92 * (n // 2)
        parts.append(squares(planes[PLANES.index(name)], left, top, 68, False))
        parts.append(text(left, top + 83, name, "small soft"))
    parts += [lines(264, 252, ["as its player sees it"])]

    parts += tied_layers(network)

    parts += [card(700, 10, 210, 270), text(714, 36, "4  Evaluation", "title")]
    owners = np.asarray(seen.ownership).ravel()
    likely = np.asarray(seen.priors)[:-1]
    parts += [picture(board.svg(coordinates=False, heat=likely), 714, 48, 100)]
    parts += [lines(820, 70, ["moves", "that are", "likely"])]
    parts += [squares(owners.reshape(9, 9), 714, 160, 86, True)]
    parts += [lines(812, 180, ["owners of", "the points"])]
    parts += [text(714, 268, f"Black wins {seen.win_probability:.0%}, {seen.score:+.1f}")]

    parts += [arrow((222, 140), (246, 140)), arrow((442, 140), (466, 140))]
    parts += [arrow((672, 140), (696, 140)), arrow((805, 282), (805, 318))]

    parts += [
        card(470, 322, 440, 200),
        text(484, 348, f"5  Search, {found.visits} visits", "title"),
    ]
    parts += visits(found)
    parts += [lines(484, 510, ["each visit evaluates one more position, as in 2 to 4"])]

    parts += [card(250, 322, 190, 200), text(264, 348, "6  Judge", "title")]
    parts += [
        lines(264, 376, [
            "Game over: all groups", "settled, and no move", "gains? Then pass.",
            "Lost? Then resign.", "Otherwise the move", "with most visits.",
        ])
    ]  # fmt: skip
    board.play(found.best)
    parts += [card(10, 322, 210, 200), text(24, 348, f"7  Move {found.best}", "title")]
    parts += [picture(board.svg(coordinates=False), 34, 358, 156)]
    parts += [arrow((468, 420), (444, 420)), arrow((248, 420), (224, 420))]
    title = "A position becomes planes, layers evaluate them, a search and a judge choose the move"
    return whole(920, 532, title, parts)


def tied_layers(network: DeepNetwork) -> list[str]:
    """Draw one kernel in its eight directions, and how large the network is."""
    design, free = network.design_, network.weights_["blocks.0.conv1.weight"][0, 0, 0]
    parts = [card(470, 10, 200, 270), text(484, 36, "3  Tied layers", "title")]
    for n in range(8):
        left, top = 484 + 46 * (n % 4), 50 + 46 * (n // 4)
        parts.append(squares(transform(free, n), left, top, 38, True))
    about = ["one kernel, turned eight", "ways: a turned board", "has a turned answer"]
    return [
        *parts, lines(484, 166, about),
        text(484, 240, f"{design.fields} x 8 maps, {design.blocks} blocks"),
        text(484, 262, f"{network.free_parameters:,} weights", "soft"),
    ]  # fmt: skip


def visits(found: tengen.Analysis) -> list[str]:
    """Draw how often the search visited the first moves."""
    parts, most = [], max(move.visits for move in found.moves)
    for n, move in enumerate(found.moves[:5]):
        y, width = 374 + 26 * n, 190 * move.visits / most
        parts.append(text(484, y, str(move.move)))
        parts.append(f'<rect class="bar" x="520" y="{y - 12}" width="{width:.0f}" height="14"/>')
        parts.append(text(526 + width, y, str(move.visits), "soft"))
        parts.append(text(896, y, f"Black wins {move.win_probability:.0%}", "soft", "end"))
    return parts


def box(x: float, y: float, size: tuple[float, float], title: str, below: Sequence[str]) -> str:
    """Draw a card with a title and lines below it."""
    return card(x, y, *size) + text(x + 14, y + 26, title, "title") + lines(x + 14, y + 50, below)


BOXES: tuple[tuple[Any, ...], ...] = (
    (430, 10, 225, 116, "entry points",
     ["in pyproject.toml, ours or", "of another distribution;", "nothing imports a paper"]),
    (710, 10, 200, 116, "everywhere",
     ["players, reviews, GTP,", "arena, the browser's", "“What they see”"]),
    (430, 166, 225, 96, "tengen lab NAME", ["runs experiments, and", "resumes after a kill"]),
    (710, 166, 200, 96, "a report", ["of your run, as HTML", "and JSON"]),
    (430, 302, 225, 116, "one rule for verdicts",
     ["estimates with intervals;", "trainings with other seeds", "are the unit"]),
    (710, 302, 200, 116, "these pages",
     ["the recorded rows: the", "paper's page, results,", "README"]),
)  # fmt: skip


def how_a_paper() -> str:
    """Draw the files of a paper's folder and what they plug into."""
    parts = [
        card(10, 10, 320, 450),
        text(26, 38, "papers/NAME/", "title"),
        text(316, 38, "a folder", "soft", "end"),
    ]
    files = [
        ("paper.toml", "claims with the paper's figures,", "its settings, open questions"),
        ("learner, kernels", "fit, save, load; a policy,", "an evaluator or a scorer"),
        ("experiments.py", "play or train, and return rows;", "a quick size and the paper's"),
        ("data/EXPERIMENT/", "rows of the recorded runs,", "with seeds and settings"),
        ("report.py", "computes claims, tables and", "answers from rows"),
    ]
    tops = [54 + 80 * n for n in range(len(files))]
    for top, (name, *words) in zip(tops, files, strict=True):
        inner = f'<rect class="grid" x="24" y="{top}" width="292" height="72" rx="6"/>'
        parts += [inner, text(36, top + 22, name, "code"), lines(36, top + 42, words)]
    parts += [
        *(box(x, y, (width, height), *words) for x, y, width, height, *words in BOXES),
        arrow((332, 168), (380, 168), (380, 70), (426, 70)),
        arrow((332, 250), (380, 250), (380, 214), (426, 214)),
        arrow((332, 410), (380, 410), (380, 350), (426, 350)),
        arrow((657, 70), (706, 70)),
        arrow((657, 214), (706, 214)),
        arrow((540, 264), (540, 298)),
        arrow((657, 350), (706, 350)),
        arrow((657, 330), (680, 330), (680, 240), (706, 240)),
    ]  # fmt: skip
    return whole(920, 470, "A paper's folder, and what its files plug into", parts)


def main() -> None:
    """Write both pictures."""
    (OUT / "how-a-move.svg").write_text(how_a_move(), encoding="utf-8")
    (OUT / "how-a-paper.svg").write_text(how_a_paper(), encoding="utf-8")


if __name__ == "__main__":
    main()
