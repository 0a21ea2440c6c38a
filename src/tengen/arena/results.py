"""Tables made from the rows of a database, and their output as text, CSV, JSON, SGF and HTML.

A game that repeats another one, move by move between the same players with the same colours,
counts once, and the tables say how many were left out.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from tengen.arena.database import Database, GameRow
from tengen.arena.ratings import (
    PairScore,
    Rating,
    Sprt,
    SprtVerdict,
    likelihood_of_superiority,
    rate,
    win_rate,
)
from tengen.arena.tournament import Tournament
from tengen.errors import SpecError, TengenError
from tengen.sanitize import csv_text, html_table, printable
from tengen.statistics import wilson
from tengen.tables import parquet


@dataclass
class Standing:
    """One player's results in a tournament, without duplicates."""

    name: str
    wins: int = 0
    losses: int = 0
    draws: int = 0
    wins_black: int = 0
    games_black: int = 0
    wins_white: int = 0
    games_white: int = 0
    seconds: float = 0.0
    plies: int = 0  # that it played itself
    faults: int = 0  # games lost by a fault
    voids: int = 0  # games void by its fault
    rating: Rating | None = None

    @property
    def games(self) -> int:
        """Games that count."""
        return self.wins + self.losses + self.draws

    @property
    def rate(self) -> float:
        """Share of points won; nan without games."""
        return win_rate(self.wins, self.losses, self.draws)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the rate."""
        return wilson(self.wins + self.draws / 2, self.games)

    @property
    def seconds_per_move(self) -> float:
        """Mean seconds per move."""
        return self.seconds / self.plies if self.plies else 0.0


@dataclass
class Results:
    """All tables of a tournament."""

    tournament: Tournament
    rows: list[GameRow]  # all finished games
    unique: list[GameRow]  # finished games without repetitions
    voids: list[GameRow]
    standings: list[Standing]  # best first
    cross: dict[tuple[str, str], PairScore]  # of the first against the second, both ways round

    @property
    def duplicates(self) -> int:
        """Games that repeat another and do not count."""
        return len(self.rows) - len(self.unique)

    @property
    def faults(self) -> int:
        """Games lost by a fault or void through one."""
        return sum(row.fault is not None for row in self.rows) + len(self.voids)


def unique_games(rows: Sequence[GameRow]) -> list[GameRow]:
    """Leave out games that repeat an earlier one of the list: same players, colours and moves."""
    found: dict[tuple[str, str, str], GameRow] = {}
    for row in rows:
        found.setdefault((row.black, row.white, row.moves), row)
    return list(found.values())


def pair_scores(rows: Sequence[GameRow]) -> list[PairScore]:
    """Count wins, losses and draws of every pairing."""
    counts: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        count = counts.setdefault((row.a, row.b), [0, 0, 0])
        count[0 if row.winner == row.a else 1 if row.winner == row.b else 2] += 1
    return [PairScore(a, b, *count) for (a, b), count in counts.items()]


def results_of(database: Database, *, resamples: int | None = None, seed: int = 0) -> Results:
    """Make all tables of a database; `resamples=0` skips the intervals of ratings."""
    tournament, rows, voids = database.tournament, database.games(), database.voids()
    unique = unique_games(rows)
    standings = {entrant.name: Standing(entrant.name) for entrant in tournament.entrants}
    counts: dict[tuple[str, str], list[int]] = {}
    if strangers := {name for row in rows + voids for name in row.key[:2]} - {*standings}:
        raise TengenError(f"{database.path}: damaged: {min(strangers)!r} is none of its players")
    for row in unique:
        _count_game(standings, row)
        for own, other in ((row.a, row.b), (row.b, row.a)):
            outcome = 2 if row.winner is None else int(row.winner != own)
            counts.setdefault((own, other), [0, 0, 0])[outcome] += 1
    for name, standing in standings.items():
        standing.faults = sum(row.fault == name for row in rows)
        standing.voids = sum(row.fault == name for row in voids)
    options: dict[str, Any] = {} if resamples is None else {"resamples": resamples}
    for rating in rate(pair_scores(unique), anchors=tournament.anchors, seed=seed, **options):
        standings[rating.name].rating = rating
    order = sorted(
        standings.values(), key=lambda s: (-s.rating.elo if s.rating else math.inf, s.name)
    )
    cross = {pair: PairScore(*pair, *count) for pair, count in counts.items()}
    return Results(tournament, rows, unique, voids, order, cross)


def _count_game(standings: Mapping[str, Standing], row: GameRow) -> None:
    """Add one game to the standings of its two players."""
    black, white = standings[row.black], standings[row.white]
    for standing in (black, white):
        standing.wins += row.winner == standing.name
        standing.draws += row.winner is None
        standing.losses += row.winner not in (standing.name, None)
    black.games_black += 1
    white.games_white += 1
    black.wins_black += row.winner == row.black
    white.wins_white += row.winner == row.white
    own = row.plies - row.opening
    black_first = row.opening % 2 == 0
    black.plies += (own + black_first) // 2
    white.plies += (own + (not black_first)) // 2
    black.seconds += row.seconds_black
    white.seconds += row.seconds_white


# ----- A match of two -----


@dataclass(frozen=True)
class MatchResult:
    """How a match between two players ended; `games` are those that count."""

    a: str
    b: str
    games: int
    wins_a: int
    wins_b: int
    draws: int
    duplicates: int
    faults: int
    left: int  # games not played yet
    a_black: tuple[int, int]  # wins and games of the first with Black
    a_white: tuple[int, int]
    sprt: SprtVerdict | None = None

    @property
    def win_rate_a(self) -> float | None:
        """Share of points of the first; None without games."""
        return win_rate(self.wins_a, self.wins_b, self.draws) if self.games else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the rate."""
        return wilson(self.wins_a + self.draws / 2, self.games)

    @property
    def superiority(self) -> float:
        """Probability that the first is the stronger."""
        return likelihood_of_superiority(self.wins_a, self.wins_b)

    def __str__(self) -> str:
        low, high = self.interval
        lines = [
            f"{printable(self.a)} - {printable(self.b)}: {self.wins_a} - {self.wins_b}, "
            f"{self.draws} drawn"
        ]
        if self.win_rate_a is not None:
            lines += [
                f"win rate {self.win_rate_a:.1%}, 95 %: {low:.1%} to {high:.1%}",
                f"as Black {self.a_black[0]}/{self.a_black[1]}, "
                f"as White {self.a_white[0]}/{self.a_white[1]}; "
                f"stronger with probability {self.superiority:.3f}",
            ]
        lines.append(f"games that repeat another and do not count: {self.duplicates}")
        lines.append(f"faults: {self.faults}")
        if self.sprt is not None:
            lines.append(
                f"sequential test after {self.sprt.games} games: {self.sprt.answer} "
                f"(log likelihood ratio {self.sprt.llr:.2f})"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rate = "" if self.win_rate_a is None else f"{self.win_rate_a:.1%}"
        low, high = self.interval
        row = [self.a, self.b, self.games, self.wins_a, self.wins_b, self.draws, rate]
        columns = ["a", "b", "games", "wins a", "wins b", "draws", "win rate a", "95 %"]
        return html_table(columns, [[*row, f"{low:.1%} to {high:.1%}"]])

    def value(self) -> dict[str, Any]:
        """Return what `arena match --json` prints."""
        names = "a b games wins_a wins_b draws win_rate_a interval duplicates faults left"
        names += " a_black a_white superiority"
        value: dict[str, Any] = {name: getattr(self, name) for name in names.split()}
        value["interval"] = list(self.interval)
        for name in ("a_black", "a_white"):
            value[name] = dict(zip(("wins", "games"), value[name], strict=True))
        return value if self.sprt is None else value | {"sprt": asdict(self.sprt)}


def match_result(
    a: str,
    b: str,
    rows: Sequence[GameRow],
    voids: Sequence[GameRow],
    *,
    left: int = 0,
    sprt: Sprt | None = None,
) -> MatchResult:
    """Count the games between two players."""
    rows, voids = ([row for row in games if {row.a, row.b} == {a, b}] for games in (rows, voids))
    unique = unique_games(rows)
    standings = {a: Standing(a), b: Standing(b)}
    for row in unique:
        _count_game(standings, row)
    first, second = standings.values()
    return MatchResult(
        a=a,
        b=b,
        games=len(unique),
        wins_a=first.wins,
        wins_b=second.wins,
        draws=first.draws,
        duplicates=len(rows) - len(unique),
        faults=sum(row.fault is not None for row in rows) + len(voids),
        left=left,
        a_black=(first.wins_black, first.games_black),
        a_white=(first.wins_white, first.games_white),
        sprt=None if sprt is None else sprt.verdict(points_in_order(a, rows)),
    )


def points_in_order(name: str, rows: Sequence[GameRow]) -> list[float]:
    """Return a player's points in schedule order, up to the first incomplete pair of games."""
    numbers = {row.number for row in rows}
    complete = 0
    while {complete, complete + 1} <= numbers:
        complete += 2
    found = sorted(unique_games(rows), key=lambda row: row.number)
    return [
        0.5 if row.winner is None else float(row.winner == name)
        for row in found
        if row.number < complete
    ]


# ----- Output -----

_Sheet = tuple[list[str], list[list[str]]]  # column heads and rows of a table, as text
_KINDS = ("csv", "parquet", "json", "html", "sgf")


def export_results(database: Database, kind: str) -> str | bytes:
    """Return everything in a database as the content of a file of one of the `_KINDS`."""
    if kind in ("csv", "parquet"):
        names = [f.name for f in fields(GameRow) if f.name != "sgf"]
        rows = database.games() + database.voids()  # which have the result `Void`
        if kind == "parquet":
            return parquet(names, map(asdict, rows))
        return csv_text(names, ([getattr(row, name) for name in names] for row in rows))
    if kind == "sgf":
        return "".join(row.sgf.strip() + "\n" for row in database.games())
    if kind == "json":
        results = results_of(database)
        value = results_value(results)
        for name, rows in (("games", results.rows), ("void_games", results.voids)):
            value[name] = [{**asdict(row), "versions": json.loads(row.versions)} for row in rows]
        return json.dumps(value, indent=1, allow_nan=False) + "\n"
    if kind == "html":
        return _html_page(results_of(database))
    raise SpecError(f"no way to export {kind!r}; there are {', '.join(_KINDS)}, sqlite")


def results_value(results: Results) -> dict[str, Any]:
    """Return the tables of a tournament for JSON."""
    return {
        "tournament": results.tournament.model_dump(),
        "games": len(results.unique),
        "duplicates": results.duplicates,
        "faults": results.faults,
        "standings": [_standing_value(standing) for standing in results.standings],
        "pairings": [
            {"a": a, "b": b, "games": score.games, "wins_a": score.wins, "wins_b": score.losses,
             "draws": score.draws}
            for (a, b), score in results.cross.items()
            if a < b
        ],
    }  # fmt: skip


def _standing_value(standing: Standing) -> dict[str, Any]:
    rating = standing.rating
    return {
        "player": standing.name,
        "elo": rating.elo if rating else None,
        "elo_interval": [rating.low, rating.high] if rating else None,
        "anchored": bool(rating and rating.anchored),
        **{name: getattr(standing, name) for name in ("games", "wins", "losses", "draws")},
        "win_rate": None if math.isnan(standing.rate) else standing.rate,
        "interval": list(standing.interval),
        "black": {"wins": standing.wins_black, "games": standing.games_black},
        "white": {"wins": standing.wins_white, "games": standing.games_white},
        **{name: getattr(standing, name) for name in ("seconds_per_move", "faults", "voids")},
    }


def standings_table(results: Results) -> _Sheet:
    """Return the standings, best first; `*` marks an anchor."""
    head = ["player", "Elo (95 %)", "+ - =", "rate (95 %)", "Black", "White", "s/move"]
    faulty = any(standing.faults or standing.voids for standing in results.standings)
    rows = [_standing_row(standing) for standing in results.standings]
    if not faulty:
        return head, [row[:-1] for row in rows]
    return [*head, "lost by fault, void"], rows


def _standing_row(standing: Standing) -> list[str]:
    rating = standing.rating
    elo = rate = "-"
    if rating is not None:
        mark = "*" if rating.anchored else ""
        elo = f"{rating.elo:.0f}{mark} ({rating.low:.0f}..{rating.high:.0f})"
    if standing.games:
        low, high = standing.interval
        rate = f"{standing.rate:.1%} ({100 * low:.0f}..{100 * high:.0f})"
    sides = [
        f"{standing.wins_black}/{standing.games_black}",
        f"{standing.wins_white}/{standing.games_white}",
    ]
    score = f"{standing.wins}-{standing.losses}-{standing.draws}"
    faults = f"{standing.faults}, {standing.voids}"
    return [standing.name, elo, score, rate, *sides, f"{standing.seconds_per_move:.3f}", faults]


def cross_table(results: Results) -> _Sheet:
    """Return the points of each row's player against each column's, out of their games."""
    names = [standing.name for standing in results.standings]

    def cell(row: str, column: str) -> str:
        score = results.cross.get((row, column))
        return f"{score.wins + score.draws / 2:g}/{score.games}" if score else ""

    return ["", *names], [[row, *(cell(row, column) for column in names)] for row in names]


def _html_page(results: Results) -> str:
    """Return the tables as one self-contained HTML page."""
    tournament, conditions = results.tournament, results.tournament.conditions
    openings = tournament.openings
    source = f"from {openings.file}" if openings.file else f"of {openings.plies} random plies"
    faulty = [row for row in results.rows if row.fault] + results.voids
    faults = [
        f"{row.a} - {row.b}, game {row.number + 1}, {row.result}, blamed on {row.fault}: "
        f"{row.detail}"
        for row in faulty
    ]
    terms = (
        f"Komi {conditions.komi}, {conditions.rules} rules, counted by {conditions.counter}, "
        f"openings {source}, seed {tournament.seed}. {len(results.unique)} games count; "
        f"{results.duplicates} repeat another one and do not; {results.faults} were lost or void "
        "through a fault."
    )
    players = (
        f"<li>{html.escape(entrant.name)}: <code>{html.escape(entrant.spec)}</code></li>"
        for entrant in tournament.entrants
    )
    kind = html.escape(tournament.kind)
    parts = [
        _HEAD.format(kind=kind),
        f"<h1>{kind.capitalize()} on {conditions.rows}x{conditions.cols}</h1>",
        f"<p>{html.escape(terms)}</p>",
        "<h2>Standings</h2>",
        html_table(*standings_table(results)),
        "<p>Elo by Bradley-Terry with a small prior, intervals from resampled tournaments; "
        "* marks an anchor. Rates with Wilson's interval, draws counting half.</p>",
        "<h2>Cross table</h2>",
        html_table(*cross_table(results)),
        "<p>Points of the row's player out of its games against the column's.</p>",
        f"<h2>Players</h2><ul>{''.join(players)}</ul>",
    ]
    if faults:
        items = "".join(f"<li>{html.escape(fault)}</li>" for fault in faults)
        parts.append(f"<h2>Faults</h2><ul>{items}</ul>")
    return "\n".join([*parts, "</body></html>", ""])


_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tengen arena: {kind}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; }}
body {{ padding: 0 1rem; }}
table {{ display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0; }}
th, td {{ border-bottom: 1px solid #ccc; padding: .25rem .6rem; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
</style>
</head>
<body>"""
