"""What belongs to one process, and whether one that wrote its name into a file is still there."""

from __future__ import annotations

import os
import platform
import weakref
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any, final


@final
class PerProcess:
    """A lock, and something that a process opens when it first needs it. A fork opens its own, and
    copies and pickles begin anew."""

    def __init__(self) -> None:
        self.lock, self._opened, self._owner = RLock(), None, 0

    def __reduce__(self) -> tuple[Any, ...]:
        return PerProcess, ()

    def get(self, open: Callable[[], Any]) -> Any:
        """What is open here. It is closed when this object goes, by this process alone."""
        with self.lock:
            if self._opened is None or self._owner != os.getpid():
                self._opened, self._owner = open(), os.getpid()
                weakref.finalize(self, _close, self._opened, self._owner)
            return self._opened


def _close(opened: Any, owner: int) -> None:
    if os.getpid() == owner:
        opened.close()


def this_process() -> str:
    """An identifier: the machine, its boot, the number of this process and when it began."""
    return "\t".join((platform.node(), _boot(), str(os.getpid()), _born(os.getpid())))


def has_ended(process: str) -> bool:
    """Whether a process has certainly ended; False if that is not known, as on another machine."""
    node, boot, number, born = process.split("\t")
    if node != platform.node() or os.name != "posix":
        return False
    if boot != _boot():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _born(int(number)) != born


def _boot() -> str:
    """An identifier of this machine's boot; empty if the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _born(process: int) -> str:
    """When a process began, empty if the system does not tell; "ended" for a zombie."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "ended" if fields[0] in "ZX" else fields[19]
