"""Pages for tests: a real server on this machine, in a thread, and clients that talk to it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import pandas as pd

from eagle import Explainer
from eagle.web.server import SETTINGS, Page, prepare_page
from tables import explainer_of

TOKEN = "a-token-that-only-tests-use"

HOSTILE = '"><img src=x onerror=alert(1)>'


HANGS = 120.0
"""Seconds for which a model hangs if no test frees it."""


def an_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@dataclass(eq=False)
class Line:
    """A model that counts its rows and the threads that ask it, is slow if it should be, and hangs
    while it is not `free`."""

    wait: float = 0.0
    rows: int = 0
    calls: int = 0
    threads: set[int] = field(default_factory=set)
    free: threading.Event = field(default_factory=an_event)

    def __call__(self, table: pd.DataFrame) -> Any:
        self.rows += len(table)
        self.calls += 1
        self.threads.add(threading.get_ident())
        time.sleep(self.wait)
        self.free.wait(HANGS)
        return answers(table)


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
    return explainer_of(model, given, outputs=("no", HOSTILE), task="classification", **options)


@dataclass(frozen=True)
class Served:
    """A server that runs, and requests to it that show the token."""

    page: Page
    url: str

    @property
    def link(self) -> str:
        return self.page.link

    def client(self, **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, **options)

    def post(self, path: str, **body: Any) -> httpx.Response:
        with self.client() as client:
            return client.post(f"/api/{path}", json=body)

    def sent(self, path: str, **body: Any) -> socket.socket:
        """The line of a request that was sent, and whose answer nobody waits for."""
        return send(self.url, path, body)

    def run(self, **wish: Any) -> Generator[tuple[str, Any], None, None]:
        """The events of a run: their names and data."""
        with self.client() as client, client.stream("POST", "/api/run", json=wish) as stream:
            assert stream.status_code == 200, stream.read()
            for line in stream.iter_lines():
                event = json.loads(line)
                yield event["event"], event["data"]

    def result(self, **wish: Any) -> Any:
        """What a run gives in the end."""
        *_, (name, data) = self.run(**wish)
        assert name == "done", data
        return data


def send(url: str, path: str, body: Any) -> socket.socket:
    """Send a request to a page without waiting for its answer; close the line to leave."""
    host, _, port = url.removeprefix("http://").partition(":")
    content = json.dumps(body).encode()
    head = (
        f"POST /api/{path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    line = socket.create_connection((host, int(port)), timeout=60)
    line.sendall(head.encode() + content)
    return line


def until(met: Callable[[], bool]) -> None:
    """Wait until something is so; a test fails where it does not become so."""
    deadline = time.monotonic() + 60
    while not met():
        assert time.monotonic() < deadline, "this does not happen"
        time.sleep(0.005)


@contextmanager
def served(ex: Any, X: Any, **options: Any) -> Iterator[Served]:
    """A page under way, which ends in the end."""
    import uvicorn

    given: dict[str, Any] = {"token": TOKEN, "port": 0, **options}
    page = prepare_page(ex, X, **given)
    server = uvicorn.Server(uvicorn.Config(page.app, **SETTINGS))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [page.socket]})
    thread.start()
    try:
        yield Served(page, page.link.split("/#")[0])
    finally:
        server.should_exit = True
        thread.join(20)
        page.close()
        assert not thread.is_alive()
