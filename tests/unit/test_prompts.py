"""Prompts: which parts may be left out, what is asked, and how the result is shown and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from eagle import InputError
from eagle._values.subject import Passage
from eagle.language import Prompt

TEMPLATE = "{rule}\n\n{sources}\n\nQ: {question}\nA:"
PROMPT = Prompt(TEMPLATE, fixed=("rule", "question"))
HOSTILE = "</div><script>alert(1)</script> {question} $x_1$ \x1b[31m\u202e"
GIVEN: dict[str, Any] = {
    "rule": "Be {brief}.",
    "sources": {"wiki": "Paris is big.", "news": HOSTILE, "blog": "Cats."},
    "question": "What?",
}


def counted(prompts: Any) -> Any:
    return np.array([3.0 * ("Paris" in p) - 1.0 * ("script" in p) for p in prompts])


def asked(source: Prompt, prompt: Any) -> list[str]:
    return list(eagle.Explainer(counted, source, budget=64).plan(prompt).inputs)


def test_every_choice_of_parts_is_asked_in_the_template() -> None:
    found = asked(PROMPT, GIVEN)
    assert found[0] == f"Be {{brief}}.\n\nParis is big.\n\n{HOSTILE}\n\nCats.\n\nQ: What?\nA:"
    by_hand = {
        "Be {brief}.\n\n" + "\n\n".join(kept) + "\n\nQ: What?\nA:"
        for kept in (
            [t for t, k in zip(GIVEN["sources"].values(), (a, b, c), strict=True) if k]
            for a in (0, 1)
            for b in (0, 1)
            for c in (0, 1)
        )
    }
    assert set(found) == by_hand


def test_fields_are_texts_lists_and_sentences() -> None:
    e = eagle.Explainer(counted, Prompt(fixed=["q"], split={"long": "sentence"})).explain(
        {"long": "Paris is. Rome was!", "list": ["one", "two"], "one": "text", "q": "Q?"}
    )
    assert e.names == ("long 1", "long 2", "list 1", "list 2", "one")
    assert np.allclose(e.scores, [3, 0, 0, 0, 0], atol=1e-9)  # all masks are asked
    assert e.data[0] == "Paris is."
    assert "Rome was!\n\nQ?" in asked(
        Prompt(fixed=["q"], split={"a": "sentence"}), {"a": "Paris is. Rome was!", "q": "Q?"}
    )
    assert sorted(asked(Prompt("{a}|", separator="+", mask="[cut]"), ["x", "y"])) == [
        "[cut]+[cut]|",
        "[cut]+y|",
        "x+[cut]|",
        "x+y|",
    ]
    words = eagle.Explainer(counted, Prompt(split={"a": "word"})).plan({"a": "Paris, Paris"})
    assert words.names == ("a: Paris [0]", ",", "a: Paris [2]")


def test_names_that_two_fields_share_are_told_apart() -> None:
    plan = eagle.Explainer(counted, Prompt()).plan({"a": {"x": "1"}, "b": {"x": "2", "y": "3"}})
    assert plan.names == ("a: x", "b: x", "y")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Prompt("no field"), "the template has no field"),
        (lambda: Prompt("{a.b}"), "a field of the template is a plain name.*'a.b'"),
        (lambda: Prompt("{a!r}"), "plain name"),
        (lambda: Prompt("{}"), "plain name"),
        (lambda: Prompt("{a} {a}"), "'a' twice"),
        (lambda: Prompt("{a"), "the template cannot be read.*written twice"),
        (lambda: Prompt("{a}", fixed=["a"]), "all fields of the template are fixed"),
        (lambda: Prompt("{a}", fixed=["b"]), "no field 'b': its fields are 'a'"),
        (lambda: Prompt("{a}", fixed="a"), "fixed, the names of fields"),
        (lambda: Prompt("{a}", split={"a": "page"}), "'sentence' or 'paragraph', not 'page'"),  # type: ignore[dict-item]
        (lambda: Prompt(7), "a template is a text"),  # type: ignore[arg-type]
        (lambda: Prompt(mask=3), "a mask must be a text"),  # type: ignore[arg-type]
        (lambda: asked(PROMPT, {"rule": "r", "question": "q"}), "lacks the field 'sources'"),
        (lambda: asked(PROMPT, GIVEN | {"more": "x"}), "no field 'more'"),
        (lambda: asked(PROMPT, "text"), "a prompt is a dictionary"),
        (lambda: asked(PROMPT, GIVEN | {"sources": [1]}), "'sources 1' is a text, not 1"),
        (lambda: asked(PROMPT, GIVEN | {"sources": ["a", " "]}), "'sources 2' is empty"),
        (lambda: asked(PROMPT, GIVEN | {"sources": 3}), "is a text, or a list or dictionary"),
        (lambda: asked(PROMPT, GIVEN | {"sources": []}), "there is no part to explain"),
        (lambda: asked(Prompt(fixed=["q"]), {"a": "x"}), "the prompt has no field 'q'"),
        (lambda: asked(Prompt(), {1: "x"}), "the name of a field is a text"),
        (
            lambda: eagle.Explainer(counted, PROMPT).explain_many(GIVEN),
            "several prompts are a list of them",
        ),
    ],
)
def test_misuse_is_a_sentence(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_hostile_texts_stay_text_and_uncertainty_stands_beside_scores(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sources = GIVEN["sources"] | {f"<b>{k}": f"word {k}" for k in range(8)}

    def noisy(prompts: Any) -> Any:
        return counted(prompts) + rng.normal(size=len(prompts))

    e = eagle.Explainer(noisy, PROMPT, budget=64).explain(GIVEN | {"sources": sources})
    page = e._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>&lt;b&gt;0</b>" in page
    assert page.count('class="part"') == 11
    assert "Be {brief}." in page
    unsure = int((~e.sure()).sum())
    assert 0 < unsure < 11
    assert page.count("rgba(119,119,119") == unsure  # grey
    assert "\x1b" not in page + str(e)
    e.save(tmp_path / "e.json")
    again = eagle.Explanation.load(tmp_path / "e.json")
    assert again.subject == e.subject
    assert isinstance(again.subject, Passage)
    assert again.subject.labels == e.names


def test_a_prompt_is_drawn_with_a_line_for_each_interval() -> None:
    import matplotlib.pyplot as plt

    source = PROMPT
    rng = np.random.default_rng(1)
    sources = {f"s{k}": f"Paris {k}. " * (30 if k == 2 else 1) for k in range(7)}
    e = eagle.Explainer(lambda p: rng.normal(size=len(p)), source, budget=32).explain(
        GIVEN | {"sources": sources}
    )
    with plt.rc_context():
        ax = eagle.plot.prompt(e)
        assert len(ax.patches) == 7
        assert sum(np.size(line.get_xdata()) == 2 for line in ax.lines) == 8  # and the line at zero
        drawn = "\n".join(text.get_text() for text in ax.texts)
        assert "Q: What?" in drawn
        assert "s6" in drawn
        _, small = plt.subplots(figsize=(3, 2))
        assert eagle.plot.prompt(e, ax=small) is small
        plt.close("all")
    with pytest.raises(InputError, match="prompt draws explanations of prompts"):
        eagle.plot.prompt(
            eagle.Explainer(lambda t: np.arange(len(t)) / 9, eagle.Texts()).explain("a b c")
        )
