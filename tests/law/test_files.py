"""Files of results, plans and backgrounds: undamaged, or refused in a sentence."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eagle
from catalogue import LABELS, PICTURES, QUICK, TEXTS, TWO, brightness, mood
from eagle import methods
from eagle.files import sealed
from eagle.files.explanations import OLD
from eagle.surrogate.process import Process
from eagle.table.background import Background
from tables import TABLES, X

METHODS = {
    "eagle": methods.EAGLE,
    "balanced": methods.EAGLE_BALANCED,
    "lime": methods.LIME,
    "bootstrap": methods.Bootstrapped(methods.LIME, 10),
    "baylime": methods.BAYLIME,
    "tilia": methods.TILIA,
    "unravel": replace(methods.UNRAVEL, design=QUICK, surrogate=Process(restarts=1, most=15)),
}


def curved(x: Any) -> Any:
    return np.sin(x[:, 0]) + x[:, 1] * x[:, 2]


def explainer(name: str) -> eagle.Explainer:
    return eagle.Explainer(
        curved, X, method=METHODS[name], budget=8 if name == "unravel" else 40, view="continuous"
    )


@cache
def explanation(name: str) -> eagle.Explanation:
    if name == "image":
        ex = eagle.Explainer(brightness, eagle.Images(LABELS, fill=0), budget=30, **TWO)
        return ex.explain(PICTURES[0])
    if name == "words":
        return eagle.Explainer(mood, eagle.Texts(), budget=30, **TWO).explain(TEXTS[0])
    if name == "shap":
        ex = eagle.Explainer(curved, X, method=methods.SHAP_KERNEL, budget=400)
        return ex.explain(X[0])
    return explainer(name).explain(X[0])


def row_of(name: str) -> Any:
    return TABLES[name].iloc[:1] if name == "pandas" else TABLES[name][:1]


# -- one kind of file: how it is written, read, and used -----------------------------------------


def explanations(folder: Path) -> dict[str, Path]:
    found = {name: folder / f"{name}.json" for name in [*METHODS, "image", "words", "shap"]}
    for name, path in found.items():
        explanation(name).save(path)
    return found


def plans(folder: Path) -> dict[str, Path]:
    found = {n: folder / f"{n}.json" for n, m in METHODS.items() if m.planned}
    for name, path in found.items():
        explainer(name).plan(X[0]).save(path)
    return found


def backgrounds(folder: Path) -> dict[str, Path]:
    found = {name: folder / f"{name}.json" for name in TABLES}
    for name, path in found.items():
        Background.of(TABLES[name]).save(path)
    return found


def use_explanation(e: eagle.Explanation, name: str) -> None:
    assert str(e)
    assert e._repr_html_()
    assert eagle.Explanation.from_json(e.to_json()).to_dict() == e.to_dict()


def use_plan(plan: eagle.Plan, name: str) -> None:
    answers = np.arange(plan.rows * len(plan.box.outputs or (1,)), dtype=float)
    try:
        assert str(plan.fit(answers.reshape(plan.rows, -1) / answers.size))
    except eagle.EagleError:  # answers that do not fit what the plan says of the model
        return


def use_background(background: Background, name: str) -> None:
    def model(x: Any) -> Any:
        return np.arange(x.shape[0], dtype=float)

    for view in ("binned", "continuous"):
        try:
            eagle.Explainer(model, background, view=view, budget=20).explain(row_of(name))
        except eagle.InputError:  # a row that is not of this background
            continue


KINDS: dict[str, tuple[Callable[..., dict[str, Path]], Any, Callable[..., None]]] = {
    "explanation": (explanations, eagle.Explanation.load, use_explanation),
    "plan": (plans, eagle.Plan.load, use_plan),
    "background": (backgrounds, Background.load, use_background),
}


def said(thing: Any, folder: Path) -> bytes:
    """All of a thing, as it is written."""
    thing.save(folder / "again.json")
    return (folder / "again.json").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_read_and_saved_alike(kind: str, tmp_path: Path) -> None:
    write, read, use = KINDS[kind]
    for name, path in write(tmp_path).items():
        thing = read(path)
        assert said(thing, tmp_path) == path.read_bytes()
        use(thing, name)
        data = json.loads(path.read_bytes())
        canonical = json.dumps(
            {k: v for k, v in data.items() if k != "sha256"}, sort_keys=True, separators=(",", ":")
        )
        assert data["sha256"] == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_refused_or_changes_nothing(kind: str, tmp_path: Path) -> None:
    write, read, _ = KINDS[kind]
    chance, files = random.Random(5), list(write(tmp_path).values())
    whole = {path: path.read_bytes() for path in files}
    spoilt, harmless = tmp_path / "spoilt.json", 0
    for _ in range(300):
        path = chance.choice(files)
        content = bytearray(whole[path])
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        spoilt.write_bytes(content)
        try:
            thing = read(spoilt)
        except eagle.InputError:
            continue
        harmless += 1
        assert said(thing, tmp_path) == whole[path]
    assert harmless < 100


def test_the_digit_of_the_schema_is_no_way_around(tmp_path: Path) -> None:
    """3 and 2 differ in one bit, and files of schema 2 have no checksum."""
    for kind, schema in (("explanation", 3), ("plan", 3), ("background", 2)):
        write, read, _ = KINDS[kind]
        path = next(iter(write(tmp_path).values()))
        data = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**data, "schema": schema - 1}))
        with pytest.raises(eagle.InputError, match="which files of that age have not"):
            read(path)


# -- what a stranger wrote ----------------------------------------------------------------------


def deep(levels: int) -> Any:
    data: Any = 1
    for _ in range(levels):
        data = [data]
    return data


JUNK: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    -5.5,
    1e308,
    -1e308,
    5e-324,
    10**400,
    -(10**25),
    2**53 + 1,
    "",
    "x",
    "<f8",
    "<f4",
    "|O",
    "<U3",
    "M8[ns]",
    "category",
    "Int8",
    "string",
    "NA",
    "Float32",
    "Date",
    "datetime64[ns]",
    "period[D]",
    "interval",
    "complex128",
    "Sparse[float64]",
    "array",
    "pandas",
    "polars",
    "sparse",
    "AAAAAAAA",
    [],
    {},
    [1, 2],
    [None],
    [10**12],
    [[]],
    [-1, 2],
    {"Ridge": {}},
    {"a": 1},
    deep(8),
    deep(150),
]


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of nested data."""
    found = [path] if path else []
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        nested = isinstance(value, dict | list)
        found += places(value, (*path, key)) if nested else [(*path, key)]
    return found


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def bent(value: Any, chance: random.Random) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return chance.choice([-value, value + 1, value * 1000, value * 1e-3])
    if isinstance(value, list):
        return chance.sample(value, len(value))
    if isinstance(value, dict):
        return dict(zip(value, chance.sample(list(value.values()), len(value)), strict=True))
    if isinstance(value, str):
        return chance.choice([value[:-1], value + "=", "".join(chance.sample(value, len(value)))])
    return chance.choice([0, -1.0, 5])


def mutated(data: Any, chance: random.Random) -> Any:
    """One to three things deleted, put elsewhere, bent, doubled, or become something else."""
    data = copy.deepcopy(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        every = places(data)
        path = chance.choice(every)
        inner, key = at(data, path[:-1]), path[-1]
        match chance.randrange(5):
            case 0:
                del inner[key]
            case 1:
                inner[key] = copy.deepcopy(chance.choice(JUNK))
            case 2:
                inner[key] = copy.deepcopy(at(data, chance.choice(every)))
            case 3:
                inner[key] = bent(inner[key], chance)
            case 4 if isinstance(inner, list):
                inner.insert(key, copy.deepcopy(inner[key]))
            case _:
                inner["another"] = copy.deepcopy(inner[key])
    return data


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_stranger_seals_is_an_input_error_or_of_use(
    kind: str, seed: int, tmp_path: Path
) -> None:
    write, read, use = KINDS[kind]
    chance = random.Random(seed)
    whole = {n: json.loads(p.read_text("utf-8")) for n, p in write(tmp_path).items()}
    spoilt, sentences = tmp_path / "spoilt.json", list[str]()
    for _ in range(100):
        name = chance.choice(list(whole))
        spoilt.write_text(json.dumps(sealed.sealed(mutated(whole[name], chance))))
        try:
            thing = read(spoilt)
        except eagle.InputError as error:
            sentences.append(str(error))
            continue
        use(thing, name)
    assert 40 < len(sentences) < 100
    assert not any("\n" in sentence or len(sentence) > 400 for sentence in sentences)


def changed(data: dict[str, Any], **parts: Any) -> str:
    return json.dumps(sealed.sealed({**data, **parts}))


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_too_much(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, read, _ = KINDS[kind]
    path = next(iter(write(tmp_path).values()))
    text = path.read_text("utf-8")
    data = json.loads(text)
    endless = text.replace('"kind"', '"more": 1e999, "kind"', 1)
    for content, sentence in {
        text.replace('"kind"', '"more": NaN, "kind"', 1): "NaN where a finite number",
        text.replace('"kind"', '"more": -Infinity, "kind"', 1): "Infinity where a finite number",
        endless: "not finite",
        text.replace('"kind"', '"kind": "x", "kind"', 1): "the same key twice",
        text.replace('"kind"', '"more": ' + "9" * 5000 + ', "kind"', 1): "saved",
        "[" * 100_000: "saved by",
        "[" * 100_000 + "]" * 100_000: "saved by",
        '{"a":' * 2000 + "1" + "}" * 2000: "saved by",
        changed(data, more=deep(101)): "too many parts within parts",
        changed(data, more=deep(900)): "too many parts within parts",
        text.replace('"sha256"', '"sha265"', 1): "it has no 'sha256'",
        text[: len(text) // 2]: "not JSON",
        changed(data, schema=True): "schema|integer",
        changed(data, schema=99): "schema 99",
        changed(data, schema=1 if kind != "background" else 0): "schema",
        changed(data, kind="eagle something"): "saved by",
    }.items():
        path.write_text(content, encoding="utf-8")
        with pytest.raises(eagle.InputError, match=sentence):
            read(path)
    path.write_bytes(b"\xff\xfe" + text.encode("utf-16-le"))
    with pytest.raises(eagle.InputError, match="not JSON"):
        read(path)
    path.write_text(text, encoding="utf-8")
    read(path)
    monkeypatch.setattr(sealed, "LARGEST", len(text.encode()) - 1)
    with pytest.raises(eagle.InputError, match="more than"):
        read(path)
    monkeypatch.setattr(sealed, "LARGEST", 100)
    with pytest.raises(eagle.InputError, match="more than"):
        explanation("eagle").save(path)
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize(
    "shape",
    [
        [10**12, 10**12],
        [10**6, 10**6, 10**6],
        [-1, 4],
        [2**62, 4],
        [2**64, 0, 10**30],
        [10**400, 1],
        [1] * 40,
        [True, 4],
        [4.0, 1.0],
        "xx",
        {"0": 1},
        None,
    ],
)
def test_a_shape_that_does_not_fit_allocates_nothing(
    shape: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was decoded")

    (tmp_path / "p").mkdir()
    plan = json.loads(plans(tmp_path / "p")["eagle"].read_text())
    data = json.loads(explanation("eagle").to_json())
    monkeypatch.setattr(base64, "b64decode", refuse)
    plan["points"]["shape"] = data["evidence"]["points"]["shape"] = shape
    (tmp_path / "plan.json").write_text(json.dumps(sealed.sealed(plan)))
    for content in ({**plan["points"]}, data["evidence"]["points"]):
        with pytest.raises(ValueError, match=r"shape|should be|entries|dimensions"):
            sealed.unpack(content, 2)
    with pytest.raises(eagle.InputError, match="not a plan"):
        eagle.Plan.load(tmp_path / "plan.json")


def test_arrays_of_other_things_are_refused() -> None:
    packed = sealed.pack(np.arange(6.0).reshape(2, 3))
    assert np.array_equal(sealed.unpack(packed), np.arange(6.0).reshape(2, 3))
    for spoil in (
        {"dtype": "O"},
        {"dtype": "f8,f8"},
        {"dtype": "(3,)f8"},
        {"dtype": "<M8[s]"},
        {"dtype": 8},
        {"data": "*" * 64},
        {"data": "é" * 64},
        {"data": "A" * 64 + "="},
        {"data": 64},
    ):
        with pytest.raises(ValueError, match=r".+"):
            sealed.unpack({**packed, **spoil})


def test_half_a_character_can_be_saved(tmp_path: Path) -> None:
    table = pd.DataFrame({"c": ["\ud800", "b"] * 20, "x": np.arange(40.0)}, dtype=object)
    e = eagle.Explainer(lambda q: q["x"].astype(float), table, budget=30).explain(table.iloc[0])
    e.save(tmp_path / "e.json")
    assert eagle.Explanation.load(tmp_path / "e.json").to_dict() == e.to_dict()


# -- scores follow from the evidence ------------------------------------------------------------


def forged(name: str, factor: float) -> dict[str, Any]:
    """A file whose scores, intervals and posterior are larger, and sealed again."""
    data = json.loads(explanation(name).to_json())
    for feature in data["features"]:
        for part in ("score", "low", "high"):
            feature[part] = feature[part] and factor * feature[part]
    posterior = data["posterior"] or {}
    if "variance" in posterior:
        posterior["variance"] *= factor**2
    if "draws" in posterior:
        posterior["draws"] = sealed.pack(factor * sealed.unpack(posterior["draws"]))
    return sealed.sealed(data)


@pytest.mark.parametrize("factor", [3.0, -1.0, 1.01])
@pytest.mark.parametrize("name", METHODS)
def test_a_file_forged_throughout_is_found_out(name: str, factor: float) -> None:
    assert eagle.Explanation.from_dict(forged(name, 1.0)).note == ""
    with pytest.raises(eagle.InputError, match="other scores than its evidence gives"):
        eagle.Explanation.from_dict(forged(name, factor))


def surer(data: dict[str, Any]) -> None:
    data["posterior"]["variance"] /= 100
    for feature in data["features"]:
        for end in ("low", "high"):
            feature[end] = feature["score"] + (feature[end] - feature["score"]) / 10


@pytest.mark.parametrize(
    "forge",
    [
        surer,
        lambda d: d.update(prediction=d["prediction"] + 0.5),
        lambda d: d.update(local_prediction=d["local_prediction"] + 0.5),
        lambda d: d.update(intercept=d["intercept"] + 0.5),
        lambda d: d.update(intercept=None),
        lambda d: d.update(r2=0.99),
        lambda d: d.update(r2_held_out=0.99),
        lambda d: d.update(r2_held_out=None),
        lambda d: d.update(signed=False),
        lambda d: d["posterior"].update(df=1e6),
        lambda d: d["posterior"].update(kind="certain"),
        lambda d: d.update(posterior=None),
        lambda d: d["features"][0].update(low=d["features"][0]["score"]),
        lambda d: d["features"][0].update(high=None),
        lambda d: d["features"].reverse(),
        lambda d: d.update(surrogate={"Ridge": {}}),
        lambda d: d.update(surrogate={"Bootstrap": {"surrogate": {"Ridge": {}}}}),
    ],
)
def test_no_number_may_differ_from_what_the_evidence_gives(forge: Any) -> None:
    data = json.loads(explanation("eagle").to_json())
    forge(data)
    with pytest.raises(eagle.InputError, match=r"other scores than its evidence|no 'low'"):
        eagle.Explanation.from_dict(sealed.sealed(data))


def test_a_bootstrap_is_not_resampled_for_ever() -> None:
    data = json.loads(explanation("bootstrap").to_json())
    inner = data["surrogate"]["Bootstrap"]["surrogate"]
    for _ in range(4):
        inner = {"Bootstrap": {"surrogate": inner, "resamples": 1000}}
    for parts in ({"surrogate": inner}, {"resamples": 10**9}):
        data["surrogate"]["Bootstrap"].update(parts)
        with pytest.raises(eagle.InputError, match="other scores than its evidence"):
            eagle.Explanation.from_dict(sealed.sealed(data))


def test_rounding_is_no_forgery() -> None:
    """Another machine's last digits differ; a Gaussian process is tuned in steps."""
    for name, slack in (("eagle", 1e-8), ("unravel", 1e-5)):
        data = json.loads(explanation(name).to_json())
        largest = max(abs(f["score"]) for f in data["features"])
        for feature in data["features"]:
            for part in ("score", "low", "high"):
                feature[part] = feature[part] and feature[part] + slack * largest
        again = eagle.Explanation.from_dict(sealed.sealed(data))
        assert again.note == ""


def test_another_packages_scores_have_the_checksum_and_the_prediction() -> None:
    data = json.loads(explanation("shap").to_json())
    assert eagle.Explanation.from_dict(data).to_dict() == explanation("shap").to_dict()
    data["features"][0]["score"] += 1
    with pytest.raises(eagle.InputError, match="checksum does not fit"):
        eagle.Explanation.from_dict(data)
    data["prediction"] += 1
    with pytest.raises(eagle.InputError, match="other scores than its evidence"):
        eagle.Explanation.from_dict(sealed.sealed(data))


# -- files of before ----------------------------------------------------------------------------


def aged(data: dict[str, Any], schema: int) -> dict[str, Any]:
    """As an older version wrote it."""
    old = {k: v for k, v in data.items() if k not in ("sha256", "note")}
    return {**old, "schema": schema}


@pytest.mark.parametrize("name", ["eagle", "words", "shap"])
def test_an_old_explanation_says_that_it_was_not_checked(name: str, tmp_path: Path) -> None:
    old = aged(explanation(name).to_dict(), 2)
    old["features"] = [{**f, "score": f["score"] * 1.25} for f in old["features"]]
    read = eagle.Explanation.from_dict(old)
    assert read.warnings[0] == OLD
    assert OLD in str(read).replace("\n", " ") or "older version" in str(read)
    read.save(tmp_path / "again.json")
    again = eagle.Explanation.load(tmp_path / "again.json")
    assert again.warnings == read.warnings
    assert np.array_equal(again.scores, 1.25 * explanation(name).scores)
    if name == "eagle":  # fitted again, the scores follow from the evidence
        assert again.about(again.target).note == ""
    with pytest.raises(eagle.InputError, match="is not known"):
        eagle.Explanation.from_dict(sealed.sealed({**again.to_dict(), "note": "all is well"}))
    with pytest.raises(eagle.InputError, match="schema 1"):
        eagle.Explanation.from_dict(aged(old, 1))


def test_old_plans_and_backgrounds_can_be_read(tmp_path: Path) -> None:
    for kind, schema in (("plan", 2), ("background", 1)):
        write, read, _ = KINDS[kind]
        for path in write(tmp_path).values():
            whole = path.read_bytes()
            path.write_text(json.dumps(aged(json.loads(whole), schema)))
            assert said(read(path), tmp_path) == whole


def test_without_scikit_learn_scores_are_shown_and_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explanation("tilia").save(tmp_path / "e.json")
    with monkeypatch.context() as bare:
        bare.setitem(sys.modules, "sklearn.tree", None)
        read = eagle.Explanation.load(tmp_path / "e.json")
    assert "needs scikit-learn" in read.warnings[0]
    read.save(tmp_path / "again.json")
    assert eagle.Explanation.load(tmp_path / "again.json").note == ""
