"""A small server of a predict endpoint in this process: three protocols, and faults on demand."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

import numpy as np

Answer: TypeAlias = Callable[[Any], Any]


def shares(rows: Any) -> Any:
    """Probabilities of two classes, with all the digits that a float has."""
    x = np.asarray(rows, dtype=np.float64)
    total = np.sum([(j + 1) * x[:, j] / 7 for j in range(x.shape[1])], axis=0)  # in one order
    p = 1 / (1 + np.exp(-total))
    return np.column_stack([1 - p, p])


class Served:
    """A server on loopback. `faults` are taken in turn, one a request; then it answers well."""

    def __init__(self, protocol: str = "v2", answer: Answer = shares, delay: float = 0.0) -> None:
        self.protocol, self.answer, self.delay = protocol, answer, delay
        self.faults: list[Fault] = []
        self.requests: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.lock = threading.Lock()
        self.busy = self.busiest = 0
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def setup(self) -> None:
                super().setup()
                with served.lock:
                    served.connections += 1

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                served.take(self)

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass  # a client that has gone away is part of the tests

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.root = f"http://127.0.0.1:{self.port}"
        paths = {"v2": "/v2/models/rf/infer", "mlflow": "/invocations"}
        self.url = self.root + paths.get(protocol, "/v1/models/rf:predict")
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def rows(self) -> list[Any]:
        """All rows that were asked, in the order of the requests."""
        return [row for request in self.requests for row in rows_of(request)]

    def take(self, handler: Any) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self.lock:
            self.requests.append(body)
            self.headers.append({k.lower(): v for k, v in handler.headers.items()})
            fault = self.faults.pop(0) if self.faults else None
            self.busy += 1
            self.busiest = max(self.busy, self.busiest)
        try:
            time.sleep(self.delay)
            if fault is not None:
                fault(handler, lambda: self.reply(body))
            else:
                write(handler, json.dumps(self.reply(body)).encode())
        finally:
            with self.lock:
                self.busy -= 1

    def reply(self, body: Any) -> Any:
        made = np.asarray(self.answer(rows_of(body)))
        if self.protocol == "v2":
            name = body.get("outputs", [{"name": "predict"}])[0]["name"]
            return {
                "model_name": "rf",
                "id": body["id"],
                "outputs": [
                    {
                        "name": name,
                        "shape": list(made.shape),
                        "datatype": {"i": "INT64", "U": "BYTES"}.get(made.dtype.kind, "FP64"),
                        "data": made.ravel().tolist(),
                    }
                ],
            }
        return {"predictions": made.tolist()}


Fault: TypeAlias = Callable[[Any, Callable[[], Any]], None]
"""What is done to a request in place of answering it: its handler, and the right reply."""


def rows_of(body: Any) -> list[Any]:
    """The rows of a request of any of the protocols."""
    if "dataframe_split" in body:
        return list(body["dataframe_split"]["data"])
    if "inputs" not in body:
        return list(body["instances"])
    if "id" not in body:
        return list(body["inputs"])
    tensors = body["inputs"]
    if len(tensors) == 1:
        return list(np.reshape(np.array(tensors[0]["data"]), tensors[0]["shape"]).tolist())
    return [list(row) for row in zip(*(t["data"] for t in tensors), strict=True)]


def write(handler: Any, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    said = {"content-type": "application/json", "content-length": str(len(body))}
    for name, value in (said | {k.replace("_", "-"): v for k, v in headers.items()}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def status(code: int, words: str = "no", **headers: str) -> Fault:
    return lambda handler, _: write(handler, words.encode(), code, **headers)


def said(body: str, **headers: str) -> Fault:
    """A reply of these words, as if all were well."""
    return lambda handler, _: write(handler, body.encode(), 200, **headers)


def reset(handler: Any, _: Any) -> None:
    """The connection is reset without a word."""
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.close_connection = True
    handler.wfile = handler.connection.makefile("wb")
    handler.connection.close()


def half(handler: Any, reply: Callable[[], Any]) -> None:
    """Half of the answer, and then the connection ends."""
    whole = json.dumps(reply()).encode()
    handler.send_response(200)
    handler.send_header("content-length", str(len(whole)))
    handler.end_headers()
    handler.wfile.write(whole[: len(whole) // 2])
    handler.wfile.flush()
    handler.close_connection = True


def drip(handler: Any, reply: Callable[[], Any]) -> None:
    """The answer, a byte every 20 ms."""
    whole = json.dumps(reply()).encode()
    handler.send_response(200)
    handler.send_header("content-length", str(len(whole)))
    handler.end_headers()
    try:
        for byte in whole:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(0.02)
    except OSError:  # the client has had enough
        handler.close_connection = True


def changed(change: Callable[[Any], Any]) -> Fault:
    """The right reply, changed."""
    return lambda handler, reply: write(handler, json.dumps(change(reply())).encode())
