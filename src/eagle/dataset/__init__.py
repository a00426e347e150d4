"""Whole data sets: rows of Parquet files, texts of a column, images of a folder.

    explanations = eagle.dataset.explain(explainer, "big.parquet", "folder/", workers=4)
    explanations = eagle.load("folder/")

Part files are written one after the other, each whole or not at all. The same call again goes on
where the last one ended. What a killed process was doing is done again.
"""

from eagle.dataset.ray import Ray
from eagle.dataset.run import explain

__all__ = ["Ray", "explain"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
