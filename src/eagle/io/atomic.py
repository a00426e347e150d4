"""Atomic writes: a file is whole or not there, also after a crash, or if two write it at once."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

UNFINISHED_SUFFIX: Final = ".new"
"""How the name of a file ends that is not finished."""


def put(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, make sure that it is on the disk, and move it there."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED_SUFFIX}")
    try:
        write(beside)
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(path.parent)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed have left unfinished."""
    for left in folder.glob(f".*{UNFINISHED_SUFFIX}"):
        with suppress(OSError):
            left.unlink()


def _sync_folder(folder: Path) -> None:
    """Make sure that the new name is on the disk. Not every system lets a folder be opened."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
