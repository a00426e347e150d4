"""What `make test-all` runs, and what it says where something is missing."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

import everywhere

ROOT = Path(__file__).parents[2]
MISSING = everywhere.Part("Python 3.99", (), ready=partial(everywhere.install_for, "3.99"))


def test_every_python_that_the_classifiers_name_is_tested() -> None:
    own = "{}.{}".format(*sys.version_info[:2])
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = {f"3.{minor}" for minor in range(11, 30) if f":: Python :: 3.{minor}" in text}
    assert {"3.11", "3.12", "3.13"} <= named
    parts = {part.name: part for part in everywhere.parts()}
    for version in named - {own}:
        part = parts[f"Python {version}"]
        assert part.arguments == ("tests",)
        assert part.module == ("pytest", "-n", "2")
        assert f".venv-{version}" in part.python.parts
    assert f"Python {own}" not in parts
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert all(version in workflow for version in named)


def test_a_python_is_found_or_missing_by_its_name() -> None:
    own = "{}.{}".format(*sys.version_info[:2])
    found = everywhere.interpreter(own)
    code = "import sys; print('{}.{}'.format(*sys.version_info[:2]))"
    assert everywhere.said([found, "-c", code]) == own
    with pytest.raises(everywhere.CannotRunError, match=r"there is no Python 3\.99 here"):
        everywhere.interpreter("3.99")


@pytest.mark.parametrize("ci", ["true", ""])
def test_a_part_whose_python_is_missing_fails_by_name(
    ci: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = everywhere.Part("the zen", (), module=("this",))
    monkeypatch.setattr(everywhere, "parts", lambda: iter([MISSING, runs]))
    monkeypatch.setenv("CI", ci)
    assert everywhere.main() == 1
    out = capsys.readouterr().out
    assert "Python 3.99: FAILED, cannot run: there is no Python 3.99 here" in out
    assert "the zen: passed" in out
    assert out.rstrip().endswith("s  in all")


@pytest.mark.parametrize("strict", [True, False])
def test_another_part_that_cannot_run_fails_in_ci_only(
    strict: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nowhere() -> None:
        raise everywhere.CannotRunError("there is no Chromium here")

    part = everywhere.Part("the page", (), ready=nowhere)
    monkeypatch.setattr(everywhere, "parts", lambda: iter([part]))
    monkeypatch.setenv("CI", "true" if strict else "")
    assert everywhere.main() == strict
    word = "FAILED, cannot run" if strict else "skipped"
    assert f"the page: {word}: there is no Chromium here" in capsys.readouterr().out
