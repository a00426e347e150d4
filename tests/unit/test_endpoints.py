"""Models behind an endpoint: what is sent, what comes back, and all that may go wrong between."""

from __future__ import annotations

import json
import pickle
import ssl
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import eagle
from eagle import InputError, ModelError, ReplyError, Texts
from eagle.errors import DeniedError, RefusedError
from eagle.models import wire
from eagle.models.http import (
    Codec,
    Endpoint,
    Instances,
    Invocations,
    OpenInference,
    Retry,
    Template,
)
from eagle.models.ledger import Ledger
from eagle.models.wire import RETRY_STATUSES
from served import Served, changed, drip, half, reset, rows_of, said, shares, status

X = np.random.default_rng(0).normal(size=(40, 3))
PROTOCOLS = ("v2", "mlflow", "instances")


class Naps:
    """A sleep that only writes down how long it would have been."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


@pytest.fixture(params=PROTOCOLS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with Served(request.param) as server:
        yield server


@pytest.fixture
def v2() -> Iterator[Served]:
    with Served("v2") as server:
        yield server


def endpoint(served: Served, **settings: Any) -> Endpoint:
    protocol: Any = settings.pop("protocol", served.protocol)
    settings.setdefault("retries", Retry(3, sleep=Naps()))
    return Endpoint(served.url, protocol, **settings)


# -- what is sent and what comes back -------------------------------------------------------------


def test_every_digit_survives(served: Served) -> None:
    assert np.array_equal(endpoint(served)(X), shares(X))
    assert np.array_equal(np.array(served.rows), X)


def test_batches_by_rows_and_at_most_so_many_at_once(served: Served) -> None:
    served.delay = 0.02
    ask = endpoint(served, batch_rows=7, concurrency=3)
    assert np.array_equal(ask(X), shares(X))
    assert sorted(len(r) for r in map(rows_of, served.requests)) == [5, 7, 7, 7, 7, 7]
    assert served.busiest <= 3
    assert served.connections <= 3  # kept alive


def test_batches_by_bytes(served: Served) -> None:
    long = np.concatenate([np.ones((1, 3)), X])  # a short row first: later ones are longer
    ask = endpoint(served, batch_bytes=1000)
    assert np.array_equal(ask(long), shares(long))
    assert max(len(json.dumps(r)) for r in served.requests) <= 1000
    with pytest.raises(InputError, match=r"one row takes \d+ bytes.*larger batch_bytes"):
        endpoint(served, batch_bytes=50)(X)


MIXED = pd.DataFrame(
    {
        "age": np.arange(3, dtype=np.int64),
        "pay": np.array([0.1, 0.2, 1 / 3]),
        "job": ["smith", "nurse", "«ß»"],
        "old": [True, False, True],
    }
)


def test_a_mixed_table_travels_by_columns_with_names_and_dtypes() -> None:
    with Served("v2", lambda rows: [[0.5, 0.5]] * len(rows)) as server:
        endpoint(server)(MIXED)
        (body,) = server.requests
    sent = {t["name"]: (t["datatype"], t["shape"], t["data"]) for t in body["inputs"]}
    assert sent == {
        "age": ("INT64", [3, 1], [0, 1, 2]),
        "pay": ("FP64", [3, 1], [0.1, 0.2, 1 / 3]),
        "job": ("BYTES", [3, 1], ["smith", "nurse", "«ß»"]),
        "old": ("BOOL", [3, 1], [True, False, True]),
    }
    assert body["outputs"] == [{"name": "predict_proba"}]
    assert body["id"]


@pytest.mark.parametrize("table", [MIXED, pl.from_pandas(MIXED), pl.from_pandas(MIXED).to_arrow()])
def test_tables_of_all_kinds_travel_as_dataframe_split(table: Any) -> None:
    with Served("mlflow", lambda rows: [[0.5, 0.5]] * len(rows)) as server:
        endpoint(server, batch_rows=2)(table)
        first, second = sorted(
            (r["dataframe_split"] for r in server.requests), key=lambda r: -len(r["data"])
        )
    assert first["columns"] == ["age", "pay", "job", "old"]
    assert first["data"] == [[0, 0.1, "smith", True], [1, 0.2, "nurse", False]]
    assert second["data"] == [[2, 1 / 3, "«ß»", True]]


def test_numbers_of_one_dtype_are_one_tensor_unless_columns_are_wanted(v2: Served) -> None:
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abc"))
    endpoint(v2)(frame)
    endpoint(v2, protocol=OpenInference("rf", columns=True))(frame)
    one, apart = v2.requests
    assert [(t["name"], t["datatype"], t["shape"]) for t in one["inputs"]] == [
        ("input-0", "FP32", [40, 3])
    ]
    assert np.array_equal(np.float32(one["inputs"][0]["data"]).reshape(40, 3), frame.to_numpy())
    assert [t["name"] for t in apart["inputs"]] == ["a", "b", "c"]


def test_a_mixed_table_is_no_tensor(v2: Served) -> None:
    with pytest.raises(InputError, match="columns of different dtypes cannot be one tensor"):
        endpoint(v2, protocol=OpenInference("rf", columns=False))(MIXED)


def test_instances_by_name() -> None:
    with Served("instances", lambda rows: [[0.5, 0.5]] * len(rows)) as server:
        endpoint(server, protocol=Instances(named=True))(MIXED)
        assert server.requests[0]["instances"][1] == {
            "age": 1,
            "pay": 0.2,
            "job": "nurse",
            "old": False,
        }


def test_texts_and_images_travel_too() -> None:
    def half_each(rows: Any) -> Any:
        return [[0.25, 0.75]] * len(rows)

    with Served("instances", half_each) as server:
        e = eagle.Explainer(endpoint(server), Texts(), budget=20).explain("a good film")
        assert e.prediction == 0.75
        assert {type(row) for row in server.rows} == {str}
    with Served("v2", half_each) as server:
        endpoint(server)(np.zeros((5, 4, 4, 3), dtype=np.uint8))
        (tensor,) = server.requests[0]["inputs"]
        assert (tensor["shape"], tensor["datatype"]) == ([5, 4, 4, 3], "UINT8")


def test_a_template_builds_any_request_and_picks_any_answer(v2: Served) -> None:
    v2.faults = [said('{"data": [{"scores": [[0.25, 0.75], [0.5, 0.5]]}]}')] * 2
    for pick in ("data.0.scores", lambda reply: reply["data"][0]["scores"]):
        template = Template(lambda rows: {"inputs": rows, "id": "x"}, pick)
        ask = Endpoint(v2.url, template)
        with pytest.raises(ReplyError, match=r"asked 3 rows but answered 2"):
            ask(X[:3])
    for pick in ("data.².scores", "data.٣.scores", "data." + "9" * 5000, "data.-1.scores"):
        v2.faults = [said('{"data": [{"scores": [[0.25, 0.75], [0.5, 0.5]]}]}')]
        with pytest.raises(ReplyError):
            Endpoint(v2.url, Template(lambda rows: {"inputs": rows, "id": "x"}, pick))(X[:2])
    v2.faults = [said("[[0.25, 0.75], [0.5, 0.5]]")]
    bare = Endpoint(v2.url, Template(lambda rows: {"instances": rows}))
    assert bare(X[:2]).tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert v2.requests[-1] == {"instances": X[:2].tolist()}


def test_protocols_are_complete_and_strings_are_for_the_front_door() -> None:
    for made in (OpenInference("m"), Invocations(), Instances(), Template(list)):
        assert isinstance(made, Codec)
    with pytest.raises(InputError, match="a protocol is 'v2', 'mlflow', 'instances'"):
        Endpoint("http://host/x", "grpc")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the address names the model"):
        Endpoint("http://host", "v2")


@pytest.mark.parametrize(
    ("url", "protocol", "posted"),
    [
        ("http://h/v2/models/m/infer", "v2", "http://h/v2/models/m/infer"),
        ("http://h/v2/models/m", "v2", "http://h/v2/models/m/infer"),
        (
            "http://h/v2/models/m/versions/3/infer",
            "v2",
            "http://h/v2/models/m/versions/3/infer",
        ),
        ("http://h:80/", OpenInference("m"), "http://h:80/v2/models/m/infer"),
        ("http://h", "mlflow", "http://h/invocations"),
        ("http://h/invocations", "mlflow", "http://h/invocations"),
        ("http://h/x/v1/models/m:predict?a=b", "instances", "http://h/x/v1/models/m:predict?a=b"),
    ],
)
def test_where_it_is_posted(url: str, protocol: Any, posted: str) -> None:
    assert Endpoint(url, protocol)._wire.url == posted


# -- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("code", RETRY_STATUSES)
def test_what_may_be_sent_again_is(served: Served, code: int) -> None:
    naps = Naps()
    served.faults = [status(code), status(code)]
    ask = endpoint(served, retries=Retry(2, first=1.0, sleep=naps))
    assert np.array_equal(ask(X), shares(X))
    assert len(naps.taken) == 2
    assert 0.5 <= naps.taken[0] <= 1.0 <= naps.taken[1] <= 2.0
    assert len({h["idempotency-key"] for h in served.headers}) == 1
    ask(X[:3])
    assert len({h["idempotency-key"] for h in served.headers}) == 2


def test_retry_after_is_kept_in_seconds_and_as_a_date(v2: Served) -> None:
    naps = Naps()
    date = formatdate(time.time() + 30, usegmt=True)
    v2.faults = [status(429, retry_after="7"), status(503, retry_after=date)]
    endpoint(v2, retries=Retry(2, sleep=naps))(X)
    assert naps.taken[0] == 7
    assert 20 < naps.taken[1] <= 30
    v2.faults = [status(429, retry_after="3600")]
    with pytest.raises(ModelError, match="status 429 Too Many Requests"):
        endpoint(v2)(X)


def test_patience_has_an_end(v2: Served) -> None:
    v2.faults = [status(503, "asleep")] * 9
    with pytest.raises(
        RefusedError, match=r"asked 40 rows .* 503 Service Unavailable, 4 times: «as"
    ):
        endpoint(v2)(X)
    assert len(v2.requests) == 4


@pytest.mark.parametrize("code", [300, 302, 400, 401, 402, 403, 404, 413, 418, 422, 501, 505])
def test_what_may_not_be_sent_again_is_not(served: Served, code: int) -> None:
    served.faults = [status(code, "first words\nsecond\x1b[31m" + "y" * 1000)]
    with pytest.raises(ModelError, match=f"status {code} .*«first words second") as caught:
        endpoint(served)(X)
    assert len(served.requests) == 1
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert isinstance(caught.value, RefusedError)
    assert isinstance(caught.value, DeniedError) == (code < 400 or code in (401, 402, 403, 404))
    if code in (401, 403):
        assert "token_env" in str(caught.value)
    if code == 413:
        assert "smaller batch_bytes" in str(caught.value)


@pytest.mark.parametrize("fault", [reset, half])
def test_a_dropped_connection_is_tried_once_more_on_a_fresh_one(
    served: Served, fault: Callable[..., None]
) -> None:
    ask = endpoint(served)
    ask(X[:2])
    before = served.connections
    served.faults = [fault]
    assert np.array_equal(ask(X), shares(X))
    assert served.connections > before
    served.faults = [fault, fault]
    with pytest.raises(
        ModelError, match=r"dropped the connection twice when asked 40 rows.*billed"
    ):
        ask(X)
    assert len(served.requests) == 5


def test_a_slow_drip_ends_at_the_timeout(v2: Served) -> None:
    v2.faults = [drip]
    with pytest.raises(ModelError, match=r"did not answer 40 rows within 0.3 s.*may be billed"):
        endpoint(v2, timeout=0.3)(X)
    assert len(v2.requests) == 1
    v2.delay = 1.0
    with pytest.raises(ModelError, match=r"did not answer 40 rows within 0.3 s"):
        endpoint(v2, timeout=0.3)(X)


def _fewer(reply: Any) -> Any:
    if "predictions" in reply:
        return {"predictions": reply["predictions"][:-1]}
    tensor = reply["outputs"][0]
    rows, width = tensor["shape"]
    short = {**tensor, "shape": [rows - 1, width], "data": tensor["data"][:-width]}
    return {"outputs": [short]}


def _first(value: Any) -> Callable[[Any], Any]:
    def put(reply: Any) -> Any:
        if "predictions" in reply:
            reply["predictions"][0][0] = value
        else:
            reply["outputs"][0]["data"][0] = value
        return reply

    return put


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (changed(_fewer), "40 rows"),
        (changed(_first(float("nan"))), "1 of 40 rows with NaN"),
        (changed(_first(None)), "1 of 40 rows with NaN"),
        (changed(_first(1e400)), "1 of 40 rows with NaN or infinity"),
        (changed(_first("yes")), "labels, such as"),
        (said("<html>Sign in</html>", content_type="text/html"), r"text/html, not JSON: «<html>Si"),
        (said(""), "not JSON"),
        (said("[" * 100_000), "not JSON"),
        (said("{}"), "is this its protocol"),
        (said("null"), "is this its protocol"),
        (said("3"), "is this its protocol"),
        (said('{"predictions": [[1, 2], [3]]}'), "no table of numbers|is this its protocol"),
        (said('{"predictions": "many"}'), "is this its protocol"),
        (said('{"outputs": [{"name": "predict_proba"}]}'), "is this its protocol"),
        (said('{"outputs": []}'), "was asked for, but|is this its protocol"),
    ],
)
def test_what_is_no_answer_is_said(served: Served, fault: Any, sentence: str) -> None:
    served.faults = [fault]
    with pytest.raises(ReplyError, match=sentence):
        endpoint(served)(X)
    assert len(served.requests) == 1  # it was paid for: sending it again would be paid again


@pytest.mark.parametrize(
    "labels", [[0, 1] * 20, [[1]] * 40, [True, False] * 20, ["no", "yes"] * 20]
)
def test_labels_are_noticed(served: Served, labels: Any) -> None:
    served.answer = lambda rows: labels
    hint = {"v2": "output='predict_proba'", "mlflow": "pyfunc_predict_fn", "instances": "deploy"}
    with pytest.raises(ReplyError, match=hint[served.protocol]):
        endpoint(served)(X)


def test_integers_may_be_quantities(served: Served) -> None:
    served.answer = lambda rows: list(range(len(rows)))
    assert endpoint(served, integers=True)(X).ravel().tolist() == list(range(40))


def test_the_tensor_that_was_asked_for(v2: Served) -> None:
    v2.faults = [changed(lambda r: {"outputs": [{**r["outputs"][0], "name": "predict"}]})]
    with pytest.raises(ReplyError, match=r"'predict_proba' was asked for.*\['predict'\]"):
        endpoint(v2)(X)
    assert "outputs" in v2.requests[0]
    endpoint(v2, protocol=OpenInference("rf", output=None))(X)
    assert "outputs" not in v2.requests[1]


def test_an_error_stops_what_was_not_sent_yet(v2: Served) -> None:
    v2.delay = 0.02
    v2.faults = [status(400)]
    with pytest.raises(ModelError, match="status 400"):
        endpoint(v2, batch_rows=1, concurrency=1)(X)
    assert len(v2.requests) <= 2


def test_missing_values_and_infinities_are_noticed_here(served: Served) -> None:
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(InputError, match=r"missing values, .*missing='null'"):
        endpoint(served)(bad)
    with pytest.raises(InputError, match="missing values in the column 'b'"):
        endpoint(served)(pd.DataFrame(bad, columns=list("abc")))
    with pytest.raises(InputError, match="missing values in the column 'job'"):
        endpoint(served)(MIXED.assign(job=["a", None, "b"]))
    with pytest.raises(InputError, match="infinities"):
        endpoint(served, missing="null")(np.where(np.isnan(bad), np.inf, bad))
    assert not served.requests
    served.answer = lambda rows: [[0.5, 0.5]] * len(rows)
    endpoint(served, missing="null")(bad)
    assert served.rows[3][1] is None


# -- secrets --------------------------------------------------------------------------------------


def test_secrets_come_from_the_environment_and_stay_there(
    v2: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEST_TOKEN", "tell-nobody")
    monkeypatch.setenv("TEST_KEY", "hush-hush")
    ask = endpoint(
        v2,
        token_env="TEST_TOKEN",
        headers_env={"x-api-key": "TEST_KEY"},
        ledger=tmp_path / "a.db",
        version="1",
    )
    ask(X)
    assert v2.headers[0]["authorization"] == "Bearer tell-nobody"
    assert v2.headers[0]["x-api-key"] == "hush-hush"
    v2.faults = [status(401, "Bearer tell-nobody and hush-hush are wrong")]
    with pytest.raises(ModelError, match="Bearer … and … are wrong") as caught:
        ask(X + 1)
    explainer = eagle.Explainer(ask, X)
    kept = [repr(ask), repr(caught.value), explainer.describe()]
    raw = b"".join([p.read_bytes() for p in tmp_path.iterdir()] + [pickle.dumps(explainer)])
    for secret in ("tell-nobody", "hush-hush"):
        assert secret not in "".join(kept)
        assert secret.encode() not in raw
    monkeypatch.delenv("TEST_TOKEN")
    with pytest.raises(InputError, match="the environment variable TEST_TOKEN is not set"):
        ask(X + 2)


def test_addresses_hold_no_secrets() -> None:
    with pytest.raises(InputError, match="environment variable"):
        Endpoint("https://me:secret@host/invocations", "mlflow")
    hidden = Endpoint("https://host/invocations?key=secret", "mlflow")
    assert "secret" not in repr(hidden)
    for url in ("host/invocations", "ftp://host", 3):
        with pytest.raises(InputError, match="begins with http"):
            Endpoint(url, "mlflow")  # type: ignore[arg-type]


def test_an_endpoint_survives_a_pickle(served: Served) -> None:
    ask = endpoint(served, retries=2)
    ask(X)
    again = pickle.loads(pickle.dumps(ask))
    assert np.array_equal(again(X), shares(X))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"batch_rows": 0}, "batch_rows must be an integer"),
        ({"concurrency": 1.5}, "concurrency must be an integer"),
        ({"timeout": 0}, "timeout.* must be a positive number"),
        ({"retries": -1}, "retries must be an integer"),
        ({"missing": "drop"}, "missing must be 'refuse' or 'null'"),
    ],
)
def test_settings_that_make_no_sense(settings: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Endpoint("http://host", "mlflow", **settings)


def test_no_rows_and_odd_things(served: Served) -> None:
    nothing: Any
    for nothing in (X[:0], []):
        with pytest.raises(InputError, match="no rows"):
            endpoint(served)(nothing)
    with pytest.raises(InputError, match="rows of numbers, texts or a table"):
        endpoint(served)(X.astype(complex))
    broken = Template(lambda rows: {"x": object()})
    with pytest.raises(InputError, match="cannot be written as JSON"):
        Endpoint(served.url, broken)(X)
    assert not served.requests


def test_certificates_are_verified(v2: Served) -> None:
    trusted = wire._ssl_context()
    assert trusted.verify_mode is ssl.CERT_REQUIRED
    assert trusted.check_hostname
    with pytest.raises(RefusedError, match="could not be reached"):
        Endpoint(v2.url.replace("http:", "https:"))(X)
    assert not v2.requests


# -- what is retried, and what ends it ------------------------------------------------------------


@pytest.mark.parametrize("code", [409, 529])
def test_which_statuses_are_sent_again_is_a_setting(v2: Served, code: int) -> None:
    v2.faults = [status(code)]
    with pytest.raises(RefusedError, match=f"status {code}"):
        endpoint(v2)(X)
    v2.faults = [status(code)]
    ask = endpoint(v2, retries=Retry(3, statuses=(code,), sleep=Naps()))
    assert np.array_equal(ask(X), shares(X))
    v2.faults = [status(500)]
    with pytest.raises(ModelError, match="status 500"):
        ask(X)
    for wrong in ("429", 429, (200,), (4290,), ("429",)):
        with pytest.raises(InputError, match=r"statuses must be a list|a status to retry"):
            Retry(statuses=wrong)  # type: ignore[arg-type]


def spent(**body: str) -> Any:
    return status(429, json.dumps({"error": body}))


DENIED: dict[str, Any] = {
    "no token": status(401),
    "not paid": status(402, "Insufficient Balance"),
    "not allowed": status(403),
    "not there": status(404),
    "moved": status(308, location="https://elsewhere"),
    "quota by its code": spent(code="insufficient_quota", message="check your plan"),
    "quota by its type": spent(
        type="insufficient_quota", message="You exceeded your current quota"
    ),
    "quota in words": spent(message="You exceeded your current quota, check your billing details"),
    "quota in other words": spent(message="The monthly quota is exhausted."),
    "credits": spent(message="Your credits are used up"),
}


@pytest.mark.parametrize(
    ("which", "gaps"), [*((which, 0.5) for which in DENIED), ("no token", 0.0), ("credits", 0.0)]
)
def test_what_every_request_would_get_ends_it_at_the_first_answer(
    which: str, gaps: float, tmp_path: Path
) -> None:
    """No request begins after such an answer, however many may fail; what was answered is kept."""
    with Served("instances") as server:
        server.faults = [DENIED[which]] * 999
        settings: dict[str, Any] = {"batch_rows": 1, "concurrency": 3, "gaps": gaps}
        ask = Endpoint(server.url, "instances", ledger=tmp_path / "a.db", **settings)
        with pytest.raises(DeniedError) as caught:
            eagle.Explainer(ask, X, budget=100).explain(X[0])
        assert 1 <= len(server.requests) <= 3
        assert caught.value.answers is None
        assert ("the quota is spent" in str(caught.value)) == (which not in list(DENIED)[:5])
        server.requests.clear()
        server.faults = [*[changed(lambda reply: reply)] * 40, *[DENIED[which]] * 999]
        with pytest.raises(DeniedError) as caught:
            eagle.Explainer(ask, X, budget=100).explain(X[0])
        assert 40 < len(server.requests) <= 43
        assert np.isfinite(caught.value.answers).all(axis=1).sum() == 40
        summary = Ledger(tmp_path / "a.db").summary()
        assert (summary.rows, summary.doubt, summary.flight) == (40, 0, 0)


@pytest.mark.parametrize(
    "fault",
    [
        status(429, "Rate limit reached: 3 requests per minute"),
        spent(code="rate_limit_exceeded", message="Please try again in 20s."),
        spent(message="Quota exceeded for requests per minute per region"),
        status(429, '{"error": "quota exceeded"}', retry_after="0"),
    ],
)
def test_too_fast_is_not_a_quota_that_is_spent(v2: Served, fault: Any) -> None:
    v2.faults = [fault]
    assert np.array_equal(endpoint(v2)(X), shares(X))
    assert len(v2.requests) == 2


def test_who_waits_to_be_sent_again_is_not_after_the_end(tmp_path: Path) -> None:
    """One request waits for a minute; the next is denied: it ends at once, and sends nothing."""
    with Served("instances") as server:
        server.faults = [status(429, retry_after="50"), *[status(401)] * 9]
        ask = Endpoint(server.url, "instances", batch_rows=1, ledger=tmp_path / "a.db")
        with pytest.raises(DeniedError):
            ask(X)
        assert len(server.requests) <= ask.concurrency
        summary = Ledger(tmp_path / "a.db").summary()
        assert (summary.rows, summary.doubt, summary.flight) == (0, 0, 0)
