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
from eagle import peers
from eagle._questions.errors import Common, spread_over
from eagle.contracts import Array
from eagle.explanations import Explanations

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
    assert many["row 3"] is many[3]
    assert many[-1] is many[11]
    assert [e.scores[0] for e in many] == many.scores[:, 0].tolist()
    part = many[2:5]
    assert isinstance(part, Explanations)
    assert part.ids == ("row 2", "row 3", "row 4")
    assert part[0] is many[2]
    assert np.array_equal(part.scores, many.scores[2:5])
    assert np.array_equal(many.interval()[4], many[4].interval())
    assert np.allclose(many.probability_sign()[4], many[4].probability_sign())
    assert many.data[0, 0] == ROWS.iloc[0, 0]


@pytest.mark.parametrize(
    ("key", "places"),
    [
        (slice(None, None, -5), [11, 6, 1]),
        (slice(4, 2), []),
        ([0, -1, 0], [0, 11, 0]),
        (np.array([3, 2], dtype=np.uint8), [3, 2]),
        (range(2, 4), [2, 3]),
        (pd.Series([5, 1], index=[9, 8]), [5, 1]),
        ([], []),
        ([k in (1, 7) for k in range(12)], [1, 7]),
        (np.arange(12) > 9, [10, 11]),
        (pd.Series(np.arange(12) < 1, index=ROWS.index), [0]),
        (np.zeros(12, dtype=bool), []),
    ],
)
def test_some_rows_are_taken_by_slices_masks_and_places(
    many: Explanations, key: Any, places: list[int]
) -> None:
    some = many[key]
    assert isinstance(some, Explanations)
    assert some.ids == tuple(f"row {place}" for place in places)
    assert list(some) == [many[place] for place in places]
    assert np.array_equal(some.scores, many.scores[places])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("nobody", "no row with the id 'nobody'"),
        (("row 1", 2), "no row with the id"),
        (None, "no row with the id None"),
        (True, "truth value for each of the 12 rows, not one"),
        (np.bool_(True), "truth value for each of the 12 rows, not one"),
        (2.0, "2.0 is no whole number"),
        (np.float64(2), "is no whole number"),
        ([True], "truth value for each of the 12 rows"),
        (np.ones((12, 4), dtype=bool), "truth value for each of the 12 rows"),
        ([0, 12], "there are rows 0 to 11"),
        ([10**30], "a list of their places"),
        ([0.0, 1.0], "a list of their places"),
        (["row 1", "row 2"], "a list of their places"),
        ([[0], [1, 2]], "a list of their places"),
        (np.array(3), "a list of their places"),
        (slice("row 1", "row 3"), "a slice is of places"),
        (slice(None, None, 0), "a slice is of places"),
    ],
)
def test_what_says_no_row_is_refused(many: Explanations, key: Any, words: str) -> None:
    with pytest.raises(eagle.InputError, match=words):
        many[key]


def test_a_number_is_a_place_also_where_ids_are_numbers(explainer: eagle.Explainer) -> None:
    days = pd.to_timedelta([1, 2], unit="D")
    for ids in ([2, 0, 1], [0.5, 2.0, 1.0], [days[0], days[1], "c"]):
        few = Explanations.of(list(explainer.explain_many(ROWS[:3], 0)), ids)
        assert [few[k] for k in (0, np.int8(1), -1)] == list(few)
        assert few[few.ids.index(ids[1])] is few.items[1]
        for wrong in (3, -4, 10**30):
            with pytest.raises(IndexError, match="there are 3, from 0 on"):
                few[wrong]
    assert few[days[1]] is few[days[1].to_timedelta64()] is few.items[1]


def test_what_averages_refuses_mixed_targets(explainer: eagle.Explainer) -> None:
    mixed = explainer.explain_many(DATA.data.iloc[::20])
    assert len(set(mixed.targets)) > 1
    for statement in (
        mixed.importance,
        mixed.mean_score,
        mixed.summary,
        lambda: mixed.top_k_share(3),
        lambda: mixed.compare_groups(np.arange(len(mixed)) % 2),
    ):
        with pytest.raises(eagle.InputError, match="different classes"):
            statement()
    assert "different classes" in mixed._repr_html_()
    assert len(mixed.to_frame()) == 13 * len(mixed)


def test_a_summary_by_hand(many: Explanations) -> None:
    table = many.summary(k=2, sample=False)
    size = np.abs(many.scores).mean(axis=0)
    assert table.index.tolist() == [many.names[j] for j in np.argsort(-size, kind="stable")]
    best = many.names.index(str(table.index[0]))
    assert table["importance"].iloc[0] == pytest.approx(size[best])
    assert table["mean_score"].iloc[0] == pytest.approx(many.scores[:, best].mean())
    in_top = [best in np.argsort(-np.abs(row))[:2] for row in many.scores]
    assert table["top_k_share"].iloc[0] == pytest.approx(np.mean(in_top))
    for value, low, high in (
        ("importance", "low", "high"),
        ("mean_score", "mean_score_low", "mean_score_high"),
        ("top_k_share", "top_k_share_low", "top_k_share_high"),
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


def test_groups(many: Explanations) -> None:
    groups = np.array(["a", "b"] * 6)
    table = many.compare_groups(groups, sample=False)
    assert len(table) == 13
    mean = many.scores[::2].mean(axis=0) - many.scores[1::2].mean(axis=0)
    assert np.allclose(table["difference"], mean)
    assert (table["rows"] == 6).all()
    three = many.compare_groups(np.array(["a", "b", "c"] * 4))
    assert len(three) == 39
    assert set(three["against"]) == {"all others"}
    size = many.compare_groups({"one": groups == "a", "rest": groups == "b"}, size=True)
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
            many.compare_groups(groups_)


def test_methods_without_intervals(tmp_path: Path) -> None:
    lime = eagle.Explainer(FOREST, DATA.data, method=peers.LIME, budget=60)
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
    assert shap.values.shape == shap.data.shape == (12, 13)
    assert np.allclose(shap.base_values + shap.values.sum(axis=1), many.predictions, atol=1e-12)
    t = many.table
    line = t.local_prediction - t.scores.sum(axis=1)
    assert np.allclose(shap.base_values, line + t.prediction - t.local_prediction, atol=1e-12)
    assert list(shap.feature_names) == list(many.names)
    alone = many[3].to_shap()
    for part in ("values", "base_values", "lower_bounds", "upper_bounds", "error_std"):
        assert np.allclose(getattr(shap[3], part), getattr(alone, part)), part


def test_shap_needs_no_more_than_the_numbers(explainer: eagle.Explainer, tmp_path: Path) -> None:
    """Several targets, rows without their evidence, and those read from a file."""
    both = Explanations.of([explainer.explain(ROWS.iloc[i], i % 2) for i in range(4)])
    thin = explainer.explain_many(ROWS, 0, evidence=False)
    thin.save(tmp_path / "thin.parquet")
    for e in (both, thin, eagle.load(tmp_path / "thin.parquet")):
        shap = e.to_shap()
        assert np.allclose(shap.base_values + shap.values.sum(axis=1), e.predictions, atol=1e-12)


def test_evidence_is_kept_up_to_a_limit(
    explainer: eagle.Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = explainer.explain_many(ROWS, 0, evidence=False)
    assert all(len(e.evidence.answers) == 1 for e in none)
    assert "not kept" in none[0].warnings[0]
    monkeypatch.setattr("eagle.explanations.MAX_EVIDENCE_BYTES", 20_000)
    some = [len(e.evidence.answers) > 1 for e in explainer.explain_many(ROWS, 0)]
    assert some[0]
    assert not some[-1]
    assert all(len(e.evidence.answers) > 1 for e in explainer.explain_many(ROWS, 0, evidence=True))


def test_a_survey_is_mentioned_once(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eagle._engine.progress.PATIENCE", -1.0)
    monkeypatch.setattr("eagle._engine.progress.is_watched", lambda: True)
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


def test_of_no_rows_nothing_is_stated(many: Explanations) -> None:
    empty = many[3:3]
    with pytest.raises(eagle.InputError, match="no rows here"):
        empty.summary()
    assert "no rows here" in empty._repr_html_()
    assert "nan" not in many[:1]._repr_html_().split("</style>")[1]


def test_only_explanations_of_one_model_go_together(many: Explanations) -> None:
    logit = eagle.Explainer(FOREST, DATA.data, budget=50, link="logit").explain(ROWS.iloc[0], 0)
    with pytest.raises(eagle.InputError, match="their link"):
        Explanations.of([many[0], logit])


def test_a_survey_s_explanations_travel_and_part() -> None:
    survey = eagle.Explainer(FOREST, DATA.data).survey(128)
    mixed = survey.explain_many(DATA.data.iloc[::9])
    assert mixed == mixed
    first = mixed[[target == 0 for target in mixed.targets]]
    assert first.summary().notna().all(axis=None)
    assert list(mixed[np.zeros(len(mixed), dtype=bool)]) == []
    sent = pickle.loads(pickle.dumps(first))
    assert np.array_equal(sent[2].scores, first[2].scores)
    for _ in range(1200):
        first = first[np.ones(len(first), dtype=bool)]
    assert np.isfinite(first[0].scores).all()


def test_shares_of_few_rows_are_not_sure(many: Explanations) -> None:
    top = many[:2].top_k_share(1)
    assert (top.high - top.low > 0.3).all()
    exact = many[:2].top_k_share(1, sample=False)
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
    assert read["a", 2].names == ("1", "1")


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
