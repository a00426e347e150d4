"""Names say what a thing is or does: functions are verbs or nouns, constants say of what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import eagle

ROOT = Path(eagle.__file__).parent

IRREGULAR = (
    "asked begun bent bound built chosen dealt done drawn driven fallen felt forgotten found given "
    "gone grown held hidden kept known laid left lit lost made meant met paid risen said seen sent "
    "shaken shown sold sought spent spoken spun stolen struck sunk swept taken taught thought "
    "thrown told torn understood woken won worn wound woven written"
)
"""Participles that do not end in -ed."""

NOT_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"})

PREPOSITIONS = "apart at by for from in of off on out to up with"

FIELD = {
    "balanced": "whether rows are balanced: a word of the design of experiments",
    "calibrated": "the name of the peer, Calibrated Explanations",
    "held_out_r2": "the field's own name",
    "hushed": "a context: with hushed(): …",
    "nested": "whether plans are nested: a word of Sobol' sequences",
    "planned": "whether a method plans before it asks",
    "recorded": "a constructor: a model that is recorded",
    "seeded": "a context: with seeded(3): …",
    "shared": "whether arrays are shared",
    "signed": "whether scores have a sign",
}
"""Participles that are the field's own words, or say whether, or make what they name."""

ADJECTIVES = (
    "ABOVE ABSENT AGAIN ALIKE ANEW APART AROUND BETTER CALM CLEAR CURVED DEEP DEEPEST DENIED DRAWN "
    "ENOUGH EXACT FADED FAINT FAR FEW FEWEST FINER FREE GOOD HIDDEN HIGH IDLE KEPT KNOWN LARGE "
    "LARGEST LAST LEAST LIKELY LISTED LITTLE LONG LONGEST LOUD LOW LOWER LOWEST MANY MET MISSED "
    "MORE MOST MOVED NARROW NEW OFTEN ONLY OUTSIDE OWN PAIRED PALE PLANNED QUIET RARE RAREST SAID "
    "SEEN SEVERAL SHARP SHORT SHORTEST SHOWN SLIGHT SMALL SMALLEST SOFT SOME SOON SPARE STEPPED "
    "STOPPED STRIPED STRONGEST SURE SUREST SURVEYED TAKEN TALL TAME THIN TINY TOLD UNKNOWN UNSEEN "
    "UNSURE WIDE WIDER WIDEST WORTH"
)
"""Words that say how, not of what."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def is_participle(name: str) -> bool:
    """Whether a name is a participle alone, or with a preposition; one before a noun is fine."""
    first, *rest = name.strip("_").split("_")
    if first in NOT_PARTICIPLES or (rest and rest[0] not in PREPOSITIONS.split()):
        return False
    return first in IRREGULAR.split() or (first.endswith("ed") and len(first) > 4)


def test_functions_are_verbs_or_nouns() -> None:
    odd = [
        f"{module}: {node.name}"
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_participle(node.name)
        and node.name.lstrip("_") not in FIELD
    ]
    assert not odd, "\n".join(odd)


def constants(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        for target in targets:
            yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


def test_constants_say_of_what() -> None:
    odd = [
        f"{module}: {name}"
        for module, tree in modules()
        for name in constants(tree)
        if name.strip("_") in ADJECTIVES.split()
    ]
    assert not odd, "\n".join(odd)


def test_each_exception_is_needed() -> None:
    names = {
        node.name.lstrip("_")
        for _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert set(FIELD) <= names
