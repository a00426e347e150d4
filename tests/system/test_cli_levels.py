"""Models of levels, by the command line, from files that do not say what a level is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest

import eagle
from eagle import cli

pytestmark = pytest.mark.native

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 240),
        "home type": pd.Categorical(RNG.choice(["own", "rent", "other"], 240)),
        "zone": pd.Categorical(RNG.choice([5, 1, 2], 240), categories=[5, 2, 1]),
        "code": pd.Categorical(RNG.choice(["1", "20"], 240)),
        "income": RNG.normal(size=240),
    }
)
"""As trained: levels that are texts, numbers in an order of their own, and texts like numbers."""

CLASS = ((TABLE["age"] > 45) ^ (TABLE["home type"] == "own") ^ (TABLE["zone"] == 2)).astype(int)
LEVELS = ["home type", "zone", "code"]


def lightgbm_model() -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=9, verbosity=-1).fit(TABLE, CLASS)


def lightgbm_booster() -> Any:
    import lightgbm

    data = lightgbm.Dataset(TABLE, CLASS)
    return lightgbm.train({"objective": "binary", "verbosity": -1}, data, 9)


def xgboost_model() -> Any:
    import xgboost

    return xgboost.XGBClassifier(n_estimators=9, enable_categorical=True).fit(TABLE, CLASS)


def xgboost_booster() -> Any:
    import xgboost

    data = xgboost.DMatrix(TABLE, CLASS, enable_categorical=True)
    return xgboost.train({"objective": "binary:logistic"}, data, 9)


def catboosted(kind: str) -> Any:
    import catboost

    settings: dict[str, Any] = {"iterations": 9, "verbose": 0, "allow_writing_files": False}
    settings |= {"loss_function": "Logloss"}
    made = (
        catboost.CatBoost(settings)
        if kind == "CatBoost"
        else catboost.CatBoostClassifier(**settings)
    )
    return made.fit(written(TABLE), CLASS, cat_features=LEVELS)


def wrapped() -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CalibratedClassifierCV(lightgbm_model(), cv=2)).fit(TABLE, CLASS)


def encoded(kind: str) -> Any:
    import sklearn.preprocessing
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    encoder = getattr(sklearn.preprocessing, kind)()
    columns = make_column_transformer((encoder, LEVELS), remainder="passthrough")
    return make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(written(TABLE), CLASS)


def histograms() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    made = HistGradientBoostingClassifier(max_iter=9, categorical_features="from_dtype")
    return made.fit(TABLE.drop(columns="code"), CLASS)


def written(table: Any) -> Any:
    """What a file of text makes of a table."""
    return table.assign(
        **{c: table[c].astype(str if c == "home type" else int) for c in LEVELS if c in table}
    )


MODELS: dict[str, Any] = {
    "LGBMClassifier": lightgbm_model,
    "lightgbm.Booster": lightgbm_booster,
    "XGBClassifier": xgboost_model,
    "xgboost.Booster": xgboost_booster,
    "CatBoostClassifier": lambda: catboosted("CatBoostClassifier"),
    "CatBoost": lambda: catboosted("CatBoost"),
    "LGBMClassifier in a pipeline": wrapped,
    "OneHotEncoder": lambda: encoded("OneHotEncoder"),
    "OrdinalEncoder": lambda: encoded("OrdinalEncoder"),
    "HistGradientBoostingClassifier": histograms,
}


def trained_on(name: str) -> Any:
    if name == "HistGradientBoostingClassifier":
        return TABLE.drop(columns="code")
    return TABLE if "cat" not in name.lower() and "Encoder" not in name else written(TABLE)


def files(folder: Path, name: str, table: Any = None) -> list[str]:
    """A model and its table as files: the beginning of a command."""
    table = trained_on(name) if table is None else table
    joblib.dump(MODELS[name](), folder / "model.joblib")
    table.assign(label=CLASS).to_csv(folder / "data.csv", index=False)
    more = ["--data", str(folder / "data.csv"), "--drop", "label", "--seed", "4"]
    return [str(folder / "model.joblib"), "--trust", *more]


def ran(*command: str) -> None:
    assert cli.main([*command, "--quiet"]) == 0


@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_text_gives_what_the_table_of_the_training_gives(
    name: str, tmp_path: Path
) -> None:
    given = files(tmp_path, name)
    out, table = tmp_path / "e.json", trained_on(name)
    ran("explain", *given, "--row", "3", "--budget", "120", "--out", str(out))
    e = eagle.Explanation.load(out)
    named = [c for c in LEVELS if c in table and table[c].dtype.kind in "iu"]
    ex = eagle.Explainer(
        joblib.load(given[0]),
        eagle.Table(table, categories=named if name.startswith("CatBoost") else []),
        budget=120,
        random_state=4,
    )
    direct = ex.explain(table.iloc[[3]])
    assert e.prediction == pytest.approx(direct.prediction, abs=1e-12)
    if "Encoder" not in name and not name.startswith("Hist"):
        assert [c for c in e.conditions if c] == [c for c in direct.conditions if c]
        assert np.allclose(e.scores, direct.scores, rtol=0, atol=1e-9)
        assert "zone = " in str(e)


@pytest.mark.parametrize("name", ["LGBMClassifier", "xgboost.Booster", "CatBoostClassifier"])
def test_every_command_reads_the_table_so(name: str, tmp_path: Path) -> None:
    """Rows of another file, whole data sets, comparisons, surveys with and without the model."""
    given, table = files(tmp_path, name), trained_on(name)
    rows, out = str(tmp_path / "rows.csv"), str(tmp_path / "many.parquet")
    table.iloc[:6].to_csv(rows, index=False)
    model = joblib.load(given[0])
    truth = [
        eagle.Explainer(model, table, budget=60).explain(table.iloc[[i]]).prediction
        for i in range(6)
    ]

    def found(path: str) -> list[float]:
        return [e.prediction for e in eagle.Explanations.load(path)]

    ran("explain", *given, "--rows", rows, "--budget", "60", "--out", out)
    assert np.allclose(found(out), truth)
    survey, again = str(tmp_path / "survey.json"), str(tmp_path / "again.parquet")
    ran("survey", *given, "--rows", "256", "--out", survey)
    ran("explain", given[0], "--trust", "--survey", survey, "--rows", rows, "--out", again)
    assert np.allclose(found(again), truth)
    ran("explain", survey, "--rows", rows, "--target", "1", "--out", again)
    assert cli.main(["compare", *given, "--row", "0", "--runs", "2", "--budget", "60"]) == 0
    folder = str(tmp_path / "parts")
    table.iloc[:6].to_parquet(tmp_path / "rows.parquet")
    rows = str(tmp_path / "rows.parquet")
    ran("explain", *given, "--rows", rows, "--budget", "60", "--out", folder, "--part-rows", "3")
    assert len(list(Path(folder).rglob("*.parquet"))) >= 2


@pytest.mark.parametrize("name", ["LGBMClassifier", "lightgbm.Booster"])
def test_levels_that_the_model_never_had(name: str, tmp_path: Path, capsys: Any) -> None:
    """One stays a level, which the model takes as it takes any other; of many it is a sentence."""
    table = TABLE.assign(**{"home type": TABLE["home type"].astype(object)})
    table.loc[3, "home type"] = "castle"
    out = tmp_path / "e.json"
    given = files(tmp_path, name, table)
    ran("explain", *given, "--row", "3", "--budget", "60", "--out", str(out))
    assert "castle" in map(str, eagle.Explanation.load(out).data)
    given = files(tmp_path, name, table.assign(**{"home type": "hut"}))
    capsys.readouterr()
    assert cli.main(["explain", *given, "--row", "3"]) == 2
    said = capsys.readouterr().err
    assert "the levels ('other', 'own', 'rent') of 'home type', of which the data has none" in said


def test_a_model_that_does_not_say_which_columns_are_levels(tmp_path: Path, capsys: Any) -> None:
    """LightGBM leaves ordered categories out of its list, so that levels have no columns."""
    import lightgbm

    ordered = TABLE["home type"].cat.as_ordered()
    table = TABLE.assign(**{"home type": ordered}).drop(columns="zone")
    model = lightgbm.LGBMClassifier(n_estimators=3, verbosity=-1).fit(table, CLASS)
    joblib.dump(model, tmp_path / "model.joblib")
    table.to_csv(tmp_path / "data.csv", index=False)
    table.to_parquet(tmp_path / "data.parquet")
    command = ["explain", str(tmp_path / "model.joblib"), "--trust", "--row", "0", "--data"]
    assert cli.main([*command, str(tmp_path / "data.csv")]) == 2
    said = capsys.readouterr().err
    assert "does not say which columns" in said
    assert "give the data as .parquet" in said
    assert cli.main([*command, str(tmp_path / "data.parquet"), "--budget", "60"]) == 0


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_a_model_that_hides_its_booster_is_given_levels_as_its_error_says(
    package: str, tmp_path: Path
) -> None:
    table = TABLE[["age", "home type", "income"]]
    if package == "lightgbm":
        import lightgbm

        model: Any = lightgbm.LGBMClassifier(n_estimators=3, verbosity=-1)
    else:
        import xgboost

        model = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True)
    model.fit(table, CLASS)

    def hidden(X: Any) -> Any:
        return model.predict_proba(X)

    table.to_csv(tmp_path / "data.csv", index=False)
    plain = pd.read_csv(tmp_path / "data.csv")
    with pytest.raises(eagle.ModelError, match="give them as pandas categories"):
        eagle.Explainer(hidden, plain, task="classification").explain(plain.iloc[[0]])
    given = plain.astype({"home type": table["home type"].dtype})
    made = eagle.Explainer(hidden, given, task="classification", budget=60)
    assert made.explain(given.iloc[[0]]).cost.rows > 0
