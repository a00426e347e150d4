"""How to read a report, in short and plain sentences."""

from __future__ import annotations

from collections.abc import Iterable

from eagle._values.posterior import ALL_MASKS
from eagle.display.numbers import at_level
from eagle.display.parts import bullets, first_up
from eagle.display.sheet import ways
from eagle.explanation import Explanation
from eagle.plot.page import meaning


def of_one(e: Explanation, level: float) -> str:
    """How to read one explanation."""
    lines = [first_up(meaning([e])), *_ways(e.signed, e.slopes), *_intervals(e, level)]
    if e.additive:
        aim = "share out how far this prediction is from the average"
    else:
        aim = "describe the model near this one input"
    lines.append(
        f"The scores {aim}. They do not say what would happen in the world if a feature changed, "
        "and they need not hold for other inputs."
    )
    return bullets(lines)


def of_many(signed: bool, slopes: Iterable[bool], known: bool, level: float, meant: str) -> str:
    """How to read what many explanations say."""
    lines = [first_up(meant), *_ways(signed, slopes)]
    lines.append("Importance is the mean size of a feature's score over the rows.")
    if signed:
        lines.append(
            "Effect is the mean score with its sign: a feature that is positive in some rows and "
            "negative in others can be important and have no effect on average."
        )
    lines.append("Top 3 is the share of rows in which the feature is among the three strongest.")
    if known:
        lines.append(
            f"Intervals hold with {at_level(level)} for each number by itself. They count the "
            "error of the explanations, and that other rows could have been explained."
        )
    lines.append(
        "The scores describe the model, not the world: a feature that moves the model's answer "
        "need not be a cause of what it predicts."
    )
    return bullets(lines)


def _ways(signed: bool, slopes: Iterable[bool]) -> list[str]:
    if not signed:
        return [
            "Scores have no sign: they say how much a feature matters, not which way it pushes."
        ]
    return [ways(slopes, "Blue, to the right,", "orange, to the left,")]


def _intervals(e: Explanation, level: float) -> list[str]:
    if e.posterior is None:
        return ["This method gives no intervals, so it does not say how sure its scores are."]
    if e.posterior.kind == ALL_MASKS:
        return [
            "Every input that can be made was asked, so that no score would change with more rows. "
            "The line over a bar holds what no sum of scores can say, because parts act together. "
            "A part without effect never changed an answer."
        ]
    out = [
        f"The line over a bar is its {at_level(level)} interval: where the score would be if many "
        "more rows were asked. A bar is pale where its direction is not sure: the interval "
        f"contains zero, or P(sign) is below {at_level(level)}."
    ]
    if e.signed:
        out.append("P(sign) is the probability that the score has the right sign.")
    return out
