"""The widget of a notebook: its traits in Python, and its module in a real browser."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle

pytestmark = pytest.mark.browser

STUB = """
const state = STATE;
const heard = {};
let unsent = {};
window.sent = [];
const model = {
  get: (key) => state[key],
  set: (key, value) => { state[key] = value; unsent[key] = value; },
  save_changes: () => { window.sent.push(unsent); unsent = {}; },
  on: (event, act) => { (heard[event] ??= []).push(act); },
  off: (event, act) => { heard[event] = (heard[event] ?? []).filter((one) => one !== act); },
};
window.reply = (given) => {
  Object.assign(state, given);
  for (const key of Object.keys(given)) for (const act of heard[`change:${key}`] ?? []) act();
};
window.close_view = render({ model, el: document.querySelector("#here") });
window.heard = heard;
"""


def answer(table: pd.DataFrame) -> Any:
    chance = 1 / (1 + np.exp(-np.asarray(table["age"], dtype=float) - (table["job"] == "a")))
    return np.column_stack([1 - chance, chance])


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.normal(size=40).round(2), "job": rng.choice(["a", "<b>b"], 40)})


@pytest.fixture
def view(people: pd.DataFrame) -> Any:
    return eagle.notebook.view(
        eagle.Explainer(answer, people, outputs=["no", "yes"]), people, target="yes"
    )


def test_traits_follow_the_reader(view: Any, people: pd.DataFrame) -> None:
    first = view.payload
    view.row = 2
    assert view.payload != first
    assert view.explanation.prediction == pytest.approx(answer(people.iloc[[2]])[0, 1])
    view.edits = {"0": 3.0}
    assert view.explanation.prediction == pytest.approx(
        answer(people.iloc[[2]].assign(age=3.0))[0, 1]
    )
    assert view.values[0] == people["age"].iloc[2]  # the row's own
    view.output = 0
    assert view.explanation.target == "no"
    shown = view.payload
    view.edits = {"0": "text"}
    assert "is no value" in view.error
    assert view.payload == shown
    view.edits = {}
    assert view.error == ""
    view.edits = {"0": 3.0}
    view.row = 1
    assert view.edits == {}
    assert view.explanation.prediction == pytest.approx(answer(people.iloc[[1]])[0, 0])
    json.dumps({key: view.get_state()[key] for key in view.keys if not key.startswith("_")})


def test_html_stands_where_widgets_do_not_run(view: Any) -> None:
    bundle = view._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert view.explanation._repr_html_() in data["text/html"]
    for key in ("_esm", "_css"):
        code = view.get_state()[key]
        assert "http" not in code.replace("http://www.w3.org/2000/svg", "")
        assert "import " not in "".join(x for x in code.splitlines() if not x.startswith("//"))


def opened(chromium: Any, view: Any, told: list[str], width: int = 900) -> Any:
    state = view.get_state()
    plain = {key: state[key] for key in view.keys if not key.startswith("_")}
    page = chromium.new_page(viewport={"width": width, "height": 700})
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: told.append(request.url))
    page.set_content(f"<style>{state['_css']}</style>{view.static}<div id=here></div>")
    script = STUB.replace("STATE", json.dumps(plain).replace("<", "\\u003c"))
    page.add_script_tag(type="module", content=state["_esm"] + script)
    page.wait_for_selector(".eagle-chart svg g")
    return page


def test_the_module_draws_and_sends(chromium: Any, view: Any) -> None:
    told: list[str] = []
    page = opened(chromium, view, told)
    assert page.locator("[data-eagle-static]").is_hidden()
    assert page.locator(".eagle-chart svg [data-testid=bar]").count() == 2
    page.get_by_label("Row").select_option("4")
    assert page.evaluate("() => window.sent.pop()") == {"row": 4}
    page.get_by_label("age").fill("2.5")
    page.get_by_label("age").press("Tab")
    assert page.evaluate("() => window.sent.pop()") == {"edits": {"0": 2.5}}
    view.row = 4
    view.edits = {"0": 2.5}
    page.evaluate(
        "(given) => window.reply(given)",
        {k: view.get_state()[k] for k in ("edits", "values", "payload")},
    )
    assert view.payload["title"] in page.locator(".eagle-chart svg title").first.text_content()
    page.get_by_role("button", name="Take back 1 change").click()
    assert page.evaluate("() => window.sent.pop()") == {"edits": {}}
    page.evaluate("() => window.reply({ error: '<img src=x> was refused' })")
    assert page.get_by_role("alert").text_content() == "<img src=x> was refused"
    page.evaluate("() => window.close_view()")
    assert page.evaluate("() => Object.values(window.heard).flat().length") == 0
    assert told == []
    page.close()


def test_it_fits_a_narrow_cell(chromium: Any, view: Any) -> None:
    page = opened(chromium, view, [], 360)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    page.close()
