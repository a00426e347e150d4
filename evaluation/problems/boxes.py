"""A cache of trained black boxes, keyed by content.

The key is a hash of everything that determines a box: its training arrays, its settings, and the
version of the package that trains it. So a cached box is never out of date, and two processes that
train the same box write the same file.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from eagle.errors import InputError

VARIABLE: Final = "EAGLE_CACHE"


def cache_folder() -> Path:
    """The cache folder: EAGLE_CACHE, or a folder in the user's cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "eagle"


def estimator(name: str, untrained: Any, inputs: Any, labels: Any) -> Any:
    """A scikit-learn estimator fitted to the inputs and labels, cached."""
    import joblib
    import sklearn

    def load(path: Path) -> Any:
        trained = joblib.load(path)  # our own file, from the user's own folder
        if type(trained) is not type(untrained):
            raise ValueError(f"{path} holds another model")
        return trained

    def make(path: Path) -> None:
        joblib.dump(untrained.fit(inputs, labels), path, compress=3)

    kind = type(untrained)
    key = digest(
        f"{kind.__module__}.{kind.__qualname__}",
        sklearn.__version__,
        np.__version__,
        *(f"{k}={v!r}" for k, v in sorted(untrained.get_params(deep=True).items())),
        inputs,
        labels,
    )
    return kept(f"{name}-{key}.joblib", load, make)


def measured(name: str, measure: Callable[[], float], *parts: Any) -> float:
    """A number that depends on the given parts, cached."""

    def load(path: Path) -> float:
        return float(path.read_text())

    def make(path: Path) -> None:
        path.write_text(repr(float(measure())))

    return float(kept(f"{name}-{digest(*parts)}.txt", load, make))


def kept(name: str, load: Callable[[Path], Any], make: Callable[[Path], None]) -> Any:
    """What `load` reads from the cached file `name`. `make` writes the file if it is missing.

    A file that cannot be read is written again. Files are replaced atomically, so processes that
    run in parallel never see an incomplete one.
    """
    path = cache_folder() / name
    if path.is_file():
        with suppress(Exception):  # truncated, damaged or foreign: make it again
            return load(path)
    with _scratch(path) as made:
        make(made)
        try:
            os.replace(made, path)
        except PermissionError:  # on Windows, if another process reads the same file
            if not path.is_file():
                raise
    return load(path)


@contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """A temporary file next to another; it is deleted unless it was renamed."""
    # Check before training: without a writable folder every run would train again.
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(path.suffix, ".being-made-", path.parent)
    except OSError as error:
        raise InputError(
            f"trained models are kept in {str(path.parent)!r}, where nothing can be written "
            f"({error}): set {VARIABLE} to a folder where that is possible"
        ) from None
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def digest(*parts: Any) -> str:
    """A short hash of strings, lists of strings, arrays and DataFrames."""
    total = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            total.update(len(piece).to_bytes(8, "little"))
            total.update(piece)
    return total.hexdigest()[:24]


def _pieces(part: Any) -> Sequence[bytes]:
    if isinstance(part, str):
        return [part.encode()]
    if hasattr(part, "columns"):
        return [repr(list(part.columns)).encode(), *_pieces(part.to_numpy())]
    if isinstance(part, list):
        return [b"list", *(str(item).encode() for item in part)]
    array = np.asarray(part)
    if array.dtype.kind not in "fiub":
        return [b"list", *(str(item).encode() for item in array.ravel().tolist())]
    return [f"{array.dtype.str}{array.shape}".encode(), np.ascontiguousarray(array).tobytes()]
