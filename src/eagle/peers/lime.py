"""LIME: independent rows, a weighted ridge, all features kept or some of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from eagle._engine.method import Method
from eagle._values.checks import lacking
from eagle._values.text import short_repr
from eagle.errors import InputError
from eagle.kernels import COSINE, Exponential
from eagle.peers.independent import Independent
from eagle.surrogates.ridge import Ridge, Selection

LIME: Final = Method("LIME", Independent(), Exponential(), Ridge(), COSINE)
"""Independent rows, a weighted ridge of 1, all features kept; see `sparse_lime` to keep some.

Offsets are drawn around the instance (`sample_around_instance` in the package `lime`). Values in a
bin are drawn from the background's own values. The package draws them from a normal law cut to the
bin, which gives values that no row has where a bin is degenerate.
"""


def sparse_lime(selection: Selection | None = None, alpha: float = 1.0) -> Method:
    """LIME that keeps the features of a selection, such as `eagle.peers.selection.Auto(6)`."""
    odd = isinstance(selection, type | np.ndarray | np.generic)  # numpy's have a choose, too
    if selection is not None and (odd or lacking(selection, "choose")):
        raise InputError(
            "a selection is a value such as eagle.peers.selection.Auto(6), not "
            f"{short_repr(selection)}"
        )
    how = "" if selection is None else f" ({type(selection).__name__.lower()})"
    return replace(LIME, name=f"LIME{how}", surrogate=Ridge(alpha, selection))
