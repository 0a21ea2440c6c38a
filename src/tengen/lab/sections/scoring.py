"""Scoring finished games (Burzillo): the failure shown and repaired, and scorers that work.

One function an experiment, with sizes: small on games of our own, or on the games of a corpus. The
paper's network is trained in `lab.scoring`, parts are compared in `lab.scoring_parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.lab import papers
from tengen.lab.content import Picture, Plot, Result, Table, line, percent, table
from tengen.lab.recorded import card_results
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, compare, number
from tengen.models.settings import CheckedSettings, setting

if TYPE_CHECKING:
    from tengen.board.counting import Method
    from tengen.learners.scoring.self_labelling import LabelledBlocks
    from tengen.records import GameArrays

TRAIN = "kgs6d-scored-train.sgf"
TESTS: dict[str, Method] = {
    "kgs6d-scored-dev.sgf": "careful",
    "ogs-scored-19x19-dev.sgf": "plain",
    "ogs-scored-9x9-dev.sgf": "plain",
}


@dataclass(frozen=True)
class Size:
    """What is learned from, and for how long."""

    made: int = 120
    """Games of our own to learn from; 0 for the corpus."""
    test_games: int = 80
    """Games of our own to measure on."""
    board: int = 9
    counts: tuple[int, ...] = (120,)
    """Games that the paper's network learns from."""
    steps: int = 60
    members: int = 2
    epochs: int = 60
    rounds: int = 2
    folds: int = 3


_QUICK = Size()
_FULL = Size(
    made=0, test_games=0, board=19, counts=(500, 3000), members=4, epochs=100, rounds=3
)  # fmt: skip


def _made(context: Context, name: str, count: int, board: int, seed: int, share: Any) -> Path:
    """Return a file of finished games of our own, made once."""
    from tengen.lab.finished import make_games
    from tengen.learners.scoring.settled_games import write_games

    path = context.place("scoring") / f"{name}.sgf"
    if not path.is_file():
        write_games(make_games(count, board, seed, workers=context.workers, tell=share), path)
    return path


def _train_file(context: Context, size: Size, most: float) -> Path:
    if not size.made:
        return context.games(TRAIN)
    tell = context.between(0.0, most, "finished game")
    return _made(context, "train", size.made, size.board, context.seed, tell)


# ----- The failure -----


def failure(context: Context, size: Size) -> Result:
    """Train the paper's network as printed and repaired, on games of our own or of the corpus."""
    from tengen.records import Corpus

    games = Corpus([_train_file(context, size, 0.5)]).as_arrays()
    text = "KGS games of players of 6 dan and stronger that ended by counting."
    if size.made:
        text = (
            f"{len(games)} games of search by playouts on {size.board}x{size.board}, cut where "
            "everything is settled; the true fate of each stone comes from playing on to the end "
            "with either side to move. The learner is told the final score and nothing else. The "
            "paper trained on professional 19x19 games."
        )
    return _failure_of(context, games, size.counts, size.steps, text=text, full=not size.made)


def _failure_of(
    context: Context,
    games: GameArrays,
    counts: Sequence[int],
    steps: int,
    *,
    text: str = "",
    full: bool = True,
) -> Result:
    """Train every version of the paper's network on the first games after a shuffle."""
    from tengen.lab.scoring import FAULTS, train_versions

    runs = train_versions(
        games, counts=counts, steps=steps, seed=context.seed,
        say=lambda line: context.at(0.6, line),
    )  # fmt: skip
    paper = {"exact": papers.SCORING_EXACT, "predictions": list(papers.SCORING_PREDICTIONS)}
    return Result(
        text=text,
        points=FAULTS,
        points_title="Six reasons why the paper's network cannot learn",
        tables=[_failure_table(runs)],
        figures=[_divergence(runs)],
        comparisons=_failure_rows(runs, full=full),
        data={"paper": paper, "runs": runs, "faults": list(FAULTS)},
    )


def _failure_table(runs: list[dict[str, Any]]) -> Table:
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


def _divergence(runs: list[dict[str, Any]]) -> Plot:
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


def _failure_rows(runs: list[dict[str, Any]], *, full: bool) -> list[Comparison]:
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


# ----- Scorers that work -----


def scorer(context: Context, size: Size) -> Result:
    """Train a scorer from final scores; measure it and the shipped one on unseen games."""
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.scored_games import read_scored_games
    from tengen.models import has_model

    learned = _learned(context, size)
    if size.made:
        tell = context.between(0.4, 0.5, "unseen game")
        test = _made(context, "test", size.test_games, size.board, context.seed + 1, tell)
        tests: dict[Path, Method] = {test: "careful"}
    else:
        tests = {context.games(name): method for name, method in TESTS.items()}
    scores = len(read_scored_games([_train_file(context, size, 0.3)]))
    judges = {f"learned here from {scores} scores": learned}
    if has_model("scorer"):
        judges["shipped scorer (3,368 games of 19x19, 299 of its own)"] = BlockScorer.load("scorer")
    rows: list[list[object]] = []
    comparisons: list[Comparison] = []
    for number_, (path, method) in enumerate(tests.items()):
        context.at(0.7 + 0.1 * number_, path.name)
        for who, got in _measured(context, judges, path, method, engines=not size.made):
            rate = percent(got["exact"], got["exact_interval"])
            row: list[object] = [path.name, who, rate, percent(got["winner"])]
            # Times are not the same again: no part of the small laboratory, which repeats itself.
            rows.append(row if size.made else [*row, f"{1000 * got['seconds_per_game']:.1f}"])
            if size.made and who in judges:
                comparisons.append(_beside_werf(who, got))
            elif who == next(iter(judges)):
                comparisons.append(_beside_papers(path.name, got))
    columns = ["games", "who says what is dead", "exact", "right winner"]
    name, judge = list(judges.items())[-1]
    return Result(
        text=_about(size),
        tables=[table("Unseen finished games", columns if size.made else [*columns, "ms a game"],
                      rows)],
        figures=_ownership(judge, read_scored_games([next(iter(tests))]), name),
        comparisons=[*comparisons, *(_shipped_rows() if size.made else [])],
    )  # fmt: skip


def _about(size: Size) -> str:
    if not size.made:
        return "Games of people, not trained on. All ways are counted alike."
    return (
        f"{size.test_games} further games of our own (less those that never settled), made the "
        "same way and not trained on. All ways are counted alike; a game is exact if the count "
        "equals the true one. The truth is that of a search by playouts which plays on, so it "
        "favours judges by playouts; the games of people in the comparisons say more."
    )


def _learned(context: Context, size: Size) -> Any:
    """Train a scorer in the step's folder, or take the one that is there."""
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.settings import ScorerSettings
    from tengen.learners.scoring.training import MODEL, train_scorer
    from tengen.records import Corpus

    folder = context.place("scoring") / "training"
    if not (folder / MODEL).is_file():
        path = _train_file(context, size, 0.3)
        settings = ScorerSettings(
            members=size.members, epochs=size.epochs, rounds=size.rounds, folds=size.folds,
            seed=context.seed,
        )  # fmt: skip
        train_scorer(
            Corpus([path]).as_arrays(), settings, folder, resume=True, sources=path.name,
            report=lambda row: context.at(0.6, "training a scorer"),
            tell=lambda what, done, of: context.at(0.3 + 0.3 * done / of, f"{what} {done}/{of}"),
        )  # fmt: skip
    return BlockScorer.load(folder / MODEL)


def _measured(
    context: Context, judges: dict[str, Any], path: Path, method: Method, *, engines: bool
) -> list[tuple[str, dict[str, Any]]]:
    """Measure scorers on one file, then the simple ways and, with `engines`, GNU Go."""
    from tengen.lab.scoring_baselines import evaluate_all
    from tengen.learners.scoring.scored_games import evaluate, read_scored_games

    found: list[tuple[str, dict[str, Any]]] = []
    for number_, (who, judge) in enumerate(judges.items()):
        last = number_ == len(judges) - 1

        def measure(judge: Any = judge, last: bool = last) -> dict[str, Any]:
            games = read_scored_games([path])
            if not last:
                return evaluate(judge, games, method=method)
            return evaluate_all(
                judge, games, method=method, levels=(10,) if engines else (),
                kept=context.place("scoring") / f"{path.stem}-gnugo.jsonl",
            )  # fmt: skip

        got = context.once(f"scoring/{path.stem}-{number_}", measure)
        found.append((who, got))
        found += [(each["name"], each) for each in got.get("baselines", [])]
    return found


def _beside_werf(who: str, got: dict[str, Any]) -> Comparison:
    """Compare games of our own with van der Werf's games of people."""
    return compare(
        "van der Werf 2004", f"9x9 positions scored right: {who}", papers.WERF_EXACT,
        got["exact"], got["exact_interval"], unit="%", full=False,
        why="Other games: ours are our search's, theirs were played by people.",
    )  # fmt: skip


def _beside_papers(name: str, got: dict[str, Any]) -> Comparison:
    """Compare games of people with the paper that has such games."""
    werf = "9x9" in name
    return compare(
        "van der Werf 2004" if werf else "Section 5", f"scored right, {name}",
        papers.WERF_EXACT if werf else papers.SCORING_EXACT, got["exact"], got["exact_interval"],
        unit="%", why=f"{got['games']} games not trained on.",
    )  # fmt: skip


def _shipped_rows() -> list[Comparison]:
    """Return what the shipped scorer's card says of real games."""
    rows = []
    for got in card_results("scorer"):
        name = got.what.partition(", ")[2]
        if got.what.startswith("exact score"):
            werf = "9x9" in name
            paper = papers.WERF_EXACT if werf else papers.SCORING_EXACT
            whose = "of our search" if name.startswith("made") else "of people"
            rows.append(
                compare(
                    "van der Werf 2004" if werf else "Section 5",
                    f"shipped scorer on {name}, from its card", paper, got.value, got.interval,
                    unit="%", why=f"{got.count} games {whose}; not played in this run: "
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
    dead = [(int(row), int(col)) for row, col in zip(*reading.dead.nonzero(), strict=True)]
    svg = board.svg(ownership=reading.ownership.ravel(), dead=dead, cell=22)
    title = f"Who owns what, by the {name.partition(' (')[0]}; faint stones are dead"
    return [Picture(title, svg)]


# ----- A single table on games of one's own -----


@dataclass(frozen=True)
class Study(CheckedSettings):
    """Which experiment on any games, and how long."""

    table: str = setting(
        "failure", "failure: the paper, fault by fault; parts: what each adds.",
        choices=("failure", "parts"),
    )  # fmt: skip
    games: tuple[int, ...] = setting((), "Games to train on; repeatable (failure: 500, 3000).")
    steps: int = setting(60, "failure: batches.", least=1)
    folds: int = setting(3, "parts: folds.", least=2)
    members: int = setting(4, "parts: networks that vote.", least=1)
    only: tuple[str, ...] = setting(
        (), "parts: a row to measure beside all families, as 'without bonds'; repeatable."
    )
    seed: int = setting(0, "Every random choice follows from it.", least=0)


def study(
    context: Context, wanted: Study, games: GameArrays, made: Callable[[], Sequence[LabelledBlocks]]
) -> Result:
    """Make one table; `data` are its numbers. `made` gives positions of known dead stones."""
    if wanted.table == "failure":
        return _failure_of(context, games, wanted.games or _FULL.counts, wanted.steps)
    from tengen.lab.scoring_parts import compare_parts
    from tengen.learners.scoring.settings import ScorerSettings
    from tengen.learners.scoring.training import described, fingerprint_scored

    games = games.take(range(min(*wanted.games, len(games)) if wanted.games else len(games)))
    kept = context.place("scoring") / f"features-{fingerprint_scored(games)}.npz"

    def tell(what: str, done: int, of: int) -> None:
        if done % 250 == 0 or done == of:
            context.at(done / of, f"{what} {done}/{of}")

    table = described(games, kept, tell)
    found = compare_parts(
        context, table, ScorerSettings(members=wanted.members, seed=wanted.seed),
        folds=wanted.folds, made=made(), only=wanted.only,
    )  # fmt: skip
    answer = {"games": len(table), "folds": wanted.folds, "seed": wanted.seed, "rows": found}
    return Result(tables=[_parts_table(answer)], data=answer)


def _parts_table(answer: dict[str, Any]) -> Table:
    sizes = [key for key in answer["rows"][0] if key.startswith("made_") and key.endswith("exact")]
    rows = [
        [
            row["name"],
            percent(row["exact"], row["interval"]),
            f"+{row['gained']} -{row['lost']}" if "gained" in row else "",
            *(percent(row[key]) for key in sizes),
        ]
        for row in answer["rows"]
    ]
    columns = ["trained", "exact", "games changed", *(key.split("_")[1] + " made" for key in sizes)]
    return table(f"{answer['games']} unseen games in {answer['folds']} folds", columns, rows)


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "scoring-failure", "scoring", "A failure, and why", failure, quick=_QUICK, full=_FULL,
        minutes=(0.8, 10), needs=(TRAIN,),
    ),
    Experiment(
        "scoring", "scoring", "Scorers on unseen games", scorer, quick=_QUICK, full=_FULL,
        minutes=(0.6, 30), needs=(TRAIN, *TESTS),
    ),
)  # fmt: skip
