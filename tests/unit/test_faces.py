"""Every output of an explanation shows the same numbers and words: one view, drawn four ways."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

import eagle
from catalogue import CASES, FOREIGN, METHODS, budget_of, supports
from eagle._values.subject import Image
from eagle.display.many import title as title_of
from eagle.display.sheet import sheet
from eagle.web import payload_many
from eagle.web.payload import payload
from markup import Page
from tables import explainer_of

EACH = [(case, "default") for case in CASES]
EACH += [
    ("mixed, binned", name)
    for name, method in METHODS.items()
    if name not in FOREIGN and supports(method, CASES["mixed, binned"])
]


def explained(case_name: str, method_name: str) -> eagle.Explanation:
    case = CASES[case_name]
    method = None if method_name == "default" else METHODS[method_name]
    given = {} if method is None else {"method": method, "budget": budget_of(method)}
    explainer = explainer_of(case.model, case.data, **given, **case.options)
    return explainer.explain(case.row(3))


def flat(text: str) -> str:
    """Words on one line, as they are compared: lines are folded, sentences get capitals."""
    return " ".join(re.sub("[\u2066-\u2069]", "", text).split()).lower()


def words_of(page: str) -> str:
    read = Page(page)
    return flat(" ".join(read.text.values()))


def drawn(e: eagle.Explanation) -> str:
    ax = eagle.plot.attribution(e, max_display=20)
    texts = ax.figure.findobj(Text)
    said = " | ".join(" ".join(t.get_text().split()) for t in texts if isinstance(t, Text))
    plt.close("all")
    return flat(said)


def report_of(e: eagle.Explanation) -> str:
    out = io.StringIO()
    eagle.report(e, out)
    return words_of(out.getvalue())


@pytest.mark.parametrize(("case", "method"), EACH, ids=[f"{c} {m}" for c, m in EACH])
def test_all_faces_say_the_same(case: str, method: str) -> None:
    e = explained(case, method)
    view = sheet(e)
    data: Any = payload(e)
    text, page, report = flat(str(e)), words_of(e._repr_html_()), report_of(e)
    plotted = drawn(e)
    assert data["title"] == e.title == view.title
    for face in (text, page, report, plotted):
        assert flat(e.title)[:120] in face
    for sentence in (*view.notes, *view.warnings):
        few = flat(sentence)[:100].rstrip(".")
        assert few in text
        assert few in page
        assert few in report
        assert few in re.sub(r"\s+", " ", plotted)
    assert data["notes"] == [n[:600] for n in view.notes]
    assert data["warnings"] == [w[:600] for w in view.warnings]
    bars = {bar["key"]: bar for bar in data["bars"]}
    assert [str(bar.key) for bar in view.bars] == [data["bars"][k]["key"] for k in data["order"]]
    for bar in view.bars[:20]:
        sent = bars[str(bar.key)]
        assert (sent["text"], sent["span"], sent["certain"]) == (bar.text, bar.span, bar.sure)
        assert sent["score"] == bar.score == e.scores[bar.key]
        for face in (text, page, report):
            known = bar.span if any(one.has_interval for one in view.bars) else ""
            for words in (bar.text, known, bar.sure):
                assert flat(words) in face
        assert flat(bar.text) in plotted
        if len(bar.full_label) < 40:
            for face in (text, page, report, plotted):
                assert flat(bar.full_label) in face


def test_a_page_of_sixty_features_counts_what_it_leaves_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 60))
    e = explainer_of(lambda Z: Z @ np.arange(60.0), X, budget=300).explain(X[0])
    for face in (str(e), e._repr_html_()):
        assert "… and 40 more features" in face
    assert "40 more features" not in report_of(e)
    assert not isinstance(e.subject, Image)


@pytest.mark.parametrize("case", [name for name, one in CASES.items() if one.things is None][:4])
def test_all_faces_of_many_say_the_same(case: str) -> None:
    one = CASES[case]
    rows = one.data.iloc[:12] if hasattr(one.data, "iloc") else one.data[:12]
    explainer = explainer_of(one.model, one.data, **one.options)
    many = explainer.explain_many(rows, explainer.explain(rows[:1]).target, progress=False)
    means = payload_many.importance(many)
    data = payload_many.bars(means, means.order(), many.labels, signed=False)
    out = io.StringIO()
    eagle.report(many, out)
    page, report = words_of(many._repr_html_()), words_of(out.getvalue())
    title = flat(title_of(many))
    assert title in page
    assert title in report
    for draw in (eagle.plot.importance, eagle.plot.beeswarm, eagle.plot.heatmap):
        ax = draw(many)
        assert title[:60] in flat(ax.get_title("left"))
        for bar in data["bars"]:
            short = bar["condition"] if len(bar["condition"]) < 40 else ""
            assert flat(short) in flat(" ".join(t.get_text() for t in ax.get_yticklabels()))
        plt.close("all")
    for k in data["order"]:
        bar = data["bars"][k]
        for face in (page, report):
            assert flat(bar["text"]) in face
            assert flat(bar["span"]) in face
    for note in many.notes:
        assert flat(note)[:100] in page
        assert flat(note)[:100] in report
