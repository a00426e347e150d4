"""The time of explaining an image outside the model, compared with the model and lime_image.

    python -m evaluation bench images [--quick]

The image is scikit-image's astronaut, 224 × 224 in colour, divided by SLIC into about 50 segments;
500 masks. The black box is EfficientNet-Lite0 if EAGLE_DATA points to the data folder, else a small
network of random weights, since only time matters here. One thread. lime_image gets the same
segments and number of masks.
"""

from __future__ import annotations

import argparse
import io
import os
import time
import tracemalloc
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np
from skimage.data import astronaut
from skimage.segmentation import slic
from threadpoolctl import threadpool_limits

import eagle
from eagle._engine.planning import CACHE
from eagle.models.vision import Network

BUDGET = 500


def photograph() -> Any:
    return np.ascontiguousarray(astronaut()[32:480:2, 32:480:2])


def box() -> tuple[str, Any]:
    folder = os.environ.get("EAGLE_DATA")
    if folder:
        path = Path(folder) / "weights" / "efficientnet_lite0.onnx"
        return "EfficientNet-Lite0", Network.of_onnx(path, mean=127, std=128).predict_proba
    rng = np.random.default_rng(0)
    first, last = rng.normal(size=(56 * 56 * 3, 64)) / 50, rng.normal(size=(64, 10))

    def network(images: Any) -> Any:
        small = images[:, ::4, ::4].reshape(len(images), -1) / 255
        logits = np.tanh(small @ first) @ last
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    return "a small random network", network


def segments(image: Any) -> Any:
    return slic(image / 255.0, n_segments=50, compactness=10.0, start_label=0)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench images", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    with threadpool_limits(1):
        measured(2 if parser.parse_args(argv).quick else 5)


def measured(repeats: int) -> None:
    from lime.lime_image import LimeImageExplainer

    image, (name, network) = photograph(), box()
    lime = LimeImageExplainer(random_state=0)
    times = []
    for _ in range(repeats):
        CACHE.clear()
        start = time.perf_counter()
        explainer = eagle.Explainer(network, eagle.Images(segments), task="classification")
        e = explainer.explain(image)
        ours = time.perf_counter() - start
        spent = [0.0]

        def timed(images: Any, spent: list[float] = spent) -> Any:
            began = time.perf_counter()
            answers = network(images)
            spent[0] += time.perf_counter() - began
            return answers

        start = time.perf_counter()
        with redirect_stderr(io.StringIO()):  # its progress bar
            lime.explain_instance(
                image,
                timed,
                labels=(0,),
                top_labels=1,
                num_samples=BUDGET,
                segmentation_fn=segments,
                batch_size=BUDGET,
            )
        theirs = time.perf_counter() - start
        times.append(
            (ours - e.cost.model_seconds, e.cost.model_seconds, theirs - spent[0], spent[0])
        )
    own, model, other, _ = np.median(times, axis=0)
    print(f"{name}, {len(e.names)} segments, {e.cost.rows} masks, cold, one thread")
    beside = f"{own / model:5.2f} x the model's {model:.2f} s"
    print(f"  outside the model, ours          {own:6.2f} s, {beside}")
    print(f"  outside the model, lime_image    {other:6.2f} s; ours is {own / other:.2f} x that")
    tracemalloc.start()
    eagle.Explainer(network, eagle.Images(segments), task="classification").explain(image)
    print(
        f"  peak memory, one explanation     {tracemalloc.get_traced_memory()[1] / 2**20:6.0f} MiB"
    )
    tracemalloc.stop()
