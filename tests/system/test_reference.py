"""Every public name stands on a page of the reference, with a docstring, and its page has code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from names import MODULES, public

PAGES = sorted((Path(__file__).parents[2] / "docs" / "reference").glob("*.md"))
ENTRY = re.compile(r"^::: (?P<name>[\w.]+)\n(?P<options>(?:    .*\n)*)", re.M)


def documented() -> Iterator[str]:
    """The names that pages ask the site for: a whole module stands for all that is in it."""
    for page in PAGES:
        for entry in ENTRY.finditer(page.read_text(encoding="utf-8")):
            yield entry["name"]
            value = found(entry["name"])
            if isinstance(value, ModuleType):
                yield from (f"{entry['name']}.{name}" for name in shown(value, entry["options"]))


def shown(module: ModuleType, options: str) -> list[str]:
    """The names of a module that the site shows by the options of its entry."""
    chosen = re.search(r"members: \[(.*)\]", options)
    if chosen:
        return chosen[1].split(", ")
    left_out = [f.removeprefix("!") for f in re.findall(r'"(!.*?)"', options)]
    return [n for n in defined(module) if not any(re.search(f, n) for f in left_out)]


def defined(module: ModuleType) -> Iterator[str]:
    """What the file of a module defines at its top, and says in a docstring what it is."""
    body = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
    for part, below in pairwise([*body, ast.Pass()]):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(part):
            yield part.name
        said = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if said and isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            yield part.target.id


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


@pytest.mark.parametrize("name", MODULES)
def test_a_module_shows_its_public_names_and_the_reference_has_the_same(name: str) -> None:
    module = import_module(name)
    beside = ["__version__"] if name == "eagle" else []
    assert dir(module) == sorted([*module.__all__, *beside])
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    named = {n for n in module.__all__ if not isinstance(getattr(module, n), ModuleType)}
    parts = [
        e.removeprefix(f"{name}.").split(".") for e in documented() if e.startswith(f"{name}.")
    ]
    # A function that has the name of its file is given with the file: view.view
    own = {first for first, *deeper in parts if deeper in ([], [first])}
    assert own - {module.removeprefix(f"{name}.") for module in MODULES} == named


def test_modules_that_users_import_can_be_reached_from_the_package() -> None:
    for name in MODULES:
        above, _, last = name.rpartition(".")
        assert not above or last in import_module(above).__all__


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
