"""Every problem by its name; loading one trains its black box, unless the cache holds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

from eagle.bench import formulas, parts, tables
from eagle.bench.problem import Problem
from eagle.types import MissingExtraError


def _loaded(loader: Callable[[], Problem]) -> Callable[[], Problem]:
    """The loader, which says what is not installed."""

    @wraps(loader)
    def load() -> Problem:
        try:
            return loader()
        except ModuleNotFoundError as error:
            package = {"sklearn": "scikit-learn"}.get(top := str(error.name).split(".")[0], top)
            raise MissingExtraError(f"the problem {loader.__name__}", package, "bench") from None

    return load


PROBLEMS: Final[dict[str, Callable[[], Problem]]] = {
    loader.__name__: _loaded(loader)
    for loader in (
        tables.compas, tables.german, tables.adult, tables.magic,
        parts.mnist, parts.photos, parts.photos_grey, parts.photos_resnet, parts.spam,
        tables.moons, formulas.linear, formulas.additive, formulas.interacting, formulas.step,
        tables.cancer, tables.wine, tables.diabetes, tables.digits, tables.iris,
    )
}  # fmt: skip
