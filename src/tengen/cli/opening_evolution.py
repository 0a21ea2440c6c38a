"""`tengen opening-evolution`: evolve openings (Kendall 2004), measure them, repeat the paper."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, Ray, Seed, Workers, emit, progress, remark, table

app = typer.Typer(add_completion=False, help=__doc__)

Network = Annotated[
    str,
    typer.Option(
        help="dense (169-55-1, look-ahead), spatial (one unit a window); with few weights, tied by "
        "symmetry: tied and tiled (dense), shared and rich (spatial)."
    ),
]
Opponent = Annotated[str, typer.Option(help="Who plays the other side of the opening.")]
Opponents = Annotated[
    str,
    typer.Option(
        help="Who plays the other side of the opening; several, joined by ' + ', take the starts "
        "in turn."
    ),
]
ExpertSpec = Annotated[
    str,
    typer.Option(
        help="Who finishes the games and counts them: an expert, 'N plies of PLAYER then EXPERT', "
        "or the mean of several, joined by ' + '."
    ),
]
Size = Annotated[int, typer.Option(min=3, max=25, help="Board size.")]

BEST = ("evolved-minimax-13x13", "evolved-tied-13x13", "evolved-spatial-13x13")
"""Shipped champions, the stronger first."""


@app.command()
def train(
    network: Network = "dense",
    generations: Annotated[int, typer.Option(min=1)] = 5000,
    population: Annotated[
        int, typer.Option(min=0, help="Individuals; 0 for the paper's: dense 10, spatial 20.")
    ] = 0,
    size: Size = 13,
    moves: Annotated[int, typer.Option(min=1, help="Opening moves of each side.")] = 15,
    colours: Annotated[str, typer.Option(help="both, black or white.")] = "both",
    plies: Annotated[
        int, typer.Option(min=0, max=2, help="Look-ahead; 0 for the paper's: dense 2, spatial 1.")
    ] = 0,
    illegal_passes: Annotated[
        bool, typer.Option(help="An illegal choice is a pass, as the paper's text has it.")
    ] = False,
    chances: Annotated[
        int, typer.Option(min=0, help="Further choices after an illegal one, before it passes.")
    ] = 0,
    random_plies: Annotated[int, typer.Option(min=0, help="Random plies before each game.")] = 0,
    starts: Annotated[int, typer.Option(min=1, help="Games of each colour an individual.")] = 1,
    more_starts_every: Annotated[
        int, typer.Option(min=0, help="One more start every so many generations.")
    ] = 0,
    bend: Annotated[
        float, typer.Option(min=0, help="Points beyond which a score hardly counts; 0 for none.")
    ] = 0.0,
    strategy: Annotated[
        str, typer.Option(help="paper (mu + mu), cma (CMA-ES), or mirror (small mirrored steps).")
    ] = "paper",
    remember: Annotated[
        bool, typer.Option(help="Survivors keep their fitness; right where games do not change.")
    ] = False,
    hall_every: Annotated[
        int, typer.Option(min=0, help="Let the best enter a hall of fame so often, to play with.")
    ] = 0,
    handicap: Annotated[int, typer.Option(min=0, help="Free stones for the network.")] = 0,
    handicap_falls_every: Annotated[int, typer.Option(min=0, help="In generations.")] = 0,
    opponent: Opponents = "static",
    expert: ExpertSpec = "static",
    snapshot_every: Annotated[int, typer.Option(min=1)] = 250,
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the run stopped.")] = False,
    workers: Workers = 1,
    ray: Ray = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Evolve a network; the same seed gives the same network on any number of workers."""
    from tengen.learners.opening_evolution import OpeningEvolution, Plan

    plan = Plan(
        network=network,
        rows=size,
        cols=size,
        population=population or (10 if network in ("dense", "tied", "tiled") else 20),
        generations=generations,
        moves=moves,
        colours=colours,  # type: ignore[arg-type]
        plies=plies,
        free=illegal_passes,
        chances=chances,
        handicap=handicap,
        handicap_falls_every=handicap_falls_every,
        random_plies=random_plies,
        starts=starts,
        more_starts_every=more_starts_every,
        bend=bend,
        strategy=strategy,
        remember=remember,
        hall_every=hall_every,
        seed=seed,
        opponent=opponent,
        expert=expert,
        snapshot_every=snapshot_every,
    )
    folder = out or Path("runs") / "opening-evolution" / f"{network}-{size}x{size}-seed{seed}"
    model = OpeningEvolution(plan=plan)
    with progress("generations", generations, quiet=quiet) as bar:

        def advance(run: Any) -> None:
            bar.advance(run.generation - bar.done, f"best {run.fitness.max():+.1f}")

        try:
            model.fit(
                _measure(opponent, expert, workers, ray),
                folder=folder,
                resume=resume,
                on_generation=advance,
            )
        except KeyboardInterrupt:
            remark(f"stopped; the same command with --resume --out {folder} goes on")
            raise
    path = folder / "model.safetensors"
    model.save(path)
    model.first_best().save(folder / "generation-0.safetensors")
    answer = {"model": str(path), "generations": generations, "plan": asdict(plan)}
    emit(answer, as_json=as_json, text=f"{path}")


@app.command()
def evaluate(
    games: Annotated[int, typer.Option(min=2)] = 400,
    opponent: Opponent = "random",
    expert: ExpertSpec = "static",
    model: Annotated[str | None, typer.Option(help="A shipped name or a path.")] = None,
    player: Annotated[
        str | None, typer.Option(help="Any player's spec instead, on the games of the model.")
    ] = None,
    rival: Annotated[
        str | None, typer.Option(help="An evolved model, by name or path, as the opponent.")
    ] = None,
    random_plies: Annotated[int, typer.Option(min=0, help="Random plies before each game.")] = 4,
    seed: Seed = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play the model's openings against an opponent's; the expert finishes both colours."""
    from tengen.contracts import Player
    from tengen.lab.opening_evolution import against
    from tengen.learners.opening_evolution import OpeningEvolution, Setting
    from tengen.models import find_model, has_model
    from tengen.players import make_player

    name = model or next((name for name in BEST if has_model(name)), BEST[0])
    learned = OpeningEvolution.load(find_model(name))
    plan = learned.plan
    assert plan is not None
    me = make_player(player) if player else learned.player()
    if rival:
        other: Player = OpeningEvolution.load(find_model(rival)).player()
        opponent = rival
    else:
        other = make_player(opponent)
    setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies)
    rate = against(me, other, judge_of(expert), setting, games, seed)
    name = player or name
    answer = {"model": name, "opponent": opponent, "expert": expert, **asdict(rate), "seed": seed}
    low, high = rate.interval
    text = (
        f"{name} against {opponent}: {rate.win_rate:.1%} [{low:.1%}, {high:.1%}] of {rate.games} "
        f"openings, {rate.mean_score:+.1f} points on average, finished by {expert}"
    )
    emit(answer, as_json=as_json, text=text)


@app.command()
def experiment(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Folders of runs; made here when there are none.")
    ] = None,
    network: Network = "dense",
    method: Annotated[
        str,
        typer.Option(
            help="paper; better: few weights, playouts judge, CMA-ES; champion: the same for long, "
            "in small steps, with a hall of fame."
        ),
    ] = "paper",
    generations: Annotated[
        int, typer.Option(min=0, help="0 for the method's: paper 5,000, better 100, champion 200.")
    ] = 0,
    every: Annotated[
        int, typer.Option(min=0, help="Judge every so many generations; 0 for a tenth.")
    ] = 0,
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    games: Annotated[int, typer.Option(min=2, help="Against each of the panel.")] = 400,
    starts: Annotated[int, typer.Option(min=1, help="Random starts a pair.")] = 5,
    noise: Annotated[
        int, typer.Option(min=0, help="Also correlate fitness with the panel: so many networks.")
    ] = 0,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's scale: 20,000 or 60,000 generations.")
    ] = False,
    expert: ExpertSpec = "static",
    out: Annotated[Path, typer.Option()] = Path("runs/opening-evolution"),
    workers: Workers = 1,
    ray: Ray = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repeat the paper's tables over several seeds, and ask a fixed panel what was learned.

    Runs and games go on where they were stopped. Writes `experiment.json` and a figure a run.
    """
    from tengen.errors import TengenError
    from tengen.lab import opening_evolution as lab
    from tengen.lab import papers
    from tengen.lab.plots import draw
    from tengen.learners.opening_evolution import OpeningEvolution, Setting
    from tengen.models import write_atomic
    from tengen.players import make_expert, make_player
    from tengen.statistics import Trend

    if method not in lab.METHODS:
        raise TengenError(f"method {method!r} is none of {', '.join(lab.METHODS)}")
    make_plan = lab.METHODS[method]
    if full:
        generations, every = (60_000, 10_000) if network == "spatial" else (20_000, 1_000)
    generations = generations or {"paper": 5000, "better": 100}.get(method, 200)
    every = every or max(generations // 10, 1)
    finisher = judge_of(expert)
    folders = list(runs or [])
    if not folders:
        for s in range(seed, seed + seeds):
            plan = make_plan(network, s, generations, math.gcd(250, every))
            folder = out / f"{method}-{network}-seed{s}"
            with progress(f"seed {s}", generations, quiet=quiet) as bar:

                def advance(run: Any, bar: Any = bar) -> None:
                    bar.advance(run.generation - bar.done)

                OpeningEvolution(plan=plan).fit(
                    _measure(plan.opponent, plan.expert, workers, ray),
                    folder=folder,
                    resume=True,
                    on_generation=advance,
                )
            folders.append(folder)
    panel = {name: make_player(name) for name in lab.PANEL}
    answers = []
    for folder in folders:
        plan = lab.plan_of(folder)
        judged = lab.judge_run(
            folder,
            plan,
            panel,
            finisher,
            games=games,
            every=every,
            seed=seed,
            expert_name=expert,
            on_step=lambda note, folder=folder: remark(f"{folder}: {note}", quiet=quiet),  # type: ignore[misc]
        )
        kept = {g: w for g, w in lab.snapshots(folder).items() if g % every == 0}
        setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
        points = lab.round_robin(plan.shape(), kept, finisher, setting, starts, seed, plan.chances)
        trend = Trend.through(list(points), list(points.values()))
        figure = lab.figure(f"Points of the double round robin: {folder.name}", points, trend)
        write_atomic(folder / "round-robin.svg", draw(figure))
        judged["round_robin"] = {"points": points, "trend": asdict(trend), "figure": asdict(figure)}
        answers.append({"folder": str(folder), **judged})
    answer: dict[str, Any] = {"runs": answers, "over_seeds": lab.over_seeds(answers)}
    theirs = papers.EVOLUTION_POINTS.get(network)
    if theirs:
        every_th = papers.EVOLUTION_EVERY[network]
        trend = Trend.through([i * every_th for i in range(len(theirs))], theirs)
        answer["paper"] = {
            "title": papers.EVOLUTION_TABLES[network],
            "every": every_th,
            "points": theirs,
            "trend": asdict(trend),
        }
    if noise:
        answer["noise"] = lab.selection_noise(
            lab.paper_plan(network, seed + 1000, 1),
            make_player("static"),
            panel,
            finisher,
            individuals=noise,
            games=100,
            judges={name: make_expert(name) for name in ("static", "builtin:playouts=16")},
        )
    write_atomic(out / "experiment.json", json.dumps(answer, indent=1))
    if as_json:
        emit(answer, as_json=True)
        return
    _show(answer, list(lab.PANEL))


def _show(answer: dict[str, Any], panel: list[str]) -> None:
    """Print an experiment's tables."""
    theirs = answer.get("paper", {}).get("points", [])
    names = [*panel, "panel", "generation 0"]
    for run in answer["runs"]:
        points = run["round_robin"]["points"]
        rows = []
        for i, row in enumerate(run["rows"]):
            generation = row["generation"]
            beside = theirs[i] if i < len(theirs) else ""
            rates = [_percent(row.get(name)) for name in names]
            rows.append((generation, f"{points[generation]:+.1f}", beside, *rates))
        table(run["folder"], ("generation", "points", "paper", *names), rows)
        trends = {**run["trends"], "round robin": run["round_robin"]["trend"]}
        for name, trend in trends.items():
            print(f"trend {name}: {_line(trend)}")
    seeds = answer["over_seeds"]
    if theirs:
        paper = answer["paper"]
        print(f"round robin over all seeds: {_line(seeds['points'])}")
        print(f"the paper's {paper['title']}, every {paper['every']:,}: {_line(paper['trend'])}")
    print(
        f"over {seeds['runs']} seeds: the panel is beaten {seeds['first']:.1%} by generation 0, "
        f"{seeds['last']:.1%} by the last; p {seeds['p']:.2g}, a seed being one observation "
        f"{seeds['p_seeds'] or 1.0:.2g}; trend {_line(seeds['trend'])}"
    )
    for name, found in answer.get("noise", {}).items():
        if isinstance(found, dict):
            print(f"fitness {name}: r {found['r']:+.2f} with the panel (p {found['p']:.2g})")


def _line(trend: dict[str, float]) -> str:
    return f"slope {trend['slope']:+.3g}, r {trend['r']:+.2f}, p {trend['p']:.3g}"


def _measure(opponent: str, expert: str, workers: int, ray: str | None) -> Any:
    """Return who plays the games of a generation: threads here, or a Ray cluster."""
    from functools import partial

    from tengen.learners.opening_evolution import measure_on, measure_with

    if ray is not None:
        return measure_on(ray, partial(opponents_of, opponent), partial(judge_of, expert))
    return measure_with([opponents_of(opponent) for _ in range(workers)], judge_of(expert))


def opponents_of(specs: str) -> Any:
    """Make the players of specs that are joined by ` + `."""
    from tengen.players import make_player

    return [make_player(spec) for spec in specs.split(" + ")]


def judge_of(spec: str) -> Any:
    """Make who judges openings, see `judges.make_judge`."""
    from tengen.learners.opening_evolution import make_judge
    from tengen.players import make_expert, make_player

    return make_judge(spec, make_player, make_expert)


def _percent(rate: dict[str, Any] | None) -> str:
    if rate is None:
        return ""
    low, high = rate["interval"]
    return f"{rate['win_rate']:.1%} [{low:.0%}, {high:.0%}]"
