"""Methods by their names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eagle
from eagle import InputError, methods, peers
from eagle._values.names import METHODS, PARTS, import_from, method_by_name

X = np.random.default_rng(0).normal(size=(60, 3))


def model(X: np.ndarray) -> np.ndarray:
    return X @ [1.0, -2.0, 0.5]


def test_every_method_that_is_a_value_has_a_name() -> None:
    values = [getattr(module, name) for module in (methods, peers) for name in module.__all__]
    named = [method_by_name(name) for name in METHODS]
    assert {id(v) for v in values if hasattr(v, "budget")} == {id(method) for method in named}
    assert len({method.name for method in named}) == len(METHODS)


def test_a_name_is_as_good_as_the_value() -> None:
    by_name = eagle.Explainer(model, X, method="glime", budget=50)
    assert by_name.method is peers.GLIME
    assert by_name.with_options("eagle-paper").method is methods.EAGLE_PAPER
    both = eagle.compare_methods(by_name, ["lime", methods.EAGLE], X[0], 1, progress=False)
    assert [one.first.method for one in both.methods] == ["LIME", "EAGLE"]
    alone = eagle.compare_methods(by_name, "lime", X[0], 1, progress=False)
    assert np.array_equal(alone.methods[0].first.scores, both.methods[0].first.scores)


@pytest.mark.parametrize("name", ["LIME", "", "eagle.methods.EAGLE", "lime "])
def test_another_name_is_answered_by_all_names(name: str) -> None:
    with pytest.raises(InputError, match=r"the names are default, eagle, .*, lime, .*, unravel"):
        eagle.Explainer(model, X, method=name)
    explainer = eagle.Explainer(model, X)
    with pytest.raises(InputError, match=r"the names are default, eagle, .*, lime, .*, unravel"):
        eagle.compare_methods(explainer, ["lime", name], X[0], progress=False)


def test_parts_in_files_are_what_their_names_say() -> None:
    assert {name: import_from(place).__name__ for name, place in PARTS.items()} == {
        name: name for name in PARTS
    }


def test_peers_are_imported_when_they_are_named(tmp_path: Path) -> None:
    """An explanation by a peer is read by a process that never imported one."""
    saved = eagle.Explainer(model, X, method="baylime", budget=50).explain(X[0])
    saved.save(tmp_path / "e.json")
    code = (
        "import sys, eagle;"
        "loaded = lambda: [m for m in sys.modules if m.startswith('eagle.peers.')];"
        "before = loaded();"
        f"e = eagle.load({str(tmp_path / 'e.json')!r});"
        "import json; print(json.dumps([before, 'eagle.peers.baylime' in loaded(), e.method]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], True, "BayLIME"]
