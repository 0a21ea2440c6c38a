"""Figures and claims of the five papers, and nothing that was measured here.

Rates are fractions. Where a table's print is damaged, the comment says how a value was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper as the report presents it."""

    key: str
    title: str
    authors: str
    line: str  # what it claims, in one sentence
    cost: str  # what its own experiment cost, as it reports


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "opening-td",
            "Openings by temporal differences",
            "Huang, Connell, McQuade 2003",
            "A network that plays only openings learns by self-play, from nothing but how an "
            "expert's games from there end; the inputs it is given decide how well.",
            "several thousand games per player; no time given",
        ),
        Paper(
            "scoring",
            "Scoring finished games",
            "Burzillo; van der Werf, van den Herik, Uiterwijk 2004",
            "A network should learn from final scores alone which stones are dead. It failed: not "
            "one game was counted right.",
            "500 games: about 5 minutes at 1.6 GHz, under 800 kB",
        ),
        Paper(
            "symmetry-network",
            "Internal symmetry networks",
            "Blair 2008",
            "714 weights, tied by the symmetries of the square inside every cell, judge positions "
            "of any size; they learn by self-play.",
            "860,000 games, 0.5 s each: 5 days on a 2.66 GHz Mac Pro",
        ),
        Paper(
            "move-prediction",
            "Move prediction",
            "Araki, Yoshida, Tsuruoka, Tsujii 2007",
            "Patterns rank experts' moves; a maximum-entropy model re-ranks the best of them.",
            "20,000 games: 8.75 days and 16 GB on a 3.0 GHz Xeon",
        ),
        Paper(
            "opening-evolution",
            "Openings by evolution",
            "Kendall, Yaakob, Hingston 2004",
            "Networks are bred by the final scores of the games that their openings lead to.",
            "228 s per generation for two months (minimax), 117 s for three months (spatial)",
        ),
    )
}

# ----- Huang, Connell, McQuade 2003 -----

TD_FIGURE_4 = {0: 0.50, 3000: 0.75}
"""Figure 4: player ABCDE against random, 100 games per point; "just over 75 %" at the end."""
TD_CURVE_GAMES = 100
TD_PLAYER_GAMES = 1500
"""Games of a player behind a figure of Tables 1 and 3: 100 with each of fifteen others."""
TD_TWIN_GAMES = 100  # games behind a figure of Table 5
TD_TABLES = {"scalar": ("Table 1", "Table 2"), "binary": ("Table 3", "Table 4")}
"""The paper's tables of wins and of gains."""
TD_WINS: dict[str, dict[str, int]] = {
    # Table 1, 1,500 games per player. Its header is damaged; ABDE and ABCDE could be swapped.
    "scalar": {
        "A": 46, "AB": 48, "AC": 43, "AD": 52, "AE": 42, "ABC": 46, "ABD": 46, "ABE": 49,
        "ACD": 50, "ACE": 48, "ADE": 56, "ABCD": 54, "ABCE": 54, "ABDE": 54, "ACDE": 55,
        "ABCDE": 55,
    },
    # Table 3. One column is lost in print; AC, AE, ACE, AD, ABDE and ABCDE follow from the rest of
    # it and Table 4.
    "binary": {
        "A": 21, "AB": 22, "AC": 52, "AD": 57, "AE": 55, "ABC": 28, "ABD": 47, "ABE": 54,
        "ACD": 52, "ACE": 54, "ADE": 65, "ABCD": 48, "ABCE": 57, "ABDE": 58, "ACDE": 64,
        "ABCDE": 65,
    },
}  # fmt: skip
TD_GAINS: dict[str, dict[str, int]] = {
    "scalar": {"B": 4, "C": 3, "D": 13, "E": 8},  # Table 2: a mean of ratios
    "binary": {"B": -5, "C": 5, "D": 14, "E": 18},  # Table 4: a mean of differences
}
TD_TWINS: dict[str, int] = {
    # Table 5, 100 games each: binary against its scalar twin.
    "A": 50, "AB": 29, "AC": 63, "ABC": 48, "AD": 70, "ABD": 63, "ACD": 69, "ABCD": 66,
    "AE": 35, "ABE": 26, "ACE": 33, "ABCE": 52, "ADE": 49, "ABDE": 43, "ACDE": 49, "ABCDE": 54,
}  # fmt: skip

# ----- Burzillo -----

SCORING_EXACT = 0.0  # of the training games, at all three sizes: 500, 5,000 and 15,000 games
SCORING_PREDICTIONS = (-58_583_120.0, 3_903_552.7)  # two of its predictions, in points
SCORING_LARGEST = 58_583_120.0  # the size of the larger one
WERF_EXACT = 0.989
"""Van der Werf et al. 2004: 9x9 positions scored fully right, from labelled blocks."""

# ----- Blair 2008 -----

ISN_WEIGHTS = 714
ISN_CONNECTIONS = 2310  # connections of a cell as the paper counts them
ISN_GAMES = 860_000
ISN_RATE = 5e-6
ISN_BEST = 580_000
"""Figure 1: games behind the best of 44 snapshots; 430 games per point, noisy and rising."""
ISN_CGOS = {9: 500, 19: 1000}  # ratings on CGOS after two days, no look-ahead, the same weights

# ----- Araki, Yoshida, Tsuruoka, Tsujii 2007 -----

MP_WIDTHS = {
    # Table I: width factor W -> first choice right, 2,000 games, 20 candidates.
    0.0: 0.2703, 0.1: 0.2746, 0.2: 0.2767, 0.3: 0.2795, 0.4: 0.2802, 0.5: 0.2815, 0.6: 0.2821,
    0.7: 0.2819, 0.8: 0.2820, 0.9: 0.2824, 1.0: 0.2820,
}  # fmt: skip
MP_RANKS = (1, 5, 10, 20, 40, 60, 80)
MP_RERANKED: dict[int, tuple[float, ...]] = {
    # Table II: candidates re-ranked (0: none) -> cumulative shares at MP_RANKS, 2,000 games.
    0: (0.2105, 0.4619, 0.5925, 0.7243, 0.8375, 0.8862, 0.9132),
    20: (0.2824, 0.5270, 0.6168, 0.6911, 0.7985, 0.8463, 0.8753),
    40: (0.2755, 0.5291, 0.6305, 0.7258, 0.7985, 0.8463, 0.8753),
    60: (0.2693, 0.5254, 0.6252, 0.7237, 0.8138, 0.8463, 0.8753),
    80: (0.2692, 0.5285, 0.6245, 0.7191, 0.8138, 0.8585, 0.8753),
}
MP_SIZES: dict[int, tuple[float, ...]] = {
    # Tables II (2,000), III and IV: training games -> shares at ranks 1, 5, 10 (and 20).
    2000: (0.2824, 0.5270, 0.6168, 0.6911),
    5000: (0.3104, 0.5654, 0.6556),
    10000: (0.3272, 0.5861, 0.6785),
    15000: (0.3373, 0.5981, 0.6894),
    20000: (0.3394, 0.6047, 0.6950, 0.7716),
}
MP_MATCH = 0.0  # Section IV-D: its one game against GNU Go 3.6 was lost
MP_POSITIONS = 100_000  # about how many positions stand behind a figure of Tables I to IV

# ----- Kendall, Yaakob, Hingston 2004 -----

EVOLUTION_POINTS: dict[str, list[int]] = {
    # Table I: best of every 1,000th generation, 40 games each; win +2, draw +1, loss -1.
    "dense": [14, 17, 32, -1, 15, 26, 26, 14, 5, 35, 8, 44, 44, 23, 8, 26, 14, 29, 23, 20, 26],
    # Table II: best of every 10,000th generation, 12 games each.
    "spatial": [-7, 3, 12, 15, 1, 10, 11],
}
EVOLUTION_TABLES = {"dense": "Table I", "spatial": "Table II"}
EVOLUTION_EVERY = {"dense": 1000, "spatial": 10_000}
EVOLUTION_WEIGHTS = {"dense": 9350, "spatial": 36_063}
"""Weights of the two networks, biases left out; counted from the paper's description."""

# ----- Claims -----


@dataclass(frozen=True)
class Claim:
    """A figure or a statement of a paper that the report compares with ours."""

    id: str
    where: str  # the table, figure or section of the paper
    what: str
    figure: float | None = None  # rates are fractions
    games: int | None = None  # games behind the figure, which give it an interval
    text: str = ""  # what the report shows of the paper where the figure alone does not say it
    unit: str = ""
    aim: int = 1
    """+1 where more is better, -1 where less is, 0 where a different figure refutes the paper's."""


def _huang() -> Iterator[Claim]:
    start, end = TD_FIGURE_4[0], TD_FIGURE_4[3000]
    where, games = "Figure 4", TD_CURVE_GAMES
    yield Claim(
        "huang.figure4.untrained", where, "untrained, against random", start, games, "", "%", 0
    )
    for encoding, (wins, gains) in TD_TABLES.items():
        what = f"ABCDE {encoding} after 3,000 openings"
        yield Claim(f"huang.figure4.{encoding}", where, what, end, games, "", "%")
        table = wins.lower().replace(" ", "")
        for features, rate in TD_WINS[encoding].items():
            yield Claim(
                f"huang.{table}.{encoding}.{features}", wins,
                f"{features}, {encoding}, over all opponents", rate / 100, TD_PLAYER_GAMES,
                unit="%", aim=0,
            )  # fmt: skip
        what = f"the order of the sixteen {encoding} players"
        yield Claim(f"huang.{table}.{encoding}.order", wins, what, text="one order")
        table = gains.lower().replace(" ", "")
        for feature, gain in TD_GAINS[encoding].items():
            name, what = f"huang.{table}.{encoding}.{feature}", f"gain of {feature}, {encoding}"
            yield Claim(name, gains, what, gain / 100, unit="%", aim=0)
    for features, rate in TD_TWINS.items():
        yield Claim(
            f"huang.table5.{features}", "Table 5", f"{features}: binary over scalar", rate / 100,
            TD_TWIN_GAMES, unit="%", aim=0,
        )  # fmt: skip


def _burzillo() -> Iterator[Claim]:
    where, exact = "Section 5", SCORING_EXACT
    what = "training games scored right, gradient as printed"
    yield Claim("burzillo.exact", where, what, exact, unit="%", aim=0)
    what = "largest prediction, gradient as printed"
    yield Claim("burzillo.largest", where, what, SCORING_LARGEST, unit="points")
    what = "its reasons: the absolute value loses the direction; concave energy"
    yield Claim("burzillo.reasons", where, what, text="both")
    what = "training games scored right, energy repaired"
    yield Claim("burzillo.repaired", where, what, exact, unit="%")
    yield Claim("burzillo.unseen", where, "unseen games scored right", exact, unit="%")
    what = "9x9 positions scored right"
    yield Claim("werf.exact", "van der Werf 2004", what, WERF_EXACT, unit="%")


def _blair() -> Iterator[Claim]:
    where = "Section III"
    yield Claim("blair.weights", where, "free weights", ISN_WEIGHTS, aim=0)
    yield Claim("blair.connections", where, "connections of a cell", ISN_CONNECTIONS, aim=0)
    yield Claim("blair.symmetry", where, "turning the board turns the answer", text="exactly")
    where = "Figure 1"
    yield Claim("blair.figure1.trend", where, "strength rises with training", text="noisy, rising")
    yield Claim("blair.figure1.best", where, "best snapshot", text=f"{ISN_BEST:,} games")
    for size, rating in ISN_CGOS.items():
        what = f"the 9x9 weights play {size}x{size} without look-ahead"
        yield Claim(f"blair.cgos.{size}", "Section V", what, text=f"CGOS about {rating:,}")


def _araki() -> Iterator[Claim]:
    positions = MP_POSITIONS
    text = "0.9 (0.5 to 1.0 tied)"
    yield Claim("araki.table1.best", "Table I", "best width factor", text=text)
    for width, rate in MP_WIDTHS.items():
        name, what = f"araki.table1.{width:g}", f"W = {width:g}, first choice"
        yield Claim(name, "Table I", what, rate, positions, unit="%")
    what, text = "re-ranking 20 candidates helps the first choice", "21.05 to 28.24 %"
    yield Claim("araki.table2.helps", "Table II", what, text=text)
    what = "re-ranking n moves changes nothing from rank n on"
    yield Claim("araki.table2.rule", "Table II", what, text="equal entries")
    for n, rates in MP_RERANKED.items():
        for rank, rate in zip(MP_RANKS, rates, strict=True):
            name, what = f"araki.table2.{n}.{rank}", f"{n} candidates re-ranked, rank {rank}"
            yield Claim(name, "Table II", what, rate, positions, unit="%")
    what, text = "more games, better predictions", "31.04 to 33.94 % (5,000 to 20,000)"
    yield Claim("araki.table3.more", "Table III", what, text=text)
    for games, rates in MP_SIZES.items():
        where = {2000: "Table II", 20000: "Table IV"}.get(games, "Table III")
        for rank, rate in zip(MP_RANKS, rates, strict=False):
            name, what = f"araki.games.{games}.{rank}", f"{games:,} games, rank {rank}"
            yield Claim(name, where, what, rate, positions, unit="%")
    what = "one game against GNU Go 3.6"
    yield Claim("araki.match", "Section IV-D", what, MP_MATCH, 1, "lost", "%", 0)


def _kendall() -> Iterator[Claim]:
    for network, where in EVOLUTION_TABLES.items():
        what = f"the paper's points show learning ({network} network)"
        yield Claim(f"kendall.line.{network}", where, what, text="rising line")
        what = f"points rise with generations, repeated ({network} network)"
        yield Claim(f"kendall.points.{network}", where, what, text="rising line")
        text = f"{EVOLUTION_WEIGHTS[network]:,} (counted)"
        what = f"weights of the {network} network"
        yield Claim(f"kendall.weights.{network}", "Networks", what, text=text)
    where, text = "Conclusion", "they learn"
    yield Claim("kendall.learning", where, "the paper's method improves the opening", text=text)
    what = "breeding improves the opening, by another method"
    yield Claim("kendall.learning.other", where, what, text=text)


CLAIMS: dict[str, Claim] = {
    claim.id: claim
    for claims in (_huang(), _burzillo(), _blair(), _araki(), _kendall())
    for claim in claims
}
"""All claims by id. Experiments and recorded runs name them by it."""
