"""Which points are asked: designs for methods of your own."""

from eagle.designs.balanced import Sobol
from eagle.designs.complements import Complements
from eagle.designs.gains import Gains
from eagle.designs.greedy import Greedy
from eagle.designs.hadamard import Hadamard
from eagle.designs.latin import Latin

__all__ = [
    "Complements",
    "Gains",
    "Greedy",
    "Hadamard",
    "Latin",
    "Sobol",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
