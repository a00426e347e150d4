"""Any predict endpoint as a model: a table in, answers out.

endpoint = Endpoint("https://host/v2/models/rf/infer", ledger="answers.db", version="7")
eagle.Explainer(endpoint, X_train).explain(x)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from os import PathLike
from typing import Any, Literal, TypeAlias, final
from urllib.parse import urlsplit

import numpy as np

from eagle.models.box import check
from eagle.models.codecs import (
    Codec,
    Instances,
    Invocations,
    OpenInference,
    ProtocolName,
    Template,
    address,
    codec,
)
from eagle.models.inputs import Inputs
from eagle.models.recording import Recording, opened, stacked
from eagle.models.wire import Pace, Retry, Secrets, Wire, package
from eagle.quote import Fare
from eagle.types import (
    Array,
    EagleError,
    InputError,
    ReplyError,
    finite,
    integer,
    message_of,
    told,
)

__all__ = [
    "Codec",
    "Endpoint",
    "Instances",
    "Invocations",
    "OpenInference",
    "Pace",
    "Retry",
    "Template",
]

Post: TypeAlias = Callable[[Inputs, bytes], Array]
"""Some rows, and the request about them, to their answers."""


@final
class Endpoint:
    """A model behind an address, asked over HTTP.

    `protocol` is "v2" (Open Inference Protocol), "mlflow" (also SageMaker's containers),
    "instances" (KServe V1, TensorFlow Serving, Vertex AI), or a `Codec` such as
    `OpenInference("rf", output="predict_proba")` or `Template(build, pick)` for other JSON.

    No request has more rows than `batch_rows` or more bytes than `batch_bytes`, at most
    `concurrency` are on their way at once, and none may take longer than `timeout` seconds.
    `retries` says when a request is sent again (see `Retry`). `missing` is what happens to missing
    values: "refuse" them, or send "null" to a server that reads it so. Integers as answers are
    taken for labels and refused, unless `integers` says that they are quantities.

    Secrets stay in the environment: `token_env` names the variable with a bearer token, and
    `headers_env` those of other headers, such as {"x-api-key": "MY_KEY"}. They are read when a
    request is sent, and are in no error, pickle or file.

    With a `ledger`, a file, what was answered is never asked again, by any process: see
    `eagle.models.ledger`. Answers belong to `name`, which is the address unless given, and
    `version`: give another version when the model there changes.
    """

    def __init__(
        self,
        url: str,
        protocol: ProtocolName | Codec = "v2",
        *,
        batch_rows: int = 1000,
        batch_bytes: int = 1_000_000,
        concurrency: int = 4,
        timeout: float = 60.0,
        retries: int | Retry = 5,
        missing: Literal["refuse", "null"] = "refuse",
        integers: bool = False,
        token_env: str | None = None,
        headers_env: Mapping[str, str] | None = None,
        ledger: str | PathLike[str] | None = None,
        name: str | None = None,
        version: str = "",
    ) -> None:
        _check_url(url)
        self._codec = codec(protocol, url)
        self.batch_rows = integer(batch_rows, "batch_rows", 1)
        self.batch_bytes = integer(batch_bytes, "batch_bytes", 1)
        self.concurrency = integer(concurrency, "concurrency", 1)
        if not finite(timeout) or not timeout > 0:
            raise InputError(f"timeout is a positive number of seconds, not {told(timeout)}")
        if missing not in ("refuse", "null"):
            raise InputError(f"missing is 'refuse' or 'null', not {told(missing)}")
        self._missing, self._integers = missing == "null", bool(integers)
        retry = retries if isinstance(retries, Retry) else Retry(integer(retries, "retries", 0))
        secrets = Secrets(dict(headers_env or {}), token_env)
        whole = address(url, self._codec.path)
        self._wire = Wire(whole, secrets, float(timeout), self.concurrency, retry)
        package()  # refused now if it is not installed, not at the first question
        self.name = self._wire.shown if name is None else str(name)
        self._recording = None if ledger is None else Recording(opened(ledger), self.name, version)

    @property
    def pace(self) -> Pace | None:
        """How fast the endpoint has answered so far; None before the first answer."""
        return self._wire.pace

    def __repr__(self) -> str:
        kept = "" if self._recording is None else f", ledger {self._recording.ledger.path}"
        return f"<Endpoint {self._wire.shown}, {type(self._codec).__name__}{kept}>"

    def __call__(self, table: Any) -> Array:
        """The answers to all rows, shape (rows, outputs)."""
        inputs = Inputs.of(table)
        if not len(inputs):
            raise InputError("there are no rows to ask")
        inputs.refuse(self._missing)
        recording = self._recording
        if recording is None:
            return self._ask(inputs, self._post)

        def billed(part: Inputs, body: bytes) -> Array:
            return recording.billed(part, lambda resent: self._post(part, body, resent))

        return recording.answer(inputs, lambda fresh: self._ask(fresh, billed))

    def fare(self, table: Any, calls: Sequence[int]) -> Fare:
        """What it takes to ask so many rows in each of some calls, all like those of the table."""
        size, frame, each = self._size(Inputs.of(table))
        requests = [max(1, -(-rows // size)) for rows in calls]
        rounds = sum(-(-count // self.concurrency) for count in requests)
        pace = self.pace
        seconds = None if pace is None else rounds * pace.round_trip
        return Fare(sum(requests), frame * sum(requests) + each * sum(calls), seconds)

    # -- inside ---------------------------------------------------------------------------------

    def _ask(self, inputs: Inputs, post: Post) -> Array:
        """All rows in batches, several at once. After an error no further batch is sent."""
        size, _, _ = self._size(inputs)
        if size >= len(inputs):
            return self._batch(inputs, post)
        starts = range(0, len(inputs), size)
        batches = [inputs.take(slice(start, start + size)) for start in starts]
        with ThreadPoolExecutor(min(self.concurrency, len(batches))) as threads:
            asked = [threads.submit(self._batch, batch, post) for batch in batches]
            try:
                wait(asked, return_when=FIRST_EXCEPTION)
            finally:  # also after Ctrl-C: what is on its way is waited for, and kept
                for future in asked:
                    future.cancel()
        failed = [e for f in asked if not f.cancelled() and (e := f.exception()) is not None]
        if failed:
            raise failed[0]
        return stacked([future.result() for future in asked])

    def _size(self, inputs: Inputs) -> tuple[int, int, int]:
        """The rows of a batch; the bytes of a request without rows, and of a row, by the first."""
        one, two = (len(self._body(inputs.take([0] * n))) for n in (1, 2))
        each = max(1, two - one)
        frame = max(0, one - each)
        most = max(0, self.batch_bytes - frame) // each
        return max(1, min(self.batch_rows, most)), frame, each

    def _batch(self, inputs: Inputs, post: Post) -> Array:
        """The answers to one batch. One whose request is too long is asked in halves."""
        body, rows = self._body(inputs), len(inputs)
        if len(body) <= self.batch_bytes:
            return post(inputs, body)
        if rows == 1:
            raise InputError(
                f"one row takes {len(body):,} bytes, but no request may have more than "
                f"{self.batch_bytes:,}: give a larger batch_bytes if the server takes it"
            )
        halves = inputs.take(slice(0, rows // 2)), inputs.take(slice(rows // 2, rows))
        return stacked([self._batch(half, post) for half in halves])

    def _post(
        self, inputs: Inputs, body: bytes, resent: Callable[[], None] = lambda: None
    ) -> Array:
        """The checked answers to one request. `resent` is called if one before may be billed."""
        reply = self._wire.post(body, len(inputs), resent)
        return self._checked(self._picked(reply, len(inputs)), len(inputs))

    def _body(self, inputs: Inputs) -> bytes:
        try:
            request = self._codec.request(inputs, inputs.digest())
            return json.dumps(request, allow_nan=False, default=_plain).encode()
        except EagleError:
            raise
        except Exception as error:  # a user's own codec may raise anything
            raise InputError(
                f"the request cannot be written as JSON: {message_of(error)}"
            ) from error

    def _picked(self, reply: Any, rows: int) -> Any:
        try:
            return self._codec.answers(reply, rows)
        except EagleError:
            raise
        except Exception as error:  # a user's own codec may raise anything
            raise ReplyError(
                f"the answers were not found in the reply {told(reply)}: {message_of(error)}"
            ) from error

    def _checked(self, answers: Any, rows: int) -> Array:
        found = answers if isinstance(answers, np.ndarray) else np.asarray(answers)
        kind, ask = found.dtype.kind, self._codec.probabilities
        if kind in "US" and found.size:
            raise ReplyError(
                f"the endpoint answered with labels, such as {told(found.flat[0])}, not with "
                f"probabilities: {ask}"
            )
        if kind in "iub" and found.size == len(found) and not self._integers:
            raise ReplyError(
                f"the endpoint answered with integers, such as {told(found.flat[0])}, as a model "
                f"does that gives labels: {ask}; if they are quantities, say integers=True"
            )
        return check(found, rows)


def _plain(value: Any) -> Any:
    """What a user's request has of numpy, as JSON can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is nothing that JSON can hold")


def _check_url(url: Any) -> None:
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("an endpoint's url begins with http:// or https:// and names a host")
    if parts.username or parts.password:
        raise InputError(
            "the url holds a name or a password, which would be in errors and files: put it into "
            "an environment variable, and name that as token_env or in headers_env"
        )
