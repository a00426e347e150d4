"""Groups of columns that move together, such as one-hot blocks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import LARGEST_INTEGER, Codes, Objects, Values, array_of, encode, plain
from eagle._tables.frame import Frame
from eagle._values.arrays import Array
from eagle._values.text import short_repr
from eagle.errors import InputError

Groups: TypeAlias = Mapping[Any, Sequence[Any]]
"""The columns of each group, by the group's name."""

SEPARATORS: Final = "_=:. -/"
"""What stands between the name of a one-hot block and that of a level."""


@final
class GroupedFrame(Frame):
    """A table in which each group of columns is one column of combinations.

    A combination is a tuple of the values of the group's columns: numbers, levels, None where
    missing. The group stands where the first of its columns stood. Everything that is built is
    a table of the original kind, with all columns.
    """

    def __init__(self, table: Frame, groups: Groups) -> None:
        self._table = table
        self.named, self.groups = table.named, dict(groups)
        place = {name: j for j, name in enumerate(table.names)}
        inside = {name: group for group, names in groups.items() for name in names}
        self.names, self._places = [], []
        for name in table.names:
            group = inside.get(name)
            if name not in inside:
                self.names.append(name)
                self._places.append([place[name]])
            elif group not in self.names:
                self.names.append(group)
                self._places.append([place[n] for n in groups[group]])
        self._grouped = [name in self.groups for name in self.names]
        self._cache: dict[int, Values] = {}

    @property
    def raw(self) -> Frame:
        return self._table

    def like(self, table: Frame) -> GroupedFrame:
        return GroupedFrame(table, self.groups)

    @property
    def native(self) -> Any:
        return self._table.native

    def __len__(self) -> int:
        return len(self._table)

    def wrap(self, native: Any) -> GroupedFrame:
        return self.like(self._table.wrap(native))

    def template(self) -> GroupedFrame:
        return self.like(self._table.template())

    def places(self, j: int) -> list[int]:
        """The places of the columns of feature j in the table itself."""
        return self._places[j]

    def is_group(self, j: int) -> bool:
        """Whether feature j is a group."""
        return self._grouped[j]

    def dtype(self, j: int) -> Any:
        kinds = [self._table.dtype(p) for p in self._places[j]]
        return kinds[0] if all(kind == kinds[0] for kind in kinds) else "several dtypes"

    def form(self, j: int) -> Any:
        return tuple(self._table.form(p) for p in self._places[j])

    def is_integer(self, j: int) -> bool:
        return not self._grouped[j] and self._table.is_integer(self._places[j][0])

    def unit(self, j: int) -> Any:
        return None if self._grouped[j] else self._table.unit(self._places[j][0])

    def dtype_of(self, j: int) -> np.dtype[Any] | None:
        return None if self._grouped[j] else self._table.dtype_of(self._places[j][0])

    def read(self, j: int) -> Values | None:
        if not self._grouped[j]:
            return self._table.read(self._places[j][0])
        columns = [self._member(p) for p in self._places[j]]
        keys = np.stack([_sortable(values) for values in columns], axis=1)
        distinct, codes = np.unique(keys, axis=0, return_inverse=True)
        integers = [self._table.is_integer(p) for p in self._places[j]]
        named = [
            [_value(v, values, whole) for v in distinct[:, k].tolist()]
            for k, (values, whole) in enumerate(zip(columns, integers, strict=True))
        ]
        levels = tuple(zip(*named, strict=True))
        return Codes(codes.reshape(-1).astype(np.intp), levels)

    def _member(self, p: int) -> Values:
        """Column p of the table as numbers or codes, read once."""
        if p not in self._cache:
            self._cache[p] = self._check(p)
        return self._cache[p]

    def _check(self, p: int) -> Values:
        """Column p of the table as numbers or codes; one that is neither is refused."""
        values, name = self._table.read(p), self._table.names[p]
        if self._table.dtype_of(p) == np.dtype(object) and self._table.unit(p) is None:
            # Objects are always levels: where this table has only numbers, another may have texts.
            values = encode(self._table.objects(p), name)
        if values is None:
            raise InputError(
                f"column {name!r} ({self._table.dtype(p)}) holds neither numbers nor levels: "
                "turn it into one of them, or leave it out of the group and name it in fixed"
            )
        if isinstance(values, Codes):
            return values
        if np.isinf(values).any():
            raise InputError(f"column {name!r} holds an infinite value: replace it")
        largest = np.abs(np.nan_to_num(values)).max(initial=0.0)
        if self._table.is_integer(p) and largest > LARGEST_INTEGER:
            raise InputError(
                f"column {name!r} holds integers beyond 2^53, as identifiers often are: leave it "
                "out of the group and name it in fixed"
            )
        return values

    def objects(self, j: int) -> Objects:
        if not self._grouped[j]:
            return self._table.objects(self._places[j][0])
        return array_of(zip(*(self._table.objects(p) for p in self._places[j]), strict=True))

    def select(self, columns: Sequence[int]) -> GroupedFrame:
        chosen = self._table.select([p for j in columns for p in self._places[j]])
        names = {self.names[j] for j in columns}
        return GroupedFrame(chosen, {n: c for n, c in self.groups.items() if n in names})

    def write(self, index: NDArray[np.intp], columns: Mapping[int, Values]) -> GroupedFrame:
        given: dict[int, Values] = {}
        for j, values in columns.items():
            if not self._grouped[j]:
                given[self._places[j][0]] = values
                continue
            assert isinstance(values, Codes)  # a group is read as codes
            for k, p in enumerate(self._places[j]):
                held = array_of(level[k] for level in values.levels)
                given[p] = self._column_values(p, held, values.codes)
        return self.like(self._table.write(index, given))

    def _column_values(self, p: int, held: Objects, codes: NDArray[np.intp]) -> Values:
        """Column p of rows with these combinations; `held` has its value in each combination."""
        values = self._member(p)
        if isinstance(values, Codes):
            coded = encode(held, self._table.names[p], values.levels)
            return Codes(coded.codes[codes], coded.levels)
        numbers = np.array([np.nan if v is None else v for v in held], dtype=np.float64)
        return numbers[codes]

    def adopt(self, columns: Sequence[Objects]) -> GroupedFrame:
        every: list[Objects] = [array_of(())] * len(self._table.names)
        for j, objects in enumerate(columns):
            for k, p in enumerate(self._places[j]):
                every[p] = array_of(v[k] for v in objects) if self._grouped[j] else objects
        return self.like(self._table.adopt(every))

    def wider_dtype(self, j: int, value: Any) -> Hashable:
        if not self._grouped[j]:
            return self._table.wider_dtype(self._places[j][0], value)
        if value is None:  # a whole combination is never missing
            return None
        parts = zip(self._places[j], value, strict=True)
        wider = tuple(self._table.wider_dtype(p, v) for p, v in parts)
        return None if all(m is None for m in wider) else wider


def _sortable(values: Values) -> Array:
    """Values as numbers that are equal if and only if the values are; missing ones are equal."""
    if isinstance(values, Codes):
        return values.codes.astype(np.float64)
    return np.where(np.isnan(values), np.inf, values) + 0.0


def _value(number: float, values: Values, whole: bool) -> Any:
    """The value that `_sortable` turned into this number; None where missing."""
    if isinstance(values, Codes):
        return plain(values.levels[int(number)]) if number >= 0 else None
    if number == np.inf:
        return None
    return int(number) if whole and number.is_integer() else number


# -- which columns ------------------------------------------------------------------------------


def groups_error(groups: Any) -> InputError:
    """The error that says how groups are given."""
    return InputError(
        "groups are given by name, in a dictionary of lists of columns, as 'auto', or as a "
        f"fitted OneHotEncoder, not as {short_repr(groups)}"
    )


def check_groups(groups: Any, table: Frame) -> dict[Hashable, list[Hashable]]:
    """Groups as a caller gives them, if they fit the table."""
    if not isinstance(groups, Mapping):
        raise groups_error(groups)
    out: dict[Hashable, list[Hashable]] = {}
    taken: dict[Hashable, Hashable] = {}
    for group, members in groups.items():
        if isinstance(members, str) or not isinstance(members, Sequence) or not len(members):
            raise InputError(f"the group {group!r} is a list of columns, not {short_repr(members)}")
        for name in members:
            if not isinstance(name, Hashable) or name not in table.names:
                raise InputError(
                    f"the group {group!r} has the column {short_repr(name)}, which is not there"
                )
            if name in taken:
                raise InputError(
                    f"column {name!r} is in the group {taken[name]!r}, and again in {group!r}"
                )
            taken[name] = group
        out[group] = list(members)
    for group in out:
        if group in table.names and group not in out[group]:
            raise InputError(f"the group {group!r} has the name of a column that is not in it")
    return out


def of_encoder(encoder: Any, table: Frame) -> dict[Hashable, list[Hashable]]:
    """The blocks of a fitted OneHotEncoder, by the names it gives to its columns."""
    names, inputs = list(encoder.get_feature_names_out()), list(encoder.feature_names_in_)
    out: dict[Hashable, list[Hashable]] = {}
    for feature, categories in zip(inputs, encoder.categories_, strict=True):
        endings = {f"{feature}_{c}" for c in categories} | {f"{feature}_infrequent_sklearn"}
        out[feature] = [name for name in names if name in endings and name in table.names]
    listed = [name for members in out.values() for name in members]
    if set(listed) != set(names) or len(listed) > len(set(listed)):
        missing = [name for name in names if name not in listed] or listed
        raise InputError(
            "the table does not have all columns of this OneHotEncoder once, such as "
            f"{short_repr(missing[0])}: give groups as a dictionary"
        )
    return {feature: members for feature, members in out.items() if members}


def is_encoder(groups: Any) -> bool:
    """Whether this is a fitted encoder that knows the names of its columns."""
    wanted = ("get_feature_names_out", "feature_names_in_", "categories_")
    return all(hasattr(groups, name) for name in wanted)


def one_hot_blocks(table: Frame, flags: Mapping[Hashable, float]) -> dict[Hashable, list[Hashable]]:
    """Columns of 0 and 1 with a common prefix of which exactly one is 1 in every row.

    `flags` are the columns of 0 and 1 with the share of ones. Of several prefixes the
    shortest that fits is taken.
    """
    texts = [name for name in table.names if isinstance(name, str)]
    by_prefix: dict[str, list[str]] = {}
    for name in texts:
        for prefix in _prefixes(name):
            by_prefix.setdefault(prefix, []).append(name)
    out: dict[Hashable, list[Hashable]] = {}
    taken: set[str] = set()
    for prefix, members in sorted(by_prefix.items(), key=lambda item: len(item[0])):
        free = len(members) > 1 and not taken & set(members)
        if not free or prefix in table.names or any(m not in flags for m in members):
            continue
        if abs(sum(flags[m] for m in members) - 1) < 1e-9 and _one_of(table, members):
            out[prefix] = list(members)
            taken |= set(members)
    return out


def _prefixes(name: str) -> list[str]:
    """The parts of a name before each separator."""
    return [name[:i] for i, c in enumerate(name) if c in SEPARATORS and name[:i].strip(SEPARATORS)]


def _one_of(table: Frame, members: Sequence[str]) -> bool:
    """Whether exactly one of the columns is 1 in every row."""
    total = np.zeros(len(table))
    for name in members:
        values = table.read(table.names.index(name))
        if values is None:
            return False
        total += values.codes if isinstance(values, Codes) else values
    return bool((total == 1).all())


# -- in words -----------------------------------------------------------------------------------


def ending(member: str, group: str, members: Sequence[str]) -> str:
    """The part of a one-hot column's name that says which level it is: «red» of «colour_red»."""
    if member.startswith(group) and member != group:
        rest = member[len(group) :]
        return rest.lstrip(SEPARATORS) or member
    shared = _common_beginning(members)
    return member[len(shared) :].lstrip(SEPARATORS) or member


def _common_beginning(members: Sequence[str]) -> str:
    """The longest beginning of all names that ends at a separator."""
    if len(members) < 2:
        return ""
    first, last = min(members), max(members)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    places = [i for i in range(same) if first[i] in SEPARATORS]
    return first[: places[-1] + 1] if places else ""
