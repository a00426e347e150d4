"""One saved thing in one file: JSON with its kind, the version of its format, and a seal.

The seal is a digest over everything else. It finds all damage; it does not find a forger, who can
write another one. With a `key` the seal is an HMAC, which only who has the key can write.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any, Final

from eagle._values.checks import path_of
from eagle._values.text import short_repr
from eagle.errors import EagleError, InputError, MissingExtraError
from eagle.io import atomic
from eagle.io.values import Classes, decode, encode

FORMAT: Final = 4
"""The version of what is written. Files of other versions are refused."""

MAX_BYTES: Final = 512 << 20
"""The largest size of a file, in bytes."""

MAX_PARTS: Final = (1 / 6, 1 << 18)
"""The most parts of a file, such as numbers of a list: so many for each of its bytes, and so many
beside. What is written has fewer, since each stands on a line of its own."""

DIGEST: Final = "sha256"
KEYED: Final = "hmac-sha256"
"""The keys of the two seals. A file has one of them."""

VALUE: Final = "saved"
"""The key of what is read. All that stands beside it is for people and other programs."""

FAULTS: Final = (
    EagleError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
    MemoryError,
)
"""All errors that reading a damaged or forged file may raise."""

Key = bytes | str | None


def dump(
    kind: str, value: Any, said: Mapping[str, Any] | None = None, key: Key = None
) -> dict[str, Any]:
    """A value as plain data under a seal; `said` is what else the file says, for people."""
    data = {"kind": f"eagle {kind}", "format": FORMAT, **(said or {}), VALUE: encode(value)}
    return {**data, name_of_seal(key): seal_of(data, key)}


def write(path: str | PathLike[str], data: Mapping[str, Any]) -> None:
    """Write data into a file, whole or not at all."""
    content = text_of(data).encode("utf-8")
    if len(content) > MAX_BYTES:
        raise InputError(f"{path} would have more than {MAX_BYTES >> 20} MiB: it cannot be saved")
    atomic.put(path_of(path), lambda beside: beside.write_bytes(content))


def text_of(data: Any, indent: int | None = 1) -> str:
    """Data as JSON: letters as they are, unless half of one has no bytes."""
    said = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
    if writable(said) != said:  # a lone surrogate, which only an escape can hold
        said = json.dumps(data, indent=indent, allow_nan=False)
    return said


def load(
    path: str | PathLike[str], classes: Classes, key: Key = None, kind: str | None = None
) -> Any:
    """The value in a file, if it is of a kind; what does not fit is an `InputError`."""
    path = path_of(path)
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    return value_in(content, classes, key, kind, fspath(path))


def value_in(
    content: Any, classes: Classes, key: Key = None, kind: str | None = None, name: str = "this"
) -> Any:
    """The value in a text, in bytes or in plain data; `name` is what sentences call them."""
    try:
        data = parse(content) if isinstance(content, str | bytes) else content
        return value_of(data, classes, key, kind)
    except MissingExtraError:
        raise
    except FAULTS as error:
        what = "a file" if kind is None else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
        raise InputError(f"{name} is not {what} saved by eagle: {why(error)}") from None


def parse(content: str | bytes) -> Any:
    """Parse JSON. NaN, infinity and duplicate keys are refused."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES >> 20} MiB")
    parts: Any = ",[{" if isinstance(content, str) else (b",", b"[", b"{")
    if sum(map(content.count, parts)) > MAX_PARTS[0] * len(content) + MAX_PARTS[1]:
        raise ValueError("it has far more parts than a file of its size")
    said = content.decode("utf-8") if isinstance(content, bytes) else content
    return json.loads(said, object_pairs_hook=_once, parse_constant=_no_constant)


def value_of(data: Any, classes: Classes, key: Key = None, kind: str | None = None) -> Any:
    """The value in a file's data, if it is of a kind, of this version, and undamaged."""
    check(data, key, kind)
    value = decode(data[VALUE], classes)
    made = next((classes[name] for name in classes if _kind(name) == data["kind"]), None)
    if kind is None and made is None:
        raise ValueError(f"it is an {data['kind']}, which is not read by itself"[:80])
    if made is not None and not isinstance(value, made):
        raise ValueError("it holds something else than it says")
    return value


def _kind(name: str) -> str:
    """What a file of a class calls itself."""
    return f"eagle {' '.join(re.findall('[A-Z][a-z]*', name)).lower()}"


def check(data: Any, key: Key = None, kind: str | None = None) -> None:
    """Refuse data that are of another kind or version, or whose seal does not fit."""
    if not isinstance(data, Mapping) or not str(data.get("kind")).startswith("eagle "):
        raise ValueError("it is something else")
    if kind is not None and data["kind"] != f"eagle {kind}":
        raise ValueError(f"it is an {data['kind']}"[:60])
    if "format" not in data:
        raise ValueError(
            "it was saved by an older version, whose files are not read any more: make it again, "
            "or read it with that version"
        )
    if data["format"] != FORMAT:
        raise ValueError(
            f"it has format {short_repr(data['format'], 20)}, and only {FORMAT} is read"
        )
    name = name_of_seal(key)
    if name not in data:
        raise ValueError(wrong_seal(key))
    rest = {k: v for k, v in data.items() if k != name}
    if not hmac.compare_digest(str(data[name]), seal_of(rest, key)):
        raise ValueError(DAMAGED if key is None else FORGED)


DAMAGED: Final = "its digest does not fit: something in it was changed"
FORGED: Final = "it was changed, or sealed with another key"


def wrong_seal(key: Key) -> str:
    """What to say where a file has the other seal, or none."""
    if key is None:
        return "it has no digest; if it was sealed with a key, give that key"
    return "it was not sealed with a key"


def name_of_seal(key: Key) -> str:
    return DIGEST if key is None else KEYED


def seal_of(data: Mapping[str, Any], key: Key = None) -> str:
    """The seal of data: of their JSON with sorted keys and no spaces."""
    said = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    made = hasher(key)
    made.update(said.encode("ascii"))
    return str(made.hexdigest())


def hasher(key: Key) -> Any:
    """What a seal is computed by."""
    if key is None:
        return hashlib.sha256()
    if not isinstance(key, str | bytes) or not key:
        raise InputError(f"a key is a text or bytes, not {short_repr(key)}")
    secret = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key
    return hmac.new(secret, digestmod=hashlib.sha256)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("it has the same key twice")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"it has {name} where a finite number should be")


def why(error: BaseException) -> str:
    """What is wrong in a file, as text."""
    if isinstance(error, KeyError):
        return (
            f"it has no {short_repr(error.args[0], 40)}" if error.args else "something is missing"
        )
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "it is not JSON"
    if isinstance(error, RecursionError):
        return "it has too many parts within parts"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= 160 else said[:159] + "…"


def writable(text: str) -> str:
    """Text with lone surrogates, which UTF-8 cannot hold, replaced by their numbers."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def null(value: float) -> float | None:
    """The value, or None if it is not finite, since JSON has no such numbers."""
    return value if math.isfinite(value) else None


def plain_json(value: Any) -> Any:
    """A label or value for people: as JSON holds it, else as text."""
    if isinstance(value, tuple):
        return [plain_json(v) for v in value]
    said = encode(value)
    return str(value) if isinstance(said, dict | list) else said
