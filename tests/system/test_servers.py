"""Endpoints against real servers, MLServer and MLflow, started here on loopback."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import eagle
from eagle import ModelError, ReplyError
from eagle.models.http import Endpoint, OpenInference
from eagle.models.ledger import Ledger

pytestmark = pytest.mark.servers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = X[:, 0] + X[:, 1] * X[:, 2] > 0
MIXED = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 300),
        "pay": RNG.normal(size=300),
        "job": RNG.choice(["clerk", "nurse", "smith"], 300),
    }
)
FOREST = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(X, Y)
PIPELINE = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"),
    LogisticRegression(max_iter=1000),
).fit(MIXED, (MIXED["job"] == "nurse") | (MIXED["pay"] > 1))


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextmanager
def running(commands: Sequence[Sequence[str]], ready: Sequence[str], home: Path) -> Iterator[None]:
    """Servers, each with all its processes, which are stopped in the end by their own group."""
    import httpx

    tools = Path(sys.executable).parent
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    servers = []
    try:
        for k, (tool, *arguments) in enumerate(commands):
            with (home / f"{k}.log").open("wb") as log:
                server = subprocess.Popen(
                    [str(tools / tool), *arguments],
                    stdout=log,
                    stderr=log,
                    env=os.environ | {"PATH": path},
                    cwd=home,
                    start_new_session=True,
                )
            servers.append(server)
        end = time.monotonic() + 120
        for url in ready:
            while not _answers(httpx, url):
                logs = "\n".join(log.read_text() for log in home.glob("*.log"))
                assert all(server.poll() is None for server in servers), logs
                assert time.monotonic() < end, logs
                time.sleep(0.2)
        yield
    finally:
        for server in servers:
            os.killpg(server.pid, signal.SIGTERM)
        for server in servers:
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


def _answers(httpx: Any, url: str) -> bool:
    try:
        return bool(httpx.get(url, timeout=2).status_code == 200)
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def mlserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("mlserver")
    http, grpc, metrics = free_ports(3)
    # With workers of its own it dies at the start under newer event loops.
    settings = {"host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "metrics_port": metrics}
    (home / "settings.json").write_text(json.dumps({**settings, "parallel_workers": 0}))
    for name, model in (("forest", FOREST), ("pipeline", PIPELINE)):
        (home / name).mkdir()
        joblib.dump(model, home / name / "model.joblib")
        about = {
            "name": name,
            "implementation": "mlserver_sklearn.SKLearnModel",
            "parameters": {"uri": "./model.joblib", "version": "v1"},
        }
        (home / name / "model-settings.json").write_text(json.dumps(about))
    root = f"http://127.0.0.1:{http}"
    ready = [f"{root}/v2/models/{name}/ready" for name in ("forest", "pipeline")]
    with running([["mlserver", "start", str(home)]], ready, home):
        yield root


SAVE = """
import sys, joblib, mlflow.sklearn
for name, function in (("forest", "predict_proba"), ("pipeline", "predict_proba"),
                       ("labels", "predict")):
    mlflow.sklearn.save_model(joblib.load(f"{name}.joblib"), name, pyfunc_predict_fn=function,
                              serialization_format="cloudpickle")
"""


@pytest.fixture(scope="module")
def mlflow_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    home = tmp_path_factory.mktemp("mlflow")
    models = {"forest": FOREST, "pipeline": PIPELINE, "labels": FOREST}
    for name, model in models.items():
        joblib.dump(model, home / f"{name}.joblib")
    subprocess.run([sys.executable, "-c", SAVE], cwd=home, check=True, capture_output=True)
    ports = dict(zip(models, free_ports(len(models)), strict=True))
    usual = ["--env-manager", "local", "--host", "127.0.0.1"]
    commands = [
        ["mlflow", "models", "serve", "-m", str(home / name), *usual, "-p", str(port)]
        for name, port in ports.items()
    ]
    roots = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    with running(commands, [f"{root}/ping" for root in roots.values()], home):
        yield roots


def test_mlserver_is_bit_equal_to_the_model(mlserver: str, tmp_path: Path) -> None:
    ask = Endpoint(mlserver, OpenInference("forest"), batch_rows=100, ledger=tmp_path / "a.db")
    assert np.array_equal(ask(X), FOREST.predict_proba(X))
    assert Ledger(tmp_path / "a.db").summary().rows == len(X)
    remote, local = (eagle.Explainer(m, X).explain(X[0]) for m in (ask, FOREST))
    assert np.array_equal(remote.scores, local.scores)


def test_mlserver_takes_a_mixed_table_by_columns(mlserver: str) -> None:
    ask = Endpoint(f"{mlserver}/v2/models/pipeline/infer")
    assert np.array_equal(ask(MIXED), PIPELINE.predict_proba(MIXED))
    explained = [eagle.Explainer(m, MIXED).explain(MIXED.iloc[0]) for m in (ask, PIPELINE)]
    assert np.array_equal(explained[0].scores, explained[1].scores)


def test_mlserver_gives_labels_unless_asked_for_more(mlserver: str) -> None:
    ask = Endpoint(mlserver, OpenInference("forest", output="predict"))
    with pytest.raises(ReplyError, match="labels"):
        ask(X)


def test_mlserver_after_an_error_of_its_own(mlserver: str) -> None:
    ask = Endpoint(mlserver, OpenInference("forest"), retries=0)
    with pytest.raises(ModelError, match="status 500"):
        ask(X[:, :3])
    assert np.array_equal(ask(X), FOREST.predict_proba(X))  # on a connection that is fresh
    with pytest.raises(ModelError, match="status 404"):
        Endpoint(mlserver, OpenInference("nobody"))(X)


def test_mlflow_is_bit_equal_to_the_model(mlflow_root: dict[str, str]) -> None:
    ask = Endpoint(mlflow_root["forest"], "mlflow", batch_rows=100)
    assert np.array_equal(ask(X), FOREST.predict_proba(X))
    remote, local = (eagle.Explainer(m, X).explain(X[0]) for m in (ask, FOREST))
    assert np.array_equal(remote.scores, local.scores)


def test_mlflow_takes_a_mixed_table_with_its_names(mlflow_root: dict[str, str]) -> None:
    ask = Endpoint(mlflow_root["pipeline"], "mlflow")
    assert np.array_equal(ask(MIXED), PIPELINE.predict_proba(MIXED))
    shuffled = MIXED[["job", "pay", "age"]]
    assert np.array_equal(ask(shuffled), PIPELINE.predict_proba(MIXED))


def test_mlflow_gives_labels_unless_saved_for_more(mlflow_root: dict[str, str]) -> None:
    with pytest.raises(ReplyError, match="pyfunc_predict_fn"):
        Endpoint(mlflow_root["labels"], "mlflow")(X)


def test_mlflow_says_what_does_not_fit(mlflow_root: dict[str, str]) -> None:
    ask = Endpoint(mlflow_root["pipeline"], "mlflow", retries=0)
    with pytest.raises(ModelError, match=r"status 4\d\d .*«.*»"):
        ask(MIXED[["age", "pay"]])
    assert np.array_equal(ask(MIXED), PIPELINE.predict_proba(MIXED))
