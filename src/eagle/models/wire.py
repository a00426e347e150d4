"""JSON posted to one address, with retries, errors as sentences, and no secrets in them."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from hashlib import blake2b
from http import HTTPStatus
from typing import Any, Final, final
from urllib.parse import urlsplit, urlunsplit

from eagle._values.checks import check_function, elements, integer, number
from eagle._values.log import LOG
from eagle._values.packages import package
from eagle._values.text import clean, message_of, short_repr
from eagle.errors import DeniedError, InputError, ModelError, RefusedError, ReplyError
from eagle.models.concurrent import Request
from eagle.models.processes import PerProcess

RETRY_STATUSES: Final = (408, 429, 500, 502, 503, 504)
"""Statuses after which the same request is sent again, unless `Retry` says others."""

MAYBE_COMPUTED_STATUSES: Final = (500, 502, 504)
"""Statuses after which the model may have computed its answers, which may be billed."""

DENIED_STATUSES: Final = (401, 402, 403, 404, 405, 407, 410)
"""Statuses that any other request would get, too; those of redirects are such as well."""

QUOTA: Final = re.compile(
    r"insufficient[_ ](quota|balance|funds|credits?)|billing_(hard_limit_reached|not_active)"
)
"""How the body of a status 429 says that the quota is spent, and not that one is too fast."""

MAYBE_QUOTA: Final = re.compile(
    r"(quota|credits?)[\w ]{0,20}(exceeded|exhausted|used up|spent)|exceeded your \w* ?quota"
)
"""The same in other words, which servers also have for quotas that come back in a minute."""

SHORT_QUOTA: Final = re.compile(
    r"per[ _-]?(second|minute|hour)|retry ?(after|delay|in)|try again in"
)
"""How a body says that it is such a quota."""

HINTS: Final = {
    401: "token_env names the environment variable that holds the token",
    402: "the account must be paid for first",
    403: "token_env names the environment variable that holds the token",
    404: "is the address right, and the protocol?",
    413: "give a smaller batch_bytes or batch_rows",
}
"""What to do about some statuses, as the end of a sentence."""

MAX_QUOTED_CHARACTERS: Final = 200
"""The number of characters that are shown of what a server says."""


@final
@dataclass(frozen=True)
class Retry:
    """When a request is sent again, and how long to wait before.

    At most `times` times after one of the `statuses`: after as many seconds as the server says in
    Retry-After, else after `first` seconds, then twice as long each time. Waits that the server
    does not set are shortened by up to a half, by a number made of the request's content, so that
    requests that failed together do not come back together. No wait is longer than `longest`: if
    the server asks for more, the request fails.

    The `statuses` are 408, 429, 500, 502, 503 and 504 unless given. A 429 that says that the
    quota is spent is never sent again. `sleep` waits, for tests.
    """

    times: int = 5
    first: float = 0.5
    longest: float = 60.0
    statuses: Collection[int] = RETRY_STATUSES
    sleep: Callable[[float], None] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        integer(self.times, "times", 0)
        listed = elements(self.statuses, "statuses")
        for status in listed:
            if type(status) is not int or not 300 <= status <= 599:
                raise InputError(f"a status to retry is from 300 to 599, not {short_repr(status)}")
        object.__setattr__(self, "statuses", tuple(sorted(set(listed))))
        if self.sleep is not None:
            check_function(self.sleep, "sleep")
        number(self.first, "first, in seconds,", above=0)
        number(self.longest, "longest, in seconds,", above=0)

    def wait(self, attempt: int, status: int, after: str | None, key: str) -> float | None:
        """Seconds to wait before the next attempt, from 0 on; None if there is to be none."""
        if status not in self.statuses or attempt >= self.times:
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

    def __post_init__(self) -> None:
        named = self.headers.items() if isinstance(self.headers, Mapping) else [(None, None)]
        texts = [part for pair in named for part in pair]
        for text in texts if self.token is None else [*texts, self.token]:
            if not isinstance(text, str):  # nothing of it is shown: it may be a secret
                raise InputError(
                    "headers_env is a dictionary from headers to the names of environment "
                    "variables, and token_env is one such name: these are no texts"
                )

    def read(self) -> dict[str, str]:
        """The headers with their values."""
        out = {name: _variable(variable) for name, variable in self.headers.items()}
        if self.token is not None:
            out["authorization"] = f"Bearer {_variable(self.token)}"
        return out

    def hide(self, text: str) -> str:
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

    def __post_init__(self) -> None:
        integer(self.requests, "requests", 0)
        number(self.seconds, "a number of seconds", 0.0)

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
        self._own, self._pace = PerProcess(), Pace(0, 0.0)

    @property
    def public_url(self) -> str:
        """The address without its query, which may hold secrets."""
        return urlunsplit((*urlsplit(self.url)[:3], "", ""))

    @property
    def pace(self) -> Pace | None:
        """How fast it has answered so far; None before the first answer."""
        return self._pace if self._pace.requests else None

    def post(self, body: bytes, rows: int, request: Request, resent: Callable[[], None]) -> Any:
        """The endpoint's reply to a request about `rows` rows, read from JSON.

        The request begins each time that it is sent. `resent` is called before it is sent again,
        if the attempt before may be billed.
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
            request.begin()
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
            spent = _is_quota_spent(reply)
            wait = None if spent else self._retry.wait(attempt, reply.status, reply.after, key)
            if wait is None:
                raise self._refusal(reply, rows, attempt, spent)
            if reply.status in MAYBE_COMPUTED_STATUSES:
                resent()
            LOG.info(
                "status %d: %d rows are sent again in %.1f s, retry %d",
                reply.status,
                rows,
                wait,
                attempt + 1,
            )
            request.wait(wait, self._retry.sleep)
            attempt += 1

    # -- one request ----------------------------------------------------------------------------

    def _once(self, body: bytes, headers: Mapping[str, str], rows: int, fresh: bool) -> _Reply:
        """The reply, whatever its status, on a connection that is kept or a fresh one."""
        httpx = httpx_package()
        client = self._client() if fresh else self._own.get(self._client)
        began = time.monotonic()
        try:
            return self._reply(client, body, headers, began, rows)
        except httpx.ConnectTimeout:
            raise RefusedError(
                f"{self.public_url} could not be reached within {self._timeout:g} s"
            ) from None
        except httpx.TimeoutException:
            raise self._late(rows) from None
        except httpx.ConnectError as error:
            words = (
                f"{self.public_url} could not be reached: {self._server_words(message_of(error))}"
            )
            raise _DroppedError(RefusedError(words), sent=False) from None
        except httpx.TransportError as error:
            words = (
                f"{self.public_url} dropped the connection twice when asked {rows} rows: "
                f"{self._server_words(message_of(error))}. They may be billed"
            )
            raise _DroppedError(ModelError(words), sent=True) from None
        except httpx.HTTPError as error:
            raise ReplyError(
                f"the reply of {self.public_url} to {rows} rows cannot be read: "
                f"{self._server_words(message_of(error))}"
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
        with self._own.lock:
            self._pace = Pace(self._pace.requests + 1, self._pace.seconds + took)
        got = streamed.headers
        kind = got.get("content-type", "no content type").split(";")[0]
        return _Reply(streamed.status_code, kind, got.get("retry-after"), b"".join(parts))

    def _client(self) -> Any:
        """An own set of connections."""
        httpx = httpx_package()
        limits = httpx.Limits(
            max_connections=self._connections, max_keepalive_connections=self._connections
        )
        timeout = httpx.Timeout(self._timeout, pool=None)
        return httpx.Client(
            verify=_ssl_context(), timeout=timeout, limits=limits, follow_redirects=False
        )

    # -- words ----------------------------------------------------------------------------------

    def _read(self, reply: _Reply, rows: int) -> Any:
        try:
            return json.loads(reply.content)
        except (ValueError, RecursionError):
            raise ReplyError(
                f"{self.public_url} answered {rows} rows with {self._server_words(reply.kind)}, "
                f"not JSON: «{self._server_words(reply.text)}»"
            ) from None

    def _refusal(self, reply: _Reply, rows: int, attempts: int, spent: bool) -> ModelError:
        hint = "the quota is spent" if spent else HINTS.get(reply.status, "")
        tried = f", {attempts + 1} times" if attempts else ""
        sentence = (
            f"{self.public_url} was asked {rows} rows and answered with status "
            f"{_status(reply.status)}"
            f"{tried}: «{self._server_words(reply.text)}»{f'; {hint}' if hint else ''}"
        )
        if spent or reply.status in DENIED_STATUSES or reply.status < 400:
            return DeniedError(sentence)
        return (ModelError if reply.status in MAYBE_COMPUTED_STATUSES else RefusedError)(sentence)

    def _late(self, rows: int) -> ModelError:
        return ModelError(
            f"{self.public_url} did not answer {rows} rows within {self._timeout:g} s: give a "
            "longer timeout or fewer batch_rows. They may be billed"
        )

    def _server_words(self, text: str) -> str:
        words = " ".join(clean(self._secrets.hide(text)).split())
        return (
            words
            if len(words) <= MAX_QUOTED_CHARACTERS
            else words[: MAX_QUOTED_CHARACTERS - 1] + "…"
        )


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
        return self.content[: 20 * MAX_QUOTED_CHARACTERS].decode("utf-8", "replace")


@cache
def _ssl_context() -> Any:
    """The SSL context. It verifies certificates; reading the trusted ones is slow, so done once."""
    return httpx_package().create_ssl_context()


def httpx_package() -> Any:
    """The package httpx."""
    return package("httpx", "a model behind an endpoint", "http")


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


def _is_quota_spent(reply: _Reply) -> bool:
    """Whether the quota is spent for good, so that waiting does not help."""
    if reply.status != HTTPStatus.TOO_MANY_REQUESTS:
        return False
    words = reply.text.casefold()
    comes_back = reply.after is not None or SHORT_QUOTA.search(words) is not None
    return bool(QUOTA.search(words) or (MAYBE_QUOTA.search(words) and not comes_back))


def _status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
