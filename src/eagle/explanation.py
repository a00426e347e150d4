"""The result: which features pushed a prediction, how much, and how sure that is."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle import render
from eagle.space.subject import Passage, Picture, Subject
from eagle.surrogate import saved
from eagle.surrogate.fit import Fitted, Surrogate, is_flat, moved
from eagle.surrogate.posterior import Bounds, Draws, Posterior, StudentT
from eagle.ties import ranked
from eagle.types import Array, InputError, MissingExtraError, Need, Points

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

SCHEMA = 2
LEVEL = 0.95
POOR_FIT = 1 / 3

Target: TypeAlias = Any
"""An output's name, or a pair of them: the first against the second."""


@final
@dataclass(frozen=True)
class Bill:
    """What an explanation cost: rows the model saw, calls it took part in, seconds.

    Rows explained together share their calls; the seconds are then each one's share. `stopped`
    says why no more rows were asked, if a rule decided that.
    """

    rows: int
    calls: int
    model_seconds: float
    own_seconds: float
    stopped: str = ""


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """What was asked and answered, row by row; the first row is the instance itself.

    `points` are the space's own encoding, `features` what the surrogate was fitted on, shape
    (n, d): for a tree these are the values asked. `weight` is the locality of each row, `answers`
    all outputs of the model, shape (n, outputs).
    """

    points: Points
    features: Array
    weight: Array
    answers: Array


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """Scores of features for one output of a model near one instance, with their uncertainty.

    For a line, a score is the coefficient of the feature. In the binned view a feature is 1
    while the row keeps the instance's bin or level, so its score is what *having* that value
    adds; in the continuous view it is the change per standard deviation. `posterior` says how
    sure the scores are: None where the method does not know. Scores that are not `signed` only
    say how much a feature matters, not which way it pushes. `contrast` is how far the instance
    stands from the background in each feature's units. Without a `surrogate` the scores came
    from another package, and cannot be fitted again.
    """

    names: tuple[str, ...]
    conditions: tuple[str, ...]
    values: tuple[Any, ...]
    scores: Array
    posterior: Posterior | None
    signed: bool
    intercept: float
    prediction: float
    local_prediction: float
    target: Target
    outputs: tuple[Any, ...]
    task: str
    contrast: Array
    r2: float
    r2_held_out: float
    evidence: Evidence
    bill: Bill
    method: str
    surrogate: Surrogate | None
    seed: int
    subject: Subject | None = None

    # -- how sure ---------------------------------------------------------------------------

    def interval(self, level: float = LEVEL, *, joint: bool = False) -> Array:
        """Credible intervals of the scores, shape (d, 2); `joint` holds for all at once."""
        return self._known.interval(level, joint=joint)

    def probability_sign(self) -> Array:
        """The probability that each coefficient has the sign of its score, shape (d,)."""
        if not self.signed:
            raise InputError(
                f"the scores of {self.method} have no sign: they say how much a feature matters, "
                "not which way it pushes"
            )
        return self._known.probability_sign()

    def probability_top(self, k: int) -> Array:
        """The probability that each feature is among the k strongest, shape (d,)."""
        return self._known.probability_top(k)

    @property
    def _known(self) -> Posterior:
        if self.posterior is None:
            raise InputError(
                f"{self.method} gives scores without intervals: eagle.methods.Bootstrapped(method) "
                "gives any planned method intervals from the same answers"
            )
        return self.posterior

    def shown(self, level: float = LEVEL) -> Array:
        """As `interval`, but NaN where there is none, and bounds at the level they have."""
        return np.stack(self._columns(level)[:2], axis=1)

    def _columns(self, level: float) -> tuple[Array, Array, Array, Array]:
        """Low, high, standard deviation and P(sign), shape (d,) each; NaN where not known."""
        nothing = np.full(len(self.scores), np.nan)
        if self.posterior is None:
            return nothing, nothing, nothing, nothing
        if isinstance(self.posterior, Bounds):
            return self.posterior.low, self.posterior.high, nothing, nothing
        low, high = self.posterior.interval(level).T
        sure = self.posterior.probability_sign() if self.signed else nothing
        return low, high, self.posterior.std, sure

    @property
    def fit(self) -> Fitted:
        """The local surrogate itself, fitted again from the evidence."""
        return self._fitted(self._answers(self.target))

    def _fitted(self, y: Array, rows: int | None = None) -> Fitted:
        """The surrogate fitted to answers for the first so many rows."""
        if self.surrogate is None:
            raise InputError(
                f"{self.method} cannot be fitted again from its answers: explain anew instead"
            )
        e = self.evidence
        return self.surrogate.on(e.features[:rows], e.weight[:rows]).fit(y[:rows])

    def grown(self, rows: int) -> Fitted:
        """What the first so many rows alone teach."""
        return self._fitted(self._answers(self.target), rows)

    @property
    def warnings(self) -> tuple[str, ...]:
        """In words, what a reader should know before trusting the scores."""
        found = [self.subject.note] if self.subject is not None and self.subject.note else []
        held = self.r2_held_out if np.isfinite(self.r2_held_out) else self.r2
        rows = len(self.evidence.answers)
        line, sure = "a line" if self.signed else "the surrogate", self.posterior is not None
        if self.surrogate is None:
            return tuple(found)
        if rows < 2 * (len(self.names) + 1):
            what = (
                "scores are unsteady" if self.posterior is None else "intervals may be too narrow"
            )
            found.append(
                f"{rows} row{'s are' if rows > 1 else ' is'} few for {len(self.names)} "
                f"feature{'s' if len(self.names) > 1 else ''}: {what}; a larger budget helps, if "
                "there is more to ask"
            )
        if rows > 1 and is_flat(self._answers(self.target)):
            found.append(
                "the model gave the same answer everywhere near this input, so no feature "
                "matters here"
            )
        elif not np.isfinite(held):
            found.append(f"too few rows were asked to tell whether {line} fits the model here")
        elif held < POOR_FIT:
            where = "on held-out rows it" if np.isfinite(self.r2_held_out) else "it"
            tilt = ". The scores give the average tilt" if self.signed else ""
            curved = "; their intervals do not speak of the curvature" if tilt and sure else ""
            found.append(
                f"{line} does not fit the model well here: {where} explains {max(held, 0):.0%} "
                f"of the variation (weighted R² {held:.2f}){tilt}{curved}"
            )
        still = [n for n, moved in zip(self.names, self._moved, strict=True) if not moved]
        if still:
            listed = ", ".join(still[:5]) + (" …" if len(still) > 5 else "")
            found.append(f"nothing could be learnt about what never changed: {listed}")
        return tuple(found)

    @cached_property
    def _moved(self) -> NDArray[np.bool_]:
        return moved(self.evidence.features)

    # -- other views of the same answers ------------------------------------------------------

    def about(self, target: Target) -> Explanation:
        """The explanation of another output, or of one against another, from the same answers."""
        refuse_pair(self.method, self.surrogate, target)
        y = self._answers(target)
        return replace(self, **described(self._fitted(y), y), target=target)

    def _answers(self, target: Target) -> Array:
        return answers_of(self.evidence.answers, self.outputs, target)

    def order(self) -> NDArray[np.intp]:
        """The features by decreasing size of their score; near-ties stay in their own order."""
        return ranked(np.abs(self.scores))

    def top(self, k: int) -> list[str]:
        """The names of the k features with the largest scores in size."""
        if k < 1:
            raise InputError(f"k must be at least 1, not {k!r}")
        return [self.names[j] for j in self.order()[:k]]

    def as_list(self) -> list[tuple[str, float]]:
        """(condition, score) pairs, strongest first."""
        return [(self.conditions[j], float(self.scores[j])) for j in self.order()]

    def to_frame(self, level: float = LEVEL) -> pd.DataFrame:
        """A tidy table: one row a feature, in the features' own order."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("to_frame", "pandas", "frames") from None
        low, high, std, sure = self._columns(level)
        rank = np.empty(len(self.names), dtype=int)
        rank[self.order()] = np.arange(1, len(self.names) + 1)
        return pd.DataFrame(
            {
                "feature": list(self.names),
                "condition": list(self.conditions),
                "value": pd.Series(list(self.values), dtype=object),
                "output": [self.target_name] * len(self.names),
                "score": self.scores,
                "low": low,
                "high": high,
                "std": std,
                "probability_sign": sure,
                "rank": rank,
            }
        )

    def to_shap(self, level: float = LEVEL) -> Any:
        """A `shap.Explanation`: contributions that add up from the base to the local line at x.

        In the continuous view a contribution is the slope times the distance from the
        background's mean.
        """
        if not self.signed:
            raise InputError(f"the scores of {self.method} have no sign: they add up to nothing")
        if not np.isfinite(self.contrast).all():
            raise InputError(
                "contributions need a background to start from, and this explanation was made "
                "from scales alone: read the scores as slopes instead"
            )
        try:
            import shap
        except ImportError:
            raise MissingExtraError("to_shap", "shap", "shap") from None
        values = self.scores * self.contrast
        low, high, std, _ = self._columns(level)
        bounds = np.sort(np.stack([low, high], axis=1) * self.contrast[:, None], axis=1)
        sure = {} if self.posterior is None else {
            "lower_bounds": bounds[:, 0],
            "upper_bounds": bounds[:, 1],
            "error_std": std * np.abs(self.contrast),
        }  # fmt: skip
        return shap.Explanation(
            values,
            base_values=self.local_prediction - float(values.sum()),
            data=np.array(self.values, dtype=object),
            feature_names=list(self.names),
            **sure,
        )

    # -- files ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data. Arrays of evidence are base64, all else is readable."""
        low, high, _, _ = self._columns(LEVEL)
        return {
            "schema": SCHEMA,
            "kind": "eagle explanation",
            "method": self.method,
            "seed": self.seed,
            "task": self.task,
            "outputs": [plain_json(o) for o in self.outputs],
            "target": plain_json(self.target),
            "prediction": self.prediction,
            "local_prediction": self.local_prediction,
            "intercept": null(self.intercept),
            "signed": self.signed,
            "r2": null(self.r2),
            "r2_held_out": null(self.r2_held_out),
            "features": [
                {
                    "name": self.names[j],
                    "condition": self.conditions[j],
                    "value": plain_json(self.values[j]),
                    "score": float(self.scores[j]),
                    "low": null(float(low[j])),
                    "high": null(float(high[j])),
                    "contrast": null(float(self.contrast[j])),
                }
                for j in range(len(self.names))
            ],
            "warnings": list(self.warnings),
            "bill": asdict(self.bill),
            "surrogate": saved.to_dict(self.surrogate),
            "posterior": _posterior_to_dict(self.posterior),
            "evidence": {
                "points": pack(self.evidence.points),
                "features": pack(_compact(self.evidence.features)),
                "weight": pack(self.evidence.weight),
                "answers": pack(self.evidence.answers),
            },
            "subject": subject_to_dict(self.subject),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Explanation:
        """The explanation that `to_dict` wrote."""
        if not isinstance(data, Mapping) or data.get("kind") != "eagle explanation":
            raise InputError("this is not an explanation saved by eagle")
        if data.get("schema") != SCHEMA:
            raise InputError(
                f"this explanation has schema {data.get('schema')!r}, but this version of eagle "
                f"reads {SCHEMA}"
            )
        try:
            return _read(data)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"this saved explanation is damaged: {error!r}") from None

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        try:
            data = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(f"this is not JSON: {error}") from None
        return cls.from_dict(data)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a JSON file: versioned, and no code in it."""
        Path(path).write_text(self.to_json(indent=1), encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Explanation:
        """Read what `save` wrote. Nothing in the file is ever run."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path} is not an explanation saved by eagle") from None
        return cls.from_json(text)

    # -- on screens -----------------------------------------------------------------------------

    @property
    def target_name(self) -> str:
        if isinstance(self.target, tuple):
            return f"{self.target[0]} against {self.target[1]}"
        return str(self.target)

    @property
    def title(self) -> str:
        if self.task == "classification" and isinstance(self.target, tuple):
            return f"Why {self.target[0]}, not {self.target[1]}? Margin {self.prediction:+.4g}"
        if self.task == "classification":
            return f"Why {self.target_name}? The model says {self.prediction:.4g}"
        return f"Why {self.target_name} = {self.prediction:.6g}?"

    def sheet(self, level: float = LEVEL) -> render.Sheet:
        """What the renderings show."""
        low, high, _, sure = self._columns(level)
        known = self.posterior.level if isinstance(self.posterior, Bounds) else level
        bars = [
            render.Bar(
                self.conditions[j], float(self.scores[j]), float(low[j]), float(high[j]),
                float(sure[j]),
            )
            for j in self.order()
        ]  # fmt: skip
        fit = f"weighted R² {self.r2:.2f}" if np.isfinite(self.r2) else "no variation to fit"
        if np.isfinite(self.r2_held_out):
            fit += f", {self.r2_held_out:.2f} on held-out rows"
        b = self.bill
        paid = (
            f"in {b.calls} call{'s' if b.calls != 1 else ''}, {b.model_seconds:.3f} s in the "
            f"model and {b.own_seconds:.3f} s outside"
        )
        facts = [f"{self.method}: {b.rows} rows {paid if b.calls else 'answered elsewhere'}"]
        if b.stopped:
            facts[0] += f". It stopped there because {b.stopped}"
        if self.surrogate is not None:
            says = f"At the instance it says {self.local_prediction:.4g}"
            facts.append(f"Fit: {fit}. {says}")
        if self.posterior is not None and self.surrogate is not None:
            facts.append(f"Intervals: {self.posterior.kind}")
        if not self.signed:
            facts.append("Scores say how much a feature matters, not which way it pushes")
        shown = render.Shown(self.subject, self.scores, self.shown(0.9), self.signed)
        return render.Sheet(self.title, bars, known, facts, self.warnings, shown)

    def __repr__(self) -> str:
        best = ", ".join(f"{self.names[j]} {self.scores[j]:+.3g}" for j in self.order()[:3])
        more = ", …" if len(self.names) > 3 else ""
        return render.short(
            f"<Explanation of {self.target_name} = {self.prediction:.4g}: {best}{more}>", 200
        )

    def __str__(self) -> str:
        return render.text(self.sheet())

    def __rich__(self) -> Group:
        return render.rich(self.sheet())

    def _repr_html_(self) -> str:
        return render.html(self.sheet())


def aimed_at(target: Target, answers: Array, task: str, outputs: tuple[Any, ...]) -> Target:
    """The target, or without one the class predicted for the first row, or the first output."""
    if target is not None:
        return target
    return outputs[int(answers[0].argmax())] if task == "classification" else outputs[0]


def refuse_pair(method: str, part: object, target: Target) -> None:
    """What looks for the boundary p = ½ of a class cannot explain a difference of classes."""
    if isinstance(target, tuple) and Need.BINARY in getattr(part, "needs", ()):
        raise InputError(
            f"{method} explains the probability of one class, not of one against another: of two "
            "classes, either says it all"
        )


def answers_of(answers: Array, outputs: tuple[Any, ...], target: Target) -> Array:
    """The answers, shape (n, outputs), for one output, or for one minus another."""
    if isinstance(target, tuple):
        if len(target) != 2:
            raise InputError("one output against another is a pair of names")
        one, other = (answers_of(answers, outputs, t) for t in target)
        return one - other
    if isinstance(target, list | np.ndarray):
        raise InputError(f"a target is one output's name, or a tuple of two, not {target!r}")
    for k, name in enumerate(outputs):
        if type(name) is type(target) and name == target:
            return answers[:, k]
    for k, name in enumerate(outputs):  # 1 and True, 1 and 1.0, numpy's own strings
        if name == target:
            return answers[:, k]
    named = ", ".join(repr(o) for o in outputs[:20])
    raise InputError(f"the model has no output {target!r}; it has {named}")


def described(fit: Fitted, y: Array) -> dict[str, Any]:
    """The fields of an explanation that a fit decides; row 0 is the instance."""
    return {
        "scores": fit.scores,
        "posterior": fit.posterior,
        "signed": fit.signed,
        "intercept": fit.intercept,
        "prediction": float(y[0]),
        "local_prediction": fit.local,
        "r2": fit.r2,
        "r2_held_out": fit.r2_held_out,
    }


def plain_json(value: Any) -> Any:
    """A label or value as JSON holds it; what JSON does not know becomes its text."""
    if isinstance(value, tuple):
        return [plain_json(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def null(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _compact(features: Array) -> NDArray[Any]:
    """Indicators as single bytes; what a byte does not hold, such as NaN, as it is."""
    if not ((features >= 0) & (features <= 255)).all():
        return features
    small = features.astype(np.uint8)
    return small if np.array_equal(small, features) else features


def pack(array: NDArray[Any]) -> dict[str, Any]:
    contiguous = np.ascontiguousarray(array)
    little = contiguous.astype(contiguous.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(little.tobytes()).decode()
    return {"dtype": little.dtype.str, "shape": list(little.shape), "data": data}


def unpack(data: Mapping[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(str(data["dtype"]))
    if dtype.kind not in "fiub":
        raise ValueError(f"dtype {dtype}")
    shape = tuple(int(n) for n in data["shape"])
    return np.frombuffer(base64.b64decode(data["data"], validate=True), dtype).reshape(shape).copy()


def _read(data: Mapping[str, Any]) -> Explanation:
    features = data["features"]
    target = data["target"]
    evidence = data["evidence"]
    n, d = (int(v) for v in evidence["features"]["shape"])
    scores = np.array([float(f["score"]) for f in features])
    surrogate = data["surrogate"]
    found = Explanation(
        names=tuple(str(f["name"]) for f in features),
        conditions=tuple(str(f["condition"]) for f in features),
        values=tuple(f["value"] for f in features),
        scores=scores,
        posterior=_read_posterior(data["posterior"], scores),
        signed=bool(data["signed"]),
        intercept=from_null(data["intercept"]),
        prediction=float(data["prediction"]),
        local_prediction=float(data["local_prediction"]),
        target=tuple(target) if isinstance(target, list) else target,
        outputs=tuple(data["outputs"]),
        task=str(data["task"]),
        contrast=np.array([from_null(f["contrast"]) for f in features]),
        r2=from_null(data["r2"]),
        r2_held_out=from_null(data["r2_held_out"]),
        evidence=Evidence(
            unpack(evidence["points"]),
            unpack(evidence["features"]).astype(np.float64),
            unpack(evidence["weight"]).astype(np.float64),
            unpack(evidence["answers"]).astype(np.float64),
        ),
        bill=Bill(
            **{k: data["bill"][k] for k in ("rows", "calls", "model_seconds", "own_seconds")},
            stopped=str(data["bill"].get("stopped", "")),
        ),
        method=str(data["method"]),
        surrogate=None if surrogate is None else saved.read(surrogate),
        seed=int(data["seed"]),
        subject=read_subject(data["subject"], len(features)),
    )
    e = found.evidence
    shapes = (e.weight.shape, e.answers.shape, len(features) == d or surrogate is None)
    if shapes != ((n,), (n, len(found.outputs)), True):
        raise ValueError("the arrays do not fit one another")
    found._answers(found.target)
    return found


def subject_to_dict(subject: Subject | None) -> dict[str, Any] | None:
    match subject:
        case Picture(pixels, labels, note):
            return {"pixels": pack(pixels), "labels": pack(labels), "note": note}
        case Passage(text, spans, note):
            return {"text": text, "spans": [list(span) for span in spans], "note": note}
    return None


def read_subject(data: Mapping[str, Any] | None, d: int) -> Subject | None:
    """A picture or text of d features, as it was saved."""
    if data is None:
        return None
    if "text" in data:
        text = str(data["text"])
        spans = tuple((int(s), int(e), int(k)) for s, e, k in data["spans"])
        if not all(0 <= s <= e <= len(text) and 0 <= k < d for s, e, k in spans):
            raise ValueError("the spans do not fit the text")
        return Passage(text, spans, str(data["note"]))
    pixels, labels = unpack(data["pixels"]), unpack(data["labels"]).astype(np.intp)
    fits = pixels.shape == (*labels.shape, 3) and labels.ndim == 2 and labels.size
    if pixels.dtype != np.uint8 or not fits or labels.min() < 0 or labels.max() >= d:
        raise ValueError("the segments do not fit the picture")
    return Picture(pixels, labels, str(data["note"]))


def _posterior_to_dict(posterior: Posterior | None) -> dict[str, Any] | None:
    match posterior:
        case None:
            return None
        case StudentT(_, factor, df, variance, kind):
            return {"factor": pack(factor), "df": null(df), "variance": variance, "kind": kind}
        case Draws(_, values):
            return {"draws": pack(values)}
        case Bounds(_, low, high, level):
            return {"low": pack(low), "high": pack(high), "level": level}
    raise InputError(f"a {type(posterior).__name__} cannot be saved")


def _read_posterior(data: Mapping[str, Any] | None, scores: Array) -> Posterior | None:
    found: Posterior
    if data is None:
        return None
    d = len(scores)
    if "factor" in data:
        df = np.inf if data["df"] is None else float(data["df"])
        factor = unpack(data["factor"]).astype(np.float64)
        kind = str(data.get("kind", "posterior"))  # files of before have no other
        found = StudentT(scores, factor, df, float(data["variance"]), kind)
        fits = (d, d) == factor.shape
    elif "draws" in data:
        values = unpack(data["draws"]).astype(np.float64)
        found, fits = Draws(scores, values), values.shape[1:] == (d,)
    else:
        low, high = (unpack(data[k]).astype(np.float64) for k in ("low", "high"))
        level = data["level"]
        found = Bounds(scores, low, high, None if level is None else float(level))
        fits = low.shape == high.shape == (d,)
    if not fits:
        raise ValueError("the uncertainty does not fit the scores")
    return found


def from_null(value: float | None) -> float:
    return float("nan") if value is None else float(value)
