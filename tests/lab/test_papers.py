"""The papers' figures stand in one place, and add up as the papers' own text says."""

from __future__ import annotations

import numpy as np

from tengen.lab import papers
from tengen.lab.opening_evolution import PAPER as EVOLUTION
from tengen.lab.opening_td_tables import PAPER_GAINS, PAPER_TWINS, PAPER_WINS
from tengen.learners.move_prediction import experiments


def test_the_experiments_use_the_same_figures() -> None:
    assert papers.TD_WINS == PAPER_WINS
    assert papers.TD_GAINS == PAPER_GAINS
    assert papers.TD_TWINS == PAPER_TWINS
    assert papers.MP_WIDTHS == experiments.TABLE_1
    assert papers.MP_RERANKED == experiments.TABLE_2
    assert papers.MP_SIZES == experiments.TABLE_3
    for name, points in papers.EVOLUTION_POINTS.items():
        assert EVOLUTION[name]["points"] == points
        assert EVOLUTION[name]["every"] == papers.EVOLUTION_EVERY[name]


def test_table_2_follows_from_table_1_as_a_mean_of_ratios() -> None:
    wins = papers.TD_WINS["scalar"]
    for feature, gain in papers.TD_GAINS["scalar"].items():
        ratios = [
            wins["".join(sorted(f + feature))] / wins[f] - 1 for f in wins if feature not in f
        ]
        assert abs(100 * np.mean(ratios) - gain) < 1


def test_round_robins_average_one_half_and_points_count_the_games() -> None:
    assert abs(np.mean(list(papers.TD_WINS["scalar"].values())) - 50) < 0.5
    assert abs(np.mean(list(papers.TD_WINS["binary"].values())) - 50) < 0.5
    # Every game gives one point, and a draw one more.
    assert 0 <= sum(papers.EVOLUTION_POINTS["dense"]) - 21 * 40 // 2 == 28
    assert sum(papers.EVOLUTION_POINTS["spatial"]) - 7 * 12 // 2 == 3


def test_re_ranking_never_changes_ranks_beyond_its_candidates() -> None:
    for n, shares in papers.MP_RERANKED.items():
        if n:
            for rank, share in zip(papers.MP_RANKS, shares, strict=True):
                if rank > n:
                    assert share == papers.MP_RERANKED[20][papers.MP_RANKS.index(rank)]
