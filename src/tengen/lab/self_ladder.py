"""Let the snapshots of a run of self-play meet each other and some anchors: strength by time.

Neighbours in time play most games, and the first and the last also meet the anchors, whose ratings
come from the shipped ladder of the board size, where there is one. Knows nothing of learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tengen.arena import Database, Entrant, Tournament, results_of, run_tournament
from tengen.arena.config import Conditions, Openings
from tengen.arena.database import reading
from tengen.arena.placing import LADDERS
from tengen.arena.runner import Listener
from tengen.errors import RunError
from tengen.learners.self_play.training import history
from tengen.models.runs import SNAPSHOTS, read_run

RESULTS = "ladder.sqlite"
ANCHORS = ("maxlib", "static")


@dataclass(frozen=True)
class Step:
    """How strong the network was at one moment of the run; of an anchor, only its rating."""

    name: str
    elo: float
    low: float
    """Ends of the rating's 95 % interval."""
    high: float
    games_played: int
    """In the ladder."""
    minutes: float | None = None
    games: int | None = None
    """Against itself, up to then."""
    positions: int | None = None

    def value(self) -> dict[str, Any]:
        """Return the step as JSON can hold it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Plan:
    """Who meets whom, and what is known of the snapshots."""

    tournament: Tournament
    rows: dict[str, dict[str, Any]]
    """The run's row of each snapshot, by its name."""


def plan_ladder(
    run: str | Path,
    *,
    size: int | None = None,
    snapshots: int = 6,
    games: int = 20,
    visits: int = 1,
    anchors: Sequence[str] = ANCHORS,
    seed: int = 0,
) -> Plan:
    """Choose snapshots evenly over a run and say who meets whom, on the run's first size if none.

    Raises
    ------
    RunError
        If the folder holds no run of self-play, or has too few snapshots.
    """
    rows = {row["step"]: row for row in history(run)}
    found = read_run(run)
    assert found is not None, "history refuses a folder without a run"
    lines = size or int(found.settings["size"][0])
    files = sorted(Path(run, SNAPSHOTS).glob("*.safetensors"))
    files = [path for path in files if int(path.stem) in rows]
    if len(files) < 2:
        raise RunError(f"{run}: has {len(files)} snapshots; a ladder needs two")
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
        openings=Openings(),
        entrants=(*entrants, *fixed),
        pairs=(*neighbours, *met),
    )
    return Plan(tournament, {name: rows[int(path.stem)] for name, path in named.items()})


def play_ladder(
    plan: Plan,
    out: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    listener: Listener | None = None,
) -> list[Step]:
    """Play what is missing and return the snapshots in time, then the anchors."""
    with Database.open(out, plan.tournament) as database:
        run_tournament(plan.tournament, database, workers=workers, ray=ray, listener=listener)
        standings = {standing.name: standing for standing in results_of(database).standings}
    steps = []
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
        steps.append(
            Step(entrant.name, rating.elo, rating.low, rating.high, standing.games, **known)
        )
    return steps


def _anchors(anchors: Sequence[str], size: int) -> list[Entrant]:
    """Return anchors, named by specs or as the size's shipped ladder does, with its ratings."""
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
