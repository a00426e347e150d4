"""Methods of other authors, one file for each. Papers that can be read in several ways, or differ
from their authors' code, are read as docs/reference/peers.md says."""

from __future__ import annotations

from eagle.peers.bayeslime import BAYESLIME, BAYESLIME_IID
from eagle.peers.bayesshap import BAYESSHAP, BAYESSHAP_IID
from eagle.peers.baylime import BAYLIME, baylime_with_prior
from eagle.peers.bootstrap import with_bootstrap
from eagle.peers.calibrated import calibrated_explanations
from eagle.peers.climax import CLIMAX
from eagle.peers.context_cite import CONTEXT_CITE, context_cite_for
from eagle.peers.dlime import DLIME, DLIME_NEAREST
from eagle.peers.glime import (
    GLIME,
    GLIME_GAUSS,
    GLIME_LIME,
    GLIME_PUBLISHED,
)
from eagle.peers.lime import LIME, sparse_lime
from eagle.peers.shap import SHAP_KERNEL, SHAP_PERMUTATION
from eagle.peers.slime import S_LIME
from eagle.peers.tilia import TILIA
from eagle.peers.unravel import UNRAVEL
from eagle.peers.us_lime import US_LIME

__all__ = [
    "BAYESLIME",
    "BAYESLIME_IID",
    "BAYESSHAP",
    "BAYESSHAP_IID",
    "BAYLIME",
    "CLIMAX",
    "CONTEXT_CITE",
    "DLIME",
    "DLIME_NEAREST",
    "GLIME",
    "GLIME_GAUSS",
    "GLIME_LIME",
    "GLIME_PUBLISHED",
    "LIME",
    "SHAP_KERNEL",
    "SHAP_PERMUTATION",
    "S_LIME",
    "TILIA",
    "UNRAVEL",
    "US_LIME",
    "baylime_with_prior",
    "calibrated_explanations",
    "context_cite_for",
    "sparse_lime",
    "with_bootstrap",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
