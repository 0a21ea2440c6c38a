"""Turn an experiment's matches into Figure 4 and Tables 1 to 5, beside the paper's; play nothing.

The paper's Table 2 is a mean of ratios and its Table 4 a mean of differences in percentage points
(its own numbers only fit that way), so both measures are given for both encodings. Whether a number
differs from chance is tested over seeds, and Holm's rule corrects for the numbers of a table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from tengen.lab import papers
from tengen.lab.opening_td import ENCODINGS, Plan, read_lines
from tengen.lab.opening_td_judges import compare
from tengen.models import write_atomic
from tengen.statistics import holm, mean_interval, mean_test, spearman, wilson

Sheet = tuple[str, list[str], list[tuple[str, ...]]]
"""Title, columns and rows of a table to print."""


def report(plan: Plan, judges: Sequence[str] = ()) -> dict[str, Any]:
    """Read what a plan's folder holds and return all tables, and what other judges said."""
    lines = {
        seed: read_lines(plan.folder / f"seed-{seed}" / "matches.jsonl") for seed in plan.seeds
    }
    wins = {e: _wins(plan, lines, e) for e in ENCODINGS}
    return {
        "seeds": list(plan.seeds),
        "training_games": plan.games,
        "pair_games": plan.pair_games,
        "expert": plan.expert,
        "referee": plan.judge,
        "figure4": {e: _curve(plan, e) for e in ENCODINGS},
        "wins": {
            e: _table(wins[e], _round_robin_games(plan), papers.TD_WINS[e]) for e in ENCODINGS
        },
        "spread": {e: spread(wins[e], papers.TD_WINS[e]) for e in ENCODINGS},
        "gains": {e: _gains(plan, wins[e], papers.TD_GAINS[e]) for e in ENCODINGS},
        "twins": _twins(plan, lines),
        "duplicates": sum(line["duplicates"] for seed in lines.values() for line in seed),
        "judges": [found for judge in judges if (found := compare(plan, judge, wins))],
    }


def _round_robin_games(plan: Plan) -> int:
    return (len(plan.sets) - 1) * plan.pair_games


def _wins(
    plan: Plan, lines: dict[int, list[dict[str, Any]]], encoding: str
) -> dict[str, list[float]]:
    """Return each player's share of wins over all opponents, one number per seed."""
    shares: dict[str, list[float]] = {features: [] for features in plan.sets}
    for seed in plan.seeds:
        points, games = dict.fromkeys(plan.sets, 0.0), dict.fromkeys(plan.sets, 0)
        for line in lines[seed]:
            _, first, second = line["key"].split()
            (a, kind), (b, other) = first.split("-"), second.split("-")
            if kind == other == encoding and a in points and b in points:
                points[a] += line["points"]
                points[b] += line["games"] - line["points"]
                games[a] += line["games"]
                games[b] += line["games"]
        for features in plan.sets:
            if games[features]:
                shares[features].append(points[features] / games[features])
    return shares


def interval(values: list[float], games: int | None = None) -> tuple[float, float]:
    """Return a 95 % interval: over seeds by Student's t; for one seed over its games, if known.

    With `games` the values are shares of games, so the interval ends at 0 and 1.
    """
    if (found := mean_interval(values)) is not None:
        return (max(found[0], 0.0), min(found[1], 1.0)) if games else found
    if values and games:
        return wilson(values[0] * games, games)
    return float("-inf"), float("inf")


def _entry(values: list[float], games: int | None, paper: float, chance: float) -> dict[str, Any]:
    low, high = interval(values, games)
    known = bool(np.isfinite(low))
    return {
        "value": float(np.mean(values)) if values else None,
        "interval": [low, high] if known else None,
        "by_seed": values,
        "paper": paper,
        "p": mean_test(values, chance),
    }


def mark(entries: Sequence[dict[str, Any]]) -> None:
    """Mark as `significant` what Holm's rule lets stand among the entries of one table."""
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
    table = np.array([shares[f] for f in players])
    means = table.mean(axis=1)
    run_sd = float(np.sqrt(table.var(axis=1, ddof=1).mean()))
    q = float(stats.studentized_range.ppf(0.95, len(players), len(players) * (seeds - 1)))
    tukey = q * run_sd / np.sqrt(seeds)
    gaps = np.abs(means[:, None] - means[None])[np.triu_indices(len(players), 1)]
    ranks = spearman(means, [paper[f] for f in players])
    between = float(max(means.var(ddof=1) - run_sd**2 / seeds, 0.0))
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
    table = {f: _entry(v, games, paper[f] / 100, 0.5) for f, v in shares.items() if v}
    mark(list(table.values()))
    return table


def _gains(plan: Plan, shares: dict[str, list[float]], paper: dict[str, int]) -> dict[str, Any]:
    """Return what each feature adds, as mean ratio and as mean difference, over its pairs."""
    gains = {}
    for feature in "BCDE":
        pairs = [
            (f, "".join(sorted(f + feature)))
            for f in plan.sets
            if feature not in f and "".join(sorted(f + feature)) in plan.sets
        ]
        seeds = range(min((len(shares[f]) for f in plan.sets), default=0))
        if not pairs or not seeds:
            continue
        ratios = [
            float(np.mean([shares[b][s] / max(shares[a][s], 1e-9) - 1 for a, b in pairs]))
            for s in seeds
        ]
        points = [float(np.mean([shares[b][s] - shares[a][s] for a, b in pairs])) for s in seeds]
        gains[feature] = {
            "relative": _entry(ratios, None, paper[feature] / 100, 0.0),
            "points": _entry(points, None, paper[feature] / 100, 0.0),
        }
    for measure in ("relative", "points"):
        mark([gain[measure] for gain in gains.values()])
    return gains


def _twins(plan: Plan, lines: dict[int, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return how often the binary player beats its scalar twin, and means by feature."""
    shares: dict[str, list[float]] = {f: [] for f in plan.sets}
    for seed in plan.seeds:
        for line in lines[seed]:
            _, first, second = line["key"].split()
            (a, kind), (b, other) = first.split("-"), second.split("-")
            if a == b and (kind, other) == ("binary", "scalar") and a in shares:
                shares[a].append(line["points"] / line["games"])
    table: dict[str, Any] = _table(shares, plan.pair_games, papers.TD_TWINS)
    means = {}
    for feature in ("B", "C", "D", "E", "all"):
        names = [f for f in shares if shares[f] and (feature == "all" or feature in f)]
        paper = [p for f, p in papers.TD_TWINS.items() if feature == "all" or feature in f]
        if names:
            by_seed = [float(x) for x in np.mean([shares[f] for f in names], axis=0)]
            means[feature] = _entry(by_seed, None, float(np.mean(paper)) / 100, 0.5)
    mark(list(means.values()))
    return {"players": table, "means": means}


def _curve(plan: Plan, encoding: str) -> list[dict[str, Any]]:
    """Return the learning curve of ABCDE, averaged over seeds."""
    curves = [
        read_lines(plan.player_folder(seed, "ABCDE", encoding) / "metrics.jsonl")
        for seed in plan.seeds
        if "ABCDE" in plan.sets
    ]
    by_games: dict[int, list[float]] = {}
    for curve in curves:
        for point in curve:
            by_games.setdefault(point["games"], []).append(point["win_rate"])
    points = []
    for games, rates in sorted(by_games.items()):
        low, high = interval(rates, plan.curve_games)
        points.append({"games": games, "win_rate": float(np.mean(rates)), "interval": [low, high]})
    return points


# ----- For people -----


def sheets(value: dict[str, Any]) -> Iterator[Sheet]:
    """Yield the tables of a report, ready to print."""
    for encoding, title in (("scalar", "Table 1"), ("binary", "Table 3")):
        rows = sorted(value["wins"][encoding].items(), key=lambda item: item[1]["value"])
        yield (
            f"{title}: wins over all opponents, {encoding}",
            ["player", "here", "95 %", "paper"],
            [(f, _percent(e["value"]), _span(e), _percent(e["paper"], 0)) for f, e in rows],
        )
        found = value["spread"][encoding]
        if found:
            yield (
                f"{title}: what is chance",
                ["run to run, sd", "players, sd", "pairs that differ", "least difference", "ranks"],
                [
                    (
                        _percent(found["run_sd"]),
                        _percent(found["player_sd"]),
                        f"{found['different_pairs']} of {found['pairs']}",
                        _percent(found["tukey"]),
                        f"{found['rank_with_paper'] or 0.0:+.2f} with the paper's",
                    )
                ],
            )
        yield (
            f"Table {2 if encoding == 'scalar' else 4}: gain from adding a feature, {encoding}",
            ["feature", "relative", "95 %", "points", "95 %", "paper"],
            [
                (
                    f,
                    _percent(g["relative"]["value"]),
                    _span(g["relative"]),
                    _percent(g["points"]["value"]),
                    _span(g["points"]),
                    _percent(g["points"]["paper"], 0),
                )
                for f, g in value["gains"][encoding].items()
            ],
        )
    yield (
        "Table 5: binary against its scalar twin",
        ["player", "here", "95 %", "paper"],
        [
            (f, _percent(e["value"]), _span(e), _percent(e["paper"], 0))
            for f, e in (
                *value["twins"]["players"].items(),
                *((f"mean of {f}", e) for f, e in value["twins"]["means"].items()),
            )
        ],
    )
    curves = value["figure4"]
    at = {e: {p["games"]: p["win_rate"] for p in curves[e]} for e in curves}
    games = sorted({g for e in at for g in at[e] if g % 500 == 0})
    yield (
        "Figure 4: ABCDE against random (paper: about 50 % at the start, just over 75 % at 3,000)",
        ["games", *at],
        [(str(g), *(_percent(at[e].get(g)) for e in at)) for g in games],
    )
    for judge in value["judges"]:
        yield (
            f"Another judge: {judge['expert']}",
            ["openings", "same winner", "95 %", "beyond 5 points", "scores", "ranks"],
            [
                (
                    str(judge["openings"]),
                    _percent(judge["agreement"]),
                    _span(judge),
                    _percent(judge["agreement_beyond_5_points"]),
                    f"{judge['score_correlation']:.2f}",
                    "; ".join(
                        f"{e} {_number(r['all_games'])}, same openings "
                        f"{_number(r['same_openings'])}"
                        for e, r in judge["ranks"].items()
                    ),
                )
            ],
        )


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


def markdown(value: dict[str, Any]) -> str:
    """Return all tables as Markdown."""
    parts = []
    for title, columns, rows in sheets(value):
        lines = [f"**{title}**", "", "| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def figure(value: dict[str, Any], path: Path) -> None:
    """Draw Figure 4 to an SVG or PNG file."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(6, 4), layout="constrained")
    axes = canvas.subplots()
    for encoding, curve in value["figure4"].items():
        x = [p["games"] for p in curve]
        y = [100 * p["win_rate"] for p in curve]
        low, high = ([100 * p["interval"][i] for p in curve] for i in (0, 1))
        axes.plot(x, y, label=f"ABCDE {encoding}")
        axes.fill_between(x, low, high, alpha=0.2)
    axes.axhline(75, linestyle=":", color="grey", label="the paper at 3,000 games")
    axes.set(xlabel="training games", ylabel="wins against random, %", ylim=(0, 100))
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(path)


def write(plan: Plan, value: dict[str, Any]) -> None:
    """Write the report, its tables and its figure into the plan's folder."""
    write_atomic(plan.folder / "report.json", json.dumps(value, indent=1))
    write_atomic(plan.folder / "tables.md", markdown(value))
    figure(value, plan.folder / "figure4.svg")
