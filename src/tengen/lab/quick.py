"""List the steps of the small laboratory: every learner trained a little, beside the shipped
models.

Nothing is downloaded: games come from our own players, the built-in expert finishes openings. Each
step is a function of the run's seed; players are limited by playouts, not seconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.lab.steps import Context, Result, Step


def percent(rate: float, interval: Any = None) -> str:
    """Write a rate with its interval.

    >>> percent(0.5, (0.4, 0.6))
    '50.0 % [40, 60]'
    """
    text = f"{100 * rate:.1f} %"
    return (
        text if interval is None else f"{text} [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]"
    )


# ----- Players -----

RUNGS = {
    "random": "random",
    "maxlib": "maxlib",
    "static": "static",
    "mcts 10": "mcts:playouts=10",
    "mcts 100": "mcts:playouts=100",
    "mcts 400": "mcts:playouts=400",
}


def ladder(context: Context) -> Result:
    """Play a small round robin on 9x9 and rate the players."""
    from tengen.arena import Database, parse_tournament, results_of, run_tournament

    tournament = parse_tournament(
        {
            "kind": "round-robin",
            "games": 8,
            "size": 9,
            "openings": 4,
            "seed": context.seed,
            "players": {
                name: {"spec": spec, **({"elo": 0.0} if name == "random" else {})}
                for name, spec in RUNGS.items()
            },
        }
    )
    with Database.open(context.place("ladder") / "games.sqlite", tournament) as database:
        run_tournament(tournament, database, workers=context.workers)
        results = results_of(database)
    rows = []
    for standing in results.standings:
        rating = standing.rating
        assert rating is not None
        rows.append(
            [
                standing.name,
                f"{rating.elo:.0f} [{rating.low:.0f}, {rating.high:.0f}]",
                f"{standing.wins} of {standing.games}",
            ]
        )
    return {
        "tables": [
            {
                "title": "Round robin on 9x9, 8 games a pair, random = 0",
                "columns": ["player", "Elo", "wins"],
                "rows": rows,
            }
        ],
        "verdict": f"The yardstick for what follows: {rows[0][0]} leads, {rows[-1][0]} is last.",
    }


# ----- Openings by temporal differences -----


def opening_td(context: Context) -> Result:
    """Train player ABCDE a little, and judge the shipped ones."""
    from tengen.lab.opening_td import TrainJob, evaluate, train
    from tengen.models import has_model

    folder = context.place("opening-td")
    settings = {"features": "ABCDE", "encoding": "binary", "games": 600, "seed": context.seed}
    curve = train(TrainJob(str(folder), settings, curve_every=100, curve_games=60))
    rows = []
    for name in ("td-abcde-9x9", "td-best-9x9"):
        if has_model(name):
            for opponent in ("random", "maxlib"):
                answer = evaluate(name, opponent, "builtin", games=100, seed=context.seed)
                rate = percent(answer["win_rate"], answer["interval"])
                paper = "75 %" if name == "td-abcde-9x9" and opponent == "random" else ""
                rows.append([name, opponent, rate, paper])
    return {
        "tables": [
            {
                "title": "Shipped players' openings, finished by the built-in expert",
                "columns": ["player", "against", "wins", "the paper (3,000 games)"],
                "rows": rows,
            }
        ],
        "figures": [
            {
                "title": "Figure 4: player ABCDE against random while it learns",
                "x": "games of self-play",
                "y": "wins",
                "lines": [
                    {
                        "name": "ABCDE, binary",
                        "x": [point["games"] for point in curve],
                        "y": [point["win_rate"] for point in curve],
                        "low": [point["interval"][0] for point in curve],
                        "high": [point["interval"][1] for point in curve],
                    }
                ],
            }
        ],
    }


# ----- Internal symmetry networks -----


def symmetry_network(context: Context) -> Result:
    """Count the weights, train a small network, look at what it sees."""
    from tengen.board import Board
    from tengen.learners.symmetry_network import Settings, SymmetryNetwork
    from tengen.learners.symmetry_network.matches import play_match
    from tengen.models import find_model, has_model

    settings = Settings(games=3000, linear_games=1000, rate=5e-5, seed=context.seed)
    first = SymmetryNetwork(settings=settings).fit(games=1)
    learned = SymmetryNetwork(settings=settings, workers=context.workers).fit()
    rows = []
    contestants = {"after 1 game": first, "after 3,000 games": learned}
    for name in ("isn-9x9", "isn-best"):
        if has_model(name):
            contestants[name] = SymmetryNetwork.load(find_model(name))
    for name, network in contestants.items():
        result = play_match(network, None, games=100, seed=context.seed)
        rows.append([name, percent(result.win_rate, result.interval), f"{result.plies:.0f}"])
    shown = list(contestants.values())[-1]
    board = Board(9, moves="B E5 W C3 B G3 W C6 B F7 W G6 B G7 W H7 B H6 W H8 B F6 W H5")
    pictures = [
        {"title": name, "svg": board.svg(shades=2 * np.asarray(values).ravel() - 1, cell=18)}
        for name, values in shown.heat_maps(board).items()
    ]
    ownership = {"title": "ownership", "svg": board.svg(shades=shown.ownership(board), cell=18)}
    return {
        "text": f"{learned.architecture.size} free numbers with biases; the paper: 714 without.",
        "tables": [
            {
                "title": "Without look-ahead against random on 9x9, 100 games, komi 3.5",
                "columns": ["network", "wins", "plies a game"],
                "rows": rows,
            }
        ],
        "figures": [ownership, *pictures],
    }


# ----- Move prediction -----


def sample_records(games: int, size: int, seed: int) -> Any:
    """Return games of the rule player against itself from random openings, as arrays."""
    from tengen.board import Board
    from tengen.players import make_player
    from tengen.records import loads

    player = make_player("static")
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(games):
        board = Board(size)
        for _ in range(4):
            index = int(rng.choice(np.flatnonzero(board.legal_mask()[:-1])))
            board.push((index // size + 1) * (size + 1) + index % size + 1)
        while not board.is_over and len(board.moves) < 2 * size * size:
            board.push(player.choose(board, rng))
        texts.append(_sgf(board))
    from tengen.records.arrays import from_records

    return from_records(loads("".join(texts), "games of the rule player"))


def _sgf(board: Any) -> str:
    from tengen.board import format_sgf

    moves = "".join(
        f";{'.BW'[colour]}[{format_sgf(point, board.rows, board.cols)}]"
        for colour, point in board.moves
    )
    return f"(;GM[1]FF[4]SZ[{board.rows}]KM[{board.komi}]{moves})"


def move_prediction(context: Context) -> Result:
    """Train the paper's recipe on games of our own rule player, and test it on others."""
    from tengen.learners.move_prediction import MovePredictor
    from tengen.models import has_model, list_models

    training = sample_records(300, 9, context.seed)
    test = sample_records(60, 9, context.seed + 1)
    rows = []
    for count in (50, 100, 300):
        model = MovePredictor(recipe="paper").fit(training.take(np.arange(count)))
        got = model.evaluate(test)
        rows.append(
            [
                count,
                percent(got.rate(1), got.interval(1)),
                percent(got.rate(5)),
                percent(got.rate(10)),
            ]
        )
    shipped = [
        [info.name, *(str(result) for result in info.card.results[:3])]
        for info in list_models()
        if info.card is not None and info.card.kind == "move-prediction"
    ]
    widest = max((len(row) for row in shipped), default=1)
    tables: list[dict[str, Any]] = [
        {
            "title": "The paper's recipe on games of the rule player, 9x9",
            "columns": ["training games", "first", "first five", "first ten"],
            "rows": rows,
            "note": "The paper, after 20,000 professional 19x19 games: 33.9, 60.5, 69.5 %.",
        }
    ]
    if shipped:
        tables.append(
            {
                "title": "Shipped predictors, as measured",
                "columns": ["model"] + ["measured"] * (widest - 1),
                "rows": shipped,
            }
        )
    assert has_model("predictor-19x19") or not shipped
    return {"tables": tables}


# ----- Openings by evolution -----


def opening_evolution(context: Context) -> Result:
    """Breed a small population for a while; ask random openings what it learned."""
    from dataclasses import asdict

    from tengen.lab.opening_evolution import against, player_of
    from tengen.learners.opening_evolution import (
        NetworkPlayer,
        OpeningEvolution,
        Plan,
        Setting,
        evolve,
        measure_with,
    )
    from tengen.models import find_model, has_model
    from tengen.players import make_expert, make_player

    plan = Plan(network="shared", population=10, generations=60, random_plies=4, seed=context.seed)
    expert, random = make_expert("static"), make_player("random")
    best: list[float] = []
    mean: list[float] = []

    def note(run: Any) -> None:
        best.append(float(run.fitness.max()))
        mean.append(float(run.fitness.mean()))

    opponents = [make_player("static") for _ in range(context.workers)]
    folder = context.place("opening-evolution")
    run = evolve(plan, measure_with(opponents, expert), folder=folder, on_generation=note)
    setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
    contestants: dict[str, Any] = {
        "60 generations, shared weights": NetworkPlayer(plan.shape(), run.best)
    }
    for name in ("evolved-minimax-13x13", "evolved-spatial-13x13"):
        if has_model(name):
            contestants[name] = player_of(OpeningEvolution.load(find_model(name)))
    rows = []
    for name, player in contestants.items():
        rate = asdict(against(player, random, expert, setting, 60, context.seed))
        rows.append(
            [name, percent(rate["win_rate"], rate["interval"]), f"{rate['mean_score']:+.1f}"]
        )
    generations = list(range(1, len(best) + 1))
    return {
        "tables": [
            {
                "title": "Openings of 15 moves on 13x13 against random ones, finished by static",
                "columns": ["player", "wins", "points"],
                "rows": rows,
            }
        ],
        "figures": [
            {
                "title": "Final score against the static player, by generation",
                "x": "generation",
                "y": "points",
                "lines": [
                    {"name": "best", "x": generations, "y": best},
                    {"name": "mean", "x": generations, "y": mean},
                ],
            }
        ],
    }


STEPS: tuple[Step, ...] = (
    Step("ladder", "board", "A small ladder", ladder, 1.5),
    Step("opening-td", "opening-td", "Learning by self-play", opening_td, 2.0),
    Step("symmetry-network", "symmetry-network", "714 weights", symmetry_network, 2.0),
    Step("move-prediction", "move-prediction", "Patterns and their weights", move_prediction, 2.0),
    Step("opening-evolution", "opening-evolution", "A small population", opening_evolution, 1.5),
)
"""Everything `tengen lab --quick` does, in order."""
