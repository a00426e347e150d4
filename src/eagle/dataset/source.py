"""What is explained: rows of Parquet files, or files of images, read a few at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, final

import numpy as np

from eagle._tables.background import Background
from eagle._values.checks import elements, string
from eagle._values.packages import package
from eagle._values.text import message_of, short_repr
from eagle.errors import InputError

IMAGES: Final = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".npy")
"""How files of images end."""

BATCH: Final = 4096
"""Rows read at a time."""

BUFFER: Final = 1 << 20
"""Bytes of a column read at a time."""


@final
@dataclass(frozen=True, eq=False)
class SourceRows:
    """Rows that were read: what the explainer takes, their ids, and predictions, if named."""

    X: Any
    ids: Sequence[Any]
    predictions: Any = None


class DataSource(Protocol):
    """Rows in files, by the names of the files."""

    @property
    def files(self) -> Sequence[tuple[str, int]]:
        """The names of the files and how many rows each has, in order."""

    def describe(self) -> dict[str, Any]:
        """What decides which rows there are, as plain data."""

    def read(self, file: str, start: int, end: int, first: int) -> SourceRows:
        """Some rows of a file. `first` is the number of the first one among all rows."""


# -- Parquet -------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class WantedColumns:
    """The columns to read: features, or one column of texts; the rows' ids; predictions."""

    features: tuple[str, ...]
    ids: str | None = None
    predictions: tuple[str, ...] = ()
    table: bool = True
    named: bool = True

    @property
    def every(self) -> list[str]:
        ids = () if self.ids is None else (self.ids,)
        return list(dict.fromkeys((*self.features, *ids, *self.predictions)))


@final
@dataclass(eq=False)
class Parquet:
    """A Parquet file, or a folder of them, of which some columns are read."""

    folder: Path
    names: tuple[str, ...]
    wanted: WantedColumns
    stream: Stream | None = field(default=None, repr=False)

    @cached_property
    def files(self) -> Sequence[tuple[str, int]]:
        return tuple((name, _footer(self.folder / name).num_rows) for name in self.names)

    def describe(self) -> dict[str, Any]:
        schema = _schema(self.folder / self.names[0])
        types = "\n".join(f"{name} {schema.field(name).type}" for name in self.wanted.every)
        return {
            "sizes": [(self.folder / name).stat().st_size for name in self.names],
            "schema": hashlib.sha256(types.encode()).hexdigest(),
            "columns": list(self.wanted.features),
            "ids": self.wanted.ids,
            "predictions": list(self.wanted.predictions),
        }

    def __getstate__(self) -> dict[str, Any]:
        """Without the file that is open here."""
        return {**self.__dict__, "stream": None}

    def read(self, file: str, start: int, end: int, first: int) -> SourceRows:
        path, wanted = self.folder / file, self.wanted
        with reading(path):
            if self.stream is None or self.stream.path != path:
                self.stream = Stream(path, wanted.every)
            table = self.stream.rows(start, end)
            ids = range(first, first + end - start)
            predictions = [table.column(name).to_numpy() for name in wanted.predictions]
            return SourceRows(
                self._features(table),
                ids if wanted.ids is None else table.column(wanted.ids).to_pylist(),
                np.column_stack(predictions) if predictions else None,
            )

    def _features(self, table: Any) -> Any:
        if not self.wanted.table:
            return table.column(self.wanted.features[0]).to_pylist()
        package("pandas", "explaining a table", "cli")
        frame = table.select(list(self.wanted.features)).to_pandas()
        return frame if self.wanted.named else frame.to_numpy()


@final
class Stream:
    """A Parquet file that is read forwards, a batch of rows at a time.

    One group of rows is open: a reader of several would keep all that it has read of them.
    """

    def __init__(self, path: Path, columns: list[str]) -> None:
        self.path, self._columns = path, columns
        self._file = _parquet().ParquetFile(path, buffer_size=BUFFER)
        about = self._file.metadata
        sizes = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        self._starts = np.cumsum([0, *sizes])
        self._group, self._batches = -1, iter(())
        self._batch: Any = ()
        self._first = 0  # the number of the batch's first row

    def rows(self, start: int, end: int) -> Any:
        """These rows, as a pyarrow table."""
        import pyarrow as pa

        pieces = []
        while start < end:
            self._seek(start)
            pieces.append(self._batch.slice(start - self._first, end - start))
            start += len(pieces[-1])
        return pa.Table.from_batches(pieces)

    def _seek(self, row: int) -> None:
        """Read on to the batch with a row, from the beginning of its group if need be."""
        group = int(np.searchsorted(self._starts, row, side="right")) - 1
        if group != self._group or row < self._first:
            self._group, self._first, self._batch = group, int(self._starts[group]), ()
            self._batches = self._file.iter_batches(BATCH, [group], self._columns)
        while row >= self._first + len(self._batch):
            self._first += len(self._batch)
            self._batch = next(self._batches, None)
            if self._batch is None:
                raise InputError(f"{self.path} has fewer rows than its footer says: is it damaged?")


# -- images --------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class ImageFiles:
    """The images in a folder and the folders in it. A row is a file, and its name is the id."""

    folder: Path
    names: tuple[str, ...]

    @property
    def files(self) -> Sequence[tuple[str, int]]:
        return ((str(self.folder.name), len(self.names)),)

    def describe(self) -> dict[str, Any]:
        sizes = [(self.folder / name).stat().st_size for name in self.names]
        told = "\n".join(f"{name} {size}" for name, size in zip(self.names, sizes, strict=True))
        return {"images": hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()}

    def read(self, file: str, start: int, end: int, first: int) -> SourceRows:
        names = self.names[start:end]
        return SourceRows([_image(self.folder / name) for name in names], names)


def _image(path: Path) -> Any:
    if path.suffix.lower() == ".npy":
        try:
            return np.load(path, allow_pickle=False)
        except ValueError as error:
            raise InputError(f"{path} is no array of pixels: {message_of(error)}") from None
    pillow = package("PIL.Image", f"reading {path}", "image")
    try:
        with pillow.open(path) as image:
            plain = image.mode in ("L", "RGB", "LA", "RGBA")
            return np.asarray(image if plain else image.convert("RGB"))
    except pillow.UnidentifiedImageError:
        raise InputError(f"{path} is not an image that can be read") from None


# -- which of them -------------------------------------------------------------------------------


def data_source(
    path: Path,
    asked: str | None,
    background: Background | None,
    columns: str | Sequence[str] | None,
    ids: str | None,
    predictions: str | Sequence[str] | None,
) -> DataSource:
    """The rows in a file or folder, for an explainer of tables, images or anything else.

    `asked` is what the explainer explains: None for tables.
    """
    if asked == "image" and columns is None:
        return _images(path)
    names = _parquets(path)
    folder = path if path.is_dir() else path.parent
    schema = _schema(folder / names[0])
    more = _names_in(predictions)
    features, named = _features(schema, asked, background, _names_in(columns), {ids, *more}, path)
    wanted = WantedColumns(features, ids, more, asked is None, named)
    for name in names:
        has = _schema(folder / name)
        missing = [column for column in wanted.every if column not in has.names]
        if missing:
            raise InputError(
                f"{folder / name} lacks the column{'s' if len(missing) > 1 else ''} "
                f"{', '.join(map(repr, missing[:10]))}"
            )
        if any(has.field(c).type != schema.field(c).type for c in wanted.every):
            raise InputError(f"{folder / name} has other types of columns than {names[0]}")
    made = Parquet(folder, names, wanted)
    if not sum(rows for _, rows in made.files):
        raise InputError(f"{path} has no rows")
    return made


def _features(
    schema: Any,
    asked: str | None,
    background: Background | None,
    columns: tuple[str, ...],
    others: set[str | None],
    path: Path,
) -> tuple[tuple[str, ...], bool]:
    """The columns of features, and whether they go by name or by place."""
    rest = tuple(name for name in schema.names if name not in others)
    if asked is not None:
        if len(columns or rest) != 1:
            raise InputError(
                f"which column of {path} holds what is explained? Name it: columns={rest[0]!r}"
            )
        return columns or rest, False
    if background is None:
        return columns or rest, True
    template = background.template
    if not template.named:
        taken = columns or rest
        if len(taken) != len(template.names):
            raise InputError(
                f"the explainer was made over {len(template.names)} columns without names, and "
                f"{path} has {len(taken)}: name those to take, in order, with columns=[…]"
            )
        return taken, False
    texts = [name for name in template.names if isinstance(name, str)]
    if len(texts) < len(template.names):
        raise InputError("columns of a Parquet file have texts for names: name those of data so")
    odd = [name for name in columns if name not in texts]
    if odd:
        raise InputError(f"columns names {short_repr(odd[0])}, which the explainer does not know")
    return tuple(texts), not isinstance(template.native, np.ndarray)


def _names_in(names: str | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    listed = elements(names, "names of columns")
    return tuple(string(name, "the name of a column") for name in listed)


def _parquets(path: Path) -> tuple[str, ...]:
    """The names of the Parquet files at a path, in order, from its folder on."""
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    if not path.is_dir():
        return (path.name,)
    files = sorted(
        str(file.relative_to(path))
        for file in path.rglob("*.parquet")
        if not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    )
    if not files:
        raise InputError(f"there are no Parquet files in {path}: their names end with .parquet")
    return tuple(files)


def _images(path: Path) -> ImageFiles:
    if not path.is_dir():
        raise InputError(f"images are the files of a folder, which {path} is not")
    files = sorted(
        str(file.relative_to(path)) for file in path.rglob("*") if file.suffix.lower() in IMAGES
    )
    if not files:
        raise InputError(f"there are no images in {path}: their names end with {', '.join(IMAGES)}")
    return ImageFiles(path, tuple(files))


def _schema(path: Path) -> Any:
    with reading(path):
        return _footer(path).schema.to_arrow_schema()


def _footer(path: Path) -> Any:
    with reading(path):
        return _parquet().read_metadata(path)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say of a file that is damaged, or not Parquet, that it could not be read."""
    _parquet()
    from pyarrow import ArrowException

    try:
        yield
    except InputError:
        raise
    except (ArrowException, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        raise InputError(f"{path} could not be read as Parquet: {message_of(error)}") from None


def _parquet() -> Any:
    return package("pyarrow.parquet", "explaining a data set", "cli")
