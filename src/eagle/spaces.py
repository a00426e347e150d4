"""Spaces of perturbations for a source of your own: masks of parts, and numbers that are moved."""

from __future__ import annotations

from eagle._sources.in_parts import part_groups
from eagle._sources.masks import EvenSizes, Fair, MaskSpace, OffsetSpace

__all__ = ["EvenSizes", "Fair", "MaskSpace", "OffsetSpace", "part_groups"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
