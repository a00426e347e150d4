"""Table 3: seconds against rows, compared with one bare call of the model."""

from __future__ import annotations

import numpy as np

from evaluation.measure import BARE
from evaluation.report import paper
from evaluation.report.page import Page, number
from evaluation.report.records import Records
from evaluation.trial import Record


def runtime(records: Records) -> Page:
    """The page of table 3."""
    page = Page("table3", records.experiment.title)
    at = records.experiment.budgets
    page.say(
        "Processor seconds of one explanation on COMPAS, on one thread: the median, and the "
        f"largest in brackets, over {records.experiment.instances} predictions, "
        f"{records.experiment.runs} runs each. Each explanation plans afresh; the first of a "
        "method loads what it needs. *× "
        "bare* is the ratio to one call of the model with as many rows, which no method can beat; "
        "*rows* and *calls* are what the model was asked at the largest budget. The paper's "
        "seconds are from another machine (24 cores)."
    )
    bare = {n: _seconds(_records(records, BARE, n)) for n in at}
    rows = []
    for method in records.methods("compas"):
        printed = paper.SECONDS.get(method)
        cells = []
        for n in at:
            seconds = _seconds(_records(records, method, n))
            most = seconds.max(initial=0.0)
            cells.append(f"{np.median(seconds):.3f} ({most:.3f})" if len(seconds) else "–")
        last = _records(records, method, at[-1])
        seconds = _seconds(last)
        base = bare[at[-1]]
        there = len(seconds) and len(base)
        ratio = float(np.median(seconds) / np.median(base)) if there else float("nan")
        rows.append(
            [
                method,
                *cells,
                number(ratio, 2),
                *[
                    number(np.mean([r[k] for r in last]) if last else None, 0)
                    for k in ("rows", "calls")
                ],
                "–" if printed is None else " / ".join(f"{v:g}" for v in printed),
            ]
        )
    head = [
        "method",
        *[f"N = {n}" for n in at],
        "× bare",
        "rows",
        "calls",
        f"paper, N = {' / '.join(map(str, paper.BUDGETS))}",
    ]
    page.table(head, rows)
    page.say(_verdict(records))
    return page


def seconds(records: Records) -> Page:
    """The page of table 2's last columns."""
    page = Page("table2-seconds", records.experiment.title)
    page.say(
        f"Processor seconds of one explanation from {records.budget} rows, on one thread, the "
        f"median over {records.predictions()}, {records.experiment.runs} runs each; *bare* is one "
        "call of the model with as many rows. The paper's seconds are from another machine and, "
        "for ImageNet, another network."
    )
    rows, ratios = [], []
    for problem in records.problems():
        taken = {
            m: float(np.median(_seconds(_all(records, problem, m))))
            for m in records.methods(problem)
        }
        printed = paper.CROSSOVER[problem]
        ratios.append(taken["EAGLE (paper)"] / taken["BayesLIME"])
        rows.append(
            [
                paper.SETS[problem],
                *[f"{s:.3f}" for s in taken.values()],
                f"{ratios[-1]:.2f}",
                f"{printed[4]:g}",
                f"{printed[5]:g}",
                f"{printed[5] / printed[4]:.2f}",
            ]
        )
    page.table(
        [
            "data set",
            *records.methods(records.problems()[0]),
            "EAGLE (paper) ÷ BayesLIME",
            "paper: BayesLIME",
            "paper: EAGLE",
            "paper: ratio",
        ],
        rows,
    )
    theirs = [paper.CROSSOVER[p][5] / paper.CROSSOVER[p][4] for p in records.problems()]
    page.say(
        f"Verdict: EAGLE as printed takes {min(ratios):.2f} to {max(ratios):.2f} of BayesLIME's "
        f"time; the paper has {min(theirs):.2f} to {max(theirs):.2f}."
    )
    return page


def _all(records: Records, problem: str, method: str) -> list[Record]:
    return [r for i in records.instances(problem) for r in records.runs(problem, method, i)]


def _records(records: Records, method: str, n: int) -> list[Record]:
    """The runs with exactly this many rows; at the largest budget, those with the most."""
    exact = n if n < max(records.experiment.budgets) else None
    if exact is not None and n > records.experiment.slower.get(method, n):
        return []
    return [
        r for i in records.instances("compas") for r in records.runs("compas", method, i, exact)
    ]


def _seconds(records: list[Record]) -> np.ndarray:
    return np.array([r["cpu_seconds"] for r in records])


def _verdict(records: Records) -> str:
    n = records.budget
    seconds = {m: _seconds(_records(records, m, n)) for m in records.methods("compas")}
    if not all(len(seconds.get(m, ())) for m in ("BayesLIME", "EAGLE (paper)", "LIME")):
        return "Verdict: not all methods have been run yet."
    ours, rival, lime = (np.median(seconds[m]) for m in ("EAGLE (paper)", "BayesLIME", "LIME"))
    return (
        f"Verdict: the paper has EAGLE at 0.56 of BayesLIME's time and 72 times LIME's, with {n} "
        f"rows. Here it takes {ours / rival:.2f} of BayesLIME's and {ours / lime:.1f} times "
        "LIME's, because all its points are known before any answer: one call of the model where "
        "BayesLIME needs fifty."
    )
