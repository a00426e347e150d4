"""A small language model behind an endpoint on this machine: a stand-in to try prompts with.

It has real probabilities, which sum to 1, but it knows nothing: it repeats what its prompt says.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections import Counter
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, final

TOKEN: Final = re.compile(r"\s*(?:\w+|[^\w\s])|\s+")
"""A token is a word or a mark, with the white space before it."""

LONGEST: Final = 4
"""Longest context, in tokens, that is looked up to predict the next token. Shorter ones follow."""

TRUST: Final = 0.9
"""How much of the probability goes to tokens that followed the same tokens before."""

OTHERS: Final = 10_000
"""The number of tokens that there are."""


@final
class CacheModel:
    """An n-gram model of nothing but its own prompt, as those that large models are compared with.

    Of the probability of the next token, `TRUST` goes to tokens that followed the last four tokens
    earlier in the prompt, by how often they did; the same share of the rest goes by the last
    three, and so on down to one, and then by how often each token is there at all. What is left is
    spread evenly over `OTHERS` tokens. Tokens are compared without white space and case.
    """

    def log_probabilities(self, text: str) -> tuple[list[str], list[float | None]]:
        """The tokens of a text, and the log-probability of each after those before it."""
        tokens = TOKEN.findall(text)
        plain = [_plain(token) for token in tokens]
        logs: list[float | None] = [None]
        for k in range(1, len(plain)):
            logs.append(math.log(self._probability(plain[:k], plain[k])))
        return tokens, logs[: len(tokens)]

    def likeliest(self, text: str, count: int) -> list[tuple[str, float]]:
        """The likeliest next tokens, and their log-probabilities."""
        plain = [_plain(token) for token in TOKEN.findall(text)]
        known = {token: self._probability(plain, token) for token in set(plain)}
        ordered = sorted(known.items(), key=lambda pair: (-pair[1], pair[0]))
        return [(f" {token}", math.log(p)) for token, p in ordered[:count]]

    def _probability(self, before: Sequence[str], token: str) -> float:
        left, total = 1.0, 0.0
        for long in range(min(LONGEST, len(before) - 1), -1, -1):
            follows = _following(before, before[len(before) - long :])
            if follows:
                total += left * TRUST * follows[token] / follows.total()
                left *= 1 - TRUST
        return total + left / OTHERS


def _plain(token: str) -> str:
    return token.strip().casefold() or " "


def _following(before: Sequence[str], last: Sequence[str]) -> Counter[str]:
    """How often each token followed these tokens, before the end."""
    long = len(last)
    return Counter(
        before[k + long]
        for k in range(len(before) - long)
        if list(before[k : k + long]) == list(last)
    )


@final
class LanguageServer:
    """`CacheModel` on loopback, in OpenAI's protocols of completions and chats.

        with LanguageServer() as server:
            Endpoint(server.url, Completions("stand-in", Answer(" Paris")))

    It echoes a given text with log-probabilities, tells the likeliest next tokens, and bills by
    the token, as such servers do. `noise` is the standard deviation of a disturbance of the
    log-odds of each token, which differs from request to request, as on endpoints that batch.
    """

    def __init__(self, noise: float = 0.0) -> None:
        import numpy as np

        self._model, self._noise, self._rng = CacheModel(), noise, np.random.default_rng(0)
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version, wbufsize = "HTTP/1.1", -1

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                reply = served.reply(self.path, json.loads(self.rfile.read(length)))
                body = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.daemon = True

    def start(self) -> LanguageServer:
        """Answer requests from now on."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> LanguageServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def reply(self, path: str, body: Any) -> dict[str, Any]:
        """The reply to a request."""
        if path.endswith("/chat/completions"):
            text = "\n".join(message["content"] for message in body["messages"])
            made, tokens = self._chat(text, body.get("top_logprobs") or 1)
            return _whole([made], tokens)
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        every = [self._completed(text, body, k) for k, text in enumerate(prompts)]
        return _whole([choice for choice, _ in every], sum(count for _, count in every))

    def _completed(self, text: str, body: Any, index: int) -> tuple[dict[str, Any], int]:
        tokens, log_p = self._model.log_probabilities(text)
        top = self._model.likeliest(text, max(1, int(body.get("logprobs") or 1)))
        sent = len(tokens)
        echoed = bool(body.get("echo"))
        tokens, log_p = (tokens, log_p) if echoed else ([], [])
        offsets = [sum(map(len, tokens[:k])) for k in range(len(tokens) + 1)]
        said = {
            "tokens": [*tokens, top[0][0]],
            "token_logprobs": [p if p is None else self._disturbed(p) for p in log_p]
            + [self._disturbed(top[0][1])],
            "text_offset": offsets,
            "top_logprobs": [None] * len(tokens) + [{t: self._disturbed(p) for t, p in top}],
        }
        whole = (text if echoed else "") + top[0][0]
        return {"index": index, "text": whole, "logprobs": said, "finish_reason": "length"}, sent

    def _chat(self, text: str, count: int) -> tuple[dict[str, Any], int]:
        top = [(t, self._disturbed(p)) for t, p in self._model.likeliest(text, count)]
        first = {"token": top[0][0], "logprob": top[0][1]}
        listed = [{"token": token, "logprob": p} for token, p in top]
        return {
            "index": 0,
            "message": {"role": "assistant", "content": top[0][0]},
            "logprobs": {"content": [{**first, "top_logprobs": listed}]},
            "finish_reason": "length",
        }, len(TOKEN.findall(text))

    def _disturbed(self, log_p: float) -> float:
        if not self._noise:
            return log_p
        odds = log_p - math.log(-math.expm1(log_p)) + self._noise * float(self._rng.normal())
        return -math.log1p(math.exp(-odds))


def _whole(choices: Sequence[dict[str, Any]], sent: int) -> dict[str, Any]:
    written = len(choices)
    usage = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    return {"object": "completion", "choices": list(choices), "usage": usage}
