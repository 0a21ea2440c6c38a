"""`tengen symmetry-network`: train, evaluate and describe internal symmetry networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.common import Json, Quiet, Seed, Workers, emit, progress, remark, table
from tengen.cli.symmetry_imitation import imitate

app = typer.Typer(no_args_is_help=True, help="Internal symmetry networks (Blair 2008).")
app.command()(imitate)

Model = Annotated[str | None, typer.Option("--model", help="A shipped name or a path.")]


@app.command()
def info(model: Model = None, as_json: Json = False) -> None:
    """Count the free numbers of a network and measure how exactly it keeps the symmetries."""
    import numpy as np

    from tengen.learners.symmetry_network import network as definition
    from tengen.learners.symmetry_network.features import OUTPUTS

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
        "inputs": architecture.inputs,
        "outputs": 1 if architecture.single else len(OUTPUTS),
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
        str, typer.Option("--categories", help="eyes (the paper), liberties, mixed, both or none.")
    ] = "eyes",
    eyes: Annotated[tuple[float, float], typer.Option("--eyes", help="Thresholds.")] = (0.5, 1.5),
    colour: Annotated[
        bool, typer.Option("--colour", help="Tie White's weights to Black's.")
    ] = False,
    untied: Annotated[
        bool, typer.Option("--untied", help="A plain convolution, for comparison.")
    ] = False,
    turn: Annotated[
        bool, typer.Option("--turn", help="Tell the network who has just moved.")
    ] = False,
    layers: Annotated[int, typer.Option("--layers", min=1, help="Stacked hidden layers.")] = 1,
    steps: Annotated[int, typer.Option("--steps", min=0, help="Recurrent steps.")] = 0,
    single: Annotated[
        bool, typer.Option("--single", help="One output instead of seven; no captures, no eyes.")
    ] = False,
    maxlib: Annotated[
        float, typer.Option("--maxlib", min=0, max=1, help="Share of games against maxlib.")
    ] = 0.0,
    anneal: Annotated[
        float, typer.Option("--anneal", min=0, max=1, help="Share of games with a falling rate.")
    ] = 0.0,
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
        turn=turn,
        layers=layers,
        steps=steps,
        single=single,
        capture=0.0 if single else 0.4,
        stone=1.0 if single else 0.4,
        maxlib=maxlib,
        anneal=anneal,
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
def evolve(
    out: Annotated[Path, typer.Option("--out", help="The model to write, every ten generations.")],
    model: Annotated[str, typer.Option("--model", help="Where to start.")] = "isn-best",
    opponents: Annotated[
        str,
        typer.Option(
            "--opponents", help="maxlib, random or networks, joined by commas; pairs take turns."
        ),
    ] = "maxlib",
    turn: Annotated[
        bool, typer.Option("--turn", help="Untie colours, tell the network who has just moved.")
    ] = False,
    generations: Annotated[int, typer.Option("--generations", min=1)] = 400,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Of mutants a generation.")] = 64,
    games: Annotated[int, typer.Option("--games", min=1, help="Of a mutant.")] = 2,
    spread: Annotated[
        float, typer.Option("--spread", min=0, help="Of mutations, relative to the numbers.")
    ] = 0.15,
    step: Annotated[float, typer.Option("--step", min=0, help="Relative to the numbers.")] = 0.002,
    momentum: Annotated[float, typer.Option("--momentum", min=0, max=0.999)] = 0.9,
    size: Annotated[int, typer.Option("--size", min=3, max=25)] = 9,
    komi: Annotated[float, typer.Option("--komi")] = 7.5,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where it was stopped, or for longer.")
    ] = False,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Improve a trained network by evolution: keep the mutations that win games."""
    from tengen.errors import SpecError
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.evolution import (
        Evolution,
        evolve_against,
        told_who_moved,
    )
    from tengen.learners.symmetry_network.matches import SIMPLE

    start = SymmetryNetwork.load(model)
    if turn:
        start = told_who_moved(start)
    names = [name.strip() for name in opponents.split(",") if name.strip()]
    rivals = [name if name in SIMPLE else SymmetryNetwork.load(name) for name in names]
    plan = Evolution(
        generations=generations,
        pairs=pairs,
        games=games,
        spread=spread,
        step=step,
        momentum=momentum,
        size=size,
        komi=komi,
        seed=seed,
    )
    folder = out.with_suffix(".state")
    if not resume and folder.is_dir():
        raise SpecError(f"{folder}: has an evolution already; --resume continues it")
    means: list[float] = []
    with progress("generations", generations, quiet=quiet) as bar:

        def watch(generation: int, network: SymmetryNetwork, mean: float) -> None:
            means.append(mean)
            if generation % 10 == 0 or generation == generations:
                network.save(out)
            bar.advance(generation - bar.done, f"fitness {mean:.3f}")

        evolve_against(start, rivals, plan, workers=workers, folder=folder, watch=watch)
    value = {"model": str(out), "generations": generations, "fitness": means}
    emit(value, as_json=as_json, text=f"{out} after {generations} generations")


@app.command()
def evaluate(
    model: Annotated[str, typer.Option("--model", help="A shipped name or a path.")] = "isn-9x9",
    opponent: Annotated[
        str, typer.Option("--opponent", help="random, maxlib, or another symmetry network.")
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
    """Play a network against a simple player or another network, moves drawn with `--beta`."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.matches import SIMPLE, play_games
    from tengen.statistics import Rate

    ours = SymmetryNetwork.load(model)
    theirs = opponent if opponent in SIMPLE else SymmetryNetwork.load(opponent)
    remark(f"{games} games on {size}x{size}", quiet=quiet)
    scores, plies = play_games(
        *(ours, theirs), games=games, size=size, komi=komi, beta=beta, seed=seed, openings=0,
        workers=workers,
    )  # fmt: skip
    result = Rate.of(scores)
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
        "mean_score": result.mean_score,
        "mean_plies": float(plies.mean()),
    }
    text = f"{result.win_rate:.3f} [{low:.3f}, {high:.3f}] in {games} games"
    emit(value, as_json=as_json, text=text)


@app.command()
def show(
    file: Annotated[str, typer.Argument(help="A game record; - reads standard input.")],
    move: Annotated[
        int | None, typer.Option("--move", min=1, help="The position before this move; the last.")
    ] = None,
    game: Annotated[int, typer.Option("--game", min=1, help="Which game of the file.")] = 1,
    model: Annotated[str, typer.Option("--model", help="A shipped name or a path.")] = "isn-best",
    out: Annotated[Path | None, typer.Option("--out", help="Write the maps as SVG.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the seven maps of a position: who gets what, which stones live, where eyes will be."""
    import numpy as np

    from tengen.board import PASS, index_of
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.pictures import format_maps
    from tengen.models.files import write_atomic
    from tengen.records import read_game
    from tengen.records.replay import board_at

    network = SymmetryNetwork.load(model)
    record = read_game(file, game)
    board = board_at(record, move)
    number = move if move is not None else len(record.moves) + 1
    maps = network.heat_maps(board)
    last = board.last_move
    value = {
        "file": file,
        "game": game,
        "move": number,
        "model": model,
        "score": float(network.values([board])[0]),
        "maps": {
            name: [[None if np.isnan(v) else float(v) for v in row] for row in values]
            for name, values in maps.items()
        },
        "out": str(out) if out is not None else None,
    }
    if out is not None:
        mark = None if last in (None, PASS) else index_of(int(last), board.rows, board.cols)
        write_atomic(out, format_maps(board.grid(), maps, last=mark, title=f"before move {number}"))
        remark(f"wrote {out}", quiet=quiet)
    emit(value, as_json=as_json)
    if not as_json and out is None:
        for name, values in maps.items():
            print(f"{name}:")
            for row in values:
                print(" ".join("  ." if np.isnan(v) else f"{100 * v:3.0f}" for v in row))
    if not as_json:
        print(f"expected score for Black, komi included: {value['score']:+.1f}")


@app.command()
def experiment(
    snapshots: Annotated[
        Path | None,
        typer.Argument(help="Figure 1: a run's folder."),
    ] = None,
    which: Annotated[
        str,
        typer.Option(
            "--table",
            help="figure1, or a comparison: categories, outputs, tying, depth, opponents.",
        ),
    ] = "figure1",
    games: Annotated[
        int | None,
        typer.Option("--games", min=1, help="Per pair of snapshots (10); or per match (200)."),
    ] = None,
    train_games: Annotated[
        int, typer.Option("--train-games", min=1, help="Of every training in a comparison.")
    ] = 10_000,
    rate: Annotated[float, typer.Option("--rate", min=0, help="Of these trainings.")] = 5e-5,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Trainings a row.")] = 1,
    only: Annotated[
        str, typer.Option("--only", help="Rows with these words in their names, by commas.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="Keep the trained networks; go on with them.")
    ] = None,
    size: Annotated[int, typer.Option("--size", min=3, max=25)] = 9,
    komi: Annotated[float, typer.Option("--komi")] = 3.5,
    beta: Annotated[float, typer.Option("--beta", min=0)] = 20.0,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw the paper's Figure 1 with a trend test, or compare designs after equal training."""
    from tengen.cli.symmetry_tables import compare, figure_1
    from tengen.errors import SpecError
    from tengen.lab.symmetry_network import Tournament

    if which != "figure1":
        compare(
            which,
            train_games,
            rate,
            size,
            range(seed, seed + seeds),
            games or 200,
            out,
            [word.strip() for word in only.split(",") if word.strip()],
            workers,
            as_json,
            quiet,
        )
        return
    if snapshots is None:
        raise SpecError("figure1 needs the folder of a training")
    tournament = Tournament(games or 10, size, komi, beta, seed)
    figure_1(snapshots, tournament, workers=workers, as_json=as_json, quiet=quiet)
