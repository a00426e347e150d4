"""Hostile requests: whatever is sent, the answer is never an error of the server.

Every request of `eagle.web.requests` is sent with all of its fields replaced by hostile values,
and headers, paths and bodies by bytes of all kinds. An event that says that something went wrong
counts as well.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from dataclasses import fields
from random import Random
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eagle
from eagle import Explainer
from eagle.web.app import ENDPOINTS, UNKNOWN_ERROR
from eagle.web.requests import ApiRequest, Run
from pages import TOKEN, Line, Served, answers, explainer, people, served

pytestmark = pytest.mark.web

DIGITS = ("²", "٣", "１", "", " ", "00", "-1", "1.5", "0x1", "1e3", "9" * 30, "9" * 5000, "\x00")
"""Texts that are no place, though parts of Python take some of them as digits."""

NUMBERS = (-1, 0, 1, 2, 3, 299, 300, 10**6, 2**31, 2**63, 2**64, 10**30, 10**400, -(10**400))

FLOATS = (0.0, -0.0, 1.5, 1e-320, 1e39, 1e200, -1.7e308, float("nan"), float("inf"), -float("inf"))

TEXTS = (
    *(*DIGITS, "2016-05-05", "0001-01-01", "9999-12-31T23:59:59+14:00", "2016-02-30"),
    *("2016-05-05T25:00", "10000-01-01", "20160505", "2016-W01-1", "\u202e<b>\x1b[31m", "=cmd"),
    *("\ufeff", "a" * 30_000, "age > ²", "age > nan, job = \u0130", "age = , = , >"),
    *("age >= 9" + "9" * 380, "joined > 3"),
)

OTHER: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], {"a": []}, [0] * 300, [-1], ["²"], [None]),
)

JSON = {"Content-Type": "application/json"}

THIRD = 3
"""Each field has a third of the hostile values; fields of one kind have different thirds."""

HOSTILE = (*NUMBERS, *FLOATS, *TEXTS, *OTHER)

REQUESTS: dict[str, type[ApiRequest]] = {
    **{path: kind for path, (kind, _) in ENDPOINTS.items()},
    "run": Run,
}
"""What each endpoint reads; a new one is tried without a word here."""

FITTING: dict[str, Sequence[Any]] = {
    "row": (0, 1),
    "edits": ({},),
    "target": (None, 0, 1),
    "against": (None, 0, 1),
    "sort": ("own", "prediction", "surprise"),
    "count": (60, 1),
    "rows": ([0, 1], [0] * 200, 64, None),
    "everything": (False, True),
    "kind": ("explain", "overview", "compare", "survey"),
    "until": ("all", "top", "sign"),
    "methods": (["LIME", "LIME"], []),
    "runs": (1,),
    "feature": (0, 1, 4),
    "other": (None, 2),
    "form": ("json", "report"),
    "run": (0, 1),
}
"""What some fields mean something by; the others are left out, so that they have their default."""

EDITS = st.dictionaries(
    st.sampled_from(("0", "1", "2", "3", "4", "5", "text", *DIGITS[:9])),
    st.sampled_from(HOSTILE),
    max_size=3,
)


@st.composite
def requests(draw: st.DrawFn, path: str) -> dict[str, Any]:
    """A request that fits, but for some of its fields."""
    names = [field.name for field in fields(REQUESTS[path])]
    fitting = {name: draw(st.sampled_from(FITTING[name])) for name in names if name in FITTING}
    wrong = draw(st.lists(st.sampled_from((*names, "nothing of the kind")), max_size=2))
    hostile = st.sampled_from(HOSTILE)
    return fitting | {name: draw(EDITS | hostile if name == "edits" else hostile) for name in wrong}


def of_texts(texts: Any) -> Any:
    return np.array([float(len(text)) for text in texts])


def odd_table() -> pd.DataFrame:
    """Columns of every kind, with gaps and with names and levels that are hostile themselves."""
    data = people(60).reset_index(drop=True)
    return data.assign(
        gaps=data["age"].where(data["age"] > 40).astype("Int64"),
        small=np.random.default_rng(0).integers(0, 9, 60).astype("int8"),
        flag=data["age"] > 50,
        moment=data["joined"].dt.tz_localize("UTC"),
        level=pd.Categorical(np.where(data["age"] > 50, "²", "\x1b[31m")),
        alone=pd.Series(["\ud800", "b"] * 30, dtype=object),
    )


def of_odd(table: pd.DataFrame) -> Any:
    return table["small"].to_numpy(float) + table["flag"].to_numpy(float)


PAGES: dict[str, tuple[Explainer, Any, dict[str, Any]]] = {
    "a table": (explainer(answers, budget=64), people(), {}),
    "odd columns": (Explainer(of_odd, odd_table(), budget=64), odd_table(), {"survey": 64}),
    "texts": (Explainer(of_texts, eagle.Texts(), budget=32), ["one two three", "\ud800 b"], {}),
}


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest) -> Iterator[Served]:
    ex, X, options = PAGES[request.param]
    with served(ex, X, **options) as one:
        yield one


def fine(status: int, text: str) -> None:
    assert 100 <= status < 500, text
    if status >= 400 and text.startswith("{"):
        assert json.loads(text)["error"]
    assert UNKNOWN_ERROR not in text
    assert "Traceback" not in text


def sent(client: httpx.Client, path: str, body: Any) -> None:
    """Send a request, and hear a run to its end."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    got = client.post(f"/api/{path}", content=content, headers=JSON)
    fine(got.status_code, got.text)


@pytest.mark.parametrize("path", REQUESTS)
def test_requests_of_which_some_fields_do_not_fit(page: Served, path: str) -> None:
    with page.client() as client:

        @settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
        @given(requests(path))
        def hostile(request: dict[str, Any]) -> None:
            sent(client, path, request)

        hostile()


def test_every_field_is_edited_to_hostile_values(page: Served) -> None:
    with page.client() as client:
        about = client.get("/api/about").json()
        path = "run" if about["survey"] is None else "explain"
        kind = {"kind": "explain"} if path == "run" else {}
        keys = [field["key"] for field in about["fields"]] or ["0"]
        for k, key in enumerate(keys):
            for value in HOSTILE[k % THIRD :: THIRD]:
                sent(client, path, {"row": 0, "edits": {key: value}, **kind})
        for key in DIGITS:
            sent(client, path, {"row": 0, "edits": {key: 1}, **kind})


def test_bodies_that_are_no_requests(page: Served) -> None:
    bodies = (
        b"",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"row": 0',
        b'{"row": 0, "row": 1}',
        b'{"row": "\\ud800", "search": "\\ud800"}',
        b'{"search": "\\udfff"}',
        b'{"edits": {"\\ud800": 1}, "row": 0}',
        b"[" * 100_000,
        b'{"row": ' + b"9" * 200_000 + b"}",
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        b"x" * 300_000,
    )
    with page.client() as client:
        for path in (*REQUESTS, "nothing", "about"):
            for body in bodies:
                sent(client, path, body)


@pytest.mark.parametrize("name", ["content-length", "host", "x-nothing", "range"])
def test_headers_of_any_bytes(page: Served, name: str) -> None:
    """By hand, since clients refuse to send them. A line that is closed without a word is fine."""
    values = [value.encode("latin1", "replace")[:6000] for value in DIGITS]
    values += [b"\xb2", b"\xff" * 100, b"bytes=0-99999999999999999999", b"a" * 60_000, b"1, 2"]
    for value in values:
        for method, path in (("GET", "/api/about"), ("GET", "/"), ("POST", "/api/rows")):
            lines = [
                f"{method} {path} HTTP/1.1".encode(),
                f"Authorization: Bearer {TOKEN}".encode(),
                b"Connection: close",
                name.encode() + b": " + value,
            ]
            if name != "host":
                lines.append(f"Host: {page.url.removeprefix('http://')}".encode())
            if method == "POST":
                lines.append(b"Content-Type: application/json")
                lines += [] if name == "content-length" else [b"Content-Length: 2"]
            raw(page, b"\r\n".join(lines) + b"\r\n\r\n" + b"{}")


def test_other_authorities_and_protocols(page: Served) -> None:
    host = page.url.removeprefix("http://")
    for header in (
        "Authorization: ²",
        "Authorization: Bearer \xff\xfe",
        f"Authorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked",
        f"Authorization: Bearer {TOKEN}\r\nExpect: 100-continue",
        f"Authorization: Bearer {TOKEN}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        f"Authorization: Bearer {TOKEN}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c",
    ):
        for start in (
            "GET /api/about",
            "POST /api/rows",
            "HEAD /",
            "OPTIONS /",
            "GET *",
            "TRACE /",
        ):
            text = f"{start} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            more = "" if "Connection" in header else "Connection: close\r\n"
            raw(page, f"{text}{more}{header}\r\n\r\n".encode("latin1"))


def test_paths_of_any_bytes(page: Served) -> None:
    random = Random(0)
    parts = [
        *("%00", "..", "%2e%2e", "%ff", "%f0%9f", "²", "static", "api", "run", "row", "%c2%b2"),
    ]
    parts += ["a" * 3000, "", ";", "%25", "~", ".", "x.y", "%0d%0a", "{name}", "app.js"]
    with page.client() as client:
        for _ in range(40):
            path = "/" + "/".join(random.choices(parts, k=random.randint(1, 4)))
            for method in ("GET", "POST", "HEAD", "PUT", "DELETE"):
                got = client.request(method, path, headers=JSON)
                fine(got.status_code, got.text)


def raw(page: Served, content: bytes) -> None:
    """Send bytes, and read the answer's status and its text."""
    host, _, port = page.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(content)
        line.shutdown(socket.SHUT_WR)
        got = b""
        while part := line.recv(1 << 16):
            got += part
    if got:
        fine(int(got.split(b" ", 2)[1]), got.decode("utf-8", "replace").partition("\r\n\r\n")[2])


def test_a_row_that_is_named_often_is_asked_once() -> None:
    model = Line()
    with served(explainer(model), people()) as page:
        assert page.post("predict", rows=[0] * 200).json()["spent"]["rows"] == 1
        assert page.post("predict", rows=[0, 1, 0, 1, 2]).json()["spent"]["rows"] == 3
        assert model.rows == 3
        got = page.result(kind="compare", row=0, methods=["LIME", "LIME"], runs=1)
        assert len(got["methods"]) == 1
