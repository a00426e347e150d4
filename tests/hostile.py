"""Hostile cases by number: tables, images and texts, models, options and rows to be explained.

`case(number)` is the same on every machine: all chance is Python's own, from the number. What is
in it may be meaningful or not, and mostly is at least a little wrong.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import eagle
from catalogue import METHODS, QUICK
from eagle import Images, Texts, methods, peers
from eagle.peers.foreign import Foreign
from eagle.peers.shap import KernelShap
from eagle.spaces import EvenSizes, Fair
from eagle.until import Sign, Top, Width
from tables import explainer_of

with warnings.catch_warnings():  # it warns when it is imported
    warnings.simplefilter("ignore")
    import shap  # noqa: F401

ODD = "x\x1b[31m\n\u202e<b>\x00"
NAN, INF = float("nan"), float("inf")


class UnspeakableError(Exception):
    """It can neither be named nor say why it was raised."""

    def __repr__(self) -> str:
        raise RuntimeError("no name")

    def __str__(self) -> str:
        raise RuntimeError("no word")


class Prickly:
    """A model that raises for every input."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        raise RuntimeError("no name")

    def __float__(self) -> float:
        raise RuntimeError("no number")


JUNK: list[Any] = [
    *(5, -1, 2.5, True, "x", "", ODD, b"x", [], [[1], [2]], {}, {"a": 1}, {1, 2}, (), (1, 2)),
    *(None, NAN, INF, 10**400, -(10**5000), np.array([1, 2]), np.array([]), np.float64(3)),
    *(object, UnspeakableError(), Prickly(), len, Decimal("sNaN"), "\ud800"),
    *(dt.date(2020, 1, 1), 1j),
]

NUMBERS: list[Any] = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 7.0, 1e-300, 5e-324, 1e-160, 1e16, -1e16, 1e100, 1e150),
    *(1e154, 1e300, 1.7e308, -1.7e308, 65504.0, 3.4e38, 2.0**53 + 2, NAN, NAN, INF, -INF),
]

OBJECTS: list[Any] = [
    *("a", "b", "", "a", "b", ODD, "\ud800", b"a", 1, 2, 2.5, True, False, None, None, NAN),
    *(pd.NA, pd.NaT, Decimal("1.5"), Decimal("NaN"), Decimal("sNaN"), Fraction(1, 3), 10**400),
    *(2**60, 1e300, (1, 2), [1], {"k": 1}, dt.datetime(2020, 1, 1), np.float32(2), np.int64(3)),
    *(np.str_("a"), 1j, Prickly(), np.array([1, 2]), frozenset({1})),
]

NAMES: list[Any] = [
    *("a", "b", "c", "d", "", " ", 0, 1, 2.5, None, True, ("t", 1), ODD, "\ud800", "x" * 300),
    *(NAN, "$y$", dt.date(2020, 1, 1)),
]


class Chance(Random):
    """Python's random generator, and how ordinary its cases are: at 1 nothing is odd."""

    tame = 0.0


# -- tables ------------------------------------------------------------------------------------


def few(r: Chance) -> int:
    if r.random() < r.tame:
        return r.choice([8, 12, 20])
    return r.choice([0, 1, 1, 2, 3, 5, 8, 12, 20, 20])


def floats(r: Chance, n: int) -> list[float]:
    """A column of numbers: ordinary, constant, of few values, or with extreme ones."""
    kind = 5 if r.random() < r.tame else r.randrange(8)
    if kind == 0:
        return [r.choice(NUMBERS)] * n
    if kind == 1:
        return [r.choice(NUMBERS) for _ in range(n)]
    if kind == 2:
        return [float(r.random() < 0.9) for _ in range(n)]
    values = [r.gauss(0, 1) * r.choice([1.0, 1.0, 10.0]) for _ in range(n)]
    if kind == 3:
        values = [value * 10.0 ** r.choice([-200, -20, 20, 200]) for value in values]
    if kind == 4 and n:
        values[r.randrange(n)] = r.choice(NUMBERS)
    return values


def array(r: Chance, n: int, d: int) -> Any:
    """An array of some dtype."""
    columns = [floats(r, n) for _ in range(d)]
    if d > 1 and r.random() < 0.2:
        columns[1] = columns[0]
    table = np.array(columns, dtype=np.float64).reshape(d, n).T
    usual = ["f", "f", "f", "int", "bool", "masked", "fortran", "strided", "readonly"]
    odd = ["object", "object", "str", "bytes", "dates", "complex", "structured"]
    kind = r.choice(usual if r.random() < max(r.tame, 0.5) else odd)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "f":
            return table.astype(r.choice(["f8", "f8", "f8", "f4", "f2", "g", ">f8"]))
        if kind in ("int", "dates"):
            whole = np.nan_to_num(np.clip(table * 3, -100, 100)).astype(np.int64)
            if kind == "dates":
                return whole.astype("M8[D]")
            return whole.astype(r.choice(["i8", "i4", "i2", "i1", "u8", "u1", ">i4"]))
        if kind == "bool":
            return table > 0
        if kind == "object":
            return objects([[r.choice(OBJECTS[:24]) for _ in range(d)] for _ in range(n)], n, d)
        if kind == "str":
            return np.array([[r.choice(["a", "b", "", ODD]) for _ in range(d)]] * n).reshape(n, d)
        if kind == "bytes":
            return np.array([[r.choice([b"a", b"b"]) for _ in range(d)]] * n).reshape(n, d)
        if kind == "complex":
            return table.astype(complex)
        if kind == "structured":
            return np.zeros(n, dtype=[("a", "f8"), ("b", "i4")])
        if kind == "masked":
            mask = np.array([r.random() < 0.2 for _ in range(n * d)], bool).reshape(n, d)
            return np.ma.masked_array(table, mask)
        if kind == "fortran":
            return np.asfortranarray(table)
        if kind == "strided":
            return np.repeat(table, 2, axis=0)[::2]
        if kind == "readonly":
            table.flags.writeable = False
        return table


def objects(rows: list[list[Any]], n: int, d: int) -> Any:
    out = np.empty((n, d), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            out[i, j] = value
    return out


def series(r: Chance, n: int) -> Any:
    """A column of a data frame, of some dtype."""
    kind = r.choice(
        [
            *("float", "float", "float", "int", "bool", "text", "text", "category", "ordered"),
            *("Int64", "Float32", "boolean", "string", "numbers as categories", "f2", "i1"),
            "sparse",
        ]
        + ["dates", "delta", "object", "object", "period", "complex", "empty", "big", "decimal"]
        * (r.random() > r.tame)
    )
    text = [r.choice(["a", "b", "c", "", ODD]) for _ in range(n)]
    whole = [r.randrange(-3, 9) for _ in range(n)]
    holes = [None if r.random() < 0.2 else value for value in whole]
    make: dict[str, Callable[[], Any]] = {
        "float": lambda: pd.Series(floats(r, n), dtype="f8"),
        "int": lambda: pd.Series(whole, dtype="i8"),
        "bool": lambda: pd.Series([value > 2 for value in whole], dtype=bool),
        "text": lambda: pd.Series(text, dtype=object),
        "category": lambda: pd.Series(pd.Categorical(text)),
        "ordered": lambda: pd.Series(pd.Categorical(text, ["c", ODD, "b", "", "a"], ordered=True)),
        "Int64": lambda: pd.Series(holes, dtype="Int64"),
        "Float32": lambda: pd.Series(holes, dtype="Float32"),
        "boolean": lambda: pd.Series(
            [None if v is None else v > 2 for v in holes], dtype="boolean"
        ),
        "string": lambda: pd.Series(text, dtype="string"),
        "dates": lambda: pd.Series(pd.to_datetime(whole, unit="D")),
        "delta": lambda: pd.Series(pd.to_timedelta(whole, unit="D")),
        "object": lambda: pd.Series([r.choice(OBJECTS) for _ in range(n)], dtype=object),
        "sparse": lambda: pd.Series(pd.arrays.SparseArray(np.array(whole, dtype="f8"))),
        "period": lambda: pd.Series(pd.period_range("2020", periods=n, freq="D")),
        "complex": lambda: pd.Series(np.array(whole, dtype=complex)),
        "empty": lambda: pd.Series([None] * n, dtype=r.choice(["f8", "object"])),
        "big": lambda: pd.Series([2**62 + value for value in whole], dtype="i8"),
        "numbers as categories": lambda: pd.Series(pd.Categorical(holes)),
        "decimal": lambda: pd.Series([Decimal(value) for value in whole], dtype=object),
        "f2": lambda: pd.Series(np.array(whole, dtype="f2") * np.float16(10)),
        "i1": lambda: pd.Series(np.array(whole, dtype="i1")),
    }
    return make[kind]().reset_index(drop=True)


def names(r: Chance, d: int) -> list[Any]:
    plain = [f"c{j}" for j in range(d)]
    if r.random() < max(r.tame, 0.6):
        return plain
    found = [r.choice(NAMES) for _ in range(d)]
    return found if r.random() < 0.3 else list(dict.fromkeys([*found, *plain]))[:d]


def frame(r: Chance, n: int, d: int) -> Any:
    table = pd.DataFrame({j: series(r, n) for j in range(d)}, index=range(n))
    table.columns = pd.Index(names(r, d), dtype=object)
    if r.random() < 0.1 and n:
        table.index = pd.Index([r.choice([0, "i", 5.5]) for _ in range(n)])
    return table


def arrow(r: Chance, n: int, d: int) -> Any:
    """A polars or pyarrow table."""
    columns: dict[str, Any] = {}
    for j in range(d):
        columns[f"c{j}"] = r.choice(
            [
                floats(r, n),
                [r.randrange(5) for _ in range(n)],
                [r.choice(["a", "b", None]) for _ in range(n)],
                [r.choice([True, False, None]) for _ in range(n)],
            ]
            if r.random() < max(r.tame, 0.6)
            else [
                [2**60 + r.randrange(5) for _ in range(n)],
                [dt.date(2020, 1, 1 + r.randrange(9)) for _ in range(n)],
                [None] * n,
                [[1]] * n,
            ]
        )
    kind = r.choice(["polars", "polars", "pyarrow", "pyarrow", "lazy", "categorical"])
    if kind == "pyarrow":
        return pa.table(columns)
    table = pl.DataFrame(columns, strict=False)
    if kind == "categorical":
        texts = [c for c in table.columns if table[c].dtype == pl.String]
        return table.with_columns([pl.col(c).cast(pl.Categorical) for c in texts])
    return table.lazy() if kind == "lazy" else table


def table(r: Chance) -> Any:
    n, d = few(r), r.choice([1, 1, 2, 2, 3, 3, 5] + [0] * (r.random() > r.tame))
    kind = r.randrange(15 if r.random() < r.tame else 20)
    if kind < 8:
        return array(r, n, d)
    if kind < 13:
        return frame(r, n, d)
    if kind == 13:
        return arrow(r, n, d)
    if kind == 14:
        made = array(r, n, d)
        made = np.asarray(made, dtype="f8") if made.dtype.kind in "fiu" and d else np.ones((3, 2))
        like = r.choice([sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_array])
        return like(made)
    if kind == 15:
        return [[r.choice([*NUMBERS[:8], *OBJECTS[:12]]) for _ in range(d)] for _ in range(n)]
    if kind == 16:
        return r.choice(
            [
                np.zeros(3),
                np.zeros((2, 2, 2)),
                np.array(5.0),
                [1, [2]],
                [[1], [1, 2]],
                pd.Series([1.0, 2.0]),
                {"a": [1, 2]},
                {"a": 1.0, "b": "x"},
                iter([1]),
                eagle.Background.of(np.arange(12.0).reshape(4, 3)),
            ]
        )
    if kind == 17:
        return r.choice(JUNK)
    return array(r, 20, 3)


# -- rows to explain ---------------------------------------------------------------------------


def row(r: Chance, data: Any) -> Any:
    """A row like those of a table, or nearly."""
    kind = r.randrange(4 if r.random() < r.tame else 0, 12)
    if kind == 0:
        return r.choice(JUNK)
    if kind == 1:
        return [r.choice([*NUMBERS, *OBJECTS]) for _ in range(r.randrange(5))]
    try:
        found = _row(r, data)
        if kind == 2 and isinstance(found, np.ndarray) and found.dtype.kind == "f":
            found = found.copy()
            with np.errstate(all="ignore"):
                found[..., -1] = r.choice(NUMBERS)
        if kind == 3 and isinstance(found, pd.DataFrame):
            found = found.astype(object)
            found.iloc[0, 0] = r.choice(OBJECTS)
        if kind == 4 and hasattr(found, "tolist"):
            return found.tolist()
        if kind == 5 and isinstance(found, pd.DataFrame):
            return found.iloc[0] if r.random() < 0.5 else found.iloc[0].to_dict()
        return found
    except Exception:  # such a table has no rows
        return r.choice([[1.0, 2.0, 3.0], {"c0": 1.0, "c1": "a", "c2": 2.0}, np.zeros(3)])


def _row(r: Chance, data: Any) -> Any:
    if isinstance(data, eagle.Background):
        return np.zeros(3)
    if isinstance(data, pd.DataFrame):
        return data.iloc[[r.randrange(len(data))]]
    if isinstance(data, pl.DataFrame):
        return data[r.randrange(len(data))]
    if isinstance(data, pa.Table):
        return data.slice(r.randrange(data.num_rows), 1)
    if sparse.issparse(data):
        return data.tocsr()[[r.randrange(data.shape[0])]]
    return data[r.randrange(len(data))]


def rows(r: Chance, data: Any) -> Any:
    """Several rows."""
    kind = r.randrange(2 if r.random() < r.tame else 0, 6)
    if kind == 0:
        return row(r, data)
    if kind == 1:
        return [row(r, data) for _ in range(r.randrange(3))]
    try:
        if isinstance(data, pd.DataFrame):
            return data.iloc[: r.randrange(1, 5)]
        return data[: r.randrange(1, 5)]
    except Exception:
        return data


# -- models ------------------------------------------------------------------------------------


def count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def values(X: Any) -> Any:
    """A number for each input, of whatever it is made."""
    if sparse.issparse(X):
        X = X.toarray()
    if isinstance(X, pa.Table):
        X = X.to_pandas()
    if isinstance(X, pl.DataFrame):
        X = np.array(X.rows(), dtype=object).reshape(len(X), -1)
    if isinstance(X, pd.DataFrame):
        X = X.astype(object).to_numpy()
    if isinstance(X, list):
        return np.array([len(text) + text.count("a") for text in X], dtype=np.float64)
    X = np.asarray(X).reshape(len(X), -1)
    return np.array([sum(number(v) for v in line) for line in X], dtype=np.float64)


def number(value: Any) -> float:
    try:
        return float(np.arctan(float(value))) if value == value else 0.25
    except Exception:
        return float(len(type(value).__name__) + (len(value) if isinstance(value, str) else 0))


RAISED = [
    ValueError(ODD),
    UnspeakableError(),
    StopIteration(),
    MemoryError("full"),
    RecursionError(),
    OSError(5, "x"),
]


@dataclass
class Model:
    """A model of some manners, which counts what it is asked."""

    manner: str
    r: Chance
    calls: int = 0
    rows: int = 0
    seen: list[int] = field(default_factory=list)

    def __call__(self, X: Any) -> Any:
        self.calls += 1
        n = count(X)
        self.rows += n
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.answer(X, n)

    def answer(self, X: Any, n: int) -> Any:
        y = values(X)
        p = 1 / (1 + np.exp(-y))
        both = np.stack([1 - p, p], axis=1)
        match self.manner:
            case "number" | "rude":
                if self.manner == "rude" and isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
                    X[...] = 0
                return y
            case "probabilities":
                return both
            case "three":
                return np.stack([p / 2, p / 2, 1 - p], axis=1)
            case "one":
                return p
            case "list":
                return y.tolist()
            case "series":
                return pd.Series(y)[::-1]
            case "frame":
                return pd.DataFrame(both, columns=["u", "v"])
            case "whole":
                return np.rint(y).astype(np.int32)
            case "flag":
                return y > 1
            case "small floats":
                return y.astype(np.float16)
            case "zeros":
                return np.zeros(n)
            case "constant":
                return np.full(n, 1e5)
            case "targets":
                return np.stack([y, -y, y**2], axis=1)
            case "huge":
                return y * 1e200
            case "tiny":
                return y * 1e-200
            case "large":
                return y * 1e149
            case "small":
                return y * 1e-148
            case "hairline":
                return 1e6 + y * 1e-9
            case "changing":
                return np.tile(y[:, None], 1 + self.calls % 3)
            case "raises":
                raise self.r.choice(RAISED)
            case "late":
                if self.calls > 1:
                    raise TimeoutError("too late")
                return y
            case "wrong":
                return self.wrong(y, n)
        raise AssertionError(self.manner)

    def wrong(self, y: Any, n: int) -> Any:
        """Replies that are useless, or almost."""
        some = y.copy()
        some[-1] = NAN
        return self.r.choice(
            [
                None,
                "yes",
                5,
                y[1:],
                np.append(y, 1),
                y[:0],
                np.array([], dtype=str),
                some,
                y * INF,
                [ODD] * n,
                ["1"] * n,
                y + 1j,
                [[1, 2], [3]],
                {"p": 1},
                iter([1]),
                [Decimal("sNaN")] * n,
                np.zeros((n, 2, 2)),
                np.zeros((n, 0)),
                [10**400] * n,
                (y, y),
                [y[:, None], y[:, None]],
                np.zeros(n, dtype="M8[D]"),
                np.ma.masked_array(y, y == y),
                sparse.csr_array(y[:, None]),
                [None] * n,
                [Prickly()] * n,
                np.full((n, 2), 0.7),
                np.full((n, 2), -0.2),
                b"x",
                [np.array([1.0])] * n,
                [Decimal("1.5")] * n,
                np.longdouble(1e4000) * np.ones(n),
            ]
        )


MANNERS = (
    ["number"] * 6
    + ["probabilities"] * 6
    + ["three", "one", "list", "series", "frame", "whole"]
    + ["flag", "small floats", "zeros", "constant", "targets", "huge", "tiny", "large", "small"]
    + ["hairline", "changing", "changing", "raises", "late", "wrong", "wrong", "wrong", "wrong"]
    + ["rude"]
)


class Estimator:
    """A model with attributes and methods as scikit-learn's, true or not."""

    def __init__(self, inner: Model, r: Chance) -> None:
        self.inner = inner
        if r.random() < 0.5:
            odd = [5, "ab", [0, 1, 2], [[0, 1], [0, 1]], np.eye(2), [], None, [NAN, 1], [ODD, "b"]]
            self.classes_ = r.choice([["no", "yes"], np.array([0, 1]), *odd])
        if r.random() < 0.1:
            self.n_features_in_ = r.choice([1, 2, 3, "x", 2.0, -1, None])
        if r.random() < 0.1:
            self.feature_names_in_ = r.choice([["c0", "c1"], ["c0"], 5, "c0", np.array(["c0"]), []])
        if r.random() < 0.2:
            self._estimator_type = r.choice(["classifier", "regressor", "clusterer", 5])
        for name in ("predict_proba", "decision_function", "predict"):
            if r.random() < 0.5:
                setattr(self, name, inner if r.random() < 0.9 else r.choice(JUNK))


# -- options -----------------------------------------------------------------------------------


def often(r: Chance, usual: Any, *others: Any, chance: float = 0.88) -> Any:
    """Mostly the first; else one of the others, or junk."""
    if r.random() < chance + (1 - chance) * r.tame:
        return usual
    return r.choice([*others, r.choice(JUNK)])


METHOD = [
    *(m for m in METHODS.values() if m.design != QUICK),
    methods.EAGLE_BALANCED,
    methods.EAGLE_BALANCED,
    methods.EAGLE_BALANCED,
    methods.EAGLE,
    peers.LIME,
    peers.LIME,
    Foreign("Kernel SHAP", KernelShap(2)),
]


def labels_of(data: Any) -> list[Any]:
    try:
        return list(eagle._tables.read.frame(data).names)
    except Exception:
        return ["c0", 0]


def options(r: Chance, data: Any) -> dict[str, Any]:
    known = labels_of(data)
    one = r.choice(known) if known else 0
    pair = r.choice([(None, None), (-1, 1), (0, None), (None, 1e9), (5, -5), (NAN, 1), ("a", 1)])
    found: dict[str, Any] = {
        "view": often(r, None, "binned", "continuous", chance=0.6),
        "method": often(r, r.choice(METHOD), "lime", chance=0.95),
        "budget": often(r, r.choice([1, 2, 3, 7, 15, 30]), 0, 10**12, np.int64(9), "500"),
        "random_state": often(r, r.randrange(9), 2**70, -1, np.int64(3), 1.5),
        "task": often(r, None, "classification", "regression", "clustering", chance=0.7),
        "outputs": often(r, None, ["p", "q"], ("p",), ["p", "p"], [0, 1, 2], "pq", chance=0.8),
        "batch_rows": often(r, r.choice([4, 25_000]), 1, 0, 10**12),
    }
    table_only: dict[str, Any] = {
        "names": often(r, None, ["u", "v", "w"], NAMES[:3], chance=0.93),
        "categories": often(r, (), [one], known, ["nowhere"]),
        "fixed": often(r, (), [one], known, ["nowhere"]),
        "bounds": often(r, None, {one: pair}, {"nowhere": (0, 1)}),
        "scales": often(r, None, {one: r.choice([0, 1.0, -1, NAN, "a", 1e300])}, chance=0.93),
        "groups": often(
            r, None, {"g": known[:2]}, {"g": known}, {one: [one]}, {"g": ["nowhere"]}, "auto", one
        ),
    }
    if data is None:
        table_only["scales"] = r.choice([1.0, 0.5, [1.0, 2.0, 3.0], {"c0": 1.0, 0: 2.0}, 0, NAN])
    if not isinstance(data, Images | Texts) or r.random() < 0.05:
        found |= table_only
    return found


# -- images and texts ------------------------------------------------------------------------


def picture(r: Chance, _: Any = None) -> Any:
    high, wide = r.choice([1, 2, 4, 6]), r.choice([1, 3, 6])
    if r.random() < max(r.tame, 0.5):
        high, wide = 4, 6
    shape: tuple[int, ...] = r.choice(
        [(high, wide), (high, wide), (high, wide, 3), (high, wide, 1), (high, wide, 4)]
        + [(3, high, wide), (high, wide, 7), (0, wide), (2, high, wide, 3)] * (r.random() > r.tame)
    )
    size = int(np.prod(shape))
    made = np.array([r.random() for _ in range(size)]).reshape(shape)
    kind = r.randrange(7 if r.random() < r.tame else 0, 12)
    if kind == 0:
        return r.choice(JUNK)
    if kind == 1:
        return made.tolist()
    if kind == 2:
        return made > 0.5
    if kind == 3:
        return (made * 255).astype(np.uint8)
    if kind == 4:
        return (made * 6e4).astype(r.choice(["i4", "u2", "i8", "f4", "f2"]))
    if kind == 5:
        return np.full(shape, r.choice(NUMBERS))
    if kind == 6:
        return made.astype(r.choice(["g", "complex", "object", "str"]))
    return made


def pictures(r: Chance, _: Any = None) -> Any:
    return [picture(r) for _ in range(r.randrange(3))]


def images(r: Chance) -> dict[str, Any]:
    cut = np.arange(24).reshape(4, 6) // r.choice([4, 6, 24])
    return {
        "segments": often(
            r,
            r.choice(
                [
                    lambda p: np.arange(p.shape[0] * p.shape[1]).reshape(p.shape[:2]) // 3,
                    lambda p: np.zeros(p.shape[:2], int),
                    cut,
                ]
            ),
            1,
            3,
            lambda p: None,
            lambda p: 1 / 0,
            lambda p: p,
            cut.astype(float),
            chance=0.8,
        ),
        "fill": often(r, r.choice(["mean", 0, "noise"]), "blur", 1e400, (1, 2, 3), "x", NAN),
        "channels": often(r, "last", "first", "middle"),
        "sizes": often(r, Fair(), EvenSizes(), "x", chance=0.95),
        "shift": often(r, None, 0.1, -1, "a", chance=0.85),
    }


WORDS = [
    *("a", "bad", "good", "plot", "don't", "naïve", "日本", "👍🏽", "x" * 50, "\ud800", "3.5", ODD),
]


def text(r: Chance, _: Any = None) -> Any:
    if r.random() < 0.1 * (1 - r.tame):
        return r.choice(JUNK)
    least = 2 if r.random() < r.tame else 0
    return r.choice([" ", " ", ". ", "\n"]).join(
        r.choice(WORDS) for _ in range(r.randrange(least, 9))
    )


def passages(r: Chance, _: Any = None) -> Any:
    return [text(r) for _ in range(r.randrange(4))]


def texts(r: Chance) -> dict[str, Any]:
    return {
        "split": often(
            r,
            None,
            str.split,
            lambda t: [(0, 1)],
            lambda t: [(0, 99)],
            lambda t: 5,
            lambda t: 1 / 0,
            lambda t: [],
            lambda t: ["zzz"],
            lambda t: [(1, 0), "a"],
        ),
        "bag": often(r, r.choice([True, False])),
        "mask": often(r, r.choice([None, "[MASK]"]), "", "\ud800"),
        "sizes": often(r, EvenSizes(), Fair(), "x", chance=0.95),
    }


# -- cases -------------------------------------------------------------------------------------

Make = Callable[[Chance, Any], Any]
"""Makes something to explain that goes with the data."""

TARGETS: list[Any] = [0, 1, "p", "prediction", ("p", "q"), (0, 1), (0, 0), ("p",), 1.0, "nowhere"]

RULES: list[Any] = [Width(0.5), Width(1e-9) | Top(20), Sign(0.9), Top(2, 0.9) & Width(1.0)]


@dataclass
class Case:
    """An action on a model; `given` are the caller's objects, which must not be changed."""

    number: int
    what: str
    model: Model
    given: dict[str, Any]
    run: Callable[[], Any]

    def __str__(self) -> str:
        shown = "\n".join(f"  {name} = {ascii_of(value)}" for name, value in self.given.items())
        return f"hostile.case({self.number}): {self.what} of a {self.model.manner!r} model\n{shown}"


def ascii_of(value: Any) -> str:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ascii(value)[:600]
    except Exception:
        return f"<{type(value).__name__}>"


def case(number: int) -> Case:
    r = Chance(f"hostile {number}")
    r.tame = r.choice([0.0, 0.8, 0.9, 0.97])
    model = Model(r.choice(MANNERS[:18] if r.random() < r.tame else MANNERS), r)
    clothed = r.random() < 0.15 * (1 - r.tame)
    asked: Any = Estimator(model, r) if clothed else often(r, model, chance=0.98)
    kind, data = r.random(), None
    made: dict[str, Any] = {}
    one: Make = row
    several: Make = rows
    if kind < 0.74:
        data = None if r.random() < 0.05 else table(r)
    elif kind < 0.87:
        made, one, several = images(r), picture, pictures
    else:
        made, one, several = texts(r), text, passages
    given = options(r, Images() if made else data)
    ways = ["many", "many", "plan", "until", "about", "compare", "survey", "survey"]
    what = r.choice(["explain"] * 6 + ways)
    if what == "plan" and model.manner in ("raises", "late"):
        what = "explain"  # who asks the model hears it first
    x = several(r, data) if what in ("many", "survey") else one(r, data)
    target = often(r, None, *TARGETS)
    other = r.choice([*TARGETS, r.choice(JUNK)])
    rule = often(r, r.choice(RULES))

    def run() -> Any:
        how: Any = Images(**made) if "fill" in made else Texts(**made) if made else data
        explainer = explainer_of(asked, how, **given)
        explainer.describe()
        repr(explainer)
        if what == "many":
            return explainer.explain_many(x, target, progress=False)
        if what == "survey":
            survey = explainer.survey(100, progress=False)
            return survey.explain_many(x, target, progress=False)
        if what == "plan":
            plan = explainer.plan(x)
            return plan.fit(model(plan.inputs), target)
        if what == "until":
            return explainer.explain(x, target, until=rule, progress=False)
        if what == "about":
            return explainer.explain(x, target).about(other)
        if what == "compare":
            two = [peers.LIME, given["method"]]
            return eagle.compare_methods(explainer, two, x, 2, target=target, progress=False)
        return explainer.explain(x, target)

    holds = {"data": made or data, "x": x, "target": target, **given}
    return Case(number, what, model, holds, run)


def print_of(value: Any) -> Any:
    """All that a caller can see of a value, to tell whether it was changed."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.ndarray):
        return value.shape, [print_of(v) for v in value.ravel().tolist()]
    if sparse.issparse(value):
        return print_of(value.toarray())
    if isinstance(value, pd.DataFrame):
        listed = [value.iloc[:, j].tolist() for j in range(value.shape[1])]
        return list(map(str, value.dtypes)), [print_of(v) for column in listed for v in column]
    if isinstance(value, pa.Table):
        return ascii_of(value.to_pydict())
    if isinstance(value, list | tuple):
        return [print_of(v) for v in value]
    if isinstance(value, dict):
        return [(ascii_of(k), print_of(v)) for k, v in value.items()]
    return ascii_of(value)
