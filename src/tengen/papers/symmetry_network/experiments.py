"""Internal symmetry networks (Blair 2008): weights counted and drawn, training, Figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board
from tengen.errors import SpecError
from tengen.lab.drawing import kernel_sheet
from tengen.lab.papers import read_paper
from tengen.lab.result import Findings, Picture, Plot, Table, line
from tengen.lab.steps import Experiment, LabContext
from tengen.lab.verdicts import Comparison, above, compare, percent
from tengen.models import Run
from tengen.models.settings import CheckedSettings, setting
from tengen.papers.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.papers.symmetry_network import network as definition
from tengen.papers.symmetry_network.learner import load_snapshots, play_games
from tengen.papers.symmetry_network.network import SQUARE
from tengen.progress import Report
from tengen.statistics import Rate, Trend, spearman, wilson

PAPER = read_paper("tengen.papers.symmetry_network")
ISN_GAMES = 860_000  # of the paper's training
OUTPUTS = PAPER.more["outputs"]

POSITION = "B E5 W C3 B G3 W C6 B F7 W G6 B G7 W H7 B H6 W H8 B F6 W H5"  # a fight on 9x9
_OUTPUT_NAMES = ("Z+", "Zo", "Z•", "Aw+", "Ab+", "Ao", "A•")


# ----- Weights -----


@dataclass(frozen=True)
class WeightsSize:
    """The boards on which the symmetry is checked."""

    boards: tuple[int, ...] = (5, 9, 13)


def weights(context: LabContext, size: WeightsSize) -> Findings:
    """Count the weights, check the symmetry on boards and draw the shipped network's kernels."""
    architecture = definition.Architecture()
    free = np.random.default_rng(context.seed).normal(0, 0.3, architecture.size)
    error = max(definition.equivariance_error(architecture, free, size=n) for n in size.boards)
    tied = definition.Architecture(colour=True)
    rows = [
        [part, "x".join(map(str, tying.shape)), tying.free]
        for part, tying in architecture.parts.items()
    ]
    title = "Free weights by part (B: biases, which the paper does not count)"
    note = f"With the colours tied as well: {tied.weights}."
    found = f"up to {error:.1g}" if error >= 1e-12 else "exactly, but for rounding (below 1e-12)"
    why = f"All eight symmetries, sizes {', '.join(map(str, size.boards))}, random weights."
    return Findings(
        text=PAPER.texts["symmetry-weights"],
        tables=[Table(title, ["part", "shape of the dense weights", "free"], rows, note)],
        figures=_kernels(),
        comparisons=[
            compare("blair.weights", architecture.weights),
            compare("blair.connections", architecture.connections),
            compare("blair.symmetry", holds=error < 1e-12, text=found, why=why),
        ],
    )


def _kernels() -> list[Picture]:
    """Draw the weights of the shipped network of the paper."""
    network = SymmetryNetwork.load("isn-9x9")
    dense = network.architecture.expand(network.free_)
    inputs = [f"○C{i}" for i in range(1, 7)] + [f"●C{i}" for i in range(1, 7)] + ["empty", "edge"]
    kinds = [b.name for b in network.architecture.cell.blocks for _ in range(b.size)]
    hidden = [f"{kind}{kinds[: i + 1].count(kind)}" for i, kind in enumerate(kinds)]
    sheets = {
        "HI": (hidden, inputs), "OI": (_OUTPUT_NAMES, inputs), "OH": (_OUTPUT_NAMES, hidden)
    }  # fmt: skip
    return [
        Picture(PAPER.texts[part], kernel_sheet(dense[part], SQUARE, *names), wide=True)
        for part, names in sheets.items()
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


def figure_1(
    snapshots: Sequence[SymmetryNetwork],
    tournament: SnapshotTournament,
    *,
    seed: int = 0,
    workers: int = 1,
    report: Report = lambda done, total: None,
) -> dict[str, Any]:
    """Let all snapshots of a training, at least two, play each other; see `learning_curve`."""
    if len(snapshots) < 2:
        raise SpecError(f"{len(snapshots)} snapshots: at least two are needed")
    n = len(snapshots)
    points = np.zeros((n, n))
    pairs = list(combinations(range(n), 2))
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


def learning_curve(games: Sequence[int], points: FloatArray, per_pair: int) -> dict[str, Any]:
    """Return win rates with intervals and their trend; points[i, j] is what i scored against j.

    `correlation` is Spearman's, `slope` the win rate per 100,000 games, without the untrained
    network; `best` the number of training games of the best snapshot.
    """
    played = per_pair * (len(games) - 1)
    won = points.sum(1)
    trained = [i for i, g in enumerate(games) if g > 0]
    at, rates = [games[i] / 1e5 for i in trained], (won[trained] / played).tolist()
    rank = spearman(at, rates)
    return {
        "games": [int(g) for g in games],
        "rates": [float(w / played) for w in won],
        "intervals": [wilson(float(w), played) for w in won],
        "correlation": rank.r if rank else None,
        "p_value": rank.p if rank else None,
        "slope": Trend.through(at, rates).slope if rank else None,
        "best": int(games[int(np.argmax(won))]),
    }


def snapshots(context: LabContext, size: SnapshotTournament) -> Findings:
    """Draw Figure 1 of a finished training."""
    if not size.run:
        raise SpecError("symmetry-snapshots needs the folder of a training: run=FOLDER")
    curve = figure_1(
        load_snapshots(Path(size.run)), size, seed=context.seed, workers=context.workers,
        report=context.between(0, 1, "pair"),
    )  # fmt: skip
    points = zip(curve["games"], curve["rates"], curve["intervals"], strict=True)
    rows = [[games, percent(rate, interval)] for games, rate, interval in points]
    note = f"{_trend_text(curve) or 'no trend to test'}; best after {curve['best']} games"
    table = Table("Figure 1", ["games", "won"], rows, note)
    return Findings(tables=[table], figures=[_curve_plot(curve)], data=curve)


def _trend_text(curve: dict[str, Any]) -> str:
    """Return the test of a curve's trend; empty if there is nothing to test."""
    r, p = curve["correlation"], curve["p_value"]
    return "" if r is None else f"Spearman {r:.2f}, p = {p:.2g}"


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
_FULL = TrainingSize(ISN_GAMES, 5000, 5e-6, 20_000, 10, 400, 40)  # the paper's scale


def training(context: LabContext, size: TrainingSize) -> Findings:
    """Train a network, let its snapshots play each other, evaluate the shipped networks."""
    settings = SymmetrySettings(
        games=size.games, linear_games=size.linear_games, rate=size.rate, seed=context.seed,
        snapshot_every=size.snapshot_every,
        checkpoint_every=max(1, min(2000, size.snapshot_every // 2)),
    )  # fmt: skip
    folder = context.place("symmetry-network")
    report = context.between(0.0, 0.6, "game of self-play")
    with Run.open(folder, SymmetryNetwork.kind, settings, resume=True) as run:
        learned = SymmetryNetwork(settings=settings, workers=context.workers).fit(
            run=run, watch=lambda games, means: report(games, size.games)
        )
    pairs = partial(
        figure_1, tournament=SnapshotTournament(games=size.pair_games), seed=context.seed,
        workers=context.workers, report=context.between(0.6, 0.8, "pair"),
    )  # fmt: skip
    curve = context.once("symmetry-network/figure1", lambda: pairs(load_snapshots(folder)))
    rows, comparisons = _matches(context, learned, size)
    p, columns = curve["p_value"], ["network", "against", "board", "games", "wins"]
    return Findings(
        text=PAPER.texts["symmetry-network"].format(size),
        tables=[Table("Matches, moves drawn with beta 20, komi 3.5", columns, rows)],
        figures=[_curve_plot(curve), *_views()],
        comparisons=[
            compare(
                "blair.figure1.trend", full=size.games >= ISN_GAMES,
                holds=p is not None and p < 0.05 and curve["correlation"] > 0,
                text=_trend_text(curve) or "none",
            ),
            compare("blair.figure1.best", text=f"{curve['best']:,} of {size.games:,} games"),
            *comparisons,
        ],
        data=curve,
    )  # fmt: skip


def _matches(
    context: LabContext, learned: SymmetryNetwork, size: TrainingSize
) -> tuple[list[list[Any]], list[Comparison]]:
    """Evaluate the learned and the shipped networks; return rows of a table and comparisons."""
    here, paper = "trained here", "isn-9x9"
    players: dict[str, Any] = {name: SymmetryNetwork.load(name) for name in (paper, "isn-best")}
    players |= {here: learned, "random": "random"}
    pairs = [(here, "random"), (paper, "random"), ("isn-best", "random"), (paper, here)]
    matches = [(*pair, 9, size.match_games) for pair in pairs]
    matches.append((paper, "random", 19, size.large_games))
    rows: list[list[Any]] = []
    comparisons = []
    for number, (name, opponent, board, games) in enumerate(matches):
        context.at(0.8 + 0.2 * number / len(matches), f"{name} against {opponent}")
        scores, _ = play_games(
            players[name], players[opponent], games=games, size=board, seed=context.seed,
            workers=context.workers,
        )  # fmt: skip
        got = Rate.of(scores)
        shown, holds = percent(got.win_rate, got.interval), above(got.interval)
        rows.append([name, opponent, f"{board}x{board}", games, shown])
        if opponent == here and size.games < ISN_GAMES:
            detail = f"{ISN_GAMES:,} games (shipped) against {size.games:,}"
            why = f"{games} games, beta 20, komi 3.5: more training is stronger."
            claim = "blair.figure1.trend"
            comparisons.append(compare(claim, holds=holds, text=shown, detail=detail, why=why))
        elif board == 19:
            text = f"{shown} against random"
            comparisons.append(compare("blair.cgos.19", holds=holds, text=text))
    return rows, comparisons


def _curve_plot(curve: dict[str, Any]) -> Plot:
    trend = "; ".join(filter(None, ("Figure 1: snapshots against each other", _trend_text(curve))))
    return Plot(
        f"{trend} (untrained left out)", "games of self-play", "wins over all others",
        [line("win rate", curve["games"], curve["rates"], curve["intervals"])], bottom=0.0,
    )  # fmt: skip


def _views() -> list[Picture]:
    """Draw the ownership and the seven outputs of a shipped network for one position."""
    name = "isn-best"
    network = SymmetryNetwork.load(name)
    board = Board(9, moves=POSITION)
    maps = {f"probability that {OUTPUTS[k]}": v for k, v in network.heat_maps(board).items()}
    return [
        Picture(f"{name}: ownership", board.svg(ownership=network.ownership(board), cell=18)),
        *(Picture(title, board.svg(heat=np.ravel(v), cell=18)) for title, v in maps.items()),
    ]


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "symmetry-weights", "symmetry-network", "714 weights, drawn", weights,
        quick=WeightsSize(), full=WeightsSize(), minutes=(0.02, 0.02),
    ),
    Experiment(
        "symmetry-network", "symmetry-network", "Self-play and Figure 1", training,
        quick=_QUICK, full=_FULL, minutes=(1.15, 300),
    ),
    Experiment(
        "symmetry-snapshots", "symmetry-network", "Figure 1 of any training", snapshots,
        full=SnapshotTournament(), named_only=True,
    ),
)  # fmt: skip
