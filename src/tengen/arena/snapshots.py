"""Rate the snapshots of a self-play run against each other and against anchors.

Neighbouring snapshots play each other, and the first and the last also play the anchors, whose
ratings come from the shipped ladder of the board size, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tengen.arena import Database, Entrant, Tournament, results_of, run_tournament
from tengen.arena.config import Conditions, OpeningSettings
from tengen.arena.database import reading
from tengen.arena.placing import LADDERS
from tengen.arena.runner import Listener
from tengen.errors import RunError
from tengen.learners.self_play.training import history
from tengen.models.runs import SNAPSHOTS, read_run

RESULTS = "ladder.sqlite"
ANCHORS = ("maxlib", "static")


@dataclass(frozen=True)
class SnapshotRating:
    """The strength of the network at one time of the run; of an anchor, only its rating."""

    name: str
    elo: float
    low: float
    """Ends of the rating's 95 % interval."""
    high: float
    games_played: int
    """In the tournament."""
    minutes: float | None = None
    games: int | None = None
    """Games of self-play so far."""
    positions: int | None = None

    def value(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class SnapshotPlan:
    """The tournament, and the run's metrics of the snapshots."""

    tournament: Tournament
    rows: dict[str, dict[str, Any]]
    """The run's row of each snapshot, by its name."""


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
    """Choose snapshots evenly over a run and plan their tournament.

    Without `size` it is played on the run's first board size.
    """
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
    fixed = _anchors(anchors, lines)
    neighbours = [
        (names[i], names[j])
        for i in range(len(names))
        for j in range(i + 1, min(i + 3, len(names)))
    ]
    tournament = Tournament(
        kind="pairs",
        games=games,
        seed=seed,
        conditions=Conditions(rows=lines, cols=lines),
        openings=OpeningSettings(),
        entrants=(*entrants, *fixed),
        pairs=(*neighbours, *met),
    )
    return SnapshotPlan(tournament, {name: rows[int(path.stem)] for name, path in named.items()})


def rate_snapshots(
    plan: SnapshotPlan,
    out: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    listener: Listener | None = None,
) -> list[SnapshotRating]:
    """Play the missing games; return the snapshots in order of time, then the anchors."""
    with Database.open(out, plan.tournament) as database:
        run_tournament(
            plan.tournament, database, workers=workers, ray=ray, listener=listener or Listener()
        )
        standings = {standing.name: standing for standing in results_of(database).standings}
    found = []
    for entrant in plan.tournament.entrants:
        standing, row = standings[entrant.name], plan.rows.get(entrant.name)
        rating = standing.rating
        if rating is None:
            continue
        known = {} if row is None else {
            "minutes": round(row["seconds"] / 60, 2),
            "games": row["games"],
            "positions": row["positions"],
        }  # fmt: skip
        elo = (rating.elo, rating.low, rating.high)
        found.append(SnapshotRating(entrant.name, *elo, standing.games, **known))
    return found


def _anchors(anchors: Sequence[str], size: int) -> list[Entrant]:
    """Return anchors, named by specs or as in the shipped ladder, with their ratings."""
    path = LADDERS / f"{size}x{size}.sqlite"
    if not path.exists():
        return [Entrant(name=anchor, spec=anchor) for anchor in anchors]
    with reading(path) as opened:
        rungs = opened.tournament.entrants
        found = results_of(opened, resamples=0).standings
    ratings = {each.name: each.rating.elo for each in found if each.rating is not None}
    specs = {rung.name: rung.spec for rung in rungs}
    names = {rung.spec: rung.name for rung in rungs}
    return [
        Entrant(
            name=anchor,
            spec=specs.get(anchor, anchor),
            elo=ratings.get(names.get(anchor, anchor)),
        )
        for anchor in anchors
    ]
