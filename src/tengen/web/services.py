"""What all routes share: the settings of the server, waiting for workers, streams of events."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.responses import StreamingResponse

from tengen.web.positions import READ_SECONDS, packed
from tengen.web.workers import BRIEF, GRACE, Json, Lane

if TYPE_CHECKING:
    from tengen.web.app import Services

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_HEARTBEAT = 15.0
"""Seconds after which a silent stream sends a comment."""


@dataclass(frozen=True)
class Settings:
    """What the person who starts the server decides; requests change nothing of it."""

    database: Path
    host: str = "127.0.0.1"
    port: int = 8361
    token: str | None = None
    """Every request must show it; required for hosts that are not loopback."""
    players: tuple[str, ...] = ()
    """Specs of further opponents."""
    arenas: tuple[Path, ...] = ()
    """Databases of tournaments to show."""
    collections: tuple[Path, ...] = ()
    """Collections of games, or indexes of them, to explore."""
    runs: Path = Path("runs")
    """Folder of trainings and laboratory reports to show."""


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
    """Return the result of a task; cancel it if the page goes away."""
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


class Watchers:
    """Those who wait for changes of one thing."""

    def __init__(self) -> None:
        self.queues: set[asyncio.Queue[None]] = set()

    def tell(self) -> None:
        """Announce a change; whoever has not taken the last one yet needs no other."""
        for queue in self.queues:
            if queue.empty():
                queue.put_nowait(None)

    async def changes(self) -> AsyncIterator[bool]:
        """Yield True at once and at every change, False after a long silence."""
        queue: asyncio.Queue[None] = asyncio.Queue(maxsize=1)
        queue.put_nowait(None)
        self.queues.add(queue)
        try:
            while True:
                try:
                    await asyncio.wait_for(queue.get(), _HEARTBEAT)
                except TimeoutError:
                    yield False
                else:
                    yield True
        finally:
            self.queues.discard(queue)


ALIVE = ": alive\n\n"
"""The comment that keeps a silent stream open."""


def event(name: str, value: Any) -> str:
    """Write one server-sent event."""
    return f"event: {name}\ndata: {json.dumps(value)}\n\n"


def stream(events: AsyncIterator[str]) -> StreamingResponse:
    """Answer with a stream of server-sent events."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def attachment(name: str) -> dict[str, str]:
    """Return the header that saves an answer under a name of ours."""
    return {"content-disposition": f'attachment; filename="{name}"'}
