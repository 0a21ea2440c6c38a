"""Report on internal symmetry networks (Blair 2008): weights counted and drawn, training, Figure 1.

The experiments themselves are in `tengen.lab.symmetry_network`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.lab import papers
from tengen.lab.content import Picture, Plot, Result, line, percent, table
from tengen.lab.pictures import kernel_sheet
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, above, compare

if TYPE_CHECKING:
    from tengen.learners.symmetry_network import SymmetryNetwork

POSITION = "B E5 W C3 B G3 W C6 B F7 W G6 B G7 W H7 B H6 W H8 B F6 W H5"
"""A fight on 9x9, to look at."""
_OUTPUT_NAMES = ("Z+", "Zo", "Z•", "Aw+", "Ab+", "Ao", "A•")
_MEANINGS = {
    "territory": "an empty point becomes White's (Z+)",
    "white_lives": "a white stone avoids capture (Zo)",
    "black_dies": "a black stone is captured (Z•)",
    "white_eye": "an empty point becomes White's eye (Aw+)",
    "black_eye": "an empty point becomes Black's eye (Ab+)",
    "black_eye_by_capture": "a white stone leaves Black an eye (Ao)",
    "white_eye_by_capture": "a black stone leaves White an eye (A•)",
}


@dataclass(frozen=True)
class Size:
    """How much is trained and played."""

    games: int
    linear_games: int
    rate: float
    snapshot_every: int
    pair_games: int
    match_games: int
    large_games: int  # on 19x19


_QUICK = Size(3000, 600, 5e-5, 500, 20, 100, 10)
"""A few minutes, at ten times the paper's rate."""
_FULL = Size(papers.ISN_GAMES, 5000, 5e-6, 20_000, 10, 400, 40)
"""As the paper."""


def numbers(context: Context, boards: Sequence[int]) -> Result:
    """Count the weights, check the symmetry on boards and draw the shipped network's kernels."""
    from tengen.learners.symmetry_network import network as definition

    architecture = definition.Architecture()
    free = np.random.default_rng(context.seed).normal(0, 0.3, architecture.size)
    error = max(definition.equivariance_error(architecture, free, size=n) for n in boards)
    tied = definition.Architecture(colour=True)
    rows = [
        [part, "x".join(map(str, tying.shape)), tying.free]
        for part, tying in architecture.parts.items()
    ]
    return Result(
        text="Every cell of the board holds twelve hidden numbers. Some stay as they are when "
        "the board is turned (T), some change sign with a quarter turn (S, D), and pairs turn like "
        "an arrow (F). Which weights may differ follows from that alone: it is solved for, not "
        "typed in.",
        tables=[
            table(
                "Free numbers by part (B: biases, which the paper does not count)",
                ["part", "shape of the dense weights", "free"],
                rows,
                note=f"With the colours tied as well: {tied.weights}.",
            )
        ],
        figures=_kernels(),
        comparisons=[
            compare(
                "Section III", "free weights", papers.ISN_WEIGHTS, architecture.weights, aim=0,
                why="V_HI 280, V_OH 140, V_OI 294, from the null space of the constraints.",
            ),
            compare(
                "Section III", "connections of a cell", papers.ISN_CONNECTIONS,
                architecture.connections, aim=0,
                why="What can differ from zero; the paper's figure comes out only if an arrow had "
                "four non-zero neighbours instead of six. 714 is not touched by it.",
            ),
            compare(
                "Section III", "turning the board turns the answer", None, None,
                holds=error < 1e-12, paper_text="exactly",
                our_text="exactly, but for rounding (below 1e-12)" if error < 1e-12
                else f"up to {error:.1g}",
                why=f"All eight elements, sizes {', '.join(map(str, boards))}, random weights.",
            ),
        ],
    )  # fmt: skip


def _kernels() -> list[Picture]:
    """Draw the shipped paper's network: what every hidden unit sees, what every output takes."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.tying import SQUARE
    from tengen.models import has_model

    if not has_model("isn-9x9"):
        return []
    network = SymmetryNetwork.load("isn-9x9")
    dense = network.architecture.expand(network.free_)
    inputs = [f"○C{i}" for i in range(1, 7)] + [f"●C{i}" for i in range(1, 7)] + ["empty", "edge"]
    hidden: list[str] = []
    for block in network.architecture.cell.blocks:
        before = sum(name.startswith(f"{block.name}") for name in hidden)
        hidden += [f"{block.name}{before + i + 1}" for i in range(block.size)]
    return [
        Picture(
            "What the hidden units see (rows) in each kind of point (columns): 280 free numbers of "
            "the shipped isn-9x9. Red excites, blue inhibits; C1 is the weakest block, C6 alive.",
            kernel_sheet(dense["HI"], SQUARE, hidden, inputs), wide=True,
        ),
        Picture(
            "What the outputs take from the board directly: 294 free numbers",
            kernel_sheet(dense["OI"], SQUARE, _OUTPUT_NAMES, inputs), wide=True,
        ),
        Picture(
            "What the outputs take from the hidden units: 140 free numbers",
            kernel_sheet(dense["OH"], SQUARE, _OUTPUT_NAMES, hidden), wide=True,
        ),
    ]  # fmt: skip


def training(context: Context, size: Size) -> Result:
    """Train a network, let its snapshots meet, look at what the shipped ones can do and see."""
    from tengen.lab.symmetry_network import SnapshotTournament, figure_1
    from tengen.learners.symmetry_network import SymmetryNetwork, SymmetrySettings
    from tengen.learners.symmetry_network.learner import load_snapshots
    from tengen.learners.symmetry_network.training import open_run

    settings = SymmetrySettings(
        games=size.games,
        linear_games=size.linear_games,
        rate=size.rate,
        seed=context.seed,
        snapshot_every=size.snapshot_every,
        checkpoint_every=max(1, min(2000, size.snapshot_every // 2)),
    )
    folder = context.place("symmetry-network")
    tell = context.between(0.0, 0.6, "game of self-play")
    with open_run(folder, settings, resume=True) as run:
        learned = SymmetryNetwork(settings=settings, workers=context.workers).fit(
            run=run, watch=lambda report: tell(report.games, size.games)
        )
    tournament = SnapshotTournament(games=size.pair_games, seed=context.seed)
    curve = context.once(
        "symmetry-network/figure1",
        lambda: asdict(
            figure_1(
                load_snapshots(folder),
                tournament,
                workers=context.workers,
                watch=context.between(0.6, 0.8, "pair"),
            )
        ),
    )
    rows, comparisons = _matches(context, learned, size)
    return Result(
        text=f"A network of the paper's shape learns for {size.games:,} games (the paper: "
        f"{papers.ISN_GAMES:,}) at a rate of {size.rate:g} (the paper: {papers.ISN_RATE:g}). No "
        "look-ahead anywhere: it plays by judging the position after each move. The boards below "
        "show what the shipped isn-best thinks of one position: who owns what (black and white "
        "squares), and its seven outputs, the redder the likelier.",
        tables=[
            table("Matches, moves drawn with beta 20, komi 3.5",
                  ["network", "against", "board", "games", "wins"], rows)
        ],
        figures=[_curve_plot(curve), *_views()],
        comparisons=[*_trend(curve, size), *comparisons],
        data=curve,
    )  # fmt: skip


def _matches(
    context: Context, learned: SymmetryNetwork, size: Size
) -> tuple[list[list[Any]], list[Comparison]]:
    """Play what was learned and the shipped networks; return a table's rows and the verdicts."""
    from tengen.learners.symmetry_network.learner import SymmetryNetwork, play_match
    from tengen.models import has_model

    shipped = {n: SymmetryNetwork.load(n) for n in ("isn-9x9", "isn-best") if has_model(n)}
    matches: list[tuple[str, SymmetryNetwork, SymmetryNetwork | None, int, int]] = [
        ("trained here", learned, None, 9, size.match_games),
        *((name, network, None, 9, size.match_games) for name, network in shipped.items()),
    ]
    if "isn-9x9" in shipped:
        matches.append(("isn-9x9", shipped["isn-9x9"], learned, 9, size.match_games))
        matches.append(("isn-9x9", shipped["isn-9x9"], None, 19, size.large_games))
    rows: list[list[Any]] = []
    comparisons = []
    for number, (name, a, b, board, games) in enumerate(matches):
        opponent = "random" if b is None else "trained here"
        context.at(0.8 + 0.2 * number / len(matches), f"{name} against {opponent}")
        got = play_match(a, b, games=games, size=board, seed=context.seed, workers=context.workers)
        shown = percent(got.win_rate, got.interval)
        rows.append([name, opponent, f"{board}x{board}", games, shown])
        if b is not None and size.games < papers.ISN_GAMES:
            comparisons.append(
                compare(
                    "Figure 1", f"{papers.ISN_GAMES:,} games (shipped) against {size.games:,}",
                    None, None, holds=above(got.interval), paper_text="rising", our_text=shown,
                    why=f"{games} games, beta 20, komi 3.5: more training is stronger.",
                )
            )  # fmt: skip
        elif board == 19:
            comparisons.append(
                compare(
                    "Section V", "the same weights play on 19x19", None, None,
                    holds=above(got.interval), paper_text=f"CGOS {papers.ISN_CGOS[19]}",
                    our_text=f"{shown} against random",
                    why="Trained on 9x9 only; a rating needs the server's opponents.",
                )
            )  # fmt: skip
    return rows, comparisons


def _trend(curve: dict[str, Any], size: Size) -> list[Comparison]:
    """Return the verdicts on the shape of Figure 1."""
    p, best = curve["p_value"], f"{curve['best']:,} of {size.games:,} games"
    rising = p is not None and p < 0.05 and curve["correlation"] > 0
    shown = "none" if p is None else f"Spearman {curve['correlation']:.2f}, p = {p:.2g}"
    return [
        compare(
            "Figure 1", "strength rises with training", None, None, holds=rising,
            full=size.games >= papers.ISN_GAMES, paper_text="noisy, rising", our_text=shown,
            why="Trend over the trained snapshots; the paper tests none.",
        ),
        compare(
            "Figure 1", "best snapshot", None, None, paper_text=f"{papers.ISN_BEST:,} games",
            our_text=best, holds=None,
            why="Neighbours differ by less than the noise of 430 games, so the place is chance.",
        ),
    ]  # fmt: skip


def _curve_plot(curve: dict[str, Any]) -> Plot:
    """Draw the snapshots' win rates over training."""
    trend = ""
    if curve["correlation"] is not None and curve["p_value"] is not None:
        trend = f"; Spearman {curve['correlation']:.2f}, p = {curve['p_value']:.2g}"
    return Plot(
        f"Figure 1: snapshots against each other{trend} (untrained left out)",
        "games of self-play", "wins over all others",
        [line("win rate", curve["games"], curve["rates"], curve["intervals"])], bottom=0.0,
    )  # fmt: skip


def _views() -> list[Picture]:
    """Draw the seven outputs of a shipped network over one position, and who it thinks owns it."""
    from tengen.board import Board
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.models import has_model

    name = next((n for n in ("isn-best", "isn-9x9") if has_model(n)), None)
    if name is None:
        return []
    network = SymmetryNetwork.load(name)
    board = Board(9, moves=POSITION)
    owner = board.svg(ownership=network.ownership(board), cell=18)
    figures = [Picture(f"{name}: who owns what", owner)]
    for output, values in network.heat_maps(board).items():
        title = f"how likely {_MEANINGS.get(output, output)}"
        figures.append(Picture(title, board.svg(heat=np.ravel(values), cell=18)))
    return figures


_BOARDS = (5, 9, 13)

EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "symmetry-weights", "symmetry-network", "714 weights, drawn", numbers,
        quick=_BOARDS, full=_BOARDS, minutes=(0.1, 0.1),
    ),
    Experiment(
        "symmetry-network", "symmetry-network", "Self-play and Figure 1", training,
        quick=_QUICK, full=_FULL, minutes=(1.3, 300),
    ),
)  # fmt: skip
