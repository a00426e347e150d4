"""Saved files of every kind, and mutations of them.

A case is a number: it decides the file, what is done to it, and how. Case 17 is always the same.
"""

from __future__ import annotations

import copy
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

import eagle
from catalogue import CASES
from eagle.io import container
from eagle.models.inputs import Inputs
from eagle.models.ledger import Ledger, keys_of
from tables import TABLES, explainer_of

MODEL: Final = ("model", "1", "predict")

JUNK: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    2**62,
    10**400,
    1e308,
    "",
    "x",
    "|O",
    "<f8",
    [],
    {},
    [10**12, 10**12],
    {"is": "Popen", "args": ["true"]},
    {"is": "Explanation"},
    10**9,
    {"array": "<f8", "shape": [10**9], "data": "AAAA"},
    [[]] * 300_000,
    {"float": "inf"},
)


def explainer(name: str) -> eagle.Explainer:
    case = CASES[name]
    return explainer_of(case.model, case.data, **{"budget": 40, **case.options})


def some_rows(name: str, count: int) -> Any:
    case = CASES[name]
    if case.things is not None:
        return list(case.things[:count])
    return case.data.iloc[:count] if hasattr(case.data, "iloc") else case.data[:count]


@cache
def files() -> dict[str, Path]:
    """One saved file of each kind, by a name."""
    folder = Path(mkdtemp())
    out: dict[str, Path] = {}

    def put(name: str, result: Any, ending: str = "json") -> None:
        out[name] = folder / f"{name}.{ending}".replace(" ", "-")
        result.save(out[name])

    for name in ("mixed, binned", "text", "image"):
        made = explainer(name)
        put(f"explanation, {name}", made.explain(CASES[name].row(0)))
        put(f"plan, {name}", made.plan(CASES[name].row(0)))
        many = made.explain_many(some_rows(name, 3), progress=False)
        put(f"explanations, {name}", many, "parquet")
    for name, table in TABLES.items():
        put(f"background, {name}", eagle.Background.of(table))
    survey = explainer("mixed, binned").survey(128, progress=False)
    rows = some_rows("mixed, binned", 6)
    put("explanations, survey", survey.explain_many(rows, progress=False), "parquet")
    put("survey", survey)
    change = (
        survey.requery(lambda table: np.asarray(CASES["mixed, binned"].model(table)) / 2) - survey
    )
    put("survey, difference", change)
    put("explanations, difference", change.explain_many(rows, progress=False), "parquet")
    made = explainer("mixed, binned")
    values = made.shapley(some_rows("mixed, binned", 24), budget=8, background=20, progress=False)
    put("explanations, shapley", values, "parquet")
    bent = eagle.Explainer(lambda t: np.asarray(t)[:, 0] ** 2 + 0, np.arange(40.0).reshape(20, 2))
    put("shapley", bent.shapley_survey(np.arange(40.0).reshape(20, 2), budget=4, progress=False))
    rows.drop(columns=["size"], errors="ignore").to_parquet(folder / "rows.parquet")
    plain = pd.DataFrame(np.random.default_rng(0).normal(size=(7, 3)), columns=list("abc"))
    plain.to_parquet(folder / "rows.parquet")
    plainly = eagle.Explainer(lambda X: np.asarray(X)[:, 0], plain, budget=20)
    run = folder / "run"
    eagle.dataset.explain(plainly, folder / "rows.parquet", run, part_rows=4, progress=False)
    out["part"], out["manifest"] = run / "part-0000000.parquet", run / "manifest.json"
    out["ledger"] = folder / "ledger.db"
    fill(out["ledger"])
    return out


def fill(path: Path) -> None:
    """A ledger of 60 rows, in doubt about some."""
    ledger, rng = Ledger(path), np.random.default_rng(0)
    for start in range(3):
        inputs = Inputs.of(rng.normal(size=(20, 3)))
        keys = keys_of(MODEL, inputs)
        intent = ledger.intend(MODEL, keys)
        ledger.store(intent, MODEL, inputs, keys, rng.normal(size=(20, 2)))
        ledger.doubt(ledger.intend(MODEL, [b"%16d" % start]))
    del ledger  # its connection is closed, and its log is written into the file


# -- mutations ----------------------------------------------------------------------------------


def of_bytes(content: bytes, chance: random.Random) -> bytes:
    """Bits flipped, a part cut, doubled, overwritten or zeroed, a number become another size."""
    spoilt, n = bytearray(content), len(content)
    at, size = chance.randrange(n), chance.choice([1, 4, 8, 64, 1000])
    match chance.randrange(7):
        case 0 | 1 | 2:
            for _ in range(chance.choice([1, 1, 1, 2, 8])):
                spoilt[chance.randrange(n)] ^= 1 << chance.randrange(8)
        case 3:
            del spoilt[at : chance.choice([n, at + size])]
        case 4:
            spoilt[at:at] = spoilt[at : at + size]
        case 5:
            spoilt[at : at + size] = bytes(len(spoilt[at : at + size]))
        case _:
            huge = chance.choice([2**31 - 1, 2**40, 2**63 - 1]).to_bytes(8, "little")
            spoilt[at : at + 8] = huge[: len(spoilt[at : at + 8])]
    return bytes(spoilt)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of nested data."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def of_json(content: bytes, chance: random.Random, seal: bool) -> bytes:
    """A part deleted, doubled, put elsewhere, nested deeply or become something else; under a seal
    of a forger's, or with the old one."""
    data = copy.deepcopy(json.loads(content))
    for _ in range(chance.choice([1, 1, 2])):
        every = list(places(data))
        *way, key = chance.choice(every)
        inner = data
        for step in way:
            inner = inner[step]
        match chance.randrange(5):
            case 0:
                del inner[key]
            case 1:
                inner[key] = copy.deepcopy(chance.choice(JUNK))
            case 2:
                deep: Any = inner[key]
                for _ in range(chance.choice([60, 300])):
                    deep = [deep]
                inner[key] = deep
            case 3:
                data["format"] = chance.choice([0, 1, 3, 5, 99, "4", None, True])
            case _:
                inner[key] = bent(inner[key], chance)
    if seal:
        data.pop("sha256", None)
        with suppress(RecursionError, ValueError):
            data["sha256"] = container.seal_of(data)
    return json.dumps(data).encode()


def bent(value: Any, chance: random.Random) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return chance.choice([-value - 1, value + 1, value * 1000 + 1])
    if isinstance(value, list):
        return [*value, *value] if value else [0]
    if isinstance(value, dict):
        return {**value, "more": 1}
    return value[1:] + "=" if value else "x"


def of_table(content: bytes, chance: random.Random, seal: bool) -> bytes:
    """A column dropped, doubled, swapped or scaled, rows doubled, forged, or very many at once, by
    another writer; under a seal of a forger's, or with the old metadata."""
    from eagle.io import parquet as own

    file = parquet.ParquetFile(pa.BufferReader(content))
    table, metadata = file.read(), dict(file.metadata.metadata)
    k = chance.randrange(table.num_columns)
    match chance.randrange(8):
        case 0:
            table = table.remove_column(k)
        case 5:
            table = pa.concat_tables([table.slice(0, 1)] * 60_000).combine_chunks()
        case 6:
            long = chance.choice(["x", '"x"', "[", '"x']) * chance.choice([1, 50_000])
            places = pa.array(np.zeros(len(table), dtype=np.int32))
            texts = pa.DictionaryArray.from_arrays(places, pa.array([long]))
            table = table.set_column(k, table.field(k).name, texts)
        case 1:
            table = table.append_column(table.field(k), table.column(k))
        case 2:
            table = table.set_column(k, table.field(k).name, table.column(0))
        case 3:
            numbers = [i for i, one in enumerate(table.schema) if pa.types.is_floating(one.type)]
            k = chance.choice(numbers)
            scaled = pa.chunked_array([pa.array(-100 * table.column(k).to_numpy())])
            table = table.set_column(k, table.field(k).name, scaled)
        case 4:
            table = pa.concat_tables([table, table.slice(0, 1)])
        case _:
            table = table.slice(0, chance.randrange(table.num_rows))
    out = pa.BufferOutputStream()
    said = {**(table.schema.metadata or {}), own.SEAL: metadata[own.SEAL]}
    parquet.write_table(table.replace_schema_metadata(said), out)
    spoilt = bytearray(out.getvalue().to_pybytes())
    if seal:
        at = spoilt.rfind(own.marker(None)) + len(own.marker(None))
        spoilt[at : at + own.DIGITS] = own.seal_at(spoilt, at, None).encode()
    return bytes(spoilt)


def of_rows(content: bytes, chance: random.Random, path: Path) -> bytes:
    """A ledger in which SQL has changed something, and no seal."""
    path.write_bytes(content)
    statement = chance.choice(
        [
            "UPDATE answers SET answer = zeroblob(16) WHERE rowid = ?",
            "UPDATE answers SET key = randomblob(16) WHERE rowid = ?",
            "UPDATE answers SET row = zeroblob(24) WHERE rowid = ?",
            "UPDATE answers SET seal = NULL || x'00' WHERE rowid = ?",
            "UPDATE answers SET answer = 'text' WHERE rowid = ?",
            "UPDATE answers SET answered = 1e300 WHERE rowid = ?",
            "UPDATE answers SET model = 99 WHERE rowid = ?",
            "DELETE FROM answers WHERE rowid = ?",
            "UPDATE models SET name = 'other' WHERE rowid = 1 + 0 * ?",
            "UPDATE forms SET form = 'other' WHERE rowid = 1 + 0 * ?",
            "INSERT INTO answers SELECT randomblob(16), model, form, row, answer, seal, answered "
            "FROM answers WHERE rowid = ?",
        ]
    )
    with closing(sqlite3.connect(path)) as db, suppress(sqlite3.Error):  # a rule of the schema
        db.execute(statement, (chance.randint(1, 60),))
        db.commit()
    return path.read_bytes()


Mutation = tuple[str, Path, bytes, bool]
"""The name of the file, where it is, its spoilt bytes, and whether a forger has sealed them."""


def case(number: int, folder: Path) -> Mutation:
    """What is done in one case."""
    chance = random.Random(number)
    name = chance.choice(list(files()))
    path = files()[name]
    content, forged = path.read_bytes(), chance.random() < 0.5
    if chance.random() < 0.5:
        return name, path, of_bytes(content, chance), False
    if name == "ledger":
        return name, path, of_rows(content, chance, folder / "rows.db"), False
    how: Callable[..., bytes] = of_json if path.suffix == ".json" else of_table
    return name, path, how(content, chance, forged), forged
