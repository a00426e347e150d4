"""Tables of every kind, for tests of files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import eagle

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 4))
TABLES: dict[str, Any] = {
    "array": X,
    "float16": X.astype(np.float16),
    "int8": RNG.integers(-9, 9, (60, 3)).astype(np.int8),
    "flags": RNG.random((60, 3)) < 0.5,
    "text": RNG.choice(["yes", "no", "perhaps"], (60, 3)),
    "sparse": sparse.csr_array(np.maximum(X, 0)),
    "pandas": pd.DataFrame(
        {
            "x": RNG.normal(size=60),
            "c": pd.Categorical(RNG.choice([1, 2, 5], 60)),
            "o": pd.Series(["p", None, "q"] * 20, dtype=object),
            "i": pd.array(RNG.integers(0, 9, 60), dtype="Int32"),
            "b": RNG.random(60) < 0.5,
        }
    ),
    "polars": pl.DataFrame(
        {
            "x": RNG.normal(size=60),
            "e": pl.Series(["u", "v"] * 30, dtype=pl.Enum(["u", "v", "w"])),
            "i": pl.Series(RNG.integers(0, 9, 60), dtype=pl.Int16),
        }
    ),
}


COLUMNS = ("names", "categories", "fixed", "bounds", "scales", "groups", "view")


def explainer_of(model: Any, data: Any = None, **options: Any) -> eagle.Explainer:
    """An explainer of a table, whose options may say how its columns move."""
    columns = {name: options.pop(name) for name in COLUMNS if name in options}
    return eagle.Explainer(model, eagle.Table(data, **columns) if columns else data, **options)
