"""In the continuous view a score is a slope, and every output names it so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

import eagle
from catalogue import CASES
from eagle import plot
from eagle.web import payload_many
from eagle.web.payload import payload
from tables import explainer_of

CASE = CASES["numbers, continuous"]
TABLE = CASES["mixed, continuous"]


def explainer() -> eagle.Explainer:
    return explainer_of(CASE.model, CASE.data, budget=60, **CASE.options)


def one() -> eagle.Explanation:
    return explainer().explain(CASE.data[3], "yes")


def many() -> eagle.Explanations:
    return explainer().explain_many(CASE.data[:12], "yes", progress=False)


def compared() -> eagle.Comparison:
    both: list[Any] = [eagle.methods.DEFAULT, eagle.peers.LIME]
    return eagle.compare_methods(explainer(), both, CASE.data[3], 2, target="yes", progress=False)


def written(draw: Callable[[], Any]) -> str:
    try:
        return " ".join(text.get_text() for text in np.ravel(draw())[0].figure.findobj(Text))
    finally:
        plt.close("all")


def page(text: str) -> str:
    """What is written on a page."""
    text = re.sub(r"<(style|script).*?</\1>", " ", text, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", text)


def report(result: Any, folder: Path, **options: Any) -> str:
    eagle.report(result, folder / "report.html", progress=False, **options)
    return page((folder / "report.html").read_text(encoding="utf-8"))


HALF = np.arange(12) < 6

OF_ONE: dict[str, Callable[[eagle.Explanation, Path], str]] = {
    "text": lambda e, _: str(e),
    "list": lambda e, _: str(e.as_list()),
    "page": lambda e, _: page(e._repr_html_()),
    "report": report,
    "table": lambda e, _: e.to_frame().to_string(),
    "JSON of the page": lambda e, _: json.dumps(payload(e)),
    "attribution": lambda e, _: written(lambda: plot.attribution(e)),
    "comparison": lambda e, _: written(lambda: plot.comparison({"one": e, "same": e})),
    "convergence": lambda e, _: written(lambda: plot.convergence(e, steps=2)),
}

OF_MANY: dict[str, Callable[[eagle.Explanations, Path], str]] = {
    "page": lambda e, _: page(e._repr_html_()),
    "report": lambda e, to: report(e, to, groups={"one": HALF, "other": ~HALF}),
    "table": lambda e, _: e.to_frame().to_string(),
    "summary": lambda e, _: e.summary().to_string(),
    "groups": lambda e, _: e.compare_groups({"one": HALF, "other": ~HALF}).to_string(),
    "overview of the page": lambda e, _: json.dumps(
        payload_many.overview(e, np.arange(len(e)), len(e), payload_many.importance(e))
    ),
    "groups of the page": lambda e, _: json.dumps(payload_many.groups(e, 0, np.arange(5))),
    "importance": lambda e, _: written(lambda: plot.importance(e)),
    "beeswarm": lambda e, _: written(lambda: plot.beeswarm(e)),
    "heatmap": lambda e, _: written(lambda: plot.heatmap(e)),
    "dependence": lambda e, _: " ".join(
        written(partial(plot.dependence, e, name)) for name in e.names
    ),
    "groups drawn": lambda e, _: written(
        lambda: plot.groups(e.compare_groups({"one": HALF, "other": ~HALF}))
    ),
}

OF_SEVERAL: dict[str, Callable[[eagle.Comparison, Path], str]] = {
    "text": lambda c, _: str(c),
    "page": lambda c, _: page(c._repr_html_()),
    "report": report,
}


def names_slopes(text: str) -> None:
    """Each feature is named by its step, and none is said to push."""
    for k in range(5):
        assert re.search(rf"per \+1 SD \([\d.e+-]+\) of x{k}\b", text), k
    assert "push" not in text


@pytest.mark.parametrize("name", OF_ONE)
def test_of_one(name: str, tmp_path: Path) -> None:
    names_slopes(OF_ONE[name](one(), tmp_path))


@pytest.mark.parametrize("name", OF_MANY)
def test_of_many(name: str, tmp_path: Path) -> None:
    names_slopes(OF_MANY[name](many(), tmp_path))


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_of_several_methods(name: str, tmp_path: Path) -> None:
    names_slopes(OF_SEVERAL[name](compared(), tmp_path))


def test_a_number_that_is_missing_in_the_first_rows_is_named_too(tmp_path: Path) -> None:
    table = TABLE.data.sort_values("age", na_position="first").drop(columns=["size"])
    assert table["age"].isna().sum() > 2
    explainer = eagle.Explainer(
        lambda X: np.nan_to_num(X["age"].to_numpy(float)) + X["visits"].to_numpy(float),
        eagle.Table(table, view="continuous"),
        budget=60,
    )
    rows = table.iloc[:40].reset_index(drop=True)
    held = explainer.explain_many(rows, progress=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    eagle.dataset.explain(
        explainer, tmp_path / "rows.parquet", tmp_path / "out", part_rows=2, progress=False
    )
    age = held.labels[0]
    assert re.fullmatch(r"per \+1 SD \([\d.]+\) of age", age)
    assert held.labels[3] == "city"
    stored = eagle.load(tmp_path / "out")
    assert stored.labels == held.labels
    assert stored.summary().loc["age", "slope"] == held.summary().loc["age", "slope"] == age


def test_values_have_no_steps() -> None:
    binned = eagle.Explainer(CASE.model, CASE.data, budget=60)
    e = binned.explain_many(CASE.data[:3], progress=False)
    assert e.steps == ("",) * 5
    assert e.labels == e.names
    assert e[:0].labels == e.names
