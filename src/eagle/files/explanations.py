"""Explanations in files. Scores that do not follow from the evidence in a file are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from os import PathLike
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from eagle.evidence import Asked, Bill
from eagle.explanation import Explanation
from eagle.files import laws, links, moves, sealed, subjects, surrogates
from eagle.files.agree import ROUNDING, agree
from eagle.files.registry import TIGHT, UnknownKindError
from eagle.files.sealed import (
    FAULTS,
    WIDEST,
    Format,
    flag,
    floats,
    listed,
    mapping,
    null,
    number,
    number_or,
    one_of,
    pack,
    plain_json,
    read_integer,
    scalar,
    spoken,
    text,
    unpack,
    why,
)
from eagle.models.native import Task
from eagle.surrogate.fit import Fit, Surrogate
from eagle.surrogate.posterior import LEVEL
from eagle.surrogate.reweighted import Reweighted
from eagle.targets import answers_of, bounds_of
from eagle.types import Array, InputError, MissingExtraError

FORMAT: Final = Format("eagle explanation", oldest=2, schema=3, sealed_since=3)
"""Since schema 3 scores are checked against the evidence."""

OLD: Final = (
    "this explanation was saved by an older version of eagle: its scores were not checked against "
    "its evidence"
)
"""The note of files without a checksum."""

UNCHECKED: Final = (
    "the scores were not checked against the evidence of this file, which needs scikit-learn"
)
NOTES: Final = ("", OLD, UNCHECKED)


class _ForgedError(ValueError):
    """A file is undamaged, but its numbers do not follow from its evidence."""


# -- writing ------------------------------------------------------------------------------------


def save(e: Explanation, path: str | PathLike[str]) -> None:
    """Write an explanation as JSON with a checksum."""
    if len(e.names) > WIDEST:
        raise InputError(f"an explanation of more than {WIDEST} features cannot be saved")
    sealed.write(path, to_json(e, indent=1))


def to_json(e: Explanation, indent: int | None = None) -> str:
    return json.dumps(to_dict(e), indent=indent, ensure_ascii=False, allow_nan=False)


def to_dict(e: Explanation) -> dict[str, Any]:
    """An explanation as plain data, with its checksum.

    Arrays of evidence are base64; everything else is readable.
    """
    return FORMAT.seal(
        {
            "method": e.method,
            "seed": e.seed,
            "task": e.task,
            "outputs": [plain_json(o) for o in e.outputs],
            "target": plain_json(e.target),
            **links.to_dict(e.link),
            "prediction": null(e.prediction),
            "local_prediction": e.local_prediction,
            "intercept": null(e.intercept),
            "signed": e.signed,
            "r2": null(e.r2),
            "r2_held_out": null(e.r2_held_out),
            "features": _features(e),
            "warnings": list(e.warnings),
            "bill": asdict(e.bill),
            "surrogate": surrogates.to_dict(e.surrogate),
            "posterior": surrogates.posterior_to_dict(e.posterior),
            "evidence": {
                "points": pack(e.evidence.points),
                "features": pack(_compact(e.evidence.features)),
                "weight": pack(e.evidence.weight),
                "answers": pack(e.evidence.answers),
                **surrogates.repeats(e.evidence.often),
                "moves": moves.to_dict(e.evidence.moves),
                **laws.to_dict(e.evidence.law),
            },
            "subject": subjects.to_dict(e.subject),
            "note": e.note,
        }
    )


def _features(e: Explanation) -> list[dict[str, Any]]:
    low, high, _, _ = e.columns(LEVEL)
    return [
        {
            "name": e.names[j],
            "condition": e.conditions[j],
            "value": plain_json(e.data[j]),
            "score": float(e.scores[j]),
            "low": null(float(low[j])),
            "high": null(float(high[j])),
            "contrast": null(float(e.contrast[j])),
        }
        for j in range(len(e.names))
    ]


def _compact(features: Array) -> NDArray[Any]:
    """Features as single bytes if they are small integers, such as matches; else as they are."""
    if not ((features >= 0) & (features <= 255)).all():
        return features
    small = features.astype(np.uint8)
    return small if np.array_equal(small, features) else features


# -- reading ------------------------------------------------------------------------------------


def load(path: str | PathLike[str]) -> Explanation:
    """Read what `save` wrote. Nothing in the file is ever run."""
    try:
        content = sealed.load(path)
    except ValueError as error:
        raise InputError(f"{path} is not an explanation saved by eagle: {why(error)}") from None
    return from_json(content)


def from_json(content: str) -> Explanation:
    try:
        data = sealed.parse(content)
    except FAULTS as error:
        raise InputError(f"this is not an explanation saved by eagle: {why(error)}") from None
    return from_dict(data)


def from_dict(data: Mapping[str, Any]) -> Explanation:
    """The explanation that `to_dict` wrote, if its scores follow from its evidence."""
    if not isinstance(data, Mapping) or data.get("kind") != FORMAT.kind:
        raise InputError("this is not an explanation saved by eagle")
    schema = data.get("schema")
    if type(schema) is not int or not FORMAT.reads(schema):
        newer = type(schema) is int and schema > FORMAT.schema
        remedy = "read it with a newer version" if newer else "explain again and save the result"
        raise InputError(
            f"this explanation has schema {spoken(schema)}, but this version of eagle reads "
            f"{FORMAT.oldest} to {FORMAT.schema}: {remedy}"
        )
    try:
        explanation = _read(FORMAT.opened(data))
        return explanation if explanation.note == OLD else _checked(explanation, data["features"])
    except _ForgedError as error:
        raise InputError(str(error)) from None
    except UnknownKindError as error:
        raise InputError(f"this saved explanation cannot be read: {error}") from None
    except FAULTS as error:
        raise InputError(f"this saved explanation is damaged: {why(error)}") from None


def _read(data: Mapping[str, Any]) -> Explanation:
    features = [mapping(f) for f in listed(data["features"])]
    target, evidence, bill = data["target"], mapping(data["evidence"]), mapping(data["bill"])
    d = len(features)
    if not 0 < d <= WIDEST:
        raise ValueError(f"it has {d} features")
    scores = np.array([number(f["score"]) for f in features])
    surrogate = None if data["surrogate"] is None else surrogates.read(data["surrogate"])
    explanation = Explanation(
        names=tuple(text(f["name"]) for f in features),
        conditions=tuple(text(f["condition"]) for f in features),
        data=tuple(f["value"] for f in features),
        scores=scores,
        posterior=surrogates.read_posterior(data["posterior"], scores),
        signed=flag(data["signed"]),
        intercept=number_or(data["intercept"], np.nan),
        prediction=number_or(data["prediction"], np.nan),
        local_prediction=number(data["local_prediction"]),
        target=tuple(map(scalar, target)) if isinstance(target, list) else scalar(target),
        outputs=tuple(map(scalar, listed(data["outputs"]))),
        task=one_of(data["task"], get_args(Task)),
        contrast=np.array([number_or(f["contrast"], np.nan) for f in features]),
        r2=number_or(data["r2"], np.nan),
        r2_held_out=number_or(data["r2_held_out"], np.nan),
        evidence=Asked(
            unpack(evidence["points"], 2),
            surrogates.features(evidence["features"], surrogate),
            floats(evidence["weight"], 1),
            _answers(evidence["answers"]),
            surrogates.often(evidence, surrogate),
            moves.read(evidence.get("moves"), unpack(evidence["points"], 2), d),
            laws.read(evidence.get("law"), unpack(evidence["points"], 2), d),
        ),
        bill=Bill(
            read_integer(bill["rows"]),
            read_integer(bill["calls"]),
            number(bill["model_seconds"]),
            number(bill["own_seconds"]),
            text(bill.get("stopped", "")),
            read_integer(bill.get("missing", 0)),
            None if bill.get("tokens") is None else read_integer(bill["tokens"]),
        ),
        method=text(data["method"]),
        surrogate=surrogate,
        seed=read_integer(data["seed"]),
        subject=subjects.read(data["subject"], d),
        link=links.read(data),
        note=_note(data, surrogate),
    )
    _check_arrays(explanation)
    return explanation


def _note(data: Mapping[str, Any], surrogate: Surrogate | None) -> str:
    """What a reader should know: one of our own notes, or what a survey says of a row."""
    if data["schema"] < FORMAT.sealed_since:
        return OLD
    free = isinstance(surrogate, Reweighted)
    return text(data["note"]) if free else one_of(data["note"], NOTES)


def _answers(data: Any) -> Array:
    """Finite numbers; the first row, the instance's, may be unknown."""
    array = unpack(data, 2).astype(np.float64)
    unknown = len(array) > 1 and bool(np.isnan(array[0]).all())
    if not np.isfinite(array[int(unknown) :]).all():
        raise ValueError("an array has a number that is not finite")
    return array


def _check_arrays(explanation: Explanation) -> None:
    """Refuse arrays that do not fit one another."""
    e, d = explanation.evidence, len(explanation.names)
    n = len(e.weight)
    wide = e.features.shape == (n, d) or explanation.surrogate is None
    full = e.answers.shape == (n, len(explanation.outputs))
    if not n or not len(e.points) == len(e.often) == n or not wide or not full:
        raise ValueError("the arrays do not fit one another")
    if (e.weight < 0).any():
        raise ValueError("a weight is negative")
    answers_of(e.answers, explanation.outputs, explanation.target)


def _checked(explanation: Explanation, features: list[Mapping[str, Any]]) -> Explanation:
    """The explanation, if its numbers follow from its evidence; otherwise a `_ForgedError`."""
    try:
        with np.errstate(all="ignore"):
            follows = _shows(explanation, features) and _follows(explanation)
    except MissingExtraError:  # it is read without this check, and its note says so
        return replace(explanation, note=UNCHECKED)
    if not follows:
        raise _ForgedError(
            "this saved explanation says other scores than its evidence gives: it was changed, "
            "or made by another version of eagle"
        )
    return replace(explanation, note="" if explanation.note in NOTES else explanation.note)


def _shows(explanation: Explanation, features: list[Mapping[str, Any]]) -> bool:
    """Whether the intervals beside the scores are the posterior's."""
    shown = explanation.shown()
    there = np.where(np.isfinite(shown), shown, np.nan)
    said = np.array([[number_or(f[name], np.nan) for name in ("low", "high")] for f in features])
    slack = TIGHT * float(np.nanmax(np.abs(there), initial=0.0))
    return np.allclose(said, there, rtol=0.0, atol=slack, equal_nan=True)


def _follows(explanation: Explanation) -> bool:
    """Whether the prediction is the first answer, and all else what the surrogate gives."""
    e = explanation.evidence
    y = answers_of(e.answers, explanation.outputs, explanation.target, explanation.link)
    if np.isnan(y[0]) != np.isnan(explanation.prediction):
        return False
    if abs(explanation.prediction - y[0]) > ROUNDING * np.nanmax(np.abs(y)):
        return False
    if explanation.surrogate is None:
        return True
    said = Fit(
        explanation.scores,
        explanation.intercept,
        explanation.local_prediction,
        explanation.r2,
        explanation.r2_held_out,
        explanation.posterior,
        explanation.signed,
    )
    bounds = bounds_of(explanation.target, e.answers, explanation.task, explanation.link)
    return agree(said, explanation.surrogate, e.rows(explanation.surrogate), y, bounds)
