"""A causal language model in this process, by transformers and torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np

from eagle._values.arrays import Array
from eagle._values.checks import integer
from eagle._values.packages import package
from eagle._values.text import short_repr
from eagle.cost import RequestCost
from eagle.errors import InputError, LimitError
from eagle.language.likelihood import Answer, FirstToken, Given, YesNo, log_odds
from eagle.models.box import Box
from eagle.models.concurrent import Requests
from eagle.models.inputs import Inputs
from eagle.models.native import Task
from eagle.models.torch import evaluation_mode


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
            raise InputError(f"a score is a value such as Answer(text), not {short_repr(score)}")
        package("torch", "a language model in this process", "torch")
        self.model, self.tokenizer, self.score = model, tokenizer, score
        self.batch_rows, self._chat = integer(batch_rows, "batch_rows", 1), bool(chat)
        self.tokens = 0
        self._given = self._encode(score.text) if isinstance(score, Given) else []
        if isinstance(score, Given) and not self._given:
            raise InputError(f"the tokenizer finds no token in the answer {short_repr(score.text)}")

    @property
    def answer_tokens(self) -> int:
        """How many tokens are scored; `eagle.peers.context_cite_for` divides by it."""
        if isinstance(self.score, Answer):
            return len(self.score.places(self._texts()))
        return 1

    def as_box(self, task: Task | None, outputs: tuple[Any, ...] | None) -> Box:
        """How it is asked, and how its answers are read."""
        known, what = outputs or (self.score.output,), f"Local({type(self.model).__name__})"
        note = f"{self.score.output}, for each prompt"
        return Box(self, what, task or "regression", known, note=note, remote=self)

    def __call__(self, prompts: Any) -> Array:
        """The log-odds of all prompts, shape (prompts, 1)."""
        rows = [self._prompt(prompt) for prompt in Inputs.of(prompts).rows()]
        out = np.full((len(rows), 1), np.nan)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        requests = Requests()
        with evaluation_mode(self.model):
            for start in range(0, len(rows), self.batch_rows):
                some = order[start : start + self.batch_rows]
                tokens = sum(len(rows[i]) + len(self._given) for i in some)
                try:
                    with requests.one(tokens) as request:
                        request.begin()
                        request.took = tokens
                        out[some, 0] = self._scores([rows[i] for i in some])
                except LimitError as error:
                    error.answers = out
                    raise
        return out

    @property
    def stores(self) -> bool:
        """It asks all rows."""
        return False

    def fresh(self, table: Any) -> int:
        """All rows of a table."""
        return len(Inputs.of(table))

    def request_cost(self, table: Any, calls: Sequence[int]) -> RequestCost:
        """What it takes to ask in calls of these numbers of prompts, all like those of the table.

        A batch counts as a request.
        """
        prompts = Inputs.of(table).rows()
        mean = np.mean([len(self._prompt(prompt)) + len(self._given) for prompt in prompts])
        requests = sum(-(-rows // self.batch_rows) for rows in calls)
        return RequestCost(requests, None, None, round(sum(calls) * float(mean)))

    def _prompt(self, prompt: Any) -> list[int]:
        if not isinstance(prompt, str):
            raise InputError(f"a language model is asked texts, not {short_repr(prompt)}")
        if not self._chat:
            return [int(i) for i in self.tokenizer(prompt)["input_ids"]]
        message = [{"role": "user", "content": prompt}]
        text = self.tokenizer.apply_chat_template(
            message, tokenize=False, add_generation_prompt=True
        )
        return self._encode(text)

    def _encode(self, text: str) -> list[int]:
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
        return [self._score(logits[k], len(row)) for k, row in enumerate(rows)]

    def _score(self, logits: Any, prompt: int) -> float:
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
        first = sorted({self._encode(form)[0] for form in forms if self._encode(form)})
        return float(np.logaddexp.reduce([float(log_p[k]) for k in first]))
