"""Openings by temporal differences (Huang 2003): a player learns, and what its inputs add.

The paper's players are trained and play each other. A training has a run folder with
`model.safetensors` when it is done. Trainings and matches continue where they stopped.

The paper's Table 2 is a mean of ratios and its Table 4 a mean of differences in percentage points
(its own numbers only fit that way), so both measures are reported for both encodings. Tests are
over seeds, and Holm's rule corrects for the numbers of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tengen.contracts import Expert
from tengen.errors import TengenError
from tengen.lab import papers
from tengen.lab.result import Bars, Findings, Plot, Series, Table, line
from tengen.lab.steps import Experiment, Journal, LabContext, Row
from tengen.lab.verdicts import Comparison, compare, percent
from tengen.learners import opening_td
from tengen.learners.opening_td import KIND, SETS, OpeningTD, Side, TDSettings
from tengen.learners.opening_td.learner import RANDOM_NAME
from tengen.models import has_model
from tengen.models.runs import Run, read_metrics
from tengen.models.settings import CheckedSettings, setting
from tengen.parallel import map_jobs
from tengen.progress import Report
from tengen.statistics import Interval, Rate, holm, mean_interval, mean_test, spearman, wilson

ENCODINGS = ("scalar", "binary")
_FEATURES = "BCDE"  # inputs beyond the bare board
_PART = 50  # games of an evaluation that are played and stored together
_PAPER_GAMES = 3000  # openings after which the paper's Figure 4 ends
_SHIPPED = ("td-abcde-9x9", "td-best-9x9")
_SMALL_SETS = ("A", "ABCD", "ABCE", "ABDE", "ACDE", "ABCDE")
"""All inputs, all but one, and none: the fewest players that show what an input adds."""


# ----- Training and matches -----


@cache
def expert_of(spec: str) -> Expert:
    """Make an expert from `builtin`, a player's spec, or `playouts:N` (judges without playing)."""
    if spec.partition(":")[0] == "playouts":
        number = spec.partition(":")[2] or "64"
        if not number.isdigit() or int(number) < 1:
            raise TengenError(f"expert {spec!r}: playouts: must be followed by a number")
        return opening_td.PlayoutJudge(int(number))
    from tengen.players.spec import make_expert

    return make_expert(spec)


@cache
def _side_of(spec: str) -> Side:
    """Make a side of a match: `random`, a model's file, or a player's spec."""
    if spec == RANDOM_NAME:
        return RANDOM_NAME
    if spec.endswith(".safetensors"):
        return OpeningTD.load(spec)
    from tengen.players.spec import make_player

    return make_player(spec)


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


def train(
    job: TrainJob, on_game: Callable[[int], None] = lambda games: None
) -> list[dict[str, Any]]:
    """Train one player, continuing its run; return its learning curve."""
    settings = job.settings
    alone = settings.opponent == opening_td.SELF
    opponent = None if alone else _side_of(settings.opponent)
    if isinstance(opponent, str | OpeningTD):
        raise TengenError(
            f"opponent {settings.opponent!r}: for random moves set random_opponent to 1"
        )
    expert, referee = expert_of(settings.expert), expert_of(settings.referee or settings.expert)
    with Run.open(job.folder, KIND, settings, resume=job.resume) as run:
        done = run.start is not None and run.start.step >= settings.games
        if not (done and Path(job.model).is_file()):
            learner = OpeningTD(settings=settings)
            learner.fit(expert, opponent, referee=referee, run=run, on_game=on_game)
            learner.save(job.model, data=f"{settings.games} openings judged by {settings.expert}")
    return curve_of(job.folder)


def curve_of(folder: str | Path) -> list[dict[str, Any]]:
    """Return the learning curve of a run: games, win_rate, interval, mean_score of each point."""
    return [
        {"games": row["step"], **{key: value for key, value in row.items() if key != "step"}}
        for row in read_metrics(folder)
    ]


@dataclass(frozen=True)
class MatchJob:
    """Some games of a trained player, given by its file or name, against any side."""

    model: str
    opponent: str
    expert: str
    games: int
    seed: int
    random_plies: int | None = None


def play(job: MatchJob) -> dict[str, Any]:
    """Play one match; scores are from the player's view."""
    match = opening_td.play_match(
        OpeningTD.load(job.model), _side_of(job.opponent), expert_of(job.expert),
        games=job.games, seed=job.seed, random_plies=job.random_plies,
    )  # fmt: skip
    return {"expert": job.expert, "scores": match.scores, "openings": match.openings}


def evaluate(
    job: MatchJob,
    *,
    workers: int = 1,
    log: Path | None = None,
    report: Report = lambda done, total: None,
) -> dict[str, Any]:
    """Play a model's openings against an opponent, in parts of 50 games.

    Finished parts are stored in `log`; a stopped evaluation with the same settings continues.
    """
    parts = {}
    for first in range(0, job.games, _PART):
        games, seed = min(_PART, job.games - first), job.seed * 100_003 + first
        part = replace(job, games=games, seed=seed)
        parts[repr(part)] = part
    rows = Journal(log).complete(parts, play, workers=workers, report=report)
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
    curve_every, curve_games = size.curve_every, size.curve_games
    settings = TDSettings(
        games=size.games, curve_every=curve_every, curve_games=curve_games, seed=context.seed
    )
    report = context.between(0.0, 0.6, "training game")
    job = TrainJob(str(context.place("opening-td/player")), settings)
    curve = train(job, on_game=lambda games: report(games, size.games))
    shipped = _shipped(context, size.shipped_games)
    rows = [
        [name, opponent, percent(got["win_rate"], got["interval"]), f"{got['mean_score']:+.1f}"]
        for (name, opponent), got in shipped.items()
    ]
    title = f"Openings of shipped players, {size.shipped_games} games each, finished by the expert"
    full, first, last = size.games >= _PAPER_GAMES, curve[0], curve[-1]
    why = "The expert is ours, not GNU Go."
    comparisons = [
        compare(
            "huang.figure4.untrained", first["win_rate"], first["interval"], full=full,
            why=f"{size.curve_games} games; an untrained player is as good as random.",
        ),
        compare(
            "huang.figure4.binary", last["win_rate"], last["interval"], full=full,
            detail="" if full else f"here after {last['games']:,}",
            why=why if full else f"Less training than the paper's. {why}",
        ),
    ]  # fmt: skip
    if got := shipped.get((_SHIPPED[0], "random")):
        why = "The same inputs, network and training; the paper does not give its learning rate."
        found, detail = (got["win_rate"], got["interval"]), f"shipped {_SHIPPED[0]}"
        comparisons.append(compare("huang.figure4.binary", *found, detail=detail, why=why))
    return Findings(
        text=f"Player ABCDE (all inputs, binary, TD(0), self-play) learns from {size.games} "
        "openings of twenty plies; the built-in expert finishes them and decides who won. The "
        "shipped player td-abcde-9x9 was trained as long as the paper's.",
        tables=[Table(title, ["player", "against", "wins", "mean score"], rows)],
        figures=[
            _curve_plot("player ABCDE against random openings while it learns", {"binary": curve})
        ],
        comparisons=comparisons,
        data={"curve": curve, "shipped": list(shipped.values())},
    )


def _shipped(context: LabContext, games: int) -> dict[tuple[str, str], dict[str, Any]]:
    """Evaluate the openings of the shipped players, each pair once."""
    found = {}
    pairs = [(n, o) for n in _SHIPPED if has_model(n) for o in ("random", "maxlib")]
    for number, (name, opponent) in enumerate(pairs):
        context.at(0.6 + 0.4 * number / len(pairs), f"{name} against {opponent}")
        job = MatchJob(name, opponent, "builtin", games, context.seed)
        found[name, opponent] = context.once(
            f"opening-td/{name}-{opponent}",
            lambda job=job: evaluate(job, workers=context.workers),  # type: ignore[misc]
        )
    return found


def _curve_plot(title: str, curves: dict[str, list[dict[str, Any]]]) -> Plot:
    """Draw learning curves of player ABCDE by encoding, and the end of the paper's."""
    lines = [
        line(
            f"ABCDE, {encoding}",
            *([point[key] for point in curve] for key in ("games", "win_rate", "interval")),
        )
        for encoding, curve in curves.items()
    ]
    rules = {"the paper after 3,000": papers.TD_FIGURE_4[_PAPER_GAMES]}
    title, x = f"Figure 4: {title}", "openings of self-play"
    return Plot(title, x, "wins", lines, rules=rules, bottom=0.0, top=1.03)


# ----- Tables 1 to 5: playing -----


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


@dataclass(frozen=True)
class PlayedTables:
    """The matches of an experiment by seed, and the folder of its players."""

    folder: Path
    size: InputTables
    matches: dict[int, list[Row]]


def player_folder(folder: Path, seed: int, features: str, encoding: str) -> Path:
    """Return the run folder of a player."""
    return folder / f"seed-{seed}" / f"{features}-{encoding}"


def _train_jobs(folder: Path, size: InputTables, seed: int) -> list[TrainJob]:
    """List the trainings of one seed: ABCDE measured every 50 games, the others every 500."""
    return [
        TrainJob(
            str(player_folder(folder, seed, features, encoding)),
            TDSettings(
                rows=size.rows,
                komi=size.komi,
                games=size.games,
                features=features,
                encoding=encoding,
                expert=size.expert,
                referee=size.judged_by,
                curve_every=50 if features == "ABCDE" else 500,
                curve_games=size.curve_games,
                # Every player has its own weights and its own games.
                seed=1000 * seed + 2 * size.sets.index(features) + (encoding == "binary"),
            ),
        )
        # Those with the longest learning curves first, so that workers end together.
        for features in sorted(size.sets, key=len, reverse=True)
        for encoding in reversed(ENCODINGS)
    ]


def _match_jobs(folder: Path, size: InputTables, seed: int) -> dict[str, MatchJob]:
    """Return the matches of one seed by key: two round robins, and each player against its twin."""
    pairs = [
        ((first, encoding), (second, encoding))
        for encoding in ENCODINGS
        for i, first in enumerate(size.sets)
        for second in size.sets[i + 1 :]
    ]
    pairs += [((features, "binary"), (features, "scalar")) for features in size.sets]
    jobs = {}
    for number, pair in enumerate(pairs):
        a, b = (str(player_folder(folder, seed, *who) / "model.safetensors") for who in pair)
        names = " ".join("-".join(player) for player in pair)
        match_seed = 1_000_000 * (seed + 1) + number
        jobs[f"{seed} {names}"] = MatchJob(a, b, size.judged_by, size.pair_games, match_seed)
    return jobs


def play_tables(context: LabContext, folder: Path, size: InputTables) -> PlayedTables:
    """Train and match all players of all seeds, continuing what is there."""
    matches = {}
    for number, seed in enumerate(range(context.seed, context.seed + size.seeds)):
        low, high = number / size.seeds, (number + 0.7) / size.seeds
        place = folder / f"seed-{seed}"
        with Run.open(place, f"{KIND} tables", size, resume=True):
            report = context.between(low, high, f"seed {seed}: players trained")
            jobs = _train_jobs(folder, size, seed)
            trained = map_jobs(train, jobs, workers=context.workers, ray=context.ray, ordered=False)
            for done, _ in enumerate(trained, 1):
                report(done, len(jobs))
            matches[seed] = Journal(place / "matches.jsonl").complete(
                _match_jobs(folder, size, seed), play, workers=context.workers, ray=context.ray,
                report=context.between(high, (number + 1) / size.seeds, f"seed {seed}: matches"),
            )  # fmt: skip
    return PlayedTables(folder, size, matches)


def points_of(row: Row) -> float:
    """Return how many games of a match its first player won; draws count half."""
    return float((1 + np.sign(row["scores"])).sum() / 2)


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


def tables_data(played: PlayedTables) -> dict[str, Any]:
    """Return Figure 4 and all tables as plain numbers."""
    size = played.size
    wins = {e: wins_of(played, e) for e in ENCODINGS}
    games = (len(size.sets) - 1) * size.pair_games
    return {
        "seeds": list(played.matches),
        "training_games": size.games,
        "pair_games": size.pair_games,
        "expert": size.expert,
        "referee": size.judged_by,
        "figure4": {e: _curve(played, e) for e in ENCODINGS},
        "wins": {e: _table(wins[e], games, papers.TD_WINS[e]) for e in ENCODINGS},
        "spread": {e: spread(wins[e], papers.TD_WINS[e]) for e in ENCODINGS},
        "gains": {e: gains_of(wins[e], papers.TD_GAINS[e]) for e in ENCODINGS},
        "twins": _twins(played),
        "duplicates": sum(duplicates(row) for rows in played.matches.values() for row in rows),
    }


def wins_of(played: PlayedTables, encoding: str) -> dict[str, list[float]]:
    """Return each player's share of wins over all opponents, one number per seed."""
    sets = played.size.sets
    shares: dict[str, list[float]] = {features: [] for features in sets}
    for rows in played.matches.values():
        points, games = dict.fromkeys(sets, 0.0), dict.fromkeys(sets, 0)
        for row in rows:
            (a, kind), (b, other) = players_of(row["key"])
            if kind == other == encoding:
                count, won = len(row["scores"]), points_of(row)
                for player, own in ((a, won), (b, count - won)):
                    points[player] += own
                    games[player] += count
        for features in sets:
            if games[features]:
                shares[features].append(points[features] / games[features])
    return shares


def interval_of(values: list[float], games: int | None = None) -> Interval | None:
    """Return a 95 % interval: over seeds by Student's t; for one seed over its games, if known.

    With `games` the values are shares of games, so the interval ends at 0 and 1.
    """
    found = mean_interval(values)
    if found is None:
        return wilson(values[0] * games, games) if values and games else None
    return (max(found[0], 0.0), min(found[1], 1.0)) if games else found


def _entry(values: list[float], games: int | None, paper: float, chance: float) -> dict[str, Any]:
    interval = interval_of(values, games)
    return {
        "value": float(np.mean(values)) if values else None,
        "interval": list(interval) if interval else None,
        "by_seed": values,
        "paper": paper,
        "p": mean_test(values, chance),
    }


def mark(entries: Sequence[dict[str, Any]]) -> None:
    """Set `significant` of the entries of one table by Holm's rule.

    >>> entries = [{"p": 0.04}, {"p": 0.001}, {"p": 0.03}]
    >>> mark(entries)
    >>> [entry["significant"] for entry in entries]
    [False, True, False]
    """
    for entry, stands in zip(entries, holm([e["p"] for e in entries]), strict=True):
        entry["significant"] = stands


def spread(shares: dict[str, list[float]], paper: dict[str, int]) -> dict[str, Any] | None:
    """Separate the differences between players from the differences between seeds.

    `run_sd` is the standard deviation of one player's share from seed to seed. Differences between
    two players' means above `tukey` are significant (Tukey, all pairs at once); above `tukey_one`
    they would be between single runs. None for a single seed.
    """
    players = [f for f in shares if shares[f]]
    seeds = len(shares[players[0]]) if players else 0
    if seeds < 2 or len(players) < 3:
        return None
    from scipy import stats

    grid = np.array([shares[f] for f in players])
    means = grid.mean(axis=1)
    run_sd = float(np.sqrt(grid.var(axis=1, ddof=1).mean()))
    q = float(stats.studentized_range.ppf(0.95, len(players), len(players) * (seeds - 1)))
    tukey = q * run_sd / np.sqrt(seeds)
    gaps = np.abs(means[:, None] - means[None])[np.triu_indices(len(players), 1)]
    between = float(max(means.var(ddof=1) - run_sd**2 / seeds, 0.0))
    ranks = spearman(means, [float(paper[f]) for f in players])
    return {
        "run_sd": run_sd,
        "player_sd": between**0.5,
        "tukey": float(tukey),
        "tukey_one": q * run_sd,
        "pairs": len(gaps),
        "different_pairs": int((gaps > tukey).sum()),
        "rank_with_paper": ranks.r if ranks else None,
    }


def _table(
    shares: dict[str, list[float]], games: int, paper: dict[str, int]
) -> dict[str, dict[str, Any]]:
    entries = {f: _entry(v, games, paper[f] / 100, 0.5) for f, v in shares.items() if v}
    mark(list(entries.values()))
    return entries


def gains_of(shares: dict[str, list[float]], paper: dict[str, int]) -> dict[str, Any]:
    """Return what each feature adds, as mean ratio and as mean difference, over its pairs."""
    gains = {}
    for feature in _FEATURES:
        pairs = [
            (f, "".join(sorted(f + feature)))
            for f in shares
            if feature not in f and "".join(sorted(f + feature)) in shares
        ]
        # A player that won nothing, in a very small run, has no ratio.
        rated = [(a, b) for a, b in pairs if min(shares[a], default=0.0) > 0]
        seeds = range(min((len(own) for own in shares.values()), default=0))
        if not pairs or not seeds:
            continue
        ratios = [
            float(np.mean([shares[b][s] / shares[a][s] - 1 for a, b in rated]))
            for s in (seeds if rated else ())
        ]
        points = [float(np.mean([shares[b][s] - shares[a][s] for a, b in pairs])) for s in seeds]
        gains[feature] = {
            "relative": _entry(ratios, None, paper[feature] / 100, 0.0),
            "points": _entry(points, None, paper[feature] / 100, 0.0),
        }
    for measure in ("relative", "points"):
        mark([gain[measure] for gain in gains.values()])
    return gains


def _twins(played: PlayedTables) -> dict[str, Any]:
    """Return how often the binary player beats its scalar twin, and means by feature."""
    shares: dict[str, list[float]] = {f: [] for f in played.size.sets}
    for rows in played.matches.values():
        for row in rows:
            (a, _), (b, _) = players_of(row["key"])
            if a == b:
                shares[a].append(points_of(row) / len(row["scores"]))
    players = _table(shares, played.size.pair_games, papers.TD_TWINS)
    means = {}
    for feature in (*_FEATURES, "all"):
        names = [f for f in shares if shares[f] and (feature == "all" or feature in f)]
        paper = [p for f, p in papers.TD_TWINS.items() if feature == "all" or feature in f]
        if names:
            by_seed = [float(x) for x in np.mean([shares[f] for f in names], axis=0)]
            means[feature] = _entry(by_seed, None, float(np.mean(paper)) / 100, 0.5)
    mark(list(means.values()))
    return {"players": players, "means": means}


def _curve(played: PlayedTables, encoding: str) -> list[dict[str, Any]]:
    """Return the learning curve of ABCDE, averaged over seeds."""
    by_games: dict[int, list[float]] = {}
    for seed in played.matches if "ABCDE" in played.size.sets else ():
        for point in curve_of(player_folder(played.folder, seed, "ABCDE", encoding)):
            by_games.setdefault(point["games"], []).append(point["win_rate"])
    points = []
    for games, rates in sorted(by_games.items()):
        interval = interval_of(rates, played.size.curve_games) or (0.0, 1.0)
        points.append(
            {"games": games, "win_rate": float(np.mean(rates)), "interval": list(interval)}
        )
    return points


# ----- Tables 1 to 5: showing -----


def tables(context: LabContext, size: InputTables) -> Findings:
    """Train players with different inputs and let them meet: what each input adds."""
    played = play_tables(context, context.place("opening-td/tables"), size)
    data = tables_data(played)
    curves = {encoding: curve for encoding, curve in data["figure4"].items() if curve}
    return Findings(
        text="What do the inputs add? A is the bare board, B the distance to the edge, C "
        "liberties, D stones of the block, E nearby stones. The players meet in round robins, "
        "scalar and binary apart, then every binary player meets its scalar twin. Each player was "
        f"trained on {size.games} openings (the paper: several thousand) and plays "
        f"{size.pair_games} games per pair among {len(size.sets)} players (the paper: 100 among "
        f"16); trainings of each: {size.seeds}. A star marks what differs from chance over the "
        "seeds (Student's t, corrected by Holm's rule).",
        tables=result_tables(data),
        figures=[
            *([_curve_plot("against random", curves)] if curves else []),
            *_gain_bars(data),
        ],
        comparisons=_table_comparisons(data, size),
        data=data,
    )


def result_tables(data: dict[str, Any]) -> list[Table]:
    """Return the tables of `tables_data`."""
    shown = []
    for encoding, (wins, gains) in papers.TD_TABLES.items():
        rows = sorted(data["wins"][encoding].items(), key=lambda item: item[1]["value"])
        shown.append(_wins_table(f"{wins}: wins over all opponents, {encoding}", rows))
        if found := data["spread"][encoding]:
            cells = (
                _percent(found["run_sd"]),
                _percent(found["player_sd"]),
                f"{found['different_pairs']} of {found['pairs']}",
                _percent(found["tukey"]),
                f"{found['rank_with_paper'] or 0.0:+.2f} with the paper's",
            )
            columns = ["run to run, sd", "players, sd", "different pairs", "least difference"]
            shown.append(Table(f"{wins}: what is chance", [*columns, "ranks"], [cells]))
        if data["gains"][encoding]:
            rows_ = []
            for feature, gain in data["gains"][encoding].items():
                own = [(_percent(gain[m]["value"]), _range(gain[m])) for m in gain]
                rows_.append((feature, *own[0], *own[1], _percent(gain["points"]["paper"], 0)))
            columns = ["feature", "relative", "95 %", "points", "95 %", "paper"]
            title = f"{gains}: gain from adding a feature, {encoding}"
            shown.append(Table(title, columns, rows_))
    twins = data["twins"]
    means = [(f"mean of {f}", entry) for f, entry in twins["means"].items()]
    title = "Table 5: binary against its scalar twin"
    shown.append(_wins_table(title, [*twins["players"].items(), *means]))
    at = {e: {p["games"]: p["win_rate"] for p in curve} for e, curve in data["figure4"].items()}
    games = sorted({g for e in at for g in at[e] if g % 500 == 0})
    if games:
        title = "Figure 4: ABCDE against random (paper: about 50 % at the start, just over 75 % at "
        points = [(str(g), *(_percent(at[e].get(g)) for e in at)) for g in games]
        shown.append(Table(title + "3,000)", ["games", *at], points))
    return shown


def _wins_table(title: str, rows: Sequence[tuple[str, dict[str, Any]]]) -> Table:
    cells = [(f, _percent(e["value"]), _range(e), _percent(e["paper"], 0)) for f, e in rows]
    return Table(title, ["player", "here", "95 %", "paper"], cells)


def _percent(share: float | None, digits: int = 1) -> str:
    return "" if share is None else f"{100 * share:.{digits}f}"


def _range(entry: dict[str, Any]) -> str:
    if entry["interval"] is None:
        return ""
    low, high = entry["interval"]
    return f"{100 * low:.1f} to {100 * high:.1f}" + ("*" if entry.get("significant") else "")


def _known_gains(data: dict[str, Any], encoding: str) -> dict[str, Any]:
    """Return the gains as the paper defines them: Table 2 by ratios, Table 4 by differences."""
    measure = "relative" if encoding == "scalar" else "points"
    gains = {f: gain[measure] for f, gain in data["gains"][encoding].items()}
    return {feature: gain for feature, gain in gains.items() if gain["value"] is not None}


def _gain_bars(data: dict[str, Any]) -> list[Bars]:
    figures = []
    for encoding, (_, where) in papers.TD_TABLES.items():
        gains = _known_gains(data, encoding)
        if not gains:
            continue
        entries = list(gains.values())
        known = all(entry["interval"] for entry in entries)
        ends = [[100 * end for end in e["interval"]] for e in entries] if known else None
        ours = Series("here", [100 * e["value"] for e in entries], ends)
        paper = Series("the paper", [papers.TD_GAINS[encoding][f] for f in gains])
        unit = "%, relative" if encoding == "scalar" else "percentage points"
        title = f"{where}: gain from adding a feature, {encoding}"
        figures.append(Bars(title, unit, list(gains), [ours, paper]))
    return figures


def _table_comparisons(data: dict[str, Any], size: InputTables) -> list[Comparison]:
    """Compare the tables with the paper's; a verdict needs its players, games and several seeds."""
    full = size.seeds > 1 and size.games >= _PAPER_GAMES and set(size.sets) == set(SETS)
    entries: dict[str, dict[str, Any]] = {}
    for encoding, places in papers.TD_TABLES.items():
        wins, gains = (place.lower().replace(" ", "") for place in places)
        if curve := data["figure4"][encoding]:
            entries[f"huang.figure4.{encoding}"] = {**curve[-1], "value": curve[-1]["win_rate"]}
        for features, entry in data["wins"][encoding].items():
            entries[f"huang.{wins}.{encoding}.{features}"] = entry
        for feature, entry in _known_gains(data, encoding).items():
            entries[f"huang.{gains}.{encoding}.{feature}"] = entry
    for features, entry in data["twins"]["players"].items():
        entries[f"huang.table5.{features}"] = entry
    if full:
        why = f"{size.seeds} seeds."
        return [compare(c, e["value"], e["interval"], why=why) for c, e in entries.items()]
    # In a small run the players' opponents are not all there: only ABCDE and the gains are shown.
    shown = {c: e for c, e in entries.items() if c.rpartition(".")[2] in ("ABCDE", *_FEATURES)}
    why = "One short training each, fewer opponents."
    return [compare(c, text=percent(e["value"], e["interval"]), why=why) for c, e in shown.items()]


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-td", "opening-td", "Learning by self-play", learning, quick=CurveSize(),
        full=CurveSize(_PAPER_GAMES, 50, 100, 400), minutes=(0.7, 10),
    ),
    Experiment(
        "opening-td-inputs", "opening-td", "What the inputs add", tables,
        quick=InputTables(
            games=500, pair_games=40, curve_games=0, expert="builtin:playouts=48",
            features=_SMALL_SETS,
        ),
        full=InputTables(seeds=5), minutes=(0.4, 240),
    ),
)  # fmt: skip
