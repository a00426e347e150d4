"""OpenAI's protocols of completions and of chats, of which log-probabilities are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from eagle._values.checks import integer, string
from eagle._values.text import short_repr
from eagle.errors import InputError, ReplyError
from eagle.language.likelihood import Given, Next, YesNo
from eagle.models.inputs import Inputs

TOP: Final = 20
"""The number of likeliest tokens that are asked for: the most that OpenAI and vLLM give."""

NO_LOGPROBS: Final = (
    "the endpoint's reply has no log-probabilities of the text that it was given, which takes echo "
    "and logprobs: vLLM and the server of llama-cpp-python give them; of other endpoints "
    "Chat(model, YesNo()) asks about the next token"
)


@final
@dataclass(frozen=True)
class Completions:
    """OpenAI's protocol of completions, with echo and logprobs: vLLM, llama-cpp-python and others.

    `score` is `Answer(text)`, which needs a server that gives log-probabilities of a text that it
    is given; or `YesNo()` or `FirstToken(text)`, which need those of the `top` likeliest next
    tokens. A request has at most `most` prompts. `extra` is added to each request, such as
    {"add_special_tokens": False}. Nothing is sampled: the one token that is written, since many
    servers write at least one, is ignored.
    """

    model: str
    score: Given | Next
    top: int = TOP
    most: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    path: str = field(default="/v1/completions", repr=False)

    def __post_init__(self) -> None:
        _check(self.model, self.score, self.top, self.extra)
        integer(self.most, "most", 1)
        string(self.path, "a path")

    @property
    def probabilities(self) -> str:
        return "Completions(model, Answer(text)) asks for log-probabilities"

    @property
    def output(self) -> str:
        return self.score.output

    def characters(self, inputs: Inputs) -> int:
        return sum(map(len, _prompts(inputs))) + len(inputs) * len(self._prompt_field)

    def tokens(self, reply: Any) -> int:
        return _usage(reply, "total_tokens")

    @property
    def _prompt_field(self) -> str:
        return self.score.text if isinstance(self.score, Given) else ""

    def request(self, inputs: Inputs, id: str) -> Any:
        whole = [prompt + self._prompt_field for prompt in _prompts(inputs)]
        echo = isinstance(self.score, Given)
        return {
            "model": self.model,
            "prompt": whole[0] if len(whole) == 1 else whole,
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": 1 if echo else self.top,
            "echo": echo,
            **self.extra,
        }

    def answers(self, reply: Any, rows: int) -> Any:
        choices = _choices(reply, rows)
        sent = _usage(reply, "prompt_tokens") if rows == 1 else 0
        return np.array([[self._score(choice, sent)] for choice in choices])

    def _score(self, choice: Any, sent: int) -> float:
        told_of = choice.get("logprobs") if isinstance(choice, Mapping) else None
        if not isinstance(told_of, Mapping):
            raise ReplyError(NO_LOGPROBS)
        if isinstance(self.score, Given):
            return self.score.of_tokens(*_align(told_of, self.score.text, sent))
        top = told_of.get("top_logprobs")
        if not isinstance(top, list) or not top or not isinstance(top[0], Mapping) or not top[0]:
            raise ReplyError("the endpoint's reply has no log-probabilities of the next token")
        return self.score.of_top(top[0])


@final
@dataclass(frozen=True)
class Chat:
    """OpenAI's protocol of chats: each prompt is a message of the user's.

    A chat endpoint gives log-probabilities of what it writes, not of a text that it is given. So
    `score` is `YesNo()` or `FirstToken(text)`, from the `top` likeliest first tokens. `system` is
    a message before the prompt. `extra` is added to each request.
    """

    model: str
    score: Next = field(default_factory=YesNo)
    system: str | None = None
    top: int = TOP
    extra: Mapping[str, Any] = field(default_factory=dict)
    path: str = field(default="/v1/chat/completions", repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.score, Given):
            raise InputError(
                "a chat endpoint does not say how likely a given answer is: ask about its first "
                "token, FirstToken(text) or YesNo(), or use Completions(model, Answer(text))"
            )
        _check(self.model, self.score, self.top, self.extra)
        string(self.path, "a path")
        if self.system is not None and not isinstance(self.system, str):
            raise InputError(f"a system message is a text, not {short_repr(self.system)}")

    @property
    def most(self) -> int:
        return 1

    @property
    def probabilities(self) -> str:
        return "Chat(model, YesNo()) asks for log-probabilities"

    @property
    def output(self) -> str:
        return self.score.output

    def characters(self, inputs: Inputs) -> int:
        return sum(map(len, _prompts(inputs))) + len(inputs) * len(self.system or "")

    def tokens(self, reply: Any) -> int:
        return _usage(reply, "total_tokens")

    def request(self, inputs: Inputs, id: str) -> Any:
        # Endpoint measures what two prompts would take, but sends one.
        said = [] if self.system is None else [{"role": "system", "content": self.system}]
        said += [{"role": "user", "content": prompt} for prompt in _prompts(inputs)]
        return {
            "model": self.model,
            "messages": said,
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": self.top,
            **self.extra,
        }

    def answers(self, reply: Any, rows: int) -> Any:
        (choice,) = _choices(reply, 1)
        told_of = choice.get("logprobs") if isinstance(choice, Mapping) else None
        content: Any = told_of.get("content") if isinstance(told_of, Mapping) else None
        try:
            listed = content[0]["top_logprobs"]
            pairs = [(str(one["token"]), one["logprob"]) for one in listed]
        except (TypeError, KeyError, IndexError):
            pairs = []
        if not pairs:
            raise ReplyError(
                "the endpoint's reply has no log-probabilities of its first token, which takes "
                "logprobs and top_logprobs: does this model give them?"
            )
        return np.array([[self.score.of_top(dict(reversed(pairs)))]])


def _check(model: Any, score: Any, top: Any, extra: Any) -> None:
    if not isinstance(model, str) or not model:
        raise InputError(f"a model is named by a text, not {short_repr(model)}")
    if isinstance(score, type) or not isinstance(score, Given | Next):
        raise InputError(
            f"a score is a value such as Answer(text) or YesNo(), not {short_repr(score)}"
        )
    integer(top, "top", 1)
    if not isinstance(extra, Mapping):
        raise InputError(
            f"extra is a dictionary that is added to requests, not {short_repr(extra)}"
        )


def _prompts(inputs: Inputs) -> list[str]:
    prompts = inputs.rows()
    wrong = next((p for p in prompts if not isinstance(p, str)), None)
    if wrong is not None:
        raise InputError(f"a language model is asked texts, not {short_repr(wrong)}")
    return prompts


def _usage(reply: Any, key: str) -> int:
    """A number of tokens that a reply tells; 0 if it does not."""
    usage = reply.get("usage") if isinstance(reply, Mapping) else None
    count = usage.get(key) if isinstance(usage, Mapping) else None
    return count if isinstance(count, int) and count > 0 else 0


def _choices(reply: Any, rows: int) -> list[Any]:
    """The choices of a reply in the order of the prompts."""
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    if not isinstance(choices, list) or len(choices) != rows:
        raise ReplyError(
            f"the endpoint's reply has not one choice for each of {rows} prompts: it is "
            f"{short_repr(reply)}"
        )
    indices = [c.get("index", 0) if isinstance(c, Mapping) else 0 for c in choices]
    if sorted(map(short_repr, indices)) == sorted(map(short_repr, range(rows))):
        return [choices[indices.index(k)] for k in range(rows)]
    return choices


def _align(told_of: Mapping[str, Any], answer: str, sent: int) -> tuple[list[str], list[Any]]:
    """The tokens of the answer, which ends the text that was sent, and their log-probabilities.

    Tokens are matched with the answer from its end, since a server may put tokens of its own
    before it, and count them in offsets. `sent` is the number of tokens of prompt and answer. If
    it is 0, not known, these are all tokens but the last, which the model wrote.
    """
    tokens, log_p = told_of.get("tokens"), told_of.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(log_p, list) or not tokens:
        raise ReplyError(NO_LOGPROBS)
    if len(tokens) != len(log_p) or not all(isinstance(token, str) for token in tokens):
        raise ReplyError("the endpoint's reply has not one log-probability for each token")
    end = sent if len(tokens) - 1 <= sent <= len(tokens) else len(tokens) - 1
    start, text = end, ""
    while start > 0 and len(text) < len(answer):
        start -= 1
        text = tokens[start] + text
    if text == answer:
        return tokens[start:end], log_p[start:end]
    aligned = _by_offset(told_of, tokens[:end], len(answer))
    if aligned is not None:
        start, texts = aligned
        return texts, log_p[start:end]
    if text.endswith(answer):
        raise ReplyError(
            f"the token {short_repr(tokens[start])} has the end of the prompt and the beginning of "
            "the answer in it: move the space between them from one to the other"
        )
    raise ReplyError(
        f"the tokens that the endpoint tells are not those of the answer: {short_repr(text)} "
        f"stands where {short_repr(answer)} should"
    )


def _by_offset(
    told_of: Mapping[str, Any], tokens: Sequence[str], long: int
) -> tuple[int, list[str]] | None:
    """The place of the answer's first token, and a placeholder for each of its tokens, as long as
    the offsets say. It is for tokens that are parts of a character, whose own text has another
    length. None if there are no such tokens, or if the offsets do not fit the answer."""
    offsets = told_of.get("text_offset")
    broken = any("\ufffd" in token or token.startswith("bytes:") for token in tokens)
    if not broken or not isinstance(offsets, list) or len(offsets) < len(tokens):
        return None
    ends = [*offsets[1 : len(tokens)], *offsets[len(tokens) : len(tokens) + 1]]
    if len(ends) < len(tokens) or not all(isinstance(k, int) for k in (*offsets, *ends)):
        return None
    begin = ends[-1] - long
    if begin not in offsets[: len(tokens)]:
        return None
    start = offsets.index(begin)
    return start, ["x" * (b - a) for a, b in zip(offsets[start:], ends[start:], strict=False)]
