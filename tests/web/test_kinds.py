"""Every kind of thing that can be explained can be opened, edited, saved and seen as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import eagle
from eagle import Explainer, Explanation, peers
from pages import people, served

pytestmark = pytest.mark.web

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(40, 4))
COUNTS = sparse.csr_matrix(RNG.poisson(1.0, size=(40, 3)).astype(float))


def line(X: Any) -> Any:
    return np.asarray(X) @ [1.0, 2.0, 0.0, -1.0]


def three(X: Any) -> Any:
    raised = np.exp(np.asarray(X)[:, :3])
    return raised / raised.sum(axis=1, keepdims=True)


def mixed() -> pd.DataFrame:
    """Numbers with gaps, a one-hot block, dates and levels."""
    data = people(40)[["age", "joined", "job"]].reset_index(drop=True)
    red = (RNG.random(40) < 0.5).astype(int)
    return data.assign(age=data["age"].where(data["age"] > 25), red=red, blue=1 - red)


def of_mixed(table: Any) -> Any:
    boss = (table["job"] == "boss").to_numpy()
    return 0.1 * np.nan_to_num(table["age"].to_numpy(float)) + table["red"].to_numpy() + 2 * boss


def of_polars(table: Any) -> Any:
    return table["x"].to_numpy() + (table["s"] == "u").to_numpy()


FRAME = mixed()
POLARS = pl.DataFrame({"x": RNG.normal(size=40), "s": RNG.choice(["u", "v"], 40)})
TEXTS = ["one two three", "four"]
CURVES = RNG.normal(size=(3, 40)).cumsum(axis=1)
IMAGES = RNG.random((3, 16, 16))

KINDS: dict[str, tuple[Explainer, Any]] = {
    "numbers": (Explainer(line, NUMBERS), NUMBERS),
    "continuous": (Explainer(line, eagle.Table(NUMBERS, view="continuous")), NUMBERS),
    "a summary alone": (Explainer(line, eagle.Background.of(NUMBERS)), NUMBERS),
    "groups": (Explainer(of_mixed, eagle.Table(FRAME, groups={"colour": ["red", "blue"]})), FRAME),
    "frozen": (Explainer(of_mixed, eagle.Table(FRAME, fixed=["joined"])), FRAME),
    "polars": (Explainer(of_polars, POLARS), POLARS),
    "sparse": (Explainer(lambda X: np.asarray(X.sum(axis=1)).ravel(), COUNTS), COUNTS),
    "log-odds": (Explainer(three, NUMBERS, link="logit"), NUMBERS),
    "no intervals": (Explainer(three, NUMBERS, method=peers.LIME), NUMBERS),
    "no plan": (Explainer(three, NUMBERS, method=peers.UNRAVEL, budget=12), NUMBERS),
    "texts": (Explainer(lambda texts: np.array([len(t) / 9 for t in texts]), eagle.Texts()), TEXTS),
    "series": (Explainer(lambda x: x.reshape(len(x), -1).mean(axis=1), eagle.Series(4)), CURVES),
    "images": (Explainer(lambda x: x.reshape(len(x), -1).mean(axis=1), eagle.Images(4)), IMAGES),
}

OTHER = {"number": 1.0, "level": 0, "date": "2016-05-05", "text": "one four"}
"""Another value of each kind of field."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_thing_is_opened_edited_saved_and_seen_among_others(kind: str) -> None:
    ex, X = KINDS[kind]
    with served(ex, X) as page, page.client() as client:
        about = client.get("/api/about").json()
        opened = page.result(row=1, kind="explain")
        saved = Explanation.from_dict(page.post("save", row=1, form="json").json())
        assert np.allclose(saved.scores, [bar["score"] for bar in opened["bars"]])
        edits = {f["key"]: OTHER[f["kind"]] for f in about["fields"]}
        if edits:
            edited = page.result(row=1, kind="explain", edits=edits)
            assert edited["prediction"] != opened["prediction"]
        if about["kind"] == "table":
            seen = page.result(row=1, kind="overview", rows=12)
            assert seen["rows"] == 12
            assert len(seen["importance"]["bars"]) == len(about["fields"])
            for k in range(len(about["fields"])):
                assert page.post("dependence", feature=k).status_code == 200


def test_methods_side_by_side_name_slopes() -> None:
    """Tilia's scores are no slopes, so beside it features have their plain names."""
    from eagle.web.compare import comparison_payload  # needs what the server needs

    X = np.random.default_rng(0).normal(size=(60, 2))
    explainer = eagle.Explainer(lambda Z: Z[:, 0], eagle.Table(X, view="continuous"), budget=60)
    for other, named in ((peers.LIME, "per +1 SD"), (peers.TILIA, "x0")):
        both: list[Any] = [eagle.methods.DEFAULT, other]
        compared = eagle.compare_methods(explainer, both, X[0], 1, progress=False)
        features = comparison_payload(compared, ["default", "other"])["features"]
        assert features[0].startswith(named)
