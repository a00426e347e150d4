"""What a report is told besides the result, and what was asked of which model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import isnan
from platform import python_version
from typing import Any, TypeAlias, final

import numpy as np

import eagle
from eagle._values.difference import Difference
from eagle._values.posterior import LEVEL
from eagle._values.targets import target_text
from eagle._values.text import short
from eagle.display.many import fit_of
from eagle.display.numbers import count, plural, seconds, share
from eagle.explainer import Explainer, setup_of
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.survey.identity import of_setup
from eagle.survey.survey import Survey

Facts: TypeAlias = list[tuple[str, str]]

MAX_OUTPUTS = 12
"""Maximum number of outputs that are listed."""


@final
@dataclass(frozen=True)
class ReportOptions:
    """What the caller chose: a title, the level of intervals, groups of rows, and the date.

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
        zone = self.when.strftime("%z")
        date = f"{self.when:%Y-%m-%d %H:%M}" + (f" UTC{zone[:3]}:{zone[3:]}" if zone else "")
        return (
            f"Written on {date} by eagle {eagle.__version__}, numpy {np.__version__}, "
            f"Python {python_version()}. This file asks nothing of any server."
        )


def model_and_data(options: ReportOptions) -> Facts:
    """Which model, and over which data, as far as it is known."""
    made = options.made_by
    if isinstance(made, Survey) and made.difference is not None:
        return _difference(made.difference)
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
    known = of_setup(setup_of(made))
    return [
        ("Model", str(known["model"])),
        ("Model digest", _digest(known["model digest"])),
        ("Background digest", _digest(known["background"])),
    ]


def _digest(known: str | None) -> str:
    return "not known: it is a function, or cannot be pickled" if known is None else known


def of_one(e: Explanation, options: ReportOptions) -> Facts:
    """What one explanation rests on."""
    return [
        *model_and_data(options),
        *_explained_facts(target_text(e.target), e),
        ("Method", e.method),
        ("Seed", str(e.seed)),
        ("Rows asked", _rows(e)),
        ("Time", _seconds(e)),
        ("Stopped because", e.cost.stopped),
        ("Fit", _fit(e.r2, e.r2_held_out)),
        ("Intervals", "none" if e.posterior is None else e.posterior.kind),
    ]


def of_many(e: Explanations, options: ReportOptions) -> Facts:
    """What many explanations rest on."""
    targets = [str(target) for target in e.about]
    told = targets[0] if len(targets) == 1 else f"each row's own: {_join_names(targets)}"
    out = [
        *model_and_data(options),
        *_explained_facts(told, e),
        ("Method", e.method),
        ("Seed", str(e.seed)),
        ("Rows explained", count(len(e))),
        *([("Fit", said)] if (said := fit_of(e)) else []),
    ]
    return [*out, ("Model rows asked", _rows_of_many(e, options))]


def _rows_of_many(e: Explanations, options: ReportOptions) -> str:
    """How many rows the model answered for all of them, a survey's own among them; "" if that is
    not known."""
    shared, survey = e[0].cost.shared, options.made_by
    total = survey.cost.rows if isinstance(survey, Survey) else shared + e.rows_asked
    if not shared:
        return count(total) if total else ""
    more = f", {count(total - shared)} besides" if total > shared else ""
    return f"{count(total)}: {count(shared)} by the survey{more}"


def _explained_facts(told: str, e: Explanation | Explanations) -> Facts:
    what = e.difference
    scale = "log-odds" if e.link is not None else "" if what is None else what.change
    return [
        ("Explained", told),
        *([] if what is None else _difference(what)),
        ("Outputs", _join_names([str(output) for output in e.outputs])),
        ("Task", e.task if what is None else "the difference of two models"),
        ("Scale", scale),
    ]


def _difference(what: Difference) -> Facts:
    """The two models that are compared."""
    digests = (what.new_digest, what.old_digest)
    told = [f" (digest {digest})" if digest is not None else "" for digest in digests]
    return [("New model", what.new + told[0]), ("Old model", what.old + told[1])]


def _join_names(names: list[str]) -> str:
    more = len(names) - MAX_OUTPUTS
    listed = ", ".join(short(name, 60) for name in names[:MAX_OUTPUTS])
    return f"{listed} and {more} more" if more > 0 else listed


def _rows(e: Explanation) -> str:
    shared = e.cost.shared
    if shared:
        return (
            f"{count(shared)}, shared by all explanations of the survey, and {e.cost.rows} for this"
        )
    if not e.cost.rows:
        return "not recorded"
    calls = f" in {plural(e.cost.calls, 'call')}" if e.cost.calls else ""
    return f"{count(e.cost.rows)}{calls}"


def _seconds(e: Explanation) -> str:
    if not e.cost.calls:
        return ""
    return f"{seconds(e.cost.model_seconds)} in the model, {seconds(e.cost.own_seconds)} outside it"


def _fit(r2: float, held: float) -> str:
    if isnan(r2):
        return ""
    return f"weighted R² {share(r2)}" + ("" if isnan(held) else f", {share(held)} on held-out rows")
