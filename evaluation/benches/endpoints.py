"""What `Endpoint` and its ledger add to the bare HTTP call of 500 rows, measured in one run.

    python -m evaluation bench endpoints [--repeats N]

A forest of 100 trees on 20 numbers is served by a process of its own on loopback, in the Open
Inference Protocol. "Bare" is one request by httpx over a connection that is kept alive, with JSON
of the standard library, and its answers as an array. Each figure is the median over repeats in
which all sides are timed one after the other on the same new rows. The ledger is on the disk of the
temporary folder, synchronised at every commit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eagle.models.http import Endpoint

ROWS, WIDTH = 500, 20

SERVER = f"""
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
x, y = make_classification(2000, {WIDTH}, n_informative=10, random_state=0)
forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(x, y)
class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1
    def log_message(self, *_):
        pass
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        rows = body["inputs"][0]
        made = forest.predict_proba(np.reshape(rows["data"], rows["shape"]))
        out = dict(name="predict_proba", shape=made.shape, datatype="FP64",
                   data=made.ravel().tolist())
        raw = json.dumps(dict(outputs=[out])).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench endpoints")
    parser.add_argument("--repeats", type=int, default=100, help="default: 100")
    repeats = parser.parse_args(argv).repeats
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            with tempfile.TemporaryDirectory() as folder:
                measure(f"http://127.0.0.1:{port}/v2/models/rf/infer", Path(folder), repeats)
        finally:
            server.terminate()


def measure(url: str, folder: Path, repeats: int) -> None:
    import httpx

    rng = np.random.default_rng(0)
    plain = Endpoint(url)
    paid = Endpoint(url, ledger=folder / "answers.db", version="1")
    took: dict[str, list[float]] = {}
    with httpx.Client() as client:
        for repeat in range(repeats + 3):
            rows = rng.normal(size=(ROWS, WIDTH))
            sides: dict[str, Callable[[], Any]] = {
                "bare call": partial(bare, client, url, rows),
                "Endpoint": partial(plain, rows),
                "Endpoint with a ledger, new rows": partial(paid, rows),
                "Endpoint with a ledger, answered before": partial(paid, rows),
                "JSON of the request alone": partial(request, rows),
            }
            answers = []
            for name, side in sides.items():
                began = time.perf_counter()
                answers.append(side())
                if repeat >= 3:  # the first ones open connections
                    took.setdefault(name, []).append(time.perf_counter() - began)
            assert all(np.array_equal(answers[0], other) for other in answers[1:4])
    base = np.array(took["bare call"])
    print(f"{ROWS} rows of {WIDTH} numbers, {repeats} repeats")
    for name, seconds in took.items():
        ratio = float(np.median(np.array(seconds) / base))
        print(f"{name:42} {1e3 * float(np.median(seconds)):7.1f} ms {ratio:6.2f}")


def request(rows: Any) -> bytes:
    tensor = {"name": "input-0", "shape": list(rows.shape), "datatype": "FP64"}
    tensor["data"] = rows.ravel().tolist()
    body = {"id": "1", "inputs": [tensor], "outputs": [{"name": "predict_proba"}]}
    return json.dumps(body).encode()


def bare(client: Any, url: str, rows: Any) -> Any:
    reply = client.post(url, content=request(rows), headers={"content-type": "application/json"})
    tensor = json.loads(reply.content)["outputs"][0]
    return np.reshape(tensor["data"], tensor["shape"])
