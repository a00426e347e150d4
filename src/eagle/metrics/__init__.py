"""Metrics of explanations: pure functions of arrays, so saved records are enough.

`stability` asks whether runs agree with one another, `truth` whether they agree with what they
converge to, and `faith` whether the model does what they say.
"""

from eagle.metrics import faith, stability, truth

__all__ = ["faith", "stability", "truth"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
