"""The same row by several methods, several times each."""

from __future__ import annotations

from asyncio import to_thread
from functools import partial
from importlib.util import find_spec
from typing import Any, Final

from eagle._engine.foreign import ForeignMethod
from eagle._engine.targets import Target
from eagle._values.text import short, short_repr
from eagle.comparison import Compared, Comparison, compare_methods
from eagle.display.numbers import count, seconds, share
from eagle.errors import InputError
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.web.explain import subject_of
from eagle.web.payload import finite_or_none, payload
from eagle.web.requests import Run
from eagle.web.state import State
from eagle.web.worker import Job

CONVERGED_ROWS: Final = 5000
"""The rows of the converged explanation that methods are compared with."""

OFFERED: Final[dict[str, str]] = {
    "default": "default",
    "EAGLE": "eagle",
    "EAGLE (paper)": "eagle-paper",
    "LIME": "lime",
    "BayLIME": "baylime",
    "GLIME": "glime",
    "BayesLIME": "bayeslime",
    "DLIME": "dlime-nearest",
    "Tilia": "tilia",
    "Kernel SHAP": "shap-kernel",
}
"""Methods that can be compared on the page, by the names that the page shows."""


def fitting_methods(explainer: Explainer | None) -> list[str]:
    """The names of the methods that fit here."""
    if explainer is None or not explainer.has_model:
        return []
    return [name for name, method in OFFERED.items() if _fits(explainer, method)]


def _fits(explainer: Explainer, method: str) -> bool:
    try:
        chosen = explainer.with_options(method).method
    except InputError:
        return False
    return not isinstance(chosen, ForeignMethod) or find_spec("shap") is not None


async def run_compare(state: State, job: Job, request: Run) -> dict[str, Any]:
    names = list(dict.fromkeys(request.methods)) or ["default", "LIME"]
    for name in names:
        if name not in OFFERED:
            raise InputError(f"there is no method {short_repr(name)} on this page")
    x, target = subject_of(state, request)
    row = (request.row, request.edits_key, request.target, request.against)
    key = ("compared", *row, tuple(names), request.runs, request.converged)
    done: Comparison | None = state.result(key)
    if done is None:
        ask = partial(_compare, state, job, request, names, x, target)
        done = state.keep(key, await state.worker.do(job, ask))
    return await to_thread(comparison_payload, done, names)


def _compare(
    state: State, job: Job, request: Run, names: list[str], x: Any, target: Target
) -> Comparison:
    explainer = state.asking()
    done: list[Compared] = []
    truth: Explanation | None = None
    if request.converged:
        job.progress("converging", 0, len(names) + 1)
        ready = explainer.with_options("lime", budget=CONVERGED_ROWS)
        truth = ready.explain(x, target, limit=state.limit_left(), progress=False)
        target = truth.target
    for k, name in enumerate(names):
        job.progress(name, k, len(names))
        limit = state.limit_left()
        method, runs = [OFFERED[name]], request.runs
        one = compare_methods(
            explainer, method, x, runs, target=target, limit=limit, progress=False
        )
        target = one.methods[0].first.target
        done.append(Compared(one.methods[0].runs, one.k, truth))
    return Comparison(tuple(done), done[0].k, truth)


def _labels(c: Comparison) -> tuple[str, ...]:
    """What scores are about; by the features' names where only some methods' are slopes."""
    slopes = any(any(m.first.slopes) for m in c.methods)
    return c.labels if slopes else c.methods[0].first.conditions


def comparison_payload(c: Comparison, names: list[str]) -> dict[str, Any]:
    """A comparison as plain data."""
    return {
        "title": c.title,
        "k": c.k,
        "chance": finite_or_none(c.chance),
        "chance_text": share(c.chance),
        "order": c.order(),
        "features": [short(name, 160) for name in _labels(c)],
        "methods": [
            {
                "name": name,
                "costs": [count(m.rows), count(m.calls), seconds(m.seconds)],
                "shares": [
                    {"value": finite_or_none(v), "text": share(v)}
                    for v in (m.stability, m.agreement)
                ],
                "explanation": payload(m.first, words=False),
            }
            for name, m in zip(names, c.methods, strict=True)
        ],
    }
