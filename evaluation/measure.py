"""From a trial to its record: load the problem, explain, and collect the results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from eagle._values.ties import rank
from eagle.contracts import Need
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.surrogates.bayes import PAPER, BayesLinear, Prior, augment
from eagle.surrogates.robust import Robust
from eagle.until import Rule, Top, Width
from evaluation.contestants import CONTESTANTS, Contestant
from evaluation.problems.problem import Problem
from evaluation.problems.registry import PROBLEMS, UNDER, under
from evaluation.sampling import a_efficiency, d_efficiency
from evaluation.trial import Option, Record, Trial, versions

LEVEL: Final = 0.9
"""The level of the intervals in records, as in the paper's figures."""

SCORES: Final = 14
CURVES: Final = 10
"""Mantissa bits in records: scores to 3 parts in 100,000, curves and intervals to 5 in 10,000."""

STEP: Final = 10
"""The number of rows between two values of a curve: the paper's batch."""

FREE: Final = Prior()
"""A free intercept and λ = 1, for the information about the slopes alone."""

BARE: Final = "bare"
"""Not a method: one bare call of the model with the same number of rows, for times."""


@lru_cache(maxsize=2)
def load(name: str) -> Problem:
    """A problem, loaded once in each process."""
    data, _, box = name.partition(UNDER)
    if data not in PROBLEMS:
        raise InputError(f"there is no data set {data!r}: there are {', '.join(PROBLEMS)}")
    return under(PROBLEMS[data](), box) if box else PROBLEMS[data]()


def contestant(name: str) -> Contestant:
    if name not in CONTESTANTS:
        raise InputError(f"there is no method {name!r} here: there are {', '.join(CONTESTANTS)}")
    return CONTESTANTS[name]


def measure(trial: Trial) -> Record:
    """The record of a trial. Except for seconds it depends on the trial alone."""
    problem = load(trial.problem)
    x = problem.instance(trial.instance)
    if trial.method == BARE:
        return _bare(trial, problem, x)
    rival = contestant(trial.method)
    if Need.BINARY in rival.method.needs and problem.kind == "image":
        problem = _against_rest(problem, x)
    if Need.VALUES in rival.method.needs and {"curves", "ends", "theory", "priors"} & set(
        trial.keep
    ):
        raise InputError(
            f"{trial.method} is fitted on the values asked, not on features: there is no line "
            "whose rows could be measured"
        )
    asked: list[Any] = []
    if "inputs" in trial.keep:
        problem = _overheard(problem, asked)
    options = dict(trial.options)
    until, budget = _rule(options, trial.budget)
    explainer = rival.explainer(problem, options, budget, trial.seed)
    began = time.process_time()
    e = explainer.explain(x, problem.target, until=until, progress=False)
    taken = time.process_time() - began
    low, high = e.interval_or_nan(LEVEL).T
    record: Record = {
        **_named(trial),
        "d": len(e.names),
        "target": str(e.target),
        "prediction": _number(e.prediction),
        "signed": e.signed,
        "r2": _number(e.r2),
        "r2_held_out": _number(e.r2_held_out),
        "scores": _numbers(e.scores),
        "rows": e.cost.rows,
        "calls": e.cost.calls,
        "model_seconds": _number(e.cost.model_seconds),
        "own_seconds": _number(e.cost.own_seconds),
    }
    if trial.alone:
        record["cpu_seconds"] = _number(taken)
    if np.isfinite(low).any():
        record |= {"low": _numbers(low, CURVES), "high": _numbers(high, CURVES)}
    if asked:
        record["inputs"] = _numbers(np.concatenate(asked).ravel())
        record["answers"] = _numbers(e.evidence.answers[:, e.outputs.index(e.target)])
    for part in trial.keep:
        if part not in KEPT:
            raise InputError(f"a record cannot keep {part!r}: it can keep {', '.join(KEPT)}")
        record |= PARTS[part](e, trial) if part in PARTS else {}
    return record


RULES: Final[dict[str, Callable[[str], Rule]]] = {
    "top": lambda k: Top(int(k)),
    "width": lambda width: Width(float(width)),
}
ROWS: Final = "rows"


def _rule(options: dict[str, Option], budget: int) -> tuple[Rule | None, int]:
    """The stopping rule of the option `until`, which is removed, and the largest number of rows.

    The option is like "top 5" or "width 0.1"; "rows 500" is a fixed number of rows, not a rule.
    """
    if "until" not in options:
        return None, budget
    said = str(options.pop("until"))
    kind, _, value = said.partition(" ")
    try:
        return (None, int(value)) if kind == ROWS else (RULES[kind](value), budget)
    except (KeyError, ValueError):
        raise InputError(
            f"until must be one of {', '.join((*RULES, ROWS))} and a number, not {said!r}"
        ) from None


def _against_rest(problem: Problem, x: Any) -> Problem:
    """The problem with two classes only: the class predicted for x, and the rest."""
    place = int(np.argmax(problem.model.predict_proba(x[None])[0]))

    def model(X: Any) -> Any:
        p = np.asarray(problem.model.predict_proba(X))[:, place]
        return np.column_stack([1 - p, p])

    return replace(problem, model=model, outputs=("rest", "class"), target="class")


def _overheard(problem: Problem, asked: list[Any]) -> Problem:
    """The problem of a table classifier, with a model that records its inputs."""

    def model(X: Any) -> Any:
        asked.append(np.asarray(X, dtype=np.float64))
        return problem.model.predict_proba(X)

    classes = [c.item() for c in problem.model.classes_]
    return replace(problem, model=model, task="classification", outputs=classes)


def _named(trial: Trial) -> Record:
    return {
        "key": trial.key,
        "problem": trial.problem,
        "instance": trial.instance,
        "method": trial.method,
        "budget": trial.budget,
        "run": trial.run,
        "options": json.dumps(dict(trial.options), sort_keys=True),
        "seed": trial.seed,
        "keep": " ".join(trial.keep),
        "alone": trial.alone,
        "versions": versions(),
        **({"chance": trial.chance} if trial.chance else {}),
    }


def _bare(trial: Trial, problem: Problem, x: Any) -> Record:
    """One call of the model, with the rows that LIME would ask."""
    plan = CONTESTANTS["LIME"].explainer(problem, {}, trial.budget, trial.seed).plan(x)
    began, clock = time.process_time(), time.perf_counter()
    problem.model.predict_proba(plan.inputs)
    taken, waited = time.process_time() - began, time.perf_counter() - clock
    return {
        **_named(trial),
        "rows": len(plan.inputs),
        "calls": 1,
        "model_seconds": _number(waited),
        "own_seconds": 0.0,
        "cpu_seconds": _number(taken),
    }


def budgets(rows: int) -> list[int]:
    """The numbers of rows at which ranks are recorded."""
    return [*range(STEP, rows + 1, STEP)] or [rows]


def lengths(rows: int) -> list[int]:
    """The numbers of rows at which curves have a value; the last is all rows."""
    return [*range(STEP, rows, STEP), rows]


def _ends(e: Explanation, trial: Trial) -> Record:
    """The D-efficiency of all rows, a curve of one value."""
    features, weight = e.evidence.features, e.evidence.weight
    at = d_efficiency(features, weight, _prior(e, trial), [len(features)])
    return {"d_efficiency": _numbers(at, CURVES)}


def _prior(e: Explanation, trial: Trial) -> Prior:
    """The paper's prior, or the one that the trial varies."""
    ratio = dict(trial.options).get("precision")
    return PAPER if ratio is None else Prior(float(ratio) * len(e.names), None)


def _curves(e: Explanation, trial: Trial) -> Record:
    """The information in the rows, without answers: as in the paper, and for the slopes alone."""
    features, weight = e.evidence.features, e.evidence.weight
    at, prior = lengths(len(features)), _prior(e, trial)
    return {
        "d_efficiency": _numbers(d_efficiency(features, weight, prior, at), CURVES),
        "a_efficiency": _numbers(a_efficiency(features, weight, prior, at), CURVES),
        "slope_efficiency": _numbers(d_efficiency(features, weight, FREE, at, slopes=True), CURVES),
    }


def _ranks(e: Explanation, trial: Trial) -> Record:
    """Signs and ranks of the features at each length, as consistency needs them.

    The strongest of d features has d, the weakest 1, with the sign of its score.
    """
    at = budgets(len(e.evidence.features))
    scores = np.array([e.fit_to_first(n).scores for n in at])
    order = rank(np.abs(scores))
    places = np.empty(scores.shape, dtype=np.intp)
    np.put_along_axis(places, order, np.arange(scores.shape[1], 0, -1)[None], axis=1)
    return {"ranks": [int(r) for r in (np.sign(scores) * places).ravel()]}


def _theory(e: Explanation, trial: Trial) -> Record:
    """What lemma 1 and theorem 2 bound, at each length, for λ = d on every coefficient.

    `gathered` is the sum of π zᵀVz (lemma 1). Where the model is a line, `error` is ‖φ̂ − φ*‖ and
    `allowed` is its bound by theorem 2 without noise: √λ‖φ*‖ over the root of the least
    eigenvalue of V⁻¹. `largest` is the largest ‖z‖.
    """
    z, weight = augment(e.evidence.features), e.evidence.weight
    y = e.evidence.answers[:, e.outputs.index(e.target)]
    root = np.sqrt(weight)[:, None]
    line = np.linalg.lstsq(root * z, root[:, 0] * y, rcond=None)[0]
    known = PAPER.information(len(e.names))
    reach = float(np.sqrt(line @ known.precision @ line))
    gathered, total, out = [], 0.0, []
    for n in range(len(z)):
        total += float(weight[n] * known.variance(z[n : n + 1])[0])
        known = known.add(z[n : n + 1], weight[n : n + 1])
        if (n + 1) % STEP == 0:
            moment = z[: n + 1].T @ (weight[: n + 1] * y[: n + 1])
            slopes = np.linalg.solve(known.precision, moment)
            least = float(np.linalg.eigvalsh(known.precision)[0])
            gathered.append(total)
            out.append([float(np.linalg.norm(slopes - line)), reach / np.sqrt(least)])
    errors = np.array(out)
    return {
        "gathered": _numbers(gathered),
        "error": _numbers(errors[:, 0]),
        "allowed": _numbers(errors[:, 1]),
        "largest": float(np.linalg.norm(z, axis=1).max()),
    }


PRIORS: Final = (1.0, 3.0, 10.0, 30.0, 100.0)
"""Prior precisions to try on balanced rows; the first is the default."""


def _priors(e: Explanation, trial: Trial) -> Record:
    """Scores and intervals from the same answers under priors of growing strength."""
    scores, low, high = [], [], []
    for prior in PRIORS:
        surrogate = Robust(BayesLinear(Prior(prior)), balanced=True)
        fit = replace(e, surrogate=surrogate).fit_to_first(len(e.evidence.features))
        assert fit.posterior is not None
        ends = fit.posterior.interval(LEVEL)
        scores.append(fit.scores)
        low.append(ends[:, 0])
        high.append(ends[:, 1])
    return {
        "prior_scores": _numbers(np.ravel(scores), CURVES),
        "prior_low": _numbers(np.ravel(low), CURVES),
        "prior_high": _numbers(np.ravel(high), CURVES),
    }


def _names(e: Explanation, trial: Trial) -> Record:
    """The names of the features."""
    return {"names": list(e.conditions)}


PARTS: Final = {
    "curves": _curves,
    "ends": _ends,
    "ranks": _ranks,
    "theory": _theory,
    "names": _names,
    "priors": _priors,
}
KEPT: Final = (*PARTS, "inputs")
"""The parts that a record can have besides scores, computed from the explanation."""

METRICS: Final[dict[str, str | None]] = {
    **dict.fromkeys(
        (
            "stability",
            "agreement",
            "error",
            "coverage",
            "width",
            "consistency",
            "fit",
            "rows",
            "calls",
            "seconds",
        )
    ),
    "D-efficiency": "ends",
    "D-efficiency by rows": "curves",
    "A-efficiency by rows": "curves",
    "consistency by rows": "ranks",
    "agreement by rows": "ranks",
    "bounds by rows": "theory",
    "attributions": "names",
    "points": "inputs",
    "stability by prior": "priors",
}
"""The metrics of experiments, each with the part of records that it needs."""


def _number(value: float) -> float:
    return _numbers([value])[0]


def _numbers(values: Any, bits: int = SCORES) -> list[float]:
    """Numbers in single precision, rounded to `bits` bits so that records stay small."""
    single = np.asarray(values, dtype=np.float32)
    drop = 23 - bits
    rounded = single.view(np.uint32) + np.uint32(1 << (drop - 1))
    kept = (rounded & np.uint32((0xFFFFFFFF << drop) & 0xFFFFFFFF)).view(np.float32)
    return [float(v) for v in np.where(np.isfinite(single), kept, single)]
