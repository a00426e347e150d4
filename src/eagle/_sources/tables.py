"""Rows of tables: over data, over a summary of data, or from scales alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from eagle._tables.background import Background, Column, by_name, names_of
from eagle._tables.dataframes import PandasFrame
from eagle._tables.frame import ArrayFrame, Frame, ObjectColumns
from eagle._tables.groups import Groups, groups_error, is_encoder, of_encoder, one_hot_blocks
from eagle._tables.neighbours import BackgroundRows, Neighbours
from eagle._tables.read import frame
from eagle._tables.rows import TableInstances
from eagle._tables.units import CALENDARS
from eagle._values.checks import elements, lacking
from eagle._values.text import finite, short_repr
from eagle.contracts import NOTHING, Group, Instances, Kind, Need, Source, Wanted
from eagle.errors import InputError

TableView: TypeAlias = Literal["binned", "continuous"]
ColumnBounds: TypeAlias = Mapping[Any, tuple[Any, Any]]
Scales: TypeAlias = Mapping[Any, float | timedelta] | Sequence[float] | float

MOST_DESCRIBED: Final = 40
"""The largest number of columns that are described one by one."""

HINTS: Final = {
    Need.ROWS: ": give the data itself",
    Need.MATCHES: ": say view='binned'",
    Need.OFFSETS: ": say view='continuous'",
}
"""For each need that a table may lack, how to provide it."""


@final
@dataclass(frozen=True, eq=False)
class Table:
    """A table like those that a model was fitted on, and how its columns move.

    Examples:
        >>> table = eagle.Table(X, view="continuous", fixed=["id"])
        >>> explainer = eagle.Explainer(model, table)

    Where nothing is to be said of the columns, the table itself is given to `Explainer`. `X` is the
    table, a `Background` made from one, or None if `scales` say how far each number may move.

    `view` is "binned" (does the row keep the instance's quartile bin or level? the default) or
    "continuous" (how many standard deviations does it move?). `names` are the columns' names,
    `categories` number columns that are levels, `fixed` columns never to be moved; `bounds` gives
    (low, high) of numbers. `groups` names columns that move together and have one score, such as
    one-hot blocks: {"colour": ["colour_red", "colour_blue"]}, a fitted OneHotEncoder, or "auto" to
    find one-hot blocks by their names; None takes none and `describe` says what looks like one, {}
    is silent.
    """

    X: Any = None
    _: KW_ONLY
    names: Sequence[Hashable] | None = None
    categories: Collection[Hashable] = ()
    fixed: Collection[Hashable] = ()
    bounds: ColumnBounds | None = None
    scales: Scales | None = None
    groups: Groups | Literal["auto"] | Any | None = None
    view: TableView | None = None

    def __post_init__(self) -> None:
        views = get_args(TableView)
        if self.view is not None and not (isinstance(self.view, str) and self.view in views):
            raise InputError(f"a view is 'binned' or 'continuous', not {short_repr(self.view)}")
        if isinstance(self.X, Table):
            raise InputError("a Table is made of a table, not of another Table")
        if isinstance(self.X, Source):
            raise InputError("views, names, categories, bounds and the like are for tables")
        refuse_incomplete(self.X)
        names_of(self.categories, "categories")
        names_of(self.fixed, "fixed")
        by_name(self.bounds, "bounds")
        if not (self.scales is None or finite(self.scales) or isinstance(self.scales, Mapping)):
            elements(self.scales, "scales")
        if not (
            self.groups is None or isinstance(self.groups, Mapping | str) or is_encoder(self.groups)
        ):
            raise groups_error(self.groups)
        if self.X is not None and not isinstance(self.X, Background):
            frame(self.X, self.names)

    @property
    def is_given(self) -> bool:
        """Whether anything was said of the columns."""
        given = (self.names, self.categories, self.fixed, self.bounds, self.scales)
        return _is_given(*given) or self.groups is not None


@final
@dataclass(frozen=True, eq=False)
class Tables:
    """Rows of tables over a background. `rows` are the background's own rows, if available.

    `said` is a line of text about groups of columns: which were taken, or which look like groups.
    """

    background: Background
    view: TableView
    rows: BackgroundRows | None = None
    said: str | None = None

    @property
    def kind(self) -> Kind:
        sort = Need.MATCHES if self.view == "binned" else Need.OFFSETS
        rows = NOTHING if self.rows is None else frozenset({Need.ROWS})
        offers = frozenset({Need.TABLE, sort}) | rows
        return Kind(
            None, self.view, offers, HINTS, self.background, len(self.background.moved_columns)
        )

    def keep(self, needs: frozenset[Need]) -> None:
        if Need.ROWS in needs and self.rows is not None:
            self.rows.copy()

    def without(self, needs: frozenset[Need]) -> Tables:
        return self if Need.ROWS in needs else replace(self, rows=None)

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        """The rows, in groups by the dtypes they need.

        A row may need a wider dtype: for an unknown level, or for a missing value among integers.
        Such rows are asked in a group of their own, so that the dtypes of others do not change.
        """
        binned = self.view == "binned" and not wanted.by_value
        background, by_value = self.background, wanted.about_values
        rows = frame(X)
        if not len(rows):
            raise InputError("there are no rows to explain")
        adopted = background.adopt(rows)
        template = background.template
        if template.conforms(adopted):
            table = TableInstances(background, adopted, binned, by_value)
            return [Group(self._instances(table, wanted.needs), range(len(adopted)))]
        apart: dict[Hashable, list[int]] = {}
        widened = [j for j in range(len(template.names)) if template.form(j) != adopted.form(j)]
        columns = [adopted.objects(j) for j in widened]
        for i, values in enumerate(zip(*columns, strict=True)):
            odd = tuple(template.wider_dtype(j, v) for j, v in zip(widened, values, strict=True))
            apart.setdefault(odd, []).append(i)
        frames = [background.adopt(rows.take(places)) for places in apart.values()]
        tables = [TableInstances(background, one, binned, by_value) for one in frames]
        parts = zip(tables, apart.values(), strict=True)
        return [Group(self._instances(table, wanted.needs), part) for table, part in parts]

    def _instances(self, table: TableInstances, needs: frozenset[Need]) -> Instances:
        """The rows by themselves, or with the background's rows if the method needs these."""
        if Need.ROWS not in needs or self.rows is None:
            return table
        return Neighbours(table, self.rows)

    def describe(self) -> list[str]:
        ground = self.background
        form, more = type(ground.template.native), len(ground.columns) - MOST_DESCRIBED
        return [
            f"View: {self.view}",
            f"Background: {ground.rows} rows of {len(ground.template.raw.names)} columns, asked as "
            f"{form.__module__.split('.')[0]}.{form.__qualname__}",
            *([] if self.said is None else [self.said]),
            *(
                f"  {column.name}: {ground.template.dtype(j)}, {_type_text(column)}"
                for j, column in enumerate(ground.columns[:MOST_DESCRIBED])
            ),
            *([f"  and {more:,} more columns: explainer.background.columns"] if more > 0 else []),
        ]


@final
@dataclass(frozen=True, eq=False)
class Around(Source):
    """Rows without data: each is its own background, and its numbers move by given scales."""

    model: Any
    columns: Table

    @property
    def kind(self) -> Kind:
        return Kind(None, "continuous", frozenset({Need.TABLE, Need.OFFSETS}), HINTS)

    def describe(self) -> list[str]:
        return ["Background: none, only scales; columns are read from each instance"]

    def groups(self, X: Any, wanted: Wanted) -> list[Group]:
        said = self.columns
        rows = frame(X, said.names)
        if isinstance(X, list | tuple) and rows.native.dtype.kind in "iu":
            rows = rows.wrap(rows.native.astype(np.float64))  # in a list, 1 means the same as 1.0
        if not len(rows):
            raise InputError("there are no rows to explain")
        assert said.scales is not None  # `source` makes an Around only with scales
        groups = []
        for i in range(len(rows)):
            row = as_fitted(self.model, rows.take([i]))
            ground = Background.around(row, said.scales, fixed=said.fixed, bounds=said.bounds)
            table = TableInstances(ground, ground.adopt(row), False, wanted.about_values)
            groups.append(Group(table, [i]))
        return groups


def source(model: Any, given: Any) -> Source:
    """The source for what an explainer is given."""
    refuse_incomplete(given)
    if isinstance(given, Source):
        return given
    columns = given if isinstance(given, Table) else Table(given)
    data, seen = columns.X, columns.view
    if isinstance(data, Background):
        return _of_summary(model, data, seen, columns)
    if data is not None:
        return _over(model, data, seen, columns)
    if columns.scales is None:
        raise InputError(
            "an explainer needs to know how features vary: give data like that the model was "
            "fitted on, or scales, a typical step for each feature"
        )
    if seen == "binned" or _is_given(columns.categories):
        raise InputError("without data there are no bins and no levels, only scales")
    if columns.groups is not None:
        raise InputError("groups of columns move among rows of data: give data")
    return Around(model, columns)


SOURCE: Final = ("kind", "describe", "keep", "without", "groups")
"""The members of the contract `Source`."""


def refuse_incomplete(data: Any) -> None:
    """Refuse a class, and a source of the caller's own that lacks a member of its contract."""
    if isinstance(data, type):
        raise InputError(f"{data.__name__} is a class, not data: write {data.__name__}(…)")
    absent = lacking(data, *SOURCE)
    if absent and len(SOURCE) - len(absent) > 1:  # a table has describe, and no other
        raise InputError(
            f"a source, such as eagle.Parts(…), has {', '.join(SOURCE)}: "
            f"{type(data).__name__} lacks {', '.join(absent)}"
        )


def _of_summary(model: Any, ground: Background, view: TableView | None, columns: Table) -> Tables:
    """The source over a summary of data."""
    if columns.is_given:
        raise InputError(
            "a Background has its names, categories, frozen columns, bounds and scales already: "
            "give them where it is made"
        )
    fitted = as_fitted(model, ground.template.raw)
    background = ground if fitted is ground.template.raw else ground.with_template(fitted)
    return Tables(background, view or ("binned" if background.rows else "continuous"))


def _over(model: Any, data: Any, view: TableView | None, columns: Table) -> Tables:
    """The source over data."""
    scales = columns.scales
    if scales is not None and not isinstance(scales, Mapping):
        raise InputError("with data, scales are given by column name, in a dictionary")
    table = as_fitted(model, frame(data, columns.names))

    def summary(groups: Groups | None) -> Background:
        return Background.of(
            table,
            categories=columns.categories,
            fixed=columns.fixed,
            bounds=columns.bounds,
            scales=scales,
            groups=groups,
        )

    background, said = _group_columns(table, columns.groups, summary)
    rows = BackgroundRows(background.template.like(table), background)
    return Tables(background, view or "binned", rows, said)


def _group_columns(
    table: Frame, groups: Any, summary: Callable[[Groups | None], Background]
) -> tuple[Background, str | None]:
    """The background with its groups, and what is to be said about them.

    What looks like one-hot blocks is grouped if the caller says 'auto', else only reported.
    """
    if groups is not None and not (isinstance(groups, str) and groups == "auto"):
        return summary(of_encoder(groups, table) if is_encoder(groups) else groups), None
    background = summary(None)
    blocks = one_hot_blocks(table, _flags(background))
    listed = "; ".join(f"{g} ({', '.join(map(str, m))})" for g, m in list(blocks.items())[:5])
    more = "; …" if len(blocks) > 5 else ""
    if not blocks:
        return background, None if groups is None else "Groups: no one-hot blocks were found"
    if groups is None:
        how = "groups='auto' would move what looks like one-hot blocks as one feature each"
        return background, f"Groups: none. {how}: {listed}{more}"
    return summary(blocks), f"Groups, by names and rows of exactly one 1: {listed}{more}"


def _flags(background: Background) -> dict[Hashable, float]:
    """The columns of 0 and 1 that move and are never missing, with the share of ones."""
    out: dict[Hashable, float] = {}
    for column in background.columns:
        flags = column.levels == (False, True) or column.single.tolist() == [0, 1]
        if flags and not column.frozen and column.shares[-1] == 0:
            out[column.name] = float(column.shares[1])
    return out


def _type_text(column: Column) -> str:
    """A column's type as text."""
    if column.frozen:
        return "frozen"
    if column.members:
        names = ", ".join(member.name for member in column.members[:5])
        more = ", …" if len(column.members) > 5 else ""
        return f"group of {names}{more} in {len(column.levels or ())} combinations"
    if column.levels is not None:
        what = f"category of {len(column.levels)} levels"
    elif column.calendar is not None:
        whole = column.integer and column.calendar == "datetime"
        what = CALENDARS["date" if whole else column.calendar]
    else:
        what = "integer" if column.integer else "number"
    missing = column.shares[-1] if len(column.shares) else 0.0
    return what + (f", {missing:.1%} missing" if missing else "")


def _is_given(*options: Any) -> bool:
    """Whether one of several options was given and is not empty."""
    return any(o is not None and not (hasattr(o, "__len__") and len(o) == 0) for o in options)


def as_fitted(model: Any, table: Frame) -> Frame:
    """The table in the form the model was fitted on: its columns, its order, its kind."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(names, str) or not np.iterable(names):
        names = None  # the attribute is not a list of names
    width = getattr(model, "n_features_in_", None) or None  # CatBoost's is 0 after a file
    if names is not None:
        wanted = list(names)
        whole = {str(n).replace(" ", "_"): n for n in table.names}  # LightGBM has no blanks
        wanted = [n if n in table.names else whole.get(n, n) for n in wanted]
        if table.named and not set(wanted) <= set(table.names):
            missing = [n for n in wanted if n not in table.names]
            raise InputError(
                f"the model was fitted on columns that data lacks: "
                f"{', '.join(repr(n) for n in missing[:10])}"
            )
        if table.named and wanted != table.names:
            return table.select([table.names.index(n) for n in wanted])
        if not table.named and isinstance(table, ArrayFrame) and len(wanted) == len(table.names):
            try:
                import pandas as pd
            except ImportError:  # the model has names, but not from a DataFrame
                return table
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
        # The model was fitted on an array. Asked with a DataFrame, it would warn about names.
        array = native.to_numpy(dtype=np.result_type(*native.dtypes))
        kinds = [t.kind for t in native.dtypes]
        integers, flags = ([j for j, k in enumerate(kinds) if k in some] for some in ("iu", "b"))
        known = ObjectColumns([np.nan] * array.shape[1], frozenset(integers))
        return ArrayFrame(array, table.names, known, flags)
    return table
