"""The page in a real browser: what people see, press and hear read out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eagle import Explainer, Explanation, Limit, Texts
from eagle.display.numbers import probability
from pages import HOSTILE, Line, Served, answers, explainer, people, served, until

pytestmark = pytest.mark.browser

AXE = os.environ.get("EAGLE_AXE", "")

Tab = Callable[..., Any]


@pytest.fixture(scope="module")
def page() -> Iterator[Served]:
    with served(explainer(answers), people(), survey=1024, title=HOSTILE) as one:
        yield one


@pytest.fixture(scope="module")
def streamed() -> Iterator[Served]:
    with served(explainer(Line(wait=0.02), budget=600), people(), title="Streamed") as one:
        yield one


def scores(tab: Any) -> dict[str, float]:
    """The score of each feature in sight, as it is written."""
    rows = tab.locator('[data-testid="feature"]')
    out = {}
    for k in range(rows.count()):
        text = rows.nth(k).locator(".figure").inner_text()
        small = text[0] in "<>"  # what would be written as 0
        out[rows.nth(k).get_attribute("data-key")] = 0.0 if small else read(text)
    return out


def read(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def wait(tab: Any, code: str, given: Any = None) -> None:
    """Until a function of the page is true. As a text it would be an eval, which the policy of the
    page forbids."""
    tab.wait_for_function(f"(given) => {code}", arg=given)


# -- one row -------------------------------------------------------------------------------------


def test_a_row_is_what_the_library_says(page: Served, tab: Tab) -> None:
    one = tab(f"{page.link}&row=7&target=1")
    one.get_by_role("heading", name="person 7").wait_for()
    one.locator('[data-testid="feature"]').first.wait_for()
    e = explainer(answers).survey(1024, progress=False).explain(people().iloc[[7]], HOSTILE)
    shown = scores(one)
    assert list(shown) == [str(j) for j in e.order()]
    assert shown == pytest.approx({str(j): s for j, s in enumerate(e.scores)}, abs=6e-4)
    assert one.locator('[data-testid="prediction"]').inner_text() == probability(e.prediction)
    assert "token" not in one.evaluate("() => location.href")


def test_an_edit_moves_prediction_and_scores(page: Served, tab: Tab) -> None:
    """As fast as it is typed, and the scores without the model."""
    one = tab(f"{page.link}&row=7&target=1")
    one.locator('[data-testid="feature"]').first.wait_for()
    before, rows = scores(one), page.page.state.spending["rows"]
    one.get_by_label("Ask the model for this row's prediction").uncheck()
    field = one.get_by_label("age, value")
    field.fill("70")
    wait(one, "document.body.dataset.latency !== undefined")
    assert scores(one) != before
    assert one.locator('[data-testid="prediction"]').inner_text() == "not asked"
    assert page.page.state.spending["rows"] <= rows + 61  # the list asks for what it shows
    edited = people().iloc[[7]].assign(age=70)
    survey = explainer(answers).survey(1024, progress=False)
    e = survey.explain(edited, HOSTILE)
    assert scores(one) == pytest.approx({str(j): s for j, s in enumerate(e.scores)}, abs=6e-4)
    one.get_by_label("Ask the model for this row's prediction").check()
    told = "document.querySelector('[data-testid=prediction]').textContent === given"
    wait(one, told, probability(e.prediction))
    state = one.evaluate("() => location.hash.slice(1)")
    again = tab(f"{page.link}&{state}")
    again.locator('[data-testid="feature"]').first.wait_for()
    assert again.get_by_label("age, value").input_value() == "70"
    assert scores(again) == scores(one)
    one.get_by_role("button", name="Undo edits").click()
    wait(one, "document.querySelector('[data-key=\"0\"] input').value !== '70'")
    one.wait_for_timeout(600)
    assert scores(one) == before


def test_the_keyboard_is_enough(page: Served, tab: Tab) -> None:
    one = tab(f"{page.link}&row=0&target=1")
    one.locator('[data-testid="feature"]').first.wait_for()
    one.locator(".rowitem").first.wait_for()
    one.locator('.rowitem[aria-current="true"]').focus()
    one.keyboard.press("ArrowDown")
    one.keyboard.press("ArrowDown")
    one.keyboard.press("Enter")
    one.get_by_role("heading", name="person 2").wait_for()
    one.get_by_role("link", name="All rows").focus()
    one.keyboard.press("Enter")
    plot = one.get_by_role("group", name=re.compile("Scores of all rows"))
    plot.wait_for(timeout=60_000)
    plot.focus()
    one.keyboard.press("ArrowRight")
    assert re.search(r"Row \d+: ", one.locator(".tip").first.inner_text())
    one.keyboard.press("Enter")
    one.get_by_role("heading", name=re.compile(r"person \d+")).wait_for()
    outline = one.evaluate(
        "() => { const b = document.querySelector('nav a'); b.focus();"
        " return getComputedStyle(b).outlineStyle }"
    )
    assert outline != "none" or one.evaluate(
        "() => !document.activeElement.matches(':focus-visible')"
    )


def test_a_stream_shrinks_and_can_be_stopped(tab: Tab) -> None:
    model = Line(wait=0.25)
    with served(explainer(model, budget=3000), people()) as slow:
        one = tab(f"{slow.link}&row=3")
        one.locator('[data-testid="feature"]').first.wait_for()
        assert "rows" in one.locator('[data-testid="progress"]').inner_text()
        one.get_by_role("button", name="Stop").click()
        told = one.locator('[data-testid="asked"]')
        told.wait_for()
        assert "you stopped it" in told.inner_text()
        assert model.rows < 3000


def test_a_stream_survives_a_restart(tab: Tab) -> None:
    """The server goes away in the middle of a stream and comes back: the page goes on."""
    model = Line(wait=0.3)
    with served(explainer(model, budget=2000), people()) as first:
        port = first.page.socket.getsockname()[1]
        one = tab(f"{first.link}&row=3&target=1", expect="Failed to load resource")
        one.locator('[data-testid="feature"]').first.wait_for()
    again = one.get_by_role("button", name="Try again")
    again.wait_for()
    assert re.search("still running|has ended", one.locator("#trouble").inner_text())
    with served(explainer(answers, budget=2000), people(), port=port):
        again.click()
        one.locator('[data-testid="asked"]').wait_for(timeout=60_000)
        assert "2,000 rows asked" in one.locator('[data-testid="asked"]').inner_text()
        e = explainer(answers, budget=2000).explain(people().iloc[[3]], HOSTILE)
        assert scores(one) == pytest.approx({str(j): s for j, s in enumerate(e.scores)}, abs=0.02)
        one.close()


def test_a_model_that_fails_is_said_on_the_page(tab: Tab) -> None:
    """Nothing is left uncaught: neither the row's own request, nor the predictions of the list."""

    def broken(table: Any) -> Any:
        raise ValueError("no licence")

    with served(explainer(broken), people()) as one:
        page = tab(one.link, expect="Failed to load resource")
        page.get_by_text("no licence").first.wait_for()
        page.wait_for_load_state("networkidle")
        page.close()


def test_a_model_that_hangs_is_in_nobodys_way(tab: Tab) -> None:
    """Rows are found, opened and explained from the survey, once predictions are not asked."""
    model = Line()
    with served(explainer(model), people(), survey=1024) as hung:
        asked = model.rows
        model.free.clear()
        one = tab(f"{hung.link}&row=7&target=1")
        one.get_by_label("Ask the model for this row's prediction").uncheck()
        one.locator('[data-testid="feature"]').first.wait_for()
        assert one.locator('[data-testid="prediction"]').inner_text() == "not asked"
        one.get_by_label("Find").fill("person 250")
        one.locator('[data-row="250"]').click()
        one.get_by_role("heading", name="person 250").wait_for()
        e = explainer(answers).survey(1024, progress=False).explain(people().iloc[[250]], HOSTILE)
        expected = {str(j): s for j, s in enumerate(e.scores)}
        until(lambda: scores(one) == pytest.approx(expected, abs=6e-4))
        assert model.rows - asked in (1, 60)  # the call that hangs: the row's, or the list's
        model.free.set()


def test_a_pinned_row_stands_beside_another(page: Served, tab: Tab) -> None:
    one = tab(f"{page.link}&row=1&target=1")
    one.locator('[data-testid="feature"]').first.wait_for()
    one.get_by_role("button", name="Pin", exact=True).click()
    beside = one.get_by_role("region", name="Pinned explanation")
    beside.locator('[data-testid="bar"]').first.wait_for()
    one.locator('[data-row="2"]').click()
    one.get_by_role("heading", name="person 2").wait_for()
    assert "person 1" in beside.inner_text()
    assert beside.locator('[data-testid="bar"]').count() == 5


def test_what_is_saved(page: Served, tab: Tab, tmp_path: Path) -> None:
    one = tab(f"{page.link}&row=1&target=1")
    one.locator('[data-testid="feature"]').first.wait_for()

    def saved(name: str) -> bytes:
        one.locator(".menu summary").click()
        with one.expect_download() as download:
            one.get_by_role("button", name=name).click()
        download.value.save_as(tmp_path / "file")
        return (tmp_path / "file").read_bytes()

    assert saved("PNG picture").startswith(b"\x89PNG")
    svg = saved("SVG picture").decode()
    assert "var(" not in svg
    assert svg.count('data-part="box"') == 5
    e = Explanation.from_dict(json.loads(saved("JSON, all of it")))
    shown = scores(one)
    assert shown == pytest.approx({str(j): s for j, s in enumerate(e.scores)}, abs=6e-4)


def test_what_costs_money_is_asked_when_it_is_pressed(tab: Tab) -> None:
    model = Line()
    with served(explainer(model), people(), price_per_row=0.01, limit=Limit(rows=700)) as paid:
        one = tab(f"{paid.link}&row=1")
        button = one.get_by_role("button", name="Explain: up to 500 rows, 5.00")
        button.wait_for()
        one.wait_for_timeout(500)
        assert model.rows == 0
        button.click()
        one.locator('[data-testid="asked"]').wait_for()
        assert model.rows == 500
        assert "500 model rows asked · 5.00 spent of 700" in one.locator("#spent").inner_text()


def test_hostile_names_are_only_text(page: Served, tab: Tab) -> None:
    one = tab(f"{page.link}&row=7&target=1")
    one.locator('[data-testid="feature"]').first.wait_for()
    assert HOSTILE in one.locator("#title").inner_text()
    assert HOSTILE in one.locator(".features").inner_text()
    assert one.locator("img[src=x]").count() == 0
    one.get_by_label("Find").fill(HOSTILE)
    one.wait_for_timeout(500)
    one.get_by_label("Find").fill("<script>alert(1)</script> > 3")
    one.get_by_text("there is no column that begins with '<script'").wait_for()


def test_without_the_token_there_is_nothing(page: Served, tab: Tab) -> None:
    one = tab(f"{page.url}/#row=7")
    one.get_by_text("Open the page by the link").wait_for()
    other = tab(f"{page.url}/#token=not-the-right-token", expect="401")
    other.get_by_text("The token is not the one of this server").wait_for()
    assert other.locator('[data-testid="feature"]').count() == 0


# -- all rows, methods, texts ----------------------------------------------------------------------


def test_a_point_opens_its_row(page: Served, tab: Tab) -> None:
    one = tab(f"{page.link}&view=all&target=1")
    one.locator(".plot circle").first.wait_for(timeout=60_000)
    assert one.locator('[data-testid="explained"]').inner_text() == "all 300 rows"
    circle = one.locator(".plot circle").first
    row = circle.get_attribute("data-row")
    circle.dispatch_event("click")
    one.get_by_role("heading", name=f"person {row}", exact=True).wait_for()
    one.go_back()
    one.locator(".plot circle").first.wait_for()


def test_many_rows_stay_fluid(tab: Tab) -> None:
    """Of 45,000 rows a page has a few thousand marks at most."""
    data = people(45_000)
    with served(explainer(answers, data), data, survey=512) as large:
        one = tab(f"{large.link}&view=all&target=1")
        one.locator(".plot circle").first.wait_for(timeout=90_000)
        assert "of 45,000 rows" in one.locator('[data-testid="explained"]').inner_text()
        assert one.locator("circle").count() < 8000
        one.get_by_role("link", name="One row").click()
        one.get_by_label("Sort by").select_option("surprise")
        wait(one, "document.querySelectorAll('.rowitem').length === 60")
        assert one.locator(".rowitem").count() == 60
        own = answers(data)[:, 1]
        odd = str(int(np.argmax(np.abs(own - own.mean()))))
        wait(one, "document.querySelector('.rowitem').dataset.row === given", odd)


def test_methods_beside_one_another(streamed: Served, tab: Tab) -> None:
    one = tab(f"{streamed.link}&view=methods&row=3")
    one.get_by_role("heading", name="person 3").wait_for()
    one.get_by_role("button", name="Compare").click()
    one.get_by_role("heading", name=re.compile("Why ")).wait_for(timeout=60_000)
    table = one.get_by_role("table").first
    assert table.get_by_role("rowheader", name="LIME", exact=True).count() == 1
    assert one.get_by_text("chance would give").count() == 1


def test_words_of_a_text(tab: Tab) -> None:
    def model(texts: Any) -> Any:
        good = np.array([t.count("good") - t.count("bad") for t in texts], dtype=float)
        yes = 1 / (1 + np.exp(-good))
        return np.stack([1 - yes, yes], axis=1)

    ex = Explainer(model, Texts(), task="classification", outputs=("no", "yes"))
    with served(ex, ["a good and <b>bad</b> good day", "bad"]) as texts:
        one = tab(f"{texts.link}&row=0&target=1")
        one.locator('[data-testid="asked"]').wait_for()
        words = one.locator(".words")
        assert "<b>" in words.inner_text()
        good = words.locator("span", has_text="good").first
        assert good.evaluate("e => getComputedStyle(e).backgroundColor").startswith("rgba(0, 114")
        one.get_by_label("The text").fill("good good good")
        wait(one, "document.querySelector('.words')?.innerText.trim() === 'good good good'")


# -- for everyone ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [360, 800, 1400, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(page: Served, tab: Tab, width: int, scheme: str) -> None:
    """Nothing is wider than the window, and axe finds nothing serious."""
    size = {"width": width, "height": 900}
    one = tab(f"{page.link}&row=7&target=1", viewport=size, color_scheme=scheme)
    one.locator('[data-testid="feature"]').first.wait_for()
    one.get_by_role("button", name="Pin", exact=True).click()
    one.get_by_text("How this was made").wait_for()
    for view in ("row", "all", "methods"):
        if view != "row":
            one.locator(f'nav [data-view="{view}"]').click()
            one.locator(".plot circle, .methodview").first.wait_for(timeout=60_000)
        assert one.evaluate("() => document.documentElement.scrollWidth") <= width
        assert serious(one) == []


def serious(one: Any) -> list[str]:
    """What axe finds that is serious or critical."""
    assert AXE, "EAGLE_AXE must name axe.min.js: make test-all installs it"
    one.evaluate(Path(AXE).read_text(encoding="utf-8") + "; undefined")
    found = one.evaluate("async () => JSON.stringify((await axe.run()).violations)")
    return [
        f"{rule['id']}: {node['html'][:150]} {node['failureSummary'][:200]}"
        for rule in json.loads(found)
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def test_reduced_motion_is_respected(page: Served, tab: Tab) -> None:
    one = tab(f"{page.link}&row=7&target=1", reduced_motion="reduce")
    one.locator(".fill").first.wait_for(state="attached")
    assert (
        one.locator(".fill").first.evaluate("e => getComputedStyle(e).transitionDuration") == "0s"
    )
