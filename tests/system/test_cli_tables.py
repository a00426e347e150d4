"""Whole tables by the command line: a survey, explanations from it, and what they say."""

from __future__ import annotations

import signal
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import eagle
from commands import HANGS, Capture, ended, odd_model, people, refused
from eagle import Explanations, Survey, cli
from eagle.cli import report

FEATURES = ["age", "income", "job"]
ROWS = 120


def named() -> pd.DataFrame:
    table = people(ROWS)
    label = np.where((table["age"] > 45) | (table["job"] == "nurse"), "yes", "no")
    names = [f"p{i}" for i in range(ROWS)]
    return table.drop(columns="height").assign(label=label, name=names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a model and its survey."""
    made = tmp_path_factory.mktemp("tables")
    table = named()
    table.to_csv(made / "train.csv", index=False)
    table[["name", *FEATURES]].iloc[:40].to_parquet(made / "rows.parquet")
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job"]), remainder=StandardScaler()),
        LogisticRegression(),
    ).fit(table[FEATURES], table["label"])
    joblib.dump(model, made / "model.joblib")
    command = ["survey", f"{made}/model.joblib", "--trust", "--data", f"{made}/train.csv"]
    command += ["--drop", "label", "--id", "name", "--rows", "1500", "--seed", "3"]
    assert cli.main([*command, "--out", f"{made}/survey.json", "--quiet"]) == 0
    return made


def explained(folder: Path, out: Path, *more: str) -> Explanations:
    command = ["explain", f"{folder}/survey.json", "--rows", f"{folder}/rows.parquet"]
    assert cli.main([*command, "--id", "name", "--out", str(out), "--quiet", *more]) == 0
    return Explanations.load(out)


# -- survey --------------------------------------------------------------------------------------


def test_a_survey_is_that_of_the_library(folder: Path) -> None:
    table = named()[FEATURES]
    model = joblib.load(folder / "model.joblib")
    expected = eagle.Explainer(model, table, random_state=3).survey(1500, progress=False)
    made = Survey.load(folder / "survey.json")
    assert made.rows == 1500
    assert made.drawn.digest == expected.drawn.digest
    assert np.allclose(made.answers, expected.answers)


def test_a_survey_is_described(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    command = ["survey", f"{folder}/model.joblib", "--trust", "--data", f"{folder}/train.csv"]
    command += ["--drop", "label", "name", "--rows", "256"]
    assert cli.main([*command, "--link", "logit", "--out", f"{tmp_path}/s.json"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Survey: 256 rows of 3 features, seed 0\nModel: Pipeline.predict_proba")
    assert err == f"wrote {tmp_path}/s.json\n"
    assert Survey.load(tmp_path / "s.json").setting.box.link is not None
    assert "overwrite" in refused(capsys, *command, "--out", f"{folder}/train.csv")
    assert "no folder" in refused(capsys, *command, "--out", f"{tmp_path}/none/s.json")
    assert "at least" in refused(capsys, *command[:-1], "1", "--out", f"{tmp_path}/s.json")


def test_a_survey_is_estimated_and_limited(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    command = ["survey", f"{folder}/model.joblib", "--trust", "--data", f"{folder}/train.csv"]
    command += ["--drop", "label", "name", "--rows", "2000", "--out", f"{tmp_path}/s.json"]
    assert cli.main([*command, "--estimate"]) == 0
    estimated = int(capsys.readouterr().out.split()[0].replace(",", ""))
    assert not (tmp_path / "s.json").exists()
    assert cli.main([*command, "--quiet"]) == 0
    assert Survey.load(tmp_path / "s.json").cost.rows == estimated <= 2000
    (tmp_path / "s.json").unlink()
    assert "limit of 1,500" in refused(capsys, *command, "--limit", "1500")
    assert not (tmp_path / "s.json").exists()
    start = ("explain", f"{folder}/survey.json", "--rows", f"{folder}/rows.parquet")
    assert "is for 'eagle survey'" in refused(capsys, *start, "--target", "yes", "--estimate")
    assert "not images" in refused(capsys, *start, "--text", "a.txt")


def test_a_survey_that_is_stopped_keeps_what_was_answered(tmp_path: Path) -> None:
    command = ("survey", *odd_model(tmp_path, "Slow", HANGS), "--out", "s.json")
    code, _, error = ended(tmp_path, signal.SIGINT, *command)
    assert code == 130
    assert "stopped: the survey of the first 2,048 of 4,096 rows is in s.json" in error
    assert Survey.load(tmp_path / "s.json").rows == 2048


def test_a_survey_whose_model_fails_keeps_what_was_answered(tmp_path: Path) -> None:
    model = odd_model(tmp_path, "Broken", "raise ValueError('out of order')")
    code, _, error = ended(tmp_path, None, "survey", *model, "--out", "s.json")
    assert code == 2
    assert "out of order" in error
    assert "Traceback" not in error
    assert Survey.load(tmp_path / "s.json").rows == 2048


# -- explain -------------------------------------------------------------------------------------


def test_a_table_is_explained_without_the_model(folder: Path, tmp_path: Path) -> None:
    made = explained(folder, tmp_path / "e.parquet", "--target", "yes")
    survey = Survey.load(folder / "survey.json")
    expected = survey.explain_many(named()[FEATURES].iloc[:40], "yes", progress=False)
    assert made.ids == tuple(f"p{i}" for i in range(40))
    assert np.array_equal(made.scores, expected.scores)
    assert np.allclose(made.interval(), expected.interval())
    assert np.isnan(made.predictions).all()


def test_with_the_model_predictions_are_known(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "e.parquet"
    command = ["explain", f"{folder}/model.joblib", "--trust", "--survey", f"{folder}/survey.json"]
    command += ["--data", f"{folder}/train.csv", "--all", "--drop", "label", "--id", "name"]
    assert cli.main([*command, "--out", str(out), "--quiet"]) == 0
    made = Explanations.load(out)
    model = joblib.load(folder / "model.joblib")
    answers = model.predict_proba(named()[FEATURES])
    assert made.targets == tuple(model.classes_[answers.argmax(axis=1)])
    assert np.allclose(made.predictions, answers.max(axis=1))
    capsys.readouterr()
    assert cli.main(["report", str(out), "-o", str(tmp_path / "e.html")]) == 0
    said = capsys.readouterr().out
    assert all(f"explained about {name}" in said for name in ("yes", "no"))


def test_another_model_than_the_surveys_is_said(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    table = named()
    other = joblib.load(folder / "model.joblib").fit(table[FEATURES], table["label"][::-1])
    joblib.dump(other, tmp_path / "other.joblib")
    command = ["explain", f"{tmp_path}/other.joblib", "--trust", "--row", "0"]
    command += ["--survey", f"{folder}/survey.json", "--data", f"{folder}/train.csv"]
    assert cli.main(command) == 0
    assert capsys.readouterr().err.startswith("note: ")


def test_one_row(folder: Path, capsys: Capture) -> None:
    command = ["explain", f"{folder}/survey.json", "--data", f"{folder}/train.csv", "--row", "3"]
    assert cli.main([*command, "--target", "yes"]) == 0
    assert capsys.readouterr().out.startswith("Why yes?")
    assert "has no output 'maybe'; it has no, yes" in refused(capsys, *command, "--target", "maybe")


def test_what_does_not_fit_a_survey_is_said(folder: Path, capsys: Capture) -> None:
    start = ("explain", f"{folder}/survey.json", "--rows", f"{folder}/rows.parquet")
    assert "give a target, one of 'no', 'yes'" in refused(capsys, *start)
    for option in (("--link", "logit"), ("--budget", "9"), ("--limit-seconds", "9")):
        told = refused(capsys, *start, "--target", "yes", *option)
        assert f"{option[0]} is for 'eagle survey'" in told
    told = refused(capsys, "explain", f"{folder}/survey.json", "--all", "--target", "yes")
    assert "which rows to explain?" in told
    told = refused(capsys, "explain", f"{folder}/model.joblib", *start[2:], "--trust")
    assert "--data is needed" in told
    told = refused(capsys, *start, "--target", "yes", "--id", "nome")
    assert "--id names the column 'nome'" in told


def test_ids_name_rows_that_are_explained_one_by_one(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    few = named()[["name", *FEATURES]].iloc[[5, 2]]
    few.to_csv(tmp_path / "few.csv", index=False)
    command = ["explain", f"{folder}/model.joblib", "--trust", "--data", f"{folder}/train.csv"]
    command += ["--drop", "label", "--id", "name", "--rows", f"{tmp_path}/few.csv", "--quiet"]
    command += ["--budget", "60", "--target", "yes"]
    assert cli.main(command) == 0
    out, _ = capsys.readouterr()
    assert [line for line in out.splitlines() if line.startswith("Row")] == ["Row p5", "Row p2"]
    file = tmp_path / "e.parquet"
    assert cli.main([*command, "--out", str(file)]) == 0
    made = Explanations.load(file)
    assert made.ids == ("p5", "p2")
    assert made.names == tuple(FEATURES)
    few.assign(name=[None, "p2"]).to_csv(tmp_path / "few.csv", index=False)
    assert "empty in some rows" in refused(capsys, *command)


# -- report --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    explained(folder, folder / "explained.parquet", "--target", "yes")
    return folder / "explained.parquet"


def test_a_report_says_and_writes_what_drives_the_model(
    file: Path, tmp_path: Path, capsys: Capture
) -> None:
    expected = Explanations.load(file).summary()
    assert cli.main(["report", str(file), "-o", str(tmp_path / "r.html")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "40 rows explained about yes"
    assert [line.split()[0] for line in lines[3:6]] == list(expected.index)
    table = tmp_path / "table.csv"
    assert cli.main(["report", str(file), "-o", str(table), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert np.allclose(pd.read_csv(table).set_index("feature"), expected)
    survey = str(file.with_name("survey.json"))
    assert "explanations of many" in refused(capsys, "report", survey, "-o", str(table))


def test_groups_are_compared(file: Path, tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "table.parquet"
    assert cli.main(["report", str(file), "--by", "job", "-o", str(table)]) == 0
    assert "Difference of mean scores" in capsys.readouterr().out
    written = pd.read_parquet(table)
    expected = Explanations.load(file).compare_groups("job")
    both = written.merge(expected, on=["feature", "group"], suffixes=("", "_expected"))
    assert len(both) == len(expected)
    assert np.allclose(both["low"], both["low_expected"])
    assert (written["difference"].abs().diff().dropna() <= 0).all()
    assert "--by names 'hair', but the features are age" in refused(
        capsys, "report", str(file), "--by", "hair"
    )


def test_numbers_are_cut_into_four_ranges(file: Path) -> None:
    every = Explanations.load(file)
    labels = np.array(report.groups(every, "age"))
    ages = every.data[:, 0].astype(float)
    names, counts = np.unique(labels, return_counts=True)
    assert len(names) == 4
    assert counts.min() >= 8
    middle = np.median(ages)
    for label in names:
        inside = ages[labels == label]
        assert inside.max() <= middle or inside.min() > middle
    lowest = f"age ≤ {np.quantile(ages, 0.25):.4g}"
    assert (labels == lowest).tolist() == (ages <= np.quantile(ages, 0.25)).tolist()
