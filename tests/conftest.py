"""Laws are checked on the same examples everywhere, however slow the machine."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same everywhere", deadline=None, derandomize=True)
settings.load_profile("same everywhere")


@pytest.fixture(autouse=True)
def _no_figure_is_left() -> Iterator[None]:
    """A test that draws leaves no figure to the next one of its process, whichever that is."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every data set of `evaluation`, tiny."""
    import tiny

    return tiny.folder(tmp_path_factory.mktemp("data"))


@pytest.fixture
def tiny_data(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """EAGLE_DATA and EAGLE_CACHE set to the tiny data and to an empty folder, which is returned."""
    monkeypatch.setenv("EAGLE_DATA", str(tiny_folder))
    monkeypatch.setenv("EAGLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def ctrl_c_interrupts() -> Iterator[None]:
    """Ctrl-C does what it does at a terminal: a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
