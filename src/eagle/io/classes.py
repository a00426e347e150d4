"""The one table of the classes that a file may name. Nothing else is made when one is read.

Classes are named by strings and imported when a file names one: nothing here knows what is saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, final

from eagle._values.names import PARTS as OF_PEERS
from eagle._values.names import import_from

MODULES: Final = {
    "eagle.explanation": "Explanation",
    "eagle._engine.plan": "Plan",
    "eagle.survey.survey": "Survey",
    "eagle._engine.evidence": "Asked",
    "eagle.cost": "Cost",
    "eagle._values.difference": "Difference",
    "eagle.survey.identity": "Identity",
    "eagle.contracts": "Law Rows",
    "eagle._values.link": "Logit",
    "eagle._tables.moves": "Moves",
    "eagle._tables.background": "Background Column Member",
    "eagle._values.subject": "Curves Image Passage SavedSubject",
    "eagle._values.posterior": "Bounds Draws StudentT",
    "eagle.surrogates.saved": "SavedPosterior SavedSurrogate",
    "eagle.surrogates.bayes": "BayesLinear Prior",
    "eagle.surrogates.heldout": "Cautious HeldOut",
    "eagle.surrogates.reweighted": "Evenness Reweighted",
    "eagle.surrogates.functional": "Functional",
    "eagle.surrogates.pairs": "Paired",
    "eagle.surrogates.ridge": "Ridge",
    "eagle.surrogates.robust": "Robust",
    "eagle.shapley.survey": "ShapleySurvey",
    "eagle.shapley.correction": "Left Scales",
    "eagle.shapley.curves": "Basis CurveSum Scores",
    "eagle.shapley.proxies": "Both",
    "eagle.shapley.trees": "Trees",
}
"""The classes of results and of what they are made of, by their modules."""

PLACES: Final[dict[str, str]] = {
    name: f"{module}:{name}" for module, names in MODULES.items() for name in names.split()
} | OF_PEERS
"""Where each class stands, by its name."""


@final
class Classes(Mapping[str, type]):
    """All classes that may be read, by their names."""

    def __getitem__(self, name: str) -> type:
        found: type = import_from(PLACES[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in PLACES

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


CLASSES: Final = Classes()
