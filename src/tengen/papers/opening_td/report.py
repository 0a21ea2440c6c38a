"""Figure 4, Tables 1 to 5 and the answers to the open questions, computed from rows.

The paper's Table 2 is a mean of ratios and its Table 4 a mean of differences in percentage points
(its own numbers only fit that way), so both measures are shown for both encodings. What is
independent is a training with its own seed: one value per seed, whatever it is a mean of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.extras import import_extra
from tengen.lab.decisions import Estimate
from tengen.lab.evidence import Evidence, find_evidence
from tengen.lab.formatting import percent, show_estimate, show_shares
from tengen.lab.papers import read_paper
from tengen.lab.report import (
    Answer,
    ClaimResult,
    PaperReport,
    claim_result,
    gain_answer,
    learning_plot,
)
from tengen.lab.result import Bars, Figure, Line, Plot, Series, Table
from tengen.papers.opening_td.settings import SETS
from tengen.statistics import Rate, spearman

PAPER = read_paper("tengen.papers.opening_td")
TABLES = {"scalar": ("table1", "table2"), "binary": ("table3", "table4")}
"""The paper's tables of wins and of gains."""

_FEATURES = "BCDE"  # inputs beyond the bare board
_PAPER_OPENINGS, _PAPER_GAMES = 3000, 100  # what Figure 4 ends at; games of a match or a point

Shares = dict[str, list[float]]  # of games won, by player or pair: one per training


def report(data: Path) -> PaperReport:
    """Return what the rows say; experiments that have none are left out."""
    find = partial(find_evidence, data)
    found = [
        *_figure_4(find("opening-td"), find("opening-td-gnugo-curve")),
        *_each(_input_tables, find("opening-td-inputs")),
        *_each(_gnugo_tables, find("opening-td-gnugo")),
        *_each(_shipped, find("opening-td-shipped")),
        *_each(_mixed, find("opening-td-mixed")),
        *_each(_boards, find("opening-td-boards")),
        *_each(_hidden, find("opening-td-hidden")),
        *_joseki(find("opening-td-joseki"), find("opening-td-joseki-curve")),
        *_each(_prior, find("opening-td-prior")),
        *_each(_edges, find("opening-td-edges")),
    ]
    return PaperReport(
        claims=[each for each in found if isinstance(each, ClaimResult)],
        tables=[each for each in found if isinstance(each, Table)],
        figures=[each for each in found if isinstance(each, Plot | Bars)],
        questions=[each for each in found if isinstance(each, Answer)],
    )


Part = ClaimResult | Table | Figure | Answer


def _each(part: Any, evidence: Evidence | None) -> Iterator[Part]:
    """Return what a part of the report makes of rows that may be missing."""
    return iter(()) if evidence is None else part(evidence)


# ----- Shares of games won -----


def curves_of(points: Evidence) -> dict[str, dict[int, list[float]]]:
    """Return the share of wins by player and number of openings: one per training."""
    found: dict[str, dict[int, list[float]]] = {}
    won = points["wins"] / points["games"]
    for player, openings, each in zip(points["player"], points["openings"], won, strict=True):
        found.setdefault(str(player), {}).setdefault(int(openings), []).append(float(each))
    return {player: dict(sorted(curve.items())) for player, curve in found.items()}


def pairs_of(matches: Evidence) -> dict[tuple[str, str], list[float]]:
    """Return the share of wins of the first of each pair: one per seed."""
    found: dict[tuple[str, str], list[float]] = {}
    won = matches["wins"] / matches["games"]
    for a, b, each in zip(matches["a"], matches["b"], won, strict=True):
        found.setdefault((str(a), str(b)), []).append(float(each))
    return found


def wins_of(matches: Evidence, encoding: str) -> Shares:
    """Return each player's share of wins over all players of its encoding, one per seed."""
    ending, shares = f"-{encoding}", Shares()
    for _, rows in matches.groups("seed"):
        won: dict[str, float] = {}
        played: dict[str, float] = {}
        for a, b, games, wins in zip(*(rows[k] for k in ("a", "b", "games", "wins")), strict=True):
            if a.endswith(ending) and b.endswith(ending):
                for player, own in ((a, wins), (b, games - wins)):
                    features = str(player).removesuffix(ending)
                    won[features] = won.get(features, 0.0) + float(own)
                    played[features] = played.get(features, 0.0) + float(games)
        for features, own in won.items():
            shares.setdefault(features, []).append(own / played[features])
    return shares


def _enough(evidence: Evidence) -> bool:
    """Return whether the players of an experiment learned from as many openings as the paper's."""
    return int(evidence.run.settings["games"]) >= _PAPER_OPENINGS


def _trainings(evidence: Evidence) -> str:
    games, count = evidence.run.settings["games"], len(evidence.run.seeds)
    return f"{count} training{'' if count == 1 else 's'} of {games:,} openings each"


# ----- Figure 4 -----


def _figure_4(points: Evidence | None, gnugo: Evidence | None) -> Iterator[Part]:
    """Compare the learning curves of ABCDE with the end of the paper's."""
    lines: list[Line] = []
    for evidence, note in ((points, ""), (gnugo, ", GNU Go")):
        if evidence is None:
            continue
        curves = curves_of(evidence)
        full = _enough(evidence) and evidence["games"].min() >= _PAPER_GAMES
        claim = partial(claim_result, evidence=evidence, full=full)
        for player, curve in curves.items():
            id = "huang.gnugo.figure4" if note else f"huang.figure4.{player.partition('-')[2]}"
            yield claim(PAPER.claims[id], Estimate.shares(list(curve.values())[-1]))
            lines.append(_line(f"{player.replace('-', ', ')}{note}", curve))
        if not note:
            first = [each for curve in curves.values() for each in curve.get(0, [])]
            yield claim(PAPER.claims["huang.figure4.untrained"], Estimate.shares(first))
        key = "figure-4-gnugo" if note else "figure-4"
        title = f"Figure 4{note}: games won against random openings"
        note = f"Mean of {_trainings(evidence)}; the paper: half at first, just over 75 % at 3,000."
        yield replace(_curve_table(title, curves), key=key, note=note)
    if lines:
        rules = {"the paper after 3,000": PAPER.claims["huang.figure4.scalar"].figure}
        title, x = "Figure 4: against random while it learns", "openings of self-play"
        yield Plot(title, x, "wins", lines, rules=rules, bottom=0.0, top=1.03)


def learning(data: Path) -> Plot | None:
    """Return the learning curve of the training whose snapshots are shown."""
    points = find_evidence(data, "opening-td")
    if points is None:
        return None
    player = "ABCDE-binary"
    curves = {
        seed: {openings: share for openings, [share] in curves_of(rows)[player].items()}
        for seed, rows in points.where(player=player).groups("seed")
    }
    return learning_plot("Won against random openings", "openings of self-play", curves)


def _line(name: str, curve: Mapping[int, list[float]]) -> Line:
    ours = [Estimate.shares(values) for values in curve.values()]
    mean, ends = [each.mean for each in ours], [each.interval for each in ours]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return Line(name, list(curve), mean)
    return Line(name, list(curve), mean, [low for low, _ in known], [high for _, high in known])


def _curve_table(title: str, curves: Mapping[str, Mapping[int, list[float]]]) -> Table:
    """Show curves side by side, at no more than thirteen points."""
    every = sorted({openings for curve in curves.values() for openings in curve})
    step = -(-len(every) // 13) if len(every) > 13 else 1
    chosen = sorted({*every[::step], every[-1]})
    rows = [
        [
            f"{openings:,}",
            *(
                show_shares(curve[openings]) if openings in curve else ""
                for curve in curves.values()
            ),
        ]
        for openings in chosen
    ]
    return Table(title, ["openings", *(name.replace("-", ", ") for name in curves)], rows)


# ----- Tables 1 to 5 -----


@dataclass(frozen=True)
class Gain:
    """What a feature adds to the players without it, one value per seed."""

    ratio: list[float]  # mean over the players of (with / without - 1); empty if one won nothing
    points: list[float]  # mean over the players of (with - without)


def gains_of(shares: Shares) -> dict[str, Gain]:
    """Return what each feature adds, over all pairs of players that differ in it alone."""
    found = {}
    for feature in _FEATURES:
        more = {f: "".join(sorted(f + feature)) for f in shares if feature not in f}
        pairs = [(np.array(shares[a]), np.array(shares[b])) for a, b in more.items() if b in shares]
        if pairs:
            # A player that won nothing, in a very small run, has no ratio.
            ratios = [b / a - 1 for a, b in pairs if a.min() > 0]
            found[feature] = Gain(
                np.mean(ratios, axis=0).tolist() if ratios else [],
                np.mean([b - a for a, b in pairs], axis=0).tolist(),
            )
    return found


def orders_of(shares: Shares, paper: Mapping[str, float]) -> list[float]:
    """Return the rank correlation of each seed's players with the paper's order."""
    grid = np.array([shares[f] for f in paper])
    found = [spearman(column, list(paper.values())) for column in grid.T]
    return [each.r for each in found if each is not None]


def _input_tables(matches: Evidence) -> Iterator[Part]:
    """Compare Tables 1 to 5; a run of fewer players has gains but no shares to compare."""
    settings = matches.run.settings
    enough = _enough(matches) and settings["pair_games"] >= _PAPER_GAMES
    for encoding, (wins, gains) in TABLES.items():
        shares, paper = wins_of(matches, encoding), PAPER.figures(f"huang.{wins}.{encoding}")
        complete = set(shares) == set(SETS)
        claim = partial(claim_result, evidence=matches, full=enough and complete)
        if complete:
            for features, values in shares.items():
                yield claim(
                    PAPER.claims[f"huang.{wins}.{encoding}.{features}"], Estimate.shares(values)
                )
            order = Estimate.of(orders_of(shares, paper))
            yield claim(PAPER.claims[f"huang.order.{encoding}"], order)
        yield _wins_table(encoding, shares, paper if complete else {}, matches)
        found = gains_of(shares)
        for feature, gain in found.items():
            values = gain.ratio if encoding == "scalar" else gain.points
            if values:
                id = f"huang.{gains}.{encoding}.{feature}"
                yield claim(PAPER.claims[id], Estimate.of(values))
        if found:
            yield _gains_table(encoding, found, matches)
            yield from _gain_bars(encoding, found)
    yield from _twins(matches, enough)


def _title(table: str) -> str:
    return f"Table {table.removeprefix('table')}"


def _key(table: str) -> str:
    return f"table-{table.removeprefix('table')}"


def _wins_table(
    encoding: str, shares: Shares, paper: Mapping[str, float], matches: Evidence
) -> Table:
    """Show the players by the paper's order, or by ours if the paper's has other opponents."""
    table = TABLES[encoding][0]
    other = _other_reading() if encoding == "binary" else {}
    names = sorted(shares, key=lambda f: paper.get(f, float(np.mean(shares[f]))))
    rows = []
    for name in names:
        row = [name, show_shares(shares[name])]
        if paper:
            row.append(f"{paper[name]:.0%}" + (f" ({other[name]:.0%})" if name in other else ""))
        rows.append(row)
    note = f"{_trainings(matches)}, {matches.run.settings['pair_games']} games a pair. "
    note += _spread_note(shares)
    if other and paper:
        note += " In brackets: the other reading of the damaged header."
    title = f"{_title(table)}: wins over all opponents, {encoding}"
    columns = ["player", "here", *(["paper"] if paper else [])]
    return Table(title, columns, rows, note.strip(), key=_key(table))


def _other_reading() -> dict[str, float]:
    """Return the figures of Table 3 that a second reading of its header changes."""
    found: dict[str, float] = PAPER.more["table3"]["other"]
    return found


@dataclass(frozen=True)
class Spread:
    """Differences between players beside those between trainings of one player."""

    run_sd: float  # of one player's share from training to training
    player_sd: float  # of the players, beyond what trainings explain
    pairs: int
    different: int  # pairs whose means differ by Tukey's test


def spread_of(shares: Shares) -> Spread | None:
    """Separate differences between players from those between trainings; None for one training."""
    grid: NDArray[np.float64] = np.array(list(shares.values()))
    if len(shares) < 3 or grid.shape[1] < 2:
        return None
    players, seeds = grid.shape
    means = grid.mean(axis=1)
    run_sd = float(np.sqrt(grid.var(axis=1, ddof=1).mean()))
    gaps = np.abs(means[:, None] - means[None])[np.triu_indices(players, 1)]
    least = _tukey(players, players * (seeds - 1)) * run_sd / np.sqrt(seeds)
    different = int((gaps > least).sum())
    between = float(max(means.var(ddof=1) - run_sd**2 / seeds, 0.0))
    return Spread(run_sd, between**0.5, len(gaps), different)


@cache
def _tukey(groups: int, freedom: int) -> float:
    """Return the 95 % quantile of the studentized range, which takes a second to compute."""
    stats = import_extra("scipy.stats", "lab")
    return float(stats.studentized_range.ppf(0.95, groups, freedom))


def _spread_note(shares: Shares) -> str:
    found = spread_of(shares)
    if found is None:
        return ""
    return (
        f"Another training moves a player by {percent(found.run_sd)} (standard deviation); players "
        f"differ by {percent(found.player_sd)} beyond that. {found.different} of {found.pairs} "
        "pairs differ by Tukey's test at 5 %."
    )


def _gains_table(encoding: str, gains: Mapping[str, Gain], matches: Evidence) -> Table:
    table = TABLES[encoding][1]
    paper = PAPER.figures(f"huang.{table}.{encoding}")
    rows = [
        [
            feature,
            show_estimate(Estimate.of(gain.ratio), "%") if gain.ratio else "",
            show_estimate(Estimate.of(gain.points), "%"),
            f"{paper[feature]:+.0%}",
        ]
        for feature, gain in gains.items()
    ]
    measure = "a ratio" if encoding == "scalar" else "in percentage points"
    title = f"{_title(table)}: gain from adding a feature, {encoding}"
    note = f"{_trainings(matches)}. The paper's figure is {measure}."
    return Table(
        title, ["feature", "ratio", "percentage points", "paper"], rows, note, key=_key(table)
    )


def _gain_bars(encoding: str, gains: Mapping[str, Gain]) -> Iterator[Bars]:
    """Draw the gains by the paper's own measure."""
    table, scalar = TABLES[encoding][1], encoding == "scalar"
    ours = {f: Estimate.of(v) for f, g in gains.items() if (v := g.ratio if scalar else g.points)}
    if not ours:
        return
    ends = [each.interval for each in ours.values()]
    known = [[100 * end for end in each] for each in ends if each is not None]
    paper = PAPER.figures(f"huang.{table}.{encoding}")
    yield Bars(
        f"{_title(table)}: gain from adding a feature, {encoding}",
        "%, as a ratio" if scalar else "percentage points",
        list(ours),
        [
            Series(
                "here",
                [100 * each.mean for each in ours.values()],
                known if len(known) == len(ends) else None,
            ),
            Series("the paper", [round(100 * paper[f]) for f in ours]),
        ],
    )


def _twins(matches: Evidence, enough: bool) -> Iterator[Part]:
    """Compare Table 5: every binary player against its scalar twin."""
    shares = {
        a.removesuffix("-binary"): values
        for (a, b), values in pairs_of(matches).items()
        if a.endswith("-binary") and b.endswith("-scalar")
    }
    if not shares:
        return
    paper = PAPER.figures("huang.table5")
    for features, values in shares.items():
        claim = PAPER.claims[f"huang.table5.{features}"]
        yield claim_result(claim, Estimate.shares(values), matches, full=enough)
    rows = [[f, show_shares(v), f"{paper[f]:.0%}"] for f, v in shares.items()]
    for feature in (*_FEATURES, ""):
        own = [values for features, values in shares.items() if feature in features]
        if own:
            theirs = [figure for features, figure in paper.items() if feature in features]
            name = f"mean of those with {feature}" if feature else "mean of all"
            means = np.mean(own, axis=0).tolist()
            rows.append([name, show_shares(means), f"{np.mean(theirs):.0%}"])
            if feature and set(shares) == set(SETS):
                mean = PAPER.claims[f"huang.means5.{feature}"]
                yield claim_result(mean, Estimate.shares(means), matches, full=enough)
    title = "Table 5: wins of binary players against their scalar twins"
    yield Table(title, ["player", "here", "paper"], rows, f"{_trainings(matches)}.", key="table-5")


# ----- GNU Go as the expert -----


def _gnugo_tables(matches: Evidence) -> Iterator[Part]:
    """Show Tables 1 and 2 with GNU Go as the expert; one training a player gives no interval."""
    shares, paper = wins_of(matches, "scalar"), PAPER.figures("huang.table1.scalar")
    complete = set(shares) == set(SETS)
    names = sorted(shares, key=lambda f: paper[f])
    rows = [[f, show_shares(shares[f]), f"{paper[f]:.0%}"] for f in names]
    note = f"{_trainings(matches)}, finished by {matches.run.settings['expert']}."
    if complete and (orders := orders_of(shares, paper)):
        note += f" Rank correlation with the paper's order: {np.mean(orders):+.2f}."
    title = "Table 1 with GNU Go: wins over all opponents, scalar"
    yield Table(title, ["player", "here", "paper"], rows, note, key="table-1-gnugo")
    if gains := gains_of(shares):
        found = _gains_table("scalar", gains, matches)
        yield replace(
            found, title="Table 2 with GNU Go: gain from adding a feature, scalar",
            key="table-2-gnugo",
        )  # fmt: skip


# ----- Shipped players -----


def _shipped(games: Evidence) -> Iterator[Part]:
    """Show the results of the shipped players; they are fixed, so games are independent."""
    rows = []
    played = zip(games["model"].tolist(), games["opponent"].tolist(), strict=True)
    for model, opponent in dict.fromkeys(played):
        rate = Rate.of(games.where(model=model, opponent=opponent)["score"])
        won = percent(rate.win_rate, rate.interval)
        rows.append([model, opponent, f"{rate.games:,}", won, f"{rate.mean_score:+.1f}"])
    title = f"Openings of shipped players, finished by {games.run.settings['expert']}"
    columns = ["player", "against", "games", "won", "mean score"]
    yield Table(title, columns, rows, "Intervals are over games.", key="shipped")


# ----- Open questions -----


def _matches_table(
    title: str, key: str, matches: Evidence, names: Mapping[str, str] | None = None
) -> Table:
    """Show pairs of players of the same seed."""
    known = names or {}
    rows = [
        [known.get(a, a), known.get(b, b), show_shares(values)]
        for (a, b), values in pairs_of(matches).items()
    ]
    note = f"{_trainings(matches)}, {matches.run.settings['pair_games']} games a pair."
    return Table(title, ["player", "against", "won"], rows, note, key=key)


def _gain(id: str, values: Sequence[Sequence[float]], evidence: Evidence) -> Answer:
    """Answer by the mean of several values of each training."""
    ours = Estimate.of(np.mean(values, axis=0).tolist())
    return gain_answer(PAPER, id, ours, evidence, unit="%")


def _over_half(values: Sequence[float]) -> list[float]:
    return [value - 0.5 for value in values]


def _mixed(matches: Evidence) -> Iterator[Part]:
    pairs = pairs_of(matches)
    yield _gain("huang.mixed", [_over_half(values) for values in pairs.values()], matches)
    title = "ABCDE with scalar B and E and binary C and D"
    yield _matches_table(title, "mixed", matches)


def _gain_of_curve(curve: Mapping[int, list[float]]) -> list[float]:
    """Return what each training gained from its first point to its last."""
    first, *_, last = curve.values()
    return [b - a for a, b in zip(first, last, strict=True)]


def _boards(points: Evidence) -> Iterator[Part]:
    curves = curves_of(points)
    for size in (13, 19):
        own = [_gain_of_curve(c) for name, c in curves.items() if name.startswith(f"{size}x")]
        if own:
            yield _gain(f"huang.board.{size}", [[value for each in own for value in each]], points)
    note = f"{_trainings(points)}; a quarter of the points of a board are played as its opening."
    title = "Larger boards: ABCDE against random openings"
    yield replace(_curve_table(title, curves), key="boards", note=note)
    lines = [_line(name.replace("-", ", "), curve) for name, curve in curves.items()]
    x = "openings of self-play"
    yield Plot(
        "Larger boards: against random while it learns", x, "wins", lines, bottom=0, top=1.03
    )


def _hidden(matches: Evidence) -> Iterator[Part]:
    pairs = pairs_of(matches)
    for (a, _), values in pairs.items():
        id = f"huang.hidden.{a.partition('-')[2]}"
        if id in PAPER.questions:
            yield _gain(id, [_over_half(values)], matches)
    names = {name: f"{name.partition('-')[2]} units" for pair in pairs for name in pair}
    yield _matches_table("Hidden layers of other sizes against 40 units", "hidden", matches, names)


_JOSEKI = {"corner": "learned in the corner", "whole": "learned whole openings"}


def _joseki(matches: Evidence | None, points: Evidence | None) -> Iterator[Part]:
    if matches is None or points is None:
        return
    curves = {name: curve for name, curve in curves_of(points).items() if name.startswith("corner")}
    learned = [gain for curve in curves.values() for gain in _gain_of_curve(curve)]
    yield _gain("huang.joseki.learned", [learned], points)
    pairs = pairs_of(matches)
    yield _gain("huang.joseki.whole", [_over_half(values) for values in pairs.values()], matches)
    settings = matches.run.settings
    corner = f"{settings['corner']} lines of {settings['rows']}x{settings['rows']}"
    note = f"{_trainings(points)}; {settings['plies']} plies within {corner}."
    title = "Joseki: against random moves in the corner"
    yield replace(_curve_table(title, curves), key="joseki-curve", note=note)
    title = "Joseki: players of a corner against players of whole openings, in the corner"
    names = {
        f"{learner}-{e}": f"{what}, {e}"
        for (learner, what), e in product(_JOSEKI.items(), settings["encodings"])
    }
    yield _matches_table(title, "joseki", matches, names)


_PRIOR = {
    "pruned": "learned, choosing among the static rules' best moves",
    "plain": "learned by self-play, choosing among all moves",
    "taught": "learned against static rules",
    "static": "static rules alone",
}


def _prior(matches: Evidence) -> Iterator[Part]:
    pairs = pairs_of(matches)
    for id, pair in {
        "huang.prior.learning": ("pruned", "plain"),
        "huang.prior.taught": ("taught", "plain"),
        "huang.prior.knowledge": ("pruned", "static"),
    }.items():
        if pair in pairs:
            yield _gain(id, [_over_half(pairs[pair])], matches)
    yield _matches_table("Learning with prior knowledge", "prior", matches, _PRIOR)


def _edges(matches: Evidence) -> Iterator[Part]:
    pairs = pairs_of(matches)
    direct = [values for (a, b), values in pairs.items() if a == f"{b}-stones"]
    if direct:
        yield _gain("huang.edges", [_over_half(values) for values in direct], matches)
    yield _matches_table("Feature B on stones only, as written, and left out", "edges", matches)
