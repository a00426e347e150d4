"""`eagle demo`: one explanation of each kind to look at, on data from scikit-learn."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from eagle import Explainer, Explanation, Explanations, Images, Texts
from eagle._values.packages import package
from eagle.cli.output import format_of, give
from eagle.errors import InputError

PAGE: Final = "make page, or eagle serve --open"


def demo(arguments: Namespace) -> int:
    what = arguments.what
    if what not in DEMOS:
        raise InputError(f"there is no demo {what!r}: there are {', '.join(DEMOS)}")
    return show_demo(DEMOS[what], arguments)


def show_demo(made: Callable[[], tuple[str, Explanation]], arguments: Namespace) -> int:
    """Print what a demo says and its explanation, and draw it to the file `arguments.out`."""
    arguments.format = "png"
    form = format_of(arguments)
    package("sklearn", "the demo", "cli")
    package("pandas", "the demo", "cli")
    says, explanation = made()
    print(f"{says}\n")
    one = Explanations.of([explanation])
    give(one, "text", Namespace(out=None, quiet=True), many=False)
    give(one, form, Namespace(out=arguments.out, quiet=True), many=False)
    print(f"\nThe same as an image: {arguments.out.absolute()}")
    print(f"In a browser, with other rows and values to try: {PAGE}")
    return 0


def demo_option(p: ArgumentParser) -> None:
    p.add_argument(
        "--out",
        type=Path,
        metavar="PNG",
        default=Path("eagle-demo.png"),
        help="the image (default: eagle-demo.png)",
    )


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.add_argument(
        "what",
        nargs="?",
        default="table",
        metavar="{table,image,text}",
        help="a tumour (default), a written digit, a film review",
    )
    demo_option(p)


# -- what is explained ----------------------------------------------------------------------------


def tumours() -> tuple[Explainer, Any]:
    """An explainer of a random forest that tells tumours apart, and tumours it has not seen."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    cancer = load_breast_cancer(as_frame=True)
    train, test, labels, _ = train_test_split(cancer.data, cancer.target, random_state=0)
    model = RandomForestClassifier(random_state=0).fit(train, labels)
    outputs = [str(name) for name in cancer.target_names]
    return Explainer(model, train, outputs=outputs), test


def table() -> tuple[str, Explanation]:
    """A tumour, by a random forest."""
    explainer, test = tumours()
    explanation = explainer.explain(test.iloc[[0]])
    return "A random forest has learnt to tell tumours apart. One it has not seen:", explanation


def image() -> tuple[str, Explanation]:
    """A written digit, by a small network, in sixteen blocks."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    digits = load_digits()
    train, test, labels, _ = train_test_split(digits.images, digits.target, random_state=0)
    model = MLPClassifier(64, max_iter=60, tol=1e-2, random_state=0)
    model.fit(train.reshape(len(train), -1) / 16, labels)

    def probabilities(images: Any) -> Any:
        return model.predict_proba(images.reshape(len(images), -1) / 16)

    blocks = np.arange(16).reshape(4, 4).repeat(2, axis=0).repeat(2, axis=1)
    explainer = Explainer(
        probabilities, Images(blocks, fill=0), task="classification", outputs=range(10)
    )
    return "A network has learnt to read digits. One it has not seen:", explainer.explain(test[2])


GOOD_WORDS: Final = (
    "moving",
    "funny",
    "brilliant",
    "warm",
    "gripping",
    "tender",
    "clever",
    "superb",
)
BAD_WORDS: Final = ("boring", "clumsy", "dull", "loud", "shallow", "awful", "lifeless", "tired")
ABOUT: Final = ("The story", "The acting", "The music", "The ending", "The camera", "Every scene")


def text() -> tuple[str, Explanation]:
    """A film review, by TF-IDF and logistic regression, learnt from reviews made of templates."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    reviews, moods = [], []
    for k, thing in enumerate(ABOUT):
        for words, mood in ((GOOD_WORDS, "liked"), (BAD_WORDS, "disliked")):
            for j, word in enumerate(words):
                other = words[(j + k + 1) % len(words)]
                reviews.append(f"{thing} was {word} and the film felt {other} to me.")
                moods.append(mood)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(reviews, moods)
    review = (
        "A warm and funny film, though the ending was a little dull: superb acting, clever music."
    )
    explanation = Explainer(model, Texts()).explain(review)
    return "A line over word counts has learnt to judge reviews. One it has not seen:", explanation


DEMOS: Final[dict[str, Callable[[], tuple[str, Explanation]]]] = {
    "table": table,
    "image": image,
    "text": text,
}
