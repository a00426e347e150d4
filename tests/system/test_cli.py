"""The command line, used as a stranger would: files in, tables, files and sentences out."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from onnx import TensorProto as Kind
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import eagle
from commands import HANGS, Capture, ended, odd_model, people, refused
from eagle import Explainer, Explanation, cli
from eagle.cli import doctor, output, process
from eagle.cli import files as files_of
from graphs import ML, graph, node, value, zipped

BUDGET = ("--budget", "60")
NUMBERS = ["age", "income", "height"]
SLOPES = np.array([[0.5, -0.5], [-1.0, 1.0], [0.25, 0.0]], dtype=np.float32)
EAGLE = str(Path(sys.executable).with_name("eagle"))


def labelled() -> pd.DataFrame:
    table = people()
    return table.assign(label=(table["age"] > 45).astype(int) + (table["job"] == "nurse"))


def softmax_model(classes: list[str] | None = None) -> bytes:
    """A graph of a logistic model; with classes, one that names them only in its answers."""
    nodes = [
        node("MatMul", "x w", "s"),
        node("Add", "s b", "t"),
        node("Softmax", "t", "probabilities", axis=1),
    ]
    output, width = value("probabilities", Kind.FLOAT, [None, 2]), 3 if classes is None else "width"
    if classes is not None:
        nodes.append(node("ZipMap", "probabilities", "z", domain=ML, classlabels_strings=classes))
        output = zipped("z", Kind.STRING)
    x, bias = value("x", Kind.FLOAT, [None, width]), np.array([0.1, -0.1], np.float32)
    return graph(nodes, [x], [output], w=SLOPES, b=bias)


def softmax(x: pd.DataFrame) -> np.ndarray[Any, Any]:
    """What `softmax_model` computes, in another way."""
    s = np.exp(x.to_numpy() @ SLOPES.astype(float) + [0.1, -0.1])
    return np.asarray(s / s.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, as three kinds of file, and models."""
    folder = tmp_path_factory.mktemp("files")
    table = labelled()
    table.to_csv(folder / "data.csv", index=False)
    table.to_csv(folder / "data.csv.gz", index=False)
    table.to_parquet(folder / "data.parquet")
    forest = RandomForestClassifier(n_estimators=10, random_state=0)
    joblib.dump(forest.fit(table[NUMBERS], table["label"]), folder / "forest.joblib")
    mixed = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job"]), remainder=StandardScaler()),
        LogisticRegression(),
    ).fit(table.drop(columns="label"), table["label"])
    joblib.dump(mixed, folder / "mixed.pkl")
    (folder / "softmax.onnx").write_bytes(softmax_model())
    return folder


@pytest.fixture
def forest(files: Path) -> tuple[str, ...]:
    return ("explain", f"{files}/forest.joblib", "--trust", "--data", f"{files}/data.csv", *BUDGET)


def as_json(capsys: Capture, *arguments: str) -> Any:
    assert cli.main([*arguments, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def explained(capsys: Capture, *arguments: str) -> Explanation:
    return Explanation.from_dict(as_json(capsys, *arguments))


# -- explain -----------------------------------------------------------------------------------


class Touch:
    """A pickle that leaves a trace where it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("suffix", [".joblib", ".pkl", ".pickle"])
def test_no_code_of_a_pickle_runs_without_trust(
    suffix: str, files: Path, tmp_path: Path, capsys: Capture
) -> None:
    model, trace = tmp_path / f"model{suffix}", tmp_path / "trace"
    joblib.dump(Touch(trace), model)
    command = ("explain", str(model), "--data", f"{files}/data.csv", "--row", "0")
    sentence = refused(capsys, *command)
    assert "code" in sentence
    assert "--trust" in sentence
    assert not trace.exists()
    refused(capsys, *command, "--trust")  # None is not a model, but now it was loaded
    assert trace.exists()


def test_it_says_what_python_says(files: Path, forest: tuple[str, ...], capsys: Capture) -> None:
    table = files_of.read_table(files / "data.csv")
    model = joblib.load(files / "forest.joblib")
    wanted = Explainer(model, table, budget=60, random_state=3).explain(table.iloc[[7]])
    found = explained(capsys, *forest, "--row", "7", "--seed", "3")
    assert found.names == tuple(NUMBERS)
    np.testing.assert_array_equal(found.scores, wanted.scores)
    np.testing.assert_array_equal(found.interval(), wanted.interval())
    assert found.target == wanted.target


@pytest.mark.parametrize("kind", ["csv.gz", "parquet"])
def test_csv_and_parquet_are_one(
    kind: str, files: Path, forest: tuple[str, ...], capsys: Capture
) -> None:
    other = [a.replace("data.csv", f"data.{kind}") for a in forest]
    one = explained(capsys, *forest, "--row", "7")
    two = explained(capsys, *other, "--row", "7")
    np.testing.assert_array_equal(one.scores, two.scores)


def test_a_pipeline_over_text_columns(files: Path, capsys: Capture) -> None:
    found = explained(
        capsys,
        "explain",
        f"{files}/mixed.pkl",
        "--trust",
        "--data",
        f"{files}/data.csv",
        "--row",
        "5",
        "--drop",
        "label",
        "--categories",
        "age",
        *BUDGET,
    )
    row = people().iloc[5]
    assert found.names == ("age", "income", "job", "height")
    assert found.conditions[0] == f"age = {row['age']}"
    assert found.conditions[2] == f"job = {row['job']}"
    assert found.outputs == (0, 1, 2)


def test_classes_are_named_by_their_text(forest: tuple[str, ...], capsys: Capture) -> None:
    two = explained(capsys, *forest, "--row", "7", "--target", "2")
    assert two.target == 2
    np.testing.assert_array_equal(two.scores, two.about(2).scores)
    named = explained(capsys, *forest, "--row", "7", "--outputs", "a", "b", "c", "--target", "c")
    np.testing.assert_array_equal(named.scores, two.scores)


def test_options_reach_the_explainer(forest: tuple[str, ...], capsys: Capture) -> None:
    lime = explained(capsys, *forest, "--row", "7", "--method", "lime", "--link", "logit")
    assert lime.method == eagle.peers.LIME.name
    assert lime.link is not None
    assert lime.cost.rows <= 60


def test_onnx_needs_no_trust_and_agrees_with_the_function(files: Path, capsys: Capture) -> None:
    found = explained(
        capsys,
        "explain",
        f"{files}/softmax.onnx",
        "--data",
        f"{files}/data.parquet",
        "--drop",
        "label",
        "job",
        "--row",
        "7",
        "--target",
        "1",
        *BUDGET,
    )
    table = people()[NUMBERS]
    wanted = Explainer(softmax, table, budget=60).explain(table.iloc[[7]], 1)
    np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-5)
    assert found.task == "classification"


def test_onnx_classes_are_called_by_their_names(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    model = tmp_path / "named.onnx"
    model.write_bytes(softmax_model(["yes", "no"]))
    data = ("--data", f"{files}/data.csv", "--drop", "label", "job", "--row", "7", *BUDGET)
    found = explained(capsys, "explain", str(model), *data, "--target", "yes")
    wanted = explained(capsys, "explain", f"{files}/softmax.onnx", *data, "--target", "0")
    assert found.outputs == ("no", "yes")
    np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-7)


def test_many_rows(files: Path, forest: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    rows = tmp_path / "rows.csv"
    people().iloc[[4, 9]].to_csv(rows, index=False)
    several = as_json(capsys, *forest, "--rows", str(rows))
    everything = as_json(capsys, *forest, "--all")
    assert len(several) == 2
    assert len(everything) == 120
    for a, b in zip(several, (everything[4], everything[9]), strict=True):
        assert a["explanation"]["features"] == b["explanation"]["features"]
    assert [one["id"] for one in everything] == list(range(120))


def test_plain_text_by_default(forest: tuple[str, ...], capsys: Capture) -> None:
    assert cli.main([*forest, "--row", "7"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("Why ")
    assert "95% interval" in out
    assert "\x1b" not in out


def test_several_rows_follow_one_another(
    forest: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    rows = tmp_path / "rows.csv"
    people().iloc[[4, 9]].to_csv(rows, index=False)
    assert cli.main([*forest, "--rows", str(rows)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Row 0\nWhy ")
    assert "\n\nRow 1\nWhy " in out


def test_files_by_their_ending(forest: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "a.json"
    assert cli.main([*forest, "--row", "7", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert str(out) in said.err
    assert Explanation.load(out).names == tuple(NUMBERS)
    text = tmp_path / "a.txt"
    assert cli.main([*forest, "--row", "7", "--out", str(text), "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert text.read_text(encoding="utf-8").startswith("Why ")


def test_parquet_is_loaded_and_csv_is_one_tidy_table(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    command = ("explain", f"{files}/mixed.pkl", "--trust", "--data", f"{files}/data.csv", "--all")
    for out in ("all.parquet", "all.csv"):
        assert cli.main([*command, *BUDGET, "--out", str(tmp_path / out)]) == 0
    every, table = eagle.load(tmp_path / "all.parquet"), pd.read_csv(tmp_path / "all.csv")
    assert len(table) == 120 * 4
    np.testing.assert_allclose(table["score"], every.scores.ravel())
    fifth = table[table["id"] == 5].set_index("feature")
    assert str(fifth.loc["job", "value"]) == str(people().loc[5, "job"])
    capsys.readouterr()
    one = explained(capsys, *command[:-1], "--row", "5", *BUDGET)
    np.testing.assert_array_equal(every[5].scores, one.scores)


def test_png(forest: tuple[str, ...], files: Path, tmp_path: Path, capsys: Capture) -> None:
    magic = b"\x89PNG\r\n\x1a\n"
    one = tmp_path / "one.png"
    assert cli.main([*forest, "--row", "7", "--out", str(one)]) == 0
    assert one.read_bytes().startswith(magic)
    rows, folder = tmp_path / "rows.csv", tmp_path / "images"
    people().iloc[[4, 9]].to_csv(rows, index=False)
    command = [*forest, "--rows", str(rows), "--format", "png", "--out"]
    assert cli.main([*command, str(folder)]) == 0
    pictures = sorted(folder.iterdir())
    assert [p.name for p in pictures] == ["row-0.png", "row-1.png"]
    assert len(set(output.image_names(["Row a", "Row a", "Row b"]))) == 3
    assert all(p.read_bytes().startswith(magic) for p in pictures)
    capsys.readouterr()
    assert "folder" in refused(capsys, *command, str(one))


# -- demo and doctor ---------------------------------------------------------------------------


def test_demo(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Why malignant?" in out or "Why benign?" in out
    assert "95% interval" in out
    assert f"{tmp_path / 'eagle-demo.png'}\n" in out
    assert out.rstrip().endswith("make page, or eagle serve --open")
    assert (tmp_path / "eagle-demo.png").read_bytes().startswith(b"\x89PNG")


def test_a_demo_that_is_not_there(capsys: Capture) -> None:
    said = refused(capsys, "demo", "film")
    assert "there is no demo 'film': there are table, image, text" in said


def test_a_healthy_doctor(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    known = metadata.version

    def version(name: str) -> str:
        if name == "shap":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr("importlib.metadata.version", version)
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"eagle {eagle.__version__}" in out
    assert f"numpy {np.__version__}" in out
    assert "shap not installed: pip install 'eagle-xai[shap]'" in out
    assert "\nWell: " in out


def test_an_ill_doctor(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ArithmeticError("two and two")

    monkeypatch.setattr(doctor, "Explainer", broken)
    assert cli.main(["doctor"]) == 1
    assert "Not well: " in capsys.readouterr().out


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--row", "120"), "rows 0 to 119"),
        (("--row", "-1"), "rows 0 to 119"),
        (("--row", "0", "--drop", "nix"), "--drop names the column 'nix'"),
        ((), "which rows to explain?"),
        (("--row", "0", "--drop", "age"), "lacks: 'age'"),
        (("--row", "0", "--target", "7"), "no output '7'; it has 0, 1, 2"),
        (("--row", "0", "--budget", "0"), "budget"),
        (("--row", "0", "--format", "png"), "needs --out"),
        (("--row", "0", "--format", "parquet"), "needs --out"),
        (("--row", "0", "--out", "/nix/a.json"), "no folder /nix"),
        (("--rows", "nix.csv"), "no file nix.csv"),
        (("--rows", "nix.xlsx"), "no file nix.xlsx"),
    ],
)
def test_refusals(
    arguments: tuple[str, ...], said: str, forest: tuple[str, ...], capsys: Capture
) -> None:
    assert said in refused(capsys, *forest, *arguments)


@pytest.mark.parametrize("name", ["bad.csv", "bad.csv.gz", "bad.parquet", "bad.xlsx", "empty.csv"])
def test_data_that_cannot_be_read(name: str, files: Path, tmp_path: Path, capsys: Capture) -> None:
    data = tmp_path / name
    data.write_bytes(b"" if name == "empty.csv" else b"\x80\x04 not a table \xff")
    command = ("explain", f"{files}/softmax.onnx", "--data", str(data), "--row", "0")
    assert name in refused(capsys, *command)


@pytest.mark.parametrize("name", ["bad.joblib", "bad.pkl", "bad.onnx", "bad.h5", "folder"])
def test_models_that_cannot_be_read(
    name: str, files: Path, tmp_path: Path, capsys: Capture
) -> None:
    model = tmp_path / name
    if name == "folder":
        model.mkdir()
    else:
        model.write_bytes(b"\x80\x04 not a model \xff")
    command = ("explain", str(model), "--trust", "--data", f"{files}/data.csv", "--row", "0")
    assert name in refused(capsys, *command)


def test_what_cannot_be_written(forest: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    sentence = refused(capsys, *forest, "--row", "7", "--out", str(tmp_path))
    assert str(tmp_path) in sentence


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("pandas", ("--row", "7")),
        ("joblib", ("--row", "7")),
        ("matplotlib", ("--row", "7", "--out", "a.png")),
        ("pyarrow", ("--row", "7", "--out", "a.parquet")),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    module: str,
    arguments: tuple[str, ...],
    forest: tuple[str, ...],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    sentence = refused(capsys, *forest, *arguments)
    assert f"'{module}'" in sentence
    assert "eagle-xai[cli]" in sentence


def test_a_model_that_needs_a_package(files: Path, tmp_path: Path, capsys: Capture) -> None:
    model = tmp_path / "model.pkl"
    model.write_bytes(b"cnix_da\nModel\n.")
    command = ("explain", str(model), "--trust", "--data", f"{files}/data.csv", "--row", "0")
    assert "'nix_da', which is not installed" in refused(capsys, *command)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_what_is_finished(number: int, code: int, tmp_path: Path) -> None:
    # So many rows a prediction that each is asked in a call of its own.
    command = (
        "explain",
        *odd_model(tmp_path, "Slow", HANGS),
        "--all",
        "--method",
        "lime",
        "--budget",
        "13000",
    )
    found, _, error = ended(tmp_path, number, *command, "--out", "out.json")
    assert found == code
    assert "eagle: stopped: 2 of 9 rows were explained" in error.splitlines()
    assert "Traceback" not in error
    kept = json.loads((tmp_path / "out.json").read_text())
    expected = Explainer(
        lambda X: X["income"].to_numpy(),
        people(9)[NUMBERS],
        method=eagle.peers.LIME,
        budget=13000,
        random_state=1,
    )
    for one, row in zip(kept, (0, 1), strict=True):
        scores = expected.explain(people(9)[NUMBERS].iloc[[row]]).scores
        assert np.allclose(Explanation.from_dict(one["explanation"]).scores, scores)


def test_a_comparison_that_is_stopped(tmp_path: Path) -> None:
    command = (
        "compare",
        *odd_model(tmp_path, "Slow", HANGS),
        "--row",
        "0",
        "--methods",
        "lime",
        "eagle",
    )
    found, said, error = ended(tmp_path, signal.SIGTERM, *command, "--runs", "2")
    assert found == 143
    assert "eagle: stopped: 2 of 4 explanations were made" in error.splitlines()
    assert "LIME" in said


def test_sigterm_is_as_it_was_afterwards(forest: tuple[str, ...]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    inside: list[Any] = []
    with process.terminable():
        inside.append(signal.getsignal(signal.SIGTERM))
    assert inside[0] is not before
    assert signal.getsignal(signal.SIGTERM) is before
    assert cli.main([*forest, "--row", "999"]) == 2
    assert signal.getsignal(signal.SIGTERM) is before


def test_no_command_writes_over_what_it_reads(
    files: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("softmax.onnx", "data.csv"):
        (tmp_path / name).write_bytes((files / name).read_bytes())
    people().drop(columns="job").to_csv("rows.csv", index=False)
    asked = ("--data", "data.csv", "--drop", "label", "job", *BUDGET)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    explain = ("explain", "softmax.onnx", *asked, "--rows", "rows.csv")
    commands: dict[tuple[str, ...], tuple[str, ...]] = {
        explain: ("softmax.onnx", "data.csv", "rows.csv"),
        ("compare", "softmax.onnx", *asked, "--row", "0"): ("softmax.onnx", "data.csv"),
    }
    (tmp_path / "folder").mkdir()
    for command, inputs in commands.items():
        for name in inputs:
            (tmp_path / "soft.csv").symlink_to(name)
            (tmp_path / "hard.csv").hardlink_to(name)
            spellings = [name, f"./folder/../{name}", str(tmp_path / name), "soft.csv", "hard.csv"]
            for out in spellings:
                assert "would overwrite" in refused(capsys, *command, "--out", out)
            (tmp_path / "soft.csv").unlink()
            (tmp_path / "hard.csv").unlink()
    (tmp_path / "folder" / "row-1.png").symlink_to(tmp_path / "rows.csv")
    sentence = refused(capsys, *explain, "--out", "folder", "--format", "png")
    assert "would overwrite" in sentence
    (tmp_path / "folder" / "row-1.png").unlink()
    (tmp_path / "folder").rmdir()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_half_a_character_from_the_command_line(files: Path, tmp_path: Path) -> None:
    asked = (f"{files}/softmax.onnx", "--data", f"{files}/data.csv", "--drop", "label", "job")
    command = ("explain", *asked, "--row", "3", *BUDGET, "--outputs", "a\udcff", "b")
    for name in ("a.json", "a.txt", "a.csv", "a.parquet"):
        assert cli.main([*command, "--out", str(tmp_path / name), "--quiet"]) == 0
    assert Explanation.load(tmp_path / "a.json").outputs == ("a\udcff", "b")
    assert eagle.load(tmp_path / "a.parquet").outputs == ("a\udcff", "b")
    assert pd.read_csv(tmp_path / "a.csv")["score"].notna().all()


def test_control_characters_in_errors(capsys: Capture, tmp_path: Path) -> None:
    name = f"{tmp_path}/a\x1b[31m\u202e.csv"
    assert "no file" in refused(capsys, "report", name)
    cli.main(["report", name])
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["explain", "survey", "report", "compare", "serve", "demo", "ledger", "doctor"]
)
def test_help_has_an_example(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    assert f"example: eagle {command}" in capsys.readouterr().out


# -- as a process ------------------------------------------------------------------------------


def test_the_installed_command_and_a_reader_that_leaves() -> None:
    said = subprocess.run([EAGLE, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"eagle {eagle.__version__}\n"
    with subprocess.Popen([EAGLE, "doctor"], stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_bare_install_starts() -> None:
    heavy = (
        "pandas",
        "pyarrow",
        "joblib",
        "sklearn",
        "matplotlib",
        "onnxruntime",
        "narwhals",
    )
    code = (
        f"import sys\nfor m in {heavy}: sys.modules[m] = None\n"
        "from eagle.cli import main\nsys.exit(main(sys.argv[1:]))"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("doctor").returncode == 0
    lacking = run("demo")
    assert lacking.returncode == 2
    assert lacking.stderr.startswith("eagle: ")
    assert "eagle-xai[cli]" in lacking.stderr
    assert "Traceback" not in lacking.stderr
