"""The result: which features pushed a prediction, how much, and how sure that is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle import packages, render, sealed
from eagle.sealed import (
    FAULTS,
    WIDEST,
    flag,
    floats,
    listed,
    mapping,
    null,
    number,
    number_or,
    one_of,
    pack,
    scalar,
    short,
    text,
    unpack,
    whole,
    why,
)
from eagle.space import subject as subjects
from eagle.space.subject import Subject
from eagle.surrogate import saved
from eagle.surrogate.agree import ROUNDING, TIGHT, agree
from eagle.surrogate.fit import Fit, Fitted, Surrogate, is_flat, moved
from eagle.surrogate.posterior import Bounds, Posterior
from eagle.ties import best, ranked
from eagle.types import (
    Array,
    InputError,
    MissingExtraError,
    Need,
    Points,
    ReplyError,
    Rows,
    clean,
    told,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

SCHEMA = 3
SEALED = 3
"""Since this schema files have a checksum, and their scores follow from their evidence."""

OLDEST = 2
LEVEL = 0.95
POOR_FIT = 1 / 3

TASKS = ("classification", "regression")

OLD = (
    "this explanation was saved by an older version of eagle: its scores were not checked against "
    "its evidence"
)
"""The note of files from before checksums."""

UNCHECKED = (
    "the scores were not checked against the evidence of this file, which needs scikit-learn"
)
NOTES = ("", OLD, UNCHECKED)

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
    (n, d): for a tree these are the values asked. `weight` is what each row counts, `answers` are
    all outputs of the model, shape (n, outputs), and `often` says how many times each row was
    planned, which the weight has in it.
    """

    points: Points
    features: Array
    weight: Array
    answers: Array
    often: Array

    def rows(self, surrogate: Surrogate, n: int | None = None) -> Rows:
        """The first n rows, or all, as the surrogate of the explanation was put on them."""
        balanced = Need.BALANCED in surrogate.needs  # or its method would have been refused
        return Rows(self.features[:n], self.weight[:n], self.often[:n], balanced)


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
    from another package, and cannot be fitted again. A `note` says what a reader should know of
    the file it was read from.
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
    note: str = ""

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
        return self.surrogate.on(self.evidence.rows(self.surrogate, rows)).fit(y[:rows])

    def grown(self, rows: int) -> Fitted:
        """What the first so many rows alone teach."""
        return self._fitted(self._answers(self.target), rows)

    @property
    def warnings(self) -> tuple[str, ...]:
        """In words, what a reader should know before trusting the scores."""
        found = [self.note] if self.note else []
        if self.subject is not None and self.subject.note:
            found.append(self.subject.note)
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
            found.append(clean(f"nothing could be learnt about what never changed: {listed}"))
        return tuple(found)

    @cached_property
    def _moved(self) -> NDArray[np.bool_]:
        return moved(self.evidence.features)

    # -- other views of the same answers ------------------------------------------------------

    def about(self, target: Target) -> Explanation:
        """The explanation of another output, or of one against another, from the same answers."""
        refuse_pair(self.method, self.surrogate, target)
        y = explained(self.evidence.answers, self.outputs, target)
        return replace(self, **described(self._fitted(y), y), target=target, note="")

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
                "feature": [writable(name) for name in self.names],
                "condition": [writable(condition) for condition in self.conditions],
                "value": pd.Series(list(self.values), dtype=object),
                "output": [writable(self.target_name)] * len(self.names),
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
        shap = packages.shap("to_shap")
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
        """Everything as plain data, and its checksum.

        Arrays of evidence are base64, all else is readable.
        """
        low, high, _, _ = self._columns(LEVEL)
        data = {
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
            "posterior": saved.posterior_to_dict(self.posterior),
            "evidence": {
                "points": pack(self.evidence.points),
                "features": pack(_compact(self.evidence.features)),
                "weight": pack(self.evidence.weight),
                "answers": pack(self.evidence.answers),
                **saved.repeats(self.evidence.often),
            },
            "subject": subjects.to_dict(self.subject),
            "note": self.note,
        }
        return sealed.sealed(data)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Explanation:
        """The explanation that `to_dict` wrote.

        Its scores must follow from its evidence: they are fitted again.
        """
        if not isinstance(data, Mapping) or data.get("kind") != "eagle explanation":
            raise InputError("this is not an explanation saved by eagle")
        schema = data.get("schema")
        if type(schema) is not int or not OLDEST <= schema <= SCHEMA:
            raise InputError(
                f"this explanation has schema {short(schema)}, but this version of eagle reads "
                f"{OLDEST} to {SCHEMA}"
            )
        try:
            sealed.check(dict(data), schema, SEALED)
            found = _read(data)
            return found if found.note == OLD else _checked(found, data["features"])
        except _ForgedError as error:
            raise InputError(str(error)) from None
        except FAULTS as error:
            raise InputError(f"this saved explanation is damaged: {why(error)}") from None

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        try:
            data = sealed.parse(text)
        except FAULTS as error:
            raise InputError(f"this is not an explanation saved by eagle: {why(error)}") from None
        return cls.from_dict(data)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a JSON file: versioned, with a checksum, and no code in it."""
        if len(self.names) > WIDEST:
            raise InputError(f"an explanation of more than {WIDEST} features cannot be saved")
        sealed.write(path, self.to_json(indent=1))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Explanation:
        """Read what `save` wrote. Nothing in the file is ever run."""
        try:
            text = sealed.load(path)
        except ValueError as error:
            raise InputError(f"{path} is not an explanation saved by eagle: {why(error)}") from None
        return cls.from_json(text)

    # -- on screens -----------------------------------------------------------------------------

    @property
    def target_name(self) -> str:
        return target_text(self.target)

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
    return outputs[best(answers[0])] if task == "classification" else outputs[0]


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
        raise InputError(f"a target is one output's name, or a tuple of two, not {told(target)}")
    for k, name in enumerate(outputs):
        if type(name) is type(target) and _same(name, target):
            return answers[:, k]
    for k, name in enumerate(outputs):  # 1 and True, 1 and 1.0, numpy's own strings
        if _same(name, target):
            return answers[:, k]
    named = ", ".join(told(o) for o in outputs[:20]) + (", …" if len(outputs) > 20 else "")
    raise InputError(f"the model has no output {told(target)}; it has {named}")


def _same(name: Any, target: Any) -> bool:
    try:
        return bool(name == target)
    except Exception:  # whatever another's object does when it is compared
        return False


SMALLEST: Final = 1e-150
"""Numbers below it have squares that vanish; it mirrors the largest that a model may answer."""


def too_small(y: Array) -> bool:
    """Whether numbers that are not all 0, or what they differ by, are too small to be squared."""
    largest = float(np.abs(y).max(initial=0.0))
    if not largest:
        return False
    return largest < SMALLEST or (float(np.ptp(y)) < SMALLEST and not is_flat(y))


def explained(answers: Array, outputs: tuple[Any, ...], target: Target) -> Array:
    """As `answers_of`, of all rows; refused if too small to tell how sure the scores would be."""
    y = answers_of(answers, outputs, target)
    if too_small(y):
        raise ReplyError(
            f"the model's answers for {target_text(target)} differ by less than {SMALLEST:g}, "
            "whose square vanishes: give the answers in other units",
            answers=answers,
        )
    return y


def target_text(target: Target) -> str:
    """What is explained, as a text."""
    return f"{target[0]} against {target[1]}" if isinstance(target, tuple) else str(target)


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


def writable(text: str) -> str:
    """Text that files can hold: half a character, which Python allows, as its number."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_json(value: Any) -> Any:
    """A label or value as JSON holds it; what JSON does not know becomes its text."""
    if isinstance(value, tuple):
        return [plain_json(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _compact(features: Array) -> NDArray[Any]:
    """Indicators as single bytes; what a byte does not hold, such as NaN, as it is."""
    if not ((features >= 0) & (features <= 255)).all():
        return features
    small = features.astype(np.uint8)
    return small if np.array_equal(small, features) else features


def _read(data: Mapping[str, Any]) -> Explanation:
    features = [mapping(f) for f in listed(data["features"])]
    target, evidence, bill = data["target"], mapping(data["evidence"]), mapping(data["bill"])
    d = len(features)
    if not 0 < d <= WIDEST:
        raise ValueError(f"it has {d} features")
    scores = np.array([number(f["score"]) for f in features])
    surrogate = None if data["surrogate"] is None else saved.read(data["surrogate"])
    found = Explanation(
        names=tuple(text(f["name"]) for f in features),
        conditions=tuple(text(f["condition"]) for f in features),
        values=tuple(f["value"] for f in features),
        scores=scores,
        posterior=saved.read_posterior(data["posterior"], scores),
        signed=flag(data["signed"]),
        intercept=number_or(data["intercept"], np.nan),
        prediction=number(data["prediction"]),
        local_prediction=number(data["local_prediction"]),
        target=tuple(map(scalar, target)) if isinstance(target, list) else scalar(target),
        outputs=tuple(map(scalar, listed(data["outputs"]))),
        task=one_of(data["task"], TASKS),
        contrast=np.array([number_or(f["contrast"], np.nan) for f in features]),
        r2=number_or(data["r2"], np.nan),
        r2_held_out=number_or(data["r2_held_out"], np.nan),
        evidence=Evidence(
            unpack(evidence["points"], 2),
            saved.features(evidence["features"], surrogate),
            floats(evidence["weight"], 1),
            floats(evidence["answers"], 2),
            saved.often(evidence, surrogate),
        ),
        bill=Bill(
            whole(bill["rows"]),
            whole(bill["calls"]),
            number(bill["model_seconds"]),
            number(bill["own_seconds"]),
            text(bill.get("stopped", "")),
        ),
        method=text(data["method"]),
        surrogate=surrogate,
        seed=whole(data["seed"]),
        subject=subjects.read(data["subject"], d),
        note=one_of(data["note"], NOTES) if data["schema"] >= SEALED else OLD,
    )
    _check_arrays(found)
    return found


def _check_arrays(found: Explanation) -> None:
    """That arrays fit one another and that there is something to explain."""
    e, d = found.evidence, len(found.names)
    n = len(e.weight)
    wide = e.features.shape == (n, d) or found.surrogate is None
    full = e.answers.shape == (n, len(found.outputs))
    if not n or not len(e.points) == len(e.often) == n or not wide or not full:
        raise ValueError("the arrays do not fit one another")
    if (e.weight < 0).any():
        raise ValueError("a weight is negative")
    found._answers(found.target)


class _ForgedError(ValueError):
    """A saved explanation is whole, but its numbers are not those of its evidence."""


def _checked(found: Explanation, features: list[Mapping[str, Any]]) -> Explanation:
    """The explanation, if its numbers are those that its evidence gives."""
    try:
        with np.errstate(all="ignore"):
            follows = _shows(found, features) and _follows(found)
    except MissingExtraError:  # it can be looked at all the same
        return replace(found, note=UNCHECKED)
    if not follows:
        raise _ForgedError(
            "this saved explanation says other scores than its evidence gives: it was changed, "
            "or made by another version of eagle"
        )
    return replace(found, note="")


def _shows(found: Explanation, features: list[Mapping[str, Any]]) -> bool:
    """Whether the intervals beside the scores are the posterior's."""
    shown = found.shown()
    there = np.where(np.isfinite(shown), shown, np.nan)
    said = np.array([[number_or(f[name], np.nan) for name in ("low", "high")] for f in features])
    slack = TIGHT * float(np.nanmax(np.abs(there), initial=0.0))
    return np.allclose(said, there, rtol=0.0, atol=slack, equal_nan=True)


def _follows(found: Explanation) -> bool:
    """Whether the prediction is the first answer, and the rest what the surrogate learns."""
    e, y = found.evidence, found._answers(found.target)
    if abs(found.prediction - y[0]) > ROUNDING * np.abs(y).max():
        return False
    if found.surrogate is None:
        return True
    said = Fit(
        found.scores,
        found.intercept,
        found.local_prediction,
        found.r2,
        found.r2_held_out,
        found.posterior,
        found.signed,
    )
    return agree(said, found.surrogate, e.rows(found.surrogate), y)
