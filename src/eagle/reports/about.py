"""What a report is told besides the result, and what was asked of which model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import isnan
from platform import python_version
from typing import Any, TypeAlias, final

import numpy as np

from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.link import Logit
from eagle.surrogate.posterior import LEVEL
from eagle.surrogate.reweighted import Reweighted
from eagle.survey.survey import Survey
from eagle.types import short

Facts: TypeAlias = list[tuple[str, str]]

LISTED = 12
"""Maximum number of outputs that are listed."""


@final
@dataclass(frozen=True)
class About:
    """The caller's wishes: a title, the level of intervals, groups of rows, and the date.

    `made_by` is the explainer or the survey that made the result: it knows the model. Unless
    `silent`, progress is shown where it takes longer.
    """

    when: datetime
    title: str | None = None
    level: float = LEVEL
    groups: Any = None
    made_by: Explainer | Survey | None = None
    silent: bool = False

    @property
    def footer(self) -> str:
        """When and with what the page was written."""
        from eagle import __version__

        zone = self.when.strftime("%z")
        date = f"{self.when:%Y-%m-%d %H:%M}" + (f" UTC{zone[:3]}:{zone[3:]}" if zone else "")
        return (
            f"Written on {date} by eagle {__version__}, numpy {np.__version__}, "
            f"Python {python_version()}. This file asks nothing of any server."
        )


def asked_of(about: About) -> Facts:
    """Which model, and over which data, as far as it is known."""
    made = about.made_by
    if made is None:
        return [("Model", "not recorded in the result")]
    if isinstance(made, Survey):
        which = made.identity
        versions = ", ".join(f"{name} {version}" for name, version in which.versions.items())
        return [
            ("Model", which.model),
            ("Model digest", _digest(which.model_digest)),
            ("Background digest", _digest(which.background_digest)),
            ("Asked with", versions),
        ]
    known = made.identity()
    return [
        ("Model", str(known["model"])),
        ("Model digest", _digest(known["model digest"])),
        ("Background digest", _digest(known["background"])),
    ]


def _digest(known: str | None) -> str:
    return "not known: it is a function, or cannot be pickled" if known is None else known


def of_one(e: Explanation, about: About) -> Facts:
    """What one explanation rests on."""
    shared = e.surrogate.evenness.rows if isinstance(e.surrogate, Reweighted) else 0
    return [
        *asked_of(about),
        *_explained(e.target_name, e.outputs, e.task, e.link),
        ("Method", e.method),
        ("Seed", str(e.seed)),
        ("Rows asked", _rows(e, shared)),
        ("Time", _seconds(e)),
        ("Stopped because", e.bill.stopped),
        ("Fit", _fit(e.r2, e.r2_held_out)),
        ("Intervals", "none" if e.posterior is None else e.posterior.kind),
    ]


def of_many(e: Explanations, about: About) -> Facts:
    """What many explanations rest on."""
    targets = [str(target) for target in e.about]
    told = targets[0] if len(targets) == 1 else f"each row's own: {_listed(targets)}"
    out = [
        *asked_of(about),
        *_explained(told, e.outputs, e.task, e.link),
        ("Method", e.method),
        ("Seed", str(e.seed)),
        ("Rows explained", f"{len(e):,}"),
    ]
    if isinstance(about.made_by, Survey):
        account = about.made_by.account
        out.append(
            ("Model rows asked", f"{account.rows:,} in {account.calls:,} calls, by the survey")
        )
    elif isinstance(e.items, list) and (rows := sum(one.bill.rows for one in e.items)):
        out.append(("Model rows asked", f"{rows:,}"))
    return out


def _explained(told: str, outputs: tuple[Any, ...], task: str, link: Logit | None) -> Facts:
    scale = "log-odds" if link is not None else ""
    return [
        ("Explained", told),
        ("Outputs", _listed([str(output) for output in outputs])),
        ("Task", task),
        ("Scale", scale),
    ]


def _listed(names: list[str]) -> str:
    more = len(names) - LISTED
    listed = ", ".join(short(name, 60) for name in names[:LISTED])
    return f"{listed} and {more} more" if more > 0 else listed


def _rows(e: Explanation, shared: int) -> str:
    if shared:
        return f"{shared:,}, shared by all explanations of the survey, and {e.bill.rows} for this"
    if not e.bill.rows:
        return "not recorded"
    calls = f" in {e.bill.calls} call{'s' if e.bill.calls != 1 else ''}" if e.bill.calls else ""
    return f"{e.bill.rows:,}{calls}"


def _seconds(e: Explanation) -> str:
    if not e.bill.calls:
        return ""
    return f"{e.bill.model_seconds:.3f} s in the model, {e.bill.own_seconds:.3f} s outside it"


def _fit(r2: float, held: float) -> str:
    if isnan(r2):
        return ""
    return f"weighted R² {r2:.2f}" + ("" if isnan(held) else f", {held:.2f} on held-out rows")
