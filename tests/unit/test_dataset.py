"""Whole data sets: each row once, the same whoever works, and nothing paid for is lost."""

from __future__ import annotations

import fcntl
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle
import wholes
from eagle import EagleError, Explanations, InputError, ModelError, dataset
from eagle.dataset import processes
from eagle.explanations import thin
from eagle.io import atomic
from wholes import NAMES, Troubled, Unsent, explainer, table

PART = 10
"""The rows of a part."""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """60 rows in two files of several row groups, with more columns than are needed."""
    folder = tmp_path / "rows"
    folder.mkdir()
    whole = table().assign(label=1)
    whole[:37].to_parquet(folder / "one.parquet", row_group_size=7, index=False)
    whole[37:].to_parquet(folder / "two.parquet", row_group_size=50, index=False)
    return folder


@pytest.fixture(scope="module")
def expected() -> Explanations:
    """What one call of the explainer says of all rows."""
    return explainer().explain_many(table()[NAMES], progress=False)


def explain(maker: Any, rows: Path, out: Path, **more: Any) -> Explanations:
    options: dict[str, Any] = {"id_column": "key", "part_rows": PART, "progress": False, **more}
    return dataset.explain(maker, rows, out, **options)


def check(found: Explanations, expected: Explanations) -> None:
    """That each row is there once, in order, with the same numbers."""
    assert list(found.ids) == list(table()["key"])
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.interval(), expected.interval())
    np.testing.assert_array_equal(found.predictions, expected.predictions)
    assert (found.data == expected.data).all()


# -- the same, whoever works ---------------------------------------------------------------------


def test_one_process(rows: Path, tmp_path: Path, expected: Explanations) -> None:
    found = explain(explainer(), rows, tmp_path / "out")
    check(found, expected)
    names = sorted(path.name for path in (tmp_path / "out").glob("[!.]*"))
    assert names == ["manifest.json", *(f"part-{i:07}.parquet" for i in range(7))]
    check(eagle.load(tmp_path / "out"), expected)
    assert found[37].local_prediction == expected[37].local_prediction
    assert list(explain(explainer(), rows, tmp_path / "b", id_column=None).ids) == list(range(60))


def test_two_workers_one_of_which_is_killed(
    rows: Path, tmp_path: Path, expected: Explanations, capfd: pytest.CaptureFixture[str]
) -> None:
    model, script, variables = Troubled(tmp_path, "die"), sys.modules["__main__"], dict(os.environ)
    check(explain(explainer(model), rows, tmp_path / "out", workers=2, progress=True), expected)
    assert (sys.modules["__main__"], dict(os.environ)) == (script, variables)
    assert "a worker died at rows" in capfd.readouterr().err
    assert len(model.processes()) >= 2
    assert os.getpid() not in model.processes()
    assert not any(map(_lives, model.processes()))


def test_a_part_that_kills_whoever_does_it(rows: Path, tmp_path: Path) -> None:
    with pytest.raises(EagleError, match=r"a worker died at rows \d+ to \d+ of one") as error:
        explain(explainer(Troubled(tmp_path, "die always")), rows, tmp_path / "out", workers=2)
    assert any("give the same command again" in note for note in error.value.__notes__)


def test_a_driver_that_is_killed_leaves_no_orphans_and_the_same_call_goes_on(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    model = Troubled(tmp_path, "orphan", at=4)
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
import eagle, wholes
model = wholes.Troubled(Path({str(tmp_path)!r}), "orphan", at=4)
eagle.dataset.explain(wholes.explainer(model), {str(rows)!r}, {str(tmp_path / "out")!r},
                      id_column="key", part_rows={PART}, workers=2, progress=False)
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=120)
    assert done.returncode == -9
    until = time.monotonic() + 60
    while any(map(_lives, model.processes())) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(_lives, model.processes()))
    finished = len(list((tmp_path / "out").glob("part-*")))
    assert finished < 7
    with pytest.raises(InputError, match=f"is not finished: {7 - finished} of 7 parts"):
        eagle.load(tmp_path / "out")
    before = model.asked()
    check(explain(explainer(model), rows, tmp_path / "out"), expected)
    sizes = sum(len(e.evidence.weight) for e in expected)
    assert model.asked() - before < sizes
    assert not list((tmp_path / "out").glob(f".*{atomic.UNFINISHED_SUFFIX}"))


@pytest.mark.parametrize(("does", "code"), [("die", 0), ("orphan", -signal.SIGKILL)])
def test_a_kill_of_a_worker_or_of_the_driver_leaves_nothing_in_the_temporary_folder(
    rows: Path, tmp_path: Path, does: str, code: int
) -> None:
    model, temporary = Troubled(tmp_path, does), tmp_path / "temporary"
    temporary.mkdir()
    run = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
import eagle, wholes
model = wholes.Troubled(Path({str(tmp_path)!r}), {does!r})
eagle.dataset.explain(wholes.explainer(model), {str(rows)!r}, {str(tmp_path / "out")!r},
                      id_column="key", part_rows={PART}, workers=2, progress=False)
"""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", run], timeout=120, env=environment)
    assert done.returncode == code
    until = time.monotonic() + 60
    while any(map(_lives, model.processes())) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(model.processes()) > (does == "die")  # workers asked: another one after a death
    assert [path.name for path in temporary.iterdir()] == []


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


# -- going on ------------------------------------------------------------------------------------


def test_what_a_failing_model_answered_is_not_asked_again(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    model = Troubled(tmp_path, "raise")
    with pytest.raises(ModelError, match="a bad day") as error:
        explain(explainer(model), rows, tmp_path / "out")
    assert error.value.__notes__[0] == "at rows 20 to 29 of one.parquet"
    assert error.value.__notes__[1].startswith("2 of 7 parts are in")
    failed = model.asked()
    check(explain(explainer(model), rows, tmp_path / "out"), expected)
    once = Troubled(tmp_path / "once", "nothing")
    once.folder.mkdir()
    explain(explainer(once), rows, tmp_path / "other")
    one_call = int((tmp_path / "calls").read_text().split("\n")[2].split()[1])
    assert model.asked() == once.asked() + one_call
    assert failed < once.asked()
    asked = model.asked()
    check(explain(explainer(model), rows, tmp_path / "out", workers=2), expected)
    assert model.asked() == asked  # all was there


def test_an_error_of_a_worker_comes_back_as_it_is(rows: Path, tmp_path: Path) -> None:
    model = Troubled(tmp_path, "raise always", at=1)
    with pytest.raises(ModelError, match="a bad day") as error:
        explain(explainer(model), rows, tmp_path / "out", workers=2)
    assert error.value.__notes__[0].startswith("at rows ")


@pytest.mark.parametrize(
    ("writable", "sentence"),
    [
        (False, r"cannot be pickled \(TypeError: it holds a socket\): say workers=1"),
        (True, "could not be read in a worker: RuntimeError: its weights are elsewhere"),
    ],
)
def test_a_model_that_cannot_be_sent(
    rows: Path, tmp_path: Path, expected: Explanations, writable: bool, sentence: str
) -> None:
    model = Unsent(writable)
    with pytest.raises(EagleError, match=sentence):
        explain(explainer(model), rows, tmp_path / "out", workers=2)
    check(explain(explainer(model), rows, tmp_path / "out"), expected)


def test_a_worker_that_could_not_read_its_job_says_the_same_of_every_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "_CONTENT", [pickle.dumps(Unsent(True))])
    part: Any = None  # no part is looked at without a job
    said = {str(processes._work_on(part)) for _ in range(2)}
    assert said == {
        "the job could not be read in a worker: RuntimeError: its weights are elsewhere"
    }


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_ctrl_c_leaves_what_is_finished(rows: Path, tmp_path: Path, expected: Explanations) -> None:
    model = Troubled(tmp_path, "interrupt")
    with pytest.raises(KeyboardInterrupt) as stop:
        explain(explainer(model), rows, tmp_path / "out")
    assert stop.value.__notes__[0].startswith("2 of 7 parts are in")
    assert len(list((tmp_path / "out").glob("part-*"))) == 2
    check(explain(explainer(model), rows, tmp_path / "out"), expected)


def test_ctrl_c_at_a_terminal_is_for_the_driver_alone(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    """It ends its workers, which say nothing. The script has no guard, and is not run again by a
    worker."""
    script = tmp_path / "script.py"
    script.write_text(
        f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by a job in the background
sys.path[:0] = {sys.path!r}
from pathlib import Path
import eagle, wholes
Path({str(tmp_path)!r}, "runs").open("a").write("once ")
model = wholes.Troubled(Path({str(tmp_path)!r}), "group")
eagle.dataset.explain(wholes.explainer(model), {str(rows)!r}, {str(tmp_path / "out")!r},
                      id_column="key", part_rows={PART}, workers=2)
"""
    )
    done = subprocess.run(
        [sys.executable, script],
        timeout=120,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.returncode == -signal.SIGINT
    assert (tmp_path / "runs").read_text() == "once "
    model = Troubled(tmp_path, "group")
    finished = len(list((tmp_path / "out").glob("part-*")))
    begun = len((tmp_path / "calls").read_text().splitlines())
    assert finished < begun
    assert not any(map(_lives, model.processes()))
    assert done.stderr.count("Traceback") == 1  # the driver's own
    assert done.stderr.endswith(
        f"{finished} of 7 parts are in {tmp_path / 'out'}: give the same command again to go on\n"
    )
    check(explain(explainer(model), rows, tmp_path / "out"), expected)


@pytest.mark.parametrize(
    ("maker", "more", "differs"),
    [
        (explainer(seed=1), {}, r"seed \(0 there, 1 here\)"),
        (explainer(), {"part_rows": 20}, r"part_rows \(10 there, 20 here\)"),
        (explainer(), {"id_column": None}, "ids"),
        (explainer(abs), {}, "model"),
        (explainer().with_options(eagle.peers.LIME), {}, "method"),
    ],
)
def test_another_run_into_the_same_folder_is_refused(
    rows: Path, tmp_path: Path, maker: Any, more: dict[str, Any], differs: str
) -> None:
    explain(explainer(), rows, tmp_path / "out")
    with pytest.raises(InputError, match=f"holds another run, which differs in .*{differs}"):
        explain(maker, rows, tmp_path / "out", **more)
    table(5).to_parquet(rows / "three.parquet")
    with pytest.raises(InputError, match="differs in the source's files"):
        explain(explainer(), rows, tmp_path / "out")


def test_a_folder_of_something_else_is_refused(rows: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not empty, and no folder of explanations"):
        explain(explainer(), rows / "one.parquet", rows)
    with pytest.raises(InputError, match="lies in the source"):
        explain(explainer(), rows, rows / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"are a folder, but .* is a file"):
        explain(explainer(), rows, tmp_path / "file")
    with pytest.raises(InputError, match=r"holds no explanations: it has no manifest\.json"):
        eagle.load(rows)


def test_only_one_run_writes_into_a_folder(rows: Path, tmp_path: Path) -> None:
    explain(explainer(), rows, tmp_path / "out")
    with (tmp_path / "out" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is writing into"):
            explain(explainer(), rows, tmp_path / "out")


# -- damage --------------------------------------------------------------------------------------


def test_a_part_that_is_cut_short_is_made_again(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    explain(explainer(), rows, tmp_path / "out")
    one, other = (tmp_path / "out" / f"part-000000{i}.parquet" for i in (2, 4))
    one.write_bytes(one.read_bytes()[:-100])
    other.unlink()
    with pytest.raises(InputError, match="is not finished: 1 of 7 parts"):
        eagle.load(tmp_path / "out")
    check(explain(explainer(), rows, tmp_path / "out"), expected)


def test_a_damaged_part_is_never_read_as_numbers(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    explain(explainer(), rows, tmp_path / "out")
    part = tmp_path / "out" / "part-0000003.parquet"
    sound = part.read_bytes()
    found = eagle.load(tmp_path / "out")
    part.write_bytes(sound[:-50])
    with pytest.raises(InputError, match=r"part-0000003.parquet is not .* Delete it"):
        found[31]
    assert found[0] is not None
    right = expected.scores[30:40]
    rng, refused = np.random.default_rng(0), 0
    places = np.r_[
        rng.integers(4, len(sound) - 8, 40), rng.integers(footer(sound), len(sound), 200)
    ]
    for at in places.tolist():
        part.write_bytes(flipped(sound, at, int(rng.integers(8))))
        try:
            np.testing.assert_array_equal(eagle.load(tmp_path / "out")[30:40].scores, right)
        except InputError:
            refused += 1
    assert refused > 10


def test_a_damaged_source_is_refused_in_a_sentence(rows: Path, tmp_path: Path) -> None:
    sound, rng, refused = (rows / "one.parquet").read_bytes(), np.random.default_rng(0), 0
    damaged = tmp_path / "damaged.parquet"
    for k, at in enumerate(rng.integers(footer(sound), len(sound), 60).tolist()):
        damaged.write_bytes(flipped(sound, at, int(rng.integers(8))))
        try:
            explain(explainer(), damaged, tmp_path / f"out{k}")
        except InputError as error:
            refused += "could not be read as Parquet" in str(error)
    assert refused > 10


def footer(parquet: bytes) -> int:
    """Where the footer of a Parquet file begins."""
    return len(parquet) - 8 - int.from_bytes(parquet[-8:-4], "little")


def flipped(sound: bytes, at: int, bit: int) -> bytes:
    broken = bytearray(sound)
    broken[at] ^= 1 << bit
    return bytes(broken)


def test_a_part_of_another_run_is_not_taken_for_this_one(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    explain(explainer(seed=1), rows, tmp_path / "other")
    out = tmp_path / "out"
    explain(explainer(), rows, out)
    part = "part-0000001.parquet"
    (out / part).write_bytes((tmp_path / "other" / part).read_bytes())
    with pytest.raises(InputError, match="damaged, or of another run"):
        eagle.load(out)[12]
    check(explain(explainer(), rows, out), expected)


# -- what is read back ---------------------------------------------------------------------------


def test_statements_of_a_folder_are_those_of_the_same_rows_in_memory(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    found = explain(explainer(), rows, tmp_path / "out", part_rows=7)
    memory = Explanations.of([thin(e) for e in expected])
    for sample in (True, False):
        for k in (1, 2, 9):
            pd.testing.assert_frame_equal(
                found.summary(k, sample=sample), memory.summary(k, sample=sample), rtol=1e-12
            )
        one, other = found.mean_score(0.8, sample=sample), memory.mean_score(0.8, sample=sample)
        np.testing.assert_allclose(one.low, other.low, rtol=1e-12, atol=1e-15)
    assert found.parts is not None
    groups = np.arange(60) % 3
    pd.testing.assert_frame_equal(
        found.compare_groups(groups), memory.compare_groups(groups), rtol=1e-12
    )


def test_rows_of_a_folder_are_taken_as_those_of_a_list(
    rows: Path, tmp_path: Path, expected: Explanations
) -> None:
    found = explain(explainer(), rows, tmp_path / "out")
    assert len(found) == 60
    assert found.ids[-1] == "row 59"
    assert found.ids[35:39] == [f"row {i}" for i in range(35, 39)]
    assert found["row 41"].prediction == expected[41].prediction
    order = np.array([59, 3, 3, -1, 20])
    some = found[order]
    assert list(some.ids) == ["row 59", "row 3", "row 3", "row 59", "row 20"]
    np.testing.assert_array_equal(some.scores, expected.scores[order])
    np.testing.assert_array_equal(found[58:10:-7].scores, expected.scores[58:10:-7])
    mask = expected.scores[:, 0] > 0
    assert len(found[mask]) == mask.sum()
    assert list(found[~mask & mask]) == []
    assert len(found.to_frame()) == 240
    assert "60 predictions explained" in found._repr_html_()
    assert repr(found).startswith("<Explanations of 60 rows about")
    with pytest.raises(IndexError):
        found[60]


def test_classes_that_differ_are_not_averaged(rows: Path, tmp_path: Path) -> None:
    def classes(X: pd.DataFrame) -> Any:
        share = 1 / (1 + np.exp(-wholes.number(X)))
        return np.column_stack([1 - share, share])

    data = table(80, 9)[NAMES]
    maker = eagle.Explainer(classes, data, budget=40, task="classification", outputs=["no", "yes"])
    found = explain(maker, rows, tmp_path / "out")
    assert set(found.about) == {"no", "yes"}
    with pytest.raises(InputError, match="explained about different classes"):
        found.summary()
    # A function within a function goes along to workers.
    assert len(explain(maker, rows, tmp_path / "yes", target="yes", workers=2).summary()) == 4
    against = explain(maker, rows, tmp_path / "pair", target=("yes", "no"))
    assert against.target == ("yes", "no")


# -- surveys -------------------------------------------------------------------------------------


def test_a_survey_explains_a_data_set_without_its_model(rows: Path, tmp_path: Path) -> None:
    survey = explainer().survey(256, progress=False)
    whole = survey.explain_many(table()[NAMES], progress=False)
    asked = survey.cost.rows
    found = explain(survey, rows, tmp_path / "out")
    np.testing.assert_array_equal(found.scores, whole.scores)
    np.testing.assert_array_equal(found.predictions, whole.predictions)
    assert survey.cost.rows == asked + 60
    survey.save(tmp_path / "survey.json")
    alone = eagle.load(tmp_path / "survey.json")
    shipped = explain(alone, rows, tmp_path / "shipped", workers=2)
    np.testing.assert_array_equal(shipped.scores, whole.scores)
    assert np.isnan(shipped.predictions).all()


def test_predictions_in_the_data_are_not_asked(rows: Path, tmp_path: Path) -> None:
    whole = table()
    whole["said"] = wholes.number(whole)
    whole.to_parquet(tmp_path / "whole.parquet")
    survey = explainer().survey(256, progress=False)
    asked = survey.cost.rows
    found = explain(survey, tmp_path / "whole.parquet", tmp_path / "out", predictions="said")
    np.testing.assert_array_equal(found.predictions, whole["said"])
    assert survey.cost.rows == asked
    with pytest.raises(InputError, match="an Explainer asks its model"):
        explain(explainer(), tmp_path / "whole.parquet", tmp_path / "no", predictions="said")


# -- texts, images and arrays --------------------------------------------------------------------


def long(texts: list[str]) -> Any:
    return np.array([len(text) + 3.0 * text.count("good") for text in texts])


def test_texts_of_a_column(tmp_path: Path) -> None:
    texts = [f"a good day number {i} is good" + " and long" * (i % 3) for i in range(12)]
    pd.DataFrame({"id": range(12), "text": texts}).to_parquet(tmp_path / "texts.parquet")
    maker = eagle.Explainer(long, eagle.Texts(), budget=64, task="regression")
    found = dataset.explain(
        maker,
        tmp_path / "texts.parquet",
        tmp_path / "out",
        columns="text",
        part_rows=5,
        progress=False,
    )
    whole = maker.explain_many(texts, progress=False)
    for one, other in zip(found, whole, strict=True):
        assert one.names == other.names
        assert one.data == other.data
        assert one.conditions == other.conditions
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.interval_or_nan(), other.interval_or_nan())
    assert len(found.to_frame()) == sum(len(e.names) for e in whole)
    with pytest.raises(InputError, match="different features"):
        found.summary()
    with pytest.raises(InputError, match="which column of"):
        dataset.explain(maker, tmp_path / "texts.parquet", tmp_path / "no", progress=False)


def test_images_of_a_folder(tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (5, 8, 8, 3)).astype(np.uint8)
    folder = tmp_path / "images" / "inner"
    folder.mkdir(parents=True)
    for i in range(4):
        Image.fromarray(pixels[i]).save(folder / f"{i}.png")
    np.save(folder / "4.npy", pixels[4])
    blocks = np.arange(4).reshape(2, 2).repeat(4, axis=0).repeat(4, axis=1)
    maker = eagle.Explainer(
        lambda images: np.asarray(images, float).mean(axis=(1, 2, 3)),
        eagle.Images(blocks, fill=0),
        budget=16,
        task="regression",
    )
    found = dataset.explain(
        maker, tmp_path / "images", tmp_path / "out", part_rows=2, progress=False
    )
    assert list(found.ids) == [*(f"inner/{i}.png" for i in range(4)), "inner/4.npy"]
    whole = maker.explain_many(list(pixels), progress=False)
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


def test_columns_without_names_go_by_place(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    frame = pd.DataFrame(X, columns=["u", "v", "w"]).assign(label=0)
    frame.to_parquet(tmp_path / "x.parquet")
    maker = eagle.Explainer(lambda X: X @ [1.0, -2.0, 0.5], X, budget=40)
    with pytest.raises(InputError, match=r"3 columns without names, and .* has 4"):
        dataset.explain(maker, tmp_path / "x.parquet", tmp_path / "out")
    found = dataset.explain(
        maker, tmp_path / "x.parquet", tmp_path / "out", columns=["w", "v", "u"], progress=False
    )
    whole = maker.explain_many(X[:, ::-1], progress=False)
    np.testing.assert_array_equal(found.scores, whole.scores)


# -- refusals ------------------------------------------------------------------------------------


def test_refusals(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing more")
    (tmp_path / "empty").mkdir()
    table(5).drop(columns="b").to_parquet(tmp_path / "lacks.parquet")
    table(0).to_parquet(tmp_path / "none.parquet")
    cases: list[tuple[Path, dict[str, Any], str]] = [
        (tmp_path / "nowhere", {}, "there is no file or folder"),
        (broken, {}, "could not be read as Parquet"),
        (tmp_path / "empty", {}, "there are no Parquet files"),
        (tmp_path / "lacks.parquet", {}, "lacks the column 'b'"),
        (tmp_path / "none.parquet", {}, "has no rows"),
        (rows, {"id_column": "name"}, "lacks the column 'name'"),
        (rows, {"columns": ["label"]}, "names 'label', which the explainer does not know"),
        (rows, {"workers": 0}, "workers must be an integer of at least 1"),
        (rows, {"part_rows": 0}, "part_rows must be an integer of at least 1"),
        (rows, {"engine": "dask"}, r"an engine is 'local', 'ray' or a Ray\(…\)"),
    ]
    for source, more, sentence in cases:
        with pytest.raises(InputError, match=sentence):
            explain(explainer(), source, out, **more)
    assert not out.exists()
    with pytest.raises(InputError, match="by an Explainer or a Survey"):
        explain(wholes.number, rows, out)


# -- the command ---------------------------------------------------------------------------------


def test_the_command(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import joblib

    from eagle.cli import main

    model = Troubled(tmp_path, "terminate")
    joblib.dump(model, tmp_path / "model.joblib")
    table(80, 9)[NAMES].to_parquet(tmp_path / "data.parquet")
    command = ["explain", str(tmp_path / "model.joblib"), "--trust"]
    command += ["--data", str(tmp_path / "data.parquet"), "--rows", str(rows), "--budget", "48"]
    whole = [*command, "--out", f"{tmp_path}/out/", "--id", "key", "--part-rows", "10"]
    assert main(whole) == 143
    assert "stopped: 2 of 7 parts are in" in capsys.readouterr().err
    assert main(whole) == 0
    assert "wrote 60 explanations to" in capsys.readouterr().err
    assert list(eagle.load(tmp_path / "out").ids) == list(table()["key"])
    assert main(["report", f"{tmp_path}/out/", "-o", f"{tmp_path}/out.html"]) == 0
    assert "60 predictions explained" in capsys.readouterr().out
    explainer().survey(128, progress=False).save(tmp_path / "survey.json")
    told = ["explain", str(tmp_path / "survey.json"), "--rows", str(rows), "--quiet"]
    assert main([*told, "--out", f"{tmp_path}/surveyed/"]) == 0
    assert len(eagle.load(tmp_path / "surveyed")) == 60
    assert main([*whole, "--seed", "1"]) == 2
    assert "differs in seed (0 there, 1 here)" in capsys.readouterr().err
    assert main([*command, "--out", str(tmp_path / "out.json"), "--workers", "2"]) == 2
    assert "--out a folder" in capsys.readouterr().err
