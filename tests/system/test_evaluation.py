"""The evaluation, end to end, on tiny data in the formats of the real."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import tiny
from eagle.errors import InputError
from evaluation.__main__ import main
from evaluation.contestants import CONTESTANTS
from evaluation.experiment import Experiment, experiment, experiments
from evaluation.measure import BARE, load
from evaluation.report.write import PAGES
from evaluation.run import run
from evaluation.store import Store
from evaluation.trial import HASHED_NAMES, Record, Trial

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "evaluation" / "experiments"
PLAIN = Experiment(
    "plain",
    "Need no files",
    ("linear", "moons"),
    ("LIME", "EAGLE"),
    2,
    2,
    budgets=(30,),
    references=60,
    metrics=("D-efficiency by rows", "agreement by rows"),
)
MINE = "title = 't'\ndata = {}\nmethods = {}\ninstances = {}\nruns = 1\n[profiles.quick]"


@pytest.fixture
def tiny_network(tiny_data: Path) -> Path:
    """The tiny data, with a network that is trained already."""
    load.cache_clear()
    tiny.network_of_digits(tiny_data)
    return tiny_data


def timeless(records: list[Record]) -> list[Record]:
    """Records without their seconds."""
    return [{k: v for k, v in r.items() if "seconds" not in k} for r in records]


def same(a: list[Record], b: list[Record]) -> bool:
    """Equal, NaN to NaN; what is packed has single precision, as what is written has."""
    return json.dumps(timeless(a), sort_keys=True) == json.dumps(timeless(b), sort_keys=True)


@pytest.mark.slow
def test_everything_in_the_smallest_sizes(
    tiny_network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run, run again, report: each page has a verdict, the paper's numbers and its command."""
    options = ["--profile", "smoke", "--experiments", str(FOLDER), "--records", str(tmp_path / "r")]
    assert main(["run", "--jobs", "2", "--quiet", *options]) == 0
    ran = capsys.readouterr().out
    assert "failed" not in ran
    assert main(["run", "--quiet", *options]) == 0
    again = capsys.readouterr().out
    assert len(re.findall(r"^\S+: 0 trials done", again, re.M)) == len(PAGES)
    assert main(["report", *options, "--out", str(tmp_path / "o")]) == 0
    for name in PAGES:
        page = (tmp_path / "o" / f"{name}.md").read_text(encoding="utf-8")
        assert "Verdict: " in page
        assert f"`python -m evaluation run {name} --profile smoke`" in page
        drawn = re.findall(r"\]\((\S*png)\)", page)
        assert all((tmp_path / "o" / file).stat().st_size > 3000 for file in drawn)
        assert "nan" not in page
    readings = (tmp_path / "o" / "readings.md").read_text("utf-8")
    assert len(re.findall(r"^\| A\d+ ", readings, re.M)) == 29
    check_stability(Store(tmp_path / "r"), (tmp_path / "o" / "table1.md").read_text("utf-8"))
    assert main(["report", "stop", *options, "--out", str(tmp_path / "some")]) == 0
    assert {p.name for p in (tmp_path / "some").iterdir()} == {"stop.md", "README.md"}
    assert main(["list", *options]) == 0
    said = capsys.readouterr().out
    assert all(re.search(rf"^{name} +[1-9]", said, re.M) for name in PAGES)


def check_stability(store: Store, page: str) -> None:
    """A number of table 1 computed a second way: from the raw records, pair by pair."""
    planned = experiment(FOLDER / "table1.toml", "smoke")
    runs = [
        r
        for r in store.read()
        if planned.owns(r) and (r["problem"], r["method"], r["budget"]) == ("german", "LIME", 60)
    ]
    tops = [set(np.argsort(-np.abs(r["scores"]), kind="stable")[:5].tolist()) for r in runs]
    mean = np.mean([len(a & b) / len(a | b) for a, b in combinations(tops, 2)])
    section = page.split("## German")[1]
    found = re.search(r"\| LIME \| 0\.645 \| \**([0-9.]+)", section)
    assert found is not None
    assert float(found[1]) == pytest.approx(mean, abs=5e-4)


def test_records_do_not_depend_on_how_many_processes_make_them(tmp_path: Path) -> None:
    trials = list(PLAIN.trials())
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    assert run(trials, one, 1, silent=True).done == {t.key for t in trials}
    assert run(trials, two, 2, silent=True).done == {t.key for t in trials}
    assert same(one.read(), two.read())
    before = one.read()
    one.pack()
    assert same(one.read(), before)
    assert one.keys() == {t.key for t in trials}
    assert not run(trials, one, 1, silent=True).done


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """kill -9 in the middle: what was written stays, and nothing is done twice."""
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "table1.toml").write_text(
        'title = "t"\ndata = ["linear", "moons"]\nmethods = ["LIME", "EAGLE", "BayesLIME"]\n'
        "[profiles.quick]\ninstances = 4\nruns = 2\nbudgets = [200]\n"
    )
    command = [
        *(sys.executable, "-m", "evaluation", "run", "--quiet", "--jobs", "2", "--experiments"),
        *(str(tmp_path / "e"), "--records", str(tmp_path / "r")),
    ]
    running = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL)
    store = Store(tmp_path / "r")
    deadline = time.monotonic() + 120
    while running.poll() is None and time.monotonic() < deadline and _count(tmp_path / "r") < 3:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    before = store.read()
    trials = list(experiment(tmp_path / "e" / "table1.toml").trials())
    assert 3 <= len(before) < len(trials)
    outcome = run(trials, store, 1, silent=True)
    assert outcome.done == {t.key for t in trials} - {r["key"] for r in before}
    after = {r["key"]: r for r in store.read()}
    assert all(after[r["key"]] == r for r in before)  # to the second, so not done again
    fresh = Store(tmp_path / "fresh")
    run(trials, fresh, 1, silent=True)
    assert same(store.read(), fresh.read())


def _count(folder: Path) -> int:
    if not (folder / "journal.sqlite").exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(folder / "journal.sqlite", timeout=5)) as journal:
            return int(journal.execute("SELECT count(*) FROM records").fetchone()[0])
    except sqlite3.OperationalError:  # the table is not there yet
        return 0


def test_no_two_trials_share_chance() -> None:
    trials = list(PLAIN.trials())
    assert len({t.seed for t in trials}) == len({t.key for t in trials}) == len(trials)
    assert Trial("a", 0, "LIME", 5, keep=("names",)).seed == Trial("a", 0, "LIME", 5).seed
    assert Trial("a", 0, "LIME", 5, keep=("names",)).key != Trial("a", 0, "LIME", 5).key


def test_an_experiment_owns_its_records_and_no_others() -> None:
    trials = list(PLAIN.trials())
    records = [_named(t) for t in trials]
    assert all(PLAIN.owns(r) for r in records)
    assert not any(PLAIN.owns(r | {"instance": 2}) for r in records)
    assert not any(PLAIN.owns(r | {"problem": "wine"}) for r in records)
    assert not any(PLAIN.owns(r | {"budget": 31}) for r in records)
    assert not any(PLAIN.owns(r | {"alone": True}) for r in records if r["keep"])


def test_another_seed_is_the_same_experiment_with_fresh_chance(tmp_path: Path) -> None:
    again = replace(PLAIN, seed=7)
    old, new = list(PLAIN.trials()), list(again.trials())
    assert not {t.seed for t in old} & {t.seed for t in new}
    assert [replace(t, chance=0) for t in new] == old
    run(new[:2], store := Store(tmp_path), 1, silent=True)
    store.pack()
    assert all(again.owns(r) and not PLAIN.owns(r) for r in store.read())


def test_metrics_say_what_records_keep() -> None:
    assert PLAIN.keep("LIME") == ("curves", "ranks")
    some = replace(PLAIN, by_rows={"ranks": ("EAGLE",)}, detailed=1)
    assert some.keep("LIME") == ("curves",)
    assert some.keep("EAGLE") == ("curves", "ranks")
    assert some.keep("EAGLE", 1) == ()
    assert replace(PLAIN, metrics=("stability", "points")).keep("LIME") == ("inputs",)


def test_the_same_data_under_other_black_boxes(tmp_path: Path) -> None:
    both = replace(PLAIN, data=("moons",), black_boxes=("own", "line"), instances=1)
    trials = list(both.trials())
    assert {t.problem for t in trials} == {"moons", "moons+line"}
    run(trials, store := Store(tmp_path), 1, silent=True)
    store.pack()
    assert all(both.owns(r) for r in store.read())
    assert not any(PLAIN.owns(r) for r in store.read() if r["problem"] == "moons+line")
    own, line = load("moons"), load("moons+line")
    assert 0.7 < line.accuracy < own.accuracy
    assert (line.model.predict(own.data) != own.model.predict(own.data)).any()
    with pytest.raises(InputError, match="linear is known by its own black box only"):
        load("linear+forest")


@pytest.mark.parametrize("box", ["forest", "boosting", "network", "line"])
@pytest.mark.parametrize("data", ["iris", "diabetes"])
def test_every_black_box_learns_classes_and_numbers(data: str, box: str) -> None:
    assert load(f"{data}+{box}").accuracy > (0.75 if data == "iris" else 0.25)


def test_some_of_the_data_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "mine.toml").write_text(
        MINE.format(["linear", "moons"], ["LIME"], 1) + "\nbudgets = [30]"
    )
    where = ["--experiments", str(tmp_path / "e"), "--records", str(tmp_path / "r"), "--quiet"]
    assert main(["run", "mine", "--only", "moons", *where]) == 0
    assert {r["problem"] for r in Store(tmp_path / "r").read()} == {"moons"}
    assert main(["run", "mine", "--only", "mars", *where]) == 2
    assert "none of these experiments has the data set 'mars'" in capsys.readouterr().err


def _named(trial: Trial) -> dict[str, Any]:
    return {
        "problem": trial.problem,
        "method": trial.method,
        "budget": trial.budget,
        "instance": trial.instance,
        "run": trial.run,
        "keep": " ".join(trial.keep),
        "options": json.dumps(dict(trial.options)),
        "alone": trial.alone,
    }


def test_a_trial_that_fails_stops_no_other(tmp_path: Path) -> None:
    trials = [
        Trial("linear", 0, "LIME", 30),
        Trial("linear", 0, "LIME", 30, options=(("x", 1),)),
        Trial("linear", 0, "EAGLE", 30),
    ]
    outcome = run(trials, Store(tmp_path), 1, silent=True)
    assert outcome.done == {trials[0].key, trials[2].key}
    assert list(outcome.failed.values()) == ["no method knows the option 'x'"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title = [", "is not an experiment"),
        ('title = "t"\n[profiles.paper]', "has no profile 'quick'"),
        ('title = "t"\nprolbems = []\n[profiles.quick]', "'prolbems' says nothing"),
        ('title = "t"\n[profiles.quick]', "is not complete"),
        (MINE.format(["mars"], [], 1), "there is no data set 'mars'"),
        (MINE.format([], ["SLIME"], 1), "there is no method 'SLIME'"),
        (MINE.format([], [], 0), "instances must be an integer from 1"),
        ("seed = -1\n" + MINE.format([], [], 1), "seed must be an integer from 0"),
        ("metrics = ['beauty']\n" + MINE.format([], [], 1), "there is no metric 'beauty'"),
        ("black_boxes = ['dog']\n" + MINE.format([], [], 1), "there is no black box 'dog'"),
    ],
)
def test_a_file_that_is_no_experiment_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        experiment(path)


def test_broken_or_foreign_records_are_named(tmp_path: Path) -> None:
    store, path = Store(tmp_path), tmp_path / "moons.parquet"
    store.add([{"key": f"k{i}", "problem": "moons", "d": 2, "scores": [0.5, i]} for i in range(50)])
    store.pack()
    whole = path.read_bytes()
    assert len(store.read()) == 50
    foreign = tmp_path / "foreign"
    parquet.write_table(pa.table({"a": [1, 2]}), foreign)
    keyless = tmp_path / "keyless"
    parquet.write_table(pa.table({"key": ["k", None], "problem": ["moons"] * 2}), keyless)
    ranks = tmp_path / "ranks"
    columns = {"key": ["k"], "problem": ["moons"], "d": [2], "ranks": [[1, 2, 3]]}
    parquet.write_table(pa.table(columns), ranks)
    middle = len(whole) // 2
    torn = whole[:middle] + bytes(8) + whole[middle + 8 :]
    others = [file.read_bytes() for file in (foreign, keyless)]
    for content in (b"", b"PAR1", whole[:middle], whole[middle:], b"no table" * 99, *others):
        path.write_bytes(content)
        for read in (store.keys, store.read):
            with pytest.raises(InputError, match=r"moons\.parquet is no file of records"):
                read()
    for content in (torn, ranks.read_bytes()):
        path.write_bytes(content)
        with contextlib.suppress(InputError):  # what is torn may lie where no record is
            store.read()
    # What the journal holds outlives a file that it cannot be packed into.
    path.write_bytes(whole[:middle])
    store.add([{"key": "fresh", "problem": "moons", "d": 2}])
    with pytest.raises(InputError, match="is no file of records"):
        store.pack()
    path.unlink()
    assert [record["key"] for record in store.read()] == ["fresh"]


def test_what_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="there are no experiments in"):
        experiments(tmp_path)
    (tmp_path / "journal.sqlite").write_text("not a journal, but long enough to be looked at" * 9)
    with pytest.raises(InputError, match="is no journal of records"):
        Store(tmp_path).read()
    where = ["--experiments", str(FOLDER), "--records", str(tmp_path / "none")]
    assert main(["report", *where]) == 2
    assert "no records of --profile quick yet" in capsys.readouterr().err
    assert main(["run", "tabel1", *where]) == 2
    said = capsys.readouterr().err
    assert "there is no experiment 'tabel1': there are attributions, bounds" in said


def test_committed_records_are_those_of_the_trials_that_they_name() -> None:
    """A key is a hash of what the trial is: were it to change, nothing would be taken for done."""
    records = Store(FOLDER.parent / "records").read()
    assert len(records) > 10_000
    for r in records:
        options = tuple((k, v) for k, v in json.loads(r["options"]).items())
        trial = Trial(
            r["problem"],
            r["instance"],
            r["method"],
            r["budget"],
            r["run"],
            options,
            tuple(r["keep"].split()),
            r["alone"],
            r.get("chance", 0),
        )
        assert trial.key == r["key"]
        assert trial.seed == r["seed"]
        assert trial.method in (*CONTESTANTS, BARE)
    assert {*HASHED_NAMES} <= {r["method"] for r in records}


def test_contestants_are_called_what_the_library_prints() -> None:
    for name, one in CONTESTANTS.items():
        assert one.method.name in (name, f"{name} (nearest)")  # DLIME within a budget


def test_a_method_that_is_renamed_shares_no_chance_with_another() -> None:
    assert len({HASHED_NAMES.get(name, name) for name in CONTESTANTS}) == len(CONTESTANTS)
    for name, hashed in HASHED_NAMES.items():
        assert Trial("a", 0, name, 5).key == Trial("a", 0, hashed, 5).key
        assert Trial("a", 0, name, 5).seed == Trial("a", 0, hashed, 5).seed


def test_every_experiment_has_a_page_and_every_profile() -> None:
    assert set(experiments(FOLDER)) == set(PAGES)
    for path in experiments(FOLDER).values():
        for profile in ("smoke", "quick", "paper"):
            assert experiment(path, profile).title
