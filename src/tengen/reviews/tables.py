"""Tables over reviewed games: one CSV line per move; points lost by player, phase, kind and rank.

The games are the plain values that `batch` stores, one dictionary per game.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tengen.board import PASS, Board, Point
from tengen.sanitize import csv_cell
from tengen.statistics import mean_interval

PHASES = ("opening", "middle game", "endgame")
KINDS = ("capture", "atari", "contact", "near", "elsewhere", "pass")
"""What a move does: the first that fits. `near` is within three lines of the move before."""
_NEAR = 3
_SIDES = ("black", "white")

_Game = dict[str, Any]
_Row = dict[str, Any]


def phase_of(number: int, rows: int, cols: int) -> str:
    """Return the phase of a move by its number.

    The opening lasts a sixth of the board's points, the middle game to their half.

    >>> phase_of(60, 19, 19), phase_of(61, 19, 19), phase_of(200, 19, 19)
    ('opening', 'middle game', 'endgame')
    """
    points = rows * cols
    return PHASES[0 if 6 * number <= points else 1 if 2 * number <= points else 2]


def kind_of(move: Point, before: Board, after: Board) -> str:
    """Return the kind of a move; see `KINDS`."""
    if move == PASS:
        return "pass"
    if sum(after.prisoners) > sum(before.prisoners):
        return "capture"
    enemies = _enemies(move, after)
    if any(after.liberties(near) == 1 for near in enemies):
        return "atari"
    if enemies:
        return "contact"
    last = before.last_move
    if last is not None and last != PASS:
        away = max(abs(last.row - move.row), abs(last.col - move.col))
        if away <= _NEAR:
            return "near"
    return "elsewhere"


def _enemies(move: Point, after: Board) -> list[tuple[int, int]]:
    """List the stones of the other side next to a move, by row and column."""
    colour = after[move]
    beside = [(move.row + r, move.col + c) for r, c in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    return [
        (r, c)
        for r, c in beside
        if 0 <= r < after.rows and 0 <= c < after.cols and after[r, c] == 3 - colour
    ]


def moves_csv(games: Iterable[_Game]) -> str:
    """Return one line per move of all games."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    told = ("file", "game", "black", "white", "black_rank", "white_rank", "date", "result")
    columns: list[str] | None = None
    for game in games:
        for row in game.get("rows", ()):
            if columns is None:
                columns = list(row)
                sheet.writerow([*told, *columns])
            cells = (*(game[t] for t in told), *row.values())
            sheet.writerow([csv_cell(plain_cell(cell)) for cell in cells])
    return out.getvalue()


def plain_cell(value: Any) -> Any:
    """Return a plain value as one cell: lists as words, numbers with four decimals."""
    if isinstance(value, list):
        return " ".join(value)
    return "" if value is None else round(value, 4) if isinstance(value, float) else value


@dataclass
class _Tally:
    """Moves of one sort, summed up."""

    moves: int = 0
    lost: float = 0.0
    mistakes: int = 0

    def add(self, row: _Row) -> None:
        """Count one move."""
        self.moves += 1
        self.lost += row["points_lost"]
        self.mistakes += row["verdict"] == "mistake"

    def to_dict(self) -> dict[str, Any]:
        """Return moves, points lost per move, and mistakes per 100 moves."""
        return {
            "moves": self.moves,
            "mean_points_lost": self.lost / self.moves if self.moves else None,
            "mistakes_per_100": 100 * self.mistakes / self.moves if self.moves else None,
        }


@dataclass
class Account:
    """All moves of one player, or of one rank."""

    games: int = 0
    ranks: dict[str, int] = field(default_factory=dict)
    all: _Tally = field(default_factory=_Tally)
    phases: dict[str, _Tally] = field(default_factory=dict)
    kinds: dict[str, _Tally] = field(default_factory=dict)
    predicted: int = 0
    first: int = 0
    per_game: list[float] = field(default_factory=list)

    def add(self, rows: list[_Row], rank: str) -> None:
        """Count one side of one game."""
        self.games += 1
        self.ranks[rank] = self.ranks.get(rank, 0) + 1
        for row in rows:
            for tally in (
                self.all,
                self.phases.setdefault(row["phase"], _Tally()),
                self.kinds.setdefault(row["kind"], _Tally()),
            ):
                tally.add(row)
            self.predicted += row["rank"] is not None
            self.first += row["rank"] == 1
        if rows:
            self.per_game.append(sum(row["points_lost"] for row in rows) / len(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; the 95 % interval is over games."""
        ranks = sorted(self.ranks, key=lambda rank: (-self.ranks[rank], rank))
        return {
            "games": self.games,
            "rank": next(iter(ranks), ""),
            **self.all.to_dict(),
            "interval": mean_interval(self.per_game),
            "predicted_first": self.first / self.predicted if self.predicted else None,
            "phases": {p: self.phases[p].to_dict() for p in PHASES if p in self.phases},
            "kinds": {k: self.kinds[k].to_dict() for k in KINDS if k in self.kinds},
        }


def summarise(games: Iterable[_Game]) -> dict[str, Any]:
    """Sum up players and ranks, most games first, and everybody together.

    `against_rank` is a player's points lost per move less those of all players of the same rank
    in these games.
    """
    held = list(games)
    everybody = _accounts(held, lambda game, side: "all")
    players = _accounts(held, lambda game, side: game[side])
    ranks = _accounts(held, lambda game, side: game[f"{side}_rank"])
    told = {rank: account.to_dict() for rank, account in ranks.items()}
    lines = []
    for name, account in players.items():
        line = {"name": name, **account.to_dict()}
        expected = told.get(line["rank"], {}).get("mean_points_lost") if line["rank"] else None
        known = expected is not None and line["mean_points_lost"] is not None
        line["against_rank"] = line["mean_points_lost"] - expected if known else None
        lines.append(line)
    return {
        "games": len(held),
        "all": everybody["all"].to_dict() if everybody else None,
        "players": sorted(lines, key=lambda line: (-line["games"], line["name"])),
        "ranks": told,
    }


def _accounts(games: list[_Game], key: Callable[[_Game, str], str]) -> dict[str, Account]:
    """Sort the sides of all games into accounts; sides without a key are left out."""
    found: dict[str, Account] = {}
    for name, game, side in _sides(games, key):
        rows = [row for row in game["rows"] if row["colour"] == side]
        found.setdefault(name, Account()).add(rows, game[f"{side}_rank"])
    return found


def _sides(
    games: list[_Game], key: Callable[[_Game, str], str]
) -> Iterator[tuple[str, _Game, str]]:
    for game in games:
        for side in _SIDES:
            if key(game, side) and game.get("rows"):
                yield key(game, side), game, side
