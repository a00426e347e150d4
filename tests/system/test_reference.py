"""Every public name stands on a page of the reference, with a docstring, and its page has code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import eagle
from eagle.engine.method import Choice
from eagle.foreign import Foreign

PAGES = sorted((Path(__file__).parents[2] / "docs" / "reference").glob("*.md"))
ENTRY = re.compile(r"^::: (?P<name>[\w.]+)\n(?P<options>(?:    .*\n)*)", re.M)
LISTED = (
    "eagle",
    "eagle.plot",
    "eagle.dataset",
    "eagle.models",
    "eagle.models.http",
    "eagle.models.language",
    "eagle.files",
    "eagle.notebook",
)
"""Modules that list their public names."""

WHOLE = (
    *(f"eagle.{name}" for name in ("methods", "until", "theory")),
    *(
        f"eagle.metrics.{name}"
        for name in ("stability", "truth", "entropy", "ranking", "faith", "sampling")
    ),
)
"""Modules of which all that is defined there is public."""

OTHERS = (
    "eagle.models.vision.Network",
    "eagle.survey.plan.SurveyPlan",
    "eagle.survey.plan.Account",
    "eagle.evidence.Bill",
    "eagle.misfit.Misfit",
    "eagle.statements.Means",
    "eagle.comparison.Compared",
)
"""What users are given by public names, or import from a module that has more."""


def defined(module: ModuleType) -> Iterator[str]:
    """The methods, classes and functions of a module that are defined there."""
    for name, value in vars(module).items():
        own = getattr(value, "__module__", None) == module.__name__ and callable(value)
        if not name.startswith("_") and (own or isinstance(value, eagle.Method | Choice | Foreign)):
            yield name


def public() -> Iterator[str]:
    for module in LISTED:
        names = import_module(module).__all__
        yield from (f"{module}.{name}" for name in names)
    for module in WHOLE:
        yield from (f"{module}.{name}" for name in defined(import_module(module)))
    yield from OTHERS


def documented() -> Iterator[str]:
    """The names that pages ask the site for: a whole module stands for all that is in it."""
    for page in PAGES:
        for entry in ENTRY.finditer(page.read_text(encoding="utf-8")):
            yield entry["name"]
            value = found(entry["name"])
            if isinstance(value, ModuleType):
                chosen = re.search(r"members: \[(.*)\]", entry["options"])
                names = chosen[1].split(", ") if chosen else list(defined(value))
                yield from (f"{entry['name']}.{name}" for name in names)


def found(name: str) -> Any:
    """What a dotted name is."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(import_module(module), last)


def test_every_public_name_is_on_a_page() -> None:
    known = set(documented())
    modules = {name for name in public() if isinstance(found(name), ModuleType)}
    assert sorted(set(public()) - modules - known) == []
    lost = [m for m in modules if not any(f"{name}.".startswith(f"{m}.") for name in known)]
    assert lost == []


def test_pages_name_what_is_there() -> None:
    for name in documented():
        value = found(name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert inspect.getdoc(value), f"{name} has no docstring, so the site leaves it out"
            lines = str(inspect.getdoc(value)).splitlines()
            bare = [line for line in lines if line.startswith(">>> ")]
            assert bare == [], f"{name}: an example stands below a line 'Examples:', indented"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_with_names_has_an_example(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "```python" in text or not ENTRY.search(text)


def test_the_index_leads_to_every_page() -> None:
    index = (PAGES[0].parent / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f"({page.name})" not in index] == ["index.md"]
