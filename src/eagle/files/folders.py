"""The explanations of a whole data set: a folder of part files, and a manifest that lists them.

Each part is what `Explanations.save` writes. Parts are read when they are looked at.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, final, overload

import numpy as np
from numpy.typing import NDArray

from eagle.explanation import Explanation
from eagle.explanations import Explanations, LazyExplanations, joined
from eagle.files import atomic, many, sealed
from eagle.files.sealed import (
    FAULTS,
    Format,
    flag,
    listed,
    mapping,
    read_integer,
    text,
    why,
)
from eagle.targets import Target
from eagle.totals import Block, Totals, totals
from eagle.types import InputError

FORMAT: Final = Format("eagle data set", oldest=1, schema=1, sealed_since=1)

MANIFEST: Final = "manifest.json"

PART: Final = b"eagle part"
"""The metadata key under which a part file says which part of which run it is."""

KEPT: Final = 2
"""The number of parts that are kept in memory: those last looked at."""


@final
@dataclass(frozen=True)
class DatasetPart:
    """Rows `start` up to, not including, `end` of a file of the source.

    `first` is the number of its first row among the rows of all files. `digest` is that of the run,
    so that no part of another run is taken for it.
    """

    number: int
    file: str
    start: int
    end: int
    first: int
    digest: str

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"part-{self.number:07}.parquet"

    @property
    def told(self) -> str:
        """The rows and the file of the part, as text."""
        return f"rows {self.start:,} to {self.end - 1:,} of {self.file}"

    def said(self) -> dict[bytes, bytes]:
        """The metadata of its file: the run's digest, and the part's number and rows."""
        return {PART: json.dumps([self.digest, self.number, self.start, self.end]).encode()}

    def there(self, folder: Path) -> bool:
        """Whether its file is there, is of this run, and has all rows by its footer."""
        from pyarrow import ArrowException, parquet

        try:
            footer = parquet.read_metadata(folder / self.name)
            words = (footer.metadata or {}).get(PART)
        except (*FAULTS, OSError, ArrowException):
            return False
        return bool(footer.num_rows == len(self) and words == self.said()[PART])


@final
@dataclass(frozen=True)
class Manifest:
    """What a run explains, and how: `config` decides its results, together with the files.

    `files` are the names of the source's files and how many rows each has. `versions` are those of
    the packages that began the run.
    """

    config: Mapping[str, Any]
    files: Sequence[tuple[str, int]]
    part_rows: int
    versions: Mapping[str, str]

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.files)

    @cached_property
    def digest(self) -> str:
        """The digest of all that decides the results."""
        return sealed.checksum(
            {"config": self.config, "files": list(self.files), "part_rows": self.part_rows}
        )

    @cached_property
    def parts(self) -> tuple[DatasetPart, ...]:
        out: list[DatasetPart] = []
        first, size = 0, self.part_rows
        for file, rows in self.files:
            for start in range(0, rows, size):
                end = min(start + size, rows)
                out.append(DatasetPart(len(out), file, start, end, first + start, self.digest))
            first += rows
        return tuple(out)

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder."""
        data = FORMAT.seal(
            {
                "digest": self.digest,
                "rows": self.rows,
                "parts": len(self.parts),
                "part_rows": self.part_rows,
                "files": [list(one) for one in self.files],
                "config": dict(self.config),
                "versions": dict(self.versions),
            }
        )
        told = json.dumps(data, indent=1, allow_nan=False)
        atomic.put(folder / MANIFEST, lambda beside: sealed.write(beside, told))

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder."""
        path = folder / MANIFEST
        try:
            data = FORMAT.opened(sealed.parse(sealed.load(path)))
            files = [(text(name), read_integer(rows)) for name, rows in map(listed, data["files"])]
            versions = {text(k): text(v) for k, v in mapping(data["versions"]).items()}
            made = cls(mapping(data["config"]), files, read_integer(data["part_rows"], 1), versions)
            if made.digest != data["digest"]:
                raise ValueError("its digest does not fit")
        except FileNotFoundError:
            raise InputError(f"{folder} holds no explanations: it has no {MANIFEST}") from None
        except FAULTS as error:
            raise InputError(
                f"{path} is not the manifest of a run of this version of eagle: {why(error)}"
            ) from None
        return made


def load(folder: Path) -> Explanations:
    """The explanations of a run that is finished. Its parts are read when they are looked at."""
    manifest = Manifest.read(folder)
    names = {path.name for path in folder.iterdir()}
    missing = [part for part in manifest.parts if part.name not in names]
    if missing:
        raise InputError(
            f"{folder} is not finished: {len(missing):,} of {len(manifest.parts):,} parts are not "
            "there. Give the same command again, or load a part by itself, such as "
            f"{manifest.parts[0].name}"
        )
    parts = Folder(folder, manifest.parts)
    return Explanations(
        LazyExplanations(range(manifest.rows), parts.one),
        Lazy(manifest.rows, lambda i: parts.part(i)[0].ids[parts.part(i)[1]]),
        Lazy(manifest.rows, lambda i: parts.part(i)[0].targets[parts.part(i)[1]]),
        **parts.common,
        parts=parts,
    )


@final
class Lazy(Sequence[Any]):
    """Values of rows that are read when they are looked at."""

    def __init__(self, size: int, look: Callable[[int], Any]) -> None:
        self._size, self._look = size, look

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, i: int) -> Any: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Any]: ...
    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return [self._look(j) for j in range(*i.indices(self._size))]
        return self._look(range(self._size)[i])


@final
class Folder:
    """The parts of a run, in a folder."""

    def __init__(self, folder: Path, parts: Sequence[DatasetPart]) -> None:
        self._folder, self._parts = folder, parts
        self._starts = [part.first for part in parts]
        self._rows = parts[-1].first + len(parts[-1])
        self._load = lru_cache(KEPT)(self._read)
        self._last: tuple[int, Totals] | None = None

    def _read(self, number: int) -> Explanations:
        part = self._parts[number]
        loaded = many.load(self._checked(part))
        if len(loaded) != len(part):
            raise self._damaged(part, f"it has {len(loaded):,} rows, not {len(part):,}")
        return loaded

    def _checked(self, part: DatasetPart) -> Path:
        path = self._folder / part.name
        if not part.there(self._folder):
            raise self._damaged(part, "it is damaged, or of another run")
        return path

    def _damaged(self, part: DatasetPart, what: str) -> InputError:
        return InputError(
            f"{self._folder / part.name} is not what was written there: {what}. Delete it, and "
            "give the same command again to make it anew"
        )

    # -- single rows ----------------------------------------------------------------------------

    def part(self, i: int) -> tuple[Explanations, int]:
        """The part that row i is in, and its place there."""
        number = bisect_right(self._starts, i) - 1
        return self._load(number), i - self._starts[number]

    def one(self, i: int) -> Explanation:
        part, at = self.part(i)
        return part[at]

    def take(self, index: NDArray[np.intp]) -> Explanations:
        """Some of the rows, in memory. Each part is read once."""
        if not len(index):
            raise InputError("there are no explanations to put together")
        rows = np.arange(self._rows)[index]
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        taken, places = [], []
        for number in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == number)
            taken.append(self._load(number).take(rows[here] - self._starts[number]))
            places.append(here)
        order = np.argsort(np.concatenate(places), kind="stable")
        return joined(taken).take(order)

    # -- all rows -------------------------------------------------------------------------------

    @cached_property
    def _head(self) -> Mapping[str, Any]:
        head: Mapping[str, Any] = self._look(self._parts[0], _head_of, ["id"])
        return head

    def _look(self, part: DatasetPart, look: Callable[[Any], Any], columns: list[str]) -> Any:
        return many.opened(self._checked(part), look, columns)

    @cached_property
    def common(self) -> dict[str, Any]:
        """What all rows have in common."""
        return many.common_of(self._head)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        if flag(self._head["ragged"]):
            return None
        return tuple(text(name) for name in listed(self._head["names"]))

    @cached_property
    def about(self) -> tuple[Target, ...]:
        texts: dict[str, None] = {}
        for part in self._parts:
            texts |= dict.fromkeys(self._look(part, _targets, ["target"]))
        return tuple(map(many.target_of, texts))

    def totals(self, k: int | None = None) -> Totals:
        """The totals of all rows, by one pass over the files. The last are given if k is None."""
        if self._last is None or k not in (None, self._last[0]):
            self._last = k or 1, self._summed(k or 1)
        return self._last[1]

    def _summed(self, k: int) -> Totals:
        if self.names is None:
            raise InputError(
                "these explanations have different features, as texts and images do: nothing can "
                "be averaged"
            )
        return totals(self._blocks(self.names), self._rows, k)

    def _blocks(self, names: tuple[str, ...]) -> Iterator[Block]:
        columns = [
            many.place(part, k, name) for part in ("score", "scale") for k, name in enumerate(names)
        ]

        def block(table: Any) -> tuple[Block, Any]:
            head = many.head_of(table.schema)
            if flag(head["ragged"]) or tuple(head["names"]) != names:
                raise ValueError("it has other features than the first part")
            scores, scale = (many.grid(table, names, part) for part in ("score", "scale"))
            df = np.asarray(table.column("df").to_numpy(), dtype=np.float64)
            return Block(scores, scale, df), head["intervals"]

        for part in self._parts:
            made, kind = self._look(part, block, ["df", *columns])
            if not kind or kind != self._head["intervals"]:
                raise InputError(
                    f"the explanations of {self.common['method']} have no standard errors of one "
                    "kind, so nothing is known of how sure their mean is: their scores are in "
                    "explanations.scores"
                )
            yield made


def _head_of(table: Any) -> Mapping[str, Any]:
    return many.head_of(table.schema)


def _targets(table: Any) -> list[str]:
    return [text(one) for one in table.column("target").unique().to_pylist()]
