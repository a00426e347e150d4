"""How to read a report, in short and plain sentences."""

from __future__ import annotations

from eagle.explanation import Explanation
from eagle.plot.page import meaning, per_cent
from eagle.reports.parts import bullets, first_up


def of_one(e: Explanation, level: float) -> str:
    """How to read one explanation."""
    lines = [first_up(meaning([e])), *_ways(e.signed), *_intervals(e, level)]
    lines.append(
        "The scores describe the model near this one input. They do not say what would happen in "
        "the world if a feature changed, and they need not hold for other inputs."
    )
    return bullets(lines)


def of_many(signed: bool, known: bool, level: float, meant: str) -> str:
    """How to read what many explanations say."""
    lines = [first_up(meant), *_ways(signed)]
    lines.append("Importance is the mean size of a feature's score over the rows.")
    if signed:
        lines.append(
            "Effect is the mean score with its sign: a feature that pushes some rows up and others "
            "down can be important and have no effect on average."
        )
    lines.append("Top 3 is the share of rows in which the feature is among the three strongest.")
    if known:
        lines.append(
            f"Intervals hold with {per_cent(level)} for each number by itself. They count the "
            "error of the explanations, and that other rows could have been explained."
        )
    lines.append(
        "The scores describe the model, not the world: a feature that pushes the model's answer "
        "need not be a cause of what it predicts."
    )
    return bullets(lines)


def _ways(signed: bool) -> list[str]:
    if not signed:
        return [
            "Scores have no sign: they say how much a feature matters, not which way it pushes."
        ]
    return ["Blue, to the right, pushes the answer up; orange, to the left, pushes it down."]


def _intervals(e: Explanation, level: float) -> list[str]:
    if e.posterior is None:
        return ["This method gives no intervals, so it does not say how sure its scores are."]
    if e.posterior.kind == "exact":
        return ["Every input that can be made was asked, so the scores are exact."]
    out = [
        f"The line over a bar is its {per_cent(level)} interval: where the score would be if many "
        "more rows were asked. A bar is pale where the interval contains zero, so that even its "
        "direction is not sure."
    ]
    if e.signed:
        out.append("P(sign) is the probability that the score has the right sign.")
    return out
