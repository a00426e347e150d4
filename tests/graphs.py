"""ONNX graphs for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ML = "ai.onnx.ml"


def value(name: str, kind: int, shape: Sequence[Any]) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def zipped(name: str, kind: int) -> Any:
    """An output of a ZipMap: for each row its numbers by class."""
    number = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    mapped = helper.make_map_type_proto(kind, number)
    return helper.make_value_info(name, helper.make_sequence_type_proto(mapped))


def node(kind: str, given: str, made: str, **settings: Any) -> Any:
    return helper.make_node(kind, given.split(), made.split(), **settings)


def graph(
    nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], **constants: Any
) -> bytes:
    """A file's content; constants are inputs of nodes by name."""
    made = helper.make_graph(
        list(nodes),
        "g",
        list(inputs),
        list(outputs),
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(ML, 2)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def mean_colour(weights: Any, shape: Sequence[Any]) -> bytes:
    """A network on images (n, 3, height, width): two logits from the mean colour."""
    nodes = [
        node("GlobalAveragePool", "image", "pooled"),
        node("Flatten", "pooled", "flat"),
        node("MatMul", "flat weights", "logits"),
    ]
    image = value("image", TensorProto.FLOAT, shape)
    return graph(nodes, [image], [value("logits", TensorProto.FLOAT, ["n", 2])], weights=weights)
