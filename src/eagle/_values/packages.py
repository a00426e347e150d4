"""Optional packages, imported where they are used: a missing one is a sentence."""

from __future__ import annotations

import sys
import warnings
from contextlib import AbstractContextManager
from importlib import import_module
from threading import Lock
from typing import Any, Final, final

from eagle.errors import MissingExtraError


@final
class _OneThread:
    """The process's limit on threads of linear algebra. It ends when the last user leaves."""

    def __init__(self) -> None:
        self._lock, self._users, self._modules = Lock(), 0, 0
        self._libraries: Any = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._users and self._libraries_now() is not None:
                self._limits = self._libraries.limit(limits=1)
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users or self._limits is None:
                return
            _let_any_thread_limit()  # the last to leave need not be the one that came first
            self._limits.restore_original_limits()
            _let_any_thread_limit()
            self._limits = None

    def _libraries_now(self) -> Any:
        """The libraries that are loaded, None without `threadpoolctl`. Finding them takes
        milliseconds, so they are found again only after something was imported."""
        if self._modules != len(sys.modules):
            try:
                self._libraries = import_module("threadpoolctl").ThreadpoolController()
            except ImportError:
                self._libraries = None
            self._modules = len(sys.modules)
        return self._libraries


def _let_any_thread_limit() -> None:
    """From threadpoolctl 3.8 on a thread that has set a limit alone may change it; what others say
    is ignored in silence."""
    openblas = getattr(import_module("threadpoolctl"), "OpenBLASController", None)
    clear = getattr(openblas, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


_ONE_THREAD: Final = _OneThread()


def one_thread() -> AbstractContextManager[None]:
    """Within it linear algebra takes one thread, if `threadpoolctl`, which scikit-learn brings, is
    installed. Small products are faster so: threads would wait for one another. The limit is that
    of the whole process, so threads that are within it at the same time share it."""
    return _ONE_THREAD


DISTRIBUTIONS: Final = {"sklearn": "scikit-learn", "skimage": "scikit-image", "PIL": "pillow"}
"""The names under which packages are installed, where these are not those of their modules."""


def package(module: str, what: str, extra: str) -> Any:
    """A module of an optional package, for something that needs it. The package is in an extra."""
    try:
        return import_module(module)
    except ImportError:
        name = module.split(".")[0]
        raise MissingExtraError(what, DISTRIBUTIONS.get(name, name), extra) from None


def shap(what: str) -> Any:
    """The package `shap`, for something that needs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its dependencies, which a user cannot change
        return package("shap", what, "shap")
