"""Models of other packages that are neither estimators nor functions of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from eagle._values.arrays import Model

Task: TypeAlias = Literal["classification", "regression"]


@final
@dataclass(frozen=True, eq=False)
class Native:
    """A model as a function of tables, with what it says about itself.

    `calls_it` names what is called, and `note` says how the answers are read. `outputs` are the
    classes of a classifier. `margin` is True for decision values. `plainly` is asked in place of
    `function` where the caller says task='regression'. `feature_names_in_` and `n_features_in_`
    are as in scikit-learn, None if they are not known.
    """

    function: Model
    calls_it: str
    note: str
    task: Task | None = None
    outputs: tuple[Any, ...] | None = None
    margin: bool = False
    plainly: Model | None = None
    feature_names_in_: list[str] | None = None
    n_features_in_: int | None = None
