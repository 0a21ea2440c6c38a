"""A tournament: who plays whom under which conditions, and its games, each with its seed.

A game is identified by its pairing and its number. Its seed follows from the tournament's seed, the
two names and the number, so that more games or more players do not change the others. Each opening
is played twice, with colours swapped, so that it need not be fair.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from tengen.board import BLACK, PASS, WHITE, Board, Rules, play_random
from tengen.board.coordinates import elements, transform
from tengen.errors import SpecError, TengenError
from tengen.files import read_limited
from tengen.parallel import spawn_seeds
from tengen.records import read_games

_Model = TypeVar("_Model", bound=BaseModel)
Kind = Literal["match", "round-robin", "gauntlet", "ladder", "pairs"]
Judge = Literal["auto", "tromp-taylor", "scorer"]

_MAX_SIZE = 25
_DEFAULT_OPENING_PLIES = 4  # enough that deterministic players rarely repeat a game


class _Strict(BaseModel):
    """A frozen table of settings that refuses unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Entrant(_Strict):
    """One participant: a name for the tables and the spec that makes the player."""

    name: str = Field(min_length=1, max_length=1000)
    spec: str = Field(min_length=1)
    elo: float | None = Field(default=None, allow_inf_nan=False)
    """The known rating of an anchor, to which the scale is shifted."""
    restart: bool = False
    """Restart the player for every game (for an engine that keeps state between games)."""


class Conditions(_Strict):
    """The conditions of all games of a tournament."""

    rows: int = Field(default=9, ge=2, le=_MAX_SIZE)
    cols: int = Field(default=9, ge=2, le=_MAX_SIZE)
    komi: float = Field(default=7.5, allow_inf_nan=False)
    rules: str = "cgos"
    judge: Judge = "auto"
    """How games are counted: all stones alive (Tromp-Taylor) or by the learned scorer; `auto` uses
    the scorer only under territory rules, which need the dead stones."""
    max_plies: int | None = Field(default=None, ge=1)
    """Plies after which a game is counted as it stands; 3 x points by default."""
    move_seconds: float | None = Field(default=None, gt=0)
    """A player that takes longer for a move loses on time; no limit by default."""
    resign: bool = True
    """Whether a resignation ends the game; otherwise it counts as a pass."""

    @field_validator("rules")
    @classmethod
    def _known_rules(cls, name: str) -> str:
        Rules.preset(name)
        return name

    @property
    def ply_limit(self) -> int:
        """Plies after which a game is counted as it stands."""
        return self.max_plies or 3 * self.rows * self.cols

    @property
    def counter(self) -> Literal["tromp-taylor", "scorer"]:
        """How games are counted."""
        if self.judge == "auto":
            return "scorer" if Rules.preset(self.rules).scoring == "territory" else "tromp-taylor"
        return self.judge


class OpeningSettings(_Strict):
    """The first plies of games: random ones, or the first of each record of `file`."""

    plies: int = Field(default=_DEFAULT_OPENING_PLIES, ge=0, le=200)
    file: str | None = None


class Tournament(_Strict):
    """The settings of a tournament."""

    kind: Kind = "match"
    games: int = Field(default=20, ge=1)
    """Games per pairing; colours alternate, two games per opening."""
    seed: int = Field(default=0, ge=0, lt=2**63)
    conditions: Conditions = Conditions()
    openings: OpeningSettings = OpeningSettings()
    entrants: tuple[Entrant, ...] = Field(min_length=2)
    challengers: tuple[str, ...] = ()
    """In a gauntlet: those who play all others, but not each other."""
    reach: int = Field(default=1, ge=1)
    """In a ladder: how many rungs up and down everyone plays."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Further pairings; the kind `pairs` has no others."""
    max_failures: int = Field(default=3, ge=1)
    """Void games in a row by one player's fault after which the tournament stops."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [entrant.name for entrant in self.entrants]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two players are called {twice[0]!r}")
        if self.kind == "match" and len(names) != 2:
            raise ValueError(f"a match has two players, not {len(names)}")
        if self.kind == "gauntlet" and not self.challengers:
            raise ValueError("a gauntlet needs `challengers`, a list of players' names")
        if self.kind != "gauntlet" and self.challengers:
            raise ValueError("only a gauntlet has challengers")
        if self.kind == "pairs" and not self.pairs:
            raise ValueError("a tournament of the kind `pairs` needs `pairs`, who meets whom")
        mentioned = [*self.challengers, *(name for pair in self.pairs for name in pair)]
        for name in mentioned:
            if name not in names:
                raise ValueError(f"no player is called {name!r}; there are {', '.join(names)}")
        if any(first == second for first, second in self.pairs):
            raise ValueError("a player cannot meet itself; give it a second name")
        return self

    def entrant(self, name: str) -> Entrant:
        """Return the entrant of this name."""
        return next(entrant for entrant in self.entrants if entrant.name == name)

    @property
    def anchors(self) -> dict[str, float]:
        """Players whose rating is given."""
        return {e.name: e.elo for e in self.entrants if e.elo is not None}


def load_tournament(path: str | Path) -> Tournament:
    """Read a tournament from a TOML file."""
    try:
        text = read_limited(path).decode("utf-8")
        return parse_tournament(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as mistake:
        raise SpecError(f"{path}: not TOML: {mistake}") from None
    except SpecError as mistake:
        raise SpecError(f"{path}: {mistake}") from None


def parse_tournament(table: dict[str, Any]) -> Tournament:
    """Make a tournament from the tables of a TOML file.

    The top level has the fields of `Tournament` and `Conditions`, `size` (9 or [rows, columns]),
    `openings` (plies, or a table), and a table `[players.NAME]` with `spec` for each player.

    >>> parse_tournament({"players": {"a": {"spec": "random"}, "b": {"spec": "maxlib"}}}).games
    20
    """
    fields = dict(table)
    players = fields.pop("players", None)
    if not isinstance(players, dict):
        raise SpecError("no players; write a table [players.NAME] with `spec` for each")
    entrants = [
        {"name": name, **(entry if isinstance(entry, dict) else {"spec": entry})}
        for name, entry in players.items()
    ]
    conditions: dict[str, Any] = {
        name: fields.pop(name) for name in Conditions.model_fields if name in fields
    }
    if "size" in fields:
        size = fields.pop("size")
        both = size if isinstance(size, list) else [size, size]
        if len(both) != 2:
            raise SpecError(f"size: {size} is neither a number nor [rows, columns]")
        conditions["rows"], conditions["cols"] = both
    openings = fields.pop("openings", {})
    if isinstance(openings, int):
        openings = {"plies": openings}
    for name in {"conditions", "entrants"} & fields.keys():
        raise SpecError(f"{name}: no such setting")
    tables = {"conditions": conditions, "openings": openings, "entrants": entrants}
    return checked(Tournament, {**fields, **tables})


def checked(kind: type[_Model], values: dict[str, Any]) -> _Model:
    """Validate values; raise `SpecError` in one line that names the first invalid setting."""
    try:
        return kind.model_validate(values)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        unknown = first["type"] == "extra_forbidden"
        message = "no such setting" if unknown else first["msg"].removeprefix("Value error, ")
        raise SpecError(
            ": ".join(filter(None, (".".join(map(str, first["loc"])), message)))
        ) from None
    except TengenError as mistake:
        raise SpecError(str(mistake)) from None


# ----- Openings -----

Opening = tuple[int, ...]
"""Points, Black first."""

# Draws of a random opening before a repetition is accepted: small boards have few.
_TRIES = 50


def openings_of(
    openings: OpeningSettings, conditions: Conditions, *, count: int, seed: int
) -> list[Opening]:
    """Return `count` different openings, if possible; a longer list starts with a shorter one."""
    if openings.file is None:
        return random_openings(openings.plies, conditions, count=count, seed=seed)
    known = read_openings(openings.file, openings.plies, conditions)
    order = np.random.default_rng(seed).permutation(len(known))
    return [known[int(order[i % len(known)])] for i in range(count)]


def random_openings(plies: int, conditions: Conditions, *, count: int, seed: int) -> list[Opening]:
    """Return openings of uniformly random legal moves; no passes."""
    rng = np.random.default_rng(seed)
    found: list[Opening] = []
    seen: set[bytes] = set()
    for _ in range(count):
        for _ in range(_TRIES):
            board = play_random(_empty(conditions), plies, rng)
            picture = canonical(board)
            if picture not in seen:
                break
        seen.add(picture)
        found.append(tuple(point for _, point in board.moves))
    return found


@lru_cache(maxsize=8)
def read_openings(path: str, plies: int, conditions: Conditions) -> list[Opening]:
    """Return the first plies of every plain game of a file that fits the board, each once."""
    found: dict[bytes, Opening] = {}
    for record in read_games(path, on_fault=lambda fault: None):
        if (record.rows, record.cols) != (conditions.rows, conditions.cols) or record.setup:
            continue
        moves = record.moves[:plies]
        colours = ([BLACK, WHITE] * plies)[:plies]
        if [c for c, _ in moves] != colours or any(point == PASS for _, point in moves):
            continue
        board = _empty(conditions)
        try:
            for colour, point in moves:
                board.play(point, colour)
        except TengenError:
            continue
        found.setdefault(canonical(board), tuple(point for _, point in moves))
    if not found:
        raise SpecError(
            f"{path}: no opening of {plies} plies for a {conditions.rows}x{conditions.cols} board"
        )
    return list(found.values())


def canonical(board: Board) -> bytes:
    """Return bytes of the stones that are the same for all rotations and reflections."""
    grid = board.grid()
    pictures = (transform(grid, element) for element in elements(board.rows, board.cols))
    return min(np.ascontiguousarray(picture).tobytes() for picture in pictures)


def _empty(conditions: Conditions) -> Board:
    return Board(conditions.rows, conditions.cols, rules=conditions.rules, komi=conditions.komi)


# ----- Games -----

GameKey = tuple[str, str, int]
"""The two players of the pairing and the number of the game from 0; even: the first is Black."""


@dataclass(frozen=True)
class GameJob:
    """Everything needed to play one game, in any process."""

    key: GameKey
    black: Entrant
    white: Entrant
    conditions: Conditions
    opening: tuple[int, ...]
    """Points the game begins with, Black first."""
    seed: int


def pairings(tournament: Tournament) -> list[tuple[str, str]]:
    """List who meets whom, each pairing once, in the order in which they are played."""
    names = [entrant.name for entrant in tournament.entrants]
    if tournament.kind == "gauntlet":
        others = [name for name in names if name not in tournament.challengers]
        found = [(challenger, other) for challenger in tournament.challengers for other in others]
    elif tournament.kind == "ladder":
        near = combinations(range(len(names)), 2)
        found = [(names[i], names[j]) for i, j in near if j - i <= tournament.reach]
    elif tournament.kind == "pairs":
        found = []
    else:
        found = list(combinations(names, 2))
    for pair in tournament.pairs:
        if pair not in found and pair[::-1] not in found:
            found.append(pair)
    return found


def schedule(tournament: Tournament) -> list[GameJob]:
    """List all games; every pairing gets its first opening before any gets its second."""
    plans = [list(_pairing_games(tournament, pair)) for pair in pairings(tournament)]
    rounds = range(0, tournament.games, 2)
    return [job for start in rounds for plan in plans for job in plan[start : start + 2]]


def _pairing_games(tournament: Tournament, pair: tuple[str, str]) -> Iterator[GameJob]:
    """Yield the games of one pairing: each opening twice, with colours swapped."""
    first, second = (tournament.entrant(name) for name in pair)
    openings = openings_of(
        tournament.openings,
        tournament.conditions,
        count=(tournament.games + 1) // 2,
        seed=spawn_seeds(tournament.seed, 1, "openings", *pair)[0],
    )
    seeds = spawn_seeds(tournament.seed, tournament.games, "games", *pair)
    for number in range(tournament.games):
        black, white = (second, first) if number % 2 else (first, second)
        opening = openings[number // 2]
        yield GameJob((*pair, number), black, white, tournament.conditions, opening, seeds[number])
