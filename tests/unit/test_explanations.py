"""Many explanations as one thing: a sequence, a table, statements, files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import eagle
from eagle import methods
from eagle.explanations import Common, Explanations, spread_over
from eagle.types import Array

DATA = load_wine(as_frame=True)
ROWS = DATA.data.iloc[:12].set_axis([f"row {i}" for i in range(12)])
FOREST = RandomForestClassifier(10, random_state=0).fit(DATA.data, DATA.target)


@pytest.fixture(scope="module")
def explainer() -> eagle.Explainer:
    return eagle.Explainer(FOREST, DATA.data, budget=100)


@pytest.fixture(scope="module")
def many(explainer: eagle.Explainer) -> Explanations:
    return explainer.explain_many(ROWS, 0)


def test_a_sequence_with_names(many: Explanations) -> None:
    assert len(many) == 12
    assert many.ids[:2] == ("row 0", "row 1")
    assert many.named("row 3") is many[3]
    assert many[-1] is many[11]
    assert [e.scores[0] for e in many] == many.scores[:, 0].tolist()
    part = many[2:5]
    assert isinstance(part, Explanations)
    assert part.ids == ("row 2", "row 3", "row 4")
    assert part[0] is many[2]
    assert np.array_equal(part.scores, many.scores[2:5])
    assert np.array_equal(many.interval()[4], many[4].interval())
    assert np.allclose(many.probability_sign()[4], many[4].probability_sign())
    some = many.where(many.scores[:, 0] > np.median(many.scores[:, 0]))
    assert len(some) == 6
    assert many.data[0, 0] == ROWS.iloc[0, 0]
    with pytest.raises(IndexError):
        many[12]
    with pytest.raises(eagle.InputError, match="no row with the id 'nobody'"):
        many.named("nobody")
    with pytest.raises(eagle.InputError, match="truth value for each of the 12 rows"):
        many.where([True])
    with pytest.raises(eagle.InputError, match="true for no row"):
        many.where(np.zeros(12, dtype=bool))


def test_what_averages_refuses_mixed_targets(explainer: eagle.Explainer) -> None:
    mixed = explainer.explain_many(DATA.data.iloc[::20])
    assert len(set(mixed.targets)) > 1
    for statement in (
        mixed.importance,
        mixed.effect,
        mixed.summary,
        lambda: mixed.share_in_top(3),
        lambda: mixed.compare(np.arange(len(mixed)) % 2),
    ):
        with pytest.raises(eagle.InputError, match="different classes"):
            statement()
    assert "different classes" in mixed._repr_html_()
    assert len(mixed.to_frame()) == 13 * len(mixed)


def test_frames(many: Explanations) -> None:
    long = many.to_frame()
    assert long.columns.tolist()[:3] == ["id", "feature", "value"]
    assert len(long) == 12 * 13
    one = long[long["id"] == "row 2"]
    assert np.array_equal(one["score"], many[2].scores)
    assert np.array_equal(one["low"], many[2].interval()[:, 0])
    wide = many.to_frame(wide=True)
    assert wide.index.tolist() == list(many.ids)
    assert np.array_equal(wide.to_numpy(), many.scores)


def test_a_summary_by_hand(many: Explanations) -> None:
    table = many.summary(k=2, sample=False)
    size = np.abs(many.scores).mean(axis=0)
    assert table.index.tolist() == [many.names[j] for j in np.argsort(-size, kind="stable")]
    best = many.names.index(str(table.index[0]))
    assert table["importance"].iloc[0] == pytest.approx(size[best])
    assert table["effect"].iloc[0] == pytest.approx(many.scores[:, best].mean())
    in_top = [best in np.argsort(-np.abs(row))[:2] for row in many.scores]
    assert table["top"].iloc[0] == pytest.approx(np.mean(in_top))
    for value, low, high in (
        ("importance", "low", "high"),
        ("effect", "effect_low", "effect_high"),
        ("top", "top_low", "top_high"),
    ):
        assert (table[low] <= table[value]).all()
        assert (table[value] <= table[high]).all()
    other = many.summary(k=2)
    assert (other["high"] - other["low"] > table["high"] - table["low"]).all()


def test_errors_that_may_be_common_do_not_average_out() -> None:
    spread = np.array([[1.0, 0.0], [3.0, 0.5]])
    errors = Common(np.ones((2, 2)), spread, np.array([10.0, 20.0]))
    deviation, df = errors.deviation(np.array([[0.5, -0.5], [0.5, 0.5]]))
    assert deviation.tolist() == [2.0, 0.25]
    assert df == 15.0
    drawn = dict(errors.draws(20_000))
    assert np.corrcoef(drawn[0][:, 0], drawn[1][:, 0])[0, 1] == pytest.approx(1.0)
    assert drawn[1][:, 0].std() == pytest.approx(3 * np.sqrt(15 / 13), rel=0.05)
    assert (drawn[0][:, 1] == 1.0).all()


def test_cohorts(many: Explanations) -> None:
    groups = np.array(["a", "b"] * 6)
    table = many.compare(groups, sample=False)
    assert len(table) == 13
    mean = many.scores[::2].mean(axis=0) - many.scores[1::2].mean(axis=0)
    assert np.allclose(table["difference"], mean)
    assert (table["rows"] == 6).all()
    three = many.compare(np.array(["a", "b", "c"] * 4))
    assert len(three) == 39
    assert set(three["against"]) == {"all others"}
    size = many.compare({"one": groups == "a", "rest": groups == "b"}, size=True)
    wanted = np.abs(many.scores[::2]).mean(axis=0) - np.abs(many.scores[1::2]).mean(axis=0)
    assert np.allclose(size["difference"], wanted)
    for groups_, why in (
        ("nobody", "no feature 'nobody'"),
        ([1, 2], "label for each of the 12 rows"),
        (np.arange(12), "too few to compare"),
        (np.zeros(12), "from 2 to 50 groups"),
        ({"a": [1]}, "no truth value"),
    ):
        with pytest.raises(eagle.InputError, match=why):
            many.compare(groups_)


def test_files(many: Explanations, tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    many.save(path)
    read = eagle.load(path)
    assert isinstance(read, Explanations)
    assert read.ids == many.ids
    assert np.array_equal(read.scores, many.scores)
    assert np.array_equal(read.interval(0.8), many.interval(0.8))
    assert np.array_equal(read.data, many.data)
    pd.testing.assert_frame_equal(read.summary(), many.summary())
    one = read[3]
    assert np.array_equal(one.scores, many[3].scores)
    assert one.prediction == many[3].prediction
    assert np.allclose(one.probability_sign(), many[3].probability_sign())
    assert "not kept" in one.warnings[0]
    with pytest.raises(eagle.InputError, match="explain anew"):
        one.about(1)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(eagle.InputError, match="not a file of explanations"):
        eagle.load(path)
    with pytest.raises(FileNotFoundError):
        eagle.load(tmp_path / "nothing.parquet")


def test_methods_without_intervals(tmp_path: Path) -> None:
    lime = eagle.Explainer(FOREST, DATA.data, method=methods.LIME, budget=60)
    many = lime.explain_many(ROWS.iloc[:3], 0)
    assert np.isnan(many.interval()).all()
    with pytest.raises(eagle.InputError, match="no standard errors"):
        many.importance()
    many.save(tmp_path / "lime.parquet")
    read = eagle.load(tmp_path / "lime.parquet")
    assert np.array_equal(read.scores, many.scores)
    assert read[0].posterior is None


def test_features_that_differ() -> None:
    def model(texts: list[str]) -> Array:
        return np.array([float(text.count("good")) for text in texts])

    many = eagle.Explainer(model, eagle.Texts(), budget=50).explain_many(
        ["a good day", "good and very good food"]
    )
    assert len(many) == 2
    assert len(many.to_frame()) == 3 + 4
    with pytest.raises(eagle.InputError, match="different features"):
        _ = many.scores
    assert "different features" in many._repr_html_()


def test_shap_takes_them(many: Explanations) -> None:
    shap = many.to_shap()
    assert shap.values.shape == (12, 13 + 2)
    assert np.allclose(shap.base_values, many.predictions.mean())
    assert np.allclose(shap.base_values + shap.values.sum(axis=1), many.predictions, atol=1e-12)
    missed = many.predictions - many.table.local_prediction
    assert np.allclose(shap.values[:, -1], missed, atol=1e-12)
    assert list(shap.feature_names[:-2]) == list(many.names)
    assert np.allclose(shap[3].values, many[3].to_shap(base=many.predictions.mean()).values)


def test_shap_starts_at_the_mean_of_each_target(explainer: eagle.Explainer) -> None:
    both = Explanations.of([explainer.explain(ROWS.iloc[i], i % 2) for i in range(4)])
    answers = np.stack([e.evidence.answers[0] for e in both])
    assert np.allclose(both.to_shap().base_values, answers.mean(axis=0)[[0, 1, 0, 1]])
    given = both.to_shap(base=[[0.25, 0.75, 0.0], [0.35, 0.65, 0.0]])
    assert np.allclose(given.base_values, [0.3, 0.7, 0.3, 0.7])
    with pytest.raises(eagle.InputError, match="were not kept"):
        explainer.explain_many(ROWS, 0, evidence=False)[0].to_shap()


def test_evidence_is_kept_up_to_a_limit(
    explainer: eagle.Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = explainer.explain_many(ROWS, 0, evidence=False)
    assert all(len(e.evidence.answers) == 1 for e in none)
    assert "not kept" in none[0].warnings[0]
    monkeypatch.setattr("eagle.explanations.KEPT", 20_000)
    some = [len(e.evidence.answers) > 1 for e in explainer.explain_many(ROWS, 0)]
    assert some[0]
    assert not some[-1]
    assert all(len(e.evidence.answers) > 1 for e in explainer.explain_many(ROWS, 0, evidence=True))


def test_a_survey_is_mentioned_once(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eagle.progress.PATIENCE", -1.0)
    monkeypatch.setattr("eagle.progress.watched", lambda: True)
    explainer = eagle.Explainer(lambda X: X[:, 0], np.random.default_rng(0).random((50, 2)))
    rows = np.random.default_rng(1).random((220, 2))
    explainer.explain_many(rows, evidence=False)
    assert capsys.readouterr().err.count("explainer.survey()") == 1
    explainer.explain_many(rows[:20])
    assert "survey" not in capsys.readouterr().err
    explainer.explain_many(rows, progress=False)
    assert capsys.readouterr().err == ""


def test_put_together(many: Explanations) -> None:
    again = Explanations.of(list(many), many.ids)
    assert again == many
    assert again == list(many)
    assert again != many[:3]
    assert again != 3
    with pytest.raises(eagle.InputError, match="no explanations"):
        Explanations.of([])
    with pytest.raises(eagle.InputError, match="2 ids do not fit"):
        Explanations.of(list(many), [1, 2])
    assert "12 rows about 0" in repr(many)
    assert spread_over(10, 4).tolist() == [1, 3, 6, 8]


def test_parts_of_them(many: Explanations) -> None:
    assert many[[1, 3]].ids == ("row 1", "row 3")
    assert many[np.arange(12) > 9].ids == ("row 10", "row 11")
    empty = many[3:3]
    assert len(empty) == 0
    with pytest.raises(eagle.InputError, match="no rows here"):
        empty.summary()
    assert "no rows here" in empty._repr_html_()
    assert many == many
    assert "nan" not in many[:1]._repr_html_()


def test_only_explanations_of_one_model_go_together(many: Explanations) -> None:
    logit = eagle.Explainer(FOREST, DATA.data, budget=50, link="logit").explain(ROWS.iloc[0], 0)
    with pytest.raises(eagle.InputError, match="their link"):
        Explanations.of([many[0], logit])


def test_a_survey_s_explanations_travel_and_part() -> None:
    survey = eagle.Explainer(FOREST, DATA.data).survey(128)
    mixed = survey.explain_many(DATA.data.iloc[::9])
    assert mixed == mixed
    first = mixed.where(np.array([target == 0 for target in mixed.targets]))
    assert first.summary().notna().all(axis=None)
    sent = pickle.loads(pickle.dumps(first))
    assert np.array_equal(sent[2].scores, first[2].scores)
    for _ in range(1200):
        first = first.where(np.ones(len(first), dtype=bool))
    assert np.isfinite(first[0].scores).all()


def test_shares_of_few_rows_are_not_sure(many: Explanations) -> None:
    top = many[:2].share_in_top(1)
    assert (top.high - top.low > 0.3).all()
    exact = many[:2].share_in_top(1, sample=False)
    assert (exact.low <= exact.value).all()
    assert (exact.value <= exact.high).all()


def test_files_of_odd_names_and_ids(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    index = pd.MultiIndex.from_tuples([("a", i) for i in range(60)])
    data = pd.DataFrame(X, columns=pd.Index([1, "1"], dtype=object), index=index)
    explainer = eagle.Explainer(lambda Z: Z.iloc[:, 0].to_numpy() * 2.0, data, budget=60)
    many = explainer.explain_many(data.iloc[:4])
    many.save(tmp_path / "odd.parquet")
    read = eagle.load(tmp_path / "odd.parquet")
    assert np.array_equal(read.scores, many.scores)
    assert read.ids == many.ids
    assert read.named(("a", 2)).names == ("1", "1")


def test_forged_files_are_refused(many: Explanations, tmp_path: Path) -> None:
    many.save(tmp_path / "many.parquet")
    table = parquet.read_table(tmp_path / "many.parquet")
    names = table.column_names
    scale = next(name for name in names if name.startswith("scale:"))
    for name, value in ((scale, -1.0), (scale, None), ("df", -1.0), ("target", '"nobody"')):
        column = pa.array([value] * len(table), type=table.schema.field(name).type)
        made = table.set_column(names.index(name), name, column)
        parquet.write_table(made, tmp_path / "forged.parquet")
        with pytest.raises(eagle.InputError, match="not a file of explanations"):
            eagle.load(tmp_path / "forged.parquet")
