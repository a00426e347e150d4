"""Reports in a real browser: nothing is asked of any server, and all is there without scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle

pytestmark = pytest.mark.browser


def answer(table: pd.DataFrame) -> Any:
    chance = 1 / (1 + np.exp(-np.asarray(table["age"], dtype=float) - (table["job"] == "<b>a")))
    return np.column_stack([1 - chance, chance])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Reports by their kind, as addresses."""
    folder, rng = tmp_path_factory.mktemp("reports"), np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.normal(size=200), "job": rng.choice(["<b>a", "b"], 200)})
    rows["a very long name of a column that would not fit on a phone " * 3] = rng.normal(size=200)
    rows["x" * 150] = rng.normal(size=200)
    explainer = eagle.Explainer(answer, rows, outputs=["no", "yes"])
    survey = explainer.survey(256, progress=False)
    chosen = [eagle.methods.EAGLE_BALANCED, eagle.peers.LIME]
    text = eagle.Explainer(lambda X: [float(len(x)) for x in X], eagle.Texts())
    results: dict[str, Any] = {
        "one": explainer.explain(rows.iloc[[0]], "yes"),
        "many": survey.explain_many(rows, "yes", progress=False),
        "survey": survey,
        "compared": eagle.compare_methods(explainer, chosen, rows.iloc[0], runs=2, progress=False),
        "text": text.explain("one <script>alert(1)</script> two"),
    }
    for kind, result in results.items():
        groups = "job" if kind == "many" else None
        eagle.report(result, folder / f"{kind}.html", groups=groups, progress=False)
    return {kind: (folder / f"{kind}.html").as_uri() for kind in results}


KINDS = ("one", "many", "survey", "compared", "text")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_and_fits(chromium: Any, files: dict[str, str], kind: str, scheme: str) -> None:
    """No error, no request, no line that is wider than a phone."""
    context = chromium.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page, told, asked = context.new_page(), [], []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: told.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(files[kind])
    assert told == []
    assert [url for url in asked if not url.startswith("data:")] == [files[kind]]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    behind = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (behind == "rgb(255, 255, 255)") == (scheme == "light")
    context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_all_is_there_without_scripts(chromium: Any, files: dict[str, str], kind: str) -> None:
    seen = []
    for scripts in (True, False):
        context = chromium.new_context(java_script_enabled=scripts)
        page = context.new_page()
        page.goto(files[kind])
        seen.append(page.locator("main").inner_text())
        context.close()
    assert seen[0] == seen[1]
    assert len(seen[0]) > 500


def test_headings_sort(chromium: Any, files: dict[str, str]) -> None:
    page = chromium.new_page()
    page.goto(files["one"])
    head = page.locator("th[data-at='2']").first
    cells = page.locator("table").first.locator("tbody td[data-n='score']")
    head.get_by_role("button").click()
    down = [float(cell.get_attribute("data-v")) for cell in cells.all()]
    assert down == sorted(down, reverse=True)
    head.get_by_role("button").press("Enter")
    up = [float(cell.get_attribute("data-v")) for cell in cells.all()]
    assert up == down[::-1]
    page.close()


@pytest.mark.parametrize("size", ["A4", "Letter"])
def test_it_prints(chromium: Any, files: dict[str, str], size: str, tmp_path: Path) -> None:
    """Nothing sticks out of the paper."""
    page = chromium.new_page(viewport={"width": 1000, "height": 800})
    page.goto(files["many"])
    page.pdf(path=tmp_path / "many.pdf", format=size)
    assert (tmp_path / "many.pdf").read_bytes().startswith(b"%PDF")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 670, "height": 900})  # the paper without its margins
    wide = page.evaluate(
        "() => Math.max(...[...document.querySelectorAll('table,svg')].map("
        "one => one.getBoundingClientRect().right))"
    )
    assert wide <= 671
    page.close()


OVERLAPS = """() => {
  const seen = (one) => {
    const box = one.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && !one.closest("details:not([open])");
  };
  const boxes = [];
  for (const one of document.querySelectorAll("body *")) {
    if (["STYLE", "SCRIPT", "title"].includes(one.tagName) || !seen(one)) continue;
    for (const text of one.childNodes) {
      if (text.nodeType !== 3 || !text.textContent.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const box of range.getClientRects()) boxes.push([box, text.textContent, one]);
    }
  }
  const out = [];
  boxes.forEach(([a, left, one], k) => boxes.slice(k + 1).forEach(([b, right, other]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (one !== other && wide > 2 && high > 4) out.push(`${left} over ${right}`);
  }));
  return out;
}"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [390, 1280, 2000])
def test_no_words_overlap(chromium: Any, files: dict[str, str], kind: str, width: int) -> None:
    """Labels, numbers of axes and cells keep apart on phones, laptops and wide screens."""
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto(files[kind])
    assert page.evaluate(OVERLAPS) == []
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_intervals_are_in_sight_without_scripts(
    chromium: Any, files: dict[str, str], width: int
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(files["one"])
    for kind in ("td.n", "svg.s line.i"):
        cells = page.locator(kind)
        assert cells.count() >= 4
        for k in range(4):
            box = cells.nth(k).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    context.close()
