"""JSON posted to one address, with retries, errors as sentences, and no secrets in them."""

from __future__ import annotations

import json
import math
import os
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from hashlib import blake2b
from http import HTTPStatus
from threading import Lock
from typing import Any, Final, final
from urllib.parse import urlsplit, urlunsplit

from eagle.log import LOG
from eagle.types import (
    InputError,
    MissingExtraError,
    ModelError,
    RefusedError,
    ReplyError,
    clean,
    finite,
    integer,
    message_of,
    told,
)

AGAIN: Final = (429, 502, 503, 504)
"""Statuses after which the same request may be sent again."""

COMPUTED: Final = (500, 502, 504)
"""Statuses after which the model may have computed its answers, which may be billed."""

HINTS: Final = {
    401: "token_env names the environment variable that holds the token",
    403: "token_env names the environment variable that holds the token",
    404: "is the address right, and the protocol?",
    413: "give a smaller batch_bytes or batch_rows",
}
"""What to do about some statuses, as the end of a sentence."""

WORDS: Final = 200
"""The number of characters that are shown of what a server says."""


@final
@dataclass(frozen=True)
class Retry:
    """When a request is sent again, and how long to wait before.

    At most `times` times after a status of 429, 502, 503 or 504: after as many seconds as the
    server says in Retry-After, else after `first` seconds, then twice as long each time. Waits
    that the server does not set are shortened by up to a half, by a number made of the request's
    content, so that requests that failed together do not come back together. No wait is longer than
    `longest`: if the server asks for more, the request fails.
    """

    times: int = 5
    first: float = 0.5
    longest: float = 60.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)

    def __post_init__(self) -> None:
        integer(self.times, "times", 0)
        for name, value in (("first", self.first), ("longest", self.longest)):
            if not finite(value) or not value > 0:
                raise InputError(f"{name} is a positive number of seconds, not {told(value)}")

    def wait(self, attempt: int, status: int, after: str | None, key: str) -> float | None:
        """Seconds to wait before the next attempt, from 0 on; None if there is to be none."""
        if status not in AGAIN or attempt >= self.times:
            return None
        asked = _seconds(after)
        if asked is not None:
            return asked if asked <= self.longest else None
        chance = blake2b(f"{key}{attempt}".encode(), digest_size=4).digest()
        share = int.from_bytes(chance, "little") / 2**32
        return float(min(self.longest, self.first * 2**attempt) * (1 - share / 2))


@final
@dataclass(frozen=True)
class Secrets:
    """Headers whose values are in environment variables: read when they are sent, never kept."""

    headers: Mapping[str, str] = field(default_factory=dict)
    token: str | None = None

    def read(self) -> dict[str, str]:
        """The headers with their values."""
        out = {name: _variable(variable) for name, variable in self.headers.items()}
        if self.token is not None:
            out["authorization"] = f"Bearer {_variable(self.token)}"
        return out

    def hidden(self, text: str) -> str:
        """A server's words without any secret that it may repeat."""
        for variable in (*self.headers.values(), *([self.token] if self.token else [])):
            secret = os.environ.get(variable)
            text = text.replace(secret, "…") if secret else text
        return text


@final
@dataclass(frozen=True)
class Pace:
    """How fast an endpoint has answered: requests, and the seconds that these took in all."""

    requests: int
    seconds: float

    @property
    def round_trip(self) -> float:
        """The mean seconds of a request."""
        return self.seconds / self.requests


@final
class Wire:
    """One address that JSON is posted to.

    `timeout` is how many seconds one request may take in all, also if the reply comes slowly.
    """

    def __init__(
        self, url: str, secrets: Secrets, timeout: float, connections: int, retry: Retry
    ) -> None:
        self.url, self._secrets, self._timeout = url, secrets, timeout
        self._connections, self._retry = connections, retry
        self._lock, self._pace = Lock(), Pace(0, 0.0)
        self._client: Any = None
        self._owner = 0

    @property
    def shown(self) -> str:
        """The address without its query, which may hold secrets."""
        return urlunsplit((*urlsplit(self.url)[:3], "", ""))

    @property
    def pace(self) -> Pace | None:
        """How fast it has answered so far; None before the first answer."""
        return self._pace if self._pace.requests else None

    def __getstate__(self) -> dict[str, Any]:
        kept = ("url", "_secrets", "_timeout", "_connections", "_retry", "_pace")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock(), _client=None, _owner=0)

    def post(self, body: bytes, rows: int, resent: Callable[[], None] = lambda: None) -> Any:
        """The endpoint's reply to a request about `rows` rows, read from JSON.

        `resent` is called before the request is sent again, if the attempt before may be billed.
        """
        key = blake2b(self.url.encode() + b"\0" + body, digest_size=16).hexdigest()
        headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "idempotency-key": key,
            **self._secrets.read(),
        }
        attempt, fresh = 0, False
        while True:
            try:
                reply = self._once(body, headers, rows, fresh)
            except _DroppedError as dropped:
                if fresh:
                    raise dropped.said from None
                if dropped.sent:
                    resent()
                LOG.info("a connection was dropped: %d rows are sent again", rows)
                fresh = True  # once more, at once, on a new connection
                continue
            if 200 <= reply.status < 300:
                return self._read(reply, rows)
            wait = self._retry.wait(attempt, reply.status, reply.after, key)
            if wait is None:
                raise self._refused(reply, rows, attempt)
            if reply.status in COMPUTED:
                resent()
            LOG.info(
                "status %d: %d rows are sent again in %.1f s, retry %d",
                reply.status,
                rows,
                wait,
                attempt + 1,
            )
            self._retry.sleep(wait)
            attempt += 1

    # -- one request ----------------------------------------------------------------------------

    def _once(self, body: bytes, headers: Mapping[str, str], rows: int, fresh: bool) -> _Reply:
        """The reply, whatever its status, on a connection that is kept or a fresh one."""
        httpx = httpx_package()
        client = self._new(httpx) if fresh else self._kept(httpx)
        began = time.monotonic()
        try:
            return self._reply(client, body, headers, began, rows)
        except httpx.ConnectTimeout:
            raise RefusedError(
                f"{self.shown} could not be reached within {self._timeout:g} s"
            ) from None
        except httpx.TimeoutException:
            raise self._late(rows) from None
        except httpx.ConnectError as error:
            words = f"{self.shown} could not be reached: {self._said(message_of(error))}"
            raise _DroppedError(RefusedError(words), sent=False) from None
        except httpx.TransportError as error:
            words = (
                f"{self.shown} dropped the connection twice when asked {rows} rows: "
                f"{self._said(message_of(error))}. They may be billed"
            )
            raise _DroppedError(ModelError(words), sent=True) from None
        except httpx.HTTPError as error:
            raise ReplyError(
                f"the reply of {self.shown} to {rows} rows cannot be read: "
                f"{self._said(message_of(error))}"
            ) from None
        finally:
            if fresh:
                client.close()

    def _reply(
        self, client: Any, body: bytes, headers: Mapping[str, str], began: float, rows: int
    ) -> _Reply:
        with client.stream("POST", self.url, content=body, headers=headers) as streamed:
            parts = []
            for part in streamed.iter_bytes():
                parts.append(part)
                if time.monotonic() - began > self._timeout:
                    raise self._late(rows)
        took = time.monotonic() - began
        with self._lock:
            self._pace = Pace(self._pace.requests + 1, self._pace.seconds + took)
        got = streamed.headers
        kind = got.get("content-type", "no content type").split(";")[0]
        return _Reply(streamed.status_code, kind, got.get("retry-after"), b"".join(parts))

    def _kept(self, httpx: Any) -> Any:
        with self._lock:
            if self._client is None or self._owner != os.getpid():  # a fork has no connections
                self._client, self._owner = self._new(httpx), os.getpid()
                weakref.finalize(self, _close, self._client, self._owner)
            return self._client

    def _new(self, httpx: Any) -> Any:
        limits = httpx.Limits(
            max_connections=self._connections, max_keepalive_connections=self._connections
        )
        timeout = httpx.Timeout(self._timeout, pool=None)
        return httpx.Client(
            verify=_verified(), timeout=timeout, limits=limits, follow_redirects=False
        )

    # -- words ----------------------------------------------------------------------------------

    def _read(self, reply: _Reply, rows: int) -> Any:
        try:
            return json.loads(reply.content)
        except (ValueError, RecursionError):
            raise ReplyError(
                f"{self.shown} answered {rows} rows with {self._said(reply.kind)}, not JSON: "
                f"«{self._said(reply.text)}»"
            ) from None

    def _refused(self, reply: _Reply, rows: int, attempts: int) -> ModelError:
        hint = HINTS.get(reply.status, "")
        tried = f", {attempts + 1} times" if attempts else ""
        sentence = (
            f"{self.shown} was asked {rows} rows and answered with status {_status(reply.status)}"
            f"{tried}: «{self._said(reply.text)}»{f'; {hint}' if hint else ''}"
        )
        return (ModelError if reply.status in COMPUTED else RefusedError)(sentence)

    def _late(self, rows: int) -> ModelError:
        return ModelError(
            f"{self.shown} did not answer {rows} rows within {self._timeout:g} s: give a longer "
            "timeout or fewer batch_rows. They may be billed"
        )

    def _said(self, text: str) -> str:
        words = " ".join(clean(self._secrets.hidden(text)).split())
        return words if len(words) <= WORDS else words[: WORDS - 1] + "…"


class _DroppedError(Exception):
    """The connection was dropped: the error to raise in the end, and whether anything was sent."""

    def __init__(self, said: ModelError, sent: bool) -> None:
        super().__init__()
        self.said, self.sent = said, sent


@final
@dataclass(frozen=True)
class _Reply:
    status: int
    kind: str
    after: str | None
    content: bytes

    @property
    def text(self) -> str:
        return self.content[: 20 * WORDS].decode("utf-8", "replace")


@cache
def _verified() -> Any:
    """The SSL context. It verifies certificates; reading the trusted ones is slow, so done once."""
    return httpx_package().create_ssl_context()


def _close(client: Any, owner: int) -> None:
    """Close the connections, if they are this process's own."""
    if os.getpid() == owner:
        client.close()


def httpx_package() -> Any:
    """The package httpx."""
    try:
        import httpx
    except ImportError:
        raise MissingExtraError("a model behind an endpoint", "httpx", "http") from None
    return httpx


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise InputError(f"the environment variable {name} is not set: it should hold a secret")
    if not value.isascii() or not value.isprintable():
        raise InputError(f"the environment variable {name} holds what no header can carry")
    return value


def _seconds(after: str | None) -> float | None:
    """What Retry-After says, in seconds from now: it is a number or a date."""
    if after is None:
        return None
    try:
        number = float(after)
    except ValueError:
        try:
            return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
        except ValueError:
            return None
    return max(0.0, number) if math.isfinite(number) else None


def _status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
