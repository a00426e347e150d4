"""Which superpixels explain photographs best?

    python -m evaluation bench segments [--photos 8] [--grey] [--rows 300]

Each photograph is cut by SLIC at several compactnesses, and by SLICO, which adapts its own, into
about 50 segments, and explained by EfficientNet-Lite0 at so many rows with two seeds. In the mean
over photographs: how many segments came (least and most); the share of the variation that the line
catches on held-out rows; how many of the five strongest segments both seeds share (Jaccard
similarity); and the area under the probability of the explained class while pixels are deleted,
segments with the highest scores first (low is good), and while they are inserted (high is good).
Both areas are over the share of pixels, and what is deleted is blurred, so that all cuts are judged
by the same images. `±` is the standard error of the difference from compactness 30. Needs the
folder that EAGLE_DATA names.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from skimage.segmentation import slic

import eagle
from eagle import Images
from eagle.contracts import Array
from eagle.metrics import truth as metrics
from evaluation.problems import PROBLEMS

SEGMENTS: Final = 50
NAMES: Final = ("segments", "fit", "agree", "deletion", "insertion")


def slico(image: Any) -> NDArray[Any]:
    """Superpixels whose compactness adapts to each."""
    return np.asarray(slic(image / 255.0, SEGMENTS, slic_zero=True, start_label=0))


CUTS: Final[dict[str, Images]] = {
    **{f"compactness {c}": Images(SEGMENTS, compactness=c) for c in (10, 30, 100)},
    "SLICO": Images(slico),
}


def blurred(image: NDArray[Any]) -> NDArray[Any]:
    from scipy.ndimage import gaussian_filter

    return np.asarray(gaussian_filter(image.astype(float), (11.0, 11.0, 0.0))).astype(np.uint8)


def areas(image: NDArray[Any], e: Any, model: Any, place: int) -> tuple[float, float]:
    """The areas under deletion and insertion, over the share of pixels."""
    labels, order = e.subject.labels, np.argsort(-e.scores, kind="stable")
    rank = np.argsort(order)[labels]
    steps = np.arange(len(order) + 1)[:, None, None]
    gone = (rank < steps)[..., None]
    share = gone[..., 0].mean(axis=(1, 2))
    beneath = blurred(image)
    deleted = model.predict_proba(np.where(gone, beneath, image))[:, place]
    inserted = model.predict_proba(np.where(gone, image, beneath))[:, place]
    return float(np.trapezoid(deleted, share)), float(np.trapezoid(inserted, share))


def figures(image: NDArray[Any], cut: Images, model: Any, rows: int) -> list[float]:
    both = [
        eagle.Explainer(model, cut, budget=rows, random_state=seed).explain(image)
        for seed in (0, 1)
    ]
    place = int(np.argmax(both[0].evidence.answers[0]))
    deletion, insertion = areas(image, both[0], model, place)
    agree = metrics.agreement(both[0].scores[None], both[1].scores)
    return [len(both[0].names), both[0].r2_held_out, agree, deletion, insertion]


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m evaluation bench segments", description=__doc__)
    parser.add_argument("--photos", type=int, default=8)
    parser.add_argument("--grey", action="store_true", help="the grey photographs")
    parser.add_argument("--rows", type=int, default=300)
    args = parser.parse_args(argv)
    problem = PROBLEMS["photos_grey" if args.grey else "photos"]()
    step = max(1, len(problem.instances) // args.photos)
    found: dict[str, list[list[float]]] = {name: [] for name in CUTS}
    for image in problem.instances[::step][: args.photos]:
        for name, cut in CUTS.items():
            found[name].append(figures(image, cut, problem.model, args.rows))
    show({name: np.array(rows) for name, rows in found.items()})


def show(found: dict[str, Array]) -> None:
    usual = found["compactness 30"]
    print(f"{len(usual)} photographs")
    print(f"{'':<20}" + "".join(f"{name:>18}" for name in NAMES))
    for name, values in found.items():
        mean, gap = values.mean(axis=0), values - usual
        error = gap.std(axis=0, ddof=1) / np.sqrt(len(values))
        came = f"{mean[0]:.0f} ({values[:, 0].min():.0f}–{values[:, 0].max():.0f})"
        cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean[1:], error[1:], strict=True)]
        print(f"{name:<20}{came:>18}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
