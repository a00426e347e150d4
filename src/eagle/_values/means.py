"""Means over rows, one for each feature, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from eagle._values.arrays import Array
from eagle._values.packages import package
from eagle._values.ties import rank

if TYPE_CHECKING:
    import pandas as pd


@final
@dataclass(frozen=True, eq=False)
class Means:
    """A number for each feature, with an interval: `value`, `low` and `high`, shape (d,)."""

    names: tuple[str, ...]
    value: Array
    low: Array
    high: Array
    level: float

    def order(self) -> NDArray[np.intp]:
        """The features by decreasing size of their number."""
        return rank(np.abs(self.value))

    def to_frame(self) -> pd.DataFrame:
        """A row for each feature, in the features' own order."""
        pd = package("pandas", "to_frame", "frames")
        return pd.DataFrame(
            {"value": self.value, "low": self.low, "high": self.high},
            index=pd.Index(self.names, name="feature"),
        )
