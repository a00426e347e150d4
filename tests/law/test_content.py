"""The digest of a model: the same in every process, and another for another model."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contents
from eagle.models.content import content_digest
from eagle.survey.identity import digest_of

ROOT = Path(__file__).parents[2]
SEEDS = ("1", "4294967295")


def told(kind: str, seed: str) -> dict[str, Any]:
    """What a process of its own says, whose strings have other hashes."""
    done = subprocess.run(
        [sys.executable, "-m", "contents", kind],
        env=os.environ
        | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize(
    "kind",
    [
        "ours",
        pytest.param("boosters", marks=pytest.mark.native),
        pytest.param("networks", marks=pytest.mark.torch),
    ],
)
def test_digests_are_the_same_in_every_process(kind: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, other = pool.map(lambda seed: told(kind, seed), SEEDS)
    assert other == first
    for name, (one, another, again) in first["digests"].items():
        assert one == again, name
        assert one != another, name
    every = [digest for one, another, _ in first["digests"].values() for digest in (one, another)]
    assert len(set(every)) == len(every)
    for name, identity in first["explainers"].items():
        assert None not in (identity["model digest"], identity["method digest"]), name


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.binary(max_size=3),
)
HASHED = st.recursive(
    PLAIN, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=4
)
NESTED = st.recursive(
    HASHED | st.sets(HASHED, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(HASHED, inner, max_size=4)
    ),
    max_leaves=8,
)


def form(value: Any) -> Any:
    """A value as nested tuples of texts: another one if a type, a sign or an order differs."""
    name = type(value).__name__
    match value:
        case list() | tuple():
            return name, *map(form, value)
        case set() | frozenset():
            return name, *sorted(map(form, value), key=repr)
        case dict():
            return name, *sorted(((form(k), form(v)) for k, v in value.items()), key=repr)
    return name, repr(value)


def made_anew(value: Any, chance: random.Random) -> Any:
    """An equal value of other objects, whose sets and dicts were filled in another order."""
    match value:
        case str():
            return "".join(list(value))
        case list() | tuple():
            return type(value)(made_anew(part, chance) for part in value)
        case set() | frozenset():
            parts = [made_anew(part, chance) for part in value]
            return type(value)(chance.sample(parts, len(parts)))
        case dict():
            items = [(made_anew(k, chance), made_anew(v, chance)) for k, v in value.items()]
            return dict(chance.sample(items, len(items)))
    return value


@given(NESTED, st.randoms(use_true_random=False))
def test_equal_values_have_the_same_digest(value: Any, chance: random.Random) -> None:
    digest = content_digest(value)
    for other in (
        made_anew(value, chance),
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
    ):
        assert content_digest(other) == digest
    assert content_digest([value, value]) == content_digest([value, made_anew(value, chance)])
    held = np.empty(2, object)
    held[:] = [value, 1]
    again = np.empty(2, object)
    again[:] = [made_anew(value, chance), 1]
    assert content_digest(held) == content_digest(again)


@given(NESTED, NESTED)
def test_values_that_differ_have_other_digests(one: Any, other: Any) -> None:
    same = form(one) == form(other)
    assert (content_digest(one) == content_digest(other)) is same
    assert content_digest([one, other]) != content_digest([[one, other]])
    assert content_digest((one, other)) != content_digest([one, other])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)),
        (np.arange(3), np.arange(3.0)),
        (np.zeros(2), -np.zeros(2)),
        (np.array(["a", "b"]), np.array(["a", "b"], dtype=object)),
        (np.array([("a", 1)], dtype="U1,i8"), np.array([("a", 1)], dtype="U1,i4")),
        (np.float64(1), 1.0),
        (["ab", "c"], ["a", "bc"]),
        ([], ()),
        ({}, set()),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ([["a"], "b"], [["a", "b"]]),
        (True, 1),
        (1, 1.0),
        (None, "None"),
        ("a", b"a"),
        ("\ud83d\ude00", "😀"),
        (bytearray(b"a"), b"a"),
        (contents.ring("a", "b"), contents.ring("a", "b", "c")),
        (np.log, np.log2),
        (contents.Weighted, contents.Node),
    ],
)
def test_values_that_are_alike_and_not_equal(one: Any, other: Any) -> None:
    assert content_digest(one) != content_digest(other)
    assert content_digest([one]) != content_digest([other])


def test_how_an_array_lies_in_memory_does_not_matter() -> None:
    a = np.random.default_rng(0).normal(size=(4, 6))
    ways = (a, a.copy(order="F"), a[::-1][::-1], np.repeat(a, 2, axis=1)[:, ::2], a.astype(">f8"))
    assert len({content_digest(way) for way in ways}) == 1
    read_only = a.copy()
    read_only.flags.writeable = False
    assert content_digest(read_only) == content_digest(a)


def test_a_mapped_array_is_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(5))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert content_digest(mapped) == content_digest(np.arange(5))


def test_depth_is_no_matter_and_no_end_is_an_error() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert content_digest(deep) == content_digest([deep[0]])
    with pytest.raises(ValueError, match="lead back"):
        content_digest([Endless()])
    shared: list[Any] = ["x"]
    for _ in range(200):
        shared = [shared, shared]  # 2 ** 200 ways to its end
    assert len(content_digest(shared)) == 64
    with pytest.raises(ValueError, match="too many ways"):
        content_digest(contents.ring(*map(str, range(12))))


def test_many_parts_may_know_their_whole() -> None:
    root = contents.Node("root")
    root.others = {contents.Node(str(k)) for k in range(8000)}
    for node in root.others:
        node.others = {root}
    digest = content_digest(root)
    assert content_digest(copy.deepcopy(root)) == digest
    next(iter(root.others)).name = "other"
    assert content_digest(root) != digest


class Endless:
    """An object that is made of another one like itself."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Endless, (), {"again": Endless()}


def test_what_is_known_by_its_name_alone_or_cannot_be_pickled_has_none(tmp_path: Path) -> None:
    class Local:
        pass

    functions: list[Any] = [lambda x: x, len, np, contents.Weighted, contents.fresh, None]
    for value in (*functions, Local(), [lambda x: x], (tmp_path / "a").open("w")):
        if hasattr(value, "close"):
            value.close()
        assert digest_of(value) is None
    looked: Callable[[Any], Any] = np.frompyfunc(lambda x: x, 1, 1)
    assert digest_of([looked]) is None
    assert digest_of(contents.Weighted(1.0).__call__) == digest_of(contents.Weighted(1.0))
    assert digest_of(contents.Weighted(1.0)) != digest_of(contents.Weighted(2.0))


def test_a_digest_that_was_stored_stays() -> None:
    """In every version of Python and numpy, or stored ones would not be recognised."""
    value = {
        "names": {"b", "a"},
        "folder": PurePosixPath("/data") / "a",
        "member": contents.Colour.BLUE,
        "array": np.arange(6, dtype="i4").reshape(2, 3),
        "parts": [(1, 2.5, None, True), {3: [b"x", np.float32(1)]}, contents.fresh],
    }
    assert content_digest(value)[:16] == "9261f5394435ba9f"


def test_asking_a_model_changes_nothing() -> None:
    for name, maker in contents.estimators().items():
        model = maker(0)
        before = digest_of(model)
        rows: Any = contents.table(9)[0]
        if name.startswith("texts"):
            rows = ["free now"] * 9
        elif name != "pipeline":
            rows = rows[["a", "b"]].to_numpy()
        model.predict(rows)
        assert digest_of(model) == before is not None, name
