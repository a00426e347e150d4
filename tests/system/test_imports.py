"""Modules say at their top what they import."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import eagle
from eagle.io.classes import CLASSES

ROOT = Path(eagle.__file__).parent

INSIDE = {
    "_engine/plan.py: fit": "a plan is made by the pipeline, and is fitted by it",
    "explanations.py: __sub__": "the difference is made of the surveys that made the explanations",
    "explanations.py: load": "a table of explanations reads itself",
    "explanations.py: save": "a table of explanations writes itself",
    "survey/plan.py: survey_of": "a survey plans its rows, and a plan becomes a survey",
    "web/server.py: prepare_page": "needs an extra, which is asked for first",
}
"""Functions that import eagle, and why."""

MAX_EXCEPTIONS = 4


def functions_that_import_eagle() -> Iterator[str]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and imports_eagle(node):
                yield f"{path.relative_to(ROOT).as_posix()}: {node.name}"


def imports_eagle(node: ast.AST) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.ImportFrom):
            names = [part.module or ""] if not part.level else ["eagle"]
        elif isinstance(part, ast.Import):
            names = [one.name for one in part.names]
        else:
            continue
        if any(name.split(".")[0] == "eagle" for name in names):
            return True
    return False


def test_no_function_imports_eagle() -> None:
    assert sorted(set(functions_that_import_eagle())) == sorted(INSIDE)


def test_layers_have_few_exceptions() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    linter = tomllib.loads(text)["tool"]["importlinter"]
    (layers,) = (one for one in linter["contracts"] if one.get("exhaustive"))
    assert len(layers["ignore_imports"]) <= MAX_EXCEPTIONS
    assert linter["exclude_type_checking_imports"]


def test_classes_of_files_are_where_the_table_says() -> None:
    assert {name: CLASSES[name].__name__ for name in CLASSES} == {name: name for name in CLASSES}
