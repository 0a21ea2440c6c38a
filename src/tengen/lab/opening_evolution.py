"""Run the experiments of openings by evolution (Kendall 2004) and set them beside the paper's
tables.

The paper let the best networks of every 1,000th (10,000th) generation play a double round robin and
saw a rising line of points, p = 0.34 and 0.18. Here the same is done from random starts, over
several seeds; a fixed panel of opponents says whether anything was learned at all, and
`selection_noise` how much a fitness tells of a network.

What a run's folder has been asked once is kept there in `panel.jsonl` and not played again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.lab.content import Line, Plot
from tengen.learners.opening_evolution import (
    Evolution,
    NetworkPlayer,
    OpeningEvolution,
    Plan,
    Setting,
    Shape,
    match,
    measure_with,
)
from tengen.learners.opening_evolution.strategy import PaperStrategy, Population
from tengen.models import Checkpoints
from tengen.parallel import spawn_seeds
from tengen.statistics import Rate, Trend

PANEL = ("random", "maxlib", "static")
"""Opponents that stay the same, so that learning can be seen."""


def snapshots(folder: Path) -> dict[int, NDArray[np.float64]]:
    """Return the best weights of each kept generation of a run.

    Raises
    ------
    TengenError
        If the folder has none.
    """
    store = Checkpoints(folder / "snapshots")
    found = {step: store.load(step).arrays["weights"] for step in store.steps()}
    if not found:
        raise TengenError(f"{folder}: no snapshots of a run in there")
    return found


def plan_of(folder: Path) -> Plan:
    """Return the plan of a run, as its newest snapshot or checkpoint tells it.

    Raises
    ------
    TengenError
        If there is neither.
    """
    for name in ("checkpoints", "snapshots"):
        found = Checkpoints(folder / name).latest()
        if found is not None and "plan" in found.state:
            return Plan(**found.state["plan"])
    raise TengenError(f"{folder}: no run in there")


def against(
    player: Player, opponent: Player, expert: Expert, setting: Setting, games: int, seed: int
) -> Rate:
    """Play `games` openings, each start with both colours, and let the expert count them."""
    seeds = spawn_seeds(seed, (games + 1) // 2)
    return Rate.of(match(player, opponent, expert, setting, seeds)[:games])


def round_robin(
    shape: Shape,
    entrants: dict[int, NDArray[np.float64]],
    expert: Expert,
    setting: Setting,
    starts: int,
    seed: int,
    chances: int = 0,
) -> dict[int, float]:
    """Let all pairs play both colours from `starts` random starts; return points per 2 games a
    pair.

    Points as in the paper, win +2, loss -1, draw +1, averaged over starts so that the totals can be
    read beside its tables.
    """
    points = dict.fromkeys(entrants, 0.0)
    names = list(entrants)
    players = {name: NetworkPlayer(shape, entrants[name], f"g{name}", chances) for name in names}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            seeds = spawn_seeds(seed, starts, a, b)
            scores = match(players[a], players[b], expert, setting, seeds)
            gain = np.where(scores > 0, 2.0, np.where(scores < 0, -1.0, 1.0))
            loss = np.where(scores < 0, 2.0, np.where(scores > 0, -1.0, 1.0))
            points[a] += float(gain.sum()) / starts
            points[b] += float(loss.sum()) / starts
    return points


def paper_plan(network: str, seed: int, generations: int, every: int = 250) -> Plan:
    """Return the paper's experiment: one game as Black against one opponent, 10 or 20 networks.

    The games are the same whenever they are played, so that survivors need not play again.
    """
    return Plan(
        network=network,
        population=20 if network == "spatial" else 10,
        generations=generations,
        colours="black",
        remember=True,
        seed=seed,
        snapshot_every=every,
    )


def better_plan(network: str, seed: int, generations: int, every: int = 25) -> Plan:
    """Return the experiment that learns: openings judged by playouts, not by one finished game.

    The spatial network becomes `shared`, the dense one `tied`: few weights. Four games each from
    common random starts against two opponents; CMA-ES breeds.
    """
    return Plan(
        network={"spatial": "shared", "dense": "tied"}.get(network, network),
        population=20,
        generations=generations,
        random_plies=4,
        starts=2,
        strategy="cma",
        opponent="static + random",
        expert="builtin:playouts=16",
        seed=seed,
        snapshot_every=every,
    )


def champion_plan(network: str, seed: int, generations: int, every: int = 20) -> Plan:
    """Return the method of the champions: small steps of a mean, ever more games.

    The spatial network becomes `rich`, the dense one `tiled`. Half of the starts are against the
    hall of fame, which begins with the best of generation 0, the others against three opponents;
    what is beyond a clear win hardly counts. The shipped ones' own settings differ in opponents and
    hall, see docs/results.md.
    """
    return Plan(
        network={"spatial": "rich", "dense": "tiled"}.get(network, network),
        population=24,
        generations=generations,
        random_plies=4,
        starts=2,
        more_starts_every=20,
        hall_every=60,
        bend=30.0,
        strategy="mirror",
        opponent="static + random + sample:model=predictor-small,temperature=0",
        expert="builtin:playouts=16",
        seed=seed,
        snapshot_every=every,
    )


METHODS = {"paper": paper_plan, "better": better_plan, "champion": champion_plan}
"""How to evolve, by name: network, seed, generations, snapshots every so many."""


def judge_run(
    folder: Path,
    plan: Plan,
    panel: dict[str, Player],
    expert: Expert,
    *,
    games: int,
    every: int,
    seed: int,
    expert_name: str = "static",
    on_step: Callable[[str], None] = lambda note: None,
) -> dict[str, Any]:
    """Measure a run's snapshots against the panel and against its own generation 0."""
    shape = plan.shape()
    setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
    kept = {g: w for g, w in snapshots(folder).items() if g % every == 0}
    players = {g: NetworkPlayer(shape, w, f"g{g}", plan.chances) for g, w in kept.items()}
    first = players[min(kept)]
    store = folder / "panel.jsonl"
    lines = store.read_text().splitlines() if store.exists() else []
    known = {json.dumps(row["key"]): row["rate"] for row in map(json.loads, lines)}
    rows = []
    for generation, me in players.items():
        # A best that lasted plays the same games: it is asked once.
        same = next(g for g in kept if np.array_equal(kept[g], kept[generation]))
        row: dict[str, Any] = {"generation": generation}
        for name, opponent in {**panel, "generation 0": first}.items():
            if me is opponent:
                continue
            key = json.dumps([same, name, expert_name, games, seed])
            if key not in known:
                known[key] = asdict(against(me, opponent, expert, setting, games, seed))
                with store.open("a") as out:
                    out.write(json.dumps({"key": json.loads(key), "rate": known[key]}) + "\n")
            row[name] = known[key]
        row["panel"] = asdict(Rate.pooled(Rate(**row[name]) for name in panel))
        rows.append(row)
        on_step(f"generation {generation}")
    trends = {}
    for name in (*panel, "panel"):
        trend = Trend.through(
            [row["generation"] for row in rows], [row[name]["win_rate"] for row in rows]
        )
        trends[name] = asdict(trend)
    return {"plan": asdict(plan), "rows": rows, "trends": trends, "gain": asdict(Gain.of(rows))}


@dataclass(frozen=True)
class Gain:
    """What a run's last generation wins more against the panel than its generation 0.

    `z` and `p` are of the test of two proportions, one-sided: that it did not get better.
    """

    first: float
    last: float
    z: float
    p: float

    @classmethod
    def of(cls, rows: list[dict[str, Any]]) -> Gain:
        """Compare the last row of a judged run with the first."""
        a, b = rows[0]["panel"], rows[-1]["panel"]
        n, m = a["games"], b["games"]
        share = (n * a["win_rate"] + m * b["win_rate"]) / (n + m)
        width = math.sqrt(max(share * (1 - share), 1e-12) * (1 / n + 1 / m))
        z = (b["win_rate"] - a["win_rate"]) / width
        return cls(a["win_rate"], b["win_rate"], z, float(stats.norm.sf(z)))


def over_seeds(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Sum up judged runs of one method over its seeds.

    `p` joins the runs' gains (Stouffer); `p_seeds` is the paired t-test that takes a seed for one
    observation, the hardest question there is; `trend` is the line through all runs' panel rates,
    each run having a level of its own, and `points` likewise that through their round robins.
    """
    gains = [run["gain"] for run in runs]
    z = sum(gain["z"] for gain in gains) / math.sqrt(len(gains))
    steps = [gain["last"] - gain["first"] for gain in gains]
    # Equal steps have no scatter to test against.
    tested = len(set(steps)) > 1
    test = stats.ttest_1samp(steps, 0.0, alternative="greater") if tested else None
    rates = [{row["generation"]: row["panel"]["win_rate"] for row in run["rows"]} for run in runs]
    robins = [run["round_robin"]["points"] for run in runs if "round_robin" in run]
    return {
        "runs": len(runs),
        "first": float(np.mean([gain["first"] for gain in gains])),
        "last": float(np.mean([gain["last"] for gain in gains])),
        "p": float(stats.norm.sf(z)),
        "p_seeds": float(test.pvalue) if test else None,
        "trend": asdict(_common_line(rates)),
        "points": asdict(_common_line(robins)) if robins else None,
    }


def _common_line(runs: list[dict[int, float]]) -> Trend:
    """Fit one slope through the values of several runs, each with a level of its own."""
    return Trend.common([(list(run), list(run.values())) for run in runs])


def selection_noise(
    plan: Plan,
    opponent: Player | Sequence[Player],
    panel: dict[str, Player],
    expert: Expert,
    *,
    individuals: int,
    games: int,
    starts: Sequence[int] = (1, 4),
    judges: dict[str, Expert] | None = None,
) -> dict[str, Any]:
    """Ask how well a fitness foretells what a network wins against the panel.

    Draws networks as generation 0 is drawn, measures the fitness of each as the plan does (and with
    `starts` common random starts of both colours, finished by the expert or by other `judges`), and
    correlates it with the rate over `games` games against each of the panel.
    """
    drawn = Evolution.begin(replace(plan, population=individuals + individuals % 2)).weights
    shape = plan.shape()
    setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
    won = np.zeros(len(drawn))
    for i, weights in enumerate(drawn):
        me = NetworkPlayer(shape, weights, chances=plan.chances)
        rates = [against(me, other, expert, setting, games, 1).win_rate for other in panel.values()]
        won[i] = float(np.mean(rates))
    ways = {"as planned": (plan, expert)}
    for judge, finisher in (judges or {"": expert}).items():
        for n in starts:
            way = replace(plan, starts=n, colours="both", random_plies=4)
            ways[f"{2 * n} games {judge}".strip()] = (way, finisher)
    answer: dict[str, Any] = {"individuals": len(drawn), "panel_games": games * len(panel)}
    for name, (way, finisher) in ways.items():
        run = Evolution(way, PaperStrategy(Population(drawn, drawn), plan.seed))
        found = measure_with([opponent], finisher)(run)
        line = Trend.through(found.tolist(), won.tolist())
        answer[name] = {"r": line.r, "p": line.p, "spread": float(found.std())}
    answer["panel_spread"] = float(won.std())
    return answer


def figure(title: str, points: dict[int, float], trend: Trend) -> Plot:
    """Return points over generations with their line, as in Figures 9 and 10."""
    x = list(points)
    middle = float(np.mean(list(points.values()))) - trend.slope * float(np.mean(x))
    lines = [
        Line("points", x, list(points.values())),
        Line(f"trend, p = {trend.p:.2g}", x, [middle + trend.slope * g for g in x]),
    ]
    return Plot(title, "generation", "points", lines)


def player_of(model: OpeningEvolution) -> Player:
    """Return the model as a player of openings."""
    return model.player()
