"""Metrics of explanations: pure functions of arrays, so saved records are enough.

`stability`, `entropy` and `ranking` ask whether runs agree with one another, `truth` whether they
agree with what they converge to, and `faith` whether the model does what they say. An array does
not say whether its scores have signs: give metrics of signs only scores that have signs.
"""

from eagle.metrics import entropy, faith, ranking, stability, truth

__all__ = ["entropy", "faith", "ranking", "stability", "truth"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
