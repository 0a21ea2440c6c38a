"""`tengen symmetry-network`: train, evaluate and describe internal symmetry networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, Seed, Workers, emit, progress, remark, table

app = typer.Typer(no_args_is_help=True, help="Internal symmetry networks (Blair 2008).")

Model = Annotated[str | None, typer.Option("--model", help="A shipped name or a path.")]


@app.command()
def info(model: Model = None, as_json: Json = False) -> None:
    """Count the free numbers of a network and measure how exactly it keeps the symmetries."""
    import numpy as np

    from tengen.learners.symmetry_network import network as definition
    from tengen.learners.symmetry_network.features import INPUTS, OUTPUTS

    if model is None:
        architecture = definition.Architecture()
        free = np.random.default_rng(0).normal(0, 0.3, architecture.size)
        card: dict[str, Any] = {}
    else:
        from tengen.learners.symmetry_network import SymmetryNetwork

        loaded = SymmetryNetwork.load(model)
        architecture, free = loaded.architecture, loaded.free_
        card = {"model": model, "games": loaded.games_}
    error = max(definition.equivariance_error(architecture, free, size=n) for n in (5, 9, 19))
    connections = sum(t.connections for t in architecture.parts.values() if len(t.shape) == 3)
    value = {
        "free_parameters": architecture.weights,
        "biases": architecture.biases,
        "hidden": architecture.hidden,
        "inputs": INPUTS,
        "outputs": len(OUTPUTS),
        "equivariance_error": error,
        "connections_per_cell": connections,
        "parts": {name: tying.free for name, tying in architecture.parts.items()},
        "mixture": architecture.layers[0].counts,
        **card,
    }
    emit(value, as_json=as_json)
    if not as_json:
        table("Internal symmetry network", ("what", "value"), list(value.items()))


@app.command()
def train(
    out: Annotated[Path, typer.Option("--out", help="The run's folder.")] = Path(
        "runs/symmetry-network"
    ),
    games: Annotated[int, typer.Option("--games", min=1)] = 860_000,
    linear_games: Annotated[
        int, typer.Option("--linear-games", min=0, help="First phase: inputs to outputs only.")
    ] = 5_000,
    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Games played on the same weights; 1: the paper.")
    ] = 1,
    rate: Annotated[float, typer.Option("--rate", min=0)] = 5e-6,
    size: Annotated[int, typer.Option("--size", min=3, max=25)] = 9,
    trace: Annotated[float, typer.Option("--lambda", min=0, max=1)] = 0.9,
    beta: Annotated[float, typer.Option("--beta", min=0)] = 4.0,
    categories: Annotated[
        str, typer.Option("--categories", help="eyes (the paper), liberties or none.")
    ] = "eyes",
    eyes: Annotated[tuple[float, float], typer.Option("--eyes", help="Thresholds.")] = (0.5, 1.5),
    colour: Annotated[
        bool, typer.Option("--colour", help="Tie White's weights to Black's.")
    ] = False,
    untied: Annotated[
        bool, typer.Option("--untied", help="A plain convolution, for comparison.")
    ] = False,
    snapshot_every: Annotated[int, typer.Option("--snapshot-every", min=1)] = 20_000,
    checkpoint_every: Annotated[int, typer.Option("--checkpoint-every", min=1)] = 2_000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was stopped.")] = False,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn by self-play with TD(lambda); stops and resumes exactly."""
    from tengen.learners.symmetry_network import Categories, Settings, SymmetryNetwork

    settings = Settings(
        games=games,
        linear_games=linear_games,
        batch=batch,
        rate=rate,
        size=size,
        trace=trace,
        beta=beta,
        seed=seed,
        colour=colour,
        tied=not untied,
        categories=Categories(mode=categories, eyes=eyes),
    )
    learner = SymmetryNetwork(settings=settings, workers=workers)
    seconds, played, last = 0.0, 0, None
    with progress("self-play", games, quiet=quiet) as bar:

        def watch(report: Any) -> None:
            nonlocal seconds, played, last
            first = last.games if last is not None else 0
            if last is None:
                bar.advance(0)
            seconds += report.seconds
            played += report.games - first if last is not None else 0
            bar.advance(report.games - bar.done, f"error {report.error:.4f}")
            last = report

        learner.fit_run(
            out,
            resume=resume,
            snapshot_every=snapshot_every,
            checkpoint_every=checkpoint_every,
            watch=watch,
        )
    path = out / "model.safetensors"
    learner.save(path)
    value = {
        "model": str(path),
        "games": learner.games_,
        "seconds": seconds,
        "error": last.error if last is not None else None,
    }
    emit(value, as_json=as_json, text=f"{path} after {learner.games_} games")


@app.command()
def evaluate(
    model: Annotated[str, typer.Option("--model", help="A shipped name or a path.")] = "isn-9x9",
    opponent: Annotated[
        str, typer.Option("--opponent", help="random, or another symmetry network.")
    ] = "random",
    games: Annotated[int, typer.Option("--games", min=1)] = 400,
    size: Annotated[int, typer.Option("--size", min=3, max=25)] = 9,
    komi: Annotated[float, typer.Option("--komi")] = 3.5,
    beta: Annotated[float, typer.Option("--beta", min=0)] = 20.0,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play a network against a random mover or another network, moves drawn with `--beta`."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.matches import play_match

    ours = SymmetryNetwork.load(model)
    theirs = None if opponent == "random" else SymmetryNetwork.load(opponent)
    remark(f"{games} games on {size}x{size}", quiet=quiet)
    result = play_match(
        *(ours, theirs), games=games, size=size, komi=komi, beta=beta, seed=seed, workers=workers
    )
    low, high = result.interval
    value = {
        "model": model,
        "opponent": opponent,
        "games": games,
        "size": size,
        "komi": komi,
        "beta": beta,
        "win_rate": result.win_rate,
        "interval": [low, high],
        "mean_score": result.margin,
        "mean_plies": result.plies,
    }
    text = f"{result.win_rate:.3f} [{low:.3f}, {high:.3f}] in {games} games"
    emit(value, as_json=as_json, text=text)


@app.command()
def experiment(
    snapshots: Annotated[
        Path, typer.Argument(help="A run's folder, or the snapshots.npz of a GPU training.")
    ],
    run: Annotated[str, typer.Option("--run", help="Which training of a snapshots.npz.")] = "paper",
    games: Annotated[int, typer.Option("--games", min=1, help="Per pair of snapshots.")] = 10,
    size: Annotated[int, typer.Option("--size", min=3, max=25)] = 9,
    komi: Annotated[float, typer.Option("--komi")] = 3.5,
    beta: Annotated[float, typer.Option("--beta", min=0)] = 20.0,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let all snapshots of a training play each other: the paper's Figure 1, with a trend test."""
    from dataclasses import asdict

    from tengen.learners.symmetry_network.learner import load_snapshots
    from tengen.learners.symmetry_network.matches import learning_curve, round_robin

    players = load_snapshots(snapshots, run)
    pairs = len(players) * (len(players) - 1) // 2
    with progress("pairs", pairs, quiet=quiet) as bar:
        points = round_robin(
            players,
            games=games,
            size=size,
            komi=komi,
            beta=beta,
            seed=seed,
            workers=workers,
            watch=lambda _i, _j: bar.advance(),
        )
    curve = learning_curve([p.games_ for p in players], points, games)
    emit(asdict(curve), as_json=as_json)
    if not as_json:
        rows = zip(curve.games, curve.rates, curve.intervals, strict=True)
        shown = [
            (g, f"{100 * r:.1f} %", f"{100 * a:.1f} to {100 * b:.1f}") for g, r, (a, b) in rows
        ]
        table("Figure 1", ("games", "won", "95 %"), shown)
        print(f"Spearman {curve.correlation:.2f}, p = {curve.p_value:.2g}; best {curve.best}")
