"""Chromium for the tests of this folder. What it complains of fails the test it happens in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from shutil import which
from typing import Any

import pytest

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = which("chromium")
    if path is None:
        pytest.fail("there is no Chromium here: apt-get install chromium brings it")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


Open = Callable[..., Any]


@pytest.fixture
def tab(chromium: Any) -> Iterator[Open]:
    """Opens a link in a tab. Errors on the console, violations of the policy and requests to
    other hosts fail the test; failed requests to the server do not, if the test says so."""
    tabs: list[tuple[Any, list[str]]] = []

    def opened(link: str, expect: str = "", **options: Any) -> Any:
        context = chromium.new_context(**{"viewport": {"width": 1400, "height": 900}} | options)
        page = context.new_page()
        complaints: list[str] = []
        host = link.split("/")[2]

        def console(message: Any) -> None:
            if message.type in ("error", "warning") and not (expect and expect in message.text):
                complaints.append(f"console: {message.text}")

        def request(one: Any) -> None:
            if not one.url.startswith((f"http://{host}/", "data:", f"blob:http://{host}/")):
                complaints.append(f"request: {one.url}")

        page.on("console", console)
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", request)
        page.add_init_script(
            "addEventListener('securitypolicyviolation',"
            " e => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))"
        )
        page.goto(link)
        tabs.append((context, complaints))
        return page

    yield opened
    told = [line for context, lines in tabs for line in lines]
    for context, _ in tabs:
        context.close()
    assert told == []
