"""Ratings of players on ladders, approximate ranks, fair handicaps, ratings of snapshots.

A ladder is a results database whose anchors fix the scale; shipped ones are in `ladders`. A new
player starts in the middle, and every few games it meets the rung nearest to its rating so far. At
the end all players are rated from all games, the ladder's and the new ones.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tengen import __version__
from tengen.arena.database import Database
from tengen.arena.match import parse_board_size
from tengen.arena.ratings import PairScore, Rating, rate
from tengen.arena.results import pair_scores, results_of, unique_games
from tengen.arena.runner import SILENT, Listener, run_tournament
from tengen.arena.tournament import Conditions, Entrant, GameKey, Tournament, schedule
from tengen.errors import RunError, SpecError, TengenError
from tengen.files import write_atomic
from tengen.gtp.client import find_program
from tengen.players import make_player, parse_spec, reaches_out
from tengen.players.tengen import LEVELS, find_level
from tengen.records.record import Rank

_BLOCK = 4  # games against one rung before the next is chosen; two openings, both colours
LADDERS = Path(__file__).parent / "ladders"
RECORD = LADDERS / "ratings.json"  # ratings of shipped players on the shipped ladders


@dataclass
class Placing:
    """A player's rating on a ladder."""

    player: str
    elo: float
    interval: tuple[float, float]
    # Its score against each rung, with the rung's Elo, strongest first.
    rungs: list[tuple[PairScore, float]] = field(default_factory=list)
    stopped: bool = False

    @property
    def games(self) -> int:
        """Games that count."""
        return sum(score.games for score, _ in self.rungs)

    def value(self) -> dict[str, Any]:
        """Return what `arena rate --json` prints."""
        counts = ("games", "wins", "losses", "draws")
        return {
            "player": self.player,
            "elo": self.elo,
            "interval": list(self.interval),
            "games": self.games,
            "rungs": [
                {"player": score.second, "elo": elo, **{n: getattr(score, n) for n in counts}}
                for score, elo in self.rungs
            ],
        }


def shipped_ladder(size: str) -> Path:
    """Return the shipped ladder's database for a board size."""
    rows, cols = parse_board_size(size)
    path = LADDERS / f"{rows}x{cols}.sqlite"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in LADDERS.glob("*.sqlite"))) or "none"
        raise SpecError(f"no ladder for {rows}x{cols} (there are: {known}); name a ladder")
    return path


def place(
    spec: str,
    *,
    size: str = "9",
    games: int = 40,
    ladder: str | Path | None = None,
    programs: bool = False,
    out: str | Path | None = None,
    workers: int = 1,
    ray: str | None = None,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Placing:
    """Play `games` games of a player against rungs of a ladder and return its rating.

    Games in `out`, if given, are not played again. Unavailable rungs are left out, and without
    `programs` those that are programs or classes, unless the ladder is a shipped one.
    """
    parse_spec(spec)
    with Database.look(ladder or shipped_ladder(size)) as opened:
        base, old = opened.tournament, pair_scores(unique_games(opened.games()))
    new: list[PairScore] = []
    newcomer = Entrant(name=f"{spec} (new)", spec=spec)

    def rated(**options: Any) -> dict[str, Rating]:
        ratings = rate([*old, *new], anchors=base.anchors, **options)
        return {rating.name: rating for rating in ratings}

    rungs = _playable(base.entrants, None if programs or not ladder else ladder, say)
    # The gauntlet of the new player through all rungs, of which a part is played.
    gauntlet = {
        "kind": "gauntlet", "games": games + games % 2, "seed": seed, "pairs": (),
        "entrants": (newcomer, *rungs), "challengers": (newcomer.name,),
    }  # fmt: skip
    plan = base.model_copy(update=gauntlet)
    with Database.open(out, plan) as database:
        jobs = {rung.name: [j for j in schedule(plan) if rung.name in j.key] for rung in rungs}
        taken = {rung.name: 0 for rung in rungs}
        chosen: set[GameKey] = set()
        for start in range(0, games, _BLOCK):
            rung = _next_rung(newcomer, rungs, taken, rated(resamples=0))
            count = min(_BLOCK, games - start)
            block = jobs[rung][taken[rung] : taken[rung] + count]
            taken[rung] += count
            chosen.update(job.key for job in block)
            say(f"games {start + 1} to {start + count} of {games}: against {rung}")
            summary = run_tournament(plan, database, jobs=block, workers=workers, ray=ray)
            # Only what was chosen so far: games kept from an interrupted run must not change
            # which rungs are chosen now.
            rows = [row for row in database.games() if row.key in chosen]
            new = pair_scores(unique_games(rows))
            if summary.stopped:
                break
    ratings = rated()
    if newcomer.name not in ratings:
        raise SpecError(f"{spec}: no game was played")
    own = ratings[newcomer.name]
    met = [(score, ratings[score.second].elo) for score in new]
    met.sort(key=lambda entry: -entry[1])
    return Placing(spec, own.elo, (own.low, own.high), met, summary.stopped)


def _playable(
    entrants: Sequence[Entrant], distrusted: str | Path | None, say: Callable[[str], None]
) -> list[Entrant]:
    """Return the rungs that can be played here; no programs or classes of a `distrusted` ladder."""
    trusted = [e for e in entrants if not distrusted or not reaches_out(e.spec)]
    if left := len(entrants) - len(trusted):
        say(f"{distrusted}: {left} rungs are programs or classes; --programs starts them")
    rungs = [entrant for entrant in trusted if is_installed(entrant)]
    if not rungs:
        raise SpecError("no rung of the ladder can be played here")
    return rungs


def record(placed: Placing, size: str, seed: int, path: Path) -> None:
    """Write a player's rating into a file of ratings, replacing its old one."""
    rows, cols = parse_board_size(size)
    entry = {**placed.value(), "size": f"{rows}x{cols}", "seed": seed, "version": __version__}
    known = {(each["player"], each["size"]): each for each in [*recorded(path), entry]}
    entries = sorted(known.values(), key=lambda e: (e["size"], -e["elo"]))
    write_atomic(path, json.dumps(entries, indent=1) + "\n")


def recorded(path: Path = RECORD) -> list[dict[str, Any]]:
    """Return the entries of a file of ratings; none if it is missing."""
    if not path.exists():
        return []
    try:
        entries: list[dict[str, Any]] = json.loads(path.read_text())
        assert all({"player", "size", "elo", "interval", "games"} <= set(e) for e in entries)
    except (ValueError, TypeError, AssertionError):
        raise SpecError(f"{path}: is no file of ratings") from None
    return entries


def _next_rung(
    newcomer: Entrant, rungs: list[Entrant], taken: dict[str, int], ratings: dict[str, Rating]
) -> str:
    """Choose the most informative rung: near in strength, and not played much already."""
    order = sorted(rungs, key=lambda rung: ratings[rung.name].elo if rung.name in ratings else 0.0)
    if newcomer.name not in ratings:
        return order[len(order) // 2].name
    own = ratings[newcomer.name].elo

    def cost(name: str) -> float:  # 100 Elo farther away is as bad as one block of games more
        known = name in ratings
        return abs(ratings[name].elo - own) / 100 + taken[name] / _BLOCK if known else float("inf")

    return min((rung.name for rung in order), key=cost)


def is_installed(entrant: Entrant) -> bool:
    """Return whether an entrant can play here: engines may be missing, old players removed."""
    if not entrant.spec.startswith("gtp:"):
        try:
            make_player(entrant.spec)
        except TengenError:
            return False
        return True
    words = shlex.split(entrant.spec.removeprefix("gtp:"))
    return bool(words) and find_program(words[0]) is not None


# ----- Ranks and handicaps -----
#
# GNU Go 3.8 at level 10, at 1800 Elo on all ladders, is commonly put at 8 to 10 kyu; here it is 9
# kyu and 100 Elo are one rank. This rule of thumb was never checked against ranked players.

_ANCHOR, _ANCHOR_KYU = 1800.0, 9
ELO_PER_RANK = 100.0
_WEAKEST_KYU, _STRONGEST_DAN = 30, 9
_MOST_STONES = 9
_FULL_BOARD = 19 * 19  # where one rank is one stone; on smaller boards a stone is worth more


def rank_of(elo: float) -> str:
    """Return the approximate rank of a rating."""
    above = round((elo - _ANCHOR) / ELO_PER_RANK) - _ANCHOR_KYU
    if above < 0:
        return f"{min(-above, _WEAKEST_KYU)} kyu"
    return f"{min(above + 1, _STRONGEST_DAN)} dan"


def elo_of(rank: str) -> float:
    """Return the rating in the middle of a rank such as `8k`, `8 kyu` or `1d`."""
    strength = Rank(rank).strength
    if math.isnan(strength):
        raise SpecError(f"{rank!r} is no rank such as 5k or 1d")
    # Kyu count down to 1, dan up from 1: 1 dan is one rank above 1 kyu.
    above = strength if strength < 0 else strength % 100 - 1
    return _ANCHOR + ELO_PER_RANK * (above + _ANCHOR_KYU)


def level_of_rank(rank: str, rows: int, cols: int, path: Path = RECORD) -> int:
    """Return the level whose rating is nearest to a rank such as `5k`.

    A board on which no level was rated takes the ratings of the next one.
    """
    elo = elo_of(rank)
    sizes = {entry["size"] for entry in recorded(path)}
    near = min(sizes, key=lambda size: abs(int(size.partition("x")[0]) - min(rows, cols)))
    rated = level_ratings(near, path)
    return min(rated, key=lambda level: abs(rated[level]["elo"] - elo))


def level_ratings(size: str, path: Path = RECORD) -> dict[int, dict[str, Any]]:
    """Return Elo, interval, games and approximate rank of levels on a board such as `9x9`."""
    rated = {entry["player"]: entry for entry in recorded(path) if entry["size"] == size}
    found = {}
    for level in LEVELS:
        entry = rated.get(f"tengen:level={level}")
        if entry is not None:
            known = {name: entry[name] for name in ("elo", "interval", "games")}
            found[level] = {"level": level, **known, "rank": rank_of(entry["elo"])}
    return found


class Handicap(NamedTuple):
    """Handicap for Black, the weaker side: `stones` 0 or 2 to 9, `komi` None for the usual."""

    stones: int = 0
    komi: float | None = None


def fair_handicap(weaker: float, stronger: float, points: int) -> Handicap:
    """Return the handicap that makes a game between two ratings even on a board of `points` points.

    Half a point of komi counts as the first stone, since Black then only moves first.
    """
    steps = round(abs(stronger - weaker) / ELO_PER_RANK * points / _FULL_BOARD)
    if steps == 0:
        return Handicap()
    return Handicap(0 if steps == 1 else min(steps, _MOST_STONES), 0.5)


def advise(weaker: int, stronger: int, size: int, path: Path = RECORD) -> Handicap:
    """Return the handicap between two levels on a square board."""
    rated = level_ratings(f"{size}x{size}", path)
    for level in (weaker, stronger):
        find_level(level)
        if level not in rated:
            raise SpecError(f"level {level} is not rated on {size}x{size}")
    return fair_handicap(rated[weaker]["elo"], rated[stronger]["elo"], size * size)


# ----- Snapshots of a self-play run -----
#
# Neighbouring snapshots play each other, and the first and the last also play the anchors, whose
# ratings come from the shipped ladder of the board size, if there is one.

RESULTS = "ladder.sqlite"
ANCHORS = ("maxlib", "static")


@dataclass(frozen=True)
class SnapshotPlan:
    """The tournament, and the run's metrics of the snapshots by name."""

    tournament: Tournament
    rows: dict[str, dict[str, Any]]


def plan_snapshots(
    run: str | Path,
    *,
    size: int | None = None,
    snapshots: int = 6,
    games: int = 20,
    visits: int = 1,
    anchors: Sequence[str] = ANCHORS,
    seed: int = 0,
) -> SnapshotPlan:
    """Choose snapshots evenly over a run and plan their tournament, on the run's first size."""
    from tengen.models.runs import SNAPSHOTS, read_run
    from tengen.self_play import history

    rows = {row["step"]: row for row in history(run)}
    found = read_run(run)
    assert found is not None, "history refuses a folder without a run"
    lines = size or int(found.settings["size"][0])
    files = sorted(Path(run, SNAPSHOTS).glob("*.safetensors"))
    files = [path for path in files if int(path.stem) in rows]
    if len(files) < 2:
        raise RunError(f"{run}: has {len(files)} snapshots; at least two are needed")
    count = min(snapshots, len(files))
    chosen = [files[round(i * (len(files) - 1) / max(count - 1, 1))] for i in range(count)]
    named = {f"after {rows[int(path.stem)]['games']} games": path for path in chosen}
    entrants = [
        Entrant(name=name, spec=f'search:model="{path}",visits={visits}')
        for name, path in named.items()
    ]
    names = [entrant.name for entrant in entrants]
    met = [(name, anchor) for anchor in anchors for name in dict.fromkeys((names[0], names[-1]))]
    neighbours = [(a, b) for i, a in enumerate(names) for b in names[i + 1 : i + 3]]
    tournament = Tournament(
        kind="pairs", games=games, seed=seed, conditions=Conditions(rows=lines, cols=lines),
        entrants=(*entrants, *_anchors(anchors, lines)), pairs=(*neighbours, *met),
    )  # fmt: skip
    return SnapshotPlan(tournament, {name: rows[int(path.stem)] for name, path in named.items()})


def rate_snapshots(
    plan: SnapshotPlan,
    out: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    listener: Listener = SILENT,
) -> list[dict[str, Any]]:
    """Play the missing games; return the ratings of snapshots in order of time, then of anchors."""
    with Database.open(out, plan.tournament) as database:
        run_tournament(plan.tournament, database, workers=workers, ray=ray, listener=listener)
        standings = {standing.name: standing for standing in results_of(database).standings}
    found = []
    for entrant in plan.tournament.entrants:
        standing = standings[entrant.name]
        if (rating := standing.rating) is None:
            continue
        value: dict[str, Any] = {"name": entrant.name, "elo": rating.elo}
        value |= {"low": rating.low, "high": rating.high, "games_played": standing.games}
        if row := plan.rows.get(entrant.name):
            value["minutes"] = round(row["seconds"] / 60, 2)
            value |= {name: row[name] for name in ("games", "positions")}
        found.append(value)
    return found


def _anchors(anchors: Sequence[str], size: int) -> list[Entrant]:
    """Return anchors, named by specs or as in the shipped ladder, with their ratings."""
    path = LADDERS / f"{size}x{size}.sqlite"
    specs: dict[str, str] = {}
    ratings: dict[str, float] = {}
    if path.exists():
        with Database.look(path) as opened:
            found = results_of(opened, resamples=0)
        specs = {rung.name: rung.spec for rung in found.tournament.entrants}
        for each in found.standings:
            if each.rating is not None:
                ratings[each.name] = ratings[specs[each.name]] = each.rating.elo
    return [Entrant(name=a, spec=specs.get(a, a), elo=ratings.get(a)) for a in anchors]
