"""Turn an experiment's matches into Figure 4 and Tables 1 to 5, beside the paper's; play nothing.

The paper's Table 2 is a mean of ratios and its Table 4 a mean of differences in percentage points
(its own numbers only fit that way), so both measures are given for both encodings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from tengen.lab.opening_td import ENCODINGS, Plan, judged_file, read_lines
from tengen.learners.opening_td import wilson
from tengen.models import write_atomic

# Wins in per cent over all opponents. Of the binary table one column is lost in print: these are
# the values that the rest of it and Table 4 lead to.
PAPER_WINS = {
    "scalar": {
        "A": 46, "AB": 48, "AC": 43, "AD": 52, "AE": 42, "ABC": 46, "ABD": 46, "ABE": 49,
        "ACD": 50, "ACE": 48, "ADE": 56, "ABCD": 54, "ABCE": 54, "ABDE": 54, "ACDE": 55,
        "ABCDE": 55,
    },
    "binary": {
        "A": 21, "AB": 22, "AC": 52, "AD": 57, "AE": 55, "ABC": 28, "ABD": 47, "ABE": 54,
        "ACD": 52, "ACE": 54, "ADE": 65, "ABCD": 48, "ABCE": 57, "ABDE": 58, "ACDE": 64,
        "ABCDE": 65,
    },
}  # fmt: skip
PAPER_GAINS = {
    "scalar": {"B": 4, "C": 3, "D": 13, "E": 8},
    "binary": {"B": -5, "C": 5, "D": 14, "E": 18},
}
PAPER_TWINS = {
    "A": 50, "AB": 29, "AC": 63, "ABC": 48, "AD": 70, "ABD": 63, "ACD": 69, "ABCD": 66,
    "AE": 35, "ABE": 26, "ACE": 33, "ABCE": 52, "ADE": 49, "ABDE": 43, "ACDE": 49, "ABCDE": 54,
}  # fmt: skip

Sheet = tuple[str, list[str], list[tuple[str, ...]]]
"""Title, columns and rows of a table to print."""


def report(plan: Plan) -> dict[str, Any]:
    """Read what a plan's folder holds and return all tables."""
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
        "wins": {e: _table(wins[e], _round_robin_games(plan), PAPER_WINS[e]) for e in ENCODINGS},
        "gains": {e: _gains(plan, wins[e], PAPER_GAINS[e]) for e in ENCODINGS},
        "twins": _twins(plan, lines),
        "duplicates": sum(line["duplicates"] for seed in lines.values() for line in seed),
        "second_expert": _second(plan, wins),
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
    """Return a 95 % interval: over seeds by Student's t; for one seed over its games, if known."""
    if len(values) > 1:
        half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
        return float(np.mean(values)) - half, float(np.mean(values)) + half
    if values and games:
        return wilson(values[0], games)
    return float("-inf"), float("inf")


def _entry(values: list[float], games: int | None, paper: float) -> dict[str, Any]:
    low, high = interval(values, games)
    known = bool(np.isfinite(low))
    return {
        "value": float(np.mean(values)) if values else None,
        "interval": [low, high] if known else None,
        "by_seed": values,
        "paper": paper,
    }


def _table(
    shares: dict[str, list[float]], games: int, paper: dict[str, int]
) -> dict[str, dict[str, Any]]:
    return {f: _entry(values, games, paper[f] / 100) for f, values in shares.items() if values}


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
            "relative": _entry(ratios, None, paper[feature] / 100),
            "points": _entry(points, None, paper[feature] / 100),
        }
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
    table: dict[str, Any] = _table(shares, plan.pair_games, PAPER_TWINS)
    means = {}
    for feature in "BCDE":
        mine = [np.mean(v) for f, v in shares.items() if feature in f and v]
        paper = [p for f, p in PAPER_TWINS.items() if feature in f]
        if mine:
            means[feature] = {"value": float(np.mean(mine)), "paper": float(np.mean(paper)) / 100}
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


def _second(plan: Plan, wins: dict[str, dict[str, list[float]]]) -> dict[str, Any] | None:
    """Compare a second expert's verdicts: agreement on the winner, ranks of the players."""
    verdicts = [line for seed in plan.seeds for line in read_lines(judged_file(plan, seed))]
    if not verdicts:
        return None
    agree = [(v["first"] > 0) == (v["second"] > 0) for v in verdicts]
    low, high = wilson(float(np.mean(agree)), len(agree))
    ranks = {}
    for encoding in ENCODINGS:
        points: dict[str, list[float]] = {f: [] for f in plan.sets}
        for v in verdicts:
            _, first, second = v["key"].split()
            (a, kind), (b, other) = first.split("-"), second.split("-")
            if kind == other == encoding and a in points and b in points:
                points[a].append(float(v["second"] > 0))
                points[b].append(float(v["second"] < 0))
        players = [f for f in plan.sets if points[f] and wins[encoding][f]]
        if len(players) > 2:
            result = stats.spearmanr(
                [np.mean(wins[encoding][f]) for f in players], [np.mean(points[f]) for f in players]
            )
            ranks[encoding] = float(result.statistic)
    scores = np.array([(v["first"], v["second"]) for v in verdicts])
    return {
        "expert": verdicts[0]["expert"],
        "openings": len(verdicts),
        "agreement": float(np.mean(agree)),
        "interval": [low, high],
        "score_correlation": float(np.corrcoef(scores.T)[0, 1]),
        "rank_correlation": ranks,
    }


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
            for f, e in value["twins"]["players"].items()
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
    second = value["second_expert"]
    if second:
        ranks = ", ".join(f"{e} {r:.2f}" for e, r in second["rank_correlation"].items())
        yield (
            f"Second expert: {second['expert']}",
            ["openings", "same winner", "95 %", "scores correlate", "ranks correlate"],
            [
                (
                    str(second["openings"]),
                    _percent(second["agreement"]),
                    _span(second),
                    f"{second['score_correlation']:.2f}",
                    ranks,
                )
            ],
        )


def _percent(share: float | None, digits: int = 1) -> str:
    return "" if share is None else f"{100 * share:.{digits}f}"


def _span(entry: dict[str, Any]) -> str:
    if entry["interval"] is None:
        return ""
    low, high = entry["interval"]
    return f"{100 * low:.1f} to {100 * high:.1f}"


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
