"""All problems by name. Loading one trains its black box, unless it is cached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Final

from eagle.errors import InputError, MissingExtraError
from evaluation.problems import formulas, images_texts, tables
from evaluation.problems.boxes import estimator
from evaluation.problems.problem import Problem

OWN: Final = "own"
UNDER: Final = "+"
"""`compas+boosting` is the data set compas with the black box boosting."""


def _loaded(loader: Callable[[], Problem]) -> Callable[[], Problem]:
    """The loader, with an error that names packages that are not installed."""

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
        tables.compas,
        tables.german,
        tables.adult,
        tables.magic,
        images_texts.mnist,
        images_texts.photos,
        images_texts.photos_grey,
        images_texts.photos_resnet,
        images_texts.spam,
        tables.moons,
        formulas.linear,
        formulas.additive,
        formulas.interacting,
        formulas.step,
        tables.cancer,
        tables.wine,
        tables.diabetes,
        tables.digits,
        tables.iris,
    )
}


def named(data: str, box: str) -> str:
    """The problem's name."""
    return data if box == OWN else f"{data}{UNDER}{box}"


def under(problem: Problem, box: str) -> Problem:
    """The same data with another black box."""
    if box not in BLACK_BOXES:
        raise InputError(f"there is no black box {box!r}: there are {', '.join(BLACK_BOXES)}")
    if problem.known is None:
        raise InputError(f"{problem.name} is known by its own black box only: leave out {box!r}")
    name = named(problem.name, box)
    model = estimator(name, BLACK_BOXES[box](problem.task), problem.data, problem.known)
    right = float(model.score(problem.instances, problem.labels))
    return replace(problem, name=name, model=model, accuracy=right, published=None)


def _forest(task: str | None) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return kind(100, random_state=0, n_jobs=1)


def _boosting(task: str | None) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
    return kind(random_state=0)


def _network(task: str | None) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.preprocessing import StandardScaler

    how: dict[str, Any] = {"hidden_layer_sizes": 32, "alpha": 1.0, "solver": "lbfgs"}
    if task != "regression":
        return _scaled(MLPClassifier(**how, max_iter=500, random_state=0))
    machine = _scaled(MLPRegressor(**how | {"alpha": 10.0}, max_iter=500, random_state=0))
    return TransformedTargetRegressor(machine, transformer=StandardScaler())


def _line(task: str | None) -> Any:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    return _scaled(LinearRegression() if task == "regression" else LogisticRegression())


def _scaled(machine: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), machine)


BLACK_BOXES: Final[dict[str, Callable[[str | None], Any]]] = {
    "forest": _forest,
    "boosting": _boosting,
    "network": _network,
    "line": _line,
}
"""Black boxes for tables, by task."""
