"""Metrics refuse unusable input in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from eagle.errors import EagleError, InputError
from eagle.metrics import faith, stability, truth
from evaluation.consistency import consistency, rank_similarity, sign_entropy

OVER_RUNS: list[Callable[[Any], Any]] = [
    stability.jaccard,
    sign_entropy,
    rank_similarity,
    consistency,
]
AGAINST: list[Callable[..., Any]] = [
    truth.agreement,
    truth.relative_error,
]


@pytest.mark.parametrize("figure", OVER_RUNS)
@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[1, 2]], "at least 2 runs"),
        ([1, 2], r"shape \(runs, d\)"),
        ([[[1, 2]]], r"shape \(runs, d\)"),
        ([[1, 2], [1]], "differ in length"),
        ([], r"shape \(runs, d\)"),
        (np.empty((2, 0)), "empty"),
        ([[1, np.nan], [1, 2]], "finite"),
        ([[1, np.inf], [1, 2]], "finite"),
        ([["1", "2"], ["1", "2"]], "must be numbers"),
        ([SimpleNamespace(), SimpleNamespace()], "must be numbers"),
        (np.ones((2, 2), dtype=complex), "must be numbers"),
    ],
)
def test_scores_that_do_not_fit(figure: Callable[[Any], Any], scores: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        figure(scores)


@pytest.mark.parametrize("figure", AGAINST)
@pytest.mark.parametrize(
    ("scores", "reference", "words"),
    [
        ([[1, 2]], [1, 2, 3], "features as the rest: 2, not 3"),
        ([[1, 2]], [[1, 2]], r"reference must have the shape \(d,\)"),
        ([[1, 2]], [1, np.nan], "finite"),
        ([1, 2], [1, 2], r"shape \(runs, d\)"),
        (np.empty((0, 2)), [1, 2], "empty"),
    ],
)
def test_references_that_do_not_fit(
    figure: Callable[..., Any], scores: Any, reference: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        figure(scores, reference)


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "2"])
def test_places_that_do_not_fit(k: Any) -> None:
    scores = [[1, 2], [1, 2]]
    for act in (
        lambda: stability.jaccard(scores, k),
        lambda: truth.agreement(scores, [1, 2], k),
        lambda: faith.gaps([0, 1, 2], lambda masks: masks.sum(axis=1), k),
    ):
        with pytest.raises(InputError, match="k must be an integer"):
            act()


def kept(masks: Any) -> Any:
    return masks.sum(axis=1)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: rank_similarity([[1], [2]], 1.0), "persistence"),
        (lambda: truth.coverage([[0, 1]], [1]), r"\(runs, d, 2\)"),
        (lambda: truth.coverage([[[0, 1]]], [1, 2]), "features as the rest: 1, not 2"),
        (lambda: truth.width([[1, 0]]), "low bound"),
        (lambda: truth.width([[0, np.nan]]), "low bound"),
        (lambda: truth.width([[0, 1, 2]]), r"\(…, d, 2\)"),
        (lambda: truth.width(np.empty((0, 2))), "empty"),
        (lambda: faith.insertion([0, 0], kept), "once"),
        (lambda: faith.insertion([1, 2], kept), "once"),
        (lambda: faith.deletion([0.0, 1.0], kept), "integers"),
        (lambda: faith.deletion([], kept), "integers"),
        (lambda: faith.insertion([0, 1], lambda masks: [1.0]), "3 masks need as many answers"),
        (lambda: faith.insertion([0, 1], lambda masks: masks), r"shape \(m,\)"),
        (lambda: faith.insertion([0, 1], lambda masks: [np.nan] * 3), "finite"),
        (lambda: faith.gaps([0, 1], kept, 2), "below the number of features"),
        (lambda: faith.gaps([0, 1], kept, 1, draws=0), "draws"),
    ],
)
def test_refusals(act: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        act()
    assert isinstance(caught.value, EagleError)


def test_lists_and_whole_numbers_are_arrays_too() -> None:
    assert stability.jaccard([[3, 2, 1], [3, 2, 1]], 2) == 1
    assert truth.coverage([[[0, 1]]], [1]).tolist() == [1.0]
    assert faith.insertion((1, 0), kept) == 1.0
