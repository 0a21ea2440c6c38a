"""Openings by temporal differences (Huang 2003): the learning curve, and what each input adds.

The paper's Table 2 is a mean of ratios and its Table 4 a mean of differences in percentage points
(its own numbers only fit that way), so both measures are reported for both encodings. Tests are
over seeds, and Holm's rule corrects for the number of tests in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from tengen.errors import TengenError
from tengen.extras import import_extra
from tengen.lab.papers import read_paper
from tengen.lab.result import Bars, Findings, Plot, Series, Table, line
from tengen.lab.steps import Experiment, Journal, LabContext, Row
from tengen.lab.verdicts import Comparison, compare, percent, show
from tengen.models.runs import Run, read_metrics
from tengen.models.settings import CheckedSettings, setting
from tengen.papers.opening_td import OpeningTD, TDSettings, play_match
from tengen.papers.opening_td.learner import RANDOM_NAME, Side
from tengen.papers.opening_td.settings import SELF, SETS
from tengen.parallel import map_jobs
from tengen.players import make_expert, make_player
from tengen.progress import Report
from tengen.statistics import Interval, Rate, holm, mean_interval, mean_test, spearman, wilson

PAPER = read_paper("tengen.papers.opening_td")
TD_TABLES = {"scalar": ("Table 1", "Table 2"), "binary": ("Table 3", "Table 4")}
"""The paper's tables of wins and of gains."""

ENCODINGS = ("scalar", "binary")
_FEATURES = "BCDE"  # inputs beyond the bare board
_PART = 50  # games of an evaluation that are played and stored together
_PAPER_GAMES = 3000  # openings after which the paper's Figure 4 ends
_SHIPPED = ("td-abcde-9x9", "td-best-9x9")
_SMALL_SETS = ("A", "ABCD", "ABCE", "ABDE", "ACDE", "ABCDE")
"""All inputs, all but one, and none: the fewest players that show what an input adds."""


# ----- Training and matches -----


@cache
@cache
def _side_of(spec: str) -> Side:
    """Make a side of a match: `random`, a model's file, or a player's spec."""
    if spec == RANDOM_NAME:
        return RANDOM_NAME
    return OpeningTD.load(spec) if spec.endswith(".safetensors") else make_player(spec)


@dataclass(frozen=True)
class TrainJob:
    """One player to train in its folder."""

    folder: str
    settings: TDSettings
    resume: bool = True

    @property
    def model(self) -> str:
        """The file of the trained player."""
        return str(Path(self.folder) / "model.safetensors")


def train(job: TrainJob, on_game: Callable[[int], None] = lambda games: None) -> list[Row]:
    """Train one player, continuing its run; return its learning curve."""
    settings = job.settings
    name = settings.opponent
    opponent = None if name == SELF else _side_of(name)
    if isinstance(opponent, str | OpeningTD):
        raise TengenError(f"opponent {name!r}: for random moves set random_opponent to 1")
    expert, referee = make_expert(settings.expert), make_expert(settings.referee or settings.expert)
    with Run.open(job.folder, OpeningTD.kind, settings, resume=job.resume) as run:
        learner = OpeningTD(settings=settings)
        learner.fit(expert, opponent, referee=referee, run=run, on_game=on_game)
        learner.save(job.model, data=f"{settings.games} openings judged by {settings.expert}")
    return curve_of(job.folder)


def curve_of(folder: str | Path) -> list[Row]:
    """Return the learning curve of a run: games, win_rate, interval, mean_score of each point."""
    return [{"games": row.pop("step"), **row} for row in read_metrics(folder)]


@dataclass(frozen=True)
class MatchJob:
    """Some games of a trained player, given by its file or name, against any side."""

    model: str
    opponent: str
    expert: str
    games: int
    seed: int
    random_plies: int | None = None


def play(job: MatchJob) -> Row:
    """Play one match; scores are from the player's view."""
    match = play_match(
        OpeningTD.load(job.model), _side_of(job.opponent), make_expert(job.expert),
        games=job.games, seed=job.seed, random_plies=job.random_plies,
    )  # fmt: skip
    return {"expert": job.expert, "scores": match.scores, "openings": match.openings}


def evaluate(
    job: MatchJob,
    *,
    workers: int = 1,
    log: Path | None = None,
    report: Report = lambda done, total: None,
) -> Row:
    """Play a model's openings against an opponent, in parts of 50 games, which `log` stores."""
    parts = [
        replace(job, games=min(_PART, job.games - first), seed=job.seed * 100_003 + first)
        for first in range(0, job.games, _PART)
    ]
    jobs = {repr(part): part for part in parts}
    rows = Journal(log).complete(jobs, play, workers=workers, report=report)
    rate = Rate.of([score for row in rows for score in row["scores"]])
    who = {"model": job.model, "opponent": job.opponent, "expert": job.expert}
    return {**who, **asdict(rate)}


# ----- Figure 4 -----


@dataclass(frozen=True)
class CurveSize:
    """How long player ABCDE is trained, and how often it is measured."""

    games: int = 1000
    curve_every: int = 100
    curve_games: int = 100
    shipped_games: int = 100


def learning(context: LabContext, size: CurveSize) -> Findings:
    """Train player ABCDE and draw its curve; evaluate the shipped players."""
    settings = TDSettings(
        games=size.games, curve_every=size.curve_every, curve_games=size.curve_games,
        seed=context.seed,
    )  # fmt: skip
    report = context.between(0.0, 0.6, "training game")
    job = TrainJob(str(context.place("opening-td/player")), settings)
    curve = train(job, on_game=lambda games: report(games, size.games))
    shipped = _shipped(context, size.shipped_games)
    rows = [
        [*pair, percent(*_rate(got)), f"{got['mean_score']:+.1f}"] for pair, got in shipped.items()
    ]
    title = f"Openings of shipped players, {size.shipped_games} games each, finished by the expert"
    full, first, last = size.games >= _PAPER_GAMES, curve[0], curve[-1]
    why = "" if full else "Less training than the paper's. "
    comparisons = [
        compare(
            "huang.figure4.untrained", *_rate(first), full=full,
            why=f"{size.curve_games} games; an untrained player is as good as random.",
        ),
        compare(
            "huang.figure4.binary", *_rate(last), full=full,
            detail="" if full else f"here after {last['games']:,}",
            why=f"{why}The expert is ours, not GNU Go.",
        ),
        compare(
            "huang.figure4.binary", *_rate(shipped[_SHIPPED[0], "random"]),
            detail=f"shipped {_SHIPPED[0]}",
        ),
    ]  # fmt: skip
    return Findings(
        text=PAPER.texts["opening-td"].format(size),
        tables=[Table(title, ["player", "against", "wins", "mean score"], rows)],
        figures=[_curve_plot("ABCDE against random while it learns", {"binary": curve})],
        comparisons=comparisons,
        data={"curve": curve, "shipped": list(shipped.values())},
    )


def _rate(got: Row) -> tuple[float, Interval]:
    return got["win_rate"], got["interval"]


def _shipped(context: LabContext, games: int) -> dict[tuple[str, str], Row]:
    """Evaluate the openings of the shipped players, each pair once."""
    found = {}
    pairs = list(product(_SHIPPED, ("random", "maxlib")))
    for number, (name, opponent) in enumerate(pairs):
        context.at(0.6 + 0.4 * number / len(pairs), f"{name} against {opponent}")
        job = MatchJob(name, opponent, "builtin", games, context.seed)
        match = partial(evaluate, job, workers=context.workers)
        found[name, opponent] = context.once(f"opening-td/{name}-{opponent}", match)
    return found


def _curve_plot(title: str, curves: dict[str, list[Row]]) -> Plot:
    """Draw learning curves of player ABCDE by encoding, and the end of the paper's."""
    lines = []
    for encoding, curve in curves.items():
        points = ([point[key] for point in curve] for key in ("games", "win_rate", "interval"))
        lines.append(line(f"ABCDE, {encoding}", *points))
    rules = {"the paper after 3,000": PAPER.figures("huang.figure4")["binary"]}
    title, x = f"Figure 4: {title}", "openings of self-play"
    return Plot(title, x, "wins", lines, rules=rules, bottom=0.0, top=1.03)


# ----- Tables 1 to 5: playing -----


Matches = dict[int, list[Row]]  # the matches of an experiment by seed


@dataclass(frozen=True)
class InputTables(CheckedSettings):
    """How players are trained, which of them meet, and how often."""

    games: int = setting(3000, "Training games per player.", least=1)
    expert: str = setting("builtin", "Finishes the openings during training.")
    referee: str | None = setting(
        None, "Finishes the openings of curves and matches; by default the expert."
    )
    rows: int = setting(9, "Board size.", least=2, most=25)
    komi: float = setting(5.5, "White's compensation.")
    seeds: int = setting(1, "Independent repetitions.", least=1, changeable=True)
    pair_games: int = setting(100, "Games per match.", least=2)
    curve_games: int = setting(100, "Games per point of a learning curve.", least=0)
    features: tuple[str, ...] = setting((), "Only these players; all sixteen by default.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for letters in self.features:
            TDSettings(features=letters)

    @property
    def sets(self) -> tuple[str, ...]:
        """The players' features."""
        return self.features or SETS

    @property
    def judged_by(self) -> str:
        """The expert that finishes the openings of matches and learning curves."""
        return self.referee or self.expert


def player_folder(folder: Path, seed: int, features: str, encoding: str) -> Path:
    """Return the run folder of a player."""
    return folder / f"seed-{seed}" / f"{features}-{encoding}"


def _train_jobs(folder: Path, size: InputTables, seed: int) -> list[TrainJob]:
    """List the trainings of one seed: ABCDE measured every 50 games, the others every 500."""
    jobs = []
    # Those with the longest learning curves first, so that workers end together.
    for features in sorted(size.sets, key=len, reverse=True):
        for encoding in reversed(ENCODINGS):
            settings = TDSettings(
                rows=size.rows, komi=size.komi, games=size.games, features=features,
                encoding=encoding, expert=size.expert, referee=size.judged_by,
                curve_every=50 if features == "ABCDE" else 500, curve_games=size.curve_games,
                # Every player has its own weights and its own games.
                seed=1000 * seed + 2 * size.sets.index(features) + (encoding == "binary"),
            )  # fmt: skip
            jobs.append(TrainJob(str(player_folder(folder, seed, features, encoding)), settings))
    return jobs


def _match_jobs(folder: Path, size: InputTables, seed: int) -> dict[str, MatchJob]:
    """Return the matches of one seed by key: two round robins, and each player against its twin."""
    pairs = [
        ((first, encoding), (second, encoding))
        for encoding in ENCODINGS
        for first, second in combinations(size.sets, 2)
    ]
    pairs += [((features, "binary"), (features, "scalar")) for features in size.sets]
    jobs = {}
    for number, pair in enumerate(pairs):
        a, b = (str(player_folder(folder, seed, *who) / "model.safetensors") for who in pair)
        names = " ".join("-".join(player) for player in pair)
        match_seed = 1_000_000 * (seed + 1) + number
        jobs[f"{seed} {names}"] = MatchJob(a, b, size.judged_by, size.pair_games, match_seed)
    return jobs


def play_tables(context: LabContext, folder: Path, size: InputTables) -> Matches:
    """Train and match all players of all seeds, continuing an earlier run."""
    matches: Matches = {}
    for number, seed in enumerate(range(context.seed, context.seed + size.seeds)):
        low, high = number / size.seeds, (number + 0.7) / size.seeds
        place = folder / f"seed-{seed}"
        with Run.open(place, f"{OpeningTD.kind} tables", size, resume=True):
            report = context.between(low, high, f"seed {seed}: players trained")
            jobs = _train_jobs(folder, size, seed)
            trained = map_jobs(train, jobs, workers=context.workers, ray=context.ray, ordered=False)
            for done, _ in enumerate(trained, 1):
                report(done, len(jobs))
            matches[seed] = Journal(place / "matches.jsonl").complete(
                _match_jobs(folder, size, seed), play, workers=context.workers, ray=context.ray,
                report=context.between(high, (number + 1) / size.seeds, f"seed {seed}: matches"),
            )  # fmt: skip
    return matches


def players_of(key: str) -> list[tuple[str, str]]:
    """Return features and encoding of both players of a match, or of one of its games.

    >>> players_of("0 ABC-binary A-scalar")
    [('ABC', 'binary'), ('A', 'scalar')]
    """
    return [(name.split("-")[0], name.split("-")[1]) for name in key.split()[1:3]]


def duplicates(row: Row) -> int:
    """Return how many games of a match repeat an earlier opening."""
    openings: list[Any] = row["openings"]
    return len(openings) - len({tuple(opening) for opening in openings})


# ----- Tables 1 to 5: counting -----


def tables_data(folder: Path, size: InputTables, matches: Matches) -> dict[str, Any]:
    """Return Figure 4 and all tables as plain numbers; `folder` contains the players."""
    wins = {e: wins_of(matches, e) for e in ENCODINGS}
    paper = {e: [PAPER.figures(f"{t}.{e}") for t in _ids(e)] for e in ENCODINGS}
    games = (len(size.sets) - 1) * size.pair_games
    return {
        "seeds": list(matches),
        "training_games": size.games,
        "pair_games": size.pair_games,
        "expert": size.expert,
        "referee": size.judged_by,
        "figure4": {e: _curve(folder, size, matches, e) for e in ENCODINGS},
        "wins": {e: _entries(wins[e], paper[e][0], 0.5, games) for e in ENCODINGS},
        "spread": {e: spread(wins[e], paper[e][0]) for e in ENCODINGS},
        "gains": {e: gains_of(wins[e], paper[e][1]) for e in ENCODINGS},
        "twins": _twins(matches, size.pair_games),
        "duplicates": sum(duplicates(row) for rows in matches.values() for row in rows),
    }


def _ids(encoding: str) -> list[str]:
    """Return the prefixes of the claim ids of an encoding's tables of wins and gains."""
    return [f"huang.{table.lower().replace(' ', '')}" for table in TD_TABLES[encoding]]


def wins_of(matches: Matches, encoding: str) -> dict[str, list[float]]:
    """Return each player's share of wins over all opponents, one number per seed."""
    shares: dict[str, list[float]] = {}
    for rows in matches.values():
        scores: dict[str, list[float]] = {}
        for row in rows:
            (a, kind), (b, other) = players_of(row["key"])
            if kind == other == encoding:
                scores.setdefault(a, []).extend(row["scores"])
                scores.setdefault(b, []).extend(-score for score in row["scores"])
        for features, own in scores.items():
            shares.setdefault(features, []).append(Rate.of(own).win_rate)
    return shares


def interval_of(values: list[float], games: int | None = None) -> Interval | None:
    """Return a 95 % interval over seeds; for one seed over its `games`, if values are shares."""
    found = mean_interval(values)
    if found is None:
        return wilson(values[0] * games, games) if values and games else None
    return (max(found[0], 0.0), min(found[1], 1.0)) if games else found


def _entries(
    values: dict[str, list[float]], paper: dict[str, float], chance: float, games: int | None = None
) -> dict[str, dict[str, Any]]:
    """Compare a table's values by seed with the paper's and, by Holm's rule, with `chance`."""
    tests = [mean_test(own, chance) for own in values.values()]
    return {
        name: {
            "value": float(np.mean(own)) if own else None,
            "interval": list(interval) if (interval := interval_of(own, games)) else None,
            "by_seed": own,
            "paper": paper[name],
            "p": p,
            "significant": significant,
        }
        for (name, own), p, significant in zip(values.items(), tests, holm(tests), strict=True)
    }


def spread(shares: dict[str, list[float]], paper: dict[str, float]) -> dict[str, Any] | None:
    """Separate the differences between players from the differences between seeds.

    `run_sd` is the standard deviation of one player's share from seed to seed. Differences above
    `tukey` between means, or `tukey_one` between single runs, are significant. None for one seed.
    """
    grid = np.array(list(shares.values()))
    if len(shares) < 3 or grid.shape[1] < 2:
        return None
    stats = import_extra("scipy.stats", "lab")

    players, seeds = grid.shape
    means = grid.mean(axis=1)
    run_sd = float(np.sqrt(grid.var(axis=1, ddof=1).mean()))
    q = float(stats.studentized_range.ppf(0.95, players, players * (seeds - 1)))
    tukey = q * run_sd / np.sqrt(seeds)
    gaps = np.abs(means[:, None] - means[None])[np.triu_indices(players, 1)]
    between = float(max(means.var(ddof=1) - run_sd**2 / seeds, 0.0))
    ranks = spearman(means, [paper[f] for f in shares])
    return {
        "run_sd": run_sd,
        "player_sd": between**0.5,
        "tukey": float(tukey),
        "tukey_one": q * run_sd,
        "pairs": len(gaps),
        "different_pairs": int((gaps > tukey).sum()),
        "rank_with_paper": ranks.r if ranks else None,
    }


def gains_of(shares: dict[str, list[float]], paper: dict[str, float]) -> dict[str, Any]:
    """Return what each feature adds, as mean ratio and as mean difference, over its pairs."""
    found: dict[str, dict[str, list[float]]] = {"relative": {}, "points": {}}
    for feature in _FEATURES:
        more = {f: "".join(sorted(f + feature)) for f in shares if feature not in f}
        pairs = [(np.array(shares[a]), np.array(shares[b])) for a, b in more.items() if b in shares]
        if pairs:
            # A player that won nothing, in a very small run, has no ratio.
            ratios = [b / a - 1 for a, b in pairs if a.min() > 0]
            found["relative"][feature] = np.mean(ratios, axis=0).tolist() if ratios else []
            found["points"][feature] = np.mean([b - a for a, b in pairs], axis=0).tolist()
    tables = {measure: _entries(values, paper, 0.0) for measure, values in found.items()}
    return {f: {measure: tables[measure][f] for measure in tables} for f in found["points"]}


def _twins(matches: Matches, games: int) -> dict[str, Any]:
    """Return how often the binary player beats its scalar twin, and means by feature."""
    shares: dict[str, list[float]] = {}
    for row in (row for rows in matches.values() for row in rows):
        (a, _), (b, _) = players_of(row["key"])
        if a == b:
            shares.setdefault(a, []).append(Rate.of(row["scores"]).win_rate)
    paper = PAPER.figures("huang.table5")
    players = {f: [s for s in paper if f in s or f == "all"] for f in (*_FEATURES, "all")}
    theirs = {f: fmean(paper[s] for s in chosen) for f, chosen in players.items()}
    found = {f: [shares[s] for s in chosen if s in shares] for f, chosen in players.items()}
    means = {f: np.mean(own, axis=0).tolist() for f, own in found.items() if own}
    table = _entries(shares, paper, 0.5, games)
    return {"players": table, "means": _entries(means, theirs, 0.5)}


def _curve(folder: Path, size: InputTables, matches: Matches, encoding: str) -> list[Row]:
    """Return the learning curve of ABCDE, averaged over seeds."""
    by_games: dict[int, list[float]] = {}
    for seed in matches if "ABCDE" in size.sets else ():
        for point in curve_of(player_folder(folder, seed, "ABCDE", encoding)):
            by_games.setdefault(point["games"], []).append(point["win_rate"])
    points = []
    for games, rates in sorted(by_games.items()):
        interval = list(interval_of(rates, size.curve_games) or (0.0, 1.0))
        points.append({"games": games, "win_rate": float(np.mean(rates)), "interval": interval})
    return points


# ----- Tables 1 to 5: showing -----


def tables(context: LabContext, size: InputTables) -> Findings:
    """Train players with different inputs and match them, to show what each input adds."""
    folder = context.place("opening-td/tables")
    data = tables_data(folder, size, play_tables(context, folder, size))
    curves = {encoding: curve for encoding, curve in data["figure4"].items() if curve}
    return Findings(
        text=PAPER.texts["opening-td-inputs"].format(size, players=len(size.sets)),
        tables=result_tables(data),
        figures=[*([_curve_plot("against random", curves)] if curves else []), *_gain_bars(data)],
        comparisons=_table_comparisons(data, size),
        data=data,
    )


def result_tables(data: dict[str, Any]) -> list[Table]:
    """Return the tables of `tables_data`."""
    shown = []
    for encoding, (wins, gains) in TD_TABLES.items():
        rows = sorted(data["wins"][encoding].items(), key=lambda item: item[1]["value"])
        shown.append(_wins_table(f"{wins}: wins over all opponents, {encoding}", rows))
        if found := data["spread"][encoding]:
            cells = {
                "run to run, sd": percent(found["run_sd"]),
                "players, sd": percent(found["player_sd"]),
                "different pairs": f"{found['different_pairs']} of {found['pairs']}",
                "least difference": percent(found["tukey"]),
                "ranks": f"{found['rank_with_paper'] or 0.0:+.2f} with the paper's",
            }
            shown.append(Table(f"{wins}: what is chance", [*cells], [[*cells.values()]]))
        if found := data["gains"][encoding]:
            title = f"{gains}: gain from adding a feature, {encoding}"
            cells_ = [
                [f, *map(_shown, gain.values()), percent(gain["points"]["paper"])]
                for f, gain in found.items()
            ]
            shown.append(Table(title, ["feature", "relative", "points", "paper"], cells_))
    twins = data["twins"]
    means = [(f"mean of {f}", entry) for f, entry in twins["means"].items()]
    title = "Table 5: binary against its scalar twin"
    shown.append(_wins_table(title, [*twins["players"].items(), *means]))
    at = {e: {p["games"]: p["win_rate"] for p in curve} for e, curve in data["figure4"].items()}
    games = sorted({g for e in at for g in at[e] if g % 500 == 0})
    if games:
        title = "Figure 4: ABCDE against random (paper: about 50 % at the start, just over 75 % at "
        points = [(str(g), *(show(at[e].get(g), unit="%") for e in at)) for g in games]
        shown.append(Table(title + "3,000)", ["games", *at], points))
    return shown


def _wins_table(title: str, rows: Sequence[tuple[str, dict[str, Any]]]) -> Table:
    cells = [(name, _shown(entry), percent(entry["paper"])) for name, entry in rows]
    return Table(title, ["player", "here", "paper"], cells)


def _shown(entry: dict[str, Any]) -> str:
    """Format a number of a table with its interval; a star if it is significant."""
    return show(entry["value"], entry["interval"], "%") + ("*" if entry["significant"] else "")


def _known_gains(data: dict[str, Any], encoding: str) -> dict[str, Any]:
    """Return the gains as the paper defines them: Table 2 by ratios, Table 4 by differences."""
    measure = "relative" if encoding == "scalar" else "points"
    gains = {f: gain[measure] for f, gain in data["gains"][encoding].items()}
    return {feature: gain for feature, gain in gains.items() if gain["value"] is not None}


def _gain_bars(data: dict[str, Any]) -> list[Bars]:
    figures = []
    for encoding, (_, where) in TD_TABLES.items():
        gains = _known_gains(data, encoding)
        entries = list(gains.values())
        known = all(entry["interval"] for entry in entries)
        ends = [[100 * end for end in e["interval"]] for e in entries] if known else None
        ours = Series("here", [100 * e["value"] for e in entries], ends)
        paper = Series("the paper", [round(100 * e["paper"]) for e in entries])
        unit = "%, relative" if encoding == "scalar" else "percentage points"
        title = f"{where}: gain from adding a feature, {encoding}"
        figures.append(Bars(title, unit, list(gains), [ours, paper]))
    return [figure for figure in figures if figure.names]


def _table_comparisons(data: dict[str, Any], size: InputTables) -> list[Comparison]:
    """Compare with the paper's tables; verdicts need all players, enough games, several seeds."""
    full = size.seeds > 1 and size.games >= _PAPER_GAMES and set(size.sets) == set(SETS)
    entries: dict[str, dict[str, Any]] = {}
    for encoding in ENCODINGS:
        wins, gains = _ids(encoding)
        if curve := data["figure4"][encoding]:
            entries[f"huang.figure4.{encoding}"] = {**curve[-1], "value": curve[-1]["win_rate"]}
        entries |= {f"{wins}.{encoding}.{f}": e for f, e in data["wins"][encoding].items()}
        gained = _known_gains(data, encoding)
        entries |= {f"{gains}.{encoding}.{f}": e for f, e in gained.items()}
    entries |= {f"huang.table5.{f}": e for f, e in data["twins"]["players"].items()}
    if full:
        why = f"{size.seeds} seeds."
        return [compare(c, e["value"], e["interval"], why=why) for c, e in entries.items()]
    # A small run lacks some of the opponents: only ABCDE and the gains are shown.
    shown = {c: e for c, e in entries.items() if c.rpartition(".")[2] in ("ABCDE", *_FEATURES)}
    why = "One short training each, fewer opponents."
    return [compare(c, text=percent(e["value"], e["interval"]), why=why) for c, e in shown.items()]


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-td", "opening-td", "Learning by self-play", learning, quick=CurveSize(),
        full=CurveSize(_PAPER_GAMES, 50, 100, 400), minutes=(0.5, 10),
    ),
    Experiment(
        "opening-td-inputs", "opening-td", "What the inputs add", tables,
        quick=InputTables(
            games=500, pair_games=40, curve_games=0, expert="builtin:playouts=48",
            features=_SMALL_SETS,
        ),
        full=InputTables(seeds=5), minutes=(0.55, 150),
    ),
)  # fmt: skip
