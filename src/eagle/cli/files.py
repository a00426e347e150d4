"""Tables and models in files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from eagle._values.packages import package
from eagle._values.text import message_of
from eagle.errors import EagleError, InputError, MissingExtraError
from eagle.models import onnx

PICKLES: Final = (".joblib", ".pkl", ".pickle")


def table_kind(path: Path) -> str:
    """Whether a table is "csv" or "parquet", by the end of its name."""
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return "csv"
    if name.endswith(".parquet"):
        return "parquet"
    raise InputError(f"a table is a .csv, .csv.gz or .parquet file, which {path} is not")


def there(path: Path) -> Path:
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return path


def read_table(path: Path) -> Any:
    """A table in a file, as a pandas DataFrame."""
    kind = table_kind(there(path))
    pd = package("pandas", f"reading {path}", "cli")
    try:
        if kind == "csv":
            # Parse numbers exactly, which pandas does by default from 3.1 on.
            old = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
            exact = {"float_precision": "round_trip"} if old else {}
            return pd.read_csv(path, low_memory=False, **exact)
        package("pyarrow", f"reading {path}", "cli")
        return pd.read_parquet(path)
    except EagleError:
        raise
    except Exception as error:  # pandas, pyarrow and decompressors may raise anything
        raise InputError(f"{path} could not be read as {kind}: {message_of(error)}") from None


def write_table(table: Any, path: Path) -> None:
    if table_kind(path) == "csv":
        table.to_csv(path, index=False)
    else:
        package("pyarrow", f"writing {path}", "cli")
        table.to_parquet(path, index=False)


def read_model(path: Path, trust: bool) -> Any:
    """The model in a file. A pickle is loaded only if the caller trusts it."""
    there(path)
    if path.suffix.lower() == ".onnx":
        return onnx.load(path)
    if path.suffix.lower() not in PICKLES:
        raise InputError(f"a model is a .onnx, {', '.join(PICKLES)} file, which {path} is not")
    if not trust:
        raise InputError(
            f"loading {path} runs whatever code is in it: if you trust its source, add --trust"
        )
    joblib = package("joblib", f"loading {path}", "cli")
    try:
        return joblib.load(path)
    except ModuleNotFoundError as error:
        missing = (error.name or str(error)).split(".")[0]
        if missing == "sklearn":
            raise MissingExtraError(f"loading {path}", "scikit-learn", "cli") from None
        raise InputError(
            f"loading {path} needs the package {missing!r}, which is not installed here"
        ) from None
    except Exception as error:  # code from the file may raise anything
        raise InputError(
            f"{path} could not be loaded: {type(error).__name__}: {message_of(error)}"
        ) from None


def refuse_overwriting(inputs: Iterable[Path | None], *written: Path | None) -> None:
    """Refuse to overwrite a file that is read, also under another name or link."""
    for out in written:
        for given in inputs:
            if out is not None and given is not None and same_file(out, given):
                raise InputError(f"writing {out} would overwrite {given}: name another file")


def same_file(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist
        return False


def columns(table: Any, asked: Sequence[str], option: str) -> list[Any]:
    """The columns of a table by the text of their names."""
    named = {str(c): c for c in table.columns}
    for name in asked:
        if name not in named:
            listed = ", ".join(list(named)[:20]) + (", …" if len(named) > 20 else "")
            raise InputError(f"{option} names the column {name!r}, but the data has {listed}")
    return [named[name] for name in asked]


def one_row(table: Any, row: int) -> Any:
    if not 0 <= row < len(table):
        raise InputError(f"there is no row {row}: the data has rows 0 to {len(table) - 1}")
    return table.iloc[[row]]
