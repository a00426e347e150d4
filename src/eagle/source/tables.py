"""Rows of tables: over data, over a summary of data, or from scales alone."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast, final, get_args

import numpy as np

from eagle.table.arrays import ArrayFrame
from eagle.table.background import Background, Column
from eagle.table.dataframes import PandasFrame
from eagle.table.frame import Frame
from eagle.table.neighbours import BackgroundRows, Neighbours
from eagle.table.read import frame
from eagle.table.rows import Table
from eagle.types import NOTHING, Group, InputError, Instances, Kind, Need, Source, Wanted, told

View: TypeAlias = Literal["binned", "continuous"]
Bounds: TypeAlias = Mapping[Any, tuple[float | None, float | None]]
Scales: TypeAlias = Mapping[Any, float] | Sequence[float] | float

HINTS: Final = {
    Need.ROWS: ": give the data itself",
    Need.MATCHES: ": say view='binned'",
    Need.OFFSETS: ": say view='continuous'",
}
"""How to get what a table does not offer."""


@final
@dataclass(frozen=True)
class Columns:
    """What a caller may say of the columns of a table."""

    names: Sequence[Hashable] | None = None
    categories: Collection[Hashable] = ()
    freeze: Collection[Hashable] = ()
    bounds: Bounds | None = None
    scales: Scales | None = None

    @property
    def said(self) -> bool:
        """Whether anything was said."""
        return _given(self.names, self.categories, self.freeze, self.bounds, self.scales)


@final
@dataclass(frozen=True, eq=False)
class Tables:
    """Rows over a background; `rows` are the background's own, where they are known."""

    background: Background
    view: View
    rows: BackgroundRows | None = None

    @property
    def kind(self) -> Kind:
        sort = Need.MATCHES if self.view == "binned" else Need.OFFSETS
        rows = NOTHING if self.rows is None else frozenset({Need.ROWS})
        offers = frozenset({Need.TABLE, sort}) | rows
        return Kind(None, self.view, offers, HINTS, self.background)

    def keep(self, needs: frozenset[Need]) -> None:
        if Need.ROWS in needs and self.rows is not None:
            self.rows.kept()

    def without(self, needs: frozenset[Need]) -> Tables:
        return self if Need.ROWS in needs else replace(self, rows=None)

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """The rows, those apart that need a dtype of their own (a level nobody saw, a missing value
        among integers): they are asked apart, so that they never change what others are asked."""
        binned = self.view == "binned" and not wanted.by_value
        background = self.background
        rows = frame(X)
        if not len(rows):
            raise InputError("there are no rows to explain")
        adopted = background.adopt(rows)
        template = background.template
        if template.conforms(adopted):
            table = Table(background, adopted, binned)
            return [Group(self._seen_from(table, wanted.needs), range(len(adopted)))]
        apart: dict[Hashable, list[int]] = {}
        widened = [j for j in range(len(template.names)) if template.form(j) != adopted.form(j)]
        columns = [adopted.objects(j) for j in widened]
        for i, values in enumerate(zip(*columns, strict=True)):
            odd = tuple(template.misfit(j, v) for j, v in zip(widened, values, strict=True))
            apart.setdefault(odd, []).append(i)
        tables = [Table(background, background.adopt(rows.take(p)), binned) for p in apart.values()]
        parts = zip(tables, apart.values(), strict=True)
        return [Group(self._seen_from(table, wanted.needs), part) for table, part in parts]

    def _seen_from(self, table: Table, needs: frozenset[Need]) -> Instances:
        """The instances themselves, or, if the method needs these, among the background's rows."""
        if Need.ROWS not in needs or self.rows is None:
            return table
        return Neighbours(table, self.rows)

    def describe(self) -> list[str]:
        ground = self.background
        form = type(ground.template.native)
        return [
            f"View: {self.view}",
            f"Background: {ground.rows} rows of {len(ground.columns)} columns, asked as "
            f"{form.__module__.split('.')[0]}.{form.__qualname__}",
            *(
                f"  {column.name}: {ground.template.dtype(j)}, {_described(column)}"
                for j, column in enumerate(ground.columns)
            ),
        ]


@final
@dataclass(frozen=True, eq=False)
class Around:
    """Rows without data: each is its own background, whose numbers move by the given scales."""

    model: Any
    columns: Columns

    @property
    def kind(self) -> Kind:
        return Kind(None, "continuous", frozenset({Need.TABLE, Need.OFFSETS}), HINTS)

    def describe(self) -> list[str]:
        return ["Background: none, only scales; columns are read from each instance"]

    def keep(self, needs: frozenset[Need]) -> None:
        pass  # there are no data to keep

    def without(self, needs: frozenset[Need]) -> Around:
        return self

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        said = self.columns
        rows = frame(X, said.names)
        if isinstance(X, list | tuple) and rows.native.dtype.kind in "iu":
            rows = rows.wrap(rows.native.astype(np.float64))  # 1 in a list is a number like 1.0
        if not len(rows):
            raise InputError("there are no rows to explain")
        assert said.scales is not None  # as `source` has seen to
        groups = []
        for i in range(len(rows)):
            row = fitted_on(self.model, rows.take([i]))
            ground = Background.around(row, said.scales, freeze=said.freeze, bounds=said.bounds)
            groups.append(Group(Table(ground, ground.adopt(row), binned=False), [i]))
        return groups


def source(model: Any, data: Any, view: Any, columns: Columns) -> Source:
    """The source that a caller means by `data` and what is said of its columns."""
    if view is not None and not (isinstance(view, str) and view in get_args(View)):
        raise InputError(f"a view is 'binned' or 'continuous', not {told(view)}")
    seen = cast("View | None", view)
    if isinstance(data, Source):
        if seen or columns.said:
            raise InputError("views, names, categories, bounds and the like are for tables")
        return data
    if isinstance(data, Background):
        return _summarised(model, data, seen, columns)
    if data is not None:
        return _over(model, data, seen, columns)
    if columns.scales is None:
        raise InputError(
            "an explainer needs to know how features vary: give data like that the model was "
            "fitted on, or scales, a typical step for each feature"
        )
    if seen == "binned" or _given(columns.categories):
        raise InputError("without data there are no bins and no levels, only scales")
    return Around(model, columns)


def _summarised(model: Any, ground: Background, view: View | None, columns: Columns) -> Tables:
    """Over a summary of data."""
    if columns.said:
        raise InputError(
            "a Background has its names, categories, frozen columns, bounds and scales already: "
            "give them where it is made"
        )
    fitted = fitted_on(model, ground.template)
    background = ground if fitted is ground.template else ground.fitted(fitted)
    return Tables(background, view or ("binned" if background.rows else "continuous"))


def _over(model: Any, data: Any, view: View | None, columns: Columns) -> Tables:
    """Over data."""
    scales = columns.scales
    if scales is not None and not isinstance(scales, Mapping):
        raise InputError("with data, scales are given by column name, in a dictionary")
    table = fitted_on(model, frame(data, columns.names))
    background = Background.of(
        table,
        categories=columns.categories,
        freeze=columns.freeze,
        bounds=columns.bounds,
        scales=scales,
    )
    return Tables(background, view or "binned", BackgroundRows(table, background))


def _described(column: Column) -> str:
    """What a column is, in words."""
    if column.frozen:
        return "frozen"
    if column.levels is not None:
        what = f"category of {len(column.levels)} levels"
    else:
        what = "integer" if column.integer else "number"
    missing = column.shares[-1] if len(column.shares) else 0.0
    return what + (f", {missing:.1%} missing" if missing else "")


def _given(*options: Any) -> bool:
    """Whether one of several options was given, and is not empty."""
    return any(o is not None and not (hasattr(o, "__len__") and len(o) == 0) for o in options)


def fitted_on(model: Any, table: Frame) -> Frame:
    """The table in the form the model was fitted on: its columns, its order, its kind."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(names, str) or not np.iterable(names):
        names = None  # whatever this model means by it
    width = getattr(model, "n_features_in_", None)
    if names is not None:
        wanted = list(names)
        if table.named and not set(wanted) <= set(table.names):
            missing = [n for n in wanted if n not in table.names]
            raise InputError(
                f"the model was fitted on columns that data lacks: "
                f"{', '.join(repr(n) for n in missing[:10])}"
            )
        if table.named and wanted != table.names:
            return table.select([table.names.index(n) for n in wanted])
        if not table.named and isinstance(table, ArrayFrame) and len(wanted) == len(table.names):
            import pandas as pd  # the model has seen one, so it is there

            return PandasFrame(pd.DataFrame(table.native, columns=wanted))
    if isinstance(width, int | np.integer) and width != len(table.names):
        listed = ", ".join(map(str, table.names[:10])) + (", …" if len(table.names) > 10 else "")
        raise InputError(
            f"the model was fitted on {width} columns, but data has {len(table.names)}: {listed}. "
            "Drop what is not a feature, such as the label"
        )
    native = table.native
    if (
        names is None
        and width is not None
        and type(model).__module__.startswith("sklearn.")
        and isinstance(table, PandasFrame)
        and all(isinstance(t, np.dtype) and t.kind in "fiub" for t in native.dtypes)
    ):
        # Fitted on an array: asked with one, or it warns that names came.
        array = native.to_numpy(dtype=np.result_type(*native.dtypes))
        kinds = [t.kind for t in native.dtypes]
        whole, flags = ([j for j, k in enumerate(kinds) if k in some] for some in ("iu", "b"))
        return ArrayFrame(array, table.names, whole=whole, flags=flags)
    return table
