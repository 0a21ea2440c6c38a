"""What all routes share: the services of their server, waiting for jobs, streams of events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.responses import StreamingResponse

from tengen.web.uploads import SECONDS, packed
from tengen.web.workers import Job, Lane

if TYPE_CHECKING:
    from tengen.web.app import Services

_HEARTBEAT = 15.0
"""Seconds after which a silent stream sends a comment."""


def services_of(request: Request) -> Services:
    """Return the services of the server that got a request."""
    found: Services = request.app.state.services
    return found


async def result_of(job: Job, request: Request) -> Any:
    """Return a job's result; cancel the job if the page goes away."""
    wrapped = asyncio.wrap_future(job.future)
    try:
        while True:
            done, _ = await asyncio.wait({wrapped}, timeout=0.25)
            if done:
                return wrapped.result()
            if await request.is_disconnected():
                job.cancel()
    except asyncio.CancelledError:
        job.cancel()
        raise


async def read(request: Request, task: str, data: bytes, name: str, **more: Any) -> Any:
    """Read an upload in a worker process; see `uploads` for the tasks."""
    services = services_of(request)
    arguments = {**packed(data, name, services.settings), **more}
    return await result_of(services.reading.submit(task, arguments, limit=SECONDS), request)


async def parts_of(
    lane: Lane, task: str, arguments: dict[str, Any]
) -> AsyncIterator[tuple[str, Any]]:
    """Run a job and yield `("part", value)` as they come, then `("done", value)`."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Any] = asyncio.Queue()

    def take(part: Any) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, part)

    job = lane.submit(task, arguments, take)
    job.future.add_done_callback(lambda _: take(job))
    try:
        while True:
            part = await queue.get()
            if part is job:
                yield "done", job.future.result()
                return
            yield "part", part
    finally:
        job.cancel()


def event(name: str, value: Any) -> str:
    """Write one server-sent event."""
    return f"event: {name}\ndata: {json.dumps(value)}\n\n"


def stream(events: AsyncIterator[str]) -> StreamingResponse:
    """Answer with a stream of server-sent events."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def tell(watchers: Iterable[asyncio.Queue[None]]) -> None:
    """Tell of a change through queues; one that still waits to be heard says as much."""
    for queue in watchers:
        if queue.empty():
            queue.put_nowait(None)


async def changes(queue: asyncio.Queue[None]) -> AsyncIterator[bool]:
    """Yield True at every change told through a queue, False when it was silent for long."""
    while True:
        try:
            await asyncio.wait_for(queue.get(), _HEARTBEAT)
        except TimeoutError:
            yield False
        else:
            yield True
