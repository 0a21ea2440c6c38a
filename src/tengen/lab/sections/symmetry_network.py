"""Internal symmetry networks (Blair 2008): the weights counted and drawn, a short training, Figure
1.

The experiments themselves are in `tengen.learners.symmetry_network`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tengen.lab import papers
from tengen.lab.content import Picture, Plot, Result, line, percent, table
from tengen.lab.pictures import heat, kernel_sheet
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, above, compare

POSITION = "B E5 W C3 B G3 W C6 B F7 W G6 B G7 W H7 B H6 W H8 B F6 W H5"
"""A fight on 9x9, to look at."""
OUTPUT_NAMES = ("Z+", "Zo", "Z•", "Aw+", "Ab+", "Ao", "A•")
MEANINGS = {
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

    games: int = 3000
    linear_games: int = 600
    rate: float = 5e-5
    snapshots: int = 6
    pair_games: int = 20
    match_games: int = 100
    large_games: int = 10


QUICK = Size()


def numbers(context: Context) -> Result:
    """Count the weights, check the symmetry and draw the shipped network's kernels."""
    from tengen.learners.symmetry_network import network as definition

    architecture = definition.Architecture()
    free = np.random.default_rng(context.seed).normal(0, 0.3, architecture.size)
    error = max(definition.equivariance_error(architecture, free, size=n) for n in (5, 9, 13))
    connections = sum(t.connections for t in architecture.parts.values() if len(t.shape) == 3)
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
        figures=kernels(),
        comparisons=[
            compare(
                "Section III", "free weights", papers.ISN_WEIGHTS, architecture.weights, aim=0,
                why="V_HI 280, V_OH 140, V_OI 294, from the null space of the constraints.",
            ),
            compare(
                "Section III", "connections of a cell", papers.ISN_CONNECTIONS, connections, aim=0,
                why="What can differ from zero; the paper's figure comes out only if an arrow had "
                "four non-zero neighbours instead of six. 714 is not touched by it.",
            ),
            compare(
                "Section III", "turning the board turns the answer", None, None,
                holds=error < 1e-12, paper_text="exactly",
                our_text="exactly, but for rounding (below 1e-12)" if error < 1e-12
                else f"up to {error:.1g}",
                why="All eight elements, boards of 5x5, 9x9 and 13x13, random weights.",
            ),
        ],
    )  # fmt: skip


def kernels() -> list[Picture]:
    """Draw the shipped paper's network: what every hidden unit sees, what every output takes."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.representations import SQUARE
    from tengen.models import has_model

    if not has_model("isn-9x9"):
        return []
    network = SymmetryNetwork.load("isn-9x9")
    dense = network.architecture.expand(network.free_)
    inputs = [f"○C{i}" for i in range(1, 7)] + [f"●C{i}" for i in range(1, 7)] + ["empty", "edge"]
    hidden: list[str] = []
    for block in network.architecture.layers[0].blocks:
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
            kernel_sheet(dense["OI"], SQUARE, OUTPUT_NAMES, inputs), wide=True,
        ),
        Picture(
            "What the outputs take from the hidden units: 140 free numbers",
            kernel_sheet(dense["OH"], SQUARE, OUTPUT_NAMES, hidden), wide=True,
        ),
    ]  # fmt: skip


def quick(context: Context, size: Size = QUICK) -> Result:
    """Train a small network, let its snapshots meet, look at what the shipped one sees."""
    from tengen.learners.symmetry_network import Settings, SymmetryNetwork
    from tengen.learners.symmetry_network.learner import load_snapshots
    from tengen.learners.symmetry_network.matches import learning_curve, play_match, round_robin
    from tengen.models import has_model

    every = size.games // size.snapshots
    settings = Settings(
        games=size.games, linear_games=size.linear_games, rate=size.rate, seed=context.seed
    )
    folder = context.place("symmetry-network")
    tell = context.between(0.0, 0.6, "game of self-play")
    learned = SymmetryNetwork(settings=settings, workers=context.workers).fit_run(
        folder,
        resume=True,
        snapshot_every=every,
        checkpoint_every=min(every, 250),
        watch=lambda progress: tell(progress.games, size.games),
    )
    players = load_snapshots(folder)
    pairs = len(players) * (len(players) - 1) // 2
    played = [0]

    def watch(i: int, j: int) -> None:
        played[0] += 1
        context.at(0.6 + 0.2 * played[0] / pairs, f"pair {played[0]}/{pairs}")

    def tournament() -> dict[str, Any]:
        points = round_robin(
            players, games=size.pair_games, seed=context.seed, workers=context.workers, watch=watch
        )
        curve = learning_curve([p.games_ for p in players], points, size.pair_games)
        return _plain(asdict(curve))

    curve = context.once("symmetry-network/figure1", tournament)
    rows, comparisons = [], []
    matches: list[tuple[str, Any, Any, str, int, int]] = [
        ("trained here", learned, None, "random", 9, size.match_games),
        *(
            (name, SymmetryNetwork.load(name), None, "random", 9, size.match_games)
            for name in ("isn-9x9", "isn-best")
            if has_model(name)
        ),
    ]
    if has_model("isn-9x9"):
        paper = SymmetryNetwork.load("isn-9x9")
        matches.append(("isn-9x9", paper, learned, "trained here", 9, size.match_games))
        matches.append(("isn-9x9", paper, None, "random", 19, size.large_games))
    for number, (name, a, b, opponent, board, games) in enumerate(matches):
        context.at(0.8 + 0.2 * number / len(matches), f"{name} against {opponent}")
        got = play_match(a, b, games=games, size=board, seed=context.seed, workers=context.workers)
        rows.append(
            [name, opponent, f"{board}x{board}", games, percent(got.win_rate, got.interval)]
        )
        if opponent == "trained here":
            comparisons.append(
                compare(
                    "Figure 1", f"860,000 games (shipped) against {size.games}", None, None,
                    holds=above(got.interval), paper_text="rising",
                    our_text=percent(got.win_rate, got.interval),
                    why=f"{games} games, beta 20, komi 3.5: more training is stronger.",
                )
            )  # fmt: skip
        elif board == 19:
            comparisons.append(
                compare(
                    "Section V", "the same weights play on 19x19", None, None,
                    holds=above(got.interval), paper_text="CGOS 1000",
                    our_text=f"{percent(got.win_rate, got.interval)} against random",
                    why="Trained on 9x9 only; a rating needs the server's opponents.",
                )
            )  # fmt: skip
    comparisons.append(
        compare(
            "Figure 1",
            "best snapshot",
            None,
            None,
            paper_text="580,000 games",
            our_text=f"{curve['best']:,} of {size.games:,}",
            why="A few minutes of training; the shipped networks had the paper's 860,000 games.",
        )
    )
    return Result(
        text=f"A network of the paper's shape learns for {size.games:,} games (the paper: "
        f"{papers.ISN_GAMES:,}) at ten times the paper's rate. No look-ahead anywhere: it plays by "
        "judging the position after each move. The boards below show what the shipped isn-best "
        "thinks of one position: who owns what (black and white squares), and its seven outputs, "
        "the redder the likelier.",
        tables=[
            table("Matches, moves drawn with beta 20, komi 3.5",
                  ["network", "against", "board", "games", "wins"], rows)
        ],
        figures=[figure_1(curve), *views()],
        comparisons=comparisons,
    )  # fmt: skip


def _plain(curve: dict[str, Any]) -> dict[str, Any]:
    """Replace what JSON does not know: a trend over equal rates has no correlation."""
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in curve.items()
    }


def figure_1(curve: dict[str, Any]) -> Plot:
    """Draw the snapshots' win rates over training."""
    trend = ""
    if curve["correlation"] is not None and curve["p_value"] is not None:
        trend = f"; Spearman {curve['correlation']:.2f}, p = {curve['p_value']:.2g}"
    return Plot(
        f"Figure 1: snapshots against each other{trend} (untrained left out)",
        "games of self-play", "wins over all others",
        [line("win rate", curve["games"], curve["rates"], curve["intervals"])], bottom=0.0,
    )  # fmt: skip


def views() -> list[Picture]:
    """Draw the seven outputs of a shipped network over one position, and who it thinks owns it."""
    from tengen.board import Board
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.models import has_model

    name = next((n for n in ("isn-best", "isn-9x9") if has_model(n)), None)
    if name is None:
        return []
    network = SymmetryNetwork.load(name)
    board = Board(9, moves=POSITION)
    owner = board.svg(shades=network.ownership(board), cell=18)
    figures = [Picture(f"{name}: who owns what", owner)]
    for output, values in network.heat_maps(board).items():
        title = f"how likely {MEANINGS.get(output, output)}"
        figures.append(Picture(title, heat(board, np.asarray(values))))
    return figures


# ----- At the paper's scale -----


def full(
    context: Context, *, games: int = papers.ISN_GAMES, linear_games: int = 5000,
    snapshot_every: int = 20_000, pair_games: int = 10, match_games: int = 400,
) -> Result:  # fmt: skip
    """Train as long as the paper did and play its Figure 1."""
    from tengen.learners.symmetry_network import Settings, SymmetryNetwork
    from tengen.learners.symmetry_network.learner import load_snapshots
    from tengen.learners.symmetry_network.matches import learning_curve, play_match, round_robin

    folder = context.place("symmetry-network")
    tell = context.between(0.0, 0.9, "game of self-play")
    settings = Settings(games=games, linear_games=linear_games, seed=context.seed)
    learned = SymmetryNetwork(settings=settings, workers=context.workers).fit_run(
        folder, resume=True, snapshot_every=snapshot_every,
        checkpoint_every=min(2000, snapshot_every),
        watch=lambda progress: tell(progress.games, games),
    )  # fmt: skip
    players = load_snapshots(folder)

    def tournament() -> dict[str, Any]:
        points = round_robin(
            players, games=pair_games, seed=context.seed, workers=context.workers,
            watch=lambda i, j: context.at(0.9 + 0.08 * i / len(players), f"snapshot {i}"),
        )  # fmt: skip
        curve = learning_curve([p.games_ for p in players], points, pair_games)
        return _plain(asdict(curve))

    curve = context.once("symmetry-network/figure1", tournament)
    got = play_match(learned, None, games=match_games, seed=context.seed, workers=context.workers)
    return Result(
        tables=[
            table("After all games", ["against", "games", "wins"],
                  [["random", match_games, percent(got.win_rate, got.interval)]])
        ],
        figures=[figure_1(curve)],
        comparisons=_trend(curve, games),
    )  # fmt: skip


def _trend(curve: dict[str, Any], games: int) -> list[Comparison]:
    p = curve["p_value"]
    rising = p is not None and p < 0.05 and curve["correlation"] > 0
    complete = games >= papers.ISN_GAMES
    shown = "none" if p is None else f"Spearman {curve['correlation']:.2f}, p = {p:.2g}"
    return [
        compare(
            "Figure 1", "strength rises with training", None, None, holds=rising,
            full=complete, paper_text="noisy, rising", our_text=shown,
            why="Trend over the trained snapshots; the paper tests none.",
        ),
        compare(
            "Figure 1", "best snapshot", None, None, paper_text=f"{papers.ISN_BEST:,} games",
            our_text=f"{curve['best']:,} games", holds=None,
            why="Neighbours differ by less than the noise of 430 games, so the place is chance.",
        ),
    ]  # fmt: skip


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "symmetry-weights", "symmetry-network", "714 weights, drawn", lambda c, _: numbers(c),
        quick=True, full=True, minutes=(0.1, 0.1),
    ),
    Experiment(
        "symmetry-network", "symmetry-network", "A short training", quick, quick=QUICK,
        minutes=(1.3, 1.3),
    ),
    Experiment(
        "symmetry-network", "symmetry-network", "Figure 1", lambda c, size: full(c, **size),
        full={}, minutes=(1, 300),
    ),
)  # fmt: skip
