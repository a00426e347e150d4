"""An ONNX file as a model. It holds arithmetic only, so no code in it needs to be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import Codes, are_integers, is_missing
from eagle._tables.frame import Frame
from eagle._tables.read import frame
from eagle._values.checks import path_of
from eagle._values.packages import package
from eagle.errors import InputError, ReplyError

TEXT: Final = "tensor(string)"
REALS: Final = {"tensor(float)": "f4", "tensor(double)": "f8", "tensor(float16)": "f2"}
DTYPES: Final = {
    **REALS,
    "tensor(int64)": "i8",
    "tensor(int32)": "i4",
    "tensor(bool)": "?",
    TEXT: "O",
}

Feed: TypeAlias = dict[str, NDArray[Any]]


@final
class OnnxModel:
    """A function of tables, computed by an ONNX graph: n rows in, n answers out.

    `source` is the file's path or its bytes. A pickle contains the bytes; of a path it contains
    the path alone, which must exist where the pickle is read. The graph takes one matrix, or one
    input for each column, matched by name.

    `feature_names_in_` and `n_features_in_` are what the inputs say about the columns, or None.
    `classes_` are the keys of a ZipMap's answers, None until an answer has shown them. A row of
    zeros is asked at the start, so they are mostly known at once.
    """

    def __init__(self, source: bytes | str | PathLike[str]) -> None:
        self._source = source if isinstance(source, bytes) else str(Path(source).resolve())
        self._session = open_session(self._source)
        self._inputs = _inputs(self._session.get_inputs())
        self._output = _output(self._session.get_outputs())
        shape = self._inputs[0].shape
        # A graph exported with a fixed first dimension takes exactly this many rows.
        self._batch = shape[0] if isinstance(shape[0], int) else None
        self.feature_names_in_: list[str] | None = None
        self.n_features_in_: int | None = None
        if _is_matrix(self._inputs):
            self.n_features_in_ = shape[1] if isinstance(shape[1], int) else None
        else:
            self.feature_names_in_ = [i.name for i in self._inputs]
            self.n_features_in_ = len(self._inputs)
        self.classes_: tuple[Any, ...] | None = None
        if _is_map(self._output) and self.n_features_in_ is not None:
            with suppress(Exception):  # a graph may refuse zeros: then the first answer shows them
                self._run(self._zeros(), self._batch or 1)

    def __call__(self, table: Any) -> NDArray[Any]:
        """The answers to a table of any kind, shape (n,) or (n, outputs)."""
        rows = frame(table)
        feed = self._feed(rows)
        n = len(rows)
        return run_in_batches(feed, n, self._batch, self._run)

    def _feed(self, rows: Frame) -> Feed:
        """The table as the graph's inputs."""
        order = self._order(rows)
        if self.feature_names_in_ is None:
            (given,) = self._inputs
            return {given.name: np.stack([_column(rows, j, given.type) for j in order], axis=1)}
        return {
            given.name: _column(rows, j, given.type).reshape([-1] + [1] * (len(given.shape) - 1))
            for given, j in zip(self._inputs, order, strict=True)
        }

    def _order(self, rows: Frame) -> list[int]:
        """The columns that the graph takes, by name if there are names, else by place."""
        names, width = self.feature_names_in_, self.n_features_in_
        if names is not None and rows.named:
            lacking = [n for n in names if n not in rows.names]
            if lacking:
                raise InputError(
                    f"the ONNX model takes columns that are not there: {', '.join(lacking[:10])}"
                )
            return [rows.names.index(n) for n in names]
        if width not in (None, len(rows.names)):
            raise InputError(f"the ONNX model takes {width} columns, but {len(rows.names)} came")
        return list(range(len(rows.names)))

    def _run(self, feed: Feed, rows: int) -> NDArray[Any]:
        (reply,) = self._session.run([self._output.name], feed)
        answers = self._matrix_of_maps(reply) if _is_map(self._output) else np.asarray(reply)
        if answers.shape[:1] != (rows,):
            raise ReplyError(
                f"the ONNX output {self._output.name!r} has the shape {answers.shape} where one "
                f"answer for each of {rows} rows was expected"
            )
        return answers

    def _matrix_of_maps(self, reply: Sequence[Mapping[Any, float]]) -> NDArray[Any]:
        """A ZipMap's answers as a matrix, in the order of its keys."""
        for row in reply:
            self.classes_ = self.classes_ or tuple(row)
            if tuple(row) != self.classes_:
                raise ReplyError("the ONNX model's answers do not all have the same classes")
        return np.array([list(row.values()) for row in reply], dtype=np.float64)

    def _zeros(self) -> Feed:
        """A row of zeros and empty text, repeated if the graph takes a fixed number of rows."""
        width = 1 if self.feature_names_in_ is not None else self.n_features_in_ or 1
        return {
            i.name: np.full(
                [self._batch or 1, width][: len(i.shape)],
                "" if i.type == TEXT else 0,
                DTYPES[i.type],
            )
            for i in self._inputs
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return (OnnxModel, (self._source,))

    def __repr__(self) -> str:
        inputs = ", ".join(f"{i.name}: {i.type}{i.shape}" for i in self._inputs[:5])
        more = ", …" if len(self._inputs) > 5 else ""
        return f"<OnnxModel of {inputs}{more} giving {self._output.name}>"


def load(path: str | PathLike[str]) -> OnnxModel:
    """The model in an ONNX file. Only the arithmetic in the file is run."""
    path = path_of(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return OnnxModel(path)


def open_session(
    source: bytes | str, threads: int | None = None, entries: Mapping[str, str] | None = None
) -> Any:
    """A graph, ready to run. `entries` are settings by onnxruntime's own names."""
    onnxruntime = package("onnxruntime", "an ONNX model", "onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # it raises what it would print to standard error
    options.intra_op_num_threads = threads or 0
    for key, value in (entries or {}).items():
        options.add_session_config_entry(key, value)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors derive from Exception only
        what = "these bytes are" if isinstance(source, bytes) else f"{source} is"
        raise InputError(f"{what} not an ONNX model that onnxruntime can run: {error}") from None


def run_in_batches(
    feed: Feed, rows: int, batch: int | None, run: Callable[[Feed, int], NDArray[Any]]
) -> NDArray[Any]:
    """The answers of a graph to all rows. One with a `batch` takes exactly so many at once."""
    if batch is None:
        return run(feed, rows)
    parts = []
    for start in range(0, rows, batch):
        taken = np.minimum(np.arange(start, start + batch), rows - 1)
        parts.append(run({name: given[taken] for name, given in feed.items()}, batch))
    return np.concatenate(parts)[:rows]


def _inputs(inputs: Sequence[Any]) -> Sequence[Any]:
    """The graph's inputs; others than one matrix, or one for each column, are refused."""
    known = all(i.type in DTYPES for i in inputs)
    if inputs and known and (_is_matrix(inputs) or all(_is_column(i) for i in inputs)):
        return inputs
    listed = ", ".join(f"{i.name!r} of {i.type}{i.shape}" for i in inputs) or "nothing"
    raise InputError(
        "an ONNX model takes a table either as one matrix (rows, columns) or as one input "
        f"(rows, 1) for each column, but this one takes {listed}"
    )


def _is_matrix(inputs: Sequence[Any]) -> bool:
    return len(inputs) == 1 and len(inputs[0].shape) == 2


def _is_column(given: Any) -> bool:
    shape = given.shape
    return len(shape) == 1 or (len(shape) == 2 and (shape[1] == 1 or not isinstance(shape[1], int)))


def _is_map(output: Any) -> bool:
    return bool(output.type.startswith("seq(map("))


def _output(outputs: Sequence[Any]) -> Any:
    """The output to read: one named like probabilities, else a ZipMap, else the last of reals."""
    reals = [o for o in outputs if o.type in REALS]
    # A shape of unknown rank is empty.
    likely = [o for o in reals if "prob" in o.name.lower() and len(o.shape) in (0, 2)]
    maps = [o for o in outputs if _is_map(o)]
    chosen = likely[:1] or maps[:1] or reals[-1:]
    if not chosen:
        listed = ", ".join(f"{o.name!r} of {o.type}" for o in outputs)
        raise InputError(
            f"the ONNX model gives no real numbers to explain, only {listed}: export it with its "
            "probabilities"
        )
    return chosen[0]


def _column(rows: Frame, j: int, kind: str) -> NDArray[Any]:
    """Column j in the element type of a tensor, shape (n,)."""
    name = rows.names[j]
    if kind == TEXT:
        objects = rows.objects(j)
        if any(is_missing(v) for v in objects):
            raise InputError(
                f"column {name!r} has missing values, and ONNX has no text for them: fill them"
            )
        return np.array([str(v) for v in objects], dtype=object)
    values = rows.read(j)
    if isinstance(values, Codes):
        try:
            values = values.objects(np.nan).astype(np.float64)
        except (TypeError, ValueError):
            values = None
    if values is None:
        raise InputError(
            f"column {name!r} holds no numbers, but the ONNX model takes it as {kind}: drop it, "
            "or turn it into numbers as was done for the model"
        )
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind != "f" and not are_integers(values):
        raise InputError(
            f"column {name!r} must hold integers, none missing: the ONNX model takes {kind}"
        )
    return values.astype(dtype)
