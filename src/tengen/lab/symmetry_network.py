"""Internal symmetry networks (Blair 2008): weights counted and drawn, training, Figure 1.

Figure 1 lets all snapshots of one training play each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.errors import SpecError
from tengen.lab import papers
from tengen.lab.drawing import kernel_sheet
from tengen.lab.result import Findings, Picture, Plot, Table, line
from tengen.lab.steps import Experiment, LabContext
from tengen.lab.verdicts import Comparison, above, compare, percent
from tengen.models import has_model
from tengen.models.settings import CheckedSettings, setting
from tengen.progress import Report
from tengen.statistics import Rate, Trend, spearman, wilson

if TYPE_CHECKING:
    from tengen.learners.symmetry_network import SymmetryNetwork

POSITION = "B E5 W C3 B G3 W C6 B F7 W G6 B G7 W H7 B H6 W H8 B F6 W H5"  # a fight on 9x9
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


# ----- Weights -----


@dataclass(frozen=True)
class WeightsSize:
    """The boards on which the symmetry is checked."""

    boards: tuple[int, ...] = (5, 9, 13)


def weights(context: LabContext, size: WeightsSize) -> Findings:
    """Count the weights, check the symmetry on boards and draw the shipped network's kernels."""
    from tengen.learners.symmetry_network import network as definition

    architecture = definition.Architecture()
    free = np.random.default_rng(context.seed).normal(0, 0.3, architecture.size)
    error = max(definition.equivariance_error(architecture, free, size=n) for n in size.boards)
    tied = definition.Architecture(colour=True)
    rows = [
        [part, "x".join(map(str, tying.shape)), tying.free]
        for part, tying in architecture.parts.items()
    ]
    return Findings(
        text="Every cell of the board has twelve hidden units. Some are unchanged when the board "
        "is turned (T), some change sign with a quarter turn (S, D), and pairs turn like an arrow "
        "(F). Which weights may differ follows from that alone: it is computed, not typed in.",
        tables=[
            Table(
                "Free weights by part (B: biases, which the paper does not count)",
                ["part", "shape of the dense weights", "free"],
                rows,
                note=f"With the colours tied as well: {tied.weights}.",
            )
        ],
        figures=_kernels(),
        comparisons=[
            compare(
                "blair.weights", architecture.weights,
                why="V_HI 280, V_OH 140, V_OI 294, from the null space of the constraints.",
            ),
            compare(
                "blair.connections", architecture.connections,
                why="Weights that can differ from zero; the paper's figure would need four "
                "non-zero neighbours of an arrow instead of six. 714 is not affected.",
            ),
            compare(
                "blair.symmetry", holds=error < 1e-12,
                text="exactly, but for rounding (below 1e-12)" if error < 1e-12
                else f"up to {error:.1g}",
                why=f"All eight symmetries, sizes {', '.join(map(str, size.boards))}, random "
                "weights.",
            ),
        ],
    )  # fmt: skip


def _kernels() -> list[Picture]:
    """Draw the weights of the shipped network of the paper."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.network import SQUARE

    if not has_model("isn-9x9"):
        return []
    network = SymmetryNetwork.load("isn-9x9")
    dense = network.architecture.expand(network.free_)
    inputs = [f"○C{i}" for i in range(1, 7)] + [f"●C{i}" for i in range(1, 7)] + ["empty", "edge"]
    hidden: list[str] = []
    for block in network.architecture.cell.blocks:
        before = sum(name.startswith(f"{block.name}") for name in hidden)
        hidden += [f"{block.name}{before + i + 1}" for i in range(block.size)]
    first = (
        "Weights from each kind of point (columns) to the hidden units (rows): 280 free weights of "
        "the shipped isn-9x9. Red is positive, blue negative; C1 is the weakest block, C6 alive."
    )
    sheets = (
        (first, "HI", hidden, inputs),
        ("Weights from the board to the outputs: 294 free weights", "OI", _OUTPUT_NAMES, inputs),
        ("Weights from the hidden units to the outputs: 140 free weights", "OH", _OUTPUT_NAMES,
         hidden),
    )  # fmt: skip
    return [
        Picture(title, kernel_sheet(dense[part], SQUARE, rows, cols), wide=True)
        for title, part, rows, cols in sheets
    ]


# ----- Figure 1 -----


@dataclass(frozen=True)
class SnapshotTournament(CheckedSettings):
    """How snapshots play each other: the paper's conditions by default."""

    games: int = setting(10, "Games per pair.", least=1)
    size: int = setting(9, "Size of the board.", least=3, most=25)
    komi: float = setting(3.5, "Komi.")
    beta: float = setting(20.0, "Moves are drawn by exp(beta value).", least=0)
    run: str = setting("", "Folder of the training.")


@dataclass(frozen=True)
class LearningCurve:
    """Strength over training, with a test of its trend; None where there is nothing to test."""

    games: list[int]
    rates: list[float]
    intervals: list[tuple[float, float]]
    correlation: float | None  # Spearman's, untrained network left out
    p_value: float | None
    slope: float | None  # points of win rate per 100,000 games
    best: int  # games behind the best snapshot


def figure_1(
    snapshots: Sequence[SymmetryNetwork],
    tournament: SnapshotTournament,
    *,
    seed: int = 0,
    workers: int = 1,
    report: Report = lambda done, total: None,
) -> LearningCurve:
    """Let all snapshots of a training, at least two, play each other."""
    from tengen.learners.symmetry_network.learner import play_games

    if len(snapshots) < 2:
        raise SpecError(f"{len(snapshots)} snapshots: at least two are needed")
    n = len(snapshots)
    points = np.zeros((n, n))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for done, (i, j) in enumerate(pairs, 1):
        scores, _ = play_games(
            *(snapshots[i], snapshots[j]), games=tournament.games, size=tournament.size,
            komi=tournament.komi, beta=tournament.beta, seed=seed * 1_000_003 + i * n + j,
            workers=workers,
        )  # fmt: skip
        points[i, j] = Rate.of(scores).win_rate * tournament.games
        points[j, i] = tournament.games - points[i, j]
        report(done, len(pairs))
    return learning_curve([network.games_ for network in snapshots], points, tournament.games)


def learning_curve(
    games: Sequence[int], points: np.ndarray[Any, Any], per_pair: int
) -> LearningCurve:
    """Return win rates with intervals and a trend; points[i, j] is what i scored against j."""
    played = per_pair * (len(games) - 1)
    won = points.sum(1)
    trained = [i for i, g in enumerate(games) if g > 0]
    at, rates = [games[i] / 1e5 for i in trained], (won[trained] / played).tolist()
    rank = spearman(at, rates)
    return LearningCurve(
        [int(g) for g in games],
        [float(w / played) for w in won],
        [wilson(float(w), played) for w in won],
        rank.r if rank else None,
        rank.p if rank else None,
        Trend.through(at, rates).slope if rank else None,
        int(games[int(np.argmax(won))]),
    )


def snapshots(context: LabContext, size: SnapshotTournament) -> Findings:
    """Draw Figure 1 of a finished training."""
    from tengen.learners.symmetry_network.learner import load_snapshots

    if not size.run:
        raise SpecError("symmetry-snapshots needs the folder of a training: run=FOLDER")
    curve = figure_1(
        load_snapshots(Path(size.run)), size, seed=context.seed, workers=context.workers,
        report=context.between(0, 1, "pair"),
    )  # fmt: skip
    data = asdict(curve)
    points = zip(curve.games, curve.rates, curve.intervals, strict=True)
    rows = [[games, percent(rate, interval)] for games, rate, interval in points]
    note = f"{_trend_text(data) or 'no trend to test'}; best after {curve.best} games"
    return Findings(
        tables=[Table("Figure 1", ["games", "won"], rows, note)],
        figures=[_curve_plot(data)],
        data=data,
    )


def _trend_text(curve: dict[str, Any]) -> str:
    """Return the test of a curve's trend; empty if there is nothing to test."""
    if curve["correlation"] is None or curve["p_value"] is None:
        return ""
    return f"Spearman {curve['correlation']:.2f}, p = {curve['p_value']:.2g}"


# ----- Training -----


@dataclass(frozen=True)
class TrainingSize:
    """How long a network is trained, and how many games are played."""

    games: int
    linear_games: int
    rate: float
    snapshot_every: int
    pair_games: int
    match_games: int
    large_games: int  # on 19x19


_QUICK = TrainingSize(3000, 600, 5e-5, 500, 20, 100, 10)
"""A few minutes, at ten times the paper's learning rate."""
_FULL = TrainingSize(papers.ISN_GAMES, 5000, 5e-6, 20_000, 10, 400, 40)  # the paper's scale


def training(context: LabContext, size: TrainingSize) -> Findings:
    """Train a network, let its snapshots play each other, evaluate the shipped networks."""
    from tengen.learners.symmetry_network import SymmetryNetwork, SymmetrySettings
    from tengen.learners.symmetry_network.learner import load_snapshots, open_run

    settings = SymmetrySettings(
        games=size.games, linear_games=size.linear_games, rate=size.rate, seed=context.seed,
        snapshot_every=size.snapshot_every,
        checkpoint_every=max(1, min(2000, size.snapshot_every // 2)),
    )  # fmt: skip
    folder = context.place("symmetry-network")
    report = context.between(0.0, 0.6, "game of self-play")
    with open_run(folder, settings, resume=True) as run:
        learned = SymmetryNetwork(settings=settings, workers=context.workers).fit(
            run=run, watch=lambda state: report(state.games, size.games)
        )
    pairs = partial(
        figure_1, tournament=SnapshotTournament(games=size.pair_games), seed=context.seed,
        workers=context.workers, report=context.between(0.6, 0.8, "pair"),
    )  # fmt: skip
    name = "symmetry-network/figure1"
    curve = context.once(name, lambda: asdict(pairs(load_snapshots(folder))))
    rows, comparisons = _matches(context, learned, size)
    p = curve["p_value"]
    return Findings(
        text=f"A network of the paper's shape learns for {size.games:,} games (the paper: "
        f"{papers.ISN_GAMES:,}) at a rate of {size.rate:g} (the paper: {papers.ISN_RATE:g}). No "
        "look-ahead: it evaluates the position after each move. The boards show how the shipped "
        "isn-best evaluates one position: the owners of points (black and white squares), and its "
        "seven outputs, redder where more likely.",
        tables=[
            Table("Matches, moves drawn with beta 20, komi 3.5",
                  ["network", "against", "board", "games", "wins"], rows)
        ],
        figures=[_curve_plot(curve), *_views()],
        comparisons=[
            compare(
                "blair.figure1.trend", full=size.games >= papers.ISN_GAMES,
                holds=p is not None and p < 0.05 and curve["correlation"] > 0,
                text=_trend_text(curve) or "none",
                why="Trend over the trained snapshots; the paper does not test it.",
            ),
            compare(
                "blair.figure1.best", text=f"{curve['best']:,} of {size.games:,} games",
                why="Neighbours differ by less than the noise of 430 games, so the place is "
                "chance.",
            ),
            *comparisons,
        ],
        data=curve,
    )  # fmt: skip


def _matches(
    context: LabContext, learned: SymmetryNetwork, size: TrainingSize
) -> tuple[list[list[Any]], list[Comparison]]:
    """Evaluate the learned and the shipped networks; return rows of a table and comparisons."""
    from tengen.learners.symmetry_network.learner import SymmetryNetwork, play_games

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
        scores, _ = play_games(
            *(a, b or "random"), games=games, size=board, seed=context.seed,
            workers=context.workers,
        )  # fmt: skip
        got = Rate.of(scores)
        shown = percent(got.win_rate, got.interval)
        rows.append([name, opponent, f"{board}x{board}", games, shown])
        if b is not None and size.games < papers.ISN_GAMES:
            comparisons.append(
                compare(
                    "blair.figure1.trend", holds=above(got.interval), text=shown,
                    detail=f"{papers.ISN_GAMES:,} games (shipped) against {size.games:,}",
                    why=f"{games} games, beta 20, komi 3.5: more training is stronger.",
                )
            )  # fmt: skip
        elif board == 19:
            comparisons.append(
                compare(
                    "blair.cgos.19", holds=above(got.interval), text=f"{shown} against random",
                    why="Trained on 9x9 only; a rating needs the server's opponents.",
                )
            )  # fmt: skip
    return rows, comparisons


def _curve_plot(curve: dict[str, Any]) -> Plot:
    trend = "; ".join(filter(None, ("Figure 1: snapshots against each other", _trend_text(curve))))
    return Plot(
        f"{trend} (untrained left out)", "games of self-play", "wins over all others",
        [line("win rate", curve["games"], curve["rates"], curve["intervals"])], bottom=0.0,
    )  # fmt: skip


def _views() -> list[Picture]:
    """Draw the ownership and the seven outputs of a shipped network for one position."""
    from tengen.board import Board
    from tengen.learners.symmetry_network import SymmetryNetwork

    name = next((n for n in ("isn-best", "isn-9x9") if has_model(n)), None)
    if name is None:
        return []
    network = SymmetryNetwork.load(name)
    board = Board(9, moves=POSITION)
    owner = board.svg(ownership=network.ownership(board), cell=18)
    figures = [Picture(f"{name}: ownership", owner)]
    for output, values in network.heat_maps(board).items():
        title = f"probability that {_MEANINGS.get(output, output)}"
        figures.append(Picture(title, board.svg(heat=np.ravel(values), cell=18)))
    return figures


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "symmetry-weights", "symmetry-network", "714 weights, drawn", weights,
        quick=WeightsSize(), full=WeightsSize(), minutes=(0.1, 0.1),
    ),
    Experiment(
        "symmetry-network", "symmetry-network", "Self-play and Figure 1", training,
        quick=_QUICK, full=_FULL, minutes=(1.3, 300),
    ),
    Experiment(
        "symmetry-snapshots", "symmetry-network", "Figure 1 of any training", snapshots,
        full=SnapshotTournament(), named_only=True,
    ),
)  # fmt: skip
