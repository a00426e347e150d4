"""Anything that predicts, as a function that is asked tables and gives numbers."""

from eagle.models.recording import Recorded, recorded

__all__ = ["Recorded", "recorded"]
