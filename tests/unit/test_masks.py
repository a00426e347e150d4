"""Images and texts divided into parts, and what replaces a part that is off."""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image
import pytest
from scipy import stats

import eagle
from catalogue import Recorder
from eagle import Images, Texts, methods, peers
from eagle._engine import metering
from eagle._sources.texts import words
from eagle.contracts import Array
from eagle.explanation import Explanation
from eagle.spaces import EvenSizes, Fair
from tables import explainer_of

FOUR = np.kron(np.arange(4).reshape(2, 2), np.ones((3, 4), dtype=int))


def bright(X: Any) -> Array:
    return np.asarray(np.mean(X, axis=tuple(range(1, np.ndim(X))), dtype=float))


def picture(colour: bool = True, dtype: Any = np.float64) -> Any:
    p = np.random.default_rng(0).random((6, 8, 3) if colour else (6, 8))
    return (p * 255).astype(dtype) if np.dtype(dtype).kind in "iu" else p.astype(dtype)


def seen(data: Images, x: Any, budget: int = 60, **options: Any) -> tuple[Explanation, Any]:
    model = Recorder(bright)
    settings: dict[str, Any] = {"method": peers.LIME, "budget": budget, **options}
    e = explainer_of(model, data, task="regression", **settings).explain(x)
    return e, np.concatenate(model.asked)


# -- images: what is asked --------------------------------------------------------------------


def wanted(x: Any, labels: Any, beneath: Any, kept: Array) -> Any:
    """An image with parts replaced one by one, as a slow reference."""
    out = x.copy()
    for k, on in enumerate(kept):
        if not on:
            out[labels == k] = beneath[labels == k]
    return out


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int64, bool])
@pytest.mark.parametrize("fill", ["mean", "zero", "colour", "image"])
def test_only_what_is_off_differs(colour: bool, dtype: Any, fill: str) -> None:
    x = picture(colour, dtype)
    given: Any = {
        "mean": "mean",
        "zero": 0,
        "colour": np.array([1, 0, 1]).astype(dtype) if colour else 1,
        "image": x[::-1].copy(),
    }[fill]
    beneath = np.zeros_like(x)
    for k in range(4):
        there = k == FOUR
        mean = x[there].astype(float).mean(axis=0)
        if np.dtype(dtype).kind != "f":
            mean = np.rint(mean)
        beneath[there] = mean if fill == "mean" else np.broadcast_to(given, x.shape)[there]
    e, asked = seen(Images(FOUR, fill=given), x)
    assert asked.dtype == x.dtype
    assert np.array_equal(asked[0], x)
    assert e.evidence.features[0].all()
    for row, kept in zip(asked, e.evidence.features, strict=True):
        expected = wanted(x, FOUR, beneath, kept)
        same = np.isclose(row, expected, rtol=1e-6) if x.dtype.kind == "f" else row == expected
        assert same.all()
        on = kept[FOUR].astype(bool)
        assert np.array_equal(row[on], x[on])
    assert e.cost.rows == 16  # all there are


@pytest.mark.parametrize("renumbered", [lambda L: L + 1, lambda L: 10 * L - 7, lambda L: L - 9])
def test_labels_start_where_they_like(renumbered: Any) -> None:
    """LIME compares labels with column numbers from 0, so that one column of labels from 1 does
    nothing, and the last segment is never perturbed."""
    x = picture()
    e, _ = seen(Images(FOUR, fill=0), x)
    other, _ = seen(Images(renumbered(FOUR), fill=0), x)
    assert np.array_equal(other.scores, e.scores)
    assert e.names == ("segment 0", "segment 1", "segment 2", "segment 3")
    assert e.data == (12, 12, 12, 12)
    assert (np.abs(other.scores) > 0).all()


def test_a_function_cuts_each_picture_by_itself() -> None:
    def halves(p: Any) -> Any:
        return (p[..., 0] > p[..., 0].mean()).astype(int)

    many = np.random.default_rng(1).random((3, 6, 8, 3))
    ex = eagle.Explainer(bright, Images(halves), task="regression", budget=20)
    together = ex.explain_many(many, progress=False)
    for x, e in zip(many, together, strict=True):
        assert e.data == ((halves(x) == 0).sum(), (halves(x) == 1).sum())
        assert np.array_equal(ex.explain(x).scores, e.scores)
    as_lists = ex.explain_many([m.tolist() for m in many], progress=False)
    assert np.allclose(as_lists[1].scores, together[1].scores)


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("segments", [None, 5, np.int64(9)])
def test_superpixels_by_default(colour: bool, segments: Any) -> None:
    down, across = np.mgrid[:30, :40] / 40
    x = np.sin(9 * down) * np.cos(7 * across)
    x = np.stack([x, x**2, down], axis=-1) if colour else x
    e, asked = seen(Images(segments), x, budget=40)
    assert 2 <= len(e.names) <= 2 * int(segments or 20)
    assert sum(e.data) == x.shape[0] * x.shape[1]
    assert np.array_equal(asked[0], x)
    assert np.isfinite(e.scores).all()


def test_pictures_of_one_grey_or_one_pixel() -> None:
    for x in (np.full((12, 12, 3), 0.5), np.zeros((1, 1)), np.full((1, 1, 3), 7, np.uint8)):
        e, _ = seen(Images(), x)
        assert np.isfinite(e.scores).all()
        assert sum(e.data) == x.shape[0] * x.shape[1]
        assert len(e.names) == 1
        assert "of one colour is a single segment" in e.warnings[0]
        assert "what is off looks as what is on" in e.warnings[0]
        dark, asked = seen(Images(fill=0), x + np.ones_like(x))
        assert "looks as" not in dark.warnings[0]
        assert len(asked) == 2
    glass = np.full((12, 12, 4), 9, np.uint8)
    glass[..., 3] = np.arange(12)  # the visible colour is the same everywhere
    assert len(seen(Images(), glass)[0].names) == 1
    assert not any("segment" in w for w in seen(Images(FOUR, fill=0), picture())[0].warnings)


@pytest.mark.parametrize(
    "method",
    [
        *(methods.EAGLE, peers.LIME, peers.GLIME, peers.BAYESLIME, peers.BAYESSHAP),
        *(peers.BAYESSHAP_IID, peers.TILIA, peers.BAYLIME, peers.S_LIME),
    ],
)
def test_one_segment(method: Any) -> None:
    x = picture()
    e, asked = seen(Images(np.zeros((6, 8), int), fill=0), x, method=method)
    # Under GLIME's law, which absorbs a kernel of e^-8 there, the other mask hardly ever comes.
    assert e.cost.rows == len(asked) == (1 if method is peers.GLIME else 2)
    assert np.isfinite(e.scores).all()
    assert e.scores.shape == (1,)


# -- images: what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (np.zeros(5), r"shape \(height, width\)"),
        (np.zeros((1, 6, 8, 3)), "not float64 of shape"),
        (np.zeros((0, 8)), "shape"),
        (np.full((6, 8), "a"), "array of numbers"),
        ("image.png", "array of numbers"),
        (None, "array of numbers"),
        (np.full((6, 8), 1j), "array of numbers"),
        ([[1.0, 2.0], [3.0]], "differ in length"),
        (np.where(np.eye(6, 8) > 0, np.nan, 1.0), "NaN"),
        (np.full((6, 8, 3), np.inf), "infinity"),
        (np.full((6, 8), 0xFF8800), "16746496 in an image without channels .* unpack colours"),
        (np.zeros((8, 6)), r"segments of shape \(6, 8\) do not fit"),
    ],
)
def test_what_is_no_picture(wrong: Any, match: str) -> None:
    model = Recorder(bright)
    ex = eagle.Explainer(model, Images(FOUR), task="regression")
    with pytest.raises(eagle.InputError, match=match):
        ex.explain(wrong)
    assert not model.asked


@pytest.mark.parametrize("segments", [0, -3, True, 2.5, "slic", {}, FOUR[..., None]])
def test_what_are_no_segments(segments: Any) -> None:
    with pytest.raises(eagle.InputError, match="segments are a number of them") as e:
        seen(Images(segments), picture())
    assert "\n" not in str(e.value)


def test_a_palette_is_no_grey() -> None:
    """As an array, a palette image would be indices of colours, whose order means nothing."""
    rgb = PIL.Image.fromarray(picture(dtype=np.uint8))
    assert len(seen(Images(FOUR), rgb)[0].names) == 4
    with pytest.raises(eagle.InputError, match="convert it to RGB"):
        seen(Images(FOUR), rgb.convert("P"))


def test_one_colour_picture_is_not_many_grey_ones() -> None:
    ex = eagle.Explainer(bright, Images(), task="regression", budget=20)
    with pytest.raises(eagle.InputError, match="one colour image, not several: use explain"):
        ex.explain_many(picture(), progress=False)
    assert len(ex.explain_many(picture()[None], progress=False)) == 1
    assert len(ex.explain_many(np.moveaxis(picture(), -1, 0), progress=False)) == 3  # grey


def test_labels_may_be_lists() -> None:
    e, _ = seen(Images(FOUR.tolist()), picture())
    assert len(e.names) == 4
    with pytest.raises(eagle.InputError, match="do not fit"):
        seen(Images([[0, 1]]), picture())  # type: ignore[arg-type]
    with pytest.raises(eagle.InputError, match="do not fit"):
        seen(Images(lambda p: p), picture())


@pytest.mark.parametrize(
    ("fill", "dtype"),
    [
        *(("black", np.float64), (None, np.float64), (None, np.uint8), (np.nan, np.float64)),
        *((np.inf, np.float64), (300, np.uint8), (-1, np.uint8), (0.5, np.uint8)),
        *(((1, 2), np.uint8), (np.zeros((8, 6, 3)), np.float64)),
        *((np.zeros((6, 8)), np.float64), ([1, [2]], np.float64), (1e39, np.float32)),
    ],
)
def test_what_is_no_fill(fill: Any, dtype: Any) -> None:
    """Also a fraction in an integer image, which would silently become 0."""
    with pytest.raises(eagle.InputError, match="fill"):
        seen(Images(FOUR, fill=fill), picture(dtype=dtype))


@pytest.mark.parametrize("nothing", [[], np.zeros((0, 6, 8)), 3, None])
def test_no_pictures(nothing: Any) -> None:
    ex = eagle.Explainer(bright, Images(FOUR), task="regression")
    with pytest.raises(eagle.InputError, match="image"):
        ex.explain_many(nothing, progress=False)


def test_what_is_for_tables_is_refused() -> None:
    for options in ({"view": "binned"}, {"names": ["a"]}, {"fixed": [0]}, {"scales": 1.0}):
        for data in (Images(FOUR), Texts()):
            with pytest.raises(eagle.InputError, match="for tables"):
                explainer_of(bright, data, **options)


# -- images: large ones -----------------------------------------------------------------------


@pytest.mark.parametrize("method", [methods.EAGLE, peers.BAYESLIME])
def test_no_call_is_too_large(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(48).reshape(6, 8)
    x = picture()
    whole, one = Recorder(bright), Recorder(bright)
    options: dict[str, Any] = {"method": method, "task": "regression", "budget": 100}
    e = eagle.Explainer(whole, Images(labels), **options).explain(x)
    monkeypatch.setattr(metering, "MAX_CALL_BYTES", 7 * x.nbytes + 1)
    parts = eagle.Explainer(one, Images(labels), **options).explain(x)
    assert max(len(X) for X in one.asked) == 7
    assert all(X.nbytes <= metering.MAX_CALL_BYTES for X in one.asked)
    assert len(one.asked) > len(whole.asked)
    assert np.array_equal(np.concatenate(one.asked), np.concatenate(whole.asked))
    assert np.array_equal(parts.scores, e.scores)
    assert parts.cost.rows == e.cost.rows == 100
    if method is methods.EAGLE:
        assert parts.cost.calls == len(one.asked) == -(-100 // 7)
    monkeypatch.setattr(metering, "MAX_CALL_BYTES", 1)
    alone = eagle.Explainer(bright, Images(labels), **{**options, "budget": 12}).explain(x)
    assert alone.cost.rows == 12


def test_a_plan_of_pictures_is_no_larger_than_memory() -> None:
    """A plan is drawn as a whole, though explain would draw these one call after the other."""
    large = np.zeros((2000, 2000, 3), np.uint8)
    cut = np.arange(2000 * 2000).reshape(2000, 2000) % 64
    with pytest.raises(eagle.InputError, match="4000 images of this plan would take 44"):
        eagle.Explainer(None, Images(cut, fill=1), budget=4000).plan(large)


# -- texts --------------------------------------------------------------------------------------


def tokens(text: str) -> list[str]:
    return [text[a:b] for a, b in words(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It's a well-made film, isn’t it?", ["It's", "a", "well-made", "film", "isn’t", "it"]),
        ("Été à Zürich: 20°C!", ["Été", "à", "Zürich", "20", "C"]),
        ("cafe\u0301 re\u0301sume\u0301", ["cafe\u0301", "re\u0301sume\u0301"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("好 电影 🎉 真的", ["好", "电", "影", "🎉", "真", "的"]),
        ("❤\ufe0f love 👩\u200d💻", ["❤\ufe0f", "love", "👩\u200d💻"]),
        ("'quoted' - dash - x_1", ["quoted", "dash", "x_1"]),
        ("", []),
        ("🎉🎉 !!", ["🎉", "🎉"]),
        ("👍🏽👎🏽❤\ufe0f🔥", ["👍🏽", "👎🏽", "❤\ufe0f", "🔥"]),
        ("🇬🇧🇫🇷 3\ufe0f\u20e3 ⭐⭐ ↔\ufe0f", ["🇬🇧", "🇫🇷", "3\ufe0f\u20e3", "⭐", "⭐", "↔\ufe0f"]),
        ("👩\u200d👩\u200d👧👦", ["👩\u200d👩\u200d👧", "👦"]),
        ("人々 ｶﾅ 𠀀𠀁", ["人", "々", "ｶ", "ﾅ", "𠀀", "𠀁"]),
        ("שלום עולם، مرحبا", ["שלום", "עולם", "مرحبا"]),
    ],
)
def test_words(text: str, parts: list[str]) -> None:
    assert tokens(text) == parts


def read(text: str, how: Texts | None = None, budget: int = 400) -> tuple[Explanation, list[str]]:
    asked: list[str] = []

    def model(texts: Any) -> Array:
        assert type(texts) is list
        asked.extend(texts)
        return np.array([len(t) for t in texts], dtype=float)

    data = how or Texts()
    e = eagle.Explainer(model, data, method=peers.LIME, task="regression", budget=budget).explain(
        text
    )
    return e, asked


def test_a_word_that_is_off_is_dropped_with_one_of_its_spaces() -> None:
    e, asked = read("good, bad and  odd\tthe end. ", Texts(split=words))
    assert e.names == ("good", "bad", "and", "odd", "the", "end")
    assert asked[0] == "good, bad and  odd\tthe end. "
    said = {tuple(z): t for z, t in zip(e.evidence.features.tolist(), asked, strict=True)}
    for off, text in [
        ("good", ", bad and  odd\tthe end. "),
        ("bad", "good, and  odd\tthe end. "),
        ("odd", "good, bad and  the end. "),
        ("and", "good, bad odd\tthe end. "),
        ("the", "good, bad and  odd\tend. "),
        ("end", "good, bad and  odd\tthe . "),
    ]:
        mask = tuple(float(name != off) for name in e.names)
        assert said[mask] == text
    assert said[(0.0,) * 6] == ", . "


def test_repeats_are_one_feature_or_several() -> None:
    text = "no no, never No"
    e, asked = read(text, Texts(split=words))
    assert e.names == ("no", "never", "No")
    assert e.data == (2, 1, 1)
    assert ", never No" in asked
    each, _ = read(text, Texts(split=words, bag=False))
    assert each.names == ("no [0]", "no [1]", "never", "No")
    assert each.data == (1, 1, 1, 1)


@pytest.mark.parametrize("text", ["", "   ", " \n\t"])
def test_a_text_without_words_is_refused(text: str) -> None:
    asked: list[str] = []
    ex = eagle.Explainer(lambda t: asked.extend(t), Texts(), task="regression")
    with pytest.raises(eagle.InputError, match="nothing to explain"):
        ex.explain(text)
    with pytest.raises(eagle.InputError, match="text 1, counted from 0: there is nothing to expl"):
        ex.explain_many(["fine", text], progress=False)
    assert not asked


def test_what_is_no_text() -> None:
    ex = eagle.Explainer(lambda t: np.zeros(len(t)), Texts(), task="regression")
    wrong: Any
    for wrong in (3, None, ["a b"], b"a b"):
        with pytest.raises(eagle.InputError, match="texts are strings"):
            ex.explain(wrong)
    for wrong in ("a b", [1, 2], ["a", None], 3, None):
        with pytest.raises(eagle.InputError, match=r"texts are strings|text \d, .* is a string"):
            ex.explain_many(wrong, progress=False)
    with pytest.raises(eagle.InputError, match="no texts"):
        ex.explain_many([], progress=False)
    assert ex.explain(np.str_("a b")).names == ("a", "b")


@pytest.mark.parametrize(
    "method",
    [
        *(methods.EAGLE, methods.EAGLE_PAPER, peers.LIME, peers.GLIME, peers.GLIME_LIME),
        *(peers.BAYESLIME, peers.BAYESSHAP_IID, peers.BAYESSHAP, peers.TILIA),
        peers.BAYLIME,
    ],
    ids=lambda method: method.name,
)
def test_many_texts_of_any_length_share_calls(method: Any) -> None:
    sizes: list[int] = []

    def model(texts: list[str]) -> Array:
        sizes.append(len(texts))
        return np.array([t.count("good") - t.count("bad") for t in texts], dtype=float)

    ex = eagle.Explainer(model, Texts(), task="regression", budget=50, method=method)
    texts = ["a good film", "the plot was bad and far too long for me", "one bad word", "good"]
    many = ex.explain_many(texts, progress=False)
    assert len(sizes) == max(e.cost.calls for e in many)
    assert not method.planned or len(sizes) == 1
    assert sum(sizes) == sum(e.cost.rows for e in many)
    for text, e in zip(texts, many, strict=True):
        alone = ex.explain(text)
        assert np.array_equal(alone.scores, e.scores)
        assert e.names == tuple(dict.fromkeys(text.split()))


# -- laws of masks ------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [Fair(), EvenSizes()])
@pytest.mark.parametrize("d", [1, 2, 7, 13])
def test_counts_are_what_is_drawn(law: Any, d: int) -> None:
    expected = law.counts(d)
    assert expected.shape == (d + 1,)
    assert np.isclose(expected.sum(), 1.0)
    n = 20_000
    off = law.draw(n, d, np.random.default_rng(d))
    assert off.shape == (n, d)
    assert off.dtype == np.uint8
    assert set(np.unique(off)) <= {0, 1}
    counts = np.bincount(d - off.sum(axis=1, dtype=int), minlength=d + 1)
    there = expected * n > 5
    assert counts[expected == 0].sum() == 0
    if there.sum() > 1:
        observed = counts[there]
        scaled = expected[there] / expected[there].sum() * observed.sum()
        assert stats.chisquare(observed, scaled).pvalue > 0.001
    share = off.mean(axis=0)  # no part is preferred
    assert np.abs(share - share.mean()).max() < 5 * 0.5 / np.sqrt(n)


# -- images: brighter and darker --------------------------------------------------------------


@pytest.mark.parametrize("method", [methods.EAGLE, peers.GLIME_GAUSS, peers.LIME])
def test_the_slopes_of_brightness_are_found(method: Any) -> None:
    slopes = np.array([1.0, -2.0, 0.5, 0.0])
    x = np.full((6, 8), 0.5)

    def model(X: Any) -> Any:
        return np.array([[slopes[k] * p[k == FOUR].mean() for k in range(4)] for p in X]).sum(1)

    data = Images(FOUR, shift=0.05)
    e = eagle.Explainer(model, data, task="regression", method=method).explain(x)
    assert np.allclose(e.scores, 0.05 * slopes, atol=2e-3)
    assert np.isclose(e.intercept, model(x[None])[0], atol=2e-3)


def test_shifted_pixels_stay_in_range_and_alpha_as_it_is() -> None:
    asked: list[Any] = []

    def model(X: Any) -> Any:
        asked.append(X)
        return X[..., 0].mean(axis=(1, 2)).astype(float)

    glass = np.full((6, 8, 4), 250, dtype=np.uint8)
    glass[..., 3] = 7
    eagle.Explainer(model, Images(FOUR, shift=40), task="regression", budget=50).explain(glass)
    (X,) = asked
    assert X.dtype == np.uint8
    assert (X[..., 3] == 7).all()
    assert X[..., :3].max() == 255
    assert X[..., :3].min() < 200
    assert all(np.ptp(p[k == FOUR][:, :3]) == 0 for p in X for k in range(4))
    for wrong in (0, -1, np.inf, np.nan):
        with pytest.raises(eagle.InputError, match="positive number"):
            Images(FOUR, shift=wrong)
    with pytest.raises(eagle.InputError, match="BayesSHAP needs features that match"):
        eagle.Explainer(model, Images(FOUR, shift=1), method=peers.BAYESSHAP, task="regression")
    with pytest.raises(eagle.InputError, match="images with a shift"):
        eagle.Explainer(model, Images(FOUR), method=peers.GLIME_GAUSS, task="regression")


class Tokenizer:
    """A tokenizer with the parts of Hugging Face's fast ones that are used."""

    is_fast = True

    def __call__(self, text: str, **how: Any) -> dict[str, Any]:
        assert how == {"return_offsets_mapping": True, "add_special_tokens": False}
        return {"offset_mapping": [(k, min(k + 3, len(text))) for k in range(0, len(text), 3)]}


class Slow(Tokenizer):
    def __call__(self, text: str, **how: Any) -> dict[str, Any]:
        raise NotImplementedError


def test_tokenizers_with_offsets_and_functions_that_give_strings() -> None:
    e, asked = read("abcdefgh", Texts(split=Tokenizer()))
    assert e.names == ("abc", "def", "gh")
    assert "abcgh" in asked
    with pytest.raises(eagle.InputError, match="take a fast one"):
        read("abc", Texts(split=Slow()))
    e, _ = read("one two one", Texts(split=str.split, bag=False))
    assert e.names == ("one [0]", "two", "one [2]")
    with pytest.raises(eagle.InputError, match="not in the text in this order"):
        read("one two", Texts(split=lambda t: ["two", "one"]))
    with pytest.raises(eagle.InputError, match="as strings or as"):
        read("one two", Texts(split=lambda t: [1, 2]))
    for wrong in ({"split": 3}, {"mask": 3}):
        with pytest.raises(eagle.InputError):
            Texts(**wrong)  # type: ignore[arg-type]


def test_sentences() -> None:
    text = "Good film! Was it? Yes… (really)\nAnd so on"
    from eagle._sources.texts import sentences

    found = [text[a:b] for a, b in sentences(text)]
    assert found == ["Good film!", "Was it?", "Yes…", "(really)", "And so on"]
    text = 'It cost 3.50 at a.com. "Really?!" Wow!So it is... 好。坏！ हाँ। نعم؟ ?!'
    found = [text[a:b] for a, b in sentences(text)]
    assert found == [
        "It cost 3.50 at a.com.",
        '"Really?!"',
        "Wow!",
        "So it is...",
        "好。",
        "坏！",
        "हाँ।",
        "نعم؟ ?!",
    ]


def test_more_words_than_a_float_has_powers_of_two() -> None:
    text = " ".join(f"w{k}" for k in range(1100))
    e, asked = read(text, Texts(unit="word"), budget=20)
    assert len(e.names) == 1100
    assert len(set(asked)) == 20


@pytest.mark.parametrize(
    ("data", "thing"),
    [(Images(), np.random.default_rng(0).random((30, 30, 3))), (Texts(), "a b c")],
)
def test_logits_are_not_taken_for_quantities(data: Any, thing: Any) -> None:
    """Several numbers that sum to something else would be explained as output 0 of a regression."""

    def logits(X: Any) -> Any:
        return np.linspace(-3, 4, 3 * len(X)).reshape(len(X), 3)

    with pytest.raises(
        eagle.ReplyError, match=r"3 numbers between -3 and 4 .* perhaps logits"
    ) as e:
        eagle.Explainer(logits, data).explain(thing)
    assert e.value.answers.shape[1] == 3  # what was paid for is kept
    with pytest.raises(eagle.ReplyError, match="if these are logits, return their softmax"):
        eagle.Explainer(logits, data, task="classification").explain(thing)
    assert eagle.Explainer(logits, data, task="regression").explain(thing).task == "regression"


def test_photographs_have_about_as_many_segments_as_were_asked() -> None:
    from skimage.data import astronaut

    photo = astronaut()[::4, ::4]
    counts = {
        given: len(
            eagle.Explainer(
                lambda X: X.mean(axis=(1, 2, 3)), eagle.Images(50, compactness=given), budget=5
            )
            .explain(photo)
            .names
        )
        for given in (10.0, 30.0)
    }
    assert counts[10.0] < 40 <= counts[30.0] <= 55
    with pytest.raises(eagle.InputError, match="compactness must be a positive number, not 0"):
        eagle.Images(compactness=0)


def test_images_say_into_how_many_segments_they_are_cut() -> None:
    labels = np.zeros((4, 4), dtype=int)
    assert eagle.Images(30).describe() == ["Explains: images, by about 30 segments"]
    assert "about 50 segments, or 20" in eagle.Images().describe()[0]
    assert eagle.Images(labels).describe() == ["Explains: images, by segments as given"]
