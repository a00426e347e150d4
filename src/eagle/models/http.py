"""Any predict endpoint as a model: a table in, answers out.

endpoint = Endpoint("https://host/v2/models/rf/infer", ledger="answers.db", version="7")
eagle.Explainer(endpoint, X_train).explain(x)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal, final
from urllib.parse import urlsplit

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import check_choice, check_flags, integer, number, string
from eagle._values.text import message_of, short_repr
from eagle.cost import RequestCost
from eagle.errors import EagleError, InputError, LimitError, ReplyError
from eagle.models.box import Box, check_reply
from eagle.models.codecs import (
    Codec,
    Instances,
    Invocations,
    Language,
    OpenInference,
    ProtocolName,
    Template,
    address,
    codec,
)
from eagle.models.concurrent import ConcurrentCalls, Requests
from eagle.models.inputs import Inputs
from eagle.models.native import Task
from eagle.models.processes import PerProcess
from eagle.models.recording import stack_answers
from eagle.models.wire import Pace, Retry, Secrets, Wire, httpx_package

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


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


MAX_MISSING_SHARE: Final = 0.1
"""The share of prompts that a language model may leave without an answer."""

CHARACTERS: Final = 4.0
"""The assumed characters of a token, until replies have said how many tokens were billed."""


@final
class Endpoint:
    """A model behind an address, asked over HTTP.

    `protocol` is "v2" (Open Inference Protocol), "mlflow" (also SageMaker's containers),
    "instances" (KServe V1, TensorFlow Serving, Vertex AI), or a `Codec` such as
    `OpenInference("rf", output="predict_proba")` or `Template(build, pick)` for other JSON.

    No request has more rows than `batch_rows` or more bytes than `batch_bytes`, at most
    `concurrency` are on their way at once, and none may take longer than `timeout` seconds.
    `retries` says when a request is sent again, and after which statuses: a number of times, or a
    `Retry`. After a status that any request would get (401, 402, 403, 404), or if the quota is
    spent, no request is begun any more. `missing` is what happens to missing
    values: "refuse" them, or send "null" to a server that reads it so. Integers as answers are
    taken for labels and refused, unless `integers` says that they are quantities. `gaps` is the
    share of rows that may fail: they are left out of the fit, and the explanation says how many.
    It is 0.1 for language models (see `eagle.language`), which have a request for each
    prompt, and 0 for others. What failed is in `failures`.

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
        gaps: float | None = None,
        token_env: str | None = None,
        headers_env: Mapping[str, str] | None = None,
        ledger: str | PathLike[str] | None = None,
        name: str | None = None,
        version: str = "",
    ) -> None:
        _check_url(url)
        self._codec = codec(protocol, url)
        self._language = self._codec if isinstance(self._codec, Language) else None
        most = batch_rows if self._language is None else self._language.most
        self.batch_rows = min(integer(batch_rows, "batch_rows", 1), most)
        self.batch_bytes = integer(batch_bytes, "batch_bytes", 1)
        if gaps is None:
            gaps = 0.0 if self._language is None else MAX_MISSING_SHARE
        self.concurrency = integer(concurrency, "concurrency", 1)
        self._count = _Count()
        number(timeout, "timeout, in seconds,", above=0)
        check_choice(missing, ("refuse", "null"), "missing")
        check_flags(integers=integers)
        string(version, "a version")
        self._missing, self._integers = missing == "null", bool(integers)
        retry = retries if isinstance(retries, Retry) else Retry(integer(retries, "retries", 0))
        secrets = Secrets({} if headers_env is None else headers_env, token_env)
        whole = address(url, self._codec.path)
        self._wire = Wire(whole, secrets, float(timeout), self.concurrency, retry)
        httpx_package()  # refused now if it is not installed, not at the first question
        self.name = self._wire.public_url if name is None else string(name, "name")
        # Answers of a language model depend on what is asked about its text, too.
        what = "answers" if self._language is None else repr(self._codec)
        self._concurrent = ConcurrentCalls(concurrency, gaps, ledger, self.name, version, what)

    @property
    def pace(self) -> Pace | None:
        """How fast the endpoint has answered so far; None before the first answer."""
        return self._wire.pace

    @property
    def failures(self) -> tuple[str, ...]:
        """Sentences about rows that failed and were left out, the last 20."""
        return self._concurrent.failures

    @property
    def tokens(self) -> int | None:
        """The tokens that all replies so far said are billed; None where they do not say any."""
        return None if self._language is None or self._count.silent else self._count.tokens

    def as_box(self, task: Task | None, outputs: tuple[Any, ...] | None) -> Box:
        """How it is asked, and how its answers are read."""
        partial = self._concurrent.gaps > 0
        if self._language is None:
            return Box(self, "Endpoint()", task, outputs, partial=partial, remote=self)
        what = self._language.output
        note = f"{what}, for each prompt"
        known = outputs or (what,)
        kind: Task = task or "regression"
        return Box(self, repr(self), kind, known, note=note, partial=partial, remote=self)

    def __repr__(self) -> str:
        recording = self._concurrent.recording
        kept = "" if recording is None else f", ledger {recording.ledger.path}"
        return f"<Endpoint {self._wire.public_url}, {type(self._codec).__name__}{kept}>"

    def __call__(self, table: Any) -> Array:
        """The answers to all rows, shape (rows, outputs)."""
        inputs = Inputs.of(table)
        if not len(inputs):
            raise InputError("there are no rows to ask")
        inputs.refuse(self._missing)
        return self._concurrent.answer(inputs, self._ask)

    @property
    def stores(self) -> bool:
        """Whether it has a ledger."""
        return self._concurrent.recording is not None

    def fresh(self, table: Any) -> int:
        """How many rows of a table are not in the ledger."""
        return self._concurrent.fresh(Inputs.of(table))

    def request_cost(self, table: Any, calls: Sequence[int]) -> RequestCost:
        """What it takes to ask in calls of these numbers of rows, all like those of the table."""
        size, frame, each = self._size(Inputs.of(table))
        requests = [max(1, -(-rows // size)) for rows in calls]
        rounds = sum(-(-count // self.concurrency) for count in requests)
        pace = self.pace
        seconds = None if pace is None else rounds * pace.round_trip
        size = frame * sum(requests) + each * sum(calls)
        tokens = self._estimate_tokens(Inputs.of(table), sum(calls))
        return RequestCost(sum(requests), size, seconds, tokens, self.concurrency)

    # -- inside ---------------------------------------------------------------------------------

    def _estimate_tokens(self, inputs: Inputs, rows: int) -> int | None:
        """About how many tokens `rows` prompts like these have; None if it is no language model."""
        if self._language is None:
            return None
        mean = self._language.characters(inputs) / len(inputs)
        return round(rows * mean / self._count.characters_each)

    def _ask(self, inputs: Inputs) -> Array:
        """All rows in batches, several at once. After an error no further batch is sent."""
        size, _, _ = self._size(inputs)
        starts = range(0, len(inputs), size)
        batches = [inputs.take(slice(start, start + size)) for start in starts]
        return self._concurrent.ask(batches, self._batch)

    def _size(self, inputs: Inputs) -> tuple[int, int, int]:
        """The rows of a batch, the bytes of a request without rows, and those of the first row."""
        one, two = (len(self._body(inputs.take([0] * n))) for n in (1, 2))
        each = max(1, two - one)
        frame = max(0, one - each)
        most = max(0, self.batch_bytes - frame) // each
        return max(1, min(self.batch_rows, most)), frame, each

    def _batch(self, inputs: Inputs, requests: Requests) -> Array:
        """The answers to one batch. One whose request is too long is asked in halves."""
        body, rows = self._body(inputs), len(inputs)
        if len(body) <= self.batch_bytes:
            return self._concurrent.ask_and_store(
                inputs, lambda resent: self._post(inputs, body, requests, resent)
            )
        if rows == 1:
            raise InputError(
                f"one row takes {len(body):,} bytes, but no request may have more than "
                f"{self.batch_bytes:,}: give a larger batch_bytes if the server takes it"
            )
        halves = inputs.take(slice(0, rows // 2)), inputs.take(slice(rows // 2, rows))
        return stack_answers([self._batch(half, requests) for half in halves])

    def _post(
        self, inputs: Inputs, body: bytes, requests: Requests, resent: Callable[[], None]
    ) -> Array:
        """The checked answers to one request. `resent` is as in `Wire.post`."""
        if self._count.silent and requests.limits_tokens:
            raise LimitError(
                f"the replies of {self._wire.public_url} do not say how many tokens are billed, so "
                "they cannot be limited: no more was asked. Give a limit of rows, calls or seconds"
            )
        expected = self._estimate_tokens(inputs, len(inputs)) or 0
        with requests.one(expected) as request:
            reply = self._wire.post(body, len(inputs), request, resent)
            if self._language is not None:  # also a reply without an answer is billed
                tokens = self._language.tokens(reply)
                self._count.add(self._language.characters(inputs), tokens)
                request.took = tokens or expected
        return self._check(self._pick(reply, len(inputs)), len(inputs))

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

    def _pick(self, reply: Any, rows: int) -> Any:
        try:
            return self._codec.answers(reply, rows)
        except EagleError:
            raise
        except Exception as error:  # a user's own codec may raise anything
            raise ReplyError(
                f"the answers were not found in the reply {short_repr(reply)}: {message_of(error)}"
            ) from error

    def _check(self, answers: Any, rows: int) -> Array:
        array = answers if isinstance(answers, np.ndarray) else np.asarray(answers)
        kind, ask = array.dtype.kind, self._codec.probabilities
        if kind in "US" and array.size:
            raise ReplyError(
                f"the endpoint answered with labels, such as {short_repr(array.flat[0])}, not with "
                f"probabilities: {ask}"
            )
        if kind in "iub" and array.size == len(array) and not self._integers:
            raise ReplyError(
                f"the endpoint answered with integers, such as {short_repr(array.flat[0])}, as a "
                f"model does that gives labels: {ask}; if they are quantities, say integers=True"
            )
        return check_reply(array, rows)


@final
class _Count:
    """The tokens that were billed, and the characters of the prompts that they were billed for."""

    def __init__(self) -> None:
        self.tokens, self._characters, self._replies, self._own = 0, 0, 0, PerProcess()

    def add(self, characters: int, tokens: int) -> None:
        with self._own.lock:
            self.tokens += tokens
            self._replies += 1
            self._characters += characters if tokens else 0

    @property
    def silent(self) -> bool:
        """Whether there were replies, and none said how many tokens it took."""
        return self._replies > 0 and not self.tokens

    @property
    def characters_each(self) -> float:
        return self._characters / self.tokens if self.tokens else CHARACTERS


def _plain(value: Any) -> Any:
    """A numpy array or scalar of a user's request, as JSON can hold it."""
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
