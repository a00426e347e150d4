"""The lines of code that reproduce a result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from eagle._engine.default import DEFAULT
from eagle._engine.lack_of_fit import LackOfFit
from eagle._engine.names import name_by_printed
from eagle._values.difference import Difference
from eagle._values.link import Logit
from eagle._values.subject import Curves, Image, Passage
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.reports.provenance import ReportOptions
from eagle.survey.survey import METHOD, Survey

MAX_COLUMNS: Final = 60
"""Maximum number of values of a row that are written into the code."""

LINE_WIDTH: Final = 74
"""Approximate length of a line of code."""

MAX_OUTPUTS: Final = 20
"""Maximum number of output names that are written into the code."""


def one(e: Explanation, options: ReportOptions) -> str:
    """Code that reproduces one explanation."""
    target = _target(e.target)
    if e.difference is not None:
        return _lines(
            "import eagle",
            "",
            *_difference(e.difference, e.outputs, e.seed, _survey_call(e, e.cost.shared)),
            f"x = {_row(e)}",
            f"explanation = (new - old).explain(x{target})",
        )
    if e.method == METHOD or e.additive:
        return _lines(
            "import eagle",
            "",
            *_survey(options, e, e.cost.shared),
            f"x = {_row(e)}",
            f"explanation = survey.explain(x{target})",
        )
    if not _repeatable(e, options):
        return ""
    return _lines(
        "import eagle",
        "",
        "# model: what was explained; data: what it was explained over",
        *_explainer(e, options),
        f"x = {_row(e)}",
        f"explanation = explainer.explain(x{target})",
        *_stop_lines(e),
    )


def many(e: Explanations, options: ReportOptions) -> str:
    """Code that reproduces many explanations."""
    target = _target(e.about[0]) if len(e.about) == 1 else ""
    if e.difference is not None:
        made = options.made_by.rows if isinstance(options.made_by, Survey) else e[0].cost.shared
        return _lines(
            "import eagle",
            "",
            *_difference(e.difference, e.outputs, e.seed, _survey_call(e, made)),
            f"explanations = (new - old).explain_many(rows{target})  # rows: the table explained",
        )
    if e.method == METHOD or e.additive:
        return _lines(
            "import eagle",
            "",
            *_survey(options, e, e[0].cost.shared),
            f"explanations = survey.explain_many(rows{target})  # rows: the table explained",
        )
    if not _repeatable(e[0], options):
        return ""
    return _lines(
        "import eagle",
        "",
        "# model: what was explained; data: what it was explained over; rows: what was explained",
        *_explainer(e[0], options),
        f"explanations = explainer.explain_many(rows{target})",
        *_stop_lines(e[0]),
    )


def survey(s: Survey) -> str:
    """Code that reproduces a survey, and uses it."""
    if s.difference is not None:
        return _lines(
            "import eagle",
            "",
            *_difference(s.difference, s.outputs, s.seed, f"survey(rows={s.rows})"),
            "explanations = (new - old).explain_many(rows)  # any table with the same columns",
        )
    link = s.setting.box.link
    named = ", ".join(["model", "data", *_outputs(s.task, s.outputs), _seed(s.seed)])
    return _lines(
        "import eagle",
        "",
        "# model: what was asked; data: what it was asked over",
        f"explainer = eagle.Explainer({named}{_link(link)})",
        f"survey = explainer.survey(rows={s.rows})",
        "explanations = survey.explain_many(rows)  # any table with the same columns",
    )


def _lines(*lines: str) -> str:
    """Lines of code; long ones are folded where they have a comma, inside their brackets."""
    return "\n".join(folded for line in lines for folded in _wrap(line))


def _wrap(line: str) -> list[str]:
    out = [""]
    for part in line.split(", "):
        if out[-1] and len(out[-1]) + len(part) > LINE_WIDTH:
            out[-1] += ","
            out.append(f"    {part}")
        else:
            out[-1] += f", {part}" if out[-1] else part
    return out


def _stop_lines(e: Explanation) -> Iterable[str]:
    if e.cost.stopped:
        yield "# it stopped by a rule: give explain the same until=…"


def _survey(options: ReportOptions, e: Explanation | Explanations, rows: int) -> Iterable[str]:
    given = options.made_by.rows if isinstance(options.made_by, Survey) else rows
    named = ", ".join(["model", "data", *_outputs(e.task, e.outputs), _seed(e.seed)])
    yield "# model: what was asked; data: what it was asked over"
    yield f"explainer = eagle.Explainer({named}{_link(e.link)})"
    yield f"survey = explainer.{_survey_call(e, given)}"


def _survey_call(e: Explanation | Explanations, rows: int) -> str:
    """The call that asks a survey."""
    if e.additive:
        return "shapley_survey(rows)  # rows: the table explained; budget and background as then"
    return f"survey({f'rows={rows}' if rows else ''})"


def _difference(what: Difference, outputs: tuple[Any, ...], seed: int, asked: str) -> Iterable[str]:
    """The lines that make the surveys of two models."""
    task = "regression" if what.unit == "answer" else "classification"
    named = ", ".join(["old_model", "data", *_outputs(task, outputs), _seed(seed)])
    yield "# old_model, new_model: what was asked; data: what it was asked over"
    yield f"explainer = eagle.Explainer({named}{_link(what.link)})"
    yield f"old = explainer.{asked}"
    yield "new = old.requery(new_model)"


def _explainer(e: Explanation, options: ReportOptions) -> Iterable[str]:
    """The line that makes the explainer, and a remark where two methods are possible."""
    parts = ["model", _data(e)]
    if _lack_of_fit(e) is not None and not _parts(e) and not _is_binned(e):
        parts[1] = 'eagle.Table(data, view="continuous")'
    made, rows, named = options.made_by, _rows(e, options), name_by_printed(e.method)
    default = _is_default(e, options)
    if not default:
        parts.append(f'method="{named}"')
    if rows > 1:
        parts.append(f"budget={rows}")
    parts += [*_outputs(e.task, e.outputs), _seed(e.seed)]
    yield f"explainer = eagle.Explainer({', '.join(parts)}{_link(e.link)})"
    if default and named is not None and not isinstance(made, Explainer):
        yield f'# or with method="{named}", if it was named then'


def _rows(e: Explanation, options: ReportOptions) -> int:
    """The budget of the explanation."""
    made = options.made_by
    return made.budget if isinstance(made, Explainer) else int(e.evidence.repeats.sum())


def _repeatable(e: Explanation, options: ReportOptions) -> bool:
    """Whether the method can be written: it is the default, or has a name."""
    return _is_default(e, options) or name_by_printed(e.method) is not None


def _is_default(e: Explanation, options: ReportOptions) -> bool:
    """Whether the default method was taken, or may have been."""
    if isinstance(options.made_by, Explainer):
        return options.made_by.method in (DEFAULT, DEFAULT.dear)
    return DEFAULT.pick(len(e.names), _parts(e), _rows(e, options), False).name == e.method


def _outputs(task: str, outputs: tuple[Any, ...]) -> list[str]:
    if task != "classification" or len(outputs) > MAX_OUTPUTS:
        return []
    return [f"outputs={_as_code(list(outputs))}"]


def _data(e: Explanation) -> str:
    if isinstance(e.subject, Image):
        return "eagle.Images(…)"
    if isinstance(e.subject, Passage):
        return "eagle.language.Prompt(…)" if e.subject.labels else "eagle.Texts(…)"
    if isinstance(e.subject, Curves):
        return "eagle.Series(…)"
    return "eagle.Parts(…)" if _parts(e) else "data"


def _lack_of_fit(e: Explanation) -> LackOfFit | None:
    """What the line misses, if there are rows to tell."""
    return e.lack_of_fit if len(e.evidence.features) > 1 else None


def _parts(e: Explanation) -> bool:
    lack_of_fit = _lack_of_fit(e)
    return e.subject is not None or (lack_of_fit is not None and lack_of_fit.masks)


def _is_binned(e: Explanation) -> bool:
    return bool((e.evidence.features[0] == 1).all())


def _row(e: Explanation) -> str:
    """The row that was explained, as code."""
    if e.subject is not None or _parts(e):
        return "…  # what was explained"
    plain = all(v is None or isinstance(v, bool | int | float | str) for v in e.data)
    if len(e.names) > MAX_COLUMNS or not plain:
        return "…  # the row that was explained"
    if list(e.names) == [f"x{j}" for j in range(len(e.names))]:
        return _as_code(list(e.data))
    return _as_code(dict(zip(e.names, e.data, strict=True)))


def _target(target: Any) -> str:
    return f", target={_as_code(target)}"


def _seed(seed: int) -> str:
    return f"random_state={seed}"


def _link(link: Logit | None) -> str:
    if link is None:
        return ""
    return ', link="logit"' if link == Logit() else f", link=eagle.Logit({link.clip!r})"


def _as_code(value: Any) -> str:
    """A value as code, in ASCII."""
    if isinstance(value, list | tuple):
        inner = ", ".join(_as_code(part) for part in value)
        if isinstance(value, tuple):
            return f"({inner}{',' if len(value) == 1 else ''})"
        return f"[{inner}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_as_code(k)}: {_as_code(v)}" for k, v in value.items()) + "}"
    return ascii(value.item() if isinstance(value, np.generic) else value)
