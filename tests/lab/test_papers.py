"""The papers' figures stand in one place, and add up as the papers' own text says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tengen
from tengen.lab import papers


@pytest.mark.parametrize(
    "figure",
    ["58_583_120", "3_903_552", "0.2703", "0.2824", "0.3394", "14, 17, 32", "-7, 3, 12",
     '"ABCDE": 54'],
)  # fmt: skip
def test_a_figure_of_a_paper_stands_in_papers_and_nowhere_else(figure: str) -> None:
    source = Path(tengen.__file__).parent
    found = [p.name for p in source.rglob("*.py") if figure in p.read_text()]
    assert found == ["papers.py"]


def test_every_figure_is_set_beside_ours_somewhere() -> None:
    source = Path(tengen.__file__).parent
    texts = [p.read_text() for end in ("py", "json") for p in source.rglob(f"*.{end}")
             if p.name != "papers.py"]  # fmt: skip
    names = [name for name in vars(papers) if name.isupper()]
    assert [n for n in names if not any(re.search(rf"\b{n}\b", text) for text in texts)] == []


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
