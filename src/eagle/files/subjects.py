"""Images and texts that explanations are about, in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle.files.sealed import listed, mapping, pack, text, unpack, whole
from eagle.subject import Passage, Picture, Subject


def to_dict(subject: Subject | None) -> dict[str, Any] | None:
    """A subject as plain data."""
    match subject:
        case Picture(pixels, labels, note):
            return {"pixels": pack(pixels), "labels": pack(labels), "note": note}
        case Passage(words, spans, note):
            return {"text": words, "spans": [list(span) for span in spans], "note": note}
    return None


def read(data: Any, d: int) -> Subject | None:
    """An image or text of d features, as it was saved. What does not fit is a ValueError."""
    if data is None:
        return None
    note = text(mapping(data)["note"])
    if "text" in data:
        words = text(data["text"])
        found = [[whole(n) for n in listed(span, 3)] for span in listed(data["spans"])]
        spans = tuple((s, e, k) for s, e, k in found)
        if not all(s <= e <= len(words) and k < d for s, e, k in spans):
            raise ValueError("the spans do not fit the text")
        return Passage(words, spans, note)
    pixels, labels = unpack(data["pixels"], 3), unpack(data["labels"], 2)
    fits = pixels.shape == (*labels.shape, 3) and labels.size and labels.dtype.kind in "iu"
    if pixels.dtype != np.uint8 or not fits or labels.min() < 0 or labels.max() >= d:
        raise ValueError("the segments do not fit the image")
    return Picture(pixels, labels.astype(np.intp), note)
