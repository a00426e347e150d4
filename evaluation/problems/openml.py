"""The data sets that OpenML has in the same form, except for the order of rows.

OpenML also has German Credit and COMPAS, but encoded differently, which would give other results.
Those need a file.
"""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eagle.errors import InputError, MissingExtraError
from evaluation.problems.files import VARIABLE, chosen

ADULT: Final = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
)
MAGIC: Final = (
    "fLength",
    "fWidth",
    "fSize",
    "fConc",
    "fConc1",
    "fAsym",
    "fM3Long",
    "fM3Trans",
    "fAlpha",
    "fDist",
    "class",
)
NUMBERS: Final = (
    "age",
    "fnlwgt",
    "education_num",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
)


def adult(relative: str) -> Any:
    """Adult, version 2 there: dashes in names, "class" for income, missing values for "?"."""
    table = fetched("adult", 2, relative).rename(columns=lambda name: str(name).replace("-", "_"))
    table = chosen(table.rename(columns={"class": "income"}), ADULT, "OpenML's adult").copy()
    for name in ADULT:
        if name in NUMBERS:
            table[name] = table[name].astype(np.int64)
        else:
            levels = table[name].astype(object)
            table[name] = levels.where(levels.notna(), "?").astype(str)
    return table


def magic(relative: str) -> Any:
    """MAGIC, version 1 there: a colon after each name."""
    table = fetched("MagicTelescope", 1, relative)
    table = table.rename(columns=lambda name: str(name).rstrip(":"))
    table = chosen(table, MAGIC, "OpenML's MagicTelescope").copy()
    table["class"] = table["class"].astype(str)
    return table.astype(dict.fromkeys(MAGIC[:-1], np.float64))


def mnist(relative: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """MNIST as 784 columns, in the order it was published: 60,000 rows, then 10,000 to test on."""
    table = fetched("mnist_784", 1, relative)
    labels = table.pop("class").astype(str).astype(np.uint8).to_numpy()
    images = table.to_numpy().astype(np.uint8)
    if images.shape != (70_000, 784):
        raise InputError(f"OpenML's mnist_784 has the shape {images.shape}, not (70000, 784)")
    return images.reshape(-1, 28, 28), labels


def fetched(name: str, version: int, relative: str) -> Any:
    """A table of OpenML as a pandas DataFrame, kept in the cache folder."""
    from evaluation.problems.boxes import cache_folder

    try:
        import pandas as pd  # noqa: F401
        from sklearn.datasets import fetch_openml
    except ImportError:
        raise MissingExtraError("a data set of OpenML", "scikit-learn", "bench") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns before each retry
            return fetch_openml(
                name,
                version=version,
                as_frame=True,
                data_home=cache_folder() / "openml",
                n_retries=1,
                delay=0.5,
            ).frame
    except Exception as error:  # no network, no such set, a broken copy: the same for the caller
        raise InputError(
            f"{name} could not be fetched from OpenML ({type(error).__name__}: {error}): set "
            f"{VARIABLE} to a folder that holds {relative}"
        ) from None
