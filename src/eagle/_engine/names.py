"""Names of methods, and of the parts of peers in files: where each is, imported when it is asked.

So no module here imports `eagle.peers`, and what is not named is not loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from eagle._values.text import short_repr
from eagle.errors import InputError

METHODS: Final[dict[str, str]] = {
    "default": "eagle.methods:DEFAULT",
    "eagle": "eagle.methods:EAGLE",
    "eagle-paper": "eagle.methods:EAGLE_PAPER",
    "eagle-balanced": "eagle.methods:EAGLE_BALANCED",
    "eagle-process": "eagle.methods:EAGLE_PROCESS",
    "lime": "eagle.peers.lime:LIME",
    "glime": "eagle.peers.glime:GLIME",
    "glime-published": "eagle.peers.glime:GLIME_PUBLISHED",
    "glime-lime": "eagle.peers.glime:GLIME_LIME",
    "glime-gauss": "eagle.peers.glime:GLIME_GAUSS",
    "baylime": "eagle.peers.baylime:BAYLIME",
    "bayeslime": "eagle.peers.bayeslime:BAYESLIME",
    "bayeslime-iid": "eagle.peers.bayeslime:BAYESLIME_IID",
    "bayesshap": "eagle.peers.bayesshap:BAYESSHAP",
    "bayesshap-iid": "eagle.peers.bayesshap:BAYESSHAP_IID",
    "dlime": "eagle.peers.dlime:DLIME",
    "dlime-nearest": "eagle.peers.dlime:DLIME_NEAREST",
    "us-lime": "eagle.peers.us_lime:US_LIME",
    "tilia": "eagle.peers.tilia:TILIA",
    "s-lime": "eagle.peers.slime:S_LIME",
    "climax": "eagle.peers.climax:CLIMAX",
    "context-cite": "eagle.peers.context_cite:CONTEXT_CITE",
    "unravel": "eagle.peers.unravel:UNRAVEL",
    "shap-kernel": "eagle.peers.shap:SHAP_KERNEL",
    "shap-permutation": "eagle.peers.shap:SHAP_PERMUTATION",
}
"""Methods by the names that `Explainer`, `compare_methods` and the command take."""

PARTS: Final[dict[str, str]] = {
    "Auto": "eagle.peers.selection:Auto",
    "Forward": "eagle.peers.selection:Forward",
    "Highest": "eagle.peers.selection:Highest",
    "LassoPath": "eagle.peers.selection:LassoPath",
    "BayesRidge": "eagle.peers.baylime:BayesRidge",
    "Bootstrap": "eagle.peers.bootstrap:Bootstrap",
    "Boundary": "eagle.peers.us_lime:Boundary",
    "Lasso": "eagle.peers.context_cite:Lasso",
    "Logistic": "eagle.peers.climax:Logistic",
    "Process": "eagle.peers.unravel:Process",
    "Tree": "eagle.peers.tilia:Tree",
}
"""Surrogates of peers, and parts of them, by the names that files have for them."""


def import_from(place: str) -> Any:
    """What stands at a place such as "eagle.peers.lime:LIME"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def method_by_name(name: str) -> Any:
    """The method with a name of the table."""
    if name not in METHODS:
        raise InputError(
            f"there is no method {short_repr(name)}; the names are {', '.join(METHODS)}, and a "
            "method of "
            "your own is given as a value"
        )
    return import_from(METHODS[name])


def name_by_printed(printed: str) -> str | None:
    """The name of the method that results call so; None if the table has none."""
    found = (name for name, place in METHODS.items() if import_from(place).name == printed)
    return next(found, None)
