"""Whether a process that wrote its name into a file is still there."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def this_process() -> str:
    """An identifier: the machine, its boot, the number of this process and when it began."""
    return "\t".join((platform.node(), _boot(), str(os.getpid()), _born(os.getpid())))


def ended(process: str) -> bool:
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
