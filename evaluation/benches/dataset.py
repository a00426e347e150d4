"""Whole data sets: rows a second by number of workers, memory by number of rows, a million rows.

    python -m evaluation bench dataset [--parts workers memory rows] [--quick]

Black box: a random forest of 100 trees on 20 numbers. Workers are processes of this machine; each
figure is of one run, in processes of its own. CPU seconds are those of all processes together, and
do not depend on what else the machine does; seconds on the clock do, and the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import eagle
from eagle.saved.folders import Manifest

FEATURES: Final = 20
CHUNK: Final = 100_000


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench dataset", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.child:
        child(*args.child)
        return
    scale = 0.1 if args.quick else 1.0
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} when this began.\n")
    for part in args.parts:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](Path(folder), scale)


# -- what is measured ----------------------------------------------------------------------------


def workers(folder: Path, scale: float) -> None:
    """Rows a second by one process and by two workers, a minute of work each."""
    print(
        "| explained by | workers | rows | seconds | CPU seconds | rows/s | rows/CPU s | linear |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for how, rows in (("plans of 500 rows each", 12_000), ("a survey of 4,096 rows", 40_000)):
        count = int(rows * scale)
        write(folder / "rows.parquet", count, FEATURES)
        first: dict[str, float] = {}
        for number in (1, 2):
            found = run(folder, "survey" if "survey" in how else "plans", count, FEATURES, number)
            first = first or found
            ideal = found["rate"] / (number * first["rate"])
            print(
                f"| {how} | {number} | {count:,} | {found['seconds']:.0f} | {found['cpu']:.0f} | "
                f"{found['rate']:.0f} | {count / found['cpu']:.0f} | {ideal:.2f} |",
                flush=True,
            )
        print(
            f"| {how} | start | | {found['start']:.1f} | | | | |",
            flush=True,
        )
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}.\n")


def memory(folder: Path, scale: float) -> None:
    """The largest memory of the process that explains, and of the one that sums up."""
    print(
        "| rows | explaining: MiB | loading and summary: MiB | summary: seconds | "
        "seeing that a part is there: ms |"
    )
    print("|---|---|---|---|---|")
    for rows in (10_000, 100_000, 1_000_000):
        count = int(rows * scale)
        write(folder / "rows.parquet", count, 4)
        found = run(folder, "survey", count, 4, 1)
        read = measured("read", folder, 0, 0, 0)
        print(
            f"| {count:,} | {found['mib']:.0f} | {read['mib']:.0f} | {read['seconds']:.1f} | "
            f"{read['check']:.2f} |",
            flush=True,
        )
    print()


def rows(folder: Path, scale: float) -> None:
    """A million rows from one survey."""
    count, features = int(1_000_000 * scale), 8
    write(folder / "rows.parquet", count, features)
    found = run(folder, "survey", count, features, 2)
    size = sum(path.stat().st_size for path in (folder / "out").iterdir())
    read = measured("read", folder, 0, 0, 0)
    print(
        f"{count:,} rows of {features} numbers from one survey of 4,096 rows, 2 workers: "
        f"{found['seconds']:.0f} s, {found['cpu']:.0f} CPU s, {found['rate']:.0f} rows/s, "
        f"{1e6 * found['cpu'] / count:.0f} µs of CPU a row, {size / count:.0f} bytes a row on the "
        f"disk; no worker has the model; summary() of all: {read['seconds']:.1f} s, "
        f"{read['mib']:.0f} MiB. Load at the end: {os.getloadavg()[0]:.1f}.\n"
    )


PARTS: Final[dict[str, Callable[[Path, float], None]]] = {
    "workers": workers,
    "memory": memory,
    "rows": rows,
}


# -- in processes of their own -------------------------------------------------------------------


def write(path: Path, rows: int, features: int) -> None:
    """Numbers of a normal law, in groups of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, writer = np.random.default_rng(1), None
    for start in range(0, rows, CHUNK):
        numbers = rng.normal(size=(min(CHUNK, rows - start), features))
        frame = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(features)])
        group = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or parquet.ParquetWriter(path, group.schema)
        writer.write_table(group)
    assert writer is not None
    writer.close()


def run(folder: Path, how: str, count: int, features: int, number: int) -> dict[str, float]:
    """Explain the rows in a process of its own, anew."""
    subprocess.run(["rm", "-rf", str(folder / "out")], check=True)
    found = measured(how, folder, features, number, count)
    return found | {"rate": count / found["seconds"]}


def measured(how: str, folder: Path, features: int, number: int, count: int) -> dict[str, float]:
    told = [how, str(folder), str(features), str(number), str(count)]
    command = [sys.executable, "-m", "evaluation", "bench", "dataset", "--child", *told]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def child(how: str, where: str, features: str, number: str, count: str) -> None:
    """One run, whose figures are printed as JSON."""
    folder = Path(where)
    out = folder / "out"
    if how == "read":
        began = time.perf_counter()
        eagle.load(out).summary()
        found = {"seconds": time.perf_counter() - began, "mib": peak()}
        print(json.dumps(found | {"check": checking(out)}))
        return
    maker = made(how, int(features))
    cpu, began = spent(), time.perf_counter()
    eagle.dataset.explain(
        maker, folder / "rows.parquet", out, target=1, workers=int(number), progress=False
    )
    seconds = time.perf_counter() - began
    figures = {"seconds": seconds, "cpu": spent() - cpu, "mib": peak()}
    print(json.dumps(figures | {"start": start(maker, out) if int(number) > 1 else 0.0}))


def checking(out: Path) -> float:
    """The milliseconds that a run takes to see that a part is there, before it goes on."""
    parts = Manifest.read(out).parts
    began = time.perf_counter()
    assert all(part.there(out) for part in parts)
    return 1e3 * (time.perf_counter() - began) / len(parts)


def made(how: str, features: int) -> Any:
    """An explainer of a forest, or a survey without its model."""
    X, y = make_classification(
        5_000, features, n_informative=min(8, features), n_redundant=0, random_state=0
    )
    data = pd.DataFrame(X, columns=[f"x{j}" for j in range(features)])
    model = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(data, y)
    explainer = eagle.Explainer(model, data)
    if how != "survey":
        return explainer
    with tempfile.TemporaryDirectory() as folder:
        explainer.survey(4096, progress=False).save(Path(folder) / "survey.json")
        return eagle.load(Path(folder) / "survey.json")


def start(maker: Any, out: Path) -> float:
    """The seconds until two workers are ready: a part that is there is nothing to do."""
    from eagle.dataset.parts import Job
    from eagle.dataset.processes import pool_of
    from eagle.dataset.worker import pickle_job

    began, nothing = time.perf_counter(), cast("Any", None)
    with pool_of(pickle_job(Job(maker, nothing, out.absolute(), None, None)), 2) as submit:
        for future in [submit(part) for part in Manifest.read(out).parts[:2]]:
            future.result()
        return time.perf_counter() - began


def spent() -> float:
    """The CPU seconds of this process and of those that it has waited for."""
    own, others = (resource.getrusage(who) for who in (0, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def peak() -> float:
    """The largest memory of this process, in MiB."""
    return resource.getrusage(0).ru_maxrss / 1024
