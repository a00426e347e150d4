"""Every problem by its name; loading one trains its black box, unless the cache holds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eagle.bench import formulas, parts, tables
from eagle.bench.problem import Problem

PROBLEMS: Final[dict[str, Callable[[], Problem]]] = {
    loader.__name__: loader
    for loader in (
        tables.compas, tables.german, tables.adult, tables.magic,
        parts.mnist, parts.photos, parts.photos_grey, parts.photos_resnet, parts.spam,
        tables.moons, formulas.linear, formulas.additive, formulas.interacting, formulas.step,
        tables.cancer, tables.wine, tables.diabetes, tables.digits, tables.iris,
    )
}  # fmt: skip
