"""What all routes share: the services of the server, and waiting for its workers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Body, Request
from fastapi.responses import Response

from tengen.web.games import GameService
from tengen.web.machines import list_opponents
from tengen.web.positions import READ_SECONDS, packed
from tengen.web.reviews import Reviews
from tengen.web.settings import Settings
from tengen.web.store import Store
from tengen.web.workers import BRIEF, GRACE, Compilation, Job, Json, Lane

_ABREAST = 3  # how many games, or tabs, are served at once; each takes a process with its models
Upload = Annotated[bytes, Body(media_type="application/x-go-sgf")]


@dataclass
class Services:
    """The parts of a running server; separate lanes keep long work from delaying short work.

    Long work are searches for as long as somebody looks, readings of files, openings and reviews.
    """

    settings: Settings
    playing: Lane = field(default_factory=lambda: Lane(_ABREAST))
    looking: Lane = field(default_factory=lambda: Lane(_ABREAST))
    searching: Lane = field(default_factory=lambda: Lane(_ABREAST))
    reading: Lane = field(default_factory=lambda: Lane(kernels="board.kernels"))
    exploring: Lane = field(default_factory=lambda: Lane(background=True))
    studying: Lane = field(default_factory=lambda: Lane(background=True))
    store: Store = field(init=False)
    games: GameService = field(init=False)
    reviews: Reviews = field(init=False)
    first_move: Job | None = None
    """Loads or compiles what an opponent needs."""
    will_compile: bool = False
    """Whether all kernels are compiled after that, by `compilation`."""
    compilation: Compilation | None = None

    def __post_init__(self) -> None:
        # First, so that a wrong spec leaves no database open.
        opponents = list_opponents(self.settings.players)
        self.store = Store(self.settings.database)
        self.games = GameService(self.store, self.playing, opponents)
        self.reviews = Reviews(self.store, self.studying)

    def preparing(self) -> Json:
        """Return whether the first move is being prepared, and the steps of compiling."""
        waits = self.first_move is not None and not self.first_move.future.done()
        steps = (0, 0) if self.will_compile else None
        return {"move": waits, "steps": self.compilation.steps() if self.compilation else steps}

    def close(self) -> None:
        """End the processes and close the database."""
        # First, so that late results of workers are not written to a closed database.
        self.games.close()
        self.reviews.close()
        quick = self.playing, self.looking, self.searching
        for lane in (*quick, self.reading, self.exploring, self.studying):
            lane.close()
        self.store.close()


def services_of(request: Request) -> Services:
    """Return the services of the server that got a request."""
    found: Services = request.app.state.services
    return found


async def ask(
    request: Request,
    lane: Lane,
    task: str,
    grace: float = BRIEF,
    limit: float = math.inf,
    **arguments: Any,
) -> Json:
    """Return the result of a task; cancel it if the client disconnects."""
    job = lane.submit(task, arguments, grace=grace, limit=limit)
    wrapped = asyncio.wrap_future(job.future)
    try:
        while True:
            done, _ = await asyncio.wait({wrapped}, timeout=0.25)
            if done:
                found: Json = wrapped.result()
                return found
            if await request.is_disconnected():
                job.cancel()
    except asyncio.CancelledError:
        job.cancel()
        raise


async def read(request: Request, task: str, data: bytes, name: str, **more: Any) -> Json:
    """Read an upload in a worker process."""
    lane = services_of(request).reading
    return await ask(request, lane, task, GRACE, READ_SECONDS, **packed(data, name), **more)


async def parts_of(lane: Lane, task: str, arguments: Json) -> AsyncIterator[Any]:
    """Run a task and yield the parts of its result as they come, then the result."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Any] = asyncio.Queue()

    def take(part: Any) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, part)

    job = lane.submit(task, arguments, take)
    job.future.add_done_callback(lambda _: take(job))
    try:
        while (part := await queue.get()) is not job:
            yield part
        yield job.future.result()
    finally:
        job.cancel()


def download(content: bytes | str, name: str) -> Response:
    """Return a response that the browser saves as a file called `name`."""
    kinds = {".csv": "text/csv", ".html": "text/html"}
    kind = kinds.get(name[name.rfind(".") :], "application/x-go-sgf")
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
