"""Problems on images and texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from eagle import Images, Texts
from eagle._sources.texts import words
from eagle.errors import InputError
from eagle.models.vision import Network, OnnxRun
from evaluation.problems import cnn, data
from evaluation.problems.boxes import estimator, measured
from evaluation.problems.problem import Problem
from evaluation.problems.tables import HELD_OUT, SPLIT

NETWORKS: Final[dict[str, dict[str, Any]]] = {
    "efficientnet_lite0": {"mean": 127, "std": 128},
    "resnet50_int8weights": {"mean": (103.939, 116.779, 123.68), "reverse": True},
}
"""The preprocessing of each network."""

CALLED: Final = {
    "efficientnet_lite0": "EfficientNet-Lite0",
    "resnet50_int8weights": "ResNet-50 (weights of 8 bits)",
}
SEGMENTS: Final = 50
STROKES: Final = 20
"""The approximate number of segments of a photograph and of a digit."""


def mnist() -> Problem:
    """Written digits of 28 × 28 pixels, by a network of two convolutions, in about 20 segments.

    A segment that is off is black. Its mean colour would keep strokes visible, since segments
    follow strokes, and hardly any mask would change the answer.
    """
    train, test = data.mnist()
    network = cnn.network(train)
    right = _share_right("mnist", network, test.images, test.labels)
    return Problem(
        "mnist",
        "image",
        network,
        Images(STROKES, fill=0),
        test.images,
        test.labels.astype(int),
        len(train.labels),
        STROKES,
        right,
        task="classification",
        published=0.9915,
    )


def photos(
    images: str = "caltech101_224", network: str = "efficientnet_lite0", name: str = "photos"
) -> Problem:
    """Photographs, by a network for the thousand classes of ImageNet, in 50 segments."""
    photographs, classes = data.photos(images), data.imagenet_classes()
    box = Network.of_onnx(data.weights(network), classes=classes, threads=1, **NETWORKS[network])
    shapes = {photo.pixels.shape for photo in photographs}
    if len(shapes) > 1:
        raise InputError(f"the photographs of {images} differ in size: {sorted(shapes)}")
    pixels, labels = (
        np.stack([photo.pixels for photo in photographs]),
        [photo.label for photo in photographs],
    )
    known = box.predict_proba(pixels[:1]).shape[1]
    if known != len(classes):
        raise InputError(f"{network} knows {known} classes, but {len(classes)} are named")
    return Problem(
        name,
        "image",
        box,
        Images(SEGMENTS),
        pixels,
        labels,
        0,
        SEGMENTS,
        _share_right(name, box, pixels, np.array(labels)),
        task="classification",
        note=f"{CALLED[network]} stands in for the paper's VGG-16, and photographs that it and "
        "ResNet-50 both name rightly for ImageNet's: their accuracy is no measure",
    )


def _share_right(name: str, network: Network, images: Any, labels: Any) -> float:
    """The accuracy of the network on the images; cached, since it takes seconds."""

    def measure() -> float:
        return float(np.mean(network.predict_proba(images).argmax(axis=1) == labels))

    assert isinstance(network.run, OnnxRun)
    graph = np.frombuffer(Path(network.run.path).read_bytes(), dtype=np.uint8)
    how = repr((network.mean, network.std, network.reverse))
    return measured(f"{name}-accuracy", measure, how, graph, images, labels)


def photos_grey() -> Problem:
    """Grey photographs of 251 kinds of things."""
    return photos("things_cc0_gray_224", name="photos_grey")


def photos_resnet() -> Problem:
    """The colour photographs, by a larger network."""
    return photos(network="resnet50_int8weights", name="photos_resnet")


def spam() -> Problem:
    """Whether an SMS is spam, by logistic regression on TF-IDF.

    Of repeated messages one is kept; otherwise some held-out ones would be in the training data.
    Held-out messages without a word, such as a smiley, count for the accuracy but are no instances.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline

    texts, labels = data.sms()
    once = dict(zip(texts, labels, strict=True))
    train, test, known, asked = train_test_split(
        list(once), list(once.values()), test_size=HELD_OUT, random_state=SPLIT
    )
    line = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=1000))
    model = estimator("spam", line, train, known)
    spoken = [i for i, text in enumerate(test) if words(text)]
    return Problem(
        "spam",
        "text",
        model,
        Texts(words),
        [test[i] for i in spoken],
        [asked[i] for i in spoken],
        len(train),
        None,
        float(model.score(test, asked)),
        task="classification",
        note="the paper names neither the data nor the model of its texts",
    )
