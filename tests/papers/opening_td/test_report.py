"""The report follows from the rows: what is known of made-up rows is what it says."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.lab.decisions import AGREES, REFUTED, UNDECIDED
from tengen.lab.evidence import record_of, write_evidence
from tengen.lab.report import PaperReport
from tengen.papers.opening_td import report as module
from tengen.papers.opening_td.settings import SETS

PAPER = module.PAPER
SEEDS = range(5)
NOISE = (-0.02, 0.01, 0.0, -0.01, 0.02)  # of five trainings, without a sum


def write(data: Path, name: str, rows: list[dict[str, Any]], **settings: Any) -> None:
    seeds = sorted({int(row["seed"]) for row in rows if "seed" in row}) or [0]
    values = {"games": 3000, "pair_games": 100, "expert": "builtin", **settings}
    write_evidence(data / name, rows, record_of("made up", seeds, values, seconds=0, cpu_seconds=0))


def match(seed: int, a: str, b: str, share: float) -> dict[str, Any]:
    return {
        "seed": seed, "a": a, "b": b, "games": 100, "wins": 100.0 * share, "mean_score": 0.0,
        "repeats": 0,
    }  # fmt: skip


def point(seed: int, player: str, openings: int, share: float) -> dict[str, Any]:
    return {
        "seed": seed, "player": player, "openings": openings, "games": 100,
        "wins": 100.0 * share, "mean_score": 0.0,
    }  # fmt: skip


def round_robins(noise: Any) -> list[dict[str, Any]]:
    """Return matches of players that have the paper's shares of wins; noise by seed and player."""
    rows = []
    for seed in SEEDS:
        for encoding, table in (("scalar", "table1"), ("binary", "table3")):
            paper = PAPER.figures(f"huang.{table}.{encoding}")
            own = {f: paper[f] + noise(seed, f) for f in SETS}
            # A player's mean over fifteen opponents differs from half by 16/15 of this.
            for a, b in combinations(SETS, 2):
                share = 0.5 + (own[a] - own[b]) * 15 / 16
                rows.append(match(seed, f"{a}-{encoding}", f"{b}-{encoding}", share))
        for features, figure in PAPER.figures("huang.table5").items():
            share = figure + noise(seed, features)
            rows.append(match(seed, f"{features}-binary", f"{features}-scalar", share))
    return rows


def verdicts(found: PaperReport) -> dict[str, str]:
    return {each.claim.id: each.verdict for each in found.claims}


def test_an_empty_folder_gives_an_empty_report(tmp_path: Path) -> None:
    found = module.report(tmp_path)
    assert not (found.claims or found.tables or found.figures or found.questions)


def test_the_papers_own_shares_give_its_own_tables(tmp_path: Path) -> None:
    write(tmp_path, "opening-td-inputs", round_robins(lambda seed, f: NOISE[seed] / 40))
    found = module.report(tmp_path)
    ours = {each.claim.id: each for each in found.claims}
    for id, each in ours.items():
        if not id.startswith("huang.order"):
            # Gains are printed in whole percents, and Table 3's lost column is a fit.
            assert each.ours.mean == pytest.approx(each.claim.figure, abs=0.0085), id
        assert each.full and each.ours.units == 5
    assert ours["huang.order.scalar"].ours.mean == pytest.approx(1, abs=0.02)
    keys = [table.key for table in found.tables]
    assert keys == ["table-1", "table-2", "table-3", "table-4", "table-5"]
    table = found.table("table-3")
    assert table is not None and "(54%)" in str({r[0]: r[2] for r in table.rows}["AC"])


def test_noise_between_trainings_is_undecided(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    noise = {(s, f): float(rng.normal(0, 0.12)) for s in SEEDS for f in SETS}
    paper = {**PAPER.figures("huang.table1.scalar")}
    rows = []
    for seed in SEEDS:
        for a, b in combinations(SETS, 2):
            share = min(max(0.5 + noise[seed, a] - noise[seed, b], 0.0), 1.0)
            rows.append(match(seed, f"{a}-scalar", f"{b}-scalar", share))
    write(tmp_path, "opening-td-inputs", rows)
    found = verdicts(module.report(tmp_path))
    assert {found[f"huang.table1.scalar.{f}"] for f in paper if f != "ACD"} == {UNDECIDED}
    assert all(found[f"huang.table2.scalar.{f}"] == UNDECIDED for f in "BCDE")


def test_an_effect_that_is_not_there_is_refuted_only_at_the_papers_scale(tmp_path: Path) -> None:
    # Every pair ends even: with so little noise the paper's gains of D and E would be seen.
    rows = [
        match(seed, f"{a}-binary", f"{b}-binary", 0.5 + NOISE[seed] / 10 * (len(a) - len(b)))
        for seed in SEEDS for a, b in combinations(SETS, 2)
    ]  # fmt: skip
    for games, word in ((3000, REFUTED), (500, UNDECIDED)):
        write(tmp_path / str(games), "opening-td-inputs", rows, games=games)
        found = verdicts(module.report(tmp_path / str(games)))
        assert found["huang.table4.binary.D"] == found["huang.table4.binary.E"] == word


def test_a_few_players_have_gains_but_no_shares_to_compare(tmp_path: Path) -> None:
    few = ("A", "ABCD", "ABCDE")
    rows = [
        match(s, f"{a}-scalar", f"{b}-scalar", 0.4) for s in (0, 1) for a, b in combinations(few, 2)
    ]
    write(tmp_path, "opening-td-inputs", rows, games=250)
    found = module.report(tmp_path)
    assert [each.claim.id for each in found.claims] == ["huang.table2.scalar.E"]
    assert not found.claims[0].full
    table = found.table("table-1")
    assert table is not None and list(table.columns) == ["player", "here"]


def test_figure_4_counts_trainings(tmp_path: Path) -> None:
    rows = [
        point(seed, f"ABCDE-{e}", openings, share + NOISE[seed] * scale)
        for seed in SEEDS
        for e, scale in (("scalar", 1), ("binary", 14))
        for openings, share in ((0, 0.5), (1500, 0.7), (3000, 0.75))
    ]  # fmt: skip
    write(tmp_path, "opening-td", rows)
    found = module.report(tmp_path)
    ours = {each.claim.id: each for each in found.claims}
    assert ours["huang.figure4.scalar"].verdict == AGREES
    assert ours["huang.figure4.scalar"].ours.units == 5
    # The same mean, but trainings that differ too much.
    assert ours["huang.figure4.binary"].verdict == UNDECIDED
    assert ours["huang.figure4.untrained"].ours.units == 10
    table = found.table("figure-4")
    assert table is not None and [row[0] for row in table.rows] == ["0", "1,500", "3,000"]
    # Another row, another figure.
    rows[2]["wins"] = 0.0
    write(tmp_path, "opening-td", rows)
    other = module.report(tmp_path).claims[0]
    assert other.ours.mean < ours["huang.figure4.scalar"].ours.mean


def test_questions_are_answered_with_intervals(tmp_path: Path) -> None:
    pairs = {
        "opening-td-mixed": {("mixed", "scalar"): 0.7, ("mixed", "binary"): 0.6},
        "opening-td-hidden": {("hidden-10", "hidden-40"): 0.3, ("hidden-80", "hidden-40"): 0.5},
        "opening-td-prior": {("pruned", "plain"): 0.6, ("pruned", "static"): 0.5},
        "opening-td-edges": {
            ("AB-scalar-stones", "AB-scalar"): 0.6, ("AB-scalar-stones", "A-scalar"): 0.9,
        },
    }  # fmt: skip
    for name, shares in pairs.items():
        rows = [match(s, *pair, x + NOISE[s]) for s in SEEDS for pair, x in shares.items()]
        write(tmp_path, name, rows)
    found = {each.id: each for each in module.report(tmp_path).questions}
    assert found["huang.mixed"].text.startswith("yes: +15.0 %")
    assert found["huang.hidden.10"].text.startswith("no, the opposite: -20.0 %")
    assert found["huang.hidden.80"].text.startswith("undecided")
    assert found["huang.prior.learning"].text.startswith("yes")
    assert found["huang.prior.knowledge"].text.startswith("undecided")
    assert found["huang.edges"].text.startswith("yes: +10.0 %")  # the direct pairs alone
    assert "huang.board.13" not in found and "huang.prior.taught" not in found
    assert all(each.ours is not None and each.ours.units == 5 for each in found.values())


def test_one_training_is_shown_without_a_verdict(tmp_path: Path) -> None:
    players = ("A", "AB", "ABCDE")
    rows = [match(0, f"{a}-scalar", f"{b}-scalar", 0.4) for a, b in combinations(players, 2)]
    write(tmp_path, "opening-td-gnugo", rows)
    curve = [point(0, "ABCDE-scalar", 0, 0.5), point(0, "ABCDE-scalar", 3000, 0.9)]
    write(tmp_path, "opening-td-gnugo-curve", curve)
    found = module.report(tmp_path)
    assert verdicts(found) == {"huang.gnugo.figure4": UNDECIDED}
    table = found.table("table-1-gnugo")
    assert table is not None and not any("[" in row[1] for row in table.rows)


def test_differences_of_players_are_tested_against_those_of_trainings() -> None:
    clear = {"A": [0.30, 0.31, 0.29], "AB": [0.50, 0.49, 0.51], "AC": [0.70, 0.70, 0.70]}
    found = module.spread_of(clear)
    assert found is not None and found.different == found.pairs == 3
    noise = {"A": [0.30, 0.70, 0.50], "AB": [0.60, 0.41, 0.51], "AC": [0.60, 0.30, 0.65]}
    found = module.spread_of(noise)
    assert found is not None and found.different == 0
    assert found.run_sd == pytest.approx(
        np.sqrt(np.mean([np.var(v, ddof=1) for v in noise.values()]))
    )
    assert module.spread_of({"A": [0.5]}) is None


@pytest.mark.parametrize("other", [False, True])
def test_gains_follow_the_papers_own_tables(other: bool) -> None:
    """Table 2 is a mean of ratios and Table 4 a mean of differences: the paper's numbers say so.

    Both readings of Table 3's damaged header fit Table 4.
    """
    for encoding, (wins, gains) in module.TABLES.items():
        figures = PAPER.figures(f"huang.{wins}.{encoding}")
        if encoding == "binary" and other:
            figures |= PAPER.more["table3"]["other"]
        paper = PAPER.figures(f"huang.{gains}.{encoding}")
        for feature, gain in module.gains_of({f: [w] for f, w in figures.items()}).items():
            [ours] = gain.ratio if encoding == "scalar" else gain.points
            assert ours == pytest.approx(paper[feature], abs=0.0075), feature


def test_a_player_that_won_nothing_has_no_ratio() -> None:
    gains = module.gains_of({"A": [0.0], "AB": [0.5], "AC": [0.5], "ABC": [0.75]})
    assert gains["B"].ratio == [0.5]  # by AC and ABC alone
    assert gains["B"].points == [(0.5 + 0.25) / 2]
    gains = module.gains_of({"A": [0.0], "AB": [0.5]})
    assert gains["B"].ratio == [] and gains["B"].points == [0.5]
