"""The subjects of explanations in files: images, texts, series, and users' registered classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle.files import surrogates
from eagle.files.registry import name_of
from eagle.files.sealed import floats, listed, mapping, pack, read_integer, text, unpack
from eagle.subject import Curves, Image, Passage, Subject


def to_dict(subject: Subject | None) -> dict[str, Any] | None:
    """A subject as plain data. One of a user's own class must be registered."""
    match subject:
        case None:
            return None
        case Image(pixels, labels, note, cut):
            return {"pixels": pack(pixels), "labels": pack(labels), "note": note, "cut": cut}
        case Passage(words, spans, note, cut, labels):
            listed_spans = [list(span) for span in spans]
            named = {"labels": list(labels)} if labels else {}
            return {"text": words, "spans": listed_spans, "note": note, "cut": cut, **named}
        case Curves(times, values, edges, channels, dates, note, cut):
            arrays = {"times": pack(times), "values": pack(values), "edges": pack(edges)}
            about = {"channels": list(channels), "dates": dates, "note": note, "cut": cut}
            return {**arrays, **about}
    name_of(subject)
    return {"registered": surrogates.to_dict(subject)}


def read(data: Any, d: int) -> Subject | None:
    """The subject that `to_dict` wrote, of d features. What does not fit is a ValueError."""
    if data is None:
        return None
    if "registered" in mapping(data):
        own: Subject = surrogates.from_dict(data["registered"])
        text(own.note)  # it is shown with the warnings
        return own
    note, cut = text(data["note"]), text(data.get("cut", ""))  # files of before have no cut
    if "text" in data:
        words = text(data["text"])
        triples = [[read_integer(n) for n in listed(span, 3)] for span in listed(data["spans"])]
        spans = tuple((s, e, k) for s, e, k in triples)
        if not all(s <= e <= len(words) and k < d for s, e, k in spans):
            raise ValueError("the spans do not fit the text")
        named = tuple(map(text, listed(data.get("labels", []))))
        if len(named) not in (0, d):
            raise ValueError("the labels do not fit the features")
        return Passage(words, spans, note, cut, named)
    if "edges" in data:
        return _curves(data, d, note, cut)
    pixels, labels = unpack(data["pixels"], 3), unpack(data["labels"], 2)
    fits = pixels.shape == (*labels.shape, 3) and labels.size and labels.dtype.kind in "iu"
    if pixels.dtype != np.uint8 or not fits or labels.min() < 0 or labels.max() >= d:
        raise ValueError("the segments do not fit the image")
    return Image(pixels, labels.astype(np.intp), note, cut)


def _curves(data: Any, d: int, note: str, cut: str) -> Curves:
    """A series, whose arrays fit one another and d features."""
    times, values = floats(data["times"], 1), floats(data["values"], 2)
    edges, dates = floats(data["edges"], 1), data["dates"]
    channels = tuple(text(name) for name in listed(data["channels"]))
    fits = values.shape == (len(times), len(channels)) and len(times) and len(edges) > 1
    if not fits or (len(edges) - 1) * len(channels) != d or not isinstance(dates, bool):
        raise ValueError("the segments do not fit the series")
    if (np.diff(edges) <= 0).any():
        raise ValueError("the segments of a series are not in order")
    return Curves(times, values, edges, channels, dates, note, cut)
