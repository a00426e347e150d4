"""Language models: which parts of a prompt made a model say something.

from eagle.language import Answer, Completions, Prompt
from eagle.models.http import Endpoint

model = Endpoint("http://localhost:8000/v1", Completions("llama", Answer(" Paris")))
eagle.Explainer(model, Prompt(template, fixed=["question"])).explain({...})

An annex: it is made of what the library offers to anybody, and nothing in the library imports it.
"""

from eagle.language.each import Each
from eagle.language.likelihood import Answer, FirstToken, YesNo, log_odds
from eagle.language.local import Local
from eagle.language.prompt import Prompt
from eagle.language.protocols import Chat, Completions

__all__ = [
    "Answer",
    "Chat",
    "Completions",
    "Each",
    "FirstToken",
    "Local",
    "Prompt",
    "YesNo",
    "log_odds",
]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
