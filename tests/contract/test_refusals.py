"""A method refuses what it cannot do in a sentence, before anything is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
from catalogue import CASES, METHODS, Case, supports
from eagle import Background, Images, Method, Texts, peers
from eagle.contracts import Need
from eagle.peers.foreign import Foreign
from tables import explainer_of

REFUSED = [
    pytest.param(method, case, id=f"{name} | {place}")
    for name, method in METHODS.items()
    for place, case in CASES.items()
    if not supports(method, case)
]


class Never:
    """A model that is not to be asked."""

    asked = 0

    def __call__(self, X: Any) -> Any:
        self.asked += 1
        raise AssertionError("the model was asked")


def readable(error: eagle.InputError, method: Method | Foreign, needs: frozenset[Need]) -> None:
    sentence = str(error)
    assert method.name in sentence
    assert any(need.value in sentence for need in needs)
    assert "\n" not in sentence
    assert 15 < len(sentence) < 300


def test_there_is_something_to_refuse() -> None:
    assert len(REFUSED) > 40
    refused = [m for m in METHODS.values() if not all(supports(m, c) for c in CASES.values())]
    needs = {need for method in refused for need in method.needs}
    assert needs >= {Need.TABLE, Need.MASKS, Need.MATCHES, Need.OFFSETS, Need.BINARY}


@pytest.mark.parametrize(("method", "case"), REFUSED)
def test_what_cannot_be_done_is_refused_at_the_door(case: Case, method: Method) -> None:
    model = Never()
    with pytest.raises(eagle.InputError) as caught:
        explainer_of(model, case.data, method=method, **case.options)
    readable(caught.value, method, method.needs)
    fine = explainer_of(model, case.data, method=peers.LIME, **case.options)
    with pytest.raises(eagle.InputError) as again:
        fine.with_options(method)
    assert str(again.value) == str(caught.value)
    assert fine.method is peers.LIME  # and is still what it was
    with pytest.raises(eagle.InputError):
        eagle.compare_methods(fine, [peers.LIME, method], case.row(0), progress=False)
    assert model.asked == 0


@pytest.mark.parametrize("data", [Images(np.eye(2, dtype=int)), Texts()])
@pytest.mark.parametrize(
    "method",
    [peers.DLIME, peers.SHAP_KERNEL, peers.SHAP_PERMUTATION, peers.GLIME_GAUSS],
)
def test_pictures_and_texts_are_no_tables(method: Method | Foreign, data: Any) -> None:
    with pytest.raises(eagle.InputError) as caught:
        eagle.Explainer(Never(), data, method=method)
    assert "view=" not in str(caught.value)  # which would be refused in turn
    readable(caught.value, method, method.needs)


@pytest.mark.parametrize(
    "method", [peers.DLIME, peers.DLIME_NEAREST, peers.SHAP_KERNEL, peers.SHAP_PERMUTATION]
)
def test_a_summary_has_no_rows(method: Method | Foreign) -> None:
    data = np.random.default_rng(0).normal(size=(50, 3))
    for given in ({"data": Background.of(data)}, {"scales": [1.0, 1.0, 1.0]}):
        with pytest.raises(eagle.InputError, match="give the data itself") as caught:
            explainer_of(Never(), method=method, **given)
        readable(caught.value, method, frozenset({Need.ROWS}))


@pytest.mark.parametrize("method", [None, Method, 3])
def test_what_is_no_method_is_refused(method: Any) -> None:
    data = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(
        eagle.InputError, match="a method is a name such as 'lime', or a value such"
    ):
        eagle.Explainer(Never(), data, method=method)


def test_what_is_adaptive_has_no_plan_and_no_bootstrap() -> None:
    data = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(eagle.InputError, match="BayesLIME chooses rows by the answers"):
        eagle.Explainer(Never(), data, method=peers.BAYESLIME).plan(data[:1])
    with pytest.raises(eagle.InputError, match="a bootstrap needs a planned method"):
        peers.with_bootstrap(peers.BAYESLIME)
    with pytest.raises(eagle.InputError, match="Kernel SHAP asks the model itself"):
        eagle.Explainer(Never(), data, method=peers.SHAP_KERNEL).plan(data[:1])
