"""Images and texts with their explanations: on pages, on consoles and in plots."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any
from unicodedata import bidirectional

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import eagle
from catalogue import LABELS, PICTURES, TEXTS, TWO, brightness, mood
from eagle import methods, peers
from eagle._values import png
from eagle._values.posterior import Bounds
from eagle._values.subject import MAX_PIXELS, Image, Passage
from eagle.cli.demo import DEMOS
from eagle.display.numbers import Numbers, number
from eagle.display.panels import outlines, pictures
from eagle.display.sheet import Shown
from eagle.display.text import cells
from eagle.errors import InputError

mpl.use("Agg")


@pytest.fixture(scope="module")
def picture() -> eagle.Explanation:
    return eagle.Explainer(brightness, eagle.Images(LABELS, fill=0), budget=60, **TWO).explain(
        PICTURES[0]
    )


def explained(text: str, **options: Any) -> eagle.Explanation:
    return eagle.Explainer(mood, eagle.Texts(**options), budget=60, **TWO).explain(text)


# -- what is kept -------------------------------------------------------------------------------


def test_pictures_and_texts_travel_with_their_explanation(picture: eagle.Explanation) -> None:
    for e in (picture, explained(TEXTS[0])):
        back = eagle.Explanation.from_dict(e.to_dict())
        assert back.to_dict() == e.to_dict()
        assert type(back.subject) is type(e.subject)
        assert e._repr_html_() == back._repr_html_()
    subject = picture.subject
    assert isinstance(subject, Image)
    assert subject.pixels.shape == (8, 6, 3)
    assert np.array_equal(subject.pixels, np.rint(255 * PICTURES[0]))
    assert np.array_equal(subject.labels, LABELS - 1)


def test_large_pictures_are_kept_small() -> None:
    big = np.zeros((3000, 100), dtype=np.uint8)
    kept = Image.of(big, np.zeros(big.shape, dtype=np.intp))
    assert max(kept.labels.shape) <= MAX_PIXELS
    assert kept.pixels.shape == (*kept.labels.shape, 3)


@pytest.mark.parametrize(
    ("pixels", "darkest", "brightest"),
    [
        (np.array([[0.0, 1.0]]), 0, 255),
        (np.array([[0.0, 16.0]]), 0, 255),
        (np.array([[0, 128]], dtype=np.uint8), 0, 128),
        (np.array([[-1.0, 1.0]]), 0, 255),
        (np.array([[False, True]]), 0, 255),
        (np.array([[7.0, 7.0]]), 0, 0),
    ],
)
def test_pixels_of_any_range_are_shown(pixels: Any, darkest: int, brightest: int) -> None:
    shown = Image.of(pixels, np.zeros(pixels.shape, dtype=np.intp)).pixels
    assert (shown.min(), shown.max()) == (darkest, brightest)


def test_what_is_transparent_shows_the_paper() -> None:
    glass = np.zeros((1, 2, 4), dtype=np.uint8)
    glass[0, 0, 3] = 255
    shown = Image.of(glass, np.zeros((1, 2), dtype=np.intp)).pixels
    assert shown[0].tolist() == [[0, 0, 0], [255, 255, 255]]


def test_png_by_another_reader() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (7, 5, 3), dtype=np.uint8)
    assert np.array_equal(
        np.rint(255 * plt.imread(io.BytesIO(png.encode(pixels)), format="png")), pixels
    )


# -- pages and consoles -------------------------------------------------------------------------


def test_hostile_texts_are_escaped() -> None:
    e = explained("<script>alert(1)</script> & \"good\" 'bad' <b>x</b>")
    page = e._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;" in page


def test_what_joins_is_shown_and_what_turns_is_not() -> None:
    e = explained("👩\u200d💻 می\u200cخواهم \u202egood\u202c bad")
    for shown in (e._repr_html_(), str(e)):
        assert "👩\u200d💻" in shown
        assert "می\u200cخواهم" in shown
        assert "\u202e" not in shown


def test_a_text_on_a_console_marks_what_is_sure() -> None:
    e = explained("a good film with a bad end")
    shown = str(e)
    sure = {name for name, one in zip(e.names, e.sure(), strict=True) if one}
    assert {"good", "bad"} <= sure
    for name in e.names:
        mark = "▲" if e.scores[e.names.index(name)] > 0 else "▼"
        assert (f"{name}{mark}" in shown) == (name in sure)


def test_segments_on_a_page_have_outlines(picture: eagle.Explanation) -> None:
    large = LABELS.repeat(5, axis=0).repeat(5, axis=1)
    pixels = PICTURES[0].repeat(5, axis=0).repeat(5, axis=1)
    sheet = replace(picture, subject=Image.of(pixels, large - 1)).sheet().shown
    assert isinstance(sheet.subject, Image)
    heat = pictures(sheet, sheet.subject)[1].astype(float).sum(axis=2)
    assert (heat[:, 14] < 0.7 * heat[:, 13]).mean() > 0.7  # where column 2 meets column 3


def test_a_long_text_is_explained_by_sentences_and_says_so() -> None:
    text = " ".join(f"Line {i} is good here, number{i} indeed." for i in range(40))
    e = explained(text)
    assert 15 < len(e.names) < 20
    assert isinstance(e.subject, Passage)
    assert "blocks of about" in e.subject.cut
    assert "40 sentences are too many for 60 rows" in e.subject.cut
    assert any(e.subject.cut[:30] in fact for fact in e.sheet().facts)
    assert not e.subject.note
    by_word = explained(text, unit="word")
    assert len(by_word.names) > 40
    assert by_word.posterior is None  # fewer than two rows a word: no intervals


# -- plots --------------------------------------------------------------------------------------


def bounds(scores: Any, half: Any) -> Bounds:
    return Bounds(scores, scores - half, scores + half, 0.95)


def test_image_draws_three_panels_or_two_without_intervals(picture: eagle.Explanation) -> None:
    wide = replace(picture, posterior=bounds(picture.scores, np.linspace(0.1, 0.9, 8)))
    axes = eagle.plot.image(wide)
    assert len(axes) == 3
    axes[0].figure.canvas.draw()
    same = replace(picture, posterior=bounds(picture.scores, np.full(8, 0.1)))
    assert len(eagle.plot.image(same)) == 2
    assert len(eagle.plot.image(replace(picture, posterior=None))) == 2
    figure, given = plt.subplots(1, 3)
    assert eagle.plot.image(wide, given)[1] is given[1]
    with pytest.raises(InputError, match="draws on 3 matplotlib Axes"):
        eagle.plot.image(wide, figure.add_subplot())
    with pytest.raises(InputError, match="images"):
        eagle.plot.image(explained(TEXTS[0]))


def test_image_hides_what_is_not_sure_or_not_strong(picture: eagle.Explanation) -> None:
    def coloured(**how: Any) -> set[int]:
        heat = np.ma.masked_invalid(eagle.plot.image(picture, **how)[1].images[1].get_array())
        assert isinstance(picture.subject, Image)
        return set(np.unique(picture.subject.labels[~np.ma.getmaskarray(heat)]).tolist())

    sure = [j for j in picture.order().tolist() if picture.sure()[j]]
    assert len(sure) > 5
    assert coloured() == set(sure[:5])
    assert coloured(max_display=2) == set(sure[:2])
    assert coloured(max_display=None) == set(sure)
    assert coloured(sure=False, max_display=None) == set(range(8))
    written = [t.get_text() for t in eagle.plot.image(picture, numbers=True)[1].texts]
    assert sorted(written) == [str(k) for k in range(8)]
    outlined = eagle.plot.image(picture, max_display=3)[0]
    assert [t.get_text() for t in outlined.texts if t.get_text().isdigit()] == [
        str(k) for k in sure[:3]
    ]
    page = picture._repr_html_()
    assert re.findall(r"<text [^>]*font-size[^>]*>(\d+)</text>", page) == [str(k) for k in sure[:5]]
    for wrong in (0, -1, True, "two"):
        with pytest.raises(InputError, match="how many segments to show"):
            coloured(max_display=wrong)


@pytest.mark.parametrize(
    "text",
    [
        "good",
        TEXTS[3],
        "好的电影 good 👍🏽",
        "$a_b^c$ costs $5 and good",
        "word " * 900 + "good end",
        "هذا جيد (good film) 3 مرات!",
    ],
)
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")  # this machine may have none
def test_texts_are_drawn(text: str) -> None:
    ax = eagle.plot.text(explained(text, bag=len(text) > 2000))
    with mpl.rc_context({"text.parse_math": True}):
        figure: Any = ax.figure
        figure.savefig(io.BytesIO(), format="svg")
    words = [t.get_text() for t in ax.texts]
    assert any("good" in w or "word" in w for w in words)


def test_only_texts_are_drawn_as_texts(picture: eagle.Explanation) -> None:
    with pytest.raises(InputError, match="texts"):
        eagle.plot.text(picture)


def test_frames_are_thicker_where_intervals_are_wider() -> None:
    e = explained(TEXTS[0])
    ax = eagle.plot.text(e)
    wide = np.ptp(e.interval(0.9), axis=1)
    frames = {t.get_text(): box.get_linewidth() for t in ax.texts if (box := t.get_bbox_patch())}
    drawn = [frames[name] for name in e.names]
    assert np.corrcoef(drawn, wide)[0, 1] > 0.99


def test_characters_that_a_font_lacks_are_drawn_with_one_that_has_them() -> None:
    """A missing character warns, which fails a test."""
    e = explained("კარგი good", split=str.split)
    with mpl.rc_context({"font.family": "STIXGeneral"}):  # without Georgian, and always there
        for draw in (eagle.plot.text, eagle.plot.attribution):
            figure: Any = draw(e).figure
            figure.savefig(io.BytesIO(), format="png")


def word_of(drawn: str) -> str:
    """A word as it is read: matplotlib before 3.11 is given those of right to left turned round."""
    leftward = any(bidirectional(c) in ("R", "AL") for c in drawn)
    return drawn[::-1] if leftward and mpl.__version_info__[:2] < (3, 11) else drawn


def test_right_to_left_texts_run_so() -> None:
    e = explained("هذا جيد (good film) هنا!")
    ax = eagle.plot.text(e)
    ax.figure.canvas.draw()
    at = {word_of(t.get_text()): t.get_position()[0] for t in ax.texts[:-1]}
    assert at["هذا"] > at["جيد"] > at["good"] > at["هنا"] > at["!"]
    assert at["good"] < at["film"]  # a run of another direction keeps its own
    assert at[")"] > at["film"]  # the opening bracket, mirrored
    assert at["("] < at["good"]
    assert 'class="words" dir="auto"' in e._repr_html_()
    assert "<bdi>هذا</bdi>" in e._repr_html_()
    lines = str(e).splitlines()
    assert lines[2].startswith("\u2067")
    assert lines[2].endswith("\u2069")
    assert any(line.startswith("\u2067جيد\u2069") for line in lines)
    left = eagle.plot.text(explained("good אבג דהו bad"))
    at = {word_of(t.get_text()): t.get_position()[0] for t in left.texts[:-1]}
    assert at["good"] < at["דהו"] < at["אבג"] < at["bad"]


def test_columns_stay_below_one_another_beside_wide_characters() -> None:
    lines = [x for x in str(explained("好 good 👍", split=str.split)).splitlines() if " … " in x]
    assert len(lines) == 3
    assert len({cells(line[: line.index(" … ")]) for line in lines}) == 1


def half_dark() -> eagle.Explanation:
    """Of a model that sees half of an image."""
    return eagle.Explainer(
        lambda x: brightness(np.where((np.arange(6) < 3)[:, None], x, 0.0)),
        eagle.Images(LABELS, fill=0),
        budget=60,
        **TWO,
    ).explain(PICTURES[0])


def test_what_is_not_sure_is_seen_where_the_score_is(picture: eagle.Explanation) -> None:
    large = LABELS.repeat(9, axis=0).repeat(9, axis=1) - 1
    scores = np.full(8, 0.5)
    unsure = np.arange(8) % 2 == 0
    interval = np.where(unsure[:, None], [-1.0, 2.0], [0.4, 0.6])
    flat = Image.of(np.full(large.shape, 0.5), large)
    shown = Shown(flat, scores, interval, ~unsure, unsure, True, 0.95, Numbers(2))
    heat = pictures(shown, flat)[1].astype(int)
    grey = np.array([np.ptp(np.median(heat[large == k], axis=0)) < 90 for k in range(8)])
    assert grey.tolist() == unsure.tolist()
    assert [one.number for one in outlines(shown, flat)] == [1, 3, 5, 7]
    e = explained("a good film, long and dull, bad or so they say")
    assert e.sheet().shown.unsure.any()
    assert isinstance(e.subject, Passage)
    doubted = sum(e.sheet().shown.unsure[k] for _, _, k in e.subject.spans)
    assert e._repr_html_().count('class="unsure"') == doubted
    frames = {
        t.get_text(): box.get_linestyle()
        for t in eagle.plot.text(e).texts
        if (box := t.get_bbox_patch())
    }
    for name, doubtful in zip(e.names, e.sheet().shown.unsure, strict=True):
        assert frames[name] == ("--" if doubtful else "-")
    marked = half_dark()
    axes = eagle.plot.image(marked, sure=False, max_display=None)
    assert marked.sheet().shown.unsure.any()
    assert "pale" in axes[1].get_title(loc="left")
    alpha = np.asarray(axes[1].images[1].get_alpha())
    assert isinstance(marked.subject, Image)
    doubt = marked.doubtful()[marked.subject.labels]
    assert alpha[doubt].max() < alpha[~doubt].min()


def warned(e: eagle.Explanation) -> eagle.Explanation:
    return replace(e, note="the sky is falling")


def test_warnings_are_on_every_plot(picture: eagle.Explanation) -> None:
    e, seen = warned(explained(TEXTS[0])), warned(picture)
    found = eagle.compare_methods(
        eagle.Explainer(mood, eagle.Texts(), budget=60, **TWO),
        [methods.EAGLE, peers.LIME],
        TEXTS[0],
        runs=1,
        k=2,
        progress=False,
    )
    first = found.methods[0]
    marked = replace(
        found, methods=(replace(first, runs=(warned(first.first),)), *found.methods[1:])
    )
    drawn: list[Any] = [
        eagle.plot.text(e),
        eagle.plot.attribution(e),
        eagle.plot.convergence(e),
        eagle.plot.compare_explanations({"one": e}),
        eagle.plot.image(seen)[0],
        eagle.plot.image(seen, plt.subplots(1, 3)[1])[0],
        eagle.plot.compare_methods(marked)[0],
    ]
    for ax in drawn:
        texts = [t.get_text() for t in ax.figure.findobj(mpl.text.Text)]
        assert any("sky is" in " ".join(t.split()) for t in texts)
    for page in (e._repr_html_(), seen._repr_html_(), str(e)):
        assert "the sky is falling" in page


def test_a_long_name_does_not_hide_the_probability(picture: eagle.Explanation) -> None:
    name = "a name that never ends " * 9
    e = replace(picture, outputs=("no", name), target=name)
    assert e.title.endswith(f"? The model says {number(e.prediction)}")
    assert len(e.title) < 110
    drawn = " ".join(eagle.plot.image(e)[0].get_title(loc="left").split())
    assert drawn.endswith(f"The model says {number(e.prediction)}")


def test_a_page_with_a_photograph_has_under_60_kB() -> None:
    """Noise is the worst of all photographs."""
    noise = np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    labels = np.add.outer(np.arange(224) // 32 * 7, np.arange(224) // 32)
    e = eagle.Explainer(
        lambda x: x[:, ::8, ::8].mean(axis=(1, 2, 3)) / 255, eagle.Images(labels), budget=120
    ).explain(noise)
    assert len(e._repr_html_()) < 60_000


def test_of_a_long_text_the_strongest_parts_are_shown() -> None:
    text = " ".join(f"w{k}" for k in range(450)) + " good " + " ".join(f"v{k}" for k in range(450))
    e = explained(text, unit="word")
    e = replace(e, scores=np.array([float(name == "good") for name in e.names]))
    page, plain = e._repr_html_(), str(e)
    for shown in (page, plain):
        assert "good" in shown
        assert "and 861 more parts" in shown
    assert len(page) < 60_000
    assert any(t.get_text() == "good" for t in eagle.plot.text(e).texts)


# -- the demos ----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["table", "image", "text"])
def test_demos_tell_something_true(what: str) -> None:
    says, e = DEMOS[what]()
    assert says.endswith(":")
    assert e.prediction > 0.5
    assert e.r2_held_out > 0.15
    if what == "text":
        assert {"warm", "funny", "dull", "clever", "superb"} == set(e.top(5))
