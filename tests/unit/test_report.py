"""Results as one HTML file."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle
from eagle import Explanation, Explanations, InputError, methods, peers
from eagle.cost import Cost
from eagle.display.scale import Scale
from eagle.explanations import bare
from eagle.reports.surveyed import levels_of
from markup import Page
from synthetic import synthetic
from tables import explainer_of

WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
NAMES = ["<script>alert(1)</script>", "\"quoted' & \u202eturned", "job"]


def answer(table: pd.DataFrame) -> Any:
    chance = 1 / (1 + np.exp(-np.asarray(table[NAMES[0]], dtype=float) - (table["job"] == "a")))
    return np.column_stack([1 - chance, chance])


def data(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(rows, 2)), columns=NAMES[:2])
    return table.assign(job=rng.choice(["a", "b</td>"], rows))


@pytest.fixture(scope="module")
def explainer() -> eagle.Explainer:
    return eagle.Explainer(answer, data(60), outputs=["no", "yes"])


@pytest.fixture(scope="module")
def survey(explainer: eagle.Explainer) -> eagle.Survey:
    return explainer.survey(256, progress=False)


@pytest.fixture(scope="module")
def many(survey: eagle.Survey) -> Explanations:
    return survey.explain_many(data(40, 1), "yes", progress=False)


@pytest.fixture(scope="module")
def one(explainer: eagle.Explainer) -> Explanation:
    return explainer.explain(data(1, 2), "yes")


def written(result: Any, **wishes: Any) -> str:
    file = io.StringIO()
    given: dict[str, Any] = {"when": WHEN, "progress": False, **wishes}
    eagle.report(result, file, **given)
    return file.getvalue()


def checked(page: str) -> Page:
    """What holds for every report."""
    parsed = Page(page)
    for tag, attributes in parsed.tags:
        for key, value in attributes.items():
            assert not key.startswith("on"), (tag, key)
            assert key not in ("href", "action", "style"), (tag, key)
            if key == "src":
                assert tag == "img"
                assert (value or "").startswith("data:image/png;base64,")
    kinds = parsed.kinds
    assert kinds.count("script") == kinds.count("style") == kinds.count("h1") == 1
    assert not set(kinds) & {"link", "iframe", "object", "embed", "form", "base"}
    assert not re.search(r"url\(|@import|https?:", parsed.text["style"] + parsed.text["script"])
    policy = next(a["content"] for _, a in parsed.tags if "http-equiv" in a) or ""
    for kind in ("style", "script"):
        digest = b64encode(sha256(parsed.text[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "\u202e" not in page
    for tag, attributes in parsed.tags:
        if tag == "svg":
            assert attributes.get("role") == "img" or attributes.get("aria-hidden") == "true"
    return parsed


def said(page: str) -> str:
    """The words that a page shows."""
    return re.sub(r"\s+", " ", checked(page).text["main"])


# -- what is in it -------------------------------------------------------------------------------


def test_one_explanation(one: Explanation, explainer: eagle.Explainer) -> None:
    page = written(one, made_by=explainer)
    words = said(page)
    for told in (
        one.title,
        "answer()",
        "balanced",
        "2026-01-02 03:04",
        "Seed",
        f"{one.cost.rows} in 1",
    ):
        assert told in words, told
    for told in one.warnings:
        assert told[1:] in words
    rows = re.findall(r'<tr role="row">(<td.*?)</tr>', page)
    shown = [re.findall(r'data-v="([^"]+)"', row) for row in rows[: len(one.names)]]
    order = one.order()
    assert [float(row[0]) for row in shown] == one.scores[order].tolist()
    assert [float(row[1]) for row in shown] == one.interval()[order, 0].tolist()


def test_bars_are_as_long_as_their_scores(one: Explanation) -> None:
    """A bar and its interval, read back from the drawing, are in the ratios of the numbers."""
    page = written(one)
    strips = re.findall(r'<svg class="s".*?</svg>', page)[: len(one.names)]
    order = one.order()
    wide = [float(re.findall(r'<rect [^>]*width="([\d.]+)%"', strip)[0]) for strip in strips]
    whole = [re.findall(r'class="i" x1="([\d.]+)%" x2="([\d.]+)%" y1="11"', s)[0] for s in strips]
    unit = wide[0] / abs(one.scores[order[0]])
    assert wide == pytest.approx(unit * np.abs(one.scores[order]), abs=0.02)
    low, high = np.array(whole, dtype=float).T
    expected = one.interval()[order]
    assert high - low == pytest.approx(unit * (expected[:, 1] - expected[:, 0]), abs=0.02)


def test_names_stay_text(one: Explanation, many: Explanations, survey: eagle.Survey) -> None:
    for page in (written(one), written(many, groups="job"), written(survey)):
        parsed = checked(page)
        assert "alert(1)" in parsed.text["main"]
        assert "alert(1)" not in parsed.text["script"]
        assert page.count("</td>") == page.count("<td")
    assert "<b>" not in written(one, title="<b>Why?</b>").split("<header>")[1].split("</h1>")[0]


def test_a_name_of_any_length_is_cut() -> None:
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["x" * 9000, "y"])
    e = eagle.Explainer(lambda X: np.asarray(X)[:, 0], wide).explain(wide.iloc[:1])
    page = written(e)
    assert max(map(len, re.findall("x+", page.split("How to reproduce it")[0]))) <= 200
    checked(page)


def test_many(many: Explanations, survey: eagle.Survey) -> None:
    page = written(many, made_by=survey, groups="job")
    words = said(page)
    for told in ("40 rows explained about yes", survey.identity.background_digest, "against"):
        assert told in words, told
    rows = re.findall(r'<tr role="row">(<td.*?)</tr>', page)[: len(many.names)]
    size = np.abs(many.scores).mean(axis=0)
    order = np.argsort(-size, kind="stable")
    first = [[float(v) for v in re.findall(r'data-v="([^"]+)"', row)] for row in rows]
    assert [row[0] for row in first] == pytest.approx(size[order])
    assert [row[2] for row in first] == pytest.approx(many.scores.mean(axis=0)[order])
    frame = many.compare_groups("job")
    largest = frame[frame["feature"] != "job"]["difference"].abs().max()
    part = page.split("How groups differ")[1]
    assert abs(float(re.findall(r'data-v="([^"]+)"', part)[0])) == pytest.approx(largest)


def test_groups_are_not_found_by_what_makes_them(many: Explanations) -> None:
    """Whether they are made by a name, by levels, or by ranges of a number."""
    job = many.data[:, many.names.index("job")].tolist()
    number = next(k for k in range(3) if many.names[k] != "job")
    high = many.data[:, number].astype(float) > np.median(many.data[:, number].astype(float))
    for groups, left in (("job", "job"), (job, "job"), (high.tolist(), many.names[number])):
        page = written(many, groups=groups).split("How groups differ")[1].split("Single rows")[0]
        assert "the groups are made by it" in page
        pairs = page.count("<h3>")
        assert pairs >= 1
        assert page.count('<tr role="row"><td') == pairs * (len(many.names) - 1)
        assert not re.search(rf'<td role="cell" class="t"><bdi>{re.escape(left[:9])}', page)
    some = np.random.default_rng(0).permutation(high).tolist()
    assert "made by it" not in written(many, groups=some)


def test_rows_asked_count_the_survey(many: Explanations, survey: eagle.Survey) -> None:
    assert f"{survey.rows:,}: {survey.rows:,} by the survey" in said(written(many))
    page, more = said(written(many, made_by=survey)), survey.cost.rows - survey.rows
    assert f"{survey.cost.rows:,}: {survey.rows:,} by the survey, {more:,} besides" in page


def test_parts_of_a_mean_push_up_and_down(many: Explanations) -> None:
    page = written(many)
    j = int(np.argsort(-np.abs(many.scores).mean(axis=0), kind="stable")[0])
    strip = re.findall(r'<svg class="s".*?</svg>', page)[0]
    up, down = map(float, re.findall(r'<rect [^>]*width="([\d.]+)%"', strip))
    scores = many.scores[:, j]
    expected = np.maximum(scores, 0).mean() / np.abs(scores).mean()
    assert up / (up + down) == pytest.approx(expected, abs=1e-3)


def test_rows_about_different_classes_are_told_apart(survey: eagle.Survey) -> None:
    e = survey.explain_many(data(40, 1), progress=False)
    words = said(written(e))
    for name in ("yes", "no"):
        count = sum(target == name for target in e.targets)
        assert f"What drives the model towards {name} ({count} rows)" in words


def test_explanations_without_intervals(explainer: eagle.Explainer) -> None:
    lime = explainer.with_options(peers.LIME)
    words = said(written(lime.explain_many(data(5, 3), "yes", progress=False)))
    assert "have no standard errors" in words
    assert "interval excludes" not in said(written(lime.explain(data(1, 3))))


def test_images_texts_and_parts() -> None:
    image = np.random.default_rng(0).uniform(size=(24, 24, 3))
    blocks = np.arange(16).reshape(4, 4).repeat(6, axis=0).repeat(6, axis=1)
    images = eagle.Explainer(lambda X: X.mean(axis=(1, 2, 3)) ** 3, eagle.Images(blocks, fill=0))
    picture = images.explain(image)
    page = written(picture)
    assert page.count('src="data:image/png;base64,') == 2  # intervals are of one width
    assert len(re.findall(r'<path class="edge', page)) == min(5, int(picture.sure().sum()))
    assert "The image" in said(page)
    text = eagle.Explainer(lambda X: [float(len(x)) for x in X], eagle.Texts())
    hostile = 'bad <img src="http://example.org/x"> \u202eword'
    page = written(text.explain(hostile))
    assert '<img src="http://example.org/x">' in said(page)
    assert "The text" in said(page)
    both = text.explain_many([hostile, "one two three"], progress=False)
    assert "one two three" in re.sub("</?span[^>]*>", "", written(both))
    checked(written(both))
    wave = np.sin(np.linspace(0, 9, 90))
    series = eagle.Explainer(lambda X: [float(np.max(x)) for x in X], eagle.Series())
    page = written(series.explain(wave))
    assert "The series" in said(page)
    assert page.count('class="c"') == 1
    parts = eagle.Explainer(lambda X: [float(x) for x in X], eagle.Parts(list, sum))
    checked(written(parts.explain((1.0, -2.0, 3.0))))


def test_a_comparison(explainer: eagle.Explainer) -> None:
    chosen = [methods.EAGLE_BALANCED, peers.LIME]
    compared = eagle.compare_methods(
        explainer, chosen, data(1, 2), runs=2, k=2, converged=600, progress=False
    )
    words = said(written(compared, made_by=explainer))
    for method in chosen:
        assert method.name in words
    for note in compared.notes:
        assert note in words


def test_mean_answers_of_a_survey(survey: eagle.Survey) -> None:
    """Against pandas' own grouping of the rows that were asked."""
    said(written(survey))
    k = 2
    told = levels_of(survey, k, survey.answers[:, 1], 0.95)
    frame = pd.DataFrame({"state": survey.drawn.states[k], "answer": survey.answers[:, 1]})
    grouped = frame.groupby("state")["answer"].agg(["mean", "sem", "size"])
    grouped = grouped[grouped["size"] >= 8].sort_values("mean")
    assert [one.mean for one in told] == pytest.approx(grouped["mean"].tolist())
    half = [(one.high - one.low) / 2 for one in told]
    assert half == pytest.approx((1.97 * grouped["sem"]).tolist(), rel=0.02)
    assert [one.label for one in told] == ["job = b</td>", "job = a"]


# -- making it again -----------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["binned", "continuous"])
@pytest.mark.parametrize("method", [methods.DEFAULT, peers.LIME, methods.EAGLE_PAPER])
def test_the_code_makes_the_same_scores(view: Any, method: Any) -> None:
    table = data(80, 5)
    given = {"view": view, "method": method, "link": "logit", "random_state": 7}
    made = explainer_of(answer, table, outputs=["no", "yes"], budget=200, **given)
    e = made.explain(table.iloc[[3]], ("yes"))
    for result in (e, Explanation.from_dict(e.to_dict())):
        again = run(code(written(result)), answer, table)["explanation"]
        assert again.scores == pytest.approx(e.scores, abs=1e-12)
        assert again.target == e.target


def test_the_code_of_a_survey_makes_the_same_scores(
    survey: eagle.Survey, many: Explanations
) -> None:
    found = run(code(written(many)), answer, data(60), rows=data(40, 1))
    again = found["explainer"].survey(256, progress=False)  # outputs are not named in the code
    assert found["explanations"].scores == pytest.approx(many.scores, abs=1e-12)
    assert again.rows == survey.rows == found["survey"].rows


def code(page: str) -> str:
    return unescape(re.findall("<pre><code>(.*?)</code></pre>", page, re.S)[0])


def run(lines: str, model: Any, table: Any, **known: Any) -> dict[str, Any]:
    namespace: dict[str, Any] = {"model": model, "data": table, **known}
    exec(compile(lines, "report", "exec"), namespace)
    return namespace


# -- files ---------------------------------------------------------------------------------------


def test_the_same_bytes(one: Explanation, many: Explanations, tmp_path: Path) -> None:
    for result in (one, many):
        page = written(result)
        assert page == written(result)
        other = written(result, when=WHEN.replace(year=2025))
        assert other.replace("2025-01-02", "2026-01-02") == page
        eagle.report(result, tmp_path / "why.html", when=WHEN, progress=False)
        assert (tmp_path / "why.html").read_bytes() == page.encode()
        with (tmp_path / "open.html").open("wb") as file:
            eagle.report(result, file, when=WHEN, progress=False)
        assert (tmp_path / "open.html").read_bytes() == page.encode()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["open.html", "why.html"]


def test_refusals(one: Explanation, tmp_path: Path) -> None:
    path = tmp_path / "why.html"
    path.write_text("before")
    refused: list[tuple[Any, dict[str, Any], str]] = [
        ("nothing", {}, "a report is of an Explanation"),
        (one, {"groups": [1]}, "only Explanations of many rows"),
        (one, {"made_by": answer}, "made_by is the explainer"),
        (one, {"level": 2.0}, "level"),
    ]
    for result, wishes, told in refused:
        with pytest.raises(InputError, match=told):
            eagle.report(result, path, **wishes)
    assert path.read_text() == "before"
    with pytest.raises(InputError, match="no folder"):
        eagle.report(one, tmp_path / "no" / "why.html")
    with pytest.raises(InputError, match="path or an open file"):
        eagle.report(one, 3)  # type: ignore[arg-type]


def test_ten_thousand_rows_are_small() -> None:
    """Scores and values that are all different, which is the most that there can be to draw."""
    rng, n, d = np.random.default_rng(0), 10_000, 40
    values = rng.normal(size=(n, d)).astype(object)
    shared: dict[str, Any] = {"outputs": ("no", "yes"), "task": "classification"}
    shared |= {"method": "survey", "seed": 0, "link": None}
    asked: dict[str, Any] = {"target": "yes", "answers": np.zeros(2)}
    e = synthetic(
        rng.normal(size=(n, d)),
        0.4,
        values,
        "a feature with a long name, number ",
        np.array([[str(v) for v in values[0]]] * n, dtype=object),
        lambda stacked, i: bare(shared, stacked, i, cost=Cost(1, shared=512), **asked),
    )
    page = written(e)
    assert len(page.encode()) <= 400_000
    checked(page)
    assert f"… and {d - 20}" not in page
    assert "20 more features" in page


def test_axes_of_any_numbers_have_places() -> None:
    for low, high in ((-3.0, 5.0), (0.0, 1e-300), (-1e308, 1e308), (7.0, 7.0)):
        scale = Scale.over([low, high])
        assert 0 <= scale.at(low) <= scale.at(high) <= 100
        assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


def test_an_unknown_prediction_is_said_to_be_so(survey: eagle.Survey) -> None:
    e = survey.explain(data(1, 4), "yes", ask=False)
    assert "The model was not asked about this row" in said(written(e))
    assert "not known" in said(written(survey.explain_many(data(3, 4), "yes", ask=False)))


def test_a_note_of_a_survey_is_a_warning(survey: eagle.Survey) -> None:
    assert "Another model" in said(written(replace(survey, note="another model answered")))


def test_the_parts_of_a_prompt_have_names_and_unsure_ones_are_grey() -> None:
    def ask(texts: list[str]) -> list[float]:
        return [2.0 * ("yes" in t) - ("no" in t) + 0.01 * (len(t) % 3) for t in texts]

    parts = {f"<b>{k}": text for k, text in enumerate(["yes", "no", *["maybe so"] * 6])}
    prompt = eagle.language.Prompt("{parts} Q: {q}", fixed=["q"])
    e = eagle.Explainer(ask, prompt, budget=60).explain({"parts": parts, "q": "well?"})
    page = written(e)
    checked(page)
    assert page.count('<div class="part ') == 8
    assert re.search(r'<div class="part b b10"><small><b><bdi>&lt;b&gt;0</bdi></b> \+', page)
    assert re.search(r'<div class="part n n\d"><small><b><bdi>&lt;b&gt;1</bdi></b> −', page)
    unsure = int((~e.sure()).sum())
    assert unsure == page.count('<div class="part e ')
    assert "in brackets: 95% intervals" in page
    assert "eagle.language.Prompt(" in page


def test_intervals_of_single_rows_are_drawn_in_full(many: Explanations) -> None:
    few = many[:20]
    paths = re.findall(r'<path class="v" d="([^"]+)"', written(few))
    ends = [
        int(y) for path in paths for pair in re.findall(r"M\d+ (\d+)V(\d+)", path) for y in pair
    ]
    assert ends
    assert 0 < min(ends) < max(ends) < 1000  # an end at the edge would be cut off
