"""The law that scores are about, in files: only surrogates that need it have one."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle.files.sealed import floats, mapping, pack, read_integer
from eagle.types import Law, Points

CLOSE = 1e-9
"""How far the sum of probabilities may be from 1."""


def to_dict(law: Law | None) -> dict[str, Any]:
    """The entry of a law in a file; empty if there is no law."""
    if law is None:
        return {}
    said = {"chance": pack(law.chance), "inside": pack(law.inside), "steps": law.steps}
    return {"law": {**said, "sizes": None if law.sizes is None else pack(law.sizes)}}


def read(data: Any, points: Points, d: int) -> Law | None:
    """What `to_dict` wrote for points of d features; None where nothing was written."""
    if data is None:
        return None
    chance, inside = (floats(mapping(data)[name], 1) for name in ("chance", "inside"))
    sizes = None if data["sizes"] is None else floats(data["sizes"], 1)
    steps = read_integer(data["steps"], 1)
    whole = points.dtype.kind in "ui" and points.ndim == 2 and points.shape[1] == d
    if not whole or points.max(initial=0) >= steps or points.min(initial=0) < 0:
        raise ValueError("its points are no steps of its law")
    if chance.shape != (d,) or (chance < 0).any() or (chance > 1).any():
        raise ValueError("the probabilities of its law do not fit its features")
    if inside.shape != (d,) or (inside < 0).any() or (inside > steps).any():
        raise ValueError("the steps of its law do not fit its features")
    if sizes is not None and (
        len(sizes) != d + 1 or (sizes < 0).any() or abs(float(sizes.sum()) - 1) > CLOSE
    ):
        raise ValueError("the sizes of its masks do not fit its features")
    return Law(chance, np.rint(inside), steps, sizes)
