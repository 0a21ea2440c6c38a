"""Train, evaluate and compare opening players (Huang 2003); only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, Ray, Seed, Workers, emit, progress, remark, table

app = typer.Typer(add_completion=False, no_args_is_help=True)

ExpertName = Annotated[
    str,
    typer.Option("--expert", help="Who finishes openings: builtin, playouts:N or a player's spec."),
]
Referee = Annotated[
    str | None,
    typer.Option("--referee", help="Who judges curves and matches; the expert, if not said."),
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder of the run.")]


@app.command()
def train(
    features: Annotated[
        list[str] | None, typer.Option("--features", help="A and some of BCDE, or `all` sixteen.")
    ] = None,
    encoding: Annotated[
        str, typer.Option("--encoding", help="scalar, binary, mixed, or e.g. scalar+CD.")
    ] = "binary",
    games: Annotated[int, typer.Option("--games", min=0, help="Openings to play.")] = 3000,
    expert: ExpertName = "builtin",
    referee: Referee = None,
    opponent: Annotated[
        str | None, typer.Option("--opponent", help="Train against this player, not by self-play.")
    ] = None,
    size: Annotated[int, typer.Option("--size", min=2, max=25, help="Board size.")] = 9,
    plies: Annotated[
        int | None, typer.Option("--plies", min=1, help="Length of the opening, both sides.")
    ] = None,
    komi: Annotated[float, typer.Option("--komi", help="White's compensation.")] = 5.5,
    hidden: Annotated[int, typer.Option("--hidden", min=1, help="Hidden units.")] = 40,
    alpha: Annotated[float, typer.Option("--alpha", help="Learning rate.")] = 0.5,
    alpha_end: Annotated[
        float | None, typer.Option("--alpha-end", help="Learning rate of the last game.")
    ] = None,
    trace: Annotated[float, typer.Option("--lambda", help="The lambda of TD(lambda).")] = 0.0,
    target: Annotated[
        str, typer.Option("--target", help="What is predicted: score, win or ownership.")
    ] = "score",
    explore: Annotated[float, typer.Option("--explore", help="Share of explored moves.")] = 0.1,
    explore_end: Annotated[
        float, typer.Option("--explore-end", help="The same at the last game.")
    ] = 0.02,
    temperature: Annotated[
        float, typer.Option("--temperature", help="Of explored moves, in points.")
    ] = 1.0,
    random_plies: Annotated[
        int, typer.Option("--random-plies", min=0, help="Random first plies, up to so many.")
    ] = 0,
    random_opponent: Annotated[
        float, typer.Option("--random-opponent", help="Share of openings against random moves.")
    ] = 0.0,
    finishes: Annotated[
        int, typer.Option("--finishes", min=1, help="Verdicts of the expert for each opening.")
    ] = 1,
    curve_every: Annotated[
        int, typer.Option("--curve-every", min=1, help="Games between points of the curve.")
    ] = 50,
    curve_games: Annotated[
        int, typer.Option("--curve-games", min=0, help="Games against random for each point.")
    ] = 100,
    out: Out = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, by its own settings.")
    ] = False,
    workers: Workers = 1,
    ray: Ray = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train opening players by temporal differences; several are trained side by side."""
    from tengen.errors import TengenError
    from tengen.lab import opening_td as lab
    from tengen.learners.opening_td import SETS, FeatureSet

    chosen = features or ["ABCDE"]
    chosen = list(SETS) if chosen == ["all"] else chosen
    settings: dict[str, Any] = {
        "encoding": encoding, "games": games, "rows": size, "komi": komi, "hidden": hidden,
        "plies": plies if plies is not None else max(2, round(size * size / 4)),
        "alpha": alpha, "alpha_end": alpha_end, "trace": trace, "target": target,
        "explore": explore, "explore_end": explore_end, "temperature": temperature,
        "random_plies": random_plies, "random_opponent": random_opponent, "finishes": finishes,
        "seed": seed,
    }  # fmt: skip
    base = out if out is not None else Path("runs") / "opening-td" / f"{size}x{size}"
    jobs = []
    for letters in chosen:
        FeatureSet(letters, encoding)
        folder = base if len(chosen) == 1 and out is not None else base / f"{letters}-{encoding}"
        if resume:
            jobs.append(lab.read_job(folder))
            continue
        if (folder / "config.toml").is_file():
            raise TengenError(f"{folder}: holds a run; --resume goes on, --out names another")
        own = {**settings, "features": letters}
        jobs.append(
            lab.TrainJob(
                str(folder), own, expert, opponent, curve_every, curve_games, referee=referee
            )
        )
    if len(jobs) == 1:
        total = jobs[0].settings["games"]
        with progress(f"training {chosen[0]} {encoding}", total, quiet=quiet) as bar:

            def advance(learner: Any) -> None:
                bar.advance(learner.games_ - bar.done)

            curves = [lab.train(jobs[0], advance)]
    else:
        curves = lab.all_of(jobs, workers, ray)
    runs = [
        {
            "features": job.settings["features"],
            "encoding": job.settings["encoding"],
            "games": job.settings["games"],
            "folder": job.folder,
            "model": str(Path(job.folder) / "model.safetensors"),
            "curve": curve,
        }
        for job, curve in zip(jobs, curves, strict=True)
    ]
    emit(runs[0] if len(runs) == 1 else runs, as_json=json)
    if not json:
        rows = [
            (
                run["features"],
                run["encoding"],
                run["games"],
                _rate(run["curve"][-1]) if run["curve"] else "not measured",
                run["model"],
            )
            for run in runs
        ]
        table("", ["features", "encoding", "games", "against random", "model"], rows)


def _rate(value: Any) -> str:
    """Show a win rate with its interval."""
    low, high = value["interval"]
    return f"{value['win_rate']:.1%} [{low:.1%}, {high:.1%}]"


@app.command()
def evaluate(
    games: Annotated[int, typer.Option("--games", min=1, help="Games; colours alternate.")] = 400,
    opponent: Annotated[
        str, typer.Option("--opponent", help="Who plays the other side of the openings.")
    ] = "random",
    expert: ExpertName = "builtin",
    model: Annotated[
        str, typer.Option("--model", help="Whose openings: a model's name or file.")
    ] = "td-best-9x9",
    random_plies: Annotated[
        int | None,
        typer.Option("--random-plies", help="Random first plies; 2, but 0 against random."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Note played parts here; a stopped evaluation goes on."),
    ] = None,
    workers: Workers = 1,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play a model's openings against an opponent and let an expert finish them."""
    from tengen.lab import opening_td as lab

    value = lab.evaluate(
        model, opponent, expert, games=games, random_plies=random_plies, seed=seed, workers=workers,
        log=out, remark=lambda text: remark(text, quiet=quiet),
    )  # fmt: skip
    emit(
        value,
        as_json=json,
        text=f"{model} against {opponent}, finished by {expert}: {_rate(value)} of "
        f"{value['games']} games, mean score {value['mean_score']:+.1f}",
    )


@app.command()
def experiment(
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Independent repetitions.")] = 1,
    games: Annotated[int, typer.Option("--games", min=1, help="Training games a player.")] = 3000,
    pair_games: Annotated[
        int, typer.Option("--pair-games", min=2, help="Games of each match.")
    ] = 100,
    expert: ExpertName = "builtin",
    referee: Referee = None,
    features: Annotated[
        list[str] | None, typer.Option("--features", help="Only these players; all sixteen else.")
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", help="Another expert for some of the openings.")
    ] = None,
    judge_games: Annotated[
        int, typer.Option("--judge-games", min=1, help="Openings each of them finishes.")
    ] = 6000,
    variants: Annotated[
        bool, typer.Option("--variants", help="Compare variants of ABCDE instead of the tables.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only these variants (and `paper`).")
    ] = None,
    out: Out = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Accepted for symmetry: an experiment always goes on.")
    ] = False,
    workers: Workers = 1,
    ray: Ray = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Repeat the paper: 32 players, Figure 4 and Tables 1 to 5 beside the paper's own.

    A stopped experiment goes on; seeds may be run one at a time (--seed 3 --seeds 1) into the same
    folder and reported together (--seeds 5).
    """
    del resume
    from tengen.lab import opening_td as lab
    from tengen.lab import opening_td_tables as tables
    from tengen.lab import opening_td_variants as other
    from tengen.lab.opening_td_judges import second_opinion
    from tengen.learners.opening_td import SETS

    base = Path("runs") / "opening-td"
    common: dict[str, Any] = {
        "folder": out or base / ("variants" if variants else "experiment"),
        "seeds": tuple(range(seed, seed + seeds)), "games": games, "expert": expert,
        "referee": referee,
    }  # fmt: skip
    hands: dict[str, Any] = {
        "workers": workers, "ray": ray, "remark": lambda text: remark(text, quiet=quiet),
    }  # fmt: skip
    if variants:
        value = other.run(other.VariantPlan(**common, variants=other.chosen(only)), **hands)
        sheets = other.sheets(value)
    else:
        sets = tuple(features) if features else SETS
        plan = lab.Plan(**common, pair_games=pair_games, sets=sets)
        lab.run(plan, **hands)
        for name in judge or ():
            second_opinion(plan, name, judge_games, **hands)
        value = tables.report(plan, judge or ())
        tables.write(plan, value)
        sheets = list(tables.sheets(value))
    emit(value, as_json=json)
    if not json:
        for title, columns, rows in sheets:
            table(title, columns, rows)
