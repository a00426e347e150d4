"""The explanations of a whole data set: a folder of part files, and a manifest that lists them.

Each part is what `Explanations.save` writes. When all are there, the manifest lists their seals.
Parts are read, and checked against it, when they are looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from eagle._engine.targets import Target
from eagle._questions.totals import Block, Totals, totals
from eagle.errors import InputError
from eagle.explanation import Explanation
from eagle.explanations import Explanations, LazyExplanations, concatenate
from eagle.io import container, parquet
from eagle.io.container import FAULTS, Key, why
from eagle.io.values import encode, make, values_of
from eagle.saved import many
from eagle.saved.classes import CLASSES

KIND: Final = "data set"

MANIFEST: Final = "manifest.json"

MAX_PARTS_IN_MEMORY: Final = 2
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
    def label_of_rows(self) -> str:
        """The rows and the file of the part, as text."""
        return f"rows {self.start:,} to {self.end - 1:,} of {self.file}"

    @property
    def label(self) -> tuple[str, int, int, int]:
        """What its file says of it: the run's digest, and the part's number and rows."""
        return self.digest, self.number, self.start, self.end

    def there(self, folder: Path) -> bool:
        """Whether its file is there, undamaged, and of this run."""
        try:
            return parquet.read(folder / self.name, self._fits, ["id"])
        except (InputError, OSError):
            return False

    def _fits(self, table: Any, head: Mapping[str, Any]) -> bool:
        said = parquet.value_of(head, CLASSES)["part"]
        return len(table) == len(self) and said == self.label


@final
@dataclass(frozen=True)
class Manifest:
    """What a run explains, and how: `config` decides its results, together with the files.

    `files` are the names of the source's files and how many rows each has. `versions` are those of
    the packages that began the run. `seals` are those of all parts, once all are there.
    """

    config: Mapping[str, Any]
    files: Sequence[tuple[str, int]]
    part_rows: int
    versions: Mapping[str, str]
    seals: tuple[str, ...] = field(default=(), repr=False)

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.files)

    @cached_property
    def digest(self) -> str:
        """The digest of all that decides the results."""
        return container.seal_of(encode([self.config, self.files, self.part_rows]))

    @property
    def count(self) -> int:
        """How many parts there are."""
        return sum(-(-rows // self.part_rows) for _, rows in self.files)

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
        said = {"rows": self.rows, "parts": self.count}
        container.write(folder / MANIFEST, container.dump(KIND, values_of(self), said))

    def finish(self, folder: Path) -> None:
        """Write it with the seals of all parts, if all are there."""
        if not all((folder / part.name).exists() for part in self.parts):
            return
        seals = [parquet.seal_in((folder / part.name).read_bytes()) for part in self.parts]
        replace(self, seals=tuple(seals)).write(folder)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder."""
        path = folder / MANIFEST
        try:
            made: Manifest = make(cls, container.load(path, {}, None, KIND))
            fewest = min(made.part_rows, made.rows, *(1 + rows for _, rows in made.files))
            if fewest < 1 or len(made.seals) not in (0, made.count):
                raise ValueError("its parts do not fit its rows")
        except FileNotFoundError:
            raise InputError(f"{folder} holds no explanations: it has no {MANIFEST}") from None
        except InputError:
            raise
        except FAULTS as error:
            raise InputError(f"{path} is not a {KIND} saved by eagle: {why(error)}") from None
        return made


def load(folder: Path, key: Key = None) -> Explanations:
    """The explanations of a run that is finished. Its parts are read when they are looked at."""
    if key is not None:
        raise InputError(
            f"{folder} was not sealed with a key, since no run of a data set is: to seal its "
            "explanations, save what is read of it without a key to a file"
        )
    manifest = Manifest.read(folder)
    names = [path.name for path in folder.glob("part-*.parquet")]
    if not manifest.seals or not {part.name for part in manifest.parts} <= set(names):
        missing = max(manifest.count - len(names), 0)
        raise InputError(
            f"{folder} is not finished: {missing:,} of {manifest.count:,} parts are not there. "
            "Give the same command again, or load a part by itself, such as part-0000000.parquet"
        )
    parts = Folder(folder, manifest)
    return Explanations(
        LazyExplanations(range(manifest.rows), parts.one),
        LazyExplanations(range(manifest.rows), lambda i: parts.value(i, "ids")),
        LazyExplanations(range(manifest.rows), lambda i: parts.value(i, "targets")),
        **parts.common,
        parts=parts,
    )


@final
class Folder:
    """The parts of a run, in a folder."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder, self._parts, self._seals = folder, manifest.parts, manifest.seals
        self._starts = [part.first for part in manifest.parts]
        self._rows = manifest.rows
        self._load = lru_cache(MAX_PARTS_IN_MEMORY)(self._read)
        self._last: tuple[int, Totals] | None = None

    def _read(self, number: int) -> Explanations:
        part = self._parts[number]
        with self._refusing_damage(part):
            return many.load(self._folder / part.name, seal=self._seals[number])

    def _look(self, part: DatasetPart, look: Callable[..., Any], columns: list[str]) -> Any:
        seal = self._seals[part.number]
        with self._refusing_damage(part):
            return parquet.read(self._folder / part.name, look, columns, seal=seal)

    @contextmanager
    def _refusing_damage(self, part: DatasetPart) -> Iterator[None]:
        try:
            yield
        except (InputError, OSError):
            raise InputError(
                f"{self._folder / part.name} is not what was written there: it is missing, "
                "damaged, or of another run. Delete it, and give the same command again to make it "
                "anew"
            ) from None

    # -- single rows ----------------------------------------------------------------------------

    def part(self, i: int) -> tuple[Explanations, int]:
        """The part that row i is in, and its place there."""
        number = bisect_right(self._starts, i) - 1
        return self._load(number), i - self._starts[number]

    def one(self, i: int) -> Explanation:
        part, at = self.part(i)
        return part[at]

    def value(self, i: int, name: str) -> Any:
        """The id or the target of row i."""
        part, at = self.part(i)
        return getattr(part, name)[at]

    def take(self, index: NDArray[np.intp]) -> Explanations:
        """Some of the rows, in memory. Each part is read once."""
        if not len(index):
            return self._load(0)[:0]
        rows = np.arange(self._rows)[index]
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        taken, places = [], []
        for number in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == number)
            taken.append(self._load(number)[rows[here] - self._starts[number]])
            places.append(here)
        order = np.argsort(np.concatenate(places), kind="stable")
        return concatenate(taken)[order]

    # -- all rows -------------------------------------------------------------------------------

    @cached_property
    def _value(self) -> Mapping[str, Any]:
        value: Mapping[str, Any] = self._look(
            self._parts[0], lambda _, head: parquet.value_of(head, CLASSES), ["id"]
        )
        return value

    @cached_property
    def common(self) -> dict[str, Any]:
        """What all rows have in common."""
        return {name: self._value[name] for name in many.COMMON}

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        features = self._value["features"]
        return None if features is None else features["names"]

    @cached_property
    def about(self) -> tuple[Target, ...]:
        found: dict[Target, None] = {}
        for part in self._parts:
            found |= dict.fromkeys(self._look(part, _targets, ["target"]))
        return tuple(found)

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """What one step is of each feature whose scores are slopes: a number that is missing in
        the rows of one part may be there in the next."""
        names = self.names or ()
        found = [""] * len(names)
        for part in self._parts:
            left = [k for k, step in enumerate(found) if not step]
            columns = [
                many.place(what, k, names[k]) for k in left for what in ("slope", "condition")
            ]
            steps = self._look(part, partial(_steps, names), columns) if columns else {}
            for k, step in steps.items():
                found[k] = step
            if not any(found):  # the binned view has none
                break
        return tuple(found)

    @cached_property
    def held_out_r2(self) -> NDArray[np.float64]:
        """The held-out R² of each row, by one pass over the files."""
        each = [self._look(part, _held_out_r2, ["r2_held_out"]) for part in self._parts]
        return np.concatenate(each)

    def totals(self, k: int | None = None) -> Totals:
        """The totals of all rows, by one pass over the files. The last are given if k is None."""
        if self._last is None or k not in (None, self._last[0]):
            self._last = k or 1, self._sum(k or 1)
        return self._last[1]

    def _sum(self, k: int) -> Totals:
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

        def block(table: Any, head: Mapping[str, Any]) -> tuple[Block, Any]:
            features = parquet.value_of(head, CLASSES)["features"]
            if features is None or features["names"] != names:
                raise ValueError("it has other features than the first part")
            scores, scale = (many.grid(table, names, part) for part in ("score", "scale"))
            return Block(scores, scale, many.numbers(table, "df")), features["kind"]

        for part in self._parts:
            made, kind = self._look(part, block, ["df", *columns])
            if not kind or kind != self._value["features"]["kind"]:
                raise InputError(
                    f"the explanations of {self.common['method']} have no standard errors of one "
                    "kind, so nothing is known of how sure their mean is: their scores are in "
                    "explanations.scores"
                )
            yield made


def _held_out_r2(table: Any, head: Mapping[str, Any]) -> NDArray[np.float64]:
    return many.numbers(table, "r2_held_out")


def _steps(names: Sequence[str], table: Any, _: Mapping[str, Any]) -> dict[int, str]:
    """What one step is of the features that have slopes in a table, by their places."""
    out = {}
    for k, name in enumerate(names):
        place = many.place("slope", k, name)
        if place in table.column_names and True in (there := table.column(place).to_pylist()):
            conditions = table.column(many.place("condition", k, name))
            out[k] = str(conditions[there.index(True)].as_py())
    return out


def _targets(table: Any, head: Mapping[str, Any]) -> list[Target]:
    return many.plain_values(table, "target")
