"""Problems: they load, are trained once, and say what is wrong with a file."""

from __future__ import annotations

import gzip
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tiny
from eagle import peers
from eagle.errors import InputError, MissingExtraError
from evaluation import benches, demos
from evaluation.__main__ import BENCHES, DEMOS, main
from evaluation.check import changed
from evaluation.experiment import Experiment
from evaluation.measure import budgets, lengths, measure
from evaluation.problems import PROBLEMS, Problem, boxes, cnn, data
from evaluation.problems.formulas import offset_scale
from evaluation.report.curves import convergence
from evaluation.report.records import Records
from evaluation.report.stop import Outcome, rows_for
from evaluation.store import Store
from evaluation.trial import Record, Trial

FORMULAS = ("linear", "additive", "interacting", "step")


# -- every problem ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_loads_and_is_explained(name: str, tiny_data: Path) -> None:
    if name == "mnist":
        tiny.network_of_digits(tiny_data)
    p = PROBLEMS[name]()
    assert p.name == name
    assert len(p.instances) == len(p.labels) > 0
    assert str(p).startswith(f"{name}: d ")
    e = p.explainer(budget=100).explain(p.instance(0), p.target)
    assert e.task == p.task
    if p.kind == "table":
        assert len(e.names) == p.d
    elif name not in ("mnist", "photos_grey"):  # random weights, and no colour to go by
        assert p.accuracy == 1
        assert e.prediction > 0.5
    if p.published is not None:
        assert "(paper " in str(p)


def test_tables_are_those_of_the_paper(tiny_data: Path) -> None:
    p = PROBLEMS["compas"]()
    raw = data.compas()
    kept = (raw.days_b_screening_arrest.abs() <= 30) & (raw.is_recid != -1)
    assert p.rows + len(p.instances) == (kept & (raw.c_charge_degree != "O")).sum()
    assert list(p.data.columns) == [
        *("age", "two_year_recid", "priors_count", "length_of_stay", "c_charge_degree_F"),
        *("c_charge_degree_M", "sex_Female", "sex_Male", "race"),
    ]
    assert np.allclose(p.data.mean(), 0, atol=1e-12)
    assert np.allclose(p.data.std(ddof=0), 1)
    assert PROBLEMS["german"]().d == 28
    assert PROBLEMS["adult"]().d == 14
    assert PROBLEMS["magic"]().accuracy > 0.9


def test_messages_come_once_and_have_words(tiny_data: Path) -> None:
    p = PROBLEMS["spam"]()
    learnt = data.sms()[0]
    assert len(learnt) == 2 * tiny.ROWS + 7
    assert 'He said "see you' in learnt
    assert p.rows + len(p.instances) in (2 * tiny.ROWS + 2, 2 * tiny.ROWS + 3)
    assert ":-)" not in p.instances


def test_names_of_classes_differ(tiny_data: Path) -> None:
    assert data.imagenet_classes() == ["tench", "crane (1)", "crane (2)", "stop sign"]


def test_settings_reach_the_explainer() -> None:
    p = PROBLEMS["linear"]()
    made = p.explainer(view="continuous", method=peers.LIME, budget=77, outputs=["slope"])
    assert (made.view, made.method, made.budget) == ("continuous", peers.LIME, 77)
    assert made.explain(p.instance(0)).outputs == ("slope",)


# -- formulas -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMULAS)
def test_the_truth_is_the_best_line_of_normal_offsets(name: str) -> None:
    p = PROBLEMS[name]()
    assert p.truth is not None
    scale = offset_scale(10)
    assert scale == pytest.approx((5.625 / 6.625) ** 0.5)  # w² = 0.5625·10
    z = scale * np.random.default_rng(1).standard_normal((100_000, 10))
    for i in range(3):
        x = p.instance(i)
        each = ((p.model(x + z) - p.model(x - z)) / 2)[:, None] * z / scale**2
        error = each.std(axis=0) / np.sqrt(len(z))
        assert np.all(np.abs(each.mean(axis=0) - p.truth(x, scale)) < 5 * error)


# -- the cache ----------------------------------------------------------------------------------


def answers(p: Problem) -> Any:
    return p.model.predict_proba(p.instances)


def test_a_box_is_trained_once(tiny_data: Path) -> None:
    first = PROBLEMS["compas"]()
    (file,) = tiny_data.iterdir()
    written = file.stat().st_mtime_ns
    again = PROBLEMS["compas"]()
    assert file.stat().st_mtime_ns == written
    assert np.array_equal(answers(first), answers(again))


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "nonsense"])
def test_a_damaged_file_is_made_anew(damage: str, tiny_data: Path) -> None:
    first = PROBLEMS["moons"]()
    (file,) = tiny_data.iterdir()
    good = file.read_bytes()
    if damage == "other":
        PROBLEMS["iris"]()
        shutil.copy(next(tiny_data.glob("iris*")), file)
    else:
        file.write_bytes({"cut": good[:1000], "empty": b"", "nonsense": b"\x80" * 99}[damage])
    assert np.array_equal(answers(first), answers(PROBLEMS["moons"]()))
    assert file.read_bytes() == good
    assert not list(tiny_data.glob(".being-made*"))


def test_other_data_and_other_settings_are_other_boxes(tiny_data: Path) -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = np.eye(4), np.array([0, 1, 0, 1])
    for inputs, labels, strength in ((X, y, 1.0), (X, y, 2.0), (2 * X, y, 1.0), (X, 1 - y, 1.0)):
        boxes.estimator("line", LogisticRegression(C=strength), inputs, labels)
    assert len(list(tiny_data.iterdir())) == 4
    texts = (["ab", "c"], ["a", "bc"], ["abc"], "abc", np.array(["abc", "d"], dtype=object))
    assert len({boxes.digest(part) for part in texts}) == 5
    assert boxes.digest(X) != boxes.digest(X.astype(np.float32))
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert boxes.digest(frame) != boxes.digest(frame.rename(columns={"a": "e"}))


def test_two_may_race(tiny_data: Path) -> None:
    both, found = Barrier(2, timeout=30), []

    def make(path: Path) -> None:
        path.write_text("half")
        both.wait()  # both are at it now
        path.write_text("whole")

    def run() -> None:
        found.append(boxes.kept("box.txt", Path.read_text, make))

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["whole", "whole"]
    assert [file.name for file in tiny_data.iterdir()] == ["box.txt"]


def test_an_accuracy_is_measured_once(tiny_data: Path) -> None:
    first = PROBLEMS["photos"]()
    (file,) = tiny_data.iterdir()
    file.write_text("0.25")
    assert first.accuracy == 1
    assert PROBLEMS["photos"]().accuracy == 0.25
    file.write_text("nonsense")
    assert PROBLEMS["photos"]().accuracy == 1
    assert file.read_text() == "1.0"


def test_what_fails_leaves_nothing(tiny_data: Path) -> None:
    def make(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        boxes.kept("box.txt", Path.read_text, make)
    assert not list(tiny_data.iterdir())


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EAGLE_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set EAGLE_CACHE to a folder"):
        PROBLEMS["moons"]()


@pytest.mark.parametrize(
    ("platform", "variable", "end"),
    [
        ("linux", "XDG_CACHE_HOME", "eagle"),
        ("win32", "LOCALAPPDATA", "eagle"),
        ("darwin", None, "Library/Caches/eagle"),
        ("linux", None, ".cache/eagle"),
    ],
)
def test_the_users_cache(
    platform: str, variable: str | None, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EAGLE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    assert boxes.cache_folder() == tmp_path / end


# -- the network of digits ----------------------------------------------------------------------


def test_the_graph_computes_what_it_should(tmp_path: Path) -> None:
    from scipy.signal import correlate

    from eagle.models.vision import Network

    weights = tiny.weights()
    cnn.write(weights, tmp_path / "net.onnx")
    picture = np.random.default_rng(1).random((28, 28)).astype(np.float32)
    x = picture[None]
    for place in ("0", "3"):
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
        layers = [correlate(padded, kernel, "valid")[0] for kernel in weights[f"{place}.weight"]]
        x = np.maximum(np.stack(layers) + weights[f"{place}.bias"][:, None, None], 0)
        x = x.reshape(len(x), x.shape[1] // 2, 2, x.shape[2] // 2, 2).max(axis=(2, 4))
    hidden = np.maximum(weights["7.weight"] @ x.ravel() + weights["7.bias"], 0)
    logits = weights["9.weight"] @ hidden + weights["9.bias"]
    run = Network.of_onnx(tmp_path / "net.onnx", softmax=False, threads=1)
    assert np.allclose(run.predict_proba(picture[None])[0], logits, atol=1e-4)


def test_a_kept_network_needs_no_torch(tiny_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="torch"):
        PROBLEMS["mnist"]()
    assert not list(tiny_data.iterdir())
    tiny_data.rmdir()
    tiny.network_of_digits(tiny_data)
    assert PROBLEMS["mnist"]().instances.shape == (50, 28, 28)


@pytest.mark.torch
def test_a_network_is_learnt(tiny_data: Path) -> None:
    import torch

    train, test = data.mnist()
    state = torch.random.get_rng_state()
    weights = cnn.trained(train)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(np.array_equal(weights[k], v) for k, v in cnn.trained(train).items())
    module = cnn.module()
    module.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
    network = PROBLEMS["mnist"]().model
    pixels = network.prepare(test.images)
    with torch.inference_mode():
        logits = module(torch.from_numpy(pixels)).numpy()
    assert np.allclose(network.run(pixels), logits, atol=1e-5)
    assert len(list(tiny_data.glob("*.onnx"))) == 1


# -- what is wrong with a file ------------------------------------------------------------------


def zipped(content: bytes) -> bytes:
    """Compressed without a timestamp, so that the names of tests are the same everywhere."""
    return gzip.compress(content, mtime=0)


def packed(text: str) -> bytes:
    return zipped(text.encode())


MAGIC, COMPAS = "magic/magic04.csv.gz", "compas/compas-scores-two-years.csv.gz"
PIXELS, DIGITS = "mnist/train-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"
SMS, PHOTOS = "sms_spam/SMSSpamCollection.tsv.gz", "photos/caltech101_224.zip"
CLASSES, INDEX = "photos/imagenet_classes.csv", b"index,wnid,name\n"
SHORT = zipped(b"\0\0\x08\x01\0\0\0\x05abc")


@pytest.mark.parametrize(
    ("relative", "content", "load", "says"),
    [
        (MAGIC, b"plain", data.magic, "cannot be read as comma-separated"),
        (MAGIC, packed("a,b\n1,2\n"), data.magic, "lacks the columns fLength, fWidth"),
        ("adult/adult.csv.gz", packed("age\n"), data.adult, "lacks the columns workclass"),
        ("german/german_processed.csv.gz", packed(""), data.german, "cannot be read"),
        (COMPAS, packed(",".join(data.COMPAS) + "\n"), data.compas, "has no rows"),
        (PIXELS, b"plain", data.mnist, "cannot be read as a gzip file"),
        (PIXELS, packed("nonsense"), data.mnist, "begins with 6e 6f 6e 73"),
        (PIXELS, packed("\0"), data.mnist, "as an IDX file"),
        (DIGITS, SHORT, data.mnist, r"says that it holds \(5,\) bytes, but 3 follow"),
        (SMS, packed("ham\tyes\neggs"), data.sms, "line 2 .* 'eggs'"),
        (SMS, packed(""), data.sms, "has no lines"),
        (SMS, zipped(b"ham\t\xff"), data.sms, "as UTF-8"),
        (PHOTOS, b"nonsense", PROBLEMS["photos"], "as a zip of photographs"),
        (CLASSES, INDEX + b"1,n,a\n", PROBLEMS["photos"], "from 0"),
        (CLASSES, b"a,b\n1,2\n", PROBLEMS["photos"], "cannot be read"),
        (CLASSES, INDEX + b"0,n,a\n", PROBLEMS["photos"], "knows 4 classes, but 1 are named"),
        ("weights/efficientnet_lite0.onnx", b"nonsense", PROBLEMS["photos"], "not an ONNX model"),
    ],
)
def test_a_file_that_is_not_as_it_should_be(
    relative: str,
    content: bytes,
    load: Callable[[], Any],
    says: str,
    tiny_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / "data")
    monkeypatch.setenv("EAGLE_DATA", str(copy))
    (copy / relative).write_bytes(content)
    with pytest.raises(InputError, match=says):
        load()
    (copy / relative).unlink()
    with pytest.raises(InputError, match=f"holds no file {relative}"):
        load()


def test_pictures_and_labels_that_do_not_fit(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / "data")
    monkeypatch.setenv("EAGLE_DATA", str(copy))
    labels = copy / "mnist" / "train-labels-idx1-ubyte.gz"
    tiny.write_idx(labels, np.zeros(3, dtype=np.uint8))
    with pytest.raises(InputError, match="which 3 labels do not fit"):
        data.mnist()
    tiny.write_idx(copy / "mnist/train-images-idx3-ubyte.gz", np.zeros((3, 4, 4), dtype=np.uint8))
    with pytest.raises(InputError, match="not of 28 × 28"):
        data.mnist()
    for rows, says in (("", "lists no photographs"), ("lost.jpg,1\n", "lost.jpg")):
        with zipfile.ZipFile(copy / "photos" / "caltech101_224.zip", "w") as pack:
            pack.writestr("labels.csv", "file,imagenet_index\n" + rows)
        with pytest.raises(InputError, match=says):
            data.photos("caltech101_224")


def test_a_table_of_one_class_is_refused(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / "data")
    monkeypatch.setenv("EAGLE_DATA", str(copy))
    table = pd.read_csv(copy / "magic" / "magic04.csv.gz").assign(**{"class": "g"})
    table.to_csv(copy / "magic" / "magic04.csv.gz", index=False)
    with pytest.raises(InputError, match="a single class"):
        PROBLEMS["magic"]()


def test_without_a_folder(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.delenv("EAGLE_DATA", raising=False)
    for name, file in (("compas", COMPAS), ("spam", SMS), ("photos", PHOTOS)):
        with pytest.raises(InputError, match=f"{file} is needed: set EAGLE_DATA"):
            PROBLEMS[name]()
    monkeypatch.setenv("EAGLE_DATA", "no such folder")
    with pytest.raises(InputError, match="which is not a folder"):
        PROBLEMS["adult"]()
    assert main(["problems", "linear", "adult"]) == 1
    out, err = capsys.readouterr()
    assert out == "linear: d = 10, 2,000 rows, 200 held out, R² 100.00%\n"
    assert err.startswith("adult: EAGLE_DATA is 'no such folder'")
    assert main(["problems", "nonsense"]) == 2
    assert "there is no problem 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("sklearn.ensemble", "scikit-learn"),
        ("pandas", "pandas"),
        ("joblib", "joblib"),
    ],
)
def test_what_is_not_installed(
    module: str, package: str, tiny_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}': .*eagle-xai\[bench\]"):
        PROBLEMS["magic"]()


# -- OpenML -------------------------------------------------------------------------------------


def there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: Callable[[str], Any]) -> None:
    """A local stand-in for OpenML."""

    class Found:
        def __init__(self, frame: Any) -> None:
            self.frame = frame

    def fetch(name: str, **settings: Any) -> Found:
        assert settings["as_frame"]
        return Found(answer(name))

    monkeypatch.delenv("EAGLE_DATA", raising=False)
    monkeypatch.setenv("EAGLE_CACHE", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)


def test_tables_of_openml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    adult, magic = tiny.adult(rng), tiny.magic(rng)

    def answer(name: str) -> Any:
        if name == "adult":
            holes = adult.drop(columns="split").replace("?", np.nan)
            holes = holes.rename(columns=lambda name: name.replace("_", "-"))
            text = [c for c in holes if holes[c].dtype.kind not in "iuf"]
            return holes.rename(columns={"income": "class"}).astype(
                {("class" if c == "income" else c): "category" for c in text}
            )
        named = magic.rename(columns=lambda name: f"{name}:").astype({"class:": "category"})
        return named.assign(ID=range(len(magic)))

    there(monkeypatch, tmp_path, answer)
    pd.testing.assert_frame_equal(data.adult(), adult.drop(columns="split"), check_dtype=False)
    pd.testing.assert_frame_equal(data.magic(), magic, check_dtype=False)


def test_digits_of_openml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pixels = np.zeros((70_000, 784), dtype=np.uint8)
    pixels[:, 5] = np.arange(70_000) % 251
    frame = pd.DataFrame(pixels)
    frame["class"] = pd.Categorical((np.arange(70_000) % 10).astype(str))
    there(monkeypatch, tmp_path, lambda name: frame.copy())
    train, test = data.mnist()
    assert train.images.shape == (60_000, 28, 28)
    assert test.images[7, 0, 5] == 60_007 % 251
    assert test.labels[:3].tolist() == [0, 1, 2]


def test_no_openml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def answer(name: str) -> Any:
        raise OSError("no network")

    there(monkeypatch, tmp_path, answer)
    for load, file in (
        (data.adult, "adult/adult.csv.gz"),
        (data.magic, "magic/magic04.csv.gz"),
        (data.mnist, "mnist/t10k-labels-idx1-ubyte.gz"),
    ):
        with pytest.raises(InputError, match=f"OSError: no network.*{file}"):
            load()
    there(monkeypatch, tmp_path, lambda name: pd.DataFrame({"class": ["1"], "a": [2]}))
    with pytest.raises(InputError, match="shape"):
        data.mnist()
    with pytest.raises(InputError, match="lacks the columns"):
        data.magic()


# -- demos --------------------------------------------------------------------------------------


def test_demos_of_real_things(tiny_data: Path) -> None:
    tiny.network_of_digits(tiny_data)
    says, digit = demos.DEMOS["mnist"]()
    assert says.endswith(":")
    assert digit.target in range(10)
    _, photo = demos.DEMOS["photo"]()
    assert photo.target in ("tench", "crane (1)", "crane (2)")
    _, message = demos.DEMOS["spam"]()
    assert message.target == "spam"
    assert message.prediction > 0.5


def test_the_demo_of_a_message_is_told_and_drawn(
    tmp_path: Path, tiny_data: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["demo", "spam", "--out", str(tmp_path / "spam.png")]) == 0
    assert "Why spam?" in capsys.readouterr().out
    assert (tmp_path / "spam.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.delenv("EAGLE_DATA")
    assert main(["demo", "photo"]) == 2
    assert "set EAGLE_DATA to a folder" in capsys.readouterr().err


def test_the_command_lists_every_demo() -> None:
    assert set(demos.DEMOS) == set(DEMOS)


# -- benches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_is_run_with_its_own_options(
    name: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr(f"evaluation.benches.{name}.main", given.append)
    assert main(["bench", name, "--quick", "--rows", "5"]) == 0
    assert given == [["--quick", "--rows", "5"]]
    monkeypatch.undo()
    with pytest.raises(SystemExit) as stopped:
        main(["bench", name, "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m evaluation bench {name} ")


def test_every_bench_can_be_run() -> None:
    folder = Path(benches.__file__).parent
    runnable = {p.stem for p in folder.glob("*.py") if "\ndef main(" in p.read_text("utf-8")}
    assert runnable == set(BENCHES)


def test_the_bench_of_methods_has_those_that_fit_its_table() -> None:
    """`make bench` explains a table by every method in the library, or lists it as left out."""
    from sklearn.ensemble import RandomForestClassifier

    from evaluation.benches.methods import every, explainer

    X = np.random.default_rng(0).normal(size=(60, 3))
    forest = RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    assert len([explainer(forest, X, method) for method in every()]) > 20


def test_the_bench_of_surveys_gains_most_information_with_each_row() -> None:
    from evaluation.benches.surveys.designs import greedy

    rng = np.random.default_rng(0)
    seen = [(rng.normal(size=(12, 3)), rng.exponential(size=12)) for _ in range(2)]

    def information(rows: list[int]) -> float:
        parts = ((z[rows], w[rows]) for z, w in seen)
        return float(sum(np.linalg.slogdet((z.T * w) @ z + np.eye(3))[1] for z, w in parts))

    chosen: list[int] = []
    for _ in range(6):
        others = (i for i in range(12) if i not in chosen)
        chosen.append(max(others, key=lambda i: information([*chosen, i])))
    assert greedy(seen, 6).tolist() == chosen


def test_the_bench_of_surveys_finds_that_errors_of_rows_go_together() -> None:
    """Taken as independent, what is common to all rows would average out."""
    from sklearn.linear_model import LogisticRegression

    import eagle
    from evaluation.benches.surveys.statements import alone, judged

    X = np.random.default_rng(0).normal(size=(300, 4))
    model = LogisticRegression().fit(X, X[:, 0] > X[:, 1] * X[:, 2])
    e = eagle.Explainer(model, X).survey(256, progress=False).explain_many(X[:30], True)
    both = [dict(judged(one, e.scores, [X[:30, 0] > 0])) for one in (e, alone(e))]
    assert all(
        one[name] == 1 for one in both for name in ("importance", "mean_score", "share", "groups")
    )  # their own scores are in all intervals
    assert both[1]["importance wide"] < both[0]["importance wide"] / 2


# -- whether records still come out -------------------------------------------------------------


def test_records_that_no_longer_come_out_are_found_and_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One method's scores are as if made by other code, one record is of no experiment."""
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "mine.toml").write_text(
        'title = "t"\ndata = ["linear"]\nmethods = ["LIME", "EAGLE"]\ninstances = 3\nruns = 1\n'
        'metrics = ["consistency by rows"]\nbudgets = [40]\n'
        "[profiles.smoke]\n[profiles.quick]\n[profiles.paper]"
    )
    where = ["--experiments", str(tmp_path / "e"), "--records", str(tmp_path / "r"), "--quiet"]
    assert main(["run", *where]) == 0
    assert main(["check", *where]) == 0
    assert "0 of 2 have changed: 0 of 6 records" in capsys.readouterr().out
    store = Store(tmp_path / "r")
    records = store.read()
    for r in records:
        if r["method"] == "LIME" and r["instance"] == 2:
            r["scores"][0] *= 1.01
    store.remove({r["key"] for r in records})
    assert not store.read()
    store.add([*records, measure(Trial("linear", 0, "LIME", 30))])
    assert main(["check", *where, "--trials", "1"]) == 0  # of the first prediction alone
    assert "0 of 2 have changed" in capsys.readouterr().out
    assert main(["check", *where, "--drop"]) == 0
    said = capsys.readouterr().out
    assert "linear, LIME, {}: scores" in said
    assert "1 of 2 have changed: 3 of 6 records\n1 more records belong to no experiment" in said
    assert [r["method"] for r in store.read()] == ["EAGLE"] * 3
    assert main(["run", *where]) == 0
    assert "mine: 3 trials done, 3 were done before" in capsys.readouterr().out


def test_rounding_is_no_change() -> None:
    record = measure(Trial("linear", 0, "EAGLE", 40, keep=("curves", "ranks")))
    record |= {"versions": "others", "own_seconds": 99.0}
    assert changed(record) == ""
    for name in ("scores", "d_efficiency"):
        assert changed(record | {name: [v * (1 + 1e-4) for v in record[name]]}) == ""
        assert changed(record | {name: [v * (1 + 1e-2) for v in record[name]]}) == name
        assert changed(record | {name: record[name][1:]}) == name
    assert changed(record | {"rows": 39}) == "rows"
    assert "no method 'SLIME'" in changed(record | {"method": "SLIME"})


# -- pages ---------------------------------------------------------------------------------------


def test_rows_for_an_agreement_are_between_those_that_were_measured() -> None:
    def at(rows: float, right: float) -> Outcome:
        return Outcome("rows", rows, (right, 0.0), 0.0, 1.0, right)

    known = [at(400, 0.8), at(100, 0.6), at(1600, 0.7)]  # more rows that agree less gain nothing
    assert rows_for(0.6, known) == 100
    assert rows_for(0.7, known) == pytest.approx(200)  # half-way in the logarithm
    assert rows_for(0.8, known) == pytest.approx(400)
    assert np.isnan([rows_for(0.5, known), rows_for(0.9, known), rows_for(0.6, known[:1])]).all()


def test_curves_of_runs_of_different_lengths_are_not_cut() -> None:
    """No row is asked twice, so runs end where they do: each counts with all it asked."""

    def run(k: int, instance: int, rows: int) -> Record:
        at = np.array([*range(10, rows, 10), rows])
        return {
            "problem": "compas",
            "method": "LIME",
            "options": "{}",
            "budget": 60,
            "run": k,
            "instance": instance,
            "rows": rows,
            "d": 2,
            "keep": "curves ranks",
            "d_efficiency": list(at / 10.0 + k),
            "slope_efficiency": list(at / 5.0),
            "a_efficiency": list(at / 20.0),
            "ranks": [2, 1] * (rows // 10 - 1) + [-1, 2],
        }

    made = Experiment("figure2", "", ("compas",), ("LIME",), 2, 2, budgets=(60,))
    records = Records(made, [run(0, 0, 43), run(1, 0, 60), run(0, 1, 58), run(1, 1, 47)])
    curves = records.curves("compas", "LIME", "d_efficiency")
    assert curves is not None
    at, heights = curves
    assert at == [10, 20, 30, 40, 50, 60]
    assert np.allclose(heights[0], [1.5, 2.5, 3.5, 4.5, (4.3 + 6) / 2, (4.3 + 7) / 2])
    assert np.allclose(heights[:, -1], [(4.3 + 7) / 2, (5.8 + 5.7) / 2])
    grown = records.grown("compas", "LIME", 0, "ranks")
    assert grown is not None
    assert grown.shape == (6, 2, 2)
    assert grown[3:, 0].tolist() == [[-1, 2]] * 3  # what the short run said in the end
    # The mean height of a straight line is the mean of its ends, for any length.
    areas = [(1 + 4.3) / 2, (2 + 7) / 2, (1 + 5.8) / 2, (2 + 5.7) / 2]
    page = "\n".join(convergence(records).blocks)
    (line,) = [row for row in page.splitlines() if row.startswith("| COMPAS")]
    ends = np.mean([4.3, 7.0, 5.8, 5.7])
    assert f"| {ends:.2f} ±" in line
    assert f"| {np.mean(areas):.2f} ±" in line


def test_a_curve_ends_with_all_rows() -> None:
    assert lengths(43) == [10, 20, 30, 40, 43]
    assert lengths(40) == budgets(40) == [10, 20, 30, 40]
    assert lengths(7) == budgets(7) == [7]


@pytest.mark.parametrize("part", ["curves", "ends", "theory", "priors"])
def test_no_line_is_measured_where_a_tree_is_fitted(part: str) -> None:
    with pytest.raises(InputError, match="fitted on the values asked"):
        measure(Trial("linear", 0, "Tilia", 50, keep=(part,)))


def test_no_file_of_records_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.store.LARGEST", 12_000)
    rng = np.random.default_rng(0)
    made = [
        {"key": f"{i:04}", "problem": "one", "d": 3, "scores": rng.random(50).tolist()}
        for i in range(100)
    ]
    store = Store(tmp_path)
    store.add(made)
    store.pack()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files[-1] == "one.parquet"
    assert len(files) > 1
    assert all(path.stat().st_size <= 12_000 for path in tmp_path.iterdir())
    assert [record["key"] for record in store.read()] == [record["key"] for record in made]
    store.remove({record["key"] for record in made[5:]})
    assert [path.name for path in tmp_path.iterdir()] == ["one.parquet"]
    assert len(store.read()) == 5
    store.remove({record["key"] for record in made})
    assert not list(tmp_path.iterdir())
