"""A causal model of transformers in this process, and ContextCite's own package beside ours."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import peers
from eagle.language import Answer, FirstToken, Local, YesNo, log_odds

pytestmark = pytest.mark.language

TEXT = "the capital of freedonia is glorville zander a town on duck yes no rain it was long"
WORDS = TEXT.split()


@pytest.fixture(scope="module")
def small() -> tuple[Any, Any]:
    """A tiny transformer with random weights, and a tokenizer that splits at spaces."""
    import tokenizers
    import torch
    import transformers

    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: k for k, w in enumerate(["?", *WORDS])}, unk_token="?")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    coder = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="?", pad_token="?", eos_token="?"
    )
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS) + 1,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        initializer_range=0.5,
    )
    return transformers.LlamaForCausalLM(config), coder


def by_hand(model: Any, coder: Any, prompt: str, answer: str, places: slice = slice(None)) -> float:
    """One prompt alone, without padding, token by token."""
    import torch

    ids = coder(prompt)["input_ids"]
    total = []
    for token in coder(answer)["input_ids"]:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids])).logits[0, -1].double()
        total.append(float(logits[token] - logits.logsumexp(0)))
        ids = [*ids, token]
    return log_odds(sum(total[places]))


PROMPTS = [
    "it was long",
    "the capital of freedonia is",
    "rain",
    "the duck on a town of glorville is",
]


def test_padding_and_order_do_not_matter(small: tuple[Any, Any]) -> None:
    model, coder = small
    answer = " glorville town"
    expected = [by_hand(model, coder, p, answer) for p in PROMPTS]
    for size in (1, 3, 8):
        found = Local(model, coder, Answer(answer), batch_rows=size)(PROMPTS)[:, 0]
        assert np.allclose(found, expected, atol=1e-4), size
    spanned = Local(model, coder, Answer("glorville town", span=(10, 14)))
    second = [by_hand(model, coder, p, answer, slice(1, 2)) for p in PROMPTS]
    assert np.allclose(spanned(PROMPTS)[:, 0], second, atol=1e-4)
    assert spanned.answer_tokens == 1
    assert Local(model, coder, Answer(answer)).answer_tokens == 2


def test_the_next_token(small: tuple[Any, Any]) -> None:
    model, coder = small
    yes, no = (np.array([by_hand(model, coder, p, w) for p in PROMPTS]) for w in ("yes", "no"))
    first = Local(model, coder, FirstToken("yes"))
    assert np.isfinite(first(PROMPTS)).all()
    p = 1 / (1 + np.exp(-yes))
    q = 1 / (1 + np.exp(-no))
    found = Local(model, coder, YesNo())(PROMPTS)[:, 0]
    # Forms that the tokenizer does not know, such as YES, are all one token, in both.
    unknown = np.array([by_hand(model, coder, p, "YES") for p in PROMPTS])
    u = 1 / (1 + np.exp(-unknown))
    assert np.allclose(found, np.log((p + u) / (q + u)), atol=1e-3)


def test_training_modes_and_tokens_are_kept(small: tuple[Any, Any]) -> None:
    model, coder = small
    model.train()
    ask = Local(model, coder, Answer(" town"))
    ask(PROMPTS)
    assert model.training
    assert ask.tokens == sum(len(coder(p)["input_ids"]) + 1 for p in PROMPTS)
    e = eagle.Explainer(ask, eagle.language.Prompt(separator=" ")).explain([*WORDS[:5]])
    assert e.cost.tokens is not None
    assert e.outputs == ("log-odds of «town»",)


def test_beside_the_package_context_cite(
    small: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package's own masks, log-odds and lasso, and ours."""
    # spacy has a module of the name of one of ours here
    monkeypatch.delitem(sys.modules, "catalogue", raising=False)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if not p.endswith("tests")])
    monkeypatch.setattr("nltk.download", lambda *_, **__: False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = import_module("context_cite.solver")
        parts = import_module("context_cite.utils")
    model, coder = small
    sources = ["the town", "capital of freedonia", "zander was", "rain on it", "a duck", "long"]
    answer, d = "glorville town is", 6

    def prompt(mask: Any = None) -> Any:
        kept = sources if mask is None else [s for s, k in zip(sources, mask, strict=True) if k]
        return coder(" ".join([*kept, "it is"]))["input_ids"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coder.padding_side = "left"
        ids = coder(answer)["input_ids"]
        masks, log_p = parts.get_masks_and_logit_probs(model, coder, 48, d, prompt, ids, 0.5, 1)
        theirs = parts.aggregate_logit_probs(log_p)
        weight, _ = solver.LassoRegression().fit(masks, theirs, len(ids))
    ask = Local(model, coder, Answer(answer))
    rows = [" ".join([*(s for s, k in zip(sources, m, strict=True) if k), "it is"]) for m in masks]
    ours = ask(rows)[:, 0]
    assert np.allclose(ours, theirs, atol=1e-3)
    surrogate = peers.context_cite_for(len(ids)).surrogate
    features = np.concatenate([np.ones((1, d)), masks.astype(float)])
    y = np.concatenate([[0.0], ours])
    fit = surrogate.on(eagle.contracts.Rows.each_once(features, np.ones(len(y)))).fit(y)
    assert np.allclose(fit.scores, weight, atol=2e-3)
    assert ask.answer_tokens == len(ids) == 3
