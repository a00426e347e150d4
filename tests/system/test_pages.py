"""The code on every page of the documentation runs, and what it shows is written below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import pages, site

ROOT = Path(__file__).parents[2]
MARKED = {
    "native": pytest.mark.native,
    "ray": pytest.mark.ray,
    "servers": pytest.mark.servers,
    "torch": pytest.mark.torch,
    "web": pytest.mark.web,
}
"""The marker of what a page needs: `make test-all` runs it where that is installed."""


def marks(page: Path) -> list[pytest.MarkDecorator]:
    return [MARKED[need] for need in pages.needs(page.read_text(encoding="utf-8"))]


PAGES = [
    pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks(page))
    for page in sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in site.ROOTED)])
    if any(pages.blocks(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page: Path) -> None:
    pages.run(page)


def written(tmp_path: Path, text: str) -> str:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    shown = pages.run(page, dark=True)
    return pages.written(text, shown, [[("a.png", "b.png")] * len(s.figures) for s in shown])


def test_what_code_shows_is_written_below_it(tmp_path: Path) -> None:
    first = "# T\n\n```python\nx = 2\nprint(x)\n```"
    second = "\n\n- item\n\n    ```python\n    print(x + 1)\n    ```"
    assert written(tmp_path, f"{first}{second}\nend\n") == (
        f"{first}\n\n``` {{ .text .output }}\n2\n```"
        f"{second}\n\n    ``` {{ .text .output }}\n    3\n    ```\nend\n"
    )


def test_code_of_a_page_is_read_as_in_a_file_of_its_own(tmp_path: Path) -> None:
    code = "class A:\n    x: int\n\n\nprint(A.__annotations__['x'])\n"
    assert "<class 'int'>" in written(tmp_path, f"```python\n{code}```\n")


def test_a_figure_is_drawn_on_white_and_on_dark_ground(tmp_path: Path) -> None:
    code = "import matplotlib.pyplot as plt\n\nplt.plot([1, 2])\nplt.title('up')\n"
    (tmp_path / "page.md").write_text(f"```python\n{code}```\n", encoding="utf-8")
    [shown] = pages.run(tmp_path / "page.md", dark=True)
    [figure] = shown.figures
    assert figure.dark is not None
    assert mean(figure.light) > 0.8
    assert mean(figure.dark) < 0.3
    assert "![up](a.png#only-light)" in written(tmp_path, f"```python\n{code}```\n")


def mean(png: bytes) -> float:
    import io

    import matplotlib.image

    return float(matplotlib.image.imread(io.BytesIO(png))[..., :3].mean())


@pytest.mark.parametrize(
    ("code", "line", "says"),
    [
        ("x = 1\nx.no", 5, "AttributeError"),
        ("x = (", 4, "SyntaxError"),
        ("import warnings\nwarnings.warn('odd')", 5, "UserWarning: odd"),
    ],
)
def test_an_error_names_page_and_line(tmp_path: Path, code: str, line: int, says: str) -> None:
    with pytest.raises(pages.PageError, match=rf"page\.md:{line}: {says}"):
        written(tmp_path, f"# T\n\n```python\n{code}\n```\n")


def test_a_page_whose_need_is_not_here_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "---\nneeds: [torch]\n---\n# T\n\n```python\nimport torch\n```\n"
    assert pages.needs(text) == ("torch",)
    monkeypatch.setitem(pages.NEEDS, "torch", ("no_such_module",))
    assert pages.lacking(text) == ("torch",)
    with pytest.raises(pages.PageError, match="knows native, ray, servers"):
        pages.lacking("---\nneeds: [luck]\n---\n")
    assert "needs torch" in site.note(text, ("torch",))


def test_links_are_right_where_a_page_stands_in_the_site() -> None:
    text = "[a](docs/adr/README.md#x) [b](evaluation) [c](https://example.org) [d](CONTRIBUTING.md)"
    assert site.relinked(text, "ARCHITECTURE.md", "project/architecture.md") == (
        "[a](../adr/README.md#x) b [c](https://example.org) [d](contributing.md)"
    )
    assert site.relinked("[a](../../CONTRIBUTING.md)", "docs/adr/0001.md", "adr/0001.md") == (
        "[a](../project/contributing.md)"
    )


def test_the_navigation_follows_each_index() -> None:
    staged = {
        "index.md": "# Start",
        "tutorials/b.md": "# B",
        "tutorials/a.md": "---\ntitle: The first\n---\n# A",
        "tutorials/c.md": "# C",
        "tutorials/index.md": "# Tutorials\n[c](c.md) [b](b.md)",
        "results/README.md": "# Results",
        "project/x.md": "# X",
    }
    assert site.navigation(staged)[1] == {
        "Tutorials": [
            "tutorials/index.md",
            {"C": "tutorials/c.md"},
            {"B": "tutorials/b.md"},
            {"The first": "tutorials/a.md"},
        ]
    }
