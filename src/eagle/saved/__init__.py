"""Saved results, read again: the one table of what a file may hold, `load` and `verify`."""

from eagle.saved.reading import load
from eagle.saved.verify import Verification, verify

__all__ = ["Verification", "load", "verify"]
