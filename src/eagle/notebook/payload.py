"""An explanation as plain data: what `chart.js` draws."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from eagle.explanation import Explanation
from eagle.show.sheet import sheet
from eagle.types import short

MOST: Final = 40
"""Maximum number of features that are sent, the strongest first."""


def view_payload(e: Explanation, level: float) -> dict[str, Any]:
    """Title, bars with intervals, facts and warnings; None where a number is not known."""
    shown = sheet(e, level)
    return {
        "title": short(shown.title, 200),
        "level": shown.level,
        "signed": e.signed,
        "bars": [
            {
                "key": str(k),
                "condition": short(bar.label, 80),
                "score": bar.score,
                "low": _known(bar.low),
                "high": _known(bar.high),
                "sure": _known(bar.sure),
            }
            for k, bar in enumerate(shown.bars[:MOST])
        ],
        "more": max(len(shown.bars) - MOST, 0),
        "warnings": [short(warning, 400) for warning in shown.warnings],
        "facts": [short(fact, 200) for fact in shown.facts],
    }


def _known(number: float) -> float | None:
    return number if isfinite(number) else None
