"""Who may ask the page's server: the token, the host, the origin, and how much they may send.

Nothing is granted by a cookie or by where a request comes from: each request shows the token in a
header that only the page's own script can set. So another page in the same browser can ask nothing.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias, final

from eagle.errors import EagleError, InputError

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY: Final = 256 << 10
"""The largest body of a request, in bytes."""

MIN_TOKEN: Final = 16
"""The fewest characters of a token that is given."""

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


def check_token(token: str | None) -> str:
    """This token, or a random one; a short one is refused."""
    if token is not None and len(token) < MIN_TOKEN:
        raise InputError(f"a token has at least {MIN_TOKEN} characters: leave it out for one")
    return secrets.token_urlsafe(24) if token is None else token


class TooLargeError(EagleError):
    """The body is larger than it may be."""


@final
class Guard:
    """Stands before the app: refuses what does not fit, and adds headers to every answer."""

    def __init__(self, app: App, token: str, port: int) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {k.decode("latin1").lower(): v.decode("latin1") for k, v in scope["headers"]}
        refused = self._refuse(scope, headers)
        if refused is not None:
            await _answer(_with_headers(send), *refused)
            return
        try:
            await self._app(scope, _limit_body(receive), _with_headers(send))
        except asyncio.CancelledError:  # the server ends in the middle of a run
            await send({"type": "http.response.body"})

    def _refuse(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and the sentence that refuse a request; None if it is fine."""
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return 400, "this page is not served under that name"
        origin = headers.get("origin", f"http://{host}").lower()
        site = headers.get("sec-fetch-site", "none")
        if origin != f"http://{host}" or site not in ("none", "same-origin"):
            return 403, "another page may not ask this one"
        path, method = scope["path"], scope["method"]
        if method not in ("GET", "HEAD", "POST"):
            return 405, "this is not asked by GET or POST"
        if method == "POST" and not headers.get("content-type", "").startswith("application/json"):
            return 415, "a request is JSON"
        if path.startswith("/api/"):
            kind, _, token = headers.get("authorization", "").partition(" ")
            if kind.lower() != "bearer" or not secrets.compare_digest(token.encode(), self._token):
                return 401, "open the page by the link that was printed when it was started"
        return None


def _limit_body(receive: Receive) -> Receive:
    """The same, but a body that is too large is not read to its end."""
    total = 0

    async def receive_part() -> MutableMapping[str, Any]:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > MAX_BODY:
            raise TooLargeError(f"a request has at most {MAX_BODY:,} bytes")
        return message

    return receive_part


def _with_headers(send: Send) -> Send:
    async def send_part(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            more = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return send_part


async def _answer(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
