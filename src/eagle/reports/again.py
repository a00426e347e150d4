"""The lines of code that make a result again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from eagle import methods
from eagle.engine.method import Method
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations
from eagle.foreign import Foreign
from eagle.link import Logit
from eagle.misfit import Misfit
from eagle.reports.about import About
from eagle.subject import Curves, Image, Passage
from eagle.surrogate.reweighted import Reweighted
from eagle.survey.survey import METHOD, Survey

COLUMNS: Final = 60
"""Maximum number of values of a row that are written into the code."""

WIDE: Final = 74
"""Approximate length of a line of code."""

OUTPUTS: Final = 20
"""Maximum number of output names that are written into the code."""


def one(e: Explanation, about: About) -> str:
    """Code that makes one explanation again."""
    target = _target(e.target)
    if e.method == METHOD:
        return _lines(
            "import eagle",
            "",
            *_survey(about, e, _shared(e)),
            f"x = {_row(e)}",
            f"explanation = survey.explain(x{target})",
        )
    if _method(e.method) is None:
        return ""
    return _lines(
        "import eagle",
        "",
        "# model: what was explained; data: what it was explained over",
        *_explainer(e, about),
        f"x = {_row(e)}",
        f"explanation = explainer.explain(x{target})",
        *_stopped(e),
    )


def many(e: Explanations, about: About) -> str:
    """Code that makes many explanations again."""
    target = _target(e.about[0]) if len(e.about) == 1 else ""
    if e.method == METHOD:
        return _lines(
            "import eagle",
            "",
            *_survey(about, e, _shared(e[0])),
            f"explanations = survey.explain_many(rows{target})  # rows: the table explained",
        )
    if _method(e.method) is None:
        return ""
    return _lines(
        "import eagle",
        "",
        "# model: what was explained; data: what it was explained over; rows: what was explained",
        *_explainer(e[0], about),
        f"explanations = explainer.explain_many(rows{target})",
        *_stopped(e[0]),
    )


def survey(s: Survey) -> str:
    """Code that makes a survey again, and uses it."""
    link = s.setting.ask.box.link
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
    return "\n".join(folded for line in lines for folded in _folded(line))


def _folded(line: str) -> list[str]:
    out = [""]
    for part in line.split(", "):
        if out[-1] and len(out[-1]) + len(part) > WIDE:
            out[-1] += ","
            out.append(f"    {part}")
        else:
            out[-1] += f", {part}" if out[-1] else part
    return out


def _stopped(e: Explanation) -> Iterable[str]:
    if e.bill.stopped:
        yield "# it stopped by a rule: give explain the same until=…"


def _survey(about: About, e: Explanation | Explanations, rows: int) -> Iterable[str]:
    given = about.made_by.rows if isinstance(about.made_by, Survey) else rows
    named = ", ".join(["model", "data", *_outputs(e.task, e.outputs), _seed(e.seed)])
    yield "# model: what was asked; data: what it was asked over"
    yield f"explainer = eagle.Explainer({named}{_link(e.link)})"
    yield f"survey = explainer.survey({f'rows={given}' if given else ''})"


def _shared(e: Explanation) -> int:
    return e.surrogate.evenness.rows if isinstance(e.surrogate, Reweighted) else 0


def _explainer(e: Explanation, about: About) -> Iterable[str]:
    """The line that makes the explainer, and a remark where two methods are possible."""
    parts = ["model", _data(e)]
    if _misfit(e) is not None and not _parts(e) and not _binned(e):
        parts.append('view="continuous"')
    made = about.made_by
    rows = made.budget if isinstance(made, Explainer) else int(e.evidence.often.sum())
    default = _is_default(e, about, rows)
    if not default:
        parts.append(f"method=eagle.methods.{_method(e.method)}")
    if rows > 1:
        parts.append(f"budget={rows}")
    parts += [*_outputs(e.task, e.outputs), _seed(e.seed)]
    yield f"explainer = eagle.Explainer({', '.join(parts)}{_link(e.link)})"
    if default and not isinstance(made, Explainer):
        yield f"# or with method=eagle.methods.{_method(e.method)}, if it was named then"


def _is_default(e: Explanation, about: About, rows: int) -> bool:
    """Whether the default method was taken, or may have been."""
    if isinstance(about.made_by, Explainer):
        return about.made_by.method is methods.DEFAULT
    return methods.DEFAULT.pick(len(e.names), _parts(e), rows, False).name == e.method


def _outputs(task: str, outputs: tuple[Any, ...]) -> list[str]:
    if task != "classification" or len(outputs) > OUTPUTS:
        return []
    return [f"outputs={_written(list(outputs))}"]


def _data(e: Explanation) -> str:
    if isinstance(e.subject, Image):
        return "eagle.Images(…)"
    if isinstance(e.subject, Passage):
        return "eagle.Prompt(…)" if e.subject.labels else "eagle.Texts(…)"
    if isinstance(e.subject, Curves):
        return "eagle.Series(…)"
    return "eagle.Parts(…)" if _parts(e) else "data"


def _misfit(e: Explanation) -> Misfit | None:
    """What the line misses, if there are rows to tell."""
    return e.misfit if len(e.evidence.features) > 1 else None


def _parts(e: Explanation) -> bool:
    misfit = _misfit(e)
    return e.subject is not None or (misfit is not None and misfit.masks)


def _binned(e: Explanation) -> bool:
    return bool((e.evidence.features[0] == 1).all())


def _method(name: str) -> str | None:
    """The name of a method in `eagle.methods`."""
    named = {m.name: key for key, m in vars(methods).items() if isinstance(m, Method | Foreign)}
    return named.get(name)


def _row(e: Explanation) -> str:
    """The row that was explained, as code."""
    if e.subject is not None or _parts(e):
        return "…  # what was explained"
    plain = all(v is None or isinstance(v, bool | int | float | str) for v in e.data)
    if len(e.names) > COLUMNS or not plain:
        return "…  # the row that was explained"
    if list(e.names) == [f"x{j}" for j in range(len(e.names))]:
        return _written(list(e.data))
    return _written(dict(zip(e.names, e.data, strict=True)))


def _target(target: Any) -> str:
    return f", target={_written(target)}"


def _seed(seed: int) -> str:
    return f"random_state={seed}"


def _link(link: Logit | None) -> str:
    if link is None:
        return ""
    return ', link="logit"' if link == Logit() else f", link=eagle.Logit({link.clip!r})"


def _written(value: Any) -> str:
    """A value as code, in ASCII."""
    if isinstance(value, list | tuple):
        inner = ", ".join(_written(part) for part in value)
        if isinstance(value, tuple):
            return f"({inner}{',' if len(value) == 1 else ''})"
        return f"[{inner}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_written(k)}: {_written(v)}" for k, v in value.items()) + "}"
    return ascii(value.item() if isinstance(value, np.generic) else value)
