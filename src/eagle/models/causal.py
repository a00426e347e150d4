"""A causal language model in this process, by transformers and torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any, final

import numpy as np

from eagle.models.box import Box
from eagle.models.inputs import Inputs
from eagle.models.likelihood import Answer, FirstToken, Given, YesNo, log_odds
from eagle.models.native import Task
from eagle.types import Array, InputError, MissingExtraError, integer, told


@final
class Local:
    """A causal model of transformers, or one alike, with its tokenizer: prompts in, log-odds out.

    `score` is `Answer(text)`, `YesNo()` or `FirstToken(text)`. The answer is tokenised by itself
    and follows the prompt, so that it has the same tokens after every prompt. Prompts are asked
    `batch_rows` at once, those of similar length together, padded on the right, where a causal
    model does not look. With `chat`, a prompt is a message of the user's in the tokenizer's chat
    template. `tokens` counts all that were computed.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        score: Answer | YesNo | FirstToken,
        *,
        batch_rows: int = 8,
        chat: bool = False,
    ) -> None:
        if not isinstance(score, Answer | YesNo | FirstToken):
            raise InputError(f"a score is a value such as Answer(text), not {told(score)}")
        try:
            import_module("torch")
        except ImportError:
            raise MissingExtraError("a language model in this process", "torch", "torch") from None
        self.model, self.tokenizer, self.score = model, tokenizer, score
        self.batch_rows, self._chat = integer(batch_rows, "batch_rows", 1), bool(chat)
        self.tokens = 0
        self._given = self._encoded(score.text) if isinstance(score, Given) else []
        if isinstance(score, Given) and not self._given:
            raise InputError(f"the tokenizer finds no token in the answer {told(score.text)}")

    @property
    def answer_tokens(self) -> int:
        """How many tokens are scored; `eagle.methods.context_cite` divides by it."""
        if isinstance(self.score, Answer):
            return len(self.score.places(self._texts()))
        return 1

    def as_box(self, task: Task | None, outputs: tuple[Any, ...] | None) -> Box:
        """How it is asked, and how its answers are read."""
        known, what = outputs or (self.score.output,), f"Local({type(self.model).__name__})"
        note = f"{self.score.output}, for each prompt"
        return Box(self, what, task or "regression", known, note=note)

    def __call__(self, prompts: Any) -> Array:
        """The log-odds of all prompts, shape (prompts, 1)."""
        rows = [self._prompt(prompt) for prompt in Inputs.of(prompts).rows()]
        out = np.empty((len(rows), 1))
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        with _asking(self.model):
            for start in range(0, len(rows), self.batch_rows):
                some = order[start : start + self.batch_rows]
                out[some, 0] = self._scores([rows[i] for i in some])
        return out

    def _prompt(self, prompt: Any) -> list[int]:
        if not isinstance(prompt, str):
            raise InputError(f"a language model is asked texts, not {told(prompt)}")
        if not self._chat:
            return [int(i) for i in self.tokenizer(prompt)["input_ids"]]
        message = [{"role": "user", "content": prompt}]
        text = self.tokenizer.apply_chat_template(
            message, tokenize=False, add_generation_prompt=True
        )
        return self._encoded(text)

    def _encoded(self, text: str) -> list[int]:
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return [int(i) for i in ids]

    def _texts(self) -> list[str]:
        """A placeholder for each token of the answer, as long as the text that the token adds."""
        ends = [len(self.tokenizer.decode(self._given[:k])) for k in range(len(self._given) + 1)]
        scored = self.score
        assert isinstance(scored, Given)
        ends = [min(end, len(scored.text)) for end in ends]
        ends[-1] = len(scored.text)
        return ["x" * (b - a) for a, b in pairwise(ends)]

    def _scores(self, rows: Sequence[Sequence[int]]) -> list[float]:
        import torch

        whole = [[*row, *self._given] for row in rows]
        long = max(map(len, whole))
        ids = torch.tensor([row + [0] * (long - len(row)) for row in whole])
        kept = torch.tensor([[1] * len(row) + [0] * (long - len(row)) for row in whole])
        device = next(self.model.parameters()).device
        with torch.no_grad():
            reply = self.model(input_ids=ids.to(device), attention_mask=kept.to(device))
        logits = reply.logits if hasattr(reply, "logits") else reply
        self.tokens += sum(map(len, whole))
        return [self._scored(logits[k], len(row)) for k, row in enumerate(rows)]

    def _scored(self, logits: Any, prompt: int) -> float:
        import torch

        def log_p(at: int) -> Any:
            return torch.log_softmax(logits[at - 1].to(torch.float64), dim=-1)

        if isinstance(self.score, Answer):
            places = self.score.places(self._texts())
            return log_odds(sum(float(log_p(prompt + k)[self._given[k]]) for k in places))
        following = log_p(prompt)
        if isinstance(self.score, FirstToken):
            return log_odds(self._any(following, (self.score.text,)))
        return self._any(following, self.score.yes) - self._any(following, self.score.no)

    def _any(self, log_p: Any, words: Sequence[str]) -> float:
        """The log-probability that the next token begins any of the words, with a space or not."""
        forms = {f for w in words for f in (w, w.lower(), w.capitalize(), w.upper())}
        forms |= {f" {form}" for form in forms}
        first = sorted({self._encoded(form)[0] for form in forms if self._encoded(form)})
        return float(np.logaddexp.reduce([float(log_p[k]) for k in first]))


@contextmanager
def _asking(model: Any) -> Iterator[None]:
    """The model in evaluation mode; each of its parts has its own mode again afterwards."""
    modes = [(part, part.training) for part in model.modules()]
    try:
        model.eval()
        yield
    finally:
        for part, mode in modes:
            part.training = mode
