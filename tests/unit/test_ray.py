"""Whole data sets on a cluster of three nodes, which is started here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import EagleError, Explanations, ModelError, dataset
from wholes import NAMES, Troubled, explainer, table

pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

HEALTH = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 300,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}
"""A node that is gone is noticed within a few seconds."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes of one processor each; no worker fits on the first, where the driver is."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PYTHONPATH"] = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    import ray
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 100 << 20, "include_dashboard": False}
    made = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, **small, "_system_config": HEALTH}
    )
    made.add_node(num_cpus=1, object_store_memory=100 << 20)
    made.add_node(num_cpus=1, object_store_memory=100 << 20)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def expected() -> Explanations:
    return explainer().explain_many(table(120)[NAMES], progress=False)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    table(120).to_parquet(tmp_path / "rows.parquet", row_group_size=25)
    return tmp_path / "rows.parquet"


def explain(model: Any, rows: Path, **more: Any) -> Explanations:
    options: dict[str, Any] = {"workers": 2, "engine": "ray", **more}
    return dataset.explain(
        explainer(model),
        rows,
        rows.parent / "out",
        id_column="key",
        part_rows=6,
        progress=False,
        **options,
    )


def check(found: Explanations, expected: Explanations) -> None:
    assert list(found.ids) == list(table(120)["key"])
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.interval(), expected.interval())


def test_a_worker_that_is_killed(cluster: Any, rows: Path, expected: Explanations) -> None:
    model = Troubled(rows.parent, "die", at=5)
    check(explain(model, rows), expected)
    assert (rows.parent / "happened").exists()
    asked = model.asked()
    check(explain(model, rows), expected)
    assert model.asked() == asked  # all was there


def test_a_part_that_kills_whoever_does_it(cluster: Any, rows: Path) -> None:
    with pytest.raises(EagleError, match="a worker died at rows"):
        explain(Troubled(rows.parent, "die always"), rows)


def test_an_error_of_the_model(cluster: Any, rows: Path, expected: Explanations) -> None:
    model = Troubled(rows.parent, "raise", at=5)
    with pytest.raises(ModelError, match="a bad day"):
        explain(model, rows)
    check(explain(model, rows), expected)


def test_a_node_that_is_lost(cluster: Any, rows: Path, expected: Explanations) -> None:
    """It goes while a part is at hand on each node: the model waits until it is gone."""
    node = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    model = Troubled(rows.parent, "wait", at=4)
    done: dict[str, Any] = {}

    def run() -> None:
        done["found"] = explain(model, rows, workers=3)

    thread = Thread(target=run)
    thread.start()
    wait_for(lambda: (rows.parent / "calls").exists() and len(model.processes()) == 3)
    cluster.remove_node(node, allow_graceful=False)
    (rows.parent / "go").touch()
    thread.join(120)
    assert not thread.is_alive()
    check(done["found"], expected)


def test_a_driver_that_is_killed(cluster: Any, rows: Path, expected: Explanations) -> None:
    model = Troubled(rows.parent, "wait", at=6)
    code = f"""
from pathlib import Path
import eagle, wholes
model = wholes.Troubled(Path({str(rows.parent)!r}), "wait", at=6)
eagle.dataset.explain(wholes.explainer(model), {str(rows)!r}, {str(rows.parent / "out")!r},
    id_column="key", part_rows=6, progress=False, workers=2,
    engine=eagle.dataset.Ray({cluster.address!r}))
"""
    driver = subprocess.Popen([sys.executable, "-c", code])
    wait_for(lambda: len(list(rows.parent.glob("out/part-*"))) >= 3)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    wait_for(lambda: not any(map(lives, model.processes())))
    (rows.parent / "go").touch()
    finished = len(list(rows.parent.glob("out/part-*")))
    assert finished < 20
    check(explain(model, rows), expected)
    check(eagle.load(rows.parent / "out"), expected)


def test_fractions_of_processors_and_gpus(cluster: Any, rows: Path, expected: Explanations) -> None:
    model = Troubled(rows.parent, "nothing")
    check(explain(model, rows, workers=4, engine=dataset.Ray(cpus=0.5)), expected)
    node = cluster.add_node(num_cpus=1, num_gpus=1, object_store_memory=100 << 20)
    dataset.explain(
        explainer(),
        rows,
        rows.parent / "gpus",
        part_rows=30,
        workers=2,
        progress=False,
        engine=dataset.Ray(gpus=0.5),
    )
    np.testing.assert_array_equal(eagle.load(rows.parent / "gpus").scores, expected.scores)
    cluster.remove_node(node)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_a_cluster_without_room_is_not_waited_for_in_silence(
    cluster: Any, rows: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ends the run: what is at hand waits for a node."""
    Timer(5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as stop:
        dataset.explain(explainer(), rows, rows.parent / "out", engine=dataset.Ray(gpus=7))
    assert stop.value.__notes__[-1].startswith("0 of 1 parts are in")
    assert "waiting for a node with 0 CPUs and 7 GPUs" in capfd.readouterr().err


def wait_for(what: Any, seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
