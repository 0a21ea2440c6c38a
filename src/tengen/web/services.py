"""What all routes share: the settings of the server, and waiting for workers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, Request
from fastapi.responses import Response

from tengen.web.positions import READ_SECONDS, packed
from tengen.web.workers import BRIEF, GRACE, Json, Lane

if TYPE_CHECKING:
    from tengen.web.app import Services

LOOPBACK = ("127.0.0.1", "localhost", "::1")
Upload = Annotated[bytes, Body(media_type="application/x-go-sgf")]


@dataclass(frozen=True)
class Settings:
    """Settings of the server, fixed when it starts; requests cannot change them."""

    database: Path
    host: str = "127.0.0.1"
    port: int = 8361
    token: str | None = None  # every request must contain it; required unless the host is loopback
    players: tuple[str, ...] = ()  # specs of further opponents
    arenas: tuple[Path, ...] = ()  # databases of tournaments to show
    collections: tuple[Path, ...] = ()  # collections of games, or indexes of them, to explore
    runs: Path = Path("runs")  # folder of trainings and laboratory reports to show


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
    kind = "text/csv" if name.endswith(".csv") else "application/x-go-sgf"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
