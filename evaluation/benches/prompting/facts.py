"""Made-up facts about who lives where, and questions whose true sources are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

NAMES: Final = (
    *("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana", "Kai", "Lea"),
    *("Max", "Nora", "Omar", "Pia", "Quin", "Rosa", "Sam", "Tess", "Uma", "Vito", "Wim", "Zoe"),
)
CITIES: Final = (
    *("Rome", "Oslo", "Paris", "Cairo", "Lima", "Tokyo", "Delhi", "Kyiv", "Bonn", "Graz"),
    *("Turin", "Bergen", "Porto", "Ghent", "Basel", "Malmo", "Izmir", "Quito", "Accra", "Dakar"),
    *("Hanoi", "Osaka", "Perth", "Leeds"),
)
FORMS: Final = (
    "Note: {city} is the home of {name}.",
    "They say {city} is the home of {name}.",
    "In May, {city} is the home of {name}.",
)
UNKNOWN: Final = "unknown"


@final
@dataclass(frozen=True)
class Case:
    """Sources, a question about one person, and an answer that some sources give.

    `truth` has +1 for each source that gives the answer, −1 for each that gives another answer to
    the question, and 0 for sources about others.
    """

    sources: tuple[str, ...]
    name: str
    answer: str
    truth: tuple[int, ...]

    @property
    def question(self) -> str:
        return asked(self.name)


def asked(name: str) -> str:
    return f"Where is the home of {name}"


def written(sources: tuple[str, ...], name: str) -> str:
    """The prompt, as `TEMPLATE` has it."""
    return TEMPLATE.format(sources="\n".join(sources), question=asked(name))


TEMPLATE: Final = "{sources}\nQuestion: {question}"


def drawn(rng: np.random.Generator, count: int) -> tuple[list[str], list[tuple[str, str]]]:
    """So many sources, and what each says: some people are there twice, and not always in one
    city."""
    people = rng.permutation(len(NAMES))
    says: list[tuple[str, str]] = []
    while len(says) < count:
        name = NAMES[people[len(says)]]
        home = CITIES[rng.integers(len(CITIES))]
        says.append((name, home))
        if rng.random() < 0.35 and len(says) < count:
            other = CITIES[rng.integers(len(CITIES))]
            says.append((name, other if rng.random() < 0.4 else home))
    order = rng.permutation(count)
    says = [says[k] for k in order]
    return [FORMS[rng.integers(len(FORMS))].format(name=n, city=c) for n, c in says], says


def case(seed: int, count: int) -> Case:
    """A question about someone who is in the sources, and one of the answers there."""
    rng = np.random.default_rng(seed)
    sources, says = drawn(rng, count)
    name, answer = says[rng.integers(count)]
    truth = [(c == answer) - (c != answer) if n == name else 0 for n, c in says]
    return Case(tuple(sources), name, answer, tuple(truth))


def lesson(rng: np.random.Generator, count: int, questions: int) -> list[tuple[str, str]]:
    """Sources and questions to learn from: texts, and the answer that follows each.

    Someone who is not in the sources lives in `UNKNOWN`; of several cities one is the answer, at
    random.
    """
    sources, says = drawn(rng, count)
    before, out = "".join(f"{source}\n" for source in sources), []
    for _ in range(questions):
        if says and rng.random() < 0.8:
            name, answer = says[rng.integers(len(says))]
        else:
            absent = [n for n in NAMES if n not in {n for n, _ in says}]
            name, answer = absent[rng.integers(len(absent))], UNKNOWN
        out.append((f"{before}Question: {asked(name)}", f" {answer}"))
        before = "\n"
    return out
