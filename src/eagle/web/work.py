"""What the page does for a client, in a thread of its own. Each function asks only through the
room's gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle import methods
from eagle.comparison import Compared, Comparison, compare
from eagle.engine.method import Choice, Method
from eagle.engine.run import kept
from eagle.explainer import Explainer
from eagle.explanation import Explanation
from eagle.explanations import Explanations, spread_over
from eagle.foreign import Foreign
from eagle.statements import Means
from eagle.targets import Target, answers_of
from eagle.types import InputError, message_of, short
from eagle.until import Look, Rule, Sign, Top
from eagle.web import overview as many
from eagle.web.jobs import CURRENT, Job, Say
from eagle.web.payload import known, payload
from eagle.web.room import Room
from eagle.web.turns import Cancelled
from eagle.web.wishes import AboutFeature, AboutRow, Explain, ListRows, OpenRow, Predict, Run, Save

FROM_SURVEY: Final = 500
"""Number of rows, evenly spread, that are explained for the overview from a survey."""

NEARLY: Final = 1.25
"""If all rows are at most this many times that number, all are explained."""

ONE_BY_ONE: Final = 60
"""Number of rows explained without a survey: fewer, since each asks rows of its own."""

SURVEY: Final = 4096
"""The rows of a survey that is made on the page."""

CONVERGED: Final = 5000
"""The rows of the converged explanation that methods are compared with."""

STOPPED: Final = "you stopped it"

OFFERED: Final[dict[str, Method | Choice | Foreign]] = {
    "EAGLE": methods.DEFAULT,
    "EAGLE, as published": methods.EAGLE,
    "LIME": methods.LIME,
    "BayLIME": methods.BAYLIME,
    "GLIME": methods.GLIME,
    "BayesLIME": methods.BAYESLIME,
    "DLIME": methods.DLIME_NEAREST,
    "Tilia": methods.TILIA,
    "Kernel SHAP": methods.SHAP_KERNEL,
}
"""Methods that can be compared on the page, by the names it has for them."""


@final
@dataclass(frozen=True)
class Pressed(Rule):
    """Ask the whole plan, unless the client has pressed stop."""

    job: Job
    budget: int

    def met(self, look: Look) -> str | None:
        if self.job.stop.is_set():
            return STOPPED
        return "that is the whole plan" if look.rows >= self.budget else None

    def rows(self, look: Look) -> float:
        return self.budget


# -- rows ----------------------------------------------------------------------------------------


def listed(room: Room, wish: ListRows) -> dict[str, Any]:
    """A page of the list of rows, and how many fit the search. Nothing is asked."""
    try:
        fits, problem = room.shelf.search(wish.search), ""
    except InputError as error:  # as one types, most conditions are not finished
        fits, problem = np.empty(0, dtype=np.intp), message_of(error)
    target = room.target(wish.target, None)
    if wish.sort != "own":
        fits = _sorted(room, wish, fits, target)
    elif not wish.down:
        fits = fits[::-1]
    page = fits[wish.start : wish.start + wish.count].tolist()
    return {
        "total": len(fits),
        "about": _shown(room, target),
        "problem": problem,
        "start": wish.start,
        "rows": [
            {"row": i, "label": room.shelf.label(i), "prediction": _about(room, i, target)}
            for i in page
        ],
    }


def _sorted(room: Room, wish: ListRows, fits: NDArray[np.intp], target: Target) -> NDArray[np.intp]:
    """The rows by their predictions, which must be known."""
    if room.learnt < len(room.shelf):
        raise InputError("the predictions of all rows are not known yet")
    every = np.array([_about(room, i, target) for i in range(len(room.shelf))], dtype=np.float64)
    by = many.surprise(every) if wish.sort == "surprise" else every
    order = np.argsort(by[fits], kind="stable")
    return np.asarray(fits[order[::-1] if wish.down else order])


def _about(room: Room, i: int, target: Target) -> float | None:
    """What is known of the model's answer about row i: of the target, or of the default one."""
    answers = room.answer(i)
    if answers is None or room.outputs is None:
        return None
    if target is None and _largest(room):
        return float(answers.max())
    aim = _default(room.outputs) if target is None else target
    return known(answers_of(answers[None], room.outputs, aim)[0])


def _largest(room: Room) -> bool:
    """Whether the list shows the largest probability of each row, since no class is chosen."""
    return room.task == "classification" and room.outputs is not None and len(room.outputs) > 2


def _default(outputs: tuple[Any, ...]) -> Target:
    return outputs[-1] if len(outputs) == 2 else outputs[0]


def _shown(room: Room, target: Target) -> str:
    """What the numbers beside rows are."""
    if target is None and _largest(room):
        return "of its class"
    if target is None and room.outputs is not None:
        target = _default(room.outputs)
    return "" if target is None else f"of {short(str(target), 40)}"


def opened(room: Room, wish: OpenRow) -> dict[str, Any]:
    """A row's name and its values."""
    i = room.shelf.check(wish.row)
    return {"row": i, "label": room.shelf.label(i), "values": room.shelf.values(i)}


def predicted(room: Room, wish: Predict) -> dict[str, Any]:
    """Ask the predictions of some rows, or of all."""
    if not room.can:
        raise InputError("there is no model here to ask")
    wanted = range(len(room.shelf)) if wish.everything else wish.rows
    room.learn([room.shelf.check(i) for i in wanted])
    names = [short(str(name), 200) for name in room.outputs or ()]
    return {
        "predicted": room.learnt,
        "spent": room.spending.spent,
        "outputs": names,
        "task": room.task,
    }


# -- one row -------------------------------------------------------------------------------------


def at_once(room: Room, wish: Explain) -> dict[str, Any]:
    """An explanation from the survey. The model is asked for this row's prediction at most."""
    x = room.shelf.one(wish.row, wish.edits)
    target = room.target(wish.target, wish.against)
    answers = None
    if wish.ask and room.can:
        answers = room.own(wish.row) if not wish.edits else room.predict(x)[0]
    elif not wish.edits:
        answers = room.answer(wish.row)
    e = room.from_survey(x, target, answers)
    return {**payload(e, words=wish.words), "spent": room.spending.spent}


def explain_row(room: Room, wish: Run | Save, say: Say) -> Explanation:
    """An explanation by the explainer's own method; looks are said on the way."""
    explainer = _explainer(room)
    if wish.rows is not None:
        explainer = explainer.using(explainer.method, budget=wish.rows)
    x = room.shelf.one(wish.row, wish.edits)
    target = room.target(wish.target, wish.against)
    key = ("explained", *_key(wish), wish.rows, wish.until)
    done: Explanation | None = room.kept(key)
    if done is None:
        done = _asked(room, explainer, x, target, wish, say)
        if done.bill.stopped != STOPPED:
            room.keep(key, done)
    if not wish.edits:
        room.note(wish.row, done.evidence.answers[0])
    return done


def _asked(
    room: Room, explainer: Explainer, x: Any, target: Target, wish: Run | Save, say: Say
) -> Explanation:
    job, limit = CURRENT.get(), room.spending.left()

    def show(e: Explanation, rows: float) -> None:
        job.check()
        most = min(rows, float(explainer.budget))
        say("look", {**payload(e, words=False), "forecast": known(most)}, e.bill.rows)

    until = _until(wish, job, explainer.budget)
    try:
        return explainer.explain(x, target, until=until, limit=limit, progress=False, show=show)
    except InputError:
        # A method that cannot grow, or has no intervals to stop by, is asked as a whole.
        job.check()
        return explainer.explain(x, target, limit=limit, progress=False)


def _until(wish: Run | Save, job: Job, budget: int) -> Rule:
    rule: Rule = Pressed(job, budget)
    if wish.until == "top":
        rule = rule | Top(3)
    elif wish.until == "sign":
        rule = rule | Sign(k=5)
    return rule


def _key(wish: AboutRow) -> tuple[Any, ...]:
    return wish.row, tuple(sorted(wish.edits.items())), wish.target, wish.against


def _explainer(room: Room) -> Explainer:
    if room.explainer is None or not room.can:
        raise InputError("there is no model here to ask: only the survey explains")
    return room.explainer


def run_explain(room: Room, wish: Run, say: Say) -> None:
    e = explain_row(room, wish, say)
    say("done", {**payload(e), "spent": room.spending.spent}, e.bill.rows + 1)


def run_survey(room: Room, wish: Run, say: Say) -> None:
    """Make a survey, from which all rows are then explained."""
    explainer = _explainer(room)
    if room.survey is None:
        limit = room.spending.left()
        made = explainer.survey(wish.rows or SURVEY, limit=limit, progress=False)
        room.surveyed(made)
    assert room.survey is not None
    say("done", {"survey": {"rows": room.survey.rows}, "spent": room.spending.spent}, 1)


# -- all rows ------------------------------------------------------------------------------------


def run_overview(room: Room, wish: Run, say: Say) -> None:
    """Explain rows spread over the table, and say what they have in common."""
    e, rows, means = whole(room, wish, say)
    made = many.overview(e, rows, len(room.shelf), means)
    say("done", {**made, "spent": room.spending.spent}, len(e) + 1)


Overview: TypeAlias = tuple[Explanations, NDArray[np.intp], Means]
"""Explanations, the numbers of their rows, and how much each feature matters over them."""


def whole(room: Room, wish: Run | AboutFeature, say: Say | None = None) -> Overview:
    """Explanations of rows spread over the table, about one target, made once."""
    target = room.target(wish.target, wish.against)
    key = ("overview", wish.target, wish.against)
    wanted = wish.rows if isinstance(wish, Run) else None
    done: Overview | None = room.kept(key)
    if done is not None and (wanted is None or len(done[1]) == min(wanted, len(room.shelf))):
        return done
    if say is None:
        raise InputError("open «All rows» first: these rows are not explained yet")
    few = FROM_SURVEY if room.survey is not None else ONE_BY_ONE
    most = len(room.shelf) if len(room.shelf) <= NEARLY * few else few
    rows = spread_over(len(room.shelf), wanted or most)
    if len(rows) < 2:
        raise InputError("an overview needs at least two rows: give the page a table as X")
    e, rows = _whole(room, rows, target, say)
    say("progress", {"what": "weighing", "done": 0, "of": len(rows)}, len(rows))
    return room.keep(key, (e, rows, many.importance(e)))


def _whole(
    room: Room, rows: NDArray[np.intp], target: Target, say: Say
) -> tuple[Explanations, NDArray[np.intp]]:
    places = rows.tolist()
    X = room.shelf.some(places)
    job = CURRENT.get()
    job.hard = True
    if room.can:
        _learn(room, places, say)
    answers = [room.answer(i) for i in places]
    if room.survey is not None:
        aim = room.aimed(target, None)
        asked = [one for one in answers if one is not None]
        given = np.stack(asked) if len(asked) == len(answers) else None
        say("progress", {"what": "explaining", "done": 0, "of": len(rows)}, 1)
        made = room.survey.explain_many(X, aim, predictions=given, ask=False, progress=False)
        return made, rows
    return _one_by_one(room, X, room.aimed(target, answers[0]), rows, say)


def _learn(room: Room, places: list[int], say: Say) -> None:
    step = 500
    for start in range(0, len(places), step):
        room.learn(places[start : start + step])
        say("progress", {"what": "asking predictions", "done": start, "of": len(places)}, 0)


def _one_by_one(
    room: Room, X: Any, target: Target, rows: NDArray[np.intp], say: Say
) -> tuple[Explanations, NDArray[np.intp]]:
    explainer = _explainer(room)
    done: list[Explanation] = []
    try:
        for e in explainer.explain_each(X, target, limit=room.spending.left()):
            done.append(e)
            say("progress", {"what": "explaining", "done": len(done), "of": len(rows)}, len(done))
    except (Cancelled, Exception) as error:
        more = kept(error)
        done += [more[i] for i in sorted(more)]
        if CURRENT.get().gone.is_set() or len(done) < 2:
            raise
        rows = rows[: len(done)]
    return Explanations.of(done, [room.shelf.label(i) for i in rows.tolist()]), rows


def dependence(room: Room, wish: AboutFeature) -> dict[str, Any]:
    e, rows, _ = whole(room, wish)
    return many.dependence(e, rows, wish.feature, wish.other)


def cohorts(room: Room, wish: AboutFeature) -> dict[str, Any]:
    e, _, means = whole(room, wish)
    key = ("cohorts", wish.target, wish.against, wish.feature, len(e))
    return room.made(key, lambda: many.cohorts(e, wish.feature, means.order()))


# -- methods -------------------------------------------------------------------------------------


def offered(explainer: Explainer | None) -> list[str]:
    """The names of the methods that fit here."""
    if explainer is None or not explainer.asks:
        return []
    return [name for name, method in OFFERED.items() if _fits(explainer, method)]


def _fits(explainer: Explainer, method: Method | Choice | Foreign) -> bool:
    from importlib.util import find_spec

    if isinstance(method, Foreign) and find_spec("shap") is None:
        return False
    try:
        explainer.using(method)
    except InputError:
        return False
    return True


def run_compare(room: Room, wish: Run, say: Say) -> None:
    """The same row by several methods, several times each."""
    explainer = _explainer(room)
    chosen = wish.methods or ["EAGLE", "LIME"]
    for name in chosen:
        if name not in OFFERED:
            raise InputError(f"there is no method {name!r} on this page")
    x = room.shelf.one(wish.row, wish.edits)
    key = ("compared", *_key(wish), tuple(chosen), wish.runs, wish.converged)
    done = room.kept(key) or room.keep(key, _compared(room, explainer, x, wish, chosen, say))
    say("done", {**compared(done, chosen), "spent": room.spending.spent}, 10_000)


def _compared(
    room: Room, explainer: Explainer, x: Any, wish: Run, chosen: list[str], say: Say
) -> Comparison:
    job = CURRENT.get()
    job.hard = True
    target = room.target(wish.target, wish.against)
    made: list[Compared] = []
    truth: Explanation | None = None
    if wish.converged:
        say("progress", {"what": "converging", "done": 0, "of": len(chosen) + 1}, 0)
        limit = room.spending.left()
        truth = explainer.using(methods.LIME, budget=CONVERGED).explain(
            x, target, limit=limit, progress=False
        )
        target = truth.target
    for k, name in enumerate(chosen):
        say("progress", {"what": name, "done": k, "of": len(chosen)}, k + 1)
        one = compare(
            [OFFERED[name]],
            explainer,
            x,
            wish.runs,
            target=target,
            limit=room.spending.left(),
            progress=False,
        )
        target = one.methods[0].first.target
        made.append(Compared(one.methods[0].runs, one.k, truth))
    return Comparison(tuple(made), made[0].k, truth)


def compared(c: Comparison, names: list[str]) -> dict[str, Any]:
    """A comparison as plain data."""
    return {
        "title": c.title,
        "k": c.k,
        "chance": known(c.chance),
        "order": c.order(),
        "features": [short(name, 160) for name in c.methods[0].first.conditions],
        "methods": [
            {
                "name": name,
                "method": m.method,
                "rows": m.rows,
                "calls": m.calls,
                "seconds": m.seconds,
                "stability": known(m.stability),
                "agreement": known(m.agreement),
                "runs": len(m.runs),
                "explanation": payload(m.first, words=False),
            }
            for name, m in zip(names, c.methods, strict=True)
        ],
    }


RUNS: Final[dict[str, Callable[[Room, Run, Say], None]]] = {
    "explain": run_explain,
    "overview": run_overview,
    "compare": run_compare,
    "survey": run_survey,
}
