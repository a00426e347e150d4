"""How rows and answers are written for a predict endpoint: three protocols and a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias, final, runtime_checkable
from urllib.parse import urlsplit

import numpy as np

from eagle._values.checks import check_flags, check_function, string
from eagle._values.text import short_repr, whole_number
from eagle.errors import InputError, ReplyError
from eagle.models.inputs import Inputs

ProtocolName: TypeAlias = Literal["v2", "mlflow", "instances"]

DATATYPES: Final = {
    **{f"f{n}": f"FP{8 * n}" for n in (2, 4, 8)},
    **{f"i{n}": f"INT{8 * n}" for n in (1, 2, 4, 8)},
    **{f"u{n}": f"UINT{8 * n}" for n in (1, 2, 4, 8)},
    "b1": "BOOL",
}
"""The names that the Open Inference Protocol has for dtypes."""


@runtime_checkable
class Codec(Protocol):
    """A protocol: what is sent for some rows, and where their answers are in a reply."""

    @property
    def path(self) -> str:
        """What follows the address of a server, unless the address ends with it already."""

    @property
    def probabilities(self) -> str:
        """How to ask for probabilities where labels came, as the end of a sentence."""

    def request(self, inputs: Inputs, id: str) -> Any:
        """The request, of plain values that JSON can hold. `id` is made of the rows' content."""

    def answers(self, reply: Any, rows: int) -> Any:
        """The answers in a reply, one for each of the rows."""


@runtime_checkable
class Language(Codec, Protocol):
    """The protocol of a language model, whose inputs are prompts and whose cost is in tokens."""

    @property
    def most(self) -> int:
        """The most prompts of a request."""

    @property
    def output(self) -> str:
        """What the answers are, as the name of an output."""

    def characters(self, inputs: Inputs) -> int:
        """The characters that are sent for some prompts."""

    def tokens(self, reply: Any) -> int:
        """The tokens that a reply says are billed; 0 if it does not say."""


@final
@dataclass(frozen=True)
class OpenInference:
    """The Open Inference Protocol, V2: KServe, Triton, MLServer, Seldon, OpenVINO.

    An array is one tensor, called `input`. A table is a tensor for each column, by its name, if
    its dtypes differ or `columns` says so; else one tensor, since most servers want that.
    `output` is the tensor asked for; None takes what the server gives.
    """

    model: str
    input: str = "input-0"
    output: str | None = "predict_proba"
    columns: bool | None = None

    def __post_init__(self) -> None:
        string(self.model, "the name of a model")
        string(self.input, "the name of a tensor")
        if self.output is not None:
            string(self.output, "the name of a tensor")
        if self.columns is not None:
            check_flags(columns=self.columns)

    @property
    def path(self) -> str:
        return f"/v2/models/{self.model}/infer"

    @property
    def probabilities(self) -> str:
        return "OpenInference(model, output='predict_proba') asks MLServer for them"

    def request(self, inputs: Inputs, id: str) -> Any:
        apart = not inputs.uniform if self.columns is None else self.columns
        body: dict[str, Any] = {"id": id}
        if inputs.names is not None and apart:
            body["parameters"] = {"content_type": "pd"}
            body["inputs"] = [self._column(inputs, j) for j in range(len(inputs.columns))]
        elif inputs.names is not None and not inputs.uniform:
            raise InputError(
                "columns of different dtypes cannot be one tensor: leave out columns=False, or "
                "give a table of one dtype"
            )
        else:
            body["inputs"] = [self._whole(inputs)]
        if self.output is not None:
            body["outputs"] = [{"name": self.output}]
        return body

    def _whole(self, inputs: Inputs) -> dict[str, Any]:
        rows = inputs.rows()
        width = [len(inputs.columns)] if inputs.names is not None else inputs.columns[0].shape[1:]
        return self._tensor(self.input, [len(rows), *width], _flat(rows, len(width)), inputs, 0)

    def _column(self, inputs: Inputs, j: int) -> dict[str, Any]:
        assert inputs.names is not None  # only tables are sent by columns
        return self._tensor(str(inputs.names[j]), [len(inputs), 1], inputs.column(j), inputs, j)

    def _tensor(
        self, name: str, shape: list[int], data: list[Any], inputs: Inputs, j: int
    ) -> dict[str, Any]:
        datatype = _datatype(inputs.dtypes[j], data)
        tensor = {"name": name, "shape": shape, "datatype": datatype, "data": data}
        return {**tensor, "parameters": {"content_type": "str"}} if datatype == "BYTES" else tensor

    def answers(self, reply: Any, rows: int) -> Any:
        tensors = _in(reply, "outputs", list)
        named = {str(_in(t, "name", str)): t for t in tensors}
        if self.output is not None and self.output not in named:
            raise ReplyError(
                f"the tensor {self.output!r} was asked for, but the endpoint answered with "
                f"{short_repr(sorted(named))}: if one of them is meant, name it as "
                "OpenInference(output=)"
            )
        if self.output is None and len(named) != 1:
            raise ReplyError(
                f"the endpoint answered with {len(named)} tensors, {short_repr(sorted(named))}: "
                "name the one to take as OpenInference(output=)"
            )
        tensor = named[self.output] if self.output is not None else tensors[0]
        data = array(_in(tensor, "data", list))
        shape = tuple(_in(tensor, "shape", list))
        if data.size != np.prod(shape) or not shape or shape[0] != rows:
            raise ReplyError(
                f"the endpoint was asked {rows} rows, and answered with {data.size} numbers in the "
                f"shape {short_repr(shape)}"
            )
        return data.reshape(shape if len(shape) != 1 else (rows, 1))


@final
@dataclass(frozen=True)
class Invocations:
    """MLflow's scoring server and Databricks; SageMaker's containers have the same path.

    A table is sent as `dataframe_split`, with its names; an array as `inputs`.
    """

    path: str = "/invocations"

    def __post_init__(self) -> None:
        string(self.path, "a path")

    @property
    def probabilities(self) -> str:
        return "save the model with mlflow.sklearn.save_model(..., pyfunc_predict_fn=predict_proba)"

    def request(self, inputs: Inputs, id: str) -> Any:
        if inputs.names is None:
            return {"inputs": inputs.rows()}
        columns = [str(name) for name in inputs.names]
        return {"dataframe_split": {"columns": columns, "data": inputs.rows()}}

    def answers(self, reply: Any, rows: int) -> Any:
        return predictions(reply)


@final
@dataclass(frozen=True)
class Instances:
    """`instances` in and `predictions` out: KServe V1, TensorFlow Serving, Vertex AI.

    A table is sent as lists of values; with `named`, each row as an object with its names. `path`
    is empty, since these servers differ: give the whole address, such as .../v1/models/m:predict.
    """

    named: bool = False
    path: str = ""

    def __post_init__(self) -> None:
        check_flags(named=self.named)
        string(self.path, "a path")

    @property
    def probabilities(self) -> str:
        return "deploy a model whose predict gives them"

    def request(self, inputs: Inputs, id: str) -> Any:
        rows = inputs.rows()
        if self.named and inputs.names is not None:
            names = [str(name) for name in inputs.names]
            rows = [dict(zip(names, row, strict=True)) for row in rows]
        return {"instances": rows}

    def answers(self, reply: Any, rows: int) -> Any:
        return predictions(reply)


@final
@dataclass(frozen=True)
class Template:
    """JSON of one's own: `build` makes the request of the rows, `pick` finds the answers.

    `build` gets the rows in the form in which the model is asked, such as a DataFrame, and returns
    what JSON can hold. `pick` is a function of the reply, or a path in it, such as "data.scores";
    an empty one is the reply itself.
    """

    build: Callable[[Any], Any]
    pick: str | Callable[[Any], Any] = ""
    path: str = ""

    def __post_init__(self) -> None:
        check_function(self.build, "build")
        if not callable(self.pick):
            string(self.pick, "pick, unless it is a function,")
        string(self.path, "a path")

    @property
    def probabilities(self) -> str:
        return "let `pick` take the probabilities from the reply"

    def request(self, inputs: Inputs, id: str) -> Any:
        return self.build(inputs.native)

    def answers(self, reply: Any, rows: int) -> Any:
        if not isinstance(self.pick, str):
            return self.pick(reply)
        for step in self.pick.split(".") if self.pick else []:
            place = whole_number(step)
            if isinstance(reply, list) and place is not None and place < len(reply):
                reply = reply[place]
            else:
                reply = _in(reply, step, object)
        return array(reply) if isinstance(reply, list) else reply


def codec(protocol: Any, url: str) -> Codec:
    """A protocol by its name, or as it is given."""
    if isinstance(protocol, Codec) and not isinstance(protocol, type):
        return protocol
    named = protocol if isinstance(protocol, str) else ""
    if named == "mlflow":
        return Invocations()
    if named == "instances":
        return Instances()
    if named == "v2":
        match = re.search(r"/v2/models/([^/]+)(?:/versions/([^/]+))?(?:/infer)?/?$", _path(url))
        if match is None:
            raise InputError(
                "for the protocol 'v2' the address names the model, as "
                "https://host/v2/models/NAME/infer does: or give protocol=OpenInference('NAME')"
            )
        name, version = match.groups()
        return OpenInference(name if version is None else f"{name}/versions/{version}")
    raise InputError(
        "a protocol is 'v2', 'mlflow', 'instances', or a codec such as "
        f"eagle.models.http.Template(build, pick), not {short_repr(protocol)}"
    )


def address(url: str, path: str) -> str:
    """The address to post to: that of the server, and the path that the protocol has."""
    base, mark, query = url.partition("?")
    base = base.rstrip("/")
    model = path.removesuffix("/infer")
    if base.endswith(path):
        whole = base
    elif path != model and base.endswith(model):
        whole = base + "/infer"
    elif base.endswith("/v1") and path.startswith("/v1/"):
        whole = base + path.removeprefix("/v1")
    else:
        whole = base + path
    return whole + mark + query


def predictions(reply: Any) -> Any:
    """The predictions in a reply, or the reply itself if it is a list of them, as an array."""
    rows = reply if isinstance(reply, list) else _in(reply, "predictions", list)
    if rows and all(isinstance(row, dict) for row in rows):
        names = list(rows[0])
        if any(list(row) != names for row in rows):
            raise ReplyError("the endpoint answered rows with different names of outputs")
        rows = [[row[name] for name in names] for row in rows]
    return array(rows)


def array(values: list[Any]) -> Any:
    """Lists as an array; rows of different lengths are refused."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ReplyError(
            f"the endpoint's answers are no table of numbers: {short_repr(values)}; "
            "eagle.models.http.Template picks them from any JSON"
        ) from None


def _path(url: str) -> str:
    return urlsplit(url).path


def _in(reply: Any, key: str, kind: type) -> Any:
    """The value of a key in a reply; refused if it is not there, or of another type."""
    if not isinstance(reply, Mapping) or key not in reply or not isinstance(reply[key], kind):
        raise ReplyError(
            f"the endpoint's reply has no {key!r} where one was expected: it is "
            f"{short_repr(reply)}; is this its protocol?"
        )
    return reply[key]


def _flat(rows: list[Any], depth: int) -> list[Any]:
    """Rows of lists, nested `depth` deep, as one list."""
    for _ in range(depth):
        rows = [value for row in rows for value in row]
    return rows


def _datatype(dtype: str, data: list[Any]) -> str:
    known = DATATYPES.get(dtype[1:])
    if known is not None:
        return known
    present = [value for value in data if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return "BOOL"
    if present and all(type(value) is int for value in present) and len(present) == len(data):
        return "INT64"
    if present and all(isinstance(value, int | float) for value in present):
        return "FP64"
    return "BYTES"
