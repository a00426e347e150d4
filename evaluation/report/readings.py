"""Passages of the paper with several readings: what we do, and what the runs show."""

from __future__ import annotations

import numpy as np

from evaluation.report import paper
from evaluation.report.crossover import RIVAL
from evaluation.report.curves import dimension
from evaluation.report.page import Page, number
from evaluation.report.records import BALANCED, PRINTED, Records, mean
from evaluation.report.segments import cuts, verdict
from evaluation.report.stability import row
from evaluation.sampling import crossover as first_reached


def readings(pages: dict[str, Records]) -> Page:
    """The table of readings. Its numbers come from the records of the other pages."""
    page = Page("readings", "Readings: where the paper is open, and what the runs say")
    page.say(
        "The method of the paper leaves some things open, and some contradict others. Each line "
        "says what `EAGLE` does, what the paper mode (`EAGLE (paper)`) does, and which figure "
        "of these runs bears on it."
    )
    page.table(["", "open or contradictory", "`EAGLE`", "paper mode", "what the runs say"],
               [[f"A{k}", *line] for k, line in enumerate(_lines(pages), 1)])  # fmt: skip
    return page


def _lines(pages: dict[str, Records]) -> list[tuple[str, str, str, str]]:
    one, two, prior = (pages.get(n) for n in ("table1", "figure2", "figure3-prior"))
    shrunk = _both(one, "to_lime")
    stable = _both(one, "stability")
    return [
        ("prior I or λ = d", "λ = 1", "λ = d", f"agreement with LIME's limit {shrunk}"),
        ("s² with λ ≠ 1", "contains λφ̂ᵀφ̂", "the same", "a test against the explicit formula"),
        ("s² or s²/N", "σ̂² = (n₀σ₀² + s²)/(n₀ + N)", "the same",
         f"coverage {_both(one, 'covered')}"),
        ("n₀, σ₀²", "n₀ → 0", "the same", "exposed; no run varies it"),
        ("theorem 3's constants", "corrected, exact", "the same", "a test against simulation"),
        ("does the choice use answers?", "no: planned, one call", "the same", _calls(one)),
        ("predictive variance, or π zᵀVz", "the formula", "the formula", "the same picks"),
        ("theorem 2's weights", "noise σ²/π", "the same", _link(pages, "bounds", "bounds")),
        ("is z centred on the instance?", "match indicators", "match indicators", "–"),
        ("is there an intercept, and is it shrunk?", "free", "shrunk by λ = d",
         f"stability {stable}, agreement {shrunk}"),
        ("the law of tabular rows", "LIME's bins", "LIME's bins", "–"),
        ("the kernel", "exp(−D²/2w²), w = 0.75√d; masks: cosine 0.25", "the same", "–"),
        ("top-B or greedy", "greedy in the batch", "top-B under a frozen V", _efficiency(two)),
        ("repeats", "rows once, with their weight", "the same", "rows below the budget in table 1"),
        ("another target than LIME's", "reported", "reported", f"own limit {_both(one, 'to_own')}, "
         f"LIME's {shrunk}"),
        ("D-efficiency against λ", "V₀ = I/λ", "V₀ = I/λ", _prior(prior)),
        ("D = d or d + 1; CIG is the same curve", "d + 1", "d + 1", "one curve in figure 2"),
        ("AUCC", "mean height by the trapezoid rule", "the same",
         _link(pages, "figure2", "figure 2")),
        ("CCM's persistence, runs, self-pairs", "0.2, no self-pairs", "the same", "tables 1, 2"),
        ("DLIME's and other odd rows", "DLIME is certain: 1.000", "–", _certain(one)),
        ("what was timed", "closed forms, equal rows", "the same",
         _link(pages, "table3", "table 3")),
        ("unequal budgets", "all rows counted", "–", "columns rows and calls"),
        ("a label or a probability", "probability of the predicted class", "the same", "–"),
        ("texts", "LIME's words, cosine 0.25", "the same", _link(pages, "texts", "texts")),
        ("descriptions of GLIME and US-LIME", "as published by their authors", "–", "–"),
        ("do tighter intervals cover?", "measured", "measured",
         f"coverage of their own limit {_both(one, 'covered')}, of LIME's "
         f"{_both(one, 'covered_lime')}"),
        ("chance in seeds and pools", "seeds differ for each run", "the same",
         "a fixed seed repeats exactly: stability 1 by construction, so never measured so"),
        ("how many segments an image has", "as many as the paper says, about", "the same",
         _cut(pages.get("mnist-segments"), pages.get("table2"))),
        (f"how far {RIVAL} is focused", "10 of pools of 1,000, by its softmax", "–",
         _focus(pages.get("table2"))),
    ]  # fmt: skip


def _cut(digits: Records | None, photographs: Records | None) -> str:
    """D-efficiency of the rival beside the paper's, and whether stability fits as well."""
    said = []
    if photographs is not None and "photos" in photographs.problems():
        own = _end(photographs, "photos", RIVAL)
        d = dimension(photographs, "photos")
        said.append(
            f"{RIVAL}'s D-efficiency on photographs is {number(own, 2)} at d = {d:.1f} (paper "
            f"{paper.CROSSOVER['photos'][0]})"
        )
    if digits is not None:
        (problem,) = digits.problems()
        said.append(f"MNIST: {verdict(cuts(digits, problem), problem)} [More](mnist-segments.md)")
    return "; ".join(said) or "–"


def _focus(records: Records | None) -> str:
    """The rival's D-efficiency in the paper and here, and that of rows not chosen by it."""
    if records is None:
        return "–"
    ends, rows = [], []
    for p in records.problems():
        own, unfocused = (number(_end(records, p, m), 2) for m in (RIVAL, BALANCED))
        theirs = paper.CROSSOVER[p]
        ends.append(f"{paper.SETS[p]} {theirs[0]}, {own}, {unfocused}")
        needed = (number(_rows(records, p, m), 0) for m in (RIVAL, BALANCED))
        rows.append(f"{paper.SETS[p]} {theirs[1]}, {', '.join(needed)}")
    return (
        f"D-efficiency of {RIVAL} in the paper, of {RIVAL} here, and of balanced rows, which are "
        f"not focused: {'; '.join(ends)}. Rows at which EAGLE reaches it, in the paper, of "
        f"{RIVAL}'s here, and of balanced rows': {'; '.join(rows)}. Where the paper's figure is "
        f"nearest to the last, its {RIVAL} learnt what rows without focus teach"
    )


def _rows(records: Records, problem: str, rival: str) -> float:
    """The mean number of rows at which EAGLE as printed has a method's D-efficiency."""
    ours, theirs = (records.curves(problem, m, "d_efficiency") for m in (PRINTED, rival))
    if ours is None or theirs is None:
        return float("nan")
    return mean(list(first_reached(ours[1], ours[0], theirs[1][:, -1])))[0]


def _end(records: Records, problem: str, method: str) -> float:
    """The mean D-efficiency of all rows."""
    curve = records.curves(problem, method, "d_efficiency")
    return float("nan") if curve is None else float(curve[1][:, -1].mean())


def _link(pages: dict[str, Records], name: str, title: str) -> str:
    """A link to a page made from these records, or a dash."""
    return f"[{title}]({name}.md)" if name in pages else "–"


def _mean(records: Records | None, method: str, name: str) -> float:
    if records is None:
        return float("nan")
    values = []
    for problem in records.problems():
        if method in records.methods(problem):
            value = getattr(row(records, problem, method), name)[0]
            values.append(value)
    there = [v for v in values if np.isfinite(v)]
    return float(np.mean(there)) if there else float("nan")


def _both(records: Records | None, name: str) -> str:
    ours, printed = (number(_mean(records, method, name)) for method in ("EAGLE", PRINTED))
    return f"{ours} (paper mode {printed})"


def _calls(records: Records | None) -> str:
    if records is None:
        return "–"
    calls = [np.mean([r["calls"] for r in records.each if r["method"] == m and r["options"] == "{}"
                      and r["budget"] == records.budget]) for m in (PRINTED, RIVAL)]  # fmt: skip
    return f"{calls[0]:.0f} call an explanation; {RIVAL} {calls[1]:.0f}"


def _efficiency(records: Records | None) -> str:
    if records is None:
        return "–"
    ends = {}
    for method in ("EAGLE", PRINTED):
        curves = [records.curves(p, method, "d_efficiency") for p in records.problems()]
        ends[method] = [float(c[1][:, -1].mean()) for c in curves if c is not None]
    if not ends["EAGLE"]:
        return "–"
    ratio = float(np.mean(np.array(ends["EAGLE"]) / np.array(ends[PRINTED])))
    return f"D-efficiency of `EAGLE` is {ratio:.2f} of paper mode's, prior included"


def _prior(records: Records | None) -> str:
    return "–" if records is None else "[falls with λ, unless V₀ = I is kept](figure3-prior.md)"


def _certain(records: Records | None) -> str:
    return (
        f"stability {number(_mean(records, 'DLIME', 'stability'))}, agreement with LIME's limit "
        + (number(_mean(records, "DLIME", "to_lime")))
    )
