"""A small causal transformer that answers questions from its prompt, trained here with torch.

It is a model of transformers, in its own format: so it can be asked in this process, and served.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluation.benches.prompting.facts import CITIES, FORMS, NAMES, UNKNOWN, asked, lesson
from evaluation.problems.boxes import cache_folder

RECIPE: Final = "prompts-1"
"""Another recipe is another folder in the cache."""

SOURCES: Final = 8
QUESTIONS: Final = 6
HEADS: Final = 4
BACK: Final = 5
STEPS: Final = 3000
BATCH: Final = 12
GROWS: Final = 60
"""One source more is in the lessons after so many steps."""

RATE: Final = 5e-4
ENOUGH: Final = 0.22
"""Training ends where the mean loss of 100 steps is below this."""


def folder() -> Path:
    """Where the trained model is; it is trained if it is not there."""
    path = cache_folder() / RECIPE
    if not (path / "config.json").exists():
        train(path)
    return path


def loaded(path: Path) -> tuple[Any, Any]:
    """The model and its tokenizer."""
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    model = AutoModelForCausalLM.from_pretrained(path)
    return model, PreTrainedTokenizerFast.from_pretrained(path)


def tokenizer() -> Any:
    """Byte-level pairs, as GPT-2 has them, learnt from the words of the facts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    words = [form.format(name=n, city=c) for form in FORMS for n in NAMES for c in CITIES]
    words += [f"\nQuestion: {asked(n)} {UNKNOWN}\n" for n in NAMES] * 30
    words += [f" {n} {c}" for n in NAMES for c in CITIES]
    special = ["<s>", "<end>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        words,
        trainers.BpeTrainer(
            vocab_size=640, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        ),
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="<end>")


def train(path: Path) -> None:
    """Train and save. It takes minutes on two cores."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    coder = tokenizer()
    config = LlamaConfig(
        vocab_size=len(coder),
        hidden_size=128,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        attention_bias=True,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        initializer_range=0.04,
        bos_token_id=coder.bos_token_id,
        eos_token_id=coder.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    start(model)
    rng = np.random.default_rng(0)
    best = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    rates = torch.optim.lr_scheduler.OneCycleLR(best, RATE, total_steps=STEPS, pct_start=0.03)
    began, losses = time.time(), list[float]()
    for step in range(STEPS):
        most = min(SOURCES, 2 + step // GROWS)  # a few sources first: it learns to look them up
        ids, labels = batch(coder, rng, most)
        logits = model(input_ids=ids).logits[:, :-1]
        every = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), ids[:, 1:], reduction="none"
        )
        loss = every[labels[:, 1:] == 0].mean()
        rest = every[labels[:, 1:] == 1].mean()  # it teaches to copy a name, which helps
        best.zero_grad()
        (loss + 0.1 * rest).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        best.step()
        rates.step()
        losses.append(float(loss.detach()))
        if step % 100 == 99:
            mean = float(np.mean(losses[-100:]))
            took = f"{time.time() - began:.0f} s"
            print(f"step {step + 1}, loss {mean:.3f}, {took}", file=sys.stderr, flush=True)
            if mean < ENOUGH and most == SOURCES:
                break
    path.mkdir(parents=True, exist_ok=True)
    coder.save_pretrained(path)
    model.save_pretrained(path)


def start(model: Any) -> None:
    """Weights to begin with: the first layer looks five tokens back, where a source has its city;
    the second looks for equal tokens, and copies what the first has brought there.

    Training from chance finds the like, but takes far longer than minutes.
    """
    import torch

    first, last = (layer.self_attn for layer in model.model.layers)
    wide = len(first.q_proj.weight)
    half = wide // HEADS // 2
    places = torch.arange(half)
    turn = BACK * 10_000.0 ** (-places / half)  # of rotary places, so far back
    sharp = 6.0 * (places < 6)
    slow = torch.diag((places >= 6).repeat(2 * HEADS) * 2.0)  # tokens look alike from afar
    fast = 3.0 * (places < 3)  # not at itself
    apart = torch.linalg.qr(torch.randn(wide, wide)).Q  # what is brought, apart from what is there
    with torch.no_grad():
        first.q_proj.bias += torch.cat([sharp * turn.cos(), -sharp * turn.sin()]).repeat(HEADS)
        first.k_proj.bias += torch.cat([sharp, torch.zeros(half)]).repeat(HEADS)
        first.v_proj.weight += torch.eye(wide)
        first.o_proj.weight += 0.02 * apart
        last.q_proj.weight += slow
        last.k_proj.weight += slow
        last.q_proj.bias += torch.cat([fast, torch.zeros(half)]).repeat(HEADS)
        last.k_proj.bias -= torch.cat([fast, torch.zeros(half)]).repeat(HEADS)
        last.v_proj.weight += apart.T
        last.o_proj.weight += torch.eye(wide)


def batch(coder: Any, rng: np.random.Generator, most: int) -> tuple[Any, Any]:
    """Texts as tokens, padded, and labels: 0 where a token is an answer's, 1 for other tokens."""
    import torch

    rows, marks = [], []
    for _ in range(BATCH):
        ids, mark = [], []
        for before, answer in lesson(rng, int(rng.integers(0, most + 1)), QUESTIONS):
            for text, scored in ((before, 1), (answer, 0)):
                more = coder(text, add_special_tokens=False)["input_ids"]
                ids += more
                mark += [scored] * len(more)
        rows.append(ids)
        marks.append(mark)
    long = max(map(len, rows))
    ids = torch.tensor([row + [0] * (long - len(row)) for row in rows])
    return ids, torch.tensor([mark + [-1] * (long - len(mark)) for mark in marks])
