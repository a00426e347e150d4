"""Any input gives a valid explanation, or a sentence that says what is wrong.

`EAGLE_FUZZ=20000` tries so many cases in place of 2,000. A case that fails is made again, and can
be looked at, by its number: `hostile.case(123).run()`.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest

import hostile
from eagle import Explanation, Explanations
from eagle.comparison import Comparison
from eagle.errors import EagleError

CASES = int(os.environ.get("EAGLE_FUZZ", "2000"))
BLOCK = 100


def sentence(error: EagleError) -> None:
    said = str(error)
    assert said.isprintable()
    assert len(said.split()) >= 4, said
    assert len(said) < 1000, said
    said.encode("utf-8")


def holds(e: Explanation) -> None:
    d = len(e.names)
    assert e.scores.shape == (d,)
    assert np.isfinite(e.scores).all()
    assert np.isfinite([e.prediction, e.local_prediction]).all()
    low, high = e.interval_or_nan().T
    known = ~np.isnan(low)
    assert known.all() or not known.any()
    assert np.isfinite(high[known]).all()
    assert np.isfinite(low[known]).all()
    assert (low <= high)[known].all()
    for text in (str(e), repr(e), e._repr_html_(), *e.warnings):
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode("utf-8")
    assert len(e.to_frame()) == d
    assert e.to_dict()


def paid(found: Any, case: hostile.Case) -> None:
    """Every row and call that the model saw is in the cost, and none that it did not see."""
    model = case.model
    if case.what == "survey":
        return  # its rows are shared: they are on the survey's own account
    if case.what == "many":
        assert sum(e.cost.rows for e in found) == model.rows
        return
    assert found.cost.rows == model.rows
    assert found.cost.calls == (0 if case.what == "plan" else model.calls)


def tried(case: hostile.Case) -> bool:
    """Whether there is an explanation; where there is none, a sentence says why."""
    before = hostile.print_of(case.given)
    with warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        try:
            found = case.run()
        except EagleError as error:
            sentence(error)
            found = None
    assert not leaked, [str(warning.message) for warning in leaked]
    assert hostile.print_of(case.given) == before, "what the caller holds was changed"
    if isinstance(found, Comparison):
        str(found)
        found._repr_html_()
        return True
    for e in found if isinstance(found, Explanations) else [] if found is None else [found]:
        holds(e)
    if found is not None:
        paid(found, case)
    return found is not None


@pytest.mark.parametrize("start", range(0, CASES, BLOCK))
def test_hostile_cases(start: int) -> None:
    explained = 0
    for number in range(start, min(start + BLOCK, CASES)):
        case = hostile.case(number)
        try:
            explained += tried(case)
        except BaseException as error:
            error.add_note(str(case))
            raise
    assert explained > BLOCK / 10  # refusing everything would be easy
