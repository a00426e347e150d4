"""The one table of the classes that a file may name. Nothing else is made when one is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, final

from eagle._engine.evidence import Asked
from eagle._engine.names import PARTS as OF_PEERS
from eagle._engine.names import import_from
from eagle._engine.plan import Plan
from eagle._tables.background import Background, Column, Member
from eagle._tables.moves import Moves
from eagle._values.difference import Difference
from eagle._values.link import Logit
from eagle._values.posterior import Bounds, Draws, StudentT
from eagle._values.subject import Curves, Image, Passage, SavedSubject
from eagle.contracts import Law, Rows
from eagle.cost import Cost
from eagle.explanation import Explanation
from eagle.shapley.correction import Left, Scales
from eagle.shapley.curves import Basis, CurveSum, Scores
from eagle.shapley.proxies import Both
from eagle.shapley.survey import ShapleySurvey
from eagle.shapley.trees import Trees
from eagle.surrogates.bayes import BayesLinear, Prior
from eagle.surrogates.functional import Functional
from eagle.surrogates.heldout import Cautious, HeldOut
from eagle.surrogates.pairs import Paired
from eagle.surrogates.reweighted import Evenness, Reweighted
from eagle.surrogates.ridge import Ridge
from eagle.surrogates.robust import Robust
from eagle.surrogates.saved import SavedPosterior, SavedSurrogate
from eagle.survey.identity import Identity
from eagle.survey.survey import Survey

RESULTS: Final = (Background, Explanation, Plan, ShapleySurvey, Survey)
"""What a file may hold as a whole."""

PARTS: Final = (
    *(Asked, Cost, Difference, Identity, Law, Logit, Moves, Rows),
    *(Column, Member),
    *(Curves, Image, Passage, SavedSubject),
    *(Bounds, Draws, SavedPosterior, StudentT),
    *(BayesLinear, Cautious, Evenness, Functional, HeldOut),
    *(Paired, Prior, Reweighted, Ridge, Robust, SavedSurrogate),
    *(Basis, Both, CurveSum, Left, Scales, Scores, Trees),
)
"""What results are made of."""

CORE_CLASSES: Final[dict[str, type]] = {kind.__name__: kind for kind in (*RESULTS, *PARTS)}
"""Those of the library itself, by their names."""


@final
class Classes(Mapping[str, type]):
    """All classes that may be read, by their names. Those of peers are imported when a file names
    one."""

    def __getitem__(self, name: str) -> type:
        if name not in OF_PEERS:
            return CORE_CLASSES[name]
        found: type = import_from(OF_PEERS[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in CORE_CLASSES or name in OF_PEERS

    def __iter__(self) -> Iterator[str]:
        yield from (*CORE_CLASSES, *OF_PEERS)

    def __len__(self) -> int:
        return len(CORE_CLASSES) + len(OF_PEERS)


CLASSES: Final = Classes()
