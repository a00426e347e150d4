"""Who may ask the page's server: the token, the host, the origin, and how much they may send.

Nothing is granted by a cookie or by where a request comes from: each request shows the token in a
header that only the page's own script can set. So another page in the same browser can ask nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from eagle.types import EagleError, InputError

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST: Final = 256 << 10
"""The largest body of a request, in bytes."""

LARGE: Final = f"a request has at most {MOST:,} bytes"

LASTS: Final = 12 * 3600
"""Seconds for which a ticket is good."""

SHORTEST: Final = 16
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


@final
@dataclass(frozen=True)
class Keys:
    """The token of a page, and tickets that are signed with it.

    A stream cannot show a header, so it shows a ticket: what is wanted, signed. Only who has the
    token can get one. A server that was started again with the same token still takes it.
    """

    token: str

    @classmethod
    def of(cls, token: str | None) -> Keys:
        """With this token, or a random one."""
        if token is not None and len(token) < SHORTEST:
            raise InputError(f"a token has at least {SHORTEST} characters: leave it out for one")
        return cls(secrets.token_urlsafe(24) if token is None else token)

    def opens(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode(), self.token.encode())

    def ticket(self, wanted: Any) -> str:
        """What is wanted, as a signed text."""
        body = json.dumps([time.time(), wanted], separators=(",", ":")).encode()
        text = base64.urlsafe_b64encode(body).decode().rstrip("=")
        return f"{text}.{self._sign(text)}"

    def read(self, ticket: str) -> Any:
        """What a ticket is for; one that was not made here is refused."""
        text, _, sign = ticket.partition(".")
        if not hmac.compare_digest(sign.encode(), self._sign(text).encode()):
            raise InputError("this ticket was not made by this page: load it again")
        when, wanted = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if not 0 <= time.time() - when + 60 <= LASTS:
            raise InputError("this ticket is too old: load the page again")
        return wanted

    def _sign(self, text: str) -> str:
        return hmac.new(self.token.encode(), b"ticket:" + text.encode(), hashlib.sha256).hexdigest()


class TooLargeError(EagleError):
    """The body is larger than it may be."""


@final
class Guard:
    """Stands before the app: refuses what does not fit, and adds headers to every answer."""

    def __init__(self, app: App, keys: Keys, hosts: Iterable[str]) -> None:
        self._app, self._keys, self._hosts = app, keys, frozenset(h.lower() for h in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {k.decode("latin1").lower(): v.decode("latin1") for k, v in scope["headers"]}
        wrong = self._wrong(scope, headers)
        guarded = _with_headers(send)
        if wrong is not None:
            await _refuse(guarded, *wrong)
            return
        await self._app(scope, _limited(receive), guarded)

    def _wrong(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and the sentence that refuse a request; None if it is fine."""
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return 400, "this page is not served under that name"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return 403, "another page may not ask this one"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "another page may not ask this one"
        path, method = scope["path"], scope["method"]
        if method not in ("GET", "HEAD", "POST"):
            return 405, "this is not asked by GET or POST"
        if method == "POST" and not headers.get("content-type", "").startswith("application/json"):
            return 415, "a request is JSON"
        if headers.get("content-length", "0").isdigit() is False:
            return 400, "the length of the request is not a number"
        if int(headers.get("content-length", "0")) > MOST:
            return 413, LARGE
        if path.startswith("/api/") and not path.startswith("/api/stream/"):
            kind, _, token = headers.get("authorization", "").partition(" ")
            if kind.lower() != "bearer" or not self._keys.opens(token):
                return 401, "open the page by the link that was printed when it was started"
        return None


def _limited(receive: Receive) -> Receive:
    """The same, but a body that is too large is not read to its end."""
    total = 0

    async def limited() -> MutableMapping[str, Any]:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > MOST:
            raise TooLargeError(LARGE)
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = {k.lower() for k, _ in message.get("headers", [])}
            more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in given]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return guarded


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
