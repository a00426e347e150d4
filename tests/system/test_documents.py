"""What documents name is there: links, modules, tests, commands."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

from catalogue import METHODS
from eagle import cli
from eagle.designs.gains import Gains
from eagle.designs.greedy import Greedy
from evaluation.__main__ import BENCHES
from tools.follow import follow

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DECISIONS = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))


def names(page: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    lost = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert lost == []


def test_the_table_of_modules_has_each_of_them_once() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("| layer | is |")[2]
    rows = [line.split("|")[1] for line in table.partition("\n\n")[0].splitlines()[2:]]
    listed = re.findall(r"`(\w+)`", "".join(rows))
    there = [
        path for path in (ROOT / "src/eagle").iterdir() if not path.name.startswith(("__", "."))
    ]
    named = {path.stem for path in there if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert sorted(listed) == sorted(named)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_and_benches_are_there(page: Path) -> None:
    for name in names(page):
        if re.fullmatch(r"[\w/]+\.py", name):
            folders = [ROOT, *(ROOT / f for f in ("tests", "evaluation", "src/eagle"))]
            places = [folder / name for folder in folders] + list(ROOT.glob(f"src/eagle/*/{name}"))
            assert any(place.exists() for place in places), name
        for bench in re.findall(r"python -m evaluation bench (\w+)", name):
            assert bench in BENCHES, name


def commands(page: Path) -> list[str]:
    """What follows `eagle` on the lines of a page's blocks for a shell."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.removeprefix("eagle ") for line in lines if line.startswith("eagle ")]


@pytest.mark.parametrize(
    "page", [p for p in PAGES if commands(p)], ids=lambda p: str(p.relative_to(ROOT))
)
def test_commands_have_the_options_that_pages_give_them(page: Path) -> None:
    for line in commands(page):
        given = shlex.split(line, comments=True)
        if "--help" not in given:
            assert callable(cli.parser().parse_args(given).run)


def test_only_what_selects_by_expected_gain_is_called_eagle() -> None:
    every = list(METHODS.values())
    known = {m.name for m in every if isinstance(m.design, Greedy | Gains)}
    assert {m.name for m in every if m.name.startswith("EAGLE")} <= known
    code = [p for end in ("py", "toml") for p in (ROOT / "evaluation").rglob(f"*.{end}")]
    code.remove(ROOT / "evaluation/trial.py")  # it says what names were in old keys
    for path in [*(ROOT / "docs").rglob("*.md"), *code]:
        for name in re.findall(r"EAGLE \([a-zA-Z][^)]*\)", path.read_text(encoding="utf-8")):
            assert name in known, f"{path.relative_to(ROOT)}: {name}"


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.name)
def test_decisions_name_tests_that_exist(page: Path) -> None:
    file: Path | None = None
    for name in names(page):
        if name.startswith("tests/"):
            file = ROOT / name
            assert file.exists(), name
        elif name.startswith("test_"):
            assert file is not None, name
            assert f"def {name}(" in file.read_text(encoding="utf-8"), name


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.name)
def test_a_decision_says_why_what_it_costs_and_what_would_change_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    parts = ("**Decided", "**Why", "**What it costs", "**What would change it:**")
    assert [part for part in parts if part not in text] == []
    assert "**What would change it:** nothing" not in text


def test_every_decision_is_in_the_index_under_its_number() -> None:
    index = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")
    for page in DECISIONS:
        assert f"]({page.name})" in index, page.name
        assert page.read_text(encoding="utf-8").startswith(f"# {int(page.name[:4])}. "), page.name


RIDDLES = (
    "Intervals: balanced sandwich",
    "intervals do not speak of the curvature",
    "what chance would add cancels",
    "the law that has the kernel in it",
    "Who looks several times is sometimes sure by accident",
    "beside a posterior, they are",
)
"""Sentences that stopped readers who were new here."""


def test_no_sentence_that_stopped_a_reader_comes_back() -> None:
    for file in (*PAGES, *(ROOT / "src").rglob("*.py")):
        text = " ".join(file.read_text(encoding="utf-8").split())
        assert [riddle for riddle in RIDDLES if riddle in text] == [], file


@pytest.mark.parametrize("survey", [False, True])
def test_the_way_of_an_explanation_is_the_one_that_is_described(survey: bool) -> None:
    way = follow(survey)
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    described = page.partition("## Follow one explanation")[2].partition("\n## ")[0]
    steps = [Path(file) for file, lines in way.lines.items() if len(lines) >= 20]
    assert len(steps) > 8
    unsaid = [step.name for step in steps if step.name not in described]
    assert unsaid == []
    assert sum(map(len, way.lines.values())) < (1100 if survey else 1000)  # what one has to read
    assert survey or way.switches <= 320


BLOCK = re.compile(r"```python\n(.*?)```", re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_page_imports_what_is_inside(page: Path) -> None:
    code = "".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    assert re.findall(r"^\s*(?:from|import) (eagle\S*\._\S*)", code, re.M) == []


@pytest.mark.parametrize(
    ("parts", "lines"), [({"MeanDifference"}, 20), ({"Mixtures", "Shares"}, 35)]
)
def test_parts_of_your_own_are_short(parts: set[str], lines: int) -> None:
    page = (ROOT / "docs/how-to/own-method.md").read_text(encoding="utf-8")
    body = ast.parse("".join(BLOCK.findall(page))).body
    classes = [one for one in body if isinstance(one, ast.ClassDef) and one.name in parts]
    assert {one.name for one in classes} == parts
    starts = [min(d.lineno for d in one.decorator_list) for one in classes]
    ends = [one.end_lineno or 0 for one in classes]
    assert sum(end - start + 1 for start, end in zip(starts, ends, strict=True)) <= lines
