"""`tengen symmetry-network`: train, evaluate and describe internal symmetry networks.

Parses, calls the learner or the laboratory, prints.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.options import (
    Json,
    Position,
    RunFolder,
    Seed,
    Shown,
    Workers,
    argument,
    command,
    flag,
    option,
)
from tengen.cli.printing import emit, emit_result, facts, progress, remark
from tengen.lab.symmetry_network import DesignTable, SnapshotTournament
from tengen.learners.symmetry_network.settings import (
    EvolutionSettings,
    ImitationSettings,
    SymmetrySettings,
)

app = typer.Typer(add_completion=False, no_args_is_help=True)

_Model = Annotated[str | None, typer.Option("--model", help="A shipped name or a path.")]


@app.command()
def info(model: _Model = None, json: Json = False) -> None:
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
    emit(value, json=json)
    if not json:
        facts("Internal symmetry network", value)


@command(app)
def train(
    settings: SymmetrySettings,
    training: RunFolder,
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Learn by self-play with TD(lambda); stops and resumes exactly."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.training import SelfPlayReport, open_run

    folder = training.out or Path("runs/symmetry-network")
    settings = training.settings(folder, settings)
    reports: list[SelfPlayReport] = []
    with (
        open_run(folder, settings, resume=training.resume) as run,
        progress("self-play", settings.games, quiet=shown.quiet) as bar,
    ):

        def watch(report: SelfPlayReport) -> None:
            reports.append(report)
            bar.advance(report.games - bar.done, f"error {report.error:.4f}")

        learner = SymmetryNetwork(settings=settings, workers=workers).fit(run=run, watch=watch)
        path = run.folder / "model.safetensors"
        learner.save(path)
    value = {
        "model": str(path),
        "games": learner.games_,
        "seconds": sum(report.seconds for report in reports),
        "error": reports[-1].error if reports else None,
    }
    emit(value, json=shown.json, text=f"{path} after {learner.games_} games")


@command(app)
def imitate(
    files: Annotated[list[str], typer.Argument(help="Experts' games: SGF files or folders.")],
    settings: ImitationSettings,
    training: RunFolder,
    held_out_share: float = option(0.02, "Share of games to measure on.", min=0.0, max=0.5),
    measured: int = option(500, "Positions to measure the ranking on.", min=1),
    device: str = option("cpu", "cpu, or cuda for a GPU."),
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Learn to rank experts' moves by the value of the board after them; needs PyTorch.

    At the end the ranking among all legal moves is measured on games that were left out.
    """
    from tengen.errors import SpecError
    from tengen.learners.move_prediction.reading import read_games
    from tengen.learners.symmetry_network import SymmetryNetwork, imitation

    folder = training.out or Path("runs/symmetry-network-imitate")
    settings = training.settings(folder, settings)
    games, left_out = read_games(files, settings.size)
    for line in left_out.lines():
        remark(line, quiet=shown.quiet)
    held = max(1, round(held_out_share * len(games))) if held_out_share > 0 else 0
    if held >= len(games):
        raise SpecError(f"{' '.join(files)}: {len(games)} games, too few to hold one out")
    test, train = games.split(held / len(games), settings.seed)
    trainer = imitation.Imitator(settings, train, device=device, workers=workers)
    positions, weights = settings.steps * settings.batch, settings.network.architecture.weights
    remark(f"{weights} weights, {len(train)} games", quiet=shown.quiet)
    reports: list[imitation.ImitationReport] = []
    with (
        imitation.open_run(folder, settings, train, resume=training.resume) as run,
        progress("positions", positions, quiet=shown.quiet) as bar,
    ):

        def watch(report: imitation.ImitationReport) -> None:
            reports.append(report)
            note = f"loss {report.loss:.3f}, first {report.top1:.1%}"
            bar.advance(report.positions - bar.done, note)

        free = imitation.imitate(trainer, run=run, watch=watch)
        path = run.folder / "model.safetensors"
        SymmetryNetwork.from_free(free, settings.network, len(train)).save(path)
    value: dict[str, Any] = {
        "model": str(path),
        "weights": weights,
        "games": len(train),
        "positions": positions,
        "loss": reports[-1].loss if reports else None,
        "beta": trainer.beta,
        "held_out": None,
    }
    text = f"{path} after {positions} positions of {len(train)} games"
    if held:
        found = trainer.rank(test, measured, seed=settings.seed)
        value["held_out"] = {"games": len(test), **asdict(found)}
        text += (
            f"; of {found.positions} positions left out, among all legal moves: "
            f"first {found.top1:.1%}, among five {found.top5:.1%}, loss {found.loss:.3f}"
        )
    emit(value, json=shown.json, text=text)


@command(app)
def evolve(
    settings: EvolutionSettings,
    training: RunFolder,
    model: str = option("isn-best", "Where to start."),
    opponents: str = option(
        "maxlib", "maxlib, random or networks, joined by commas; pairs take turns."
    ),
    turn: bool = flag("--turn", "Untie colours, tell the network who has just moved."),
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Improve a trained network by evolution: keep the mutations that win games."""
    from tengen.learners.symmetry_network import SymmetryNetwork, evolution
    from tengen.learners.symmetry_network.matches import SIMPLE

    folder = training.out or Path("runs/symmetry-network-evolve")
    settings = training.settings(folder, settings)
    start = SymmetryNetwork.load(model)
    if turn:
        start = evolution.told_who_moved(start)
    names = [name.strip() for name in opponents.split(",") if name.strip()]
    rivals = [name if name in SIMPLE else SymmetryNetwork.load(name) for name in names]
    means: list[float] = []
    with (
        evolution.open_run(folder, settings, start, rivals, resume=training.resume) as run,
        progress("generations", settings.generations, quiet=shown.quiet) as bar,
    ):

        def watch(generation: int, fitness: float) -> None:
            means.append(fitness)
            bar.advance(generation - bar.done, f"fitness {fitness:.3f}")

        grown = evolution.evolve_against(
            *(start, rivals, settings), workers=workers, run=run, watch=watch
        )
        path = run.folder / "model.safetensors"
        grown.save(path)
    value = {"model": str(path), "generations": settings.generations, "fitness": means}
    emit(value, json=shown.json, text=f"{path} after {settings.generations} generations")


@command(app)
def evaluate(
    model: str = option("isn-9x9", "A shipped name or a path."),
    opponent: str = option("random", "random, maxlib, or another symmetry network."),
    games: int = option(400, "Games; colours alternate.", min=1),
    size: int = option(9, "Lines of the board.", min=3, max=25),
    komi: float = option(3.5, "White's compensation in points."),
    beta: float = option(20.0, "Moves are drawn by exp(beta value).", min=0),
    seed: Seed = 0,
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Play a network against a simple player or another network, moves drawn with `--beta`."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.matches import SIMPLE, play_games
    from tengen.statistics import Rate

    ours = SymmetryNetwork.load(model)
    theirs = opponent if opponent in SIMPLE else SymmetryNetwork.load(opponent)
    remark(f"{games} games on {size}x{size}", quiet=shown.quiet)
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
    won, span = f"{100 * result.win_rate:.1f} %", f"[{100 * low:.1f}, {100 * high:.1f}]"
    text = f"{model} wins {won} {span} of {games} games against {opponent}"
    emit(value, json=shown.json, text=text)


@command(app)
def show(
    where: Position,
    model: str = option("isn-best", "A shipped name or a path."),
    out: Path | None = option(None, "Write the maps as SVG."),
    *,
    shown: Shown,
) -> None:
    """Show the seven maps of a position: who gets what, which stones live, where eyes will be."""
    import numpy as np

    from tengen.board import PASS, index_of
    from tengen.files import refuse_inputs, write_atomic
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.pictures import format_maps

    if out is not None:
        refuse_inputs(out, [where.file])
    network = SymmetryNetwork.load(model)
    _, board, number = where.read()
    maps = network.heat_maps(board)
    last = board.last_move
    value = {
        "file": where.file,
        "game": where.game,
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
        remark(f"wrote {out}", quiet=shown.quiet)
    emit(value, json=shown.json)
    if not shown.json and out is None:
        for name, values in maps.items():
            print(f"{name}:")
            for row in values:
                print(" ".join("  ." if np.isnan(v) else f"{100 * v:3.0f}" for v in row))
    if not shown.json:
        print(f"expected score for Black, komi included: {value['score']:+.1f}")


@command(app)
def experiment(
    tournament: SnapshotTournament,
    designs: DesignTable,
    snapshots: Path | None = argument("Figure 1: a run's folder.", default=None),
    which: str = option(
        "figure1", "figure1, or designs: categories, outputs, tying, depth, opponents.", "--table"
    ),
    out: Path | None = option(None, "Keep the trained networks; go on with them."),
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Draw the paper's Figure 1 with a trend test, or compare designs after equal training."""
    from tengen.errors import SpecError
    from tengen.lab import symmetry_network as lab
    from tengen.lab.content import Result

    if which != "figure1":
        rows = lab.compare_designs(
            *(which, designs),
            folder=out,
            workers=workers,
            watch=lambda text: remark(text, quiet=shown.quiet),
        )
        result = Result(tables=[lab.design_table(which, designs, rows)])
        value = {"table": which, **asdict(designs), "rows": [asdict(row) for row in rows]}
    elif snapshots is None:
        raise SpecError("figure1 needs the folder of a training")
    else:
        from tengen.learners.symmetry_network.learner import load_snapshots

        players = load_snapshots(snapshots)
        with progress("pairs", len(players) * (len(players) - 1) // 2, quiet=shown.quiet) as bar:
            curve = lab.figure_1(
                *(players, tournament), workers=workers, watch=lambda _done, _of: bar.advance()
            )
        result, value = Result(tables=[lab.curve_table(curve)]), asdict(curve)
    emit_result(result, json=shown.json, value=value)
