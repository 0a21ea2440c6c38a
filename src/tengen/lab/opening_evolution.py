"""Run the experiments of openings by evolution (Kendall 2004): breed, ask a panel, test.

The paper let the best networks of every 1,000th (10,000th) generation play a double round robin and
saw a rising line of points, p = 0.34 and 0.18. Here the same is done from random starts, over
several seeds; a fixed panel of opponents says whether anything was learned at all, and
`selection_noise` how much a fitness tells of a network.

What a run's folder has been asked once is kept there in `duels.jsonl` and not played again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.lab.content import Line, Plot
from tengen.lab.journal import Journal, Row
from tengen.learners.opening_evolution import (
    KIND,
    Breeding,
    EvolutionSettings,
    NetworkPlayer,
    OpeningEvolution,
    match,
    measure_on,
    measure_with,
)
from tengen.learners.opening_evolution.strategy import PaperStrategy, Population
from tengen.learners.opening_evolution.training import Measure
from tengen.models import find_model
from tengen.models.runs import SNAPSHOTS, Run, read_run
from tengen.models.settings import from_plain
from tengen.parallel import spawn_seeds
from tengen.statistics import Rate, Trend

PANEL = ("random", "maxlib", "static")
"""Opponents that stay the same, so that learning can be seen."""
FIRST = "generation 0"
_FEW_WEIGHTS = {"spatial": "shared", "dense": "tiled"}
"""The paper's networks with weights tied by symmetry."""
_START_PLIES = 4
"""Random plies before each game that measures a network."""


# ----- Breeding -----


def paper_method(network: str, seed: int, generations: int, every: int = 250) -> EvolutionSettings:
    """Return the paper's experiment: one game as Black against one opponent, 10 or 20 networks.

    The games are the same whenever they are played, so that survivors need not play again.
    """
    return EvolutionSettings(
        network=network,
        generations=generations,
        colours="black",
        remember=True,
        seed=seed,
        snapshot_every=every,
    )


def better_method(network: str, seed: int, generations: int, every: int = 25) -> EvolutionSettings:
    """Return the experiment that learns: openings judged by playouts, not by one finished game.

    The spatial network becomes `shared`, the dense one `tiled`: few weights. Four games each from
    common random starts against two opponents; CMA-ES breeds.
    """
    return EvolutionSettings(
        network=_FEW_WEIGHTS.get(network, network),
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


def champion_method(
    network: str, seed: int, generations: int, every: int = 20
) -> EvolutionSettings:
    """Return the method of the champions: small steps of a mean, ever more games.

    Half of the starts are against the hall of fame, which begins with the best of generation 0, the
    others against three opponents; what is beyond a clear win hardly counts. The shipped ones' own
    settings differ in opponents and hall, see their cards.
    """
    return replace(
        better_method(network, seed, generations, every),
        population=24,
        more_starts_every=20,
        hall_every=60,
        bend=30.0,
        strategy="mirror",
        opponent="static + random + sample:model=tengen-small,temperature=0",
    )


METHODS: dict[str, tuple[Callable[[str, int, int, int], EvolutionSettings], int]] = {
    "paper": (paper_method, 5000),
    "better": (better_method, 100),
    "champion": (champion_method, 200),
}
"""How to evolve, by name: from network, seed, generations, snapshots every so many; and for how
many generations, if not said.
"""


def _measure_of(settings: EvolutionSettings, workers: int = 1, ray: str | None = None) -> Measure:
    """Return who plays the games of a generation: threads here, or a Ray cluster."""
    from tengen.players import make_expert

    if ray is not None:
        opponents = partial(_players, settings.opponent)
        return measure_on(ray, opponents, partial(make_expert, settings.expert))
    return measure_with(
        [_players(settings.opponent) for _ in range(workers)], make_expert(settings.expert)
    )


def _players(specs: str) -> list[Player]:
    """Make the players of specs that are joined by ` + `."""
    from tengen.players import make_player

    return [make_player(spec) for spec in specs.split(" + ")]


def train(
    folder: Path,
    settings: EvolutionSettings,
    *,
    resume: bool = False,
    workers: int = 1,
    ray: str | None = None,
    on_generation: Callable[[Breeding], None] = lambda breeding: None,
) -> Path:
    """Evolve a network in a run folder, from where the run stands; return the model's file."""
    with Run.open(folder, KIND, settings, resume=resume) as run:
        model = OpeningEvolution(settings=settings)
        model.fit(_measure_of(settings, workers, ray), run=run, on_generation=on_generation)
        path = run.folder / "model.safetensors"
        model.save(path)
        return path


def run_settings(folder: Path) -> EvolutionSettings:
    """Return the settings of a run.

    Raises
    ------
    TengenError
        If the folder has no run of evolved openings.
    """
    found = read_run(folder)
    if found is None or found.learner != KIND:
        raise TengenError(f"{folder}: no run of {KIND} in there")
    return from_plain(EvolutionSettings, found.settings, where=f"{folder}")


def snapshots(folder: Path, every: int = 1) -> dict[int, Path]:
    """Return the files of a run's bests, of every so many generations.

    Raises
    ------
    TengenError
        If the folder has none.
    """
    files = sorted((folder / SNAPSHOTS).glob("*.safetensors"))
    found = {int(path.stem): path for path in files if int(path.stem) % every == 0}
    if not found:
        raise TengenError(f"{folder}: no snapshots of a run in there")
    return found


# ----- Games between openings -----


@dataclass(frozen=True)
class Duel:
    """Openings of an evolved network against anybody, each start played with both colours."""

    model: str
    opponent: str
    """A player's spec, or the file of another evolved network."""
    expert: str
    games: int
    seed: int
    key: tuple[int, ...] = ()
    """What else the starts are drawn from."""
    random_plies: int = _START_PLIES
    player: str = ""
    """Any player's spec, to take the network's place on the same terms."""


def play_duel(duel: Duel) -> Row:
    """Play a duel; the scores are the network's."""
    model = _model(duel.model)
    me = _side(duel.player) if duel.player else model.player()
    seeds = spawn_seeds(duel.seed, (duel.games + 1) // 2, *duel.key)
    terms = model.settings.terms(duel.random_plies)
    scores = match(me, _side(duel.opponent), _expert(duel.expert), terms, seeds)
    return {"scores": [float(score) for score in scores[: duel.games]]}


@cache
def _model(path: str) -> OpeningEvolution:
    return OpeningEvolution.load(find_model(path))


@cache
def _side(spec: str) -> Player:
    from tengen.players import make_player

    return _model(spec).player() if spec.endswith(".safetensors") else make_player(spec)


@cache
def _expert(spec: str) -> Expert:
    from tengen.players import make_expert

    return make_expert(spec)


# ----- Judging a run -----


@dataclass(frozen=True)
class Judging:
    """How a run is judged: every so many generations, games against each of the panel, starts."""

    every: int
    games: int
    starts: int
    seed: int
    expert: str = "static"


def judge_run(
    folder: Path,
    how: Judging,
    *,
    workers: int = 1,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Any]:
    """Measure a run's snapshots against the panel, its own generation 0, and each other."""
    kept = snapshots(folder, how.every)
    weights = {g: OpeningEvolution.load(path).weights_ for g, path in kept.items()}
    # A best that lasted plays the same games: it is asked once.
    same = {g: next(e for e in kept if np.array_equal(weights[e], weights[g])) for g in kept}
    first = min(kept)
    opponents = {**dict(zip(PANEL, PANEL, strict=True)), FIRST: str(kept[first])}
    asked = f"{how.expert}|{how.seed}"
    duels = {
        f"{g} {name}|{how.games}|{asked}": Duel(str(kept[g]), spec, how.expert, how.games, how.seed)
        for g in sorted(set(same.values()))
        for name, spec in opponents.items()
        if (g, name) != (first, FIRST)
    }
    pairs = [(a, b) for a in kept for b in kept if a < b]
    for a, b in pairs:
        robin = Duel(str(kept[a]), str(kept[b]), how.expert, 2 * how.starts, how.seed, (a, b))
        duels[f"{a} {b}|{how.starts}|{asked}"] = robin
    journal = Journal(folder / "duels.jsonl")
    found = journal.complete(duels, play_duel, workers=workers, tell=tell)
    scores = {row["key"]: np.array(row["scores"]) for row in found}
    rows: list[dict[str, Any]] = []
    for generation in kept:
        rates = {
            name: Rate.of(scores[key])
            for name in opponents
            if (key := f"{same[generation]} {name}|{how.games}|{asked}") in scores
        }
        panel = Rate.pooled([rates[name] for name in PANEL])
        row = {name: asdict(rate) for name, rate in {**rates, "panel": panel}.items()}
        rows.append({"generation": generation, **row})
    robins = {pair: scores[f"{pair[0]} {pair[1]}|{how.starts}|{asked}"] for pair in pairs}
    points = round_robin(list(kept), robins)
    steps = [row["generation"] for row in rows]
    trends = {
        name: asdict(Trend.through(steps, [row[name]["win_rate"] for row in rows]))
        for name in (*PANEL, "panel")
    }
    line = Trend.through(list(points), list(points.values()))
    return {
        "rows": rows,
        "trends": trends,
        "gain": asdict(Gain.of(rows)),
        "round_robin": {
            "points": {str(g): value for g, value in points.items()},
            "trend": asdict(line),
        },
    }


def round_robin(entrants: list[int], scores: dict[tuple[int, int], FloatArray]) -> dict[int, float]:
    """Return each entrant's points per 2 games a pair, from the scores of the first of each pair.

    Points as in the paper, win +2, loss -1, draw +1, averaged over starts so that the totals can be
    read beside its tables.
    """
    points = dict.fromkeys(entrants, 0.0)
    for (a, b), own in scores.items():
        for entrant, view in ((a, own), (b, -own)):
            gain = np.where(view > 0, 2.0, np.where(view < 0, -1.0, 1.0))
            points[entrant] += 2 * float(gain.mean())
    return points


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
        return cls(a["win_rate"], b["win_rate"], z, _above(z))


def _above(z: float) -> float:
    """Return the chance that a normal number exceeds z."""
    return 0.5 * math.erfc(z / math.sqrt(2))


def over_seeds(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Sum up judged runs of one method over its seeds.

    `p` joins the runs' gains (Stouffer); `p_seeds` is the paired t-test that takes a seed for one
    observation, the hardest question there is; `trend` is the line through all runs' panel rates,
    each run having a level of its own, and `points` likewise that through their round robins.
    """
    from scipy import stats

    gains = [run["gain"] for run in runs]
    z = sum(gain["z"] for gain in gains) / math.sqrt(len(gains))
    steps = [gain["last"] - gain["first"] for gain in gains]
    # Equal steps have no scatter to test against.
    tested = len(set(steps)) > 1
    test = stats.ttest_1samp(steps, 0.0, alternative="greater") if tested else None
    rates = [
        (
            [row["generation"] for row in run["rows"]],
            [row["panel"]["win_rate"] for row in run["rows"]],
        )
        for run in runs
    ]
    robins = [run["round_robin"]["points"] for run in runs]
    points = Trend.common([([int(g) for g in one], list(one.values())) for one in robins])
    return {
        "runs": len(runs),
        "first": float(np.mean([gain["first"] for gain in gains])),
        "last": float(np.mean([gain["last"] for gain in gains])),
        "p": _above(z),
        "p_seeds": float(test.pvalue) if test else None,
        "trend": asdict(Trend.common(rates)),
        "points": asdict(points),
    }


def points_plot(title: str, points: dict[str, float], trend: dict[str, float]) -> Plot:
    """Return points over generations with their line, as in Figures 9 and 10."""
    x, y = [int(generation) for generation in points], list(points.values())
    middle = float(np.mean(y)) - trend["slope"] * float(np.mean(x))
    straight = [middle + trend["slope"] * g for g in x]
    lines = [Line("points", x, y), Line(f"trend, p = {trend['p']:.2g}", x, straight)]
    return Plot(title, "generation", "points", lines)


# ----- What a fitness tells -----


def selection_noise(
    settings: EvolutionSettings,
    *,
    individuals: int,
    games: int,
    starts: Sequence[int] = (1, 4),
    judges: Sequence[str] = ("static", "builtin:playouts=16"),
) -> dict[str, Any]:
    """Ask how well a fitness foretells what a network wins against the panel.

    Draws networks as generation 0 is drawn, measures the fitness of each as the settings say (and
    with `starts` common random starts of both colours, by each of the judges), and correlates it
    with the rate over `games` games against each of the panel, finished by `static`.
    """
    even = individuals + individuals % 2
    drawn = Breeding.begin(replace(settings, population=even)).breeder.weights
    shape, terms = settings.shape(), settings.terms(_START_PLIES)
    seeds = spawn_seeds(1, (games + 1) // 2)
    won = np.zeros(len(drawn))
    for i, weights in enumerate(drawn):
        me = NetworkPlayer(shape, weights)
        scores = [match(me, _side(o), _expert("static"), terms, seeds)[:games] for o in PANEL]
        won[i] = Rate.of(np.concatenate(scores)).win_rate
    ways = {"as planned": settings}
    for judge in judges:
        for n in starts:
            way = replace(settings, starts=n, colours="both", random_plies=_START_PLIES)
            ways[f"{2 * n} games {judge}"] = replace(way, expert=judge)
    answer: dict[str, Any] = {"individuals": len(drawn), "panel_games": games * len(PANEL)}
    for name, way in ways.items():
        breeding = Breeding(way, PaperStrategy(Population(drawn, drawn), settings.seed))
        found = _measure_of(way)(breeding)
        line = Trend.through(found.tolist(), won.tolist())
        answer[name] = {"r": line.r, "p": line.p, "spread": float(found.std())}
    answer["panel_spread"] = float(won.std())
    return answer
