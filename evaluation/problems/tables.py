"""Problems on tables: the paper's four, those of scikit-learn, and moons."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from eagle.errors import InputError
from evaluation.problems import data
from evaluation.problems.boxes import estimator
from evaluation.problems.problem import Problem

SPLIT: Final = 42
HELD_OUT: Final = 0.2
MONTH: Final = 30
"""A COMPAS score given more days than this before or after an arrest is about another arrest."""


def compas() -> Problem:
    """Whether COMPAS itself rates the risk high, which is what the paper's target is."""
    import pandas as pd

    raw = data.compas()
    raw = raw[
        (raw.days_b_screening_arrest.abs() <= MONTH)
        & (raw.is_recid != -1)
        & (raw.c_charge_degree != "O")
        & raw.score_text.notna()
    ]
    entered, left = (pd.to_datetime(raw[name]) for name in ("c_jail_in", "c_jail_out"))
    features = {
        "age": raw.age,
        "two_year_recid": raw.two_year_recid,
        "priors_count": raw.priors_count,
        "length_of_stay": (left - entered).dt.days,
        "c_charge_degree_F": raw.c_charge_degree == "F",
        "c_charge_degree_M": raw.c_charge_degree == "M",
        "sex_Female": raw.sex == "Female",
        "sex_Male": raw.sex == "Male",
        "race": raw.race == "African-American",
    }
    labels = (raw.score_text != "High").astype(int)
    return _of_paper(
        "compas",
        pd.DataFrame(features),
        labels,
        ("high", "not high"),
        0.837,
        "the target is the score's own 'High', not recidivism, and race is African-American or not",
    )


def german() -> Problem:
    """Whether a customer is good, from 28 numbers."""
    raw = data.german()
    features = raw.drop(columns="GoodCustomer").assign(Gender=raw.Gender == "Male")
    labels = (raw.GoodCustomer == 1).astype(int)
    return _of_paper(
        "german",
        features,
        labels,
        ("bad", "good"),
        0.715,
        "in the recoding by 28 numbers; Gender 1 is male",
    )


def adult() -> Problem:
    """Whether an income is above 50,000, from 14 columns; levels are their numbers in order."""
    raw = data.adult()
    features = raw.drop(columns="income")
    for name in features.columns:
        if features[name].dtype.kind not in "iuf":
            features[name] = np.unique(features[name].astype(str), return_inverse=True)[1]
    labels = (raw.income == ">50K").astype(int)
    return _of_paper(
        "adult",
        features,
        labels,
        ("<=50K", ">50K"),
        0.831,
        "all rows, levels by number; how the paper prepared them cannot be recovered",
    )


def magic() -> Problem:
    """Whether a shower was made by a gamma ray, from ten numbers."""
    raw = data.magic()
    labels = (raw["class"] == "g").astype(int)
    return _of_paper(
        "magic", raw.drop(columns="class"), labels, ("hadron", "gamma"), 0.868, "all rows"
    )


def _of_paper(
    name: str, features: Any, labels: Any, outputs: Sequence[str], published: float, note: str
) -> Problem:
    """The paper's black box: a forest of 100 trees on standardised columns."""
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.preprocessing import StandardScaler

    features = features.astype(np.float64).reset_index(drop=True)
    if features.isna().to_numpy().any() or labels.nunique() < 2:
        raise InputError(
            f"the data of {name} has missing values, or a single class: it is not as published"
        )
    train, test, known, asked = _parted(features, labels.to_numpy())
    scaler = StandardScaler().fit(train)
    train, test = (
        pd.DataFrame(scaler.transform(part), columns=features.columns) for part in (train, test)
    )
    forest = RandomForestClassifier(100, random_state=0, n_jobs=1)
    return _learnt(name, forest, (train, test, known, asked), outputs, published, note)


def cancer() -> Problem:
    """Tumours, by gradient boosting."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier

    bundle = load_breast_cancer(as_frame=True)
    return _bundled(
        "cancer", bundle, GradientBoostingClassifier(random_state=0), bundle.target_names
    )


def wine() -> Problem:
    """Wines, by a support vector machine with calibrated margins."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.datasets import load_wine
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    bundle = load_wine(as_frame=True)
    machine = make_pipeline(StandardScaler(), CalibratedClassifierCV(SVC(random_state=0)))
    return _bundled("wine", bundle, machine, bundle.target_names)


def diabetes() -> Problem:
    """The progression of a disease, by a small network: a regression."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.datasets import load_diabetes
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPRegressor(
        hidden_layer_sizes=32, alpha=10.0, solver="lbfgs", max_iter=500, random_state=0
    )
    machine = make_pipeline(StandardScaler(), network)
    scaled = TransformedTargetRegressor(machine, transformer=StandardScaler())
    return _bundled("diabetes", load_diabetes(as_frame=True), scaled, None)


def digits() -> Problem:
    """Written digits as 64 numbers, by a small network."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    network = MLPClassifier(hidden_layer_sizes=64, max_iter=300, tol=1e-2, random_state=0)
    return _bundled(
        "digits", load_digits(as_frame=True), make_pipeline(MinMaxScaler(), network), range(10)
    )


def iris() -> Problem:
    """Flowers, by a Gaussian process."""
    from sklearn.datasets import load_iris
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF

    bundle = load_iris(as_frame=True)
    process = GaussianProcessClassifier(RBF(1.0), random_state=0)
    return _bundled("iris", bundle, process, bundle.target_names)


def moons() -> Problem:
    """Two half moons in the plane, by the paper's forest."""
    import pandas as pd
    from sklearn.datasets import make_moons
    from sklearn.ensemble import RandomForestClassifier

    points, labels = make_moons(1000, noise=0.3, random_state=0)
    parts = _parted(pd.DataFrame(points, columns=["x", "y"]), labels)
    forest = RandomForestClassifier(100, random_state=0, n_jobs=1)
    return _learnt("moons", forest, parts, ("upper", "lower"))


def _bundled(name: str, bundle: Any, machine: Any, outputs: Any) -> Problem:
    """A table of scikit-learn on which nothing in this library was tuned."""
    named = None if outputs is None else [_plain(output) for output in outputs]
    return _learnt(name, machine, _parted(bundle.data, bundle.target.to_numpy()), named)


def _plain(output: Any) -> Hashable:
    return output if isinstance(output, int) else str(output)


def _parted(features: Any, labels: Any) -> tuple[Any, Any, Any, Any]:
    """Training rows and held-out rows, with new indices, and the labels of both."""
    from sklearn.model_selection import train_test_split

    train, test, known, asked = train_test_split(
        features, labels, test_size=HELD_OUT, random_state=SPLIT
    )
    return train.reset_index(drop=True), test.reset_index(drop=True), known, asked


def _learnt(
    name: str,
    machine: Any,
    parts: tuple[Any, Any, Any, Any],
    outputs: Sequence[Hashable] | None,
    published: float | None = None,
    note: str = "",
) -> Problem:
    train, test, known, asked = parts
    model = estimator(name, machine, train, known)
    return Problem(
        name,
        "table",
        model,
        train,
        test,
        asked,
        len(train),
        train.shape[1],
        float(model.score(test, asked)),
        outputs=outputs,
        published=published,
        note=note,
        task="regression" if outputs is None else "classification",
        known=known,
    )
