"""Accept or refuse requests before they reach a route.

Refuses foreign hosts (DNS rebinding), requests from other sites, bodies that are too large and,
where a token is set, requests without it. Adds the headers that isolate the page. Closes
connections that are idle or too slow.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import socket
from urllib.parse import quote, unquote, urlsplit

from fastapi import HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from tengen.web.positions import UPLOAD_BYTES
from tengen.web.settings import LOOPBACK, Settings

_COOKIE = "tengen-token"
_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_TOO_LARGE = f"at most {UPLOAD_BYTES} bytes may be sent at once"
_ELSEWHERE = "requests from other sites are not answered"
_ARRIVAL = 60.0  # seconds for a request to arrive, and for a client to read a response
_FAREWELL = 0.5  # seconds to finish responses when the server stops


class Connection(H11Protocol):
    """A connection that is closed if the client is too slow, and soon after the server stops."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Receive part of a request; the deadline applies to the whole request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Set a deadline for the client to read what was sent."""
        super().pause_writing()
        self._set_deadline()

    def resume_writing(self) -> None:
        """Continue sending."""
        super().resume_writing()
        self._clear_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._clear_deadline()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Let responses finish, then disconnect: event streams never end by themselves."""
        super().shutdown()
        self.loop.call_later(_FAREWELL, self.transport.abort)

    def _watch(self) -> None:
        cycle = self.cycle
        if cycle is not None and not cycle.more_body and not cycle.response_complete:
            self._clear_deadline()
        elif self._deadline is None:
            self._set_deadline()

    def _set_deadline(self) -> None:
        self._clear_deadline()
        if not self.transport.is_closing():
            self._deadline = self.loop.call_later(_ARRIVAL, self.transport.abort)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Guard:
    """The outermost layer of the server."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        answer: Response | None = None
        token, opens_page = self._settings.token, request.scope["path"] == "/"
        if refusal := self._refusal(request):
            answer = JSONResponse({"detail": refusal[1]}, refusal[0])
        elif token is not None and opens_page and request.query_params.get("token"):
            answer = RedirectResponse("/", 303)
            # Quoted, since a token may contain what ends a cookie.
            answer.set_cookie(_COOKIE, quote(token, safe=""), httponly=True, samesite="strict")
        if answer is not None:
            answer.headers.update(_HEADERS)
            await answer(scope, receive, send)
            return
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > UPLOAD_BYTES:
                raise HTTPException(413, _TOO_LARGE)
            return message

        async def covered(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, limited, covered)

    def _refusal(self, request: Request) -> tuple[int, str] | None:
        """Return status and reason if a request is refused, else None."""
        headers, host = request.headers, request.headers.get("host", "")
        if not self._is_ours(host):
            return (421, "this server does not go by that name")
        origin = headers.get("origin")
        if origin is not None and not _is_from(origin, host):
            return (403, _ELSEWHERE)
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and request.scope["path"] != "/":
            return (403, _ELSEWHERE)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > UPLOAD_BYTES:
            return (413, _TOO_LARGE)
        if not self._shows_token(request):
            return (401, "show the token that the server printed: /?token=...")
        return None

    def _is_ours(self, host: str) -> bool:
        """Return whether a Host header names this server."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in LOOPBACK or name == self._settings.host.lower():
            return True
        if self._settings.host in LOOPBACK:
            return False
        # Addresses cannot be rebound, and the token is required anyway.
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name == socket.gethostname().lower()
        return True

    def _shows_token(self, request: Request) -> bool:
        """Return whether the request contains the token, if one is required."""
        token = self._settings.token
        if token is None:
            return True
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        cookie = unquote(request.cookies.get(_COOKIE, ""))
        shown = [text.encode() for text in (cookie, *request.query_params.getlist("token"))]
        shown.append(bearer.encode("latin-1"))  # as Starlette decoded it
        return any(hmac.compare_digest(each, token.encode()) for each in shown)


def _is_from(origin: str, host: str) -> bool:
    """Return whether an Origin header names the host of the request."""
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False
