"""The paper's printed numbers, to compare with ours."""

from __future__ import annotations

from typing import Final

SETS: Final = {
    "compas": "COMPAS", "german": "German", "adult": "Adult", "magic": "MAGIC",
    "mnist": "MNIST", "photos": "ImageNet",
}  # fmt: skip
"""Our problems by the paper's names of data sets."""

STABILITY: Final[dict[str, tuple[float | None, ...]]] = {
    "LIME": (0.772, 0.645, 0.669, 0.647, 0.733, 0.704),
    "GLIME": (0.635, 0.546, 0.559, 0.624, 0.519, 0.920),
    "Tilia": (0.834, 0.721, 0.783, 0.647, 0.733, 0.734),
    "US-LIME": (0.525, 0.400, 0.419, 0.587, 0.749, 0.760),
    "UnRAvEL": (0.501, 0.332, 0.276, 0.427, 0.148, 0.099),
    "DLIME": (0.409, 0.121, 0.155, 0.352, None, None),
    "BayesLIME": (0.770, 0.631, 0.674, 0.617, 0.765, 0.755),
    "BayLIME": (0.779, 0.678, 0.663, 0.648, 0.720, 0.739),
    "EAGLE (paper)": (0.802, 0.775, 0.822, 0.785, 0.861, 0.825),
}
"""Table 1: Jaccard similarity of the five strongest features, by data set."""

CROSSOVER: Final[dict[str, tuple[float, int, float, int, float, float]]] = {
    "compas": (9.623, 390, 0.604, 70, 14.56, 8.16),
    "german": (3.705, 340, 0.653, 180, 23.63, 15.61),
    "adult": (3.724, 310, 0.662, 240, 17.27, 10.46),
    "magic": (7.050, 310, 0.579, 110, 31.29, 26.72),
    "mnist": (3.094, 380, 0.648, 60, 3.36, 0.69),
    "photos": (2.448, 390, 0.816, 200, 34.73, 7.08),
}
"""Table 2: BayesLIME's D-efficiency at 500 rows and EAGLE's rows to reach it; the same for CCM;
seconds of both."""

SECONDS: Final[dict[str, tuple[float, float, float, float]]] = {
    "LIME": (0.028, 0.038, 0.056, 0.113),
    "BayLIME": (0.029, 0.039, 0.058, 0.139),
    "GLIME": (0.032, 0.045, 0.079, 0.160),
    "DLIME": (0.020, 0.023, 0.029, 0.044),
    "Tilia": (0.041, 0.061, 0.095, 0.241),
    "US-LIME": (0.234, 0.389, 0.714, 1.653),
    "BayesLIME": (1.047, 2.520, 5.189, 14.562),
    "EAGLE (paper)": (0.651, 1.386, 3.195, 8.160),
    "UnRAvEL": (68.420, 73.026, 85.330, 102.286),
}
"""Table 3: seconds on COMPAS with 50, 100, 200 and 500 rows."""

BUDGETS: Final = (50, 100, 200, 500)


def stability(method: str, problem: str) -> float | None:
    """The number in table 1, or None."""
    row = STABILITY.get(method)
    return None if row is None or problem not in SETS else row[list(SETS).index(problem)]
