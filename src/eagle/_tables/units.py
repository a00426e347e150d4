"""Dates, durations and decimals as numbers, and back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Context, Decimal
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.text import finite

UnitKind: TypeAlias = Literal["date", "datetime", "duration", "decimal"]

Calendar: TypeAlias = Literal["date", "datetime", "moment", "duration"]
"""How numbers of days are shown. A moment has a time zone, and is shown in UTC."""

DAY: Final = 86_400_000_000
"""Microseconds in a day."""

EPOCH: Final = datetime(1970, 1, 1)

PER_DAY: Final = {"D": 1, "s": 86_400, "ms": DAY // 1000, "us": DAY, "ns": 1000 * DAY}
"""How many units of time are in a day, by numpy's names for them."""

NOT_A_TIME: Final = np.iinfo(np.int64).min
"""The integer that numpy and pandas hold for a missing time."""

CALENDARS: Final[dict[Calendar, str]] = {
    "date": "dates",
    "datetime": "dates with times",
    "moment": "dates with times and a time zone",
    "duration": "durations",
}

DIGITS: Final = Context(prec=400)


@final
@dataclass(frozen=True)
class ColumnUnit:
    """How dates, durations and decimals are read as numbers: days since 1970, days, floats.

    `per_day` is how many units of the dtype are in a day. `digits` is how many digits a decimal
    has after its point. `zone` is the time zone; the days are then those of UTC. `made` is the
    package whose objects are in a column of objects: "python", "pandas", or a dtype of numpy.
    """

    kind: UnitKind
    per_day: int = DAY
    digits: int = 0
    zone: tzinfo | None = None
    made: str = "python"

    @property
    def calendar(self) -> Calendar | None:
        """What its numbers are shown as; None for decimals, which are shown as numbers."""
        if self.kind == "decimal":
            return None
        return "moment" if self.kind == "datetime" and self.zone is not None else self.kind

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest number that can be written."""
        if self.kind == "decimal":
            return -np.inf, np.inf
        held = float(np.iinfo(np.int64).max // self.per_day - 1)
        if self.kind == "duration":
            most = min(held, 999_999_998.0)
            return -most, most
        return max(-held, -719_161.0), min(held, 2_932_895.0)  # the years 1 to 9999

    def integral(self, values: Array) -> bool:
        """Whether numbers of this column are to stay integers: whole days, or no digits."""
        if self.kind in ("date", "decimal"):
            return self.kind == "date" or self.digits == 0
        present = values[~np.isnan(values)]
        return bool(len(present) and np.all(present == np.rint(present)))

    def number(self, value: Any) -> float:
        """A value that is not missing as a number. Others raise a TypeError or ValueError."""
        if self.kind == "decimal":
            if isinstance(value, Decimal) or finite(value):
                return float(value)
            raise TypeError(f"{value!r} is no decimal")
        if isinstance(value, np.datetime64 | np.timedelta64):
            value = value.astype(f"{value.dtype.kind}8[us]").item()
        if self.kind == "duration":
            if not isinstance(value, timedelta):
                raise TypeError(f"{value!r} is no duration")
            return _days(value)
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if not isinstance(value, datetime):
            if not isinstance(value, date):
                raise TypeError(f"{value!r} is no date")
            value = datetime(value.year, value.month, value.day, tzinfo=self.zone)
        if (value.tzinfo is None) is not (self.zone is None):
            raise ValueError(f"{value} has a time zone where others have none, or has none")
        if hasattr(value, "to_pydatetime"):  # of pandas, with nanoseconds
            value = value.to_pydatetime(warn=False)
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return _days(value - EPOCH)

    def value(self, number: float) -> Any:
        """A number as a value of a column of objects."""
        if self.kind == "decimal":
            return Decimal(repr(number)).quantize(Decimal(1).scaleb(-self.digits), context=DIGITS)
        whole = int(np.floor(number))
        span = timedelta(days=whole, microseconds=round((number - whole) * DAY))
        if self.kind == "date":
            return (EPOCH + span).date()
        value: Any = span
        if self.kind == "datetime":
            value = EPOCH + span
            if self.zone is not None:
                value = value.replace(tzinfo=UTC).astimezone(self.zone)
        if self.made == "pandas":
            import pandas as pd

            return pd.Timedelta(value) if self.kind == "duration" else pd.Timestamp(value)
        if self.made != "python":
            dtype = np.dtype(self.made)
            return np.array(value, dtype=f"{dtype.kind}8[us]").astype(dtype)[()]
        return value

    def objects(self, values: Array, own: NDArray[Any], numbers: Array, marker: Any) -> Any:
        """Numbers as objects, `marker` where missing.

        `own` are the rows' own objects, and `numbers` what they are as numbers. Where a value
        equals that number, the own object is returned, with all its digits.
        """
        distinct, places = np.unique(values, return_inverse=True)
        made = np.empty(len(distinct), dtype=object)
        for i, number in enumerate(distinct.tolist()):
            made[i] = marker if number != number else self.value(number)
        out = made[places]
        for i in np.flatnonzero(values == numbers).tolist():
            if isinstance(own[i], type(out[i])):
                out[i] = own[i]
        return out


def _days(span: timedelta) -> float:
    return span.days + (span.seconds * 1_000_000 + span.microseconds) / DAY


def unit_of_objects(present: list[Any]) -> ColumnUnit | None:
    """The unit of objects if all are dates, all datetimes, all durations or all decimals."""
    if not present:
        return None
    first = present[0]
    if all(isinstance(v, Decimal) for v in present):
        exponents = [v.as_tuple().exponent for v in present]
        finite_ones = [e for e in exponents if isinstance(e, int)]
        if len(finite_ones) < len(exponents) or min(finite_ones) < -300:
            return None
        return ColumnUnit("decimal", digits=max(0, -min(finite_ones)))
    if all(isinstance(v, np.datetime64 | np.timedelta64) for v in present):
        kinds = {v.dtype for v in present}
        if len(kinds) > 1 or np.datetime_data(first.dtype)[0] not in PER_DAY:
            return None
        kind: UnitKind = "datetime" if first.dtype.kind == "M" else "duration"
        return ColumnUnit(kind, PER_DAY[np.datetime_data(first.dtype)[0]], made=first.dtype.str)
    pandas = all(hasattr(v, "as_unit") for v in present)
    made = "pandas" if pandas else "python"
    if all(isinstance(v, timedelta) for v in present):
        return ColumnUnit("duration", made=made)
    if all(isinstance(v, datetime) for v in present):
        if len({v.tzinfo is None for v in present}) > 1:
            return None
        return ColumnUnit("datetime", zone=first.tzinfo, made=made)
    plain = all(isinstance(v, date) and not isinstance(v, datetime) for v in present)
    return ColumnUnit("date") if plain else None


def days(ticks: NDArray[np.int64], per_day: int) -> Array:
    """Integers of a unit of time as days, NaN where they are `NOT_A_TIME`."""
    whole, part = np.divmod(ticks, per_day)
    out = whole + part / per_day
    out[ticks == NOT_A_TIME] = np.nan
    return np.asarray(out)


def ticks(values: Array, per_day: int, own: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Days as integers of a unit of time, to the microsecond.

    A float holds present-day dates to the microsecond only. So where a row's own integer in `own`
    is the same number of days, it is taken as it is.
    """
    gaps = np.isnan(values)
    whole = np.floor(np.where(gaps, 0.0, values))
    fine = min(per_day, DAY)
    part = np.rint((np.where(gaps, 0.0, values) - whole) * fine).astype(np.int64)
    out = whole.astype(np.int64) * per_day + part * (per_day // fine)
    out[gaps] = NOT_A_TIME
    return out if own is None else np.where(days(own, per_day) == values, own, out)


def days_text(number: float, kind: Calendar) -> str:
    """A number of days as text: «2021-03-01», «2021-03-01 14:30», «3 days, 4:00:00»."""
    whole = int(np.floor(number))
    second = timedelta(days=whole, seconds=int((number - whole) * 86_400 + 1e-5))
    if kind == "duration":
        return str(second)
    try:
        when = EPOCH + second
    except OverflowError:
        return f"day {number:g} after 1970"
    if kind == "date" or (kind == "datetime" and not second.seconds):
        return when.date().isoformat()
    text = when.isoformat(" ", "minutes" if not when.second else "seconds")
    return text + " UTC" * (kind == "moment")
