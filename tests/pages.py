"""Pages for tests: a real server on this machine, in a thread, and clients that talk to it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import pandas as pd

from eagle import Explainer
from eagle.web.server import SETTINGS, PreparedPage, prepared

TOKEN = "a-token-that-only-tests-use"

HOSTILE = '"><img src=x onerror=alert(1)>'


@dataclass(eq=False)
class Line:
    """A model that counts its rows, is slow if it should be, and fails if two threads ask it."""

    wait: float = 0.0
    rows: int = 0
    calls: int = 0
    crowded: bool = False
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, table: pd.DataFrame) -> Any:
        if not self._busy.acquire(blocking=False):
            self.crowded = True
            raise RuntimeError("two threads ask at once")
        try:
            self.rows += len(table)
            self.calls += 1
            time.sleep(self.wait)
            return answers(table)
        finally:
            self._busy.release()


def answers(table: pd.DataFrame) -> Any:
    """Probabilities of two classes."""
    z = 0.05 * (table["age"] - 45) + 0.1 * (table["hours"] - 40) + (table["job"] == "boss")
    yes = 1 / (1 + np.exp(-z.to_numpy(dtype=float)))
    return np.stack([1 - yes, yes], axis=1)


def people(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "hours": rng.normal(40, 8, rows).round(1),
            "job": rng.choice(["clerk", "boss", HOSTILE], rows),
            "joined": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 999, rows), "D"),
            HOSTILE: rng.normal(size=rows).round(3),
        },
        index=[f"person {i}" for i in range(rows)],
    )


def explainer(model: Any, data: Any | None = None, **options: Any) -> Explainer:
    given = people() if data is None else data
    return Explainer(model, given, outputs=("no", HOSTILE), task="classification", **options)


Events = Generator[tuple[str, int, Any], None, None]


@dataclass(frozen=True)
class Served:
    """A server that runs, and requests to it that show the token."""

    page: PreparedPage
    url: str

    @property
    def link(self) -> str:
        return self.page.link

    def client(self, name: str = "a client", **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {TOKEN}", "X-Client": name}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, **options)

    def post(self, path: str, **body: Any) -> httpx.Response:
        with self.client() as client:
            return client.post(f"/api/{path}", json=body)

    def ticket(self, name: str = "a client", **wish: Any) -> str:
        with self.client(name) as client:
            ticket: str = client.post("/api/runs", json=wish).json()["ticket"]
            return ticket

    def events(self, ticket: str, after: int | None = None) -> Events:
        """The events of a run: their names, numbers and data."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        with (
            httpx.Client(base_url=self.url, timeout=60) as client,
            client.stream("GET", f"/api/stream/{ticket}", headers=headers) as stream,
        ):
            name, number = "", -1
            for line in stream.iter_lines():
                key, _, value = line.partition(": ")
                if key == "event":
                    name = value
                elif key == "id":
                    number = int(value)
                elif key == "data":
                    yield name, number, json.loads(value)


@contextmanager
def served(ex: Any, X: Any, **options: Any) -> Iterator[Served]:
    """A page under way, which ends in the end."""
    import uvicorn

    given: dict[str, Any] = {"token": TOKEN, "port": 0, **options}
    page = prepared(ex, X, **given)
    server = uvicorn.Server(uvicorn.Config(page.app, **SETTINGS))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [page.line]})
    thread.start()
    try:
        yield Served(page, page.link.split("/#")[0])
    finally:
        server.should_exit = True
        thread.join(20)
        page.close()
        assert not thread.is_alive()
