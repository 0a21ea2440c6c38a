"""Scoring finished games (Burzillo): the failure shown, repaired, and the shipped scorer beside it.

The experiments themselves are in `tengen.lab.scoring` and `tengen.learners.scoring`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.lab import papers
from tengen.lab.content import Picture, Plot, Result, Table, line, percent, table
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, compare, number

TRAIN = "kgs6d-scored-train.sgf"
TESTS = {
    "kgs6d-scored-dev.sgf": "careful",
    "ogs-scored-19x19-dev.sgf": "plain",
    "ogs-scored-9x9-dev.sgf": "plain",
}


@dataclass(frozen=True)
class Size:
    """How many games are made, and how long is trained."""

    games: int = 120
    test_games: int = 80
    board: int = 9
    steps: int = 60
    epochs: int = 60


QUICK = Size()


def made(context: Context, name: str, count: int, board: int, seed: int, share: Any) -> Path:
    """Return a file of finished games of our own, made once."""
    from tengen.lab.finished import make_games
    from tengen.models import write_atomic

    path = context.place("scoring") / f"{name}.sgf"
    if not path.is_file():
        games = make_games(count, board, seed, workers=context.workers, tell=share)
        write_atomic(path, b"\n".join(game.sgf() for game in games))
    return path


def failure(context: Context, size: Size = QUICK) -> Result:
    """Train the paper's network on games of our own, as printed and repaired."""
    from tengen.lab import scoring as lab
    from tengen.records import Corpus

    tell = context.between(0.0, 0.5, "finished game")
    path = made(context, "train", size.games, size.board, context.seed, tell)
    games = Corpus([path]).as_arrays()
    context.at(0.6, "training the paper's network")
    value = lab.experiment(games, counts=(len(games),), steps=size.steps, seed=context.seed)
    return Result(
        text=f"{len(games)} games of search by playouts on {size.board}x{size.board}, cut where "
        "everything is settled; the true fate of each stone comes from playing on to the end with "
        "either side to move. The learner is told the final score and nothing else. The paper "
        "trained on professional 19x19 games.",
        points=value["faults"],
        points_title="Six reasons why the paper's network cannot learn",
        tables=[failure_table(value["runs"])],
        figures=[divergence(value["runs"])],
        comparisons=failure_rows(value["runs"], full=False),
    )


def failure_table(runs: list[dict[str, Any]]) -> Table:
    """Return every version of the paper's network with its error after training."""
    return table(
        "The paper's network, its faults taken away: errors on the training games",
        ["games", "energy", "optimiser", "gradient", "mean error", "largest prediction", "exact"],
        [
            [
                run["games"], run["energy"], run["optimiser"], run["gradient"],
                number(run["last_error"]), number(run["largest_prediction"]),
                percent(run["exact"]),
            ]
            for run in runs
        ],
        note=f"Predicting komi and prisoners alone errs by {runs[0]['trivial_error']:.1f} points.",
    )  # fmt: skip


def divergence(runs: list[dict[str, Any]]) -> Plot:
    """Draw the mean error while RPROP learns, with the printed sign and with the right one."""
    most = max(run["games"] for run in runs)
    lines = []
    for run in runs:
        if run["games"] == most and run["optimiser"] == "rprop" and "curve" in run:
            errors = [max(min(e, 1e16), 1e-2) for e in run["curve"]]
            name = f"{run['energy']} energy, {run['gradient']} sign"
            lines.append(line(name, list(range(len(errors))), errors))
    title = "One wrong sign: the error climbs where it should fall (RPROP)"
    return Plot(title, "batches", "mean error in points", lines, log=True)


def failure_rows(runs: list[dict[str, Any]], *, full: bool) -> list[Comparison]:
    """Compare the printed network with what the paper reports of it."""
    rprop = [r for r in runs if r["optimiser"] == "rprop"]
    printed = [r for r in rprop if r["gradient"] == "printed"]
    right = [r for r in rprop if r["gradient"] == "right" and r["energy"] != "soft score"]
    soft = [r for r in rprop if r["energy"] == "soft score"]
    # The paper's first energy; the second one goes much further still.
    largest = max(r["largest_prediction"] for r in printed if r["energy"] == "step")
    exact = max(r["exact"] for r in printed)
    calm = max(r["largest_prediction"] for r in right)
    best = max(soft, key=lambda r: r["games"])
    return [
        compare(
            "Section 5", "training games scored right, gradient as printed", papers.SCORING_EXACT,
            exact, unit="%", aim=0, full=full, why="The printed sign makes the block half climb.",
        ),
        compare(
            "Section 5", "largest prediction, gradient as printed", papers.SCORING_LARGEST, largest,
            holds=largest > 1e6, unit="points",
            why="Astronomic here too: with the wrong sign training climbs.",
        ),
        compare(
            "Section 5", "its reasons: the absolute value loses the direction; concave energy",
            None, None, holds=calm > 1e6, paper_text="both",
            our_text=f"right sign: at most {number(calm)}",
            why="With the right sign and the same energy nothing diverges, so neither is the "
            "reason; the gradient printed for the blocks has the wrong sign.",
        ),
        compare(
            "Section 5", "training games scored right, energy repaired", papers.SCORING_EXACT,
            best["exact"], unit="%",
            why="The same 46 features and scores alone; owner times size instead of a sum.",
        ),
    ]  # fmt: skip


def scorer(context: Context, size: Size = QUICK) -> Result:
    """Train a small scorer on games of our own and measure it beside the shipped one."""
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.baselines import SIMPLE, measure_simple
    from tengen.learners.scoring.bundle import gather
    from tengen.learners.scoring.cases import Tally, read_cases
    from tengen.models import has_model
    from tengen.records import Corpus

    tell = context.between(0.0, 0.3, "finished game")
    path = made(context, "train", size.games, size.board, context.seed, tell)
    tell = context.between(0.3, 0.5, "unseen game")
    test = made(context, "test", size.test_games, size.board, context.seed + 1, tell)
    cases = read_cases([test])
    judges = {}
    own = context.place("scoring") / "small.safetensors"
    if not own.is_file():
        games = Corpus([path]).as_arrays()
        bundle = gather(games)
        context.at(0.6, "training a small scorer")
        learned = BlockScorer(members=2, epochs=size.epochs, rounds=2, seed=context.seed)
        learned.fit(games, bundle).save(own)
    judges[f"learned here from {len(read_cases([path]))} scores"] = BlockScorer.load(own)
    if has_model("scorer"):
        judges["shipped scorer (3,368 games of 19x19)"] = BlockScorer.load("scorer")
    rows, exact = [], {}
    for step, (name, judge) in enumerate(judges.items()):
        context.at(0.75 + 0.1 * step, name)
        tally = Tally()
        for case in cases:
            tally.add(case.margin(judge.read(case.grid).dead, "careful"), case)
        got = tally.rates()
        exact[name] = got
        rows.append([name, percent(got["exact"], got["exact_interval"]), percent(got["winner"])])
    for name in ("playout majority", "benson", "all alive"):
        if name in SIMPLE:
            got = measure_simple(name, cases, "careful")
            rows.append(
                [name, percent(got["exact"], got["exact_interval"]), percent(got["winner"])]
            )
    shown = list(judges)[-1]
    return Result(
        text=f"{len(cases)} further games of our own, made the same way and not trained on. "
        "All ways are counted alike; a game is exact if the count equals the true one. The truth "
        "is that of a search by playouts which plays on, so it favours judges by playouts; the "
        "games of people in the table above say more.",
        tables=[table("Unseen finished games, 9x9", ["who says what is dead", "exact",
                                                        "right winner"], rows)],
        figures=_ownership(judges[shown], cases, shown),
        comparisons=[_werf(name, got) for name, got in exact.items()] + shipped_rows(),
    )  # fmt: skip


def _werf(name: str, got: dict[str, Any]) -> Comparison:
    return compare(
        "van der Werf 2004", f"9x9 positions scored right: {name}", papers.WERF_EXACT,
        got["exact"], got["exact_interval"], unit="%", full=False,
        why="Other games: ours are our search's, theirs were played by people.",
    )  # fmt: skip


def shipped_rows() -> list[Comparison]:
    """Return what the shipped scorer's card says of real games."""
    from tengen.models import list_models

    rows = []
    for info in list_models():
        if info.name != "scorer" or info.card is None:
            continue
        for got in info.card.results:
            name = got.what.partition(", ")[2]
            if got.what.startswith("exact score"):
                werf = "9x9" in name
                paper = papers.WERF_EXACT if werf else papers.SCORING_EXACT
                rows.append(
                    compare(
                        "van der Werf 2004" if werf else "Section 5",
                        f"shipped scorer on {name}, from its card", paper, got.value, got.interval,
                        unit="%", why=f"{got.count} games of people; not played in this run: "
                        "measured when it was made.",
                    )
                )  # fmt: skip
    return rows


def _ownership(judge: Any, cases: list[Any], name: str) -> list[Picture]:
    """Draw who owns what in the position with most dead stones, and which stones are dead."""
    from tengen.board import Board

    if not cases:
        return []
    readings = [(case, judge.read(case.grid)) for case in cases[:40]]
    case, reading = max(readings, key=lambda pair: int(pair[1].dead.sum()))
    board = Board.from_grid(case.grid)
    dead = [int(i) for i in reading.dead.ravel().nonzero()[0]]
    svg = board.svg(shades=reading.ownership.ravel(), dead=dead, cell=22)
    title = f"Who owns what, by the {name.partition(' (')[0]}; faint stones are dead"
    return [Picture(title, svg)]


# ----- At the paper's scale -----


def full_failure(
    context: Context, *, counts: tuple[int, ...] = (500, 3000), steps: int = 60
) -> Result:
    """Repeat the paper's failure on the games of the corpus."""
    from tengen.lab import scoring as lab
    from tengen.records import Corpus

    games = Corpus([context.games(TRAIN)]).as_arrays()
    value = lab.experiment(
        games, counts=counts, steps=steps, say=lambda text: context.at(0.5, text)
    )
    return Result(
        text="KGS games of players of 6 dan and stronger that ended by counting.",
        points=value["faults"],
        points_title="Six reasons why the paper's network cannot learn",
        tables=[failure_table(value["runs"])],
        figures=[divergence(value["runs"])],
        comparisons=failure_rows(value["runs"], full=True),
    )


def full_scorer(context: Context, *, games: int | None = None, **recipe: Any) -> Result:
    """Train the scorer on the corpus from final scores and measure it on all dev files."""
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.bundle import Bundle, gather
    from tengen.learners.scoring.evaluation import evaluate
    from tengen.records import Corpus

    folder = context.place("scoring")
    model = folder / "scorer.safetensors"
    if not model.is_file():
        arrays = Corpus([context.games(TRAIN)]).as_arrays()
        arrays = arrays if games is None else arrays.take(range(min(games, len(arrays))))
        kept = folder / "features.npz"
        if not kept.is_file():
            tell = context.between(0.0, 0.5, "features of game")
            gather(arrays, tell=lambda done: tell(done, len(arrays))).save(kept)
        learned = BlockScorer(seed=context.seed, **recipe)
        learned.fit(arrays, Bundle.load(kept), tell=lambda text: context.at(0.6, text))
        learned.save(model)
    judge = BlockScorer.load(model)
    rows, comparisons = [], []
    for step, (name, count) in enumerate(TESTS.items()):
        context.at(0.7 + 0.1 * step, name)
        found = context.once(
            f"scoring/{Path(name).stem}",
            lambda name=name, count=count: evaluate(  # type: ignore[misc]
                judge, [context.games(name)], method=count, baselines=True,
                kept=folder / f"{Path(name).stem}-gnugo.jsonl",
            ),
        )  # fmt: skip
        for who, got in [("learned here", found), *((b["name"], b) for b in found["baselines"])]:
            rows.append(
                [
                    name, who, percent(got["exact"], got["exact_interval"]),
                    percent(got["winner"]), f"{1000 * got['seconds_per_game']:.1f}",
                ]
            )  # fmt: skip
        werf = "9x9" in name
        comparisons.append(
            compare(
                "van der Werf 2004" if werf else "Section 5", f"scored right, {name}",
                papers.WERF_EXACT if werf else papers.SCORING_EXACT, found["exact"],
                found["exact_interval"], unit="%", why=f"{found['games']} games not trained on.",
            )
        )  # fmt: skip
    columns = ["games", "who says what is dead", "exact", "right winner", "ms a game"]
    title = "Finished games of people"
    return Result(tables=[table(title, columns, rows)], comparisons=comparisons)


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "scoring-failure", "scoring", "A failure, and why", failure, quick=QUICK,
        minutes=(0.8, 0.8),
    ),
    Experiment(
        "scoring", "scoring", "Scorers on unseen games", scorer, quick=QUICK, minutes=(0.6, 0.6)
    ),
    Experiment(
        "scoring-failure", "scoring", "A failure, and why",
        lambda c, size: full_failure(c, **size), full={}, minutes=(1, 10), needs=(TRAIN,),
    ),
    Experiment(
        "scoring", "scoring", "A scorer learned from scores",
        lambda c, size: full_scorer(c, **size), full={}, minutes=(1, 30), needs=(TRAIN, *TESTS),
    ),
)  # fmt: skip
