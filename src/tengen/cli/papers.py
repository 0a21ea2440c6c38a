"""The commands `train` and `evaluate` for the learners of the five papers, and `lab`."""

from __future__ import annotations

import json as encoder
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tengen.cli.options import (
    Records,
    RunFolder,
    RunOfModel,
    Seed,
    Workers,
    WorkOptions,
    argument,
    command,
    flag,
    option,
)
from tengen.cli.printing import Shown, table
from tengen.errors import SpecError, TengenError, unknown
from tengen.extras import need
from tengen.files import refuse_inputs, write_atomic
from tengen.models.registry import PREDICTOR
from tengen.papers.move_prediction.settings import PredictionSettings
from tengen.papers.opening_evolution.settings import EvolutionSettings
from tengen.papers.opening_td.settings import TDSettings
from tengen.papers.symmetry_network.settings import SymmetrySettings
from tengen.scoring.settings import ScorerSettings

if TYPE_CHECKING:
    from tengen.lab.result import Findings
    from tengen.records import GameArrays
    from tengen.scoring.training import Making

app = typer.Typer()


@command(app)
def train_opening_td(
    settings: TDSettings,
    run: RunFolder,
    features: list[str] = option(["ABCDE"], "A and some of BCDE, or `all` sixteen."),
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Train opening players by temporal differences; several are trained in parallel."""
    from tengen.papers.opening_td.experiments import TrainJob, train
    from tengen.papers.opening_td.settings import SETS
    from tengen.parallel import map_jobs

    chosen = list(SETS) if features == ["all"] else features
    base = run.out or Path("runs") / "opening-td" / f"{settings.rows}x{settings.rows}"
    jobs = []
    alone = len(chosen) == 1 and run.out is not None
    for letters in chosen:
        folder = base if alone else base / f"{letters}-{settings.encoding}"
        own = run.settings(folder, replace(settings, features=letters))
        jobs.append(TrainJob(str(folder), own, run.resume))
    if len(jobs) == 1:
        name, total = f"training {jobs[0].settings.name}", jobs[0].settings.games
        with shown.progress() as bar:
            curves = [train(jobs[0], lambda games: bar(name, games, total))]
    else:
        curves = list(map_jobs(train, jobs, **vars(work)))
    runs: list[dict[str, Any]] = []
    for job, curve in zip(jobs, curves, strict=True):
        run_of = {name: getattr(job.settings, name) for name in ("features", "encoding", "games")}
        runs.append({**run_of, "folder": job.folder, "model": job.model, "curve": curve})
    shown.result(runs[0] if len(runs) == 1 else runs)


@command(app)
def evaluate_opening_td(
    games: int = option(400, "Games; colours alternate.", min=1),
    opponent: str = option("random", "Plays the other side of the openings."),
    expert: str = option("builtin", "Finishes the openings: builtin, playouts:N, a player."),
    model: str = option("td-best-9x9", "Name or file of the model."),
    random_plies: int | None = option(None, "Random first plies; 2, but 0 against random."),
    out: Path | None = option(None, "File of finished parts; a stopped evaluation continues."),
    workers: Workers = 1,
    seed: Seed = 0,
    *,
    shown: Shown,
) -> None:
    """Play a model's openings against an opponent; an expert finishes the games."""
    from tengen.papers.opening_td.experiments import MatchJob, evaluate

    job = MatchJob(model, opponent, expert, games, seed, random_plies)
    with shown.progress() as bar:
        shown.result(evaluate(job, workers=workers, log=out, report=partial(bar, "parts")))


@command(app)
def train_scoring(
    settings: ScorerSettings,
    run: RunFolder,
    files: list[Path] = argument("Files of games with counted results.", default=[]),
    made: list[str] | None = option(
        None, "SIZE:GAMES to play and learn from, as 9:300; repeatable."
    ),
    made_only: bool = flag(
        "--made-only", "Only play the games of --made and write them to --out, as SGF files."
    ),
    player: str = option("mcts:playouts=100,resign=0", "Player of the games that are made."),
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Learn from final scores alone; writes scorer.safetensors into --out (runs/scoring).

    With --made it first plays games of its own and learns from their known dead stones, too.
    """
    from tengen.records import Corpus
    from tengen.scoring.training import MODEL, train_scorer

    folder = run.out or Path("runs/scoring")
    making = [_making(text, player) for text in made or []]
    if made_only:
        _make(making, folder, settings.seed, workers, shown)
        return
    if not files:
        raise SpecError("no games to learn from: name files of games with counted results")
    settings = run.settings(folder, settings)

    with shown.progress() as step:
        scorer = train_scorer(
            Corpus(files).as_arrays(), settings, folder, making=making, resume=run.resume,
            workers=workers, sources=", ".join(file.name for file in files), tell=step,
            report=lambda row: shown.remark(", ".join(f"{k} {v:.4g}" for k, v in row.items())),
        )  # fmt: skip
    played = [{"size": size, "games": games} for size, games in scorer.made_.items()]
    learned = {"history": scorer.history_, "calibration": scorer.calibration_}
    model = str(folder / MODEL)
    shown.result({"games": scorer.games_, "made": played, **learned, "model": model})


def _making(text: str, player: str) -> Making:
    from tengen.players import make_player
    from tengen.scoring.training import Making

    size, _, count = text.partition(":")
    if not (size.isdecimal() and count.isdecimal() and 5 <= int(size) <= 19 and int(count) > 0):
        raise SpecError(f"--made takes SIZE:GAMES with a size from 5 to 19, as 9:300, not {text}")
    make_player(player)  # reject a wrong spec before the first game
    return Making(int(size), int(count), player, partial(make_player, player))


def _make(making: list[Making], folder: Path, seed: int, workers: int, shown: Shown) -> None:
    """Play games to the end, so that the dead stones are known, and write them (TB, TW)."""
    from tengen.scoring.training import make_games, write_games

    written = []
    with shown.progress() as step:
        for each in making:
            path = folder / each.file
            records = make_games(each, seed, workers=workers, tell=step)
            folder.mkdir(parents=True, exist_ok=True)
            write_games(records, path)
            counts = {"games": len(records), "played": each.games}
            written.append({"file": str(path), "size": each.size, **counts})
    shown.result(written)


@command(app)
def evaluate_scoring(
    games: list[Path] = argument("Files of games with counted results."),
    count: Literal["careful", "plain"] = option(
        "careful", "careful (KGS), plain (OGS: flood fill)."
    ),
    baselines: bool = flag("--baselines", "Also measure simple scorers and GNU Go."),
    level: list[int] | None = option(None, "Level of GNU Go (10); repeatable.", min=1, max=10),
    seconds: float = option(120.0, "Time limit of GNU Go per game in seconds.", min=0.1),
    out: Path | None = option(None, "Folder for GNU Go's answers; they are used again."),
    model: str = option("scorer", "Name or file of the scorer."),
    *,
    shown: Shown,
) -> None:
    """Compare the scorer's counts with recorded results."""
    from tengen.papers.scoring_failure.experiments import evaluate_all
    from tengen.scoring import BlockScorer
    from tengen.scoring.game_score import evaluate, read_scored_games

    missing = [str(path) for path in games if not path.exists()]
    if missing:
        raise TengenError(f"{', '.join(missing)}: no such file")
    scorer = BlockScorer.load(model)
    with shown.progress() as step:
        scored = read_scored_games(games)
        if baselines:
            answer = evaluate_all(
                scorer, scored, method=count, levels=level or (10,), limit=seconds, progress=step,
                stored=None if out is None else out / "gnugo.jsonl",
            )  # fmt: skip
        else:
            answer = evaluate(scorer, scored, method=count, progress=step)
    if out is not None:
        write_atomic(out / "evaluation.json", encoder.dumps(answer))
    shown.result(answer, ", ".join(file.name for file in games))
    if baselines and not shown.json:
        shown.result(answer["baselines"], "Other scorers")


@command(app)
def train_symmetry_network(
    settings: SymmetrySettings, training: RunFolder, workers: Workers = 1, *, shown: Shown
) -> None:
    """Learn by self-play with TD(lambda); a stopped run resumes exactly."""
    from tengen.models import Run
    from tengen.papers.symmetry_network import SymmetryNetwork

    folder = training.out or Path("runs/symmetry-network")
    settings = training.settings(folder, settings)
    begin, error, kind = time.perf_counter(), None, SymmetryNetwork.kind
    with Run.open(folder, kind, settings, resume=training.resume) as run, shown.progress() as bar:

        def watch(games: int, means: dict[str, float]) -> None:
            nonlocal error
            error = means["error"]
            bar("self-play", games, settings.games, f"error {error:.4f}")

        learner = SymmetryNetwork(settings=settings, workers=workers).fit(run=run, watch=watch)
        path = run.folder / "model.safetensors"
        learner.save(path)
    value = {"model": str(path), "games": learner.games_}
    shown.result({**value, "seconds": time.perf_counter() - begin, "error": error})


@command(app)
def evaluate_symmetry_network(
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
    from tengen.papers.symmetry_network.learner import SIMPLE, SymmetryNetwork, play_games
    from tengen.statistics import Rate

    ours = SymmetryNetwork.load(model)
    theirs = opponent if opponent in SIMPLE else SymmetryNetwork.load(opponent)
    shown.remark(f"{games} games on {size}x{size}")
    terms: dict[str, Any] = {"games": games, "size": size, "komi": komi, "beta": beta}
    scores, plies = play_games(ours, theirs, **terms, seed=seed, openings=0, workers=workers)
    who = {"model": model, "opponent": opponent, **terms}
    shown.result({**who, **asdict(Rate.of(scores)), "mean_plies": float(plies.mean())})


_Size = Annotated[int, typer.Option("--size", min=2, max=25, help="Board size of the games.")]


@command(app)
def train_move_prediction(
    files: Records,
    settings: PredictionSettings,
    training: RunOfModel,
    work: WorkOptions,
    shown: Shown,
    size: _Size = 19,
) -> None:
    """Train a predictor on games and write it to a model file."""
    from tengen.papers.move_prediction import MovePredictor

    refuse_inputs(training.out, files)
    began = time.monotonic(), time.process_time()
    settings = training.settings(training.folder, settings)
    arrays, skipped = _games(files, size, shown)
    predictor = MovePredictor(settings=settings)
    with predictor.open_run(training.folder, arrays, resume=training.resume) as run:
        predictor.fit(arrays, run=run, on_report=shown.remark, **vars(work))
        number = min(settings.games or len(arrays), len(arrays))
        sources = ", ".join(Path(path).name for path in files)
        predictor.save(training.out, data=f"{number} games of {sources}")
    seconds = time.monotonic() - began[0], time.process_time() - began[1]
    result = {"model": str(training.out), "games": number, "skipped": skipped}
    result |= {"features": predictor.model_.features, "seconds": seconds[0]}
    shown.result({**result, "processor_seconds": seconds[1]})


def _games(paths: list[str], size: int, shown: Shown) -> tuple[GameArrays, int]:
    """Read the usable games of one size; report and return how many were skipped."""
    from tengen.papers.move_prediction.training import read_games

    games, skipped = read_games(paths, size)
    for reason, count in skipped.items():
        shown.remark(f"skipped: {count} {reason}")
    return games, skipped.total()


@command(app)
def evaluate_move_prediction(
    games: Records,
    model: str = option(PREDICTOR, "Name or path of a predictor."),
    limit: int | None = option(None, "Only this many games, chosen by the seed.", "--games", min=1),
    size: _Size = 19,
    seed: Seed = 0,
    *,
    shown: Shown,
) -> None:
    """Measure how often a predictor is right about the moves of games."""
    from tengen.papers.move_prediction import MovePredictor

    predictor = MovePredictor.load(model)
    predictor.check_size(size, size)
    arrays, _ = _games(games, size, shown)
    if limit is not None:
        arrays = arrays.shuffled(seed).take(range(min(limit, len(arrays))))
    measured = predictor.evaluate(arrays)
    shown.result(measured.summary(), f"{model} on {', '.join(Path(path).name for path in games)}")


@command(app)
def train_opening_evolution(
    settings: EvolutionSettings, run: RunFolder, work: WorkOptions, shown: Shown
) -> None:
    """Evolve a network; the same seed gives the same network on any number of workers."""
    from tengen.models import to_plain
    from tengen.papers.opening_evolution.experiments import train
    from tengen.papers.opening_evolution.learner import Breeding

    name = f"{settings.network}-{settings.rows}x{settings.rows}-seed{settings.seed}"
    folder = run.out or Path("runs") / "opening-evolution" / name
    settings = run.settings(folder, settings)
    with shown.progress() as bar:

        def advance(state: Breeding) -> None:
            best = f"best {state.fitness.max():+.1f}"
            bar("generations", state.generation, settings.generations, best)

        path = train(folder, settings, resume=run.resume, on_generation=advance, **vars(work))
    shown.result({"model": str(path), "settings": to_plain(settings)})


@command(app)
def evaluate_opening_evolution(
    games: int = option(400, "Openings, with both colours.", min=2),
    opponent: str = option("random", "Plays the other side."),
    expert: str = option("static", "Finishes the games and counts them."),
    model: str | None = option(None, "A shipped name or a path."),
    player: str = option("", "Spec of a player that takes the model's place."),
    rival: str | None = option(None, "An evolved model, by name or path, as the opponent."),
    random_plies: int = option(4, "Random plies before each game.", min=0),
    seed: Seed = 1,
    *,
    shown: Shown,
) -> None:
    """Play the model's openings against an opponent's; the expert finishes both colours."""
    from tengen.models import find_model
    from tengen.papers.opening_evolution.experiments import CHAMPIONS, Duel, play_duel
    from tengen.statistics import Rate

    name = model or CHAMPIONS[0]
    other = str(find_model(rival)) if rival else opponent
    duel = Duel(name, other, expert, games, seed, random_plies=random_plies, player=player)
    rate = Rate.of(play_duel(duel)["scores"])
    who = {"model": player or name, "opponent": rival or opponent, "expert": expert}
    shown.result({**who, **asdict(rate), "seed": seed})


@command(app)
def lab(
    names: list[str] = argument("Experiments to run; all by default.", default=[]),
    full: bool = flag("--full", "Run at the papers' scale, which takes days, not minutes."),
    change: list[str] = option(
        [], "Change a setting of the named experiment, as games=200; repeatable.", "--set"
    ),
    collection: Path | None = option(None, "Folder of game collections, for --full."),
    listed: bool = flag("--list", "List the experiments with their settings."),
    out: Path | None = option(None, "Folder of the run (runs/lab, runs/lab-full)."),
    seed: Seed = 1,
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Run the papers' experiments, compare with the papers, write one page.

    An interrupted run continues with the same command.
    """
    need("lab", "scipy", "matplotlib", "jinja2", "cma")
    from tengen.lab import experiments
    from tengen.lab.rendering import write_report
    from tengen.lab.steps import FULL, QUICK, LabContext, results, run_steps

    mode = FULL if full else QUICK
    known = {experiment.name: experiment for experiment in experiments()}
    if listed:
        sizes = {name: asdict(size) for name, e in known.items() if (size := e.size(mode))}
        if not shown.as_json(sizes):
            rows = [
                (name, known[name].title, ", ".join(f"{k}={v}" for k, v in size.items()))
                for name, size in sizes.items()
            ]
            table(f"Experiments, {mode}", ("name", "title", "settings"), rows)
        return
    if collection is not None and not collection.is_dir():
        raise TengenError(f"{collection}: no such folder")
    if change and len(names) != 1:
        raise SpecError("--set changes the settings of one named experiment")
    chosen = []
    for name in names:
        if name not in known:
            raise SpecError(unknown("experiment", name, known))
        if (step := known[name].step(mode, change)) is None:
            raise SpecError(f"{name} has no small size; run it with --full")
        chosen.append(step)
    every = (e.step(mode) for e in known.values() if not e.named_only)
    page = [step for step in every if step is not None]
    page += [step for step in chosen if known[step.name].named_only]
    folder = out or Path("runs") / ("lab-full" if full else "lab")
    context = LabContext(folder, seed, work.workers, collection=collection, ray=work.ray)
    try:
        with shown.progress() as progress:
            done = run_steps(chosen or page, context, mode=mode, progress=progress)
    except KeyboardInterrupt as stop:
        finished = len([step for step in page if step.name in results(folder)])
        stop.add_note(f"{folder}: {finished} of {len(page)} steps done; the same command continues")
        raise
    path = write_report(folder, page, done)
    answer = {
        "report": str(path),
        "results": str(path.with_name("results.md")),
        "steps": [step.name for step in page if step.name in done],
        "left": [step.name for step in page if step.name not in done],
        "data": {name: done[name].result.data for name in names},
    }
    if not shown.as_json(answer):
        for name in names:
            _print_findings(done[name].result)
        print(f"Open {path} in a browser.")


def _print_findings(found: Findings) -> None:
    """Print text, tables and comparisons; figures are only on the page."""
    if found.text:
        print(found.text)
    if found.points:
        print("\n  ".join([f"{found.points_title}:", *found.points]))
    for each in found.tables:
        table(each.title, each.columns, each.rows)
        if each.note:
            print(each.note)
    if found.comparisons:
        rows = [(c.where, c.what, c.paper, c.ours, c.verdict) for c in found.comparisons]
        table("Compared with the paper", ["where", "what", "paper", "ours", "verdict"], rows)
