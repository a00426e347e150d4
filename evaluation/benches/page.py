"""The page in a browser: how fast it follows an edit, and its picture for the documents.

    python -m evaluation bench page [--edits 40] [--rows 45000]

It needs `pip install 'eagle-xai[web]' playwright`, and Chromium. The demo's forest is explained
from a survey of 4,096 rows. An edit is a key pressed in a field of a number; it ends when the
browser has painted the new scores. The model is asked for the prediction of the edited row, or it
is not. Then an overview of a large table is timed. docs/pictures/page.png is the page at 1,400
pixels.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, Final

import numpy as np
import pandas as pd

from eagle import Explainer
from eagle._values.packages import one_thread, package
from eagle.cli.demo import tumours
from eagle.errors import InputError

PICTURE: Final = Path(__file__).parents[2] / "docs" / "pictures" / "page.png"

FIELDS: Final = ("worst texture", "worst area", "mean concavity", "worst radius")


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench page", description=__doc__)
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--rows", type=int, default=45_000)
    given = parser.parse_args(argv)
    explainer, rows = tumours()
    with browser() as chromium:
        with served(explainer, rows, "Tumours") as link:
            edits(chromium, link, given.edits)
            draw(chromium, link)
        large = pd.DataFrame(np.random.default_rng(0).normal(size=(given.rows, 10)))
        large.columns = [f"x{j}" for j in range(10)]
        with served(Explainer(product, large), large, "Large") as link:
            overview(chromium, link, given.rows)


def product(table: Any) -> Any:
    """A model that costs nothing, so that the page's own time is measured."""
    values = np.asarray(table)
    return values[:, 0] * values[:, 1] + values[:, 2]


@contextmanager
def browser() -> Iterator[Any]:
    play = package("playwright.sync_api", "the bench of the page", "web")
    path = which("chromium")
    if path is None:
        raise InputError("there is no Chromium here: apt-get install chromium brings it")
    with play.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@contextmanager
def served(explainer: Explainer, rows: Any, title: str) -> Iterator[str]:
    """The page in a thread of this process; gives its link."""
    uvicorn = package("uvicorn", "the bench of the page", "web")
    from eagle.web.server import SETTINGS, prepare_page

    page = prepare_page(explainer, rows, survey=4096, port=0, title=title)
    server = uvicorn.Server(uvicorn.Config(page.app, **SETTINGS))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [page.socket]})
    with one_thread():
        thread.start()
        try:
            yield page.link
        finally:
            server.should_exit = True
            thread.join()
            page.close()


def edits(chromium: Any, link: str, count: int) -> None:
    """Milliseconds from a key to the paint of what it changed."""
    tab = chromium.new_page(viewport={"width": 1400, "height": 900})
    tab.goto(f"{link}&row=0&target=0")
    tab.locator('[data-testid="feature"]').first.wait_for()
    tab.get_by_role("button", name="Show all").click()
    tab.wait_for_timeout(5000)  # what is prepared once
    ask = tab.get_by_label("Ask the model for this row's prediction")
    for asks in (True, False):
        ask.set_checked(asks)
        tab.wait_for_timeout(1500)
        took = [pressed(tab, FIELDS[k % len(FIELDS)]) for k in range(count)]
        low, high = np.quantile(took, [0.1, 0.9])
        words = "with the row's prediction asked" if asks else "without the model"
        print(
            f"an edit, {words}: median {statistics.median(took):.0f} ms from key to paint "
            f"(10% {low:.0f}, 90% {high:.0f}; {count} edits, load {os.getloadavg()[0]:.1f})"
        )
    tab.close()


def pressed(tab: Any, field: str) -> float:
    tab.evaluate("() => { delete document.body.dataset.latency }")
    tab.get_by_label(f"{field}, value").press("ArrowUp")
    tab.wait_for_function("() => document.body.dataset.latency !== undefined")
    return float(tab.evaluate("() => document.body.dataset.latency"))


def draw(chromium: Any, link: str) -> None:
    tab = chromium.new_page(viewport={"width": 1400, "height": 860}, device_scale_factor=1.5)
    tab.goto(f"{link}&row=0&target=0")
    tab.get_by_text("How this was made").wait_for(timeout=60_000)
    PICTURE.parent.mkdir(exist_ok=True)
    tab.screenshot(path=PICTURE)
    print(f"wrote {PICTURE.relative_to(PICTURE.parents[2])}")
    tab.close()


def overview(chromium: Any, link: str, rows: int) -> None:
    tab = chromium.new_page(viewport={"width": 1400, "height": 900})
    began = time.perf_counter()
    tab.goto(f"{link}&view=all")
    tab.locator(".plot circle").first.wait_for(timeout=300_000)
    spent = time.perf_counter() - began
    told = tab.locator('[data-testid="explained"]').inner_text()
    marks = tab.locator("circle").count()
    print(f"an overview of {rows:,} rows ({told}): {spent:.1f} s, {marks:,} points on the page")
    tab.close()
