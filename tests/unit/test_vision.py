"""Networks on images: preprocessing, batches, layouts and probabilities."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import eagle
from eagle.models.vision import Network
from eagle.types import InputError, ReplyError

RNG = np.random.default_rng(0)
PICTURES = RNG.integers(0, 256, (7, 6, 4, 3), dtype=np.uint8)
WEIGHTS = RNG.normal(size=(3, 2)).astype(np.float32)


def mean_colour(pixels: Any) -> Any:
    """A network on (n, 3, height, width): two logits from the mean colour."""
    assert pixels.dtype == np.float32
    assert pixels.flags.c_contiguous
    return pixels.mean(axis=(2, 3)) @ WEIGHTS


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """The same network as an ONNX file."""
    shape = ["n", 3, "h", "w"]
    nodes = [
        helper.make_node("GlobalAveragePool", ["image"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["logits"]),
    ]
    made = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 2])],
        [helper.make_tensor("weights", TensorProto.FLOAT, [3, 2], WEIGHTS.ravel().tolist())],
    )
    path = tmp_path / "net.onnx"
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)
    return path


def expected(mean: Any, std: Any) -> Any:
    logits = ((PICTURES.astype(float) - mean) / std).mean(axis=(1, 2)) @ WEIGHTS
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("batch", [1, 3, 100])
@pytest.mark.parametrize(("mean", "std"), [(127, 128), ((100, 110, 120), (50, 60, 70))])
def test_pixels_are_prepared_and_batches_change_nothing(batch: int, mean: Any, std: Any) -> None:
    sizes: list[int] = []

    def run(pixels: Any) -> Any:
        sizes.append(len(pixels))
        return mean_colour(pixels)

    network = Network(run, mean=mean, std=std, batch=batch)
    assert np.allclose(network.predict_proba(PICTURES), expected(mean, std), atol=1e-5)
    assert max(sizes) <= batch
    assert sum(sizes) == 7


def test_layouts_and_orders() -> None:
    def last(pixels: Any) -> Any:
        return pixels.mean(axis=(1, 2)) @ WEIGHTS

    plain = Network(mean_colour).predict_proba(PICTURES)
    assert np.allclose(Network(last, channels="last").predict_proba(PICTURES), plain)
    turned = Network(mean_colour, reverse=True).predict_proba(PICTURES[..., ::-1])
    assert np.allclose(turned, plain)
    raw = Network(mean_colour, softmax=False).predict_proba(PICTURES)
    assert np.allclose(raw, PICTURES.astype(float).mean(axis=(1, 2)) @ WEIGHTS, rtol=1e-4)
    grey = Network(lambda p: np.repeat(p.mean(axis=(2, 3)), 2, axis=1))
    assert grey.predict_proba(PICTURES[..., 0]).shape == (7, 2)


def test_an_onnx_file_is_explained(graph: Path) -> None:
    network = Network.of_onnx(graph, mean=127, std=128, classes=["day", "night"])
    assert np.allclose(network.predict_proba(PICTURES), expected(127, 128), atol=1e-5)
    again = pickle.loads(pickle.dumps(Network.of_onnx(graph, mean=127, std=128, threads=1)))
    assert again.run.threads == 1
    assert np.array_equal(again.predict_proba(PICTURES), network.predict_proba(PICTURES))
    blocks = np.arange(6).reshape(3, 2).repeat(2, axis=0).repeat(2, axis=1)
    e = eagle.Explainer(network, eagle.Images(blocks, fill=0), budget=50).explain(PICTURES[0])
    assert e.outputs == ("day", "night")
    assert e.task == "classification"
    assert len(e.names) == 6


@pytest.mark.torch
def test_a_torch_module_is_explained() -> None:
    import torch

    module = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    linear = torch.nn.Linear(3, 2, bias=False)
    linear.weight.data = torch.from_numpy(WEIGHTS.T.copy())
    module.append(linear).append(torch.nn.Dropout(0.9))
    module.train()
    network = Network.of_torch(module, mean=127, std=128)
    assert np.allclose(network.predict_proba(PICTURES), expected(127, 128), atol=1e-5)
    assert module.training  # as it was


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"channels": "middle"}, "'first' or 'last'"),
        ({"batch": 0}, "at least 1"),
        ({"std": 0}, "above 0"),
        ({"std": (1.0, 0.0, 1.0)}, "above 0"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Network(mean_colour, **settings)


def test_what_does_not_fit_is_said(graph: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mean has 2 numbers, but images have 3"):
        Network(mean_colour, mean=(1, 2)).predict_proba(PICTURES)
    grey = PICTURES[..., 0]
    with pytest.raises(InputError, match=r"takes images of shape \(3, .*came to it as \(1, 6, 4\)"):
        Network.of_onnx(graph).predict_proba(grey)
    blocks = eagle.Images(np.eye(6, 4, dtype=int))
    with pytest.raises(InputError, match="grey or transparent"):
        eagle.Explainer(Network.of_onnx(graph), blocks).explain(grey[0])
    with pytest.raises(ReplyError, match="shape"):
        Network(lambda p: p).predict_proba(PICTURES)
    with pytest.raises(InputError, match="at least 1 thread, not 0"):
        Network.of_onnx(graph, threads=0)
    with pytest.raises(InputError, match="no file"):
        Network.of_onnx(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"no graph")
    with pytest.raises(InputError, match="not an ONNX graph"):
        Network.of_onnx(tmp_path / "bad.onnx")
