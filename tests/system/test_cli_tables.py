"""Whole tables by the command line: a survey, explanations from it, and what they say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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
from eagle import Explanations, Survey, cli
from eagle.cli import from_survey, summary

FEATURES = ["age", "income", "job"]
ROWS = 120
Capture = pytest.CaptureFixture[str]


def people(n: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 80, n),
            "income": rng.normal(4, 1.2, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
        }
    )
    table["label"] = np.where((table["age"] > 45) | (table["job"] == "nurse"), "yes", "no")
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a model and its survey."""
    made = tmp_path_factory.mktemp("tables")
    table = people()
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


def refused(capsys: Capture, *arguments: str) -> str:
    """The sentence with which the command refuses."""
    capsys.readouterr()
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("eagle: ")
    assert err.count("\n") == 1
    return err


def explained(folder: Path, out: Path, *more: str) -> Explanations:
    command = ["explain", f"{folder}/survey.json", "--rows", f"{folder}/rows.parquet"]
    assert cli.main([*command, "--id", "name", "--out", str(out), "--quiet", *more]) == 0
    return Explanations.load(out)


# -- survey --------------------------------------------------------------------------------------


def test_a_survey_is_that_of_the_library(folder: Path) -> None:
    table = people()[FEATURES]
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
    assert Survey.load(tmp_path / "s.json").setting.ask.box.link is not None
    assert "overwrite" in refused(capsys, *command, "--out", f"{folder}/train.csv")
    assert "no folder" in refused(capsys, *command, "--out", f"{tmp_path}/none/s.json")
    assert "at least" in refused(capsys, *command[:-1], "1", "--out", f"{tmp_path}/s.json")


def test_a_survey_is_quoted_and_limited(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    command = ["survey", f"{folder}/model.joblib", "--trust", "--data", f"{folder}/train.csv"]
    command += ["--drop", "label", "name", "--rows", "2000", "--out", f"{tmp_path}/s.json"]
    assert cli.main([*command, "--quote", "--price", "0.5"]) == 0
    quoted = int(capsys.readouterr().out.split()[0].replace(",", ""))
    assert not (tmp_path / "s.json").exists()
    assert cli.main([*command, "--quiet"]) == 0
    assert Survey.load(tmp_path / "s.json").account.rows == quoted <= 2000
    (tmp_path / "s.json").unlink()
    assert "limit of 1,500" in refused(capsys, *command, "--limit", "1500")
    assert not (tmp_path / "s.json").exists()
    start = ("explain", f"{folder}/survey.json", "--rows", f"{folder}/rows.parquet")
    assert "are for 'eagle survey'" in refused(capsys, *start, "--target", "yes", "--quote")
    assert "not images" in refused(capsys, *start, "--text", "a.txt")


MODEL = """
import time
from pathlib import Path
class {name}:
    calls = 0
    def predict(self, X):
        self.calls += 1
        if self.calls == 3:
            {then}
        return X["income"].to_numpy()
"""


def odd_model(folder: Path, name: str, then: str) -> tuple[str, ...]:
    """The command of a survey whose model does something odd at its third call."""
    module = name.lower()
    (folder / f"{module}.py").write_text(MODEL.format(name=name, then=then))
    (folder / f"{module}.pkl").write_bytes(f"c{module}\n{name}\n)R.".encode())
    people(9)[["age", "income"]].to_csv(folder / "data.csv", index=False)
    return ("survey", f"{module}.pkl", "--trust", "--data", "data.csv", "--out", "s.json")


def run(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    return subprocess.Popen(
        [sys.executable, "-m", "eagle.cli", *arguments],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )


def test_a_survey_that_is_stopped_keeps_what_was_answered(tmp_path: Path) -> None:
    then = "Path(__file__).with_name('ready').touch(); time.sleep(100)"
    process = run(tmp_path, *odd_model(tmp_path, "Slow", then))
    try:
        for _ in range(1200):
            if (tmp_path / "ready").exists() or process.poll() is not None:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "stopped: the survey of the first 2,048 of 4,096 rows is in s.json" in error
    assert Survey.load(tmp_path / "s.json").rows == 2048


def test_a_survey_whose_model_fails_keeps_what_was_answered(tmp_path: Path) -> None:
    process = run(tmp_path, *odd_model(tmp_path, "Broken", "raise ValueError('out of order')"))
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "out of order" in error
    assert "Traceback" not in error
    assert Survey.load(tmp_path / "s.json").rows == 2048


# -- explain -------------------------------------------------------------------------------------


def test_a_table_is_explained_without_the_model(folder: Path, tmp_path: Path) -> None:
    made = explained(folder, tmp_path / "e.parquet", "--target", "yes")
    survey = Survey.load(folder / "survey.json")
    expected = survey.explain_many(people()[FEATURES].iloc[:40], "yes", progress=False)
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
    answers = model.predict_proba(people()[FEATURES])
    assert made.targets == tuple(model.classes_[answers.argmax(axis=1)])
    assert np.allclose(made.predictions, answers.max(axis=1))
    assert "different classes" in refused(capsys, "summary", str(out))


def test_another_model_than_the_surveys_is_said(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    table = people()
    other = joblib.load(folder / "model.joblib").fit(table[FEATURES], table["label"][::-1])
    joblib.dump(other, tmp_path / "other.joblib")
    command = ["explain", f"{tmp_path}/other.joblib", "--trust", "--row", "0"]
    command += ["--survey", f"{folder}/survey.json", "--data", f"{folder}/train.csv"]
    assert cli.main(command) == 0
    assert capsys.readouterr().err.startswith("note: ")


def test_parts_are_put_together(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = explained(folder, tmp_path / "e.parquet", "--target", "yes")
    monkeypatch.setattr(from_survey, "PART", 17)
    parts = explained(folder, tmp_path / "e.parquet", "--target", "yes")
    assert np.array_equal(parts.scores, whole.scores)
    assert parts.ids == whole.ids
    tidy = tmp_path / "tidy.parquet"
    command = ["explain", f"{folder}/survey.json", "--rows", f"{folder}/rows.parquet", "--quiet"]
    command += ["--id", "name", "--target", "yes", "--format", "parquet", "--out", str(tidy)]
    assert cli.main(command) == 0
    table = pd.read_parquet(tidy)
    assert table["row"].drop_duplicates().tolist() == list(whole.ids)
    assert np.allclose(table["score"], whole.scores.ravel())


def test_one_row_and_one_class_against_another(folder: Path, capsys: Capture) -> None:
    command = ["explain", f"{folder}/survey.json", "--data", f"{folder}/train.csv", "--row", "3"]
    assert cli.main([*command, "--target", "yes", "--against", "no"]) == 0
    out, _ = capsys.readouterr()
    assert out.startswith("Why yes against no?")
    assert "another class" in refused(capsys, *command, "--against", "no")
    assert "has no output 'maybe'; it has no, yes" in refused(capsys, *command, "--target", "maybe")


def test_what_does_not_fit_a_survey_is_said(folder: Path, capsys: Capture) -> None:
    start = ("explain", f"{folder}/survey.json", "--rows", f"{folder}/rows.parquet")
    assert "give a target, one of 'no', 'yes'" in refused(capsys, *start)
    told = refused(capsys, *start, "--target", "yes", "--link", "logit")
    assert told == "eagle: --link was decided when the survey was made: leave it out\n"
    told = refused(capsys, "explain", f"{folder}/survey.json", "--all", "--target", "yes")
    assert "which rows to explain?" in told
    told = refused(capsys, "explain", f"{folder}/model.joblib", "--trust", "--all")
    assert "needs --data" in told
    told = refused(capsys, *start, "--target", "yes", "--id", "nome")
    assert "--id names the column 'nome'" in told


def test_ids_name_rows_that_are_explained_one_by_one(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    few = people()[["name", *FEATURES]].iloc[[5, 2]]
    few.to_csv(tmp_path / "few.csv", index=False)
    command = ["explain", f"{folder}/model.joblib", "--trust", "--data", f"{folder}/train.csv"]
    command += ["--drop", "label", "--id", "name", "--rows", f"{tmp_path}/few.csv", "--quiet"]
    command += ["--budget", "60", "--target", "yes"]
    assert cli.main(command) == 0
    out, _ = capsys.readouterr()
    assert [line for line in out.splitlines() if line.startswith("Row")] == ["Row p5", "Row p2"]
    file = tmp_path / "e.parquet"
    assert cli.main([*command, "--format", "explanations", "--out", str(file)]) == 0
    made = Explanations.load(file)
    assert made.ids == ("p5", "p2")
    assert made.names == tuple(FEATURES)
    few.assign(name=[None, "p2"]).to_csv(tmp_path / "few.csv", index=False)
    assert "empty in some rows" in refused(capsys, *command)


# -- summary -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    explained(folder, folder / "explained.parquet", "--target", "yes")
    return folder / "explained.parquet"


def test_a_summary_is_that_of_the_library(file: Path, tmp_path: Path, capsys: Capture) -> None:
    assert cli.main(["summary", str(file), "--top", "1"]) == 0
    out, _ = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "40 rows explained about yes"
    assert lines[2].split()[:4] == ["feature", "importance", "low", "high"]
    expected = Explanations.load(file).summary(1)
    assert [line.split()[0] for line in lines[3:6]] == list(expected.index)
    assert "among the 1 strongest" in out
    table = tmp_path / "table.csv"
    assert cli.main(["summary", str(file), "--top", "1", "--out", str(table), "--quiet"]) == 0
    written = pd.read_csv(table).set_index("feature")
    assert np.allclose(written, expected)
    assert cli.main(["summary", str(file), "--these-rows", "--out", str(table), "--quiet"]) == 0
    alone = pd.read_csv(table).set_index("feature")
    assert (alone["high"] - alone["low"] < written["high"] - written["low"]).all()


@pytest.mark.parametrize("kind", summary.PLOTS)
def test_a_summary_is_drawn(kind: str, file: Path, tmp_path: Path, capsys: Capture) -> None:
    png = tmp_path / "out.png"
    assert cli.main(["summary", str(file), "--plot", str(png), "--kind", kind]) == 0
    assert png.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().err == f"wrote {png}\n"


def test_groups_are_compared(file: Path, tmp_path: Path, capsys: Capture) -> None:
    png, table = tmp_path / "out.png", tmp_path / "table.parquet"
    command = ["summary", str(file), "--by", "job", "--plot", str(png), "--out", str(table)]
    assert cli.main(command) == 0
    assert png.exists()
    written = pd.read_parquet(table)
    expected = Explanations.load(file).compare("job")
    both = written.merge(expected, on=["feature", "group"], suffixes=("", "_expected"))
    assert len(both) == len(expected)
    assert np.allclose(both["low"], both["low_expected"])
    assert (written["difference"].abs().diff().dropna() <= 0).all()
    capsys.readouterr()
    assert "--by names 'hair', but the features are age" in refused(
        capsys, "summary", str(file), "--by", "hair"
    )


def test_numbers_are_cut_into_four_ranges(file: Path) -> None:
    every = Explanations.load(file)
    labels = np.array(summary.groups(every, "age"))
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


def test_files_that_are_no_explanations(folder: Path, capsys: Capture) -> None:
    told = refused(capsys, "summary", f"{folder}/rows.parquet")
    assert "is not a file of explanations" in told
    assert "'eagle explain' writes such a file from a survey" in told
    assert "no file" in refused(capsys, "summary", f"{folder}/nothing.parquet")
