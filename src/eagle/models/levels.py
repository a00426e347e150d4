"""Which columns are levels to a model, and which levels: what boosters say about themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from eagle._values.text import short_repr
from eagle.errors import InputError

Levels: TypeAlias = tuple[Hashable, ...]

INNER: Final = ("estimator_", "best_estimator_", "calibrated_classifiers_", "steps", "estimator")
"""Where scikit-learn keeps a model that another model wraps; of several, any or the last."""

MAX_DEPTH: Final = 5


@final
@dataclass(frozen=True)
class Known:
    """The columns that are levels to a model.

    `levels` are those of a column in the model's order, which a pandas category must have. Columns
    that are only `named` are given as they are. `homeless` is the number of columns whose levels
    the model has but does not name.
    """

    levels: Mapping[str, Levels]
    named: frozenset[str] = frozenset()
    homeless: int = 0


def levels_of_model(model: Any) -> Known:
    """What a model says about its levels: LightGBM, XGBoost, CatBoost, or one that wraps them."""
    for inner in _within(model):
        kinds = {(str(c.__module__).split(".")[0], c.__name__) for c in type(inner).__mro__}
        if ("lightgbm", "LGBMModel") in kinds:
            return _of_lightgbm(inner.booster_)
        if ("lightgbm", "Booster") in kinds:
            return _of_lightgbm(inner)
        if ("xgboost", "XGBModel") in kinds:
            return _of_xgboost(inner.get_booster())
        if ("xgboost", "Booster") in kinds:
            return _of_xgboost(inner)
        if ("catboost", "CatBoost") in kinds:
            names = [str(inner.feature_names_[j]) for j in inner.get_cat_feature_indices()]
            return Known({}, frozenset(names))
    return Known({})


def with_levels(table: Any, known: Known, *, few: bool = False) -> Any:
    """A pandas table whose columns have the levels that the model was fitted on.

    A file of text does not say which columns are levels. A value is the level that it equals, or
    that is written as it is; one that the model does not know stays, as a level of its own. A
    column of none but such values is refused, unless the rows are `few`.
    """
    plain = [c for c in table.columns if table[c].dtype.name != "category"]
    texts = [c for c in plain if table[c].dtype.kind not in "iufbMm"]
    if known.homeless and texts:
        listed = ", ".join(repr(str(c)) for c in texts[:5]) + (", …" if len(texts) > 5 else "")
        raise InputError(
            f"the model was fitted on {known.homeless} columns of levels, but does not say which "
            f"columns or levels they are, nor does the data, where {listed} are texts: give the "
            "data as .parquet, written by pandas from a table with the categories of the training, "
            "which must be texts"
        )
    made = {
        c: _as_category(table[c], known.levels[_key(c)], few)
        for c in plain
        if _key(c) in known.levels
    }
    out = table.copy(deep=False)
    for column, series in made.items():
        out[column] = series
    return out


def level_columns(table: Any, known: Known) -> list[Any]:
    """The number columns of a pandas table that are levels to the model."""
    return [c for c in table.columns if _key(c) in known.named and table[c].dtype.kind in "iuf"]


def _as_category(series: Any, levels: Levels, few: bool) -> Any:
    """A column as a category: the model's levels, then those that only the data has."""
    import pandas as pd

    place: dict[Hashable, Hashable] = {_text(level): level for level in levels}
    place |= {level: level for level in levels}
    own = pd.unique(series.dropna()).tolist()
    found = {value: place.get(value, place.get(_text(value))) for value in own}
    strange = [value for value in own if found[value] is None]
    if own and len(strange) == len(own) and not few:
        raise InputError(
            f"the model was fitted on the levels {short_repr(levels)} of {series.name!r}, of which "
            f"the data has none: it has {short_repr(tuple(own[:5]))}"
        )
    dtype = pd.CategoricalDtype([*levels, *strange])
    values = [None if gap else value for value, gap in zip(series, series.isna(), strict=True)]
    return pd.Series(
        pd.Categorical(
            [None if v is None else v if found[v] is None else found[v] for v in values],
            dtype=dtype,
        ),
        index=series.index,
        name=series.name,
    )


def _text(value: Hashable) -> str:
    """A value as a file of text has it: a whole number has no point, since gaps add one."""
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def _key(column: Hashable) -> str:
    """A column's name as LightGBM has it, without blanks."""
    return str(column).replace(" ", "_")


def _within(model: Any, depth: int = 0) -> Iterator[Any]:
    """A model, and the models that it wraps."""
    yield model
    if depth == MAX_DEPTH or not str(type(model).__module__).startswith("sklearn."):
        return
    for name in INNER:
        inner = vars(model).get(name)
        inner = inner[-1] if isinstance(inner, list) and inner else inner
        inner = inner[-1] if isinstance(inner, tuple) and inner else inner
        if inner is not None and not isinstance(inner, list):
            yield from _within(inner, depth + 1)


def _of_lightgbm(booster: Any) -> Known:
    """The levels of columns that were categories of pandas, and where the columns stand."""
    levels: Sequence[Sequence[Any]] = booster.pandas_categorical or ()
    said = re.search(
        r"^\[categorical_feature: ([\d,]+)\]$",
        booster.model_to_string(num_iteration=1),
        re.MULTILINE,
    )
    names = booster.feature_name()
    columns = [_key(names[int(j)]) for j in said.group(1).split(",")] if said else []
    if not levels:
        return Known({}, frozenset(columns))
    if len(levels) != len(columns):  # ordered categories, or columns that the caller named
        return Known({}, homeless=len(levels))
    return Known({c: tuple(own) for c, own in zip(columns, levels, strict=True)})


def _of_xgboost(booster: Any) -> Known:
    """The levels that the booster keeps since XGBoost 3.1, and columns of the type "c"."""
    names, types = booster.feature_names or [], booster.feature_types or []
    columns = {n for n, kind in zip(names, types, strict=False) if kind == "c"}
    if not columns:
        return Known({})
    try:
        kept = booster.get_categories(export_to_arrow=True).to_arrow()
    except (AttributeError, ImportError, TypeError, ValueError):  # before 3.1, or without pyarrow
        return Known({}, homeless=len(columns))
    levels = {_key(n): tuple(own.to_pylist()) for n, own in kept if own is not None}
    lost = len({_key(n) for n in columns} - set(levels))
    return Known(levels, homeless=lost)
