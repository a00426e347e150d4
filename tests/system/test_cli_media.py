"""Images and texts on the command line: files and folders in, tables and files out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import eagle
from commands import Capture
from eagle import cli
from graphs import mean_colour

BUDGET = ("--budget", "60", "--quiet")
MESSAGES = [
    "win a free prize now and call us today!",
    "see you at home for dinner my love",
    "free entry to win cash, text now!",
    "are you coming to lunch with us today",
] * 8
LABELS = ["spam", "ham"] * 16


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("media")
    messages = [f"{m} number{k}" for k, m in enumerate(MESSAGES)]
    line = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(messages, LABELS)
    joblib.dump(line, folder / "line.joblib")
    table = pd.DataFrame({"message": messages, "length": [len(m) for m in messages]})
    both = make_pipeline(
        make_column_transformer((TfidfVectorizer(), "message"), remainder="passthrough"),
        LogisticRegression(max_iter=5000),
    ).fit(table, LABELS)
    joblib.dump(both, folder / "both.joblib")
    table.assign(label=LABELS).to_csv(folder / "sms.csv", index=False)
    (folder / "one.txt").write_text("Call now! A free prize.\n", encoding="utf-8")
    (folder / "two.txt").write_text("see you at home", encoding="utf-8")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "names.txt").write_text("day\nnight\n", encoding="utf-8")
    weights = np.array([[3.0, -3.0], [0, 0], [0, 0]], dtype=np.float32)
    (folder / "net.onnx").write_bytes(mean_colour(weights, ["n", 3, 48, 64]))
    (folder / "photos").mkdir()
    rng = np.random.default_rng(0)
    for name in ("a.png", "b.jpg"):
        pixels = rng.integers(0, 256, (9, 12, 3), dtype=np.uint8).repeat(20, 0).repeat(20, 1)
        Image.fromarray(pixels).save(folder / "photos" / name)
    (folder / "photos" / "notes.md").write_text("no image")
    (folder / "empty").mkdir()
    return folder


def ran(capsys: Capture, *arguments: Any) -> str:
    assert cli.main(["explain", *map(str, arguments), *BUDGET]) == 0
    return capsys.readouterr().out


def refused(capsys: Capture, *arguments: Any) -> str:
    assert cli.main(["explain", *map(str, arguments), *BUDGET]) == 2
    said = capsys.readouterr()
    assert not said.out
    return said.err


def test_a_text(files: Path, capsys: Capture) -> None:
    model = (files / "line.joblib", "--trust")
    out = ran(capsys, *model, "--text", files / "one.txt", "--target", "spam")
    assert out.startswith("Why spam? The model says")
    assert "Call▲" in out
    assert "\n!  " in out  # a mark is a feature
    out = ran(capsys, *model, "--text", files / "one.txt", files / "two.txt")
    assert "one.txt\nWhy" in out
    assert "two.txt\nWhy" in out
    ran(capsys, *model, "--text", files / "one.txt", files / "two.txt", "--out", files / "t.json")
    read = json.loads((files / "t.json").read_text())
    assert [one["id"] for one in read] == ["one.txt", "two.txt"]


def test_a_column_of_texts(files: Path, capsys: Capture) -> None:
    data = ("--data", files / "sms.csv", "--text-column", "message")
    out = ran(capsys, files / "line.joblib", "--trust", *data, "--row", 2)
    assert out.startswith("Why spam?")
    made = ran(capsys, files / "both.joblib", "--trust", *data, "--drop", "label", "--row", 2)
    model, table = joblib.load(files / "both.joblib"), pd.read_csv(files / "sms.csv")
    says = model.predict_proba(table[["message", "length"]].iloc[[2]]).max()
    assert made.startswith(f"Why spam? The model says {says:.4g}")
    ran(capsys, files / "line.joblib", "--trust", *data, "--all", "--out", files / "all.parquet")
    assert eagle.load(files / "all.parquet").ids == tuple(range(32))
    said = refused(capsys, files / "line.joblib", "--trust", *data)
    assert "one text, with --row N, or all, with --all" in said


def test_texts_are_estimated_and_limited_too(files: Path, capsys: Capture) -> None:
    one = (files / "line.joblib", "--trust", "--text", files / "one.txt", files / "two.txt")
    data = ("--data", files / "sms.csv", "--text-column", "message")
    each = (files / "both.joblib", "--trust", *data, "--drop", "label", "--all")
    for asked in (one, each):
        out = ran(capsys, *asked, "--estimate")
        rows = int(out.split()[0].replace(",", ""))
        assert "would cross the limit" in refused(capsys, *asked, "--limit", rows - 1)
        ran(capsys, *asked, "--limit", rows)
    command = ["explain", *map(str, each), *BUDGET, "--limit-seconds", "0.001"]
    assert cli.main(command) == 2
    assert "limit of 0.001 seconds is reached, so no more was asked" in capsys.readouterr().err


def test_rows_without_a_text_are_named(files: Path, capsys: Capture) -> None:
    table = pd.read_csv(files / "sms.csv").iloc[:4]
    table.loc[[1, 3], "message"] = [None, "  "]
    table.to_csv(files / "gaps.csv", index=False)
    model = (files / "line.joblib", "--trust", "--data", files / "gaps.csv")
    column = ("--text-column", "message")
    said = refused(capsys, *model, *column, "--row", 3)
    assert "row 3 has no text in the column 'message'" in said
    out = files / "gaps.parquet"
    assert cli.main(["explain", *map(str, (*model, *column, "--all", "--out", out)), *BUDGET]) == 0
    assert "rows 1, 3 have no text in the column 'message'" in capsys.readouterr().err
    assert eagle.load(out).ids == (0, 2)


def test_options_of_images_and_texts_are_not_mixed(files: Path, capsys: Capture) -> None:
    model = (files / "line.joblib", "--trust")
    text = ("--text", files / "one.txt")
    assert "is for images" in refused(capsys, *model, *text, "--preset", "imagenet")
    assert "a survey explains rows" in refused(capsys, *model, *text, "--survey", "s.json")
    photos = ("--image", files / "photos")
    assert "ONNX files" in refused(capsys, *model, *photos, "--preset", "imagenet")
    assert "photos is a folder" in refused(capsys, *model, "--text", files / "photos")


def test_a_column_of_texts_in_a_table_is_noticed(files: Path, capsys: Capture) -> None:
    table = (files / "both.joblib", "--trust", "--data", files / "sms.csv", "--drop", "label")
    said = refused(capsys, *table, "--row", 2)
    assert "'message' holds texts" in said
    assert "--text-column message" in said


def test_images_and_folders_of_them(files: Path, capsys: Capture) -> None:
    net = (files / "net.onnx", "--preset", "zero-to-one", "--classes", files / "names.txt")
    photo = files / "photos" / "a.png"
    out = ran(capsys, *net, "--image", photo, "--target", "day")
    pixels = np.asarray(Image.open(photo).convert("RGB").resize((64, 48))).astype(float) / 255
    logit = 6 * pixels[..., 0].mean()
    assert float(out.split("says ")[1].split()[0]) == pytest.approx(
        1 / (1 + np.exp(-logit)), abs=0.01
    )
    pd.DataFrame({"index": [0, 1], "name": ["crane", "crane"]}).to_csv(files / "names.csv")
    twice = (files / "net.onnx", "--preset", "zero-to-one", "--classes", files / "names.csv")
    assert ran(capsys, *twice, "--image", photo).startswith("Why crane [0]?")
    out = ran(capsys, *net, "--image", files / "photos")
    assert out.index("a.png\nWhy") < out.index("b.jpg\nWhy")
    ran(capsys, *net, "--image", files / "photos", "--format", "png", "--out", files / "drawn")
    assert sorted(p.name for p in (files / "drawn").iterdir()) == ["a.png.png", "b.jpg.png"]


def test_what_does_not_fit_is_said(files: Path, capsys: Capture) -> None:
    net, photo = files / "net.onnx", files / "photos" / "a.png"
    assert "name a --preset, one of imagenet (" in refused(capsys, net, "--image", photo)
    preset = ("--preset", "imagenet")
    assert "no image in the folder" in refused(capsys, net, *preset, "--image", files / "empty")
    assert "there is no file" in refused(capsys, net, *preset, "--image", files / "none.png")
    wrong = refused(capsys, net, *preset, "--image", files / "one.txt")
    assert "could not be read as an image" in wrong
    line = (files / "line.joblib", "--trust")
    assert "not a text in UTF-8" in refused(capsys, *line, "--text", files / "latin.txt")
    assert "which rows to explain?" in refused(capsys, *line)
    both = refused(capsys, *line, "--text", files / "one.txt", "--image", photo)
    assert "one of --image, --text and --text-column" in both
    data = ("--data", files / "sms.csv")
    assert "--data is for tables" in refused(capsys, *line, *data, "--text", files / "one.txt")
    assert "which rows to explain?" in refused(capsys, *line, *data)
    assert "a column of --data" in refused(capsys, *line, "--text-column", "message")
    named = refused(capsys, *line, *data, "--text-column", "text", "--row", 1)
    assert "names the column 'text'" in named


def test_what_was_explained_before_a_failure_is_given(
    files: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the first."""
    explained = eagle.Explainer.explain_each

    def stops(self: Any, things: Any, **_: Any) -> Any:
        yield next(explained(self, things[:1]))
        raise KeyboardInterrupt

    monkeypatch.setattr(eagle.Explainer, "explain_each", stops)
    texts = ("--text", str(files / "one.txt"), str(files / "two.txt"))
    code = cli.main(["explain", str(files / "line.joblib"), "--trust", *texts, *BUDGET])
    said = capsys.readouterr()
    assert code == 130
    assert "one.txt\nWhy" in said.out
    assert "1 of 2 were explained" in said.err
