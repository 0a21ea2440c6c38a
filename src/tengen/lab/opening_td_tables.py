"""Turn an experiment's matches into Figure 4 and Tables 1 to 5, beside the paper's; play nothing.

The paper's Table 2 is a mean of ratios and its Table 4 a mean of differences in percentage points
(its own numbers only fit that way), so both measures are given for both encodings. Whether a number
differs from chance is tested over seeds, and Holm's rule corrects for the numbers of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tengen.lab import papers
from tengen.lab.content import Table, table
from tengen.lab.opening_td import curve_of
from tengen.lab.opening_td_experiment import ENCODINGS, Played, duplicates, players_of, points_of
from tengen.statistics import Interval, holm, mean_interval, mean_test, spearman, wilson

_FEATURES = "BCDE"
"""What is added to the bare board."""
TABLES = {"scalar": ("Table 1", "Table 2"), "binary": ("Table 3", "Table 4")}
"""Where the paper tells of wins and of gains."""


def report(played: Played) -> dict[str, Any]:
    """Return all tables and Figure 4 as plain numbers."""
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
        "gains": {e: _gains(wins[e], papers.TD_GAINS[e]) for e in ENCODINGS},
        "twins": _twins(played),
        "duplicates": sum(duplicates(row) for rows in played.matches.values() for row in rows),
    }


def wins_of(played: Played, encoding: str) -> dict[str, list[float]]:
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
    """Mark as `significant` what Holm's rule lets stand among the entries of one table.

    >>> entries = [{"p": 0.04}, {"p": 0.001}, {"p": 0.03}]
    >>> mark(entries)
    >>> [entry["significant"] for entry in entries]
    [False, True, False]
    """
    for entry, stands in zip(entries, holm([e["p"] for e in entries]), strict=True):
        entry["significant"] = stands


def spread(shares: dict[str, list[float]], paper: dict[str, int]) -> dict[str, Any] | None:
    """Tell how much of the differences between players is the players', and how much the seeds'.

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


def _gains(shares: dict[str, list[float]], paper: dict[str, int]) -> dict[str, Any]:
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


def _twins(played: Played) -> dict[str, Any]:
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


def _curve(played: Played, encoding: str) -> list[dict[str, Any]]:
    """Return the learning curve of ABCDE, averaged over seeds."""
    by_games: dict[int, list[float]] = {}
    for seed in played.matches if "ABCDE" in played.size.sets else ():
        for point in curve_of(played.curve_folder(seed, "ABCDE", encoding)):
            by_games.setdefault(point["games"], []).append(point["win_rate"])
    points = []
    for games, rates in sorted(by_games.items()):
        interval = interval_of(rates, played.size.curve_games) or (0.0, 1.0)
        points.append(
            {"games": games, "win_rate": float(np.mean(rates)), "interval": list(interval)}
        )
    return points


# ----- For people -----


def sheets(value: dict[str, Any]) -> list[Table]:
    """Return the tables of a report."""
    shown = []
    for encoding, (wins, gains) in TABLES.items():
        rows = sorted(value["wins"][encoding].items(), key=lambda item: item[1]["value"])
        shown.append(_sheet(f"{wins}: wins over all opponents, {encoding}", rows))
        if value["spread"][encoding]:
            shown.append(_chance(f"{wins}: what is chance", value["spread"][encoding]))
        if value["gains"][encoding]:
            title = f"{gains}: gain from adding a feature, {encoding}"
            shown.append(_gain_sheet(title, value["gains"][encoding]))
    twins = value["twins"]
    means = [(f"mean of {f}", entry) for f, entry in twins["means"].items()]
    rows = [*twins["players"].items(), *means]
    shown.append(_sheet("Table 5: binary against its scalar twin", rows))
    at = {e: {p["games"]: p["win_rate"] for p in curve} for e, curve in value["figure4"].items()}
    games = sorted({g for e in at for g in at[e] if g % 500 == 0})
    if games:
        title = "Figure 4: ABCDE against random (paper: about 50 % at the start, just over 75 % at "
        points = [(str(g), *(_percent(at[e].get(g)) for e in at)) for g in games]
        shown.append(table(title + "3,000)", ["games", *at], points))
    return [*shown, *(_judge_sheet(judge) for judge in value.get("judges", ()))]


def _sheet(title: str, rows: Sequence[tuple[str, dict[str, Any]]]) -> Table:
    cells = [(f, _percent(e["value"]), _span(e), _percent(e["paper"], 0)) for f, e in rows]
    return table(title, ["player", "here", "95 %", "paper"], cells)


def _chance(title: str, found: dict[str, Any]) -> Table:
    columns = ["run to run, sd", "players, sd", "pairs that differ", "least difference", "ranks"]
    cells = (
        _percent(found["run_sd"]),
        _percent(found["player_sd"]),
        f"{found['different_pairs']} of {found['pairs']}",
        _percent(found["tukey"]),
        f"{found['rank_with_paper'] or 0.0:+.2f} with the paper's",
    )
    return table(title, columns, [cells])


def _gain_sheet(title: str, gains: dict[str, Any]) -> Table:
    cells = []
    for feature, gain in gains.items():
        own = [(_percent(gain[m]["value"]), _span(gain[m])) for m in ("relative", "points")]
        cells.append((feature, *own[0], *own[1], _percent(gain["points"]["paper"], 0)))
    return table(title, ["feature", "relative", "95 %", "points", "95 %", "paper"], cells)


def _judge_sheet(judge: dict[str, Any]) -> Table:
    ranks = [
        f"{e} {_number(r['all_games'])}, same openings {_number(r['same_openings'])}"
        for e, r in judge["ranks"].items()
    ]
    cells = (
        str(judge["openings"]),
        _percent(judge["agreement"]),
        _span(judge),
        _percent(judge["agreement_beyond_5_points"]),
        f"{judge['score_correlation'] or 0.0:.2f}",
        "; ".join(ranks),
    )
    columns = ["openings", "same winner", "95 %", "beyond 5 points", "scores", "ranks"]
    return table(f"Another judge: {judge['expert']}", columns, [cells])


def _number(entry: dict[str, Any]) -> str:
    """Show a correlation with its interval."""
    if entry["value"] is None or entry["interval"] is None:
        return "unknown"
    low, high = entry["interval"]
    return f"{entry['value']:.2f} ({low:.2f} to {high:.2f})"


def _percent(share: float | None, digits: int = 1) -> str:
    return "" if share is None else f"{100 * share:.{digits}f}"


def _span(entry: dict[str, Any]) -> str:
    if entry["interval"] is None:
        return ""
    low, high = entry["interval"]
    return f"{100 * low:.1f} to {100 * high:.1f}" + ("*" if entry.get("significant") else "")
