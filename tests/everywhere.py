"""What `make test` leaves out: `make test-all` runs this, part by part, each by its name.

Slow tests, those that need torch, boosters, real servers, Ray or a browser, the wheel in a bare
environment, the documentation as a site, the numerical folders under other processor kernels, one
with one thread and one with two, and all tests on the oldest versions that we promise to work with
and on each other Python that the classifiers name. The newest versions are what a fresh environment
takes: `make test` has run all tests on them before. A part that cannot run here is skipped by name;
where CI is set, or where it is a Python that is missing, it fails by name. What a processor does
not have is not asked of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import which

ROOT = Path(__file__).parent.parent
OLDEST = ROOT / ".venv-oldest"
NATIVE = ROOT / ".venv-native"
SERVERS = ROOT / ".venv-servers"
NO_ALGEBRA = (
    "contract/test_parameters",
    "contract/test_limits",
    "law/test_content",
    "law/test_words",
)
NUMERICAL = (
    "tests/contract",
    "tests/law",
    "tests/oracle",
    *(f"--ignore=tests/{name}.py" for name in NO_ALGEBRA),
)
RAY = ROOT / ".venv-ray"
DOCS = ROOT / ".venv-docs"
LANGUAGE = ROOT / ".venv-language"
WEB = ROOT / ".venv-web"
TORCH = "torch==2.13.0"
BROWSER = ("playwright==1.65.2",)
AXE = "axe-core@4.10.3"
SERVED = ("mlserver==1.7.1", "mlserver-sklearn==1.7.1", "mlflow==3.17.2")

CLASSIFIER = "Programming Language :: Python :: 3."
"""How a classifier begins that names a Python with which eagle works."""

KERNELS = {"Nehalem": ("SSE42",), "Haswell": ("AVX2", "FMA3")}
"""Kernels of OpenBLAS, and what a processor must have for them."""


class CannotRunError(Exception):
    """Something that a part needs is not to be had here."""


class NoPythonError(CannotRunError):
    """A Python that the classifiers name is not to be had here: what they promise is untested."""


class NotHereError(Exception):
    """The processor lacks what a part is about."""


@dataclass(frozen=True)
class Part:
    """One run: with which Python, what arguments, in which environment; of pytest by default."""

    name: str
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    python: Path = Path(sys.executable)
    ready: Callable[[], None] | None = None
    module: tuple[str, ...] = ("pytest", "-n", "2")

    def run(self) -> bool:
        if self.ready is not None:
            self.ready()
        command = [str(self.python), "-m", *self.module, *self.arguments]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | self.environment, check=False)
        return done.returncode == 0


def parts() -> Iterator[Part]:
    yield Part("tests over 20 seconds", ("-m", "slow", "tests"))
    yield Part("the wheel", ("-m", "package", "tests/system/test_package.py"), ready=install_twine)
    yield Part("torch", ("-m", "torch", "tests"), ready=install_torch)
    yield Part(
        "language models",
        ("-m", "language", "tests"),
        python=LANGUAGE / "bin" / "python",
        ready=install_language,
    )
    yield Part(
        "native models",
        ("-m", "native", "tests"),
        python=NATIVE / "bin" / "python",
        ready=install_native,
    )
    yield Part(
        "real servers",
        (
            "-m",
            "servers",
            "--dist",
            "loadfile",
            "tests/system/test_servers.py",
            "tests/system/test_pages.py",
        ),
        python=SERVERS / "bin" / "python",
        ready=install_servers,
    )
    yield Part(
        "Ray",
        ("-m", "ray", "-n", "0", "tests"),
        python=RAY / "bin" / "python",
        ready=install_ray,
    )
    yield Part(
        "documentation",
        ("build",),
        python=DOCS / "bin" / "python",
        ready=install_docs,
        module=("tools.site",),
    )
    yield Part(
        "the page, in a browser",
        (
            "-m",
            "web or browser",
            "-n",
            "0",
            "tests/web",
            "tests/browser",
            "tests/system/test_pages.py",
        ),
        {"EAGLE_AXE": str(WEB / "node_modules" / "axe-core" / "axe.min.js")},
        python=WEB / "bin" / "python",
        ready=install_web,
    )
    for threads, kernel in enumerate(KERNELS, 1):
        environment = {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": str(threads)}
        yield Part(
            f"{kernel} kernels, {threads} thread{'s' if threads > 1 else ''}",
            NUMERICAL,
            environment,
            ready=partial(check_kernel, kernel),
        )
    yield Part(
        "oldest versions",
        ("tests",),
        python=OLDEST / "bin" / "python",
        ready=install_oldest,
    )
    for version in other_pythons():
        yield Part(
            f"Python {version}",
            ("tests",),
            python=folder_of(version) / "bin" / "python",
            ready=partial(install_for, version),
        )


def other_pythons() -> list[str]:
    """The versions of Python that the classifiers name, except the one that runs this."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if c.startswith(CLASSIFIER)]
    return [version for version in named if version != "{}.{}".format(*sys.version_info[:2])]


def folder_of(version: str) -> Path:
    """The environment of another Python."""
    return ROOT / f".venv-{version}"


def interpreter(version: str) -> str:
    """A Python of a version: this one, the one on the path if it runs, the newest of pyenv."""
    tried = [sys.executable, f"python{version}"]
    pyenv = which("pyenv")
    if pyenv is not None:
        listed = said([pyenv, "versions", "--bare"]).split()
        own = [v for v in listed if v.startswith(f"{version}.") and v.split(".")[-1].isdecimal()]
        for newest in sorted(own, key=lambda v: int(v.split(".")[-1]), reverse=True):
            tried.append(str(Path(said([pyenv, "prefix", newest])) / "bin" / "python"))
    for python in tried:
        if which(python) is None:
            continue
        about = "import sys; print('{}.{}'.format(*sys.version_info[:2]), sys.executable)"
        found, _, path = said([python, "-c", about]).partition(" ")
        if found == version:
            return path
    raise NoPythonError(f"there is no Python {version} here: neither on the path nor from pyenv")


def said(command: list[str]) -> str:
    """What a command prints, nothing if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def pip(python: Path | str, *arguments: str) -> None:
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", *arguments],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(done.stderr, end="", file=sys.stderr, flush=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        why = f": {errors[-1].removeprefix('ERROR: ')}" if errors else ""
        raise CannotRunError(f"pip install {' '.join(arguments)} failed{why}")


def install_twine() -> None:
    pip(sys.executable, "twine>=6")


def install_torch() -> None:
    pip(sys.executable, TORCH)


def install_language() -> None:
    pip(venv(LANGUAGE), TORCH, "--editable", ".[test]", "transformers", "context-cite==0.0.4")


def install_native() -> None:
    pip(venv(NATIVE), "--editable", ".[test,native]")


def install_ray() -> None:
    pip(venv(RAY), "--editable", ".[test,cluster]")


def install_web() -> None:
    """What the page needs, Playwright, the system's Chromium, and axe-core for tests alone."""
    pip(venv(WEB), "--editable", ".[test,web]", *BROWSER)
    if which("chromium") is None:
        steps = ("update", "--quiet"), ("install", "--yes", "--quiet", "chromium")
        allowed = which("apt-get") is not None and os.geteuid() == 0
        if not allowed or any(
            subprocess.run(["apt-get", *step], check=False).returncode for step in steps
        ):
            raise CannotRunError("there is no Chromium here: apt-get install chromium brings it")
    if which("npm") is None:
        raise CannotRunError("there is no npm here, which brings axe-core: install nodejs and npm")
    wanted = ["npm", "install", "--silent", "--no-save", "--prefix", str(WEB), AXE]
    if subprocess.run(wanted, cwd=WEB, check=False).returncode:
        raise CannotRunError(f"npm install {AXE} failed")


def install_oldest() -> None:
    pip(venv(OLDEST), "--editable", ".[test]", "--constraint", "tests/oldest.txt")


def install_for(version: str) -> None:
    pip(venv(folder_of(version), interpreter(version)), "--editable", ".[test]")


def install_docs() -> None:
    pip(venv(DOCS), "--editable", ".[docs]")


def install_servers() -> None:
    tests = ("pytest>=8.2", "pytest-xdist>=3.6.1", "hypothesis>=6.115")
    pip(venv(SERVERS), "--editable", ".[cli,http]", *tests, *SERVED)


def venv(folder: Path, base: str = sys.executable) -> Path:
    """The Python of an environment of its own, made from another one if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        if subprocess.run([base, "-m", "venv", "--clear", str(folder)], check=False).returncode:
            raise CannotRunError(f"{base} -m venv failed")
        pip(python, "--upgrade", "pip")
    return python


def check_kernel(kernel: str) -> None:
    """That the processor has what the kernel needs, and that numpy really takes it."""
    has = import_module("numpy._core._multiarray_umath").__cpu_features__
    lacking = [feature for feature in KERNELS[kernel] if not has.get(feature)]
    if lacking:
        raise NotHereError(f"this processor has no {' and no '.join(lacking)}")
    code = (
        "import numpy, scipy.linalg, threadpoolctl;"
        "print(*{lib.get('architecture') for lib in threadpoolctl.threadpool_info()"
        " if lib['user_api'] == 'blas'})"
    )
    environment = os.environ | {"OPENBLAS_CORETYPE": kernel}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    taken = done.stdout.strip()
    if taken != kernel:
        raise CannotRunError(f"numpy and scipy take {taken or 'no'} kernels, not {kernel}")


def main() -> int:
    strict = bool(os.environ.get("CI"))
    table: list[tuple[float, str]] = []
    failed = False
    for part in parts():
        print(f"\n== {part.name}", flush=True)
        began = time.monotonic()
        try:
            passed = part.run()
            word = "passed" if passed else "FAILED"
        except NotHereError as reason:
            passed, word = True, f"not asked: {reason}"
        except CannotRunError as reason:
            passed = not strict and not isinstance(reason, NoPythonError)
            word = f"{'skipped' if passed else 'FAILED, cannot run'}: {reason}"
        failed |= not passed
        table.append((time.monotonic() - began, f"{part.name}: {word}"))
    table.append((sum(seconds for seconds, _ in table), "in all"))
    print("\n" + "\n".join(f"{seconds:5.0f} s  {what}" for seconds, what in table))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
