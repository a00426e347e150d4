"""`eagle report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle
from commands import Capture
from eagle import cli


def answer(table: pd.DataFrame) -> Any:
    return np.asarray(table["age"], dtype=float) * (1 + (table["job"] == "a"))


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.normal(size=rows), "job": rng.choice(["a", "b"], rows)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey, explanations from it, and one explanation, saved."""
    out = tmp_path_factory.mktemp("saved")
    explainer = eagle.Explainer(answer, people(60, 0))
    survey = explainer.survey(128, progress=False)
    survey.save(out / "survey.json")
    survey.explain_many(people(30, 1), progress=False).save(out / "many.parquet")
    explainer.explain(people(1, 2)).save(out / "one.json")
    return out


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("one.json", "Explanation of one prediction"),
        ("many.parquet", "Explanations of many predictions"),
        ("survey.json", "Survey of a model"),
    ],
)
def test_saved_results(
    name: str, told: str, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report", str(folder / name), "--quiet"]) == 0
    page = (tmp_path / Path(name).with_suffix(".html")).read_text(encoding="utf-8")
    assert told in page


def test_its_options(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "why.html"
    options = ["--by", "job", "--survey", str(folder / "survey.json")]
    assert cli.main(["report", str(folder / "many.parquet"), "-o", str(out), *options]) == 0
    assert capsys.readouterr().err.strip().splitlines()[-1] == f"wrote {out}"
    page = out.read_text(encoding="utf-8")
    assert "How groups differ" in page
    assert eagle.Survey.load(folder / "survey.json").identity.background_digest in page


def test_refusals(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    one, plan = folder / "one.json", folder / "background.json"
    eagle.Background.of(people(60, 0)).save(plan)
    for arguments, told in [
        ([str(one), "-o", str(one)], "would overwrite"),
        ([str(tmp_path / "none.json")], "there is no file"),
        ([str(one), "--by", "job", "-o", str(tmp_path / "x.html")], "no explanations of many"),
        ([str(plan), "-o", str(tmp_path / "x.html")], "a report is of an Explanation"),
    ]:
        assert cli.main(["report", *arguments]) != 0
        assert told in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()
