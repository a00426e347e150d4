"""The package as a stranger meets it."""

from __future__ import annotations

import doctest
import importlib.metadata
import inspect
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from tools import readme

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("dev", "docs", "test", "bench", "native")
"""Extras that only work on the library itself needs."""


def python(code: str, *flags: str) -> str:
    done = subprocess.run(
        [sys.executable, *flags, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_public_names() -> None:
    assert eagle.__all__ == [
        "AnswerError",
        "Background",
        "Comparison",
        "CostEstimate",
        "EagleError",
        "Explainer",
        "Explanation",
        "Explanations",
        "Images",
        "InputError",
        "Limit",
        "LimitError",
        "Logit",
        "Method",
        "MissingExtraError",
        "ModelError",
        "Parts",
        "Plan",
        "ReplyError",
        "Series",
        "ShapleySurvey",
        "Survey",
        "Table",
        "Texts",
        "compare_methods",
        "dataset",
        "language",
        "load",
        "methods",
        "metrics",
        "models",
        "peers",
        "plot",
        "report",
        "serve",
        "theory",
        "until",
        "verify",
    ]
    assert dir(eagle) == sorted([*eagle.__all__, "__version__"])
    assert all(hasattr(eagle, name) for name in eagle.__all__)
    assert not hasattr(eagle, "nonsense")
    assert python("import eagle; print(eagle.plot.attribution.__name__)") == "attribution\n"
    assert python("import eagle; print(eagle.models.http.Endpoint.__name__)") == "Endpoint\n"
    assert python("import eagle; print(eagle.metrics.faith.gaps.__name__)") == "gaps\n"


def count_good(texts: list[str]) -> Any:
    return np.array([float(text.count("good")) for text in texts])


def test_the_help_opens_with_how_to_use_it(tmp_path: Path) -> None:
    """Each public class has an example in its first lines, and the examples run."""
    X = np.random.default_rng(0).normal(size=(100, 3))
    known = {
        "eagle": eagle,
        "np": np,
        "X": X,
        "model": lambda X: X @ [1.0, -2.0, 0.5],
        "image": np.random.default_rng(1).random((8, 8, 3)),
        "blocks": np.kron([[0, 1], [2, 3]], np.ones((4, 4), dtype=int)),
        "brightness": lambda images: np.array([np.mean(one) for one in images]),
        "count_good": count_good,
        "folder": tmp_path,
    }
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    used: list[Any] = [eagle.Explainer, eagle.Explanation, eagle.Explanations, eagle.Survey]
    used += [eagle.Series, eagle.Plan, eagle.CostEstimate, eagle.Limit]
    used += [eagle.Images, eagle.Texts, eagle.Parts, eagle.language.Prompt, eagle.Background]
    for thing in (*used, eagle.compare_methods, eagle.load):
        text = inspect.getdoc(thing) or ""
        assert text.split("\n")[3].strip().startswith(">>> "), thing
        test = doctest.DocTestParser().get_doctest(text, dict(known), thing.__name__, None, 0)
        assert runner.run(test).failed == 0, thing


def test_importing_is_light() -> None:
    heavy = (
        "pandas",
        "sklearn",
        "matplotlib",
        "narwhals",
        "onnxruntime",
        "httpx",
        "sqlite3",
        "scipy.stats",
        "scipy.linalg",
        "scipy.special",
    )
    loaded = python(f"import eagle, sys; print([m for m in {heavy!r} if m in sys.modules])")
    assert loaded.strip() == "[]"


def test_balanced_rows_do_without_statistics() -> None:
    code = """
import sys, numpy as np, eagle
X = np.random.default_rng(0).normal(size=(100, 3))
ex = eagle.Explainer(lambda X: X @ [1.0, -2.0, 0.0], X, method=eagle.methods.EAGLE_BALANCED)
print(ex.explain(X[0]).interval().shape, 'scipy.stats' in sys.modules)
"""
    assert python(code) == "(3, 2) False\n"


BARE = """
import sys
sys.path = [p for p in sys.path if 'site-packages' not in p] + [{bare!r}, {src!r}]
import numpy as np, eagle
for name in ('pandas', 'sklearn', 'matplotlib'):
    try:
        __import__(name)
    except ImportError:
        continue
    raise SystemExit(name + ' is there: not a bare install')
X = np.random.default_rng(0).normal(size=(100, 3))
table = eagle.Table(X, view='continuous')
e = eagle.Explainer(lambda X: X @ [1.0, -2.0, 0.0], table).explain(X[0])
print(e)
e.save({out!r})
assert np.array_equal(eagle.Explanation.load({out!r}).scores, e.scores)
e._repr_html_()
eagle.report(e, {out!r} + '.html')
for act in (e.to_frame, e.to_shap):
    try:
        act()
    except eagle.EagleError as error:
        print(error)
from eagle import cli
try:
    code = cli.main(['doctor'])
except SystemExit as stop:
    code = stop.code
print('doctor', code)
"""


def test_a_bare_install_with_numpy_and_scipy_alone(tmp_path: Path) -> None:
    """Only links to numpy and scipy on the path: what is not there cannot be leaned on."""
    bare = tmp_path / "bare"
    bare.mkdir()
    import numpy
    import scipy

    for package in (numpy, scipy):
        home = Path(str(package.__file__)).parent
        (bare / home.name).symlink_to(home)
        libraries = home.parent / f"{home.name}.libs"
        if libraries.exists():
            (bare / libraries.name).symlink_to(libraries)
    code = BARE.format(bare=str(bare), src=str(ROOT / "src"), out=str(tmp_path / "e.json"))
    out = python(code, "-I", "-S")
    assert "to_frame needs the package 'pandas': pip install 'eagle-xai[frames]'" in out
    assert "95% interval" in out
    assert "doctor 0" in out


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # it writes files
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)


def test_the_readme_of_a_package_index_has_no_links_into_the_repository() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.compile(r"\]\(([^)]+)\)")
    assert links.findall(readme.published(text, None)) == []
    made = links.findall(readme.published(text, "https://example.org/eagle/"))
    assert made
    assert all(link.startswith("https://example.org/eagle/") for link in made)
    assert "https://example.org/eagle/pictures/demo.png" in made
    assert "https://example.org/eagle/results/survey/" in made
    assert "https://example.org/eagle/results/" in made
    assert "https://example.org/eagle/project/contributing/" in made


def test_what_is_said_of_the_package_agrees() -> None:
    assert importlib.metadata.version("eagle-xai") == eagle.__version__
    cite = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {eagle.__version__}" in cite
    assert f"## {eagle.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (Path(eagle.__file__).parent / "py.typed").exists()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source distribution, built once from a copy of what git has."""
    out = tmp_path_factory.mktemp("built")
    copy = tmp_path_factory.mktemp("copy")
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    build = (
        "from hatchling.build import build_sdist, build_wheel;"
        f"build_wheel({str(out)!r}); build_sdist({str(out)!r})"
    )
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, capture_output=True)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def tracked(*where: str) -> list[str]:
    """The files that git has."""
    done = subprocess.run(
        ["git", "ls-files", "-z", *where], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).exists()]


def test_the_wheel_has_the_library_and_no_more(built: tuple[Path, Path]) -> None:
    wheel, _ = built
    assert wheel.name == f"eagle_xai-{eagle.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as file:
        there = set(file.namelist())
    ours = {name.removeprefix("src/") for name in tracked("src")}
    about = f"eagle_xai-{eagle.__version__}.dist-info"
    files = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    assert there == ours | {f"{about}/{name}" for name in files}


def test_the_source_distribution_has_all_but_the_records(built: tuple[Path, Path]) -> None:
    _, sdist = built
    top = f"eagle_xai-{eagle.__version__}"
    assert sdist.name == f"{top}.tar.gz"
    with tarfile.open(sdist) as file:
        there = {m.name.removeprefix(f"{top}/") for m in file.getmembers() if m.isfile()}
    left_out = re.compile(r"evaluation/records/|\.ci/|\.github/")
    ours = {name for name in tracked() if not left_out.match(name)}
    assert there == ours | {"PKG-INFO"}


@pytest.mark.package
def test_the_wheel_works_in_a_bare_environment(built: tuple[Path, Path], tmp_path: Path) -> None:
    """With numpy and scipy alone, as `pip install eagle-xai` has it; and twine takes both files."""
    wheel, sdist = built
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
    venv.create(tmp_path / "bare", with_pip=True)
    bare = tmp_path / "bare" / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([bare / "python", "-m", "pip", "install", "-q", str(wheel)], check=True)
    listed = subprocess.run(
        [bare / "python", "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True
    ).stdout
    names = {line.split("==")[0] for line in listed.splitlines()} - {"pip", "setuptools"}
    assert names == {"eagle-xai", "numpy", "scipy"}
    code = (
        "import numpy as np, eagle;"
        "X = np.random.default_rng(0).normal(size=(100, 3));"
        "e = eagle.Explainer(lambda X: X @ [1.0, -2.0, 0.0], X).explain(X[0]);"
        "print(eagle.__version__, e.top(1))"
    )
    used = subprocess.run(
        [bare / "python", "-I", "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert used.stdout == f"{eagle.__version__} ['x1']\n", used.stderr
    said = subprocess.run([bare / "eagle", "--version"], capture_output=True, text=True)
    assert said.stdout == f"eagle {eagle.__version__}\n"


def test_licences_of_what_is_needed_are_listed() -> None:
    """Each package that the core or an extra names has a line; `make licences` writes the page."""
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"]]
    asked += [r for name in extras if name not in LEFT_OUT for r in extras[name]]
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in asked} - {"eagle-xai"}
    assert names <= listed


def test_no_machine_paths_and_no_registry_hosts() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    bad = re.compile(r"(^|[^\w])/(?:work|root|farm|home/[a-z]+)/|pypi\.org|pythonhosted")
    for name in listed:
        path = ROOT / name
        if path.suffix not in (".png", ".parquet") and path.name != Path(__file__).name:
            assert not bad.search(path.read_text(encoding="utf-8")), name


def test_nothing_but_the_library_is_installed() -> None:
    """The evaluation is run from a clone: the wheel holds the package `eagle` and no more."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"] == {"packages": ["src/eagle"]}
    listed = subprocess.run(
        ["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {Path(name).suffix for name in listed} == {
        ".css",
        ".html",
        ".js",
        ".py",
        ".svg",
        ".typed",
    }
    for path in (ROOT / "src").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) evaluation\b", path.read_text("utf-8"), re.M), path


def test_the_oldest_versions_tested_are_those_promised() -> None:
    """`make test-all` installs tests/oldest.txt: it must be the floors of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = {
        *project["dependencies"],
        *(r for name in extras if name != "dev" for r in extras[name]),
    }
    floors: dict[str, set[str]] = {}
    for requirement in asked:
        if match := re.fullmatch(r"([a-z-]+)>=([\d.]+)", requirement):
            floors.setdefault(match[1], set()).add(match[2])
    assert {name for name, some in floors.items() if len(some) > 1} == set()
    tested = dict(
        line.split("==")
        for line in (ROOT / "tests/oldest.txt").read_text().splitlines()
        if line and not line.startswith("#")
    )
    assert set(floors) - set(tested) == {
        "pydantic",
        "ray",
        "starlette",
        "torch",
        "uvicorn",
    }  # which have parts of their own
    for name in set(floors) & set(tested):
        (floor,) = floors[name]
        assert (tested[name] + ".").startswith(floor + "."), name
