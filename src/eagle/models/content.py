"""A digest of what a value holds: the same for equal values, in every process.

A pickle says more than what is held: which equal strings are one object, in what order a set is
walked, the padding of records, how a path was joined, where a tensor lies. So the digest asks a
value for its parts as a pickle does, and is made of theirs.
"""

from __future__ import annotations

import copyreg
import marshal
import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum
from hashlib import sha256
from pathlib import PurePath
from types import EllipsisType, FunctionType, NoneType, NotImplementedType
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

PROTOCOL: Final = 5
"""What values are asked for their parts by: the newest protocol of pickles."""

PLAIN: Final = frozenset({NoneType, bool, int, float, str, bytes})
"""Types whose values are their content, and no objects with parts."""

NO_REFERENCES: Final = 2
"""A version of `marshal` that writes equal values alike, whether or not they are one object."""

NUMBERS: Final = "biufcmMSUV"
"""The kinds of numpy dtypes whose elements are their bytes."""

MAX_DEPTH: Final = 10_000
"""What is nested deeper most likely never ends."""

MOST_RETURNS: Final = 20_000
"""How often parts that lead back to a whole are walked again."""

NO_CONTENT: Final = frozenset(
    {"_stop_words_id", "refit_time_", "cv_results_", "_deprecated_key_to_warnings"}
)
"""Attributes of scikit-learn that answer nothing: addresses, times, what a pickle drops."""

NEIGHBOURS: Final = ("KDTree", "BallTree")
"""Trees of scikit-learn that count how often they are asked."""


def content_digest(value: Any) -> str:
    """The digest of what a value holds, in hexadecimal.

    Equal values have the same, in any process: dicts and sets have no order here, as for `==`, an
    `OrderedDict` has one. Functions and classes are known by their names. What cannot be pickled
    raises what its pickle would raise.
    """
    return _Walk().over(value).hex()


@final
class _Opened:
    """A value whose parts are walked: its label, its parts, and the digests that are known."""

    __slots__ = ("digests", "label", "loops", "ordered", "parts", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.label, parts, self.ordered = _open(value)
        self.parts = iter(parts)
        self.digests: list[bytes] = []
        self.loops = False

    def digest(self) -> bytes:
        return _hash(self.label, self.digests if self.ordered else sorted(self.digests))


@final
class _Walk:
    """A walk over all parts. A part that has no way back to its whole is walked once."""

    def __init__(self) -> None:
        self._done: dict[int, bytes] = {}
        self._seen: dict[int, Any] = {}  # the values, so that their ids stay their own
        self._returns = 0

    def over(self, value: Any) -> bytes:
        path = [_Opened(value)]
        depths = {id(value): 0}
        while True:
            top = path[-1]
            for part in top.parts:
                known = self._digest_of_known(part)
                if known is None and (depth := depths.get(id(part))) is not None:
                    known = _hash(b"back %d" % (len(path) - depth), ())
                    top.loops = True
                if known is None:
                    depths[id(part)] = len(path)
                    path.append(self._open(part, len(path)))
                    break
                top.digests.append(known)
            else:
                path.pop()
                del depths[id(top.value)]
                digest = top.digest()
                if not path:
                    return digest
                if not top.loops:
                    self._done[id(top.value)] = digest
                path[-1].loops |= top.loops
                path[-1].digests.append(digest)

    def _digest_of_known(self, part: Any) -> bytes | None:
        if type(part) in PLAIN:
            return _hash(marshal.dumps(part, NO_REFERENCES), ())
        return self._done.get(id(part))

    def _open(self, part: Any, depth: int) -> _Opened:
        self._returns += id(part) in self._seen
        if depth > MAX_DEPTH or self._returns > MOST_RETURNS:
            raise ValueError("the parts of this value lead back to it in too many ways")
        self._seen[id(part)] = part
        return _Opened(part)


def _hash(label: bytes, digests: Iterable[bytes]) -> bytes:
    return sha256(b"".join((b"%d " % len(label), label, *digests))).digest()


def _open(value: Any) -> tuple[bytes, Iterable[Any], bool]:
    """A value as a label and parts, and whether these have an order.

    Containers of plain values are all label, which is faster.
    """
    kind = type(value)
    if kind in PLAIN:
        return marshal.dumps(value, NO_REFERENCES), (), True
    if kind is list or kind is tuple:
        if PLAIN.issuperset(map(type, value)):
            return b"plain " + marshal.dumps(value, NO_REFERENCES), (), True
        return kind.__name__.encode(), value, True
    if kind is dict:
        if _sorts(value) and PLAIN.issuperset(map(type, value.values())):
            return b"plain dict " + marshal.dumps(sorted(value.items()), NO_REFERENCES), (), True
        return b"dict", value.items(), False
    if kind is set or kind is frozenset:
        if _sorts(value):
            name = f"plain {kind.__name__} ".encode()
            return name + marshal.dumps(sorted(value), NO_REFERENCES), (), True
        return kind.__name__.encode(), value, False
    if kind is np.ndarray or kind is np.memmap or isinstance(value, np.generic):
        return _array(np.asarray(value), b"array" if isinstance(value, np.ndarray) else b"scalar")
    if kind in (NoneType, EllipsisType, NotImplementedType):
        return b"name " + repr(value).encode(), (), True
    if isinstance(value, type | FunctionType):
        return _by_name(value, value.__qualname__)
    if kind is bytearray or kind is pickle.PickleBuffer:
        return kind.__name__.encode() + b" " + memoryview(value).tobytes(), (), True
    return _special(value) or _by_reduction(value)


def _sorts(keys: Iterable[Any]) -> bool:
    """Whether keys are all texts, or all whole numbers."""
    return set(map(type, keys)) in ({str}, {int})


def _array(array: NDArray[Any], what: bytes) -> tuple[bytes, Iterable[Any], bool]:
    """An array by its values: records by their fields, since what lies between them is chance."""
    label = b"%b %b " % (what, repr(array.shape).encode())
    names = array.dtype.names
    if names is not None:
        return label, [part for name in names for part in (name, array[name])], True
    if array.dtype.kind not in NUMBERS:
        return label + str(array.dtype).encode(), (array.ravel().tolist(),), True
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return label + little.dtype.str.encode(), (little.tobytes(),), True


def _by_name(value: Any, name: str) -> tuple[bytes, Iterable[Any], bool]:
    """What a pickle holds by its name alone."""
    pickle.dumps(value, protocol=PROTOCOL)  # raises if its name does not lead to it
    module = getattr(value, "__module__", None)
    return b"name", (type(value).__name__, module, name), True


def _special(value: Any) -> tuple[bytes, Iterable[Any], bool] | None:
    """Values whose pickles differ between versions of Python, or between equal ones."""
    kind = type(value)
    if isinstance(value, Enum) and value.name is not None:
        return b"member", (kind, value.name), True
    if isinstance(value, PurePath) and kind.__module__.split(".")[0] == "pathlib":
        return b"path", (kind.__name__, str(value)), True
    if isinstance(value, set | frozenset):
        return b"set", (kind, set(value), getattr(value, "__dict__", None)), True
    return _foreign(value)


def _foreign(value: Any) -> tuple[bytes, Iterable[Any], bool] | None:
    """Objects of other packages whose pickles hold chance: counts, times, addresses."""
    kind = type(value)
    if kind.__module__.startswith("sklearn.neighbors.") and kind.__name__.startswith(NEIGHBOURS):
        return b"neighbours", (kind, *map(np.asarray, value.get_arrays())), True
    catboost: Any = sys.modules.get("catboost")
    if catboost is not None and isinstance(value, catboost.CatBoost) and value.is_fitted():
        bare = value.copy()
        known = dict(bare.get_metadata())
        for name in known:
            del bare.get_metadata()[name]
        for name in ("model_guid", "train_finish_time"):
            known.pop(name, None)
        return b"catboost", (kind, known, bare.__getstate__()), True
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        own = value.detach().cpu().clone(memory_format=torch.contiguous_format)
        raw = own.reshape(-1).view(torch.uint8).numpy()
        return b"tensor", (kind, str(value.dtype), tuple(value.shape), raw.tobytes()), True
    return None


def _by_reduction(value: Any) -> tuple[bytes, Iterable[Any], bool]:
    """Any other object, by what its pickle would make it of."""
    reduce = copyreg.dispatch_table.get(type(value))
    made = value.__reduce_ex__(PROTOCOL) if reduce is None else reduce(value)
    if isinstance(made, str):
        return _by_name(value, made)
    parts = [*made, None, None, None, None][:6]  # function, arguments, state, members, items, …
    if isinstance(parts[2], dict):
        parts[2] = {name: part for name, part in parts[2].items() if name not in NO_CONTENT} or None
    if parts[3] is not None:
        parts[3] = list(parts[3])
    if parts[4] is not None:
        parts[4] = list(parts[4]) if isinstance(value, OrderedDict) else dict(parts[4])
    return b"object", parts, True
