"""How many segments a digit has: which number fits the paper's figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from eagle.metrics.stability import chance, jaccard
from evaluation.consistency import consistency
from evaluation.report import paper
from evaluation.report.crossover import RIVAL
from evaluation.report.page import Page, listed, number, spread
from evaluation.report.records import PRINTED, Records, mean
from evaluation.report.stability import TOP
from evaluation.sampling import crossover as first_reached

Pair = tuple[float, float]
"""A mean and its standard error."""


@final
@dataclass(frozen=True)
class Cut:
    """An image in about so many segments: figures of the methods, means over predictions.

    `efficiency` is BayesLIME's D-efficiency in the end, `rows` those at which EAGLE as printed has
    as much, `settled` BayesLIME's CCM, and `stable` has the stability of each method.
    """

    asked: int
    d: float
    chance: float
    efficiency: Pair
    rows: float
    settled: float
    stable: dict[str, Pair]

    def apart(self, problem: str) -> float:
        """The mean distance of stability from the paper's, over methods that it has."""
        return mean(
            [
                abs(value[0] - said)
                for method, value in self.stable.items()
                if (said := paper.stability(method, problem)) is not None
            ]
        )[0]


def cut(records: Records, problem: str, asked: int) -> Cut | None:
    """The figures for a number of segments, or None without records of it."""
    option = {"segments": asked}
    theirs, ours = (records.curves(problem, m, "d_efficiency", **option) for m in (RIVAL, PRINTED))
    if theirs is None or ours is None:
        return None
    level = theirs[1][:, -1]
    stable, settled = {}, []
    for method in records.methods(problem):
        values = []
        for i in records.instances(problem):
            scores = records.scores(problem, method, i, **option)
            if scores is not None and len(scores) > 1:
                values.append(jaccard(scores, TOP))
                settled += [consistency(scores)] if method == RIVAL else []
        stable[method] = mean(values)
    sizes = [
        int(r["d"])
        for i in records.instances(problem)
        for r in records.runs(problem, RIVAL, i, **option)
    ]
    return Cut(
        asked,
        float(np.mean(sizes)),
        float(np.mean([chance(d, TOP) for d in sizes])),
        mean(list(level)),
        mean(list(first_reached(ours[1], ours[0], level)))[0],
        mean(settled)[0],
        stable,
    )


def cuts(records: Records, problem: str) -> list[Cut]:
    """All numbers of segments that have records."""
    every = (cut(records, problem, int(n)) for n in records.experiment.sweep["segments"])
    return [c for c in every if c is not None]


def segments(records: Records) -> Page:
    """The page."""
    page = Page(records.experiment.name, records.experiment.title)
    problem = records.problems()[0]
    said = paper.CROSSOVER[problem]
    page.say(
        f"The paper cuts a digit into 20 segments, and says that {RIVAL} has a D-efficiency of "
        f"{said[0]} at {records.budget} rows. With λ = d that is what more segments have. If the "
        "paper's digits had more than 20, its other figures should fit, too: here the same "
        "predictions are explained with the segments asked for varied, "
        f"{len(records.instances(problem))} predictions, {records.experiment.runs} runs each. "
        f"*Rows* are those at which EAGLE as printed has {RIVAL}'s D-efficiency; columns of "
        f"methods are the stability of the {TOP} strongest segments; *apart* is its mean distance "
        "from the paper's."
    )
    known = cuts(records, problem)
    methods = records.methods(problem)
    lines = [
        [
            "paper",
            "20",
            "–",
            number(said[0]),
            str(said[1]),
            number(said[2]),
            *[number(paper.stability(m, problem)) for m in methods],
            "–",
        ]
    ]
    for c in known:
        lines.append(
            [
                str(c.asked),
                number(c.d, 1),
                number(c.chance),
                spread(*c.efficiency, 2),
                number(c.rows, 0),
                number(c.settled),
                *[spread(*c.stable[m]) for m in methods],
                number(c.apart(problem)),
            ]
        )
    head = ["segments asked", "d", "chance", f"D-efficiency of {RIVAL}", "rows", f"CCM of {RIVAL}"]
    page.table([*head, *methods, "apart"], lines)
    page.say(f"Verdict: {verdict(known, problem)}")
    return page


def verdict(known: list[Cut], problem: str) -> str:
    """Which number of segments fits the paper's D-efficiency, and which its stability."""
    said = paper.CROSSOVER[problem][0]
    informed = min(known, key=lambda c: abs(c.efficiency[0] - said))
    settled = min(known, key=lambda c: c.apart(problem))
    few = min(known, key=lambda c: c.asked)
    text = (
        f"the paper's D-efficiency of {said} fits {informed.asked} segments "
        f"({informed.efficiency[0]:.2f} at d = {informed.d:.1f}) rather than {few.asked} "
        f"({few.efficiency[0]:.2f}); its stability fits {settled.asked} best "
        f"({settled.apart(problem):.3f} apart in the mean"
    )
    others = [f"{c.apart(problem):.3f} with {c.asked}" for c in known if c is not settled]
    text += f", {listed(others)})" if others else ")"
    bar, own = paper.stability(PRINTED, problem), informed.stable[PRINTED]
    assert bar is not None
    near = "is" if abs(own[0] - bar) <= 2 * own[1] else "is not"
    text += (
        f". With {informed.asked} segments EAGLE as printed has a stability of {spread(*own)}, "
        f"with {few.asked} {spread(*few.stable[PRINTED])}; the paper's {bar} {near} within two "
        "standard errors of the first"
    )
    return f"{text}. {_rest(informed, problem, bar)}"


def _rest(cut: Cut, problem: str, bar: float) -> str:
    """What that number of segments has beside other figures of the paper."""
    lime, (_, rows, settled, *_) = paper.stability("LIME", problem), paper.CROSSOVER[problem]
    assert lime is not None
    lead = cut.stable[PRINTED][0] - cut.stable["LIME"][0]
    return (
        f"With {cut.asked} segments and in the paper: EAGLE is before LIME by {lead:+.3f} and "
        f"{bar - lime:+.3f}, {RIVAL}'s CCM {number(cut.settled)} and {settled}, EAGLE's rows for "
        f"{RIVAL}'s D-efficiency {number(cut.rows, 0)} and {rows}."
    )
