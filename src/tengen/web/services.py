"""Hold what all routes share: settings, database, workers, games; made once a server."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request

from tengen.web.game_service import GameService
from tengen.web.opponents import list_opponents
from tengen.web.reviews import Reviews
from tengen.web.settings import Settings
from tengen.web.store import Store
from tengen.web.workers import Lane

TASKS = "tengen.web.tasks"


@dataclass
class Services:
    """Lanes keep kinds of work apart: reviews never make a game or a hint wait."""

    settings: Settings
    playing: Lane = field(default_factory=lambda: Lane(TASKS))
    looking: Lane = field(default_factory=lambda: Lane(TASKS))
    exploring: Lane = field(default_factory=lambda: Lane(TASKS))
    studying: Lane = field(default_factory=lambda: Lane(TASKS))
    store: Store = field(init=False)
    games: GameService = field(init=False)
    reviews: Reviews = field(init=False)

    def __post_init__(self) -> None:
        # First, so that a wrong spec leaves no database open.
        opponents = list_opponents(self.settings.players)
        self.store = Store(self.settings.database)
        self.games = GameService(self.store, self.playing, opponents)
        self.reviews = Reviews(self.store, self.studying, self.settings)

    def close(self) -> None:
        """End the processes and close the database."""
        # First, so that what workers still report is not written to a closed database.
        self.games.close()
        self.reviews.close()
        for lane in (self.playing, self.looking, self.exploring, self.studying):
            lane.close()
        self.store.close()


def services_of(request: Request) -> Services:
    """Return the services of the server that got a request."""
    found: Services = request.app.state.services
    return found
