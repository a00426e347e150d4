"""The ledger: what was answered is never asked again, and what is in doubt is said."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import eagle
from catalogue import TEXTS, Recorder, mood
from eagle import Explainer, Images, InputError, ModelError, ReplyError, Texts, cli
from eagle.models import recorded
from eagle.models.http import Endpoint, Retry
from eagle.models.inputs import Inputs, read_row
from eagle.models.ledger import Ledger, keys_of
from evaluation.store import Store
from served import Served, half, reset, said, shares, status

X = np.random.default_rng(0).normal(size=(60, 3))
WHO = ("m", "1", "answers")


def bent(rows: Any) -> Any:
    return rows[:, 0] ** 2 - rows[:, 1]


# -- a model with a ledger ------------------------------------------------------------------------


def test_what_was_answered_is_never_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    model = Recorder(bent)
    ask = recorded(model, path, version="1")
    first = ask(X[:40])
    again = recorded(model, path, name="Recorder", version="1")(X)
    assert np.array_equal(again.ravel(), bent(X))
    assert np.array_equal(first, again[:40])
    assert [len(rows) for rows in model.asked] == [40, 20]
    twice = np.concatenate([X + 1, X + 1])
    assert np.array_equal(ask(twice).ravel(), bent(twice))
    assert model.rows == 120
    for other in (recorded(model, path, version="2"), recorded(model, path, name="n", version="1")):
        other(X[:1])
    assert model.rows == 122


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        RandomForestRegressor(5, random_state=0),
        LogisticRegression(),
        SVC(),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("named", [True, False])
def test_an_estimator_is_understood_as_what_it_is(tmp_path: Path, model: Any, named: bool) -> None:
    data: Any = pd.DataFrame(X, columns=list("abc")) if named else X
    labels = np.where(X[:, 0] > 0, "yes", "no")
    model.fit(data, X[:, 0] if isinstance(model, RandomForestRegressor) else labels)
    kept = recorded(model, tmp_path / "a.db")
    plain, through = (Explainer(m, pd.DataFrame(X, columns=list("abc"))) for m in (model, kept))
    assert through.describe() == plain.describe()
    one, other = plain.explain(X[3]), through.explain(X[3])
    assert np.array_equal(one.scores, other.scores)
    assert (one.task, one.outputs) == (other.task, other.outputs)
    assert kept.n_features_in_ == 3


def test_methods_of_an_estimator_are_kept_apart(tmp_path: Path) -> None:
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    kept = recorded(model, tmp_path / "a.db")
    for name in ("predict_proba", "decision_function"):
        expected = np.reshape(getattr(model, name)(X), (len(X), -1))
        for _ in range(2):
            assert np.array_equal(getattr(kept, name)(X), expected)
    assert kept.classes_ is model.classes_
    with pytest.raises(AttributeError):
        kept.nonsense  # noqa: B018


def test_a_model_that_was_fitted_again_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    one = LogisticRegression().fit(X, X[:, 0] > 0)
    other = LogisticRegression().fit(X, X[:, 1] > 0)
    assert np.array_equal(recorded(one, path).predict_proba(X), one.predict_proba(X))
    assert np.array_equal(recorded(other, path).predict_proba(X), other.predict_proba(X))
    copies = copy.deepcopy(one), pickle.loads(pickle.dumps(one))
    assert {recorded(m, path).version for m in (one, *copies)} == {recorded(one, path).version}
    with pytest.raises(InputError, match=r"which model answers: say version='...'"):
        recorded(bent, path)


def test_texts_images_and_sparse_rows(tmp_path: Path) -> None:
    from scipy import sparse

    path = tmp_path / "a.db"
    texts = Recorder(mood)
    how: dict[str, Any] = {"task": "classification", "outputs": ("no", "yes"), "budget": 30}
    for _ in range(2):
        made = Explainer(recorded(texts, path, name="t", version="1"), Texts(), **how)
        made.explain(TEXTS[0])
    assert len(texts.asked) == 1

    def bright(images: Any) -> Any:
        return images.mean(axis=(1, 2, 3)) / 255

    images = Recorder(bright)
    picture = np.random.default_rng(0).integers(0, 255, (32, 32, 3)).astype(np.uint8)
    kept = recorded(images, path, name="i", version="1")
    for _ in range(2):
        Explainer(kept, Images(segments=4), budget=16, task="regression").explain(picture)
    assert len(images.asked) == 1
    asked = []

    def total(rows: Any) -> Any:
        asked.append(type(rows))
        return np.asarray(rows.sum(axis=1)).ravel()

    rows = sparse.csr_array(np.where(X > 0, X, 0))
    kept = recorded(total, path, name="s", version="1")
    for _ in range(2):
        assert np.allclose(kept(rows).ravel(), rows.toarray().sum(axis=1))
    assert asked == [sparse.csr_array]


def test_an_explainer_of_a_recorded_model_survives_a_pickle(tmp_path: Path) -> None:
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    made = Explainer(recorded(model, tmp_path / "a.db"), X)
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(made.explain(X[0]).scores, again.explain(X[0]).scores)


def test_what_a_failing_model_was_asked_is_in_doubt_and_bad_answers_are_not_kept(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.db"

    def broken(rows: Any) -> Any:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        recorded(broken, path, name="b", version="1")(X)
    with pytest.raises(ReplyError, match="NaN"):
        recorded(lambda rows: rows[:, 0] * np.nan, path, name="n", version="1")(X)
    summary = Ledger(path).summary()
    assert (summary.rows, summary.doubt, summary.flight) == (0, 120, 0)


# -- keys -----------------------------------------------------------------------------------------


def keys(table: Any, who: tuple[str, str, str] = WHO) -> list[bytes]:
    return keys_of(who, Inputs.of(table))


FRAME = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": ["x", None]})


@pytest.mark.parametrize(
    "other",
    [
        FRAME.rename(columns={"a": "z"}),
        FRAME[["b", "a", "c"]],
        FRAME.astype({"a": np.int32}),
        FRAME.astype({"a": np.float64}),
        FRAME.assign(c=FRAME["c"].astype("category")),
        FRAME.assign(c=pd.Categorical(FRAME["c"], ["x", "y"])),
        FRAME.assign(a=[3, 4]),
        FRAME.assign(c=["y", "z"]),
        pl.from_pandas(FRAME),
    ],
)
def test_what_a_model_could_tell_apart_has_another_key(other: Any) -> None:
    assert not set(keys(FRAME)) & set(keys(other))


def test_keys_do_not_depend_on_what_a_model_cannot_see() -> None:
    moved = FRAME.set_index(pd.Index([7, 9]))
    assert keys(moved) == keys(FRAME) == keys(FRAME.copy())
    assert keys(FRAME)[1] == keys(FRAME.iloc[1:])[0]
    assert keys(np.asfortranarray(X)) == keys(X) == keys(X.astype(">f8"))
    assert len({*keys(X), *keys(X, ("n", "1", "answers")), *keys(X, ("m", "2", "answers"))}) == 180
    assert keys(X, ("ab", "c", "d"))[0] != keys(X, ("a", "bc", "d"))[0]


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)
)


@settings(max_examples=50)
@given(st.lists(CELLS, min_size=1, max_size=4), st.lists(CELLS, min_size=1, max_size=4))
def test_equal_keys_mean_equal_rows(one: list[Any], other: list[Any]) -> None:
    """By a second road: the values read back from the bytes of a row."""

    def told(cells: list[Any]) -> tuple[list[bytes], dict[str, Any]]:
        array = np.empty((1, len(cells)), dtype=object)
        array[0] = cells
        inputs = Inputs.of(array)
        return keys_of(WHO, inputs), read_row(inputs.form, inputs.bytes_of_rows[0])

    (key, read), (key_of_other, _) = told(one), told(other)
    assert [repr(v) for v in read.values()] == [repr(v) for v in one]
    assert (key == key_of_other) == ([repr(v) for v in one] == [repr(v) for v in other])


# -- an endpoint with a ledger --------------------------------------------------------------------


def paid(served: Served, path: Path, **more: Any) -> Endpoint:
    usual: dict[str, Any] = {"ledger": path, "version": "1", "batch_rows": 10, "retries": 0}
    return Endpoint(served.url, "v2", **usual | more)


def test_what_an_endpoint_answered_is_kept_batch_by_batch(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Served() as served:
        served.faults = [None, None, status(400)]  # type: ignore[list-item]
        ask = paid(served, path, concurrency=1)
        with pytest.raises(ModelError, match="status 400"):
            ask(X)
        kept = Ledger(path).summary()
        assert kept.rows % 10 == 0
        assert kept.rows >= 20
        assert kept.doubt == 0  # what was refused with 400 is not billed
        assert np.array_equal(ask(X), shares(X))
        counts = pd.Series(map(tuple, served.rows)).value_counts()
        assert len(counts) == 60
        assert counts.sum() == 70  # the batch that was refused
        before = len(served.requests)
        assert np.array_equal(paid(served, path)(X[::-1]), shares(X[::-1]))
        assert len(served.requests) == before


@pytest.mark.parametrize(
    ("faults", "doubt"),
    [
        ([reset, reset], 20),  # sent twice, and no answer came
        ([half, half], 20),
        ([status(500)], 10),
        ([status(502)], 10),
        ([status(504)], 10),
        ([said("<html>")], 10),
        ([status(401)], 0),
        ([status(503)], 0),
    ],
)
def test_doubt_is_what_may_be_billed(tmp_path: Path, faults: Any, doubt: int) -> None:
    with Served() as served:
        served.faults = faults
        ask = paid(served, tmp_path / "a.db")
        with pytest.raises(eagle.AnswerError):
            ask(X[:10])
        ask(X[:10])
        summary = Ledger(tmp_path / "a.db").summary()
    assert (summary.rows, summary.doubt) == (10, doubt)
    assert ("rows in doubt" in str(summary)) == bool(doubt)


@pytest.mark.parametrize(
    ("fault", "doubt"), [(reset, 10), (half, 10), (status(504), 10), (status(503), 0)]
)
def test_what_was_sent_again_may_be_billed_twice(tmp_path: Path, fault: Any, doubt: int) -> None:
    with Served() as served:
        served.faults = [fault]
        paid(served, tmp_path / "a.db", retries=Retry(1, sleep=lambda _: None))(X[:10])
        assert len(served.rows) == 20
        summary = Ledger(tmp_path / "a.db").summary()
    assert (summary.rows, summary.doubt) == (10, doubt)


def test_threads_and_processes_may_share_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    asks = [recorded(bent, path, name="b", version="1") for _ in range(2)]
    made: list[Any] = []
    threads = [
        threading.Thread(target=lambda ask=ask, k=k: made.append((k, ask(X[k : k + 20]))))
        for k in range(0, 40, 5)
        for ask in asks
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 16
    for k, answers in made:
        assert np.array_equal(answers.ravel(), bent(X[k : k + 20]))
    assert Ledger(path).verify() == []


def test_rows_in_flight_when_a_process_ends_are_said_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    code = f"""
import os, signal, numpy as np
from eagle.models import recorded
def dies(rows):
    os.kill(os.getpid(), signal.SIGKILL)
recorded(dies, {str(path)!r}, name="d", version="1")(np.ones((7, 2)).cumsum(0))
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert Ledger(path).summary().doubt == 7
    with pytest.warns(UserWarning, match="7 rows were in flight when an earlier process ended"):
        recorded(bent, path, name="d", version="1")
    recorded(bent, path, name="d", version="1")  # said already
    assert Ledger(path).summary().doubt == 7
    living = Ledger(path)
    living.intend(("d", "1", "answers"), keys(X[:3]))
    assert Ledger(path).summary().flight == 3  # this process lives


# -- the file -------------------------------------------------------------------------------------


def test_it_is_synchronised_at_every_commit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "a.db")
    with ledger._reading() as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n" * 1000)
    with pytest.raises(InputError, match=r"a.csv cannot be used as a ledger"):
        Ledger(tmp_path / "a.csv")
    other = sqlite3.connect(tmp_path / "b.db")
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(InputError, match=r"b.db is a database, but no ledger"):
        Ledger(tmp_path / "b.db")
    with pytest.raises(InputError, match="there is no folder"):
        Ledger(tmp_path / "no" / "a.db")


def test_every_connection_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its ledger, or at once where there is none, of a ledger and of an evaluation's store."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def noted(*options: Any, **named: Any) -> sqlite3.Connection:
        opened.append(connect(*options, **named))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    recorded(bent, tmp_path / "a.db", name="b", version="1")(X)
    assert Ledger(tmp_path / "a.db").verify() == []
    (tmp_path / "b.db").write_bytes(b"no database, but long enough" * 1000)
    with pytest.raises(InputError, match="cannot be used as a ledger"):
        Ledger(tmp_path / "b.db")
    store = Store(tmp_path / "records")
    store.add([{"key": "a", "problem": "b"}])
    assert [record["key"] for record in store.read()] == ["a"]
    store.pack()
    (tmp_path / "records" / "journal.sqlite").write_bytes(b"no database, but long enough" * 1000)
    with pytest.raises(InputError, match="is no journal of records"):
        store.read()
    gc.collect()
    assert len(opened) >= 6
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM answers WHERE rowid = 1", r"a.db was damaged: 59 answers are there, and 60"),
        ("DROP TABLE forms", r"a.db has other tables than a ledger"),
        ("CREATE INDEX more ON answers (answered)", r"a.db has other tables than a ledger"),
    ],
)
def test_lost_answers_and_other_tables_are_refused(
    tmp_path: Path, statement: str, sentence: str
) -> None:
    path = tmp_path / "a.db"
    recorded(bent, path, name="b", version="1")(X)
    gc.collect()
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    with pytest.raises(InputError, match=sentence):
        Ledger(path)


def test_a_ledger_of_before_is_counted_and_used_on(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    expected = recorded(bent, path, name="b", version="1")(X)
    gc.collect()
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE totals")
        db.commit()

    def refuse(_: Any) -> Any:
        raise AssertionError("it was asked again")

    assert np.array_equal(recorded(refuse, path, name="b", version="1")(X), expected)
    assert Ledger(path).verify() == []


@pytest.mark.parametrize("column", ["answer", "row", "key"])
def test_a_flipped_bit_is_found(tmp_path: Path, column: str) -> None:
    path = tmp_path / "a.db"
    recorded(bent, path, name="b", version="1")(X)
    assert Ledger(path).verify() == []
    db = sqlite3.connect(path)
    key, value = db.execute(f"SELECT key, {column} FROM answers LIMIT 1").fetchone()
    wrong = bytes([value[0] ^ 4]) + value[1:]
    db.execute(f"UPDATE answers SET {column} = ? WHERE key = ?", (wrong, key))
    db.commit()
    db.close()
    found = Ledger(path).verify()
    assert found
    assert all("was changed" in sentence for sentence in found)
    if column == "answer":
        with pytest.raises(InputError, match=r"a.db was changed: 'eagle ledger verify' says where"):
            recorded(bent, path, name="b", version="1")(X)


def test_damage_of_the_log_that_a_crash_left_loses_no_answer(tmp_path: Path) -> None:
    path, copied = tmp_path / "a.db", tmp_path / "copy.db"
    ask = recorded(bent, path, name="b", version="1")
    for start in range(0, 60, 20):
        ask(X[start : start + 20])
    log = bytearray(Path(f"{path}-wal").read_bytes())  # as it is when the process is killed now
    whole = path.read_bytes()
    for place in range(40, len(log), len(log) // 40):
        for end in ("-wal", "-shm"):
            Path(f"{copied}{end}").unlink(missing_ok=True)
        copied.write_bytes(whole)
        spoilt = log.copy()
        spoilt[place] ^= 1
        Path(f"{copied}-wal").write_bytes(spoilt)
        assert Ledger(copied).summary().rows == 60
        assert Ledger(copied).verify() == []
    assert ask(X).shape == (60, 1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.db"
    frame = pd.DataFrame({"a": [1, 2], "job": ["x", "é"]})
    kept = recorded(lambda t: t["a"] / 3, path, name="forest", version="7")
    kept(frame)
    assert cli.main(["ledger", "show", str(path)]) == 0
    out = capsys.readouterr().out
    assert "2 answered rows" in out
    assert "forest, version 7, answers: 2 rows" in out
    assert "No row is in doubt" in out
    for name in ("t.csv", "t.parquet"):
        assert cli.main(["ledger", "export", str(path), "--out", str(tmp_path / name)]) == 0
        read = pd.read_csv if name == "t.csv" else pd.read_parquet
        table = read(tmp_path / name).sort_values("input a")
        assert table["input a"].tolist() == [1, 2]
        assert table["input job"].tolist() == ["x", "é"]
        assert table["answer 0"].tolist() == [1 / 3, 2 / 3]
        assert set(table["model"]) == {"forest"}
    capsys.readouterr()
    assert cli.main(["ledger", "verify", str(path)]) == 0
    assert "All is well: 2 answered rows, 0 in doubt" in capsys.readouterr().out
    db = sqlite3.connect(path)
    db.execute("UPDATE answers SET answer = zeroblob(8)")
    db.commit()
    db.close()
    assert cli.main(["ledger", "verify", str(path)]) == 1
    assert "was changed" in capsys.readouterr().out
    assert cli.main(["ledger", "show", str(tmp_path / "none.db")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert not (tmp_path / "none.db").exists()


def test_processes_may_make_the_file_at_the_same_moment(tmp_path: Path) -> None:
    code = f"""
import os, sys, numpy as np
from eagle.models import recorded
for k in range(4):
    waiting, go = os.pipe()
    children = []
    for _ in range(4):
        child = os.fork()
        if not child:
            os.close(go)
            os.read(waiting, 1)  # until the other end is closed
            ask = recorded(lambda rows: rows[:, 0], f"{tmp_path}/{{k}}.db", name="f", version="1")
            os._exit(len(ask(np.ones((3, 2)))) - 3)
        children.append(child)
    os.close(waiting)
    os.close(go)
    ends = [os.waitpid(child, 0)[1] for child in children]
    assert ends == [0] * 4, ends
"""
    if os.name == "posix":
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_a_fork_opens_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    code = f"""
import os, numpy as np
from eagle.models import recorded
ask = recorded(lambda rows: rows[:, 0], {str(path)!r}, name="f", version="1")
rows = np.arange(40.0).reshape(20, 2)
ask(rows[:10])
child = os.fork()
if not child:
    ask(rows[10:])
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(ask(rows)), ask._ledger.summary().rows, ask._ledger.verify())
"""
    if os.name == "posix":
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == "20 20 []", done.stderr
