"""Repeat the failure of Burzillo's scoring network, then take its faults away one by one.

The paper trained on 500, 5,000 and 15,000 games, scored none right and predicted numbers such as
-58,583,120. Here both its energies are trained with RPROP and with momentum, with the gradient as
printed and with the right one, on positions whose features are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tengen.board import BLACK, WHITE
from tengen.board.counting_kernels import territory_margin
from tengen.learners.scoring.blocks_kernels import PAPER, describe_blocks, number_parts
from tengen.learners.scoring.features import bordered, inside
from tengen.learners.scoring.paper import Energy, PaperGames, energy_and_gradient, initial
from tengen.learners.scoring.rprop import Momentum, Rprop
from tengen.learners.scoring.soft import soft_loss, train_soft
from tengen.records import GameArrays
from tengen.records.corpus import last_positions

SECOND_DISTANCES = (16, 31)
"""Columns of the 48 features that the 46 leave out."""

FAULTS = (
    "1. The sign. The energy holds minus the regions' awards, so its derivative by r has a minus; "
    "the paper prints a plus. Everything before r climbs the energy.",
    "2. No squashing. Both halves are affine: one linear function written as a product of factors "
    "that grow without bound.",
    "3. The step. Dead stones enter by a step function; its gradient is zero: they teach nothing.",
    "4. The model. A region's award is a sum of its size and counts; scoring needs size times "
    "owner. Regions are not joined through dead blocks.",
    "5. RPROP is a method for whole batches; fed single games its steps follow noise.",
    "6. One number a game labels some thirty blocks, and a few recorded results are wrong.",
)
"""Why the paper failed; its own two reasons (the absolute value, concavity) do not hold."""


def paper_games(games: GameArrays, *, features: int = 46, scale: bool = True) -> PaperGames:
    """Describe finished games the paper's way; `scale` standardises features (it did not)."""
    grids, taken = last_positions(games)
    x, colours, sizes, block_game = [], [], [], []
    region_game, region_size, edge_region, edge_block = [], [], [], []
    blocks = regions = 0
    for g, padded in enumerate(grids):
        rows, cols = int(games.rows[g]), int(games.cols[g])
        line = bordered(padded[:rows, :cols].astype(np.int64), 3).astype(np.int64)
        n = len(line)
        part, chain = np.empty(n, np.int64), np.zeros(n, np.int64)
        colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
        found = np.zeros((n, PAPER))
        count = describe_blocks(line, rows, cols, 1, part, colour, size, chain, found)
        stones = colour[:count] > 0
        number = np.where(stones, blocks + np.cumsum(stones) - 1, regions + np.cumsum(~stones) - 1)
        touching = set()
        for step in (1, cols + 1):
            for p in np.flatnonzero(line[:-step] != 3):
                a, b = int(part[p]), int(part[p + step])
                if b >= 0 and stones[a] != stones[b]:
                    touching.add((int(number[b]), int(number[a])) if stones[a] else
                                 (int(number[a]), int(number[b])))  # fmt: skip
        edge_region += [e for e, _ in sorted(touching)]
        edge_block += [b for _, b in sorted(touching)]
        x.append(found[:count][stones])
        colours.append(colour[:count][stones])
        sizes.append(size[:count][stones])
        block_game.append(np.full(int(stones.sum()), g))
        region_size.append(size[:count][~stones])
        region_game.append(np.full(int((~stones).sum()), g))
        blocks += int(stones.sum())
        regions += int((~stones).sum())
    table = np.concatenate(x)
    if features == 46:
        table = np.delete(table, SECOND_DISTANCES, axis=1)
    if scale:
        table = (table - table.mean(axis=0)) / np.maximum(table.std(axis=0), 1e-9)
    return PaperGames(
        x=table,
        colour=np.concatenate(colours),
        size=np.concatenate(sizes).astype(np.float64),
        block_game=np.concatenate(block_game),
        region_game=np.concatenate(region_game),
        region_size=np.concatenate(region_size).astype(np.float64),
        edge_region=np.array(edge_region, np.int64),
        edge_block=np.array(edge_block, np.int64),
        offset=games.komi.astype(np.float64) - taken[:, BLACK - 1] + taken[:, WHITE - 1],
        score=-games.score.astype(np.float64),
    )


def train_paper(
    games: PaperGames,
    *,
    energy: Energy = "step",
    optimiser: str = "rprop",
    printed: bool = True,
    steps: int = 60,
    hidden: int = 10,
    seed: int = 0,
) -> dict[str, Any]:
    """Train the paper's network; return the error before and after and the largest prediction."""
    parameters = initial(games.x.shape[1], hidden, seed)
    way = Rprop() if optimiser == "rprop" else Momentum(rate=1e-4)
    errors = []
    scores = games.offset
    for _ in range(steps + 1):
        error, gradients, scores = energy_and_gradient(
            parameters, games, energy=energy, printed=printed
        )
        errors.append(error)
        if not np.isfinite(error) or error > 1e15:
            break
        way.step(parameters, gradients, error)
    finite = [float(e) if np.isfinite(e) else 1e300 for e in errors]
    return {
        "games": len(games.score),
        "energy": energy,
        "optimiser": optimiser,
        "gradient": "printed" if printed else "right",
        "steps": len(errors) - 1,
        "first_error": finite[0],
        "least_error": min(finite),
        "last_error": finite[-1],
        "largest_prediction": float(np.nan_to_num(np.abs(scores).max(), posinf=1e300)),
        "exact": float((np.abs(np.round(scores * 2) / 2 - games.score) < 0.01).mean()),
        "curve": finite,
    }


def _train_repaired(
    games: GameArrays, described: PaperGames, *, epochs: int = 150, seed: int = 0
) -> dict[str, Any]:
    """Train the repaired energy (soft score, 46 features alone) and count its hard answers."""
    weights = train_soft(described, epochs=epochs, seed=seed)
    loss, _, alive = soft_loss(weights, described)
    grids, _ = last_positions(games)
    wanted = described.offset - described.score
    errors, right, row = [], [], 0
    for g, padded in enumerate(grids):
        rows, cols = int(games.rows[g]), int(games.cols[g])
        grid = np.ascontiguousarray(padded[:rows, :cols])
        line = bordered(grid.astype(np.int64), 3).astype(np.int64)
        part = np.empty(len(line), np.int64)
        colour, size = np.zeros(len(line), np.int64), np.zeros(len(line), np.int64)
        count = number_parts(line, cols + 1, part, colour, size)
        fallen = np.zeros(count, np.bool_)
        stones = np.flatnonzero(colour[:count] > 0)
        fallen[stones] = alive[row : row + len(stones)] < 0.5
        row += len(stones)
        dead = np.ascontiguousarray(fallen[inside(part, rows, cols)])
        margin = territory_margin(grid, dead, True, np.zeros(grid.shape, np.int8))
        errors.append(abs(margin - wanted[g]))
        right.append(abs(margin - wanted[g]) < 0.01)
    return {
        "games": len(games),
        "energy": "soft score",
        "optimiser": "rprop",
        "gradient": "right",
        "steps": epochs,
        "loss": loss,
        "last_error": float(np.mean(errors)),
        "largest_prediction": float(np.max(np.abs(wanted)) + np.max(errors)),
        "exact": float(np.mean(right)),
    }


def train_versions(
    games: GameArrays,
    *,
    counts: Sequence[int] = (500, 3000),
    steps: int = 60,
    seed: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Train every version of the paper on the first games after a shuffle by the seed."""
    runs = []
    for count in counts:
        chosen = games.shuffled(seed).take(np.arange(min(count, len(games))))
        described = paper_games(chosen)
        trivial = float(np.abs(described.score - described.offset).mean())
        say(f"{len(chosen)} games: predicting komi and prisoners only errs by {trivial:.1f}")
        for energy in ("step", "linear"):
            for optimiser in ("rprop", "momentum"):
                for printed in (True, False):
                    run = train_paper(
                        described, energy=energy, optimiser=optimiser, printed=printed,
                        steps=steps, seed=seed,
                    )  # fmt: skip
                    run["trivial_error"] = trivial
                    runs.append(run)
                    say(
                        f"{run['games']} games, {energy} energy, {optimiser}, {run['gradient']} "
                        f"gradient: mean error {run['last_error']:.4g}, largest prediction "
                        f"{run['largest_prediction']:.4g}, exact {run['exact']:.1%}"
                    )
        repaired = _train_repaired(chosen, described, seed=seed)
        runs.append(repaired)
        say(
            f"{repaired['games']} games, repaired (soft score, Huber, 46 features): mean error "
            f"{repaired['last_error']:.4g}, exact {repaired['exact']:.1%}"
        )
    return runs
