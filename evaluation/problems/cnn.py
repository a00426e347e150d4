"""A small convolutional network for grey digits: trained with torch, stored and run as ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.errors import MissingExtraError
from eagle.models.vision import Network
from evaluation.problems.boxes import digest, kept
from evaluation.problems.data import Digits

CHANNELS: Final = (16, 32)
HIDDEN: Final = 128
CLASSES: Final = 10
EPOCHS: Final = 3
BATCH: Final = 128
RATE: Final = 4e-3
"""The largest learning rate of a one-cycle schedule over all epochs."""

SEED: Final = 0
RECIPE: Final = f"cnn 1: {CHANNELS} {HIDDEN} {EPOCHS} {BATCH} {RATE} {SEED}"
"""What determines the weights besides the digits. The version of torch is left out, so that a
trained network can be used where torch is not installed."""

Weights: TypeAlias = dict[str, NDArray[np.float32]]


def network(digits: Digits) -> Network:
    """The network trained on these digits on one thread, cached."""
    settings: dict[str, Any] = {"std": 255, "batch": 512, "threads": 1, "classes": range(CLASSES)}

    def load(path: Path) -> Network:
        return Network.of_onnx(path, **settings)

    def make(path: Path) -> None:
        write(trained(digits), path)

    return kept(file_name(digits), load, make)  # type: ignore[no-any-return]


def file_name(digits: Digits) -> str:
    """The file name of the network of these digits in the cache."""
    return f"mnist-{digest(RECIPE, digits.images, digits.labels)}.onnx"


def module() -> Any:
    """The untrained network as a torch module: pixels from 0 to 1 in, logits out."""
    from torch import nn

    first, second = CHANNELS
    return nn.Sequential(
        nn.Conv2d(1, first, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(first, second, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * 7 * 7, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, CLASSES),
    )


def trained(digits: Digits) -> Weights:
    """The weights that Adam finds in three epochs; the same at every run of one torch."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("training the network of digits", "torch", "torch") from None
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        torch.set_num_threads(1)  # so that sums are made in one order
        try:
            made = _learn(torch, module(), digits)
        finally:
            torch.set_num_threads(threads)
    return {name: value.numpy() for name, value in made.state_dict().items()}


def _learn(torch: Any, net: Any, digits: Digits) -> Any:
    pixels = torch.from_numpy(digits.images[:, None].astype(np.float32) / 255)
    labels = torch.from_numpy(digits.labels.astype(np.int64))
    adam = torch.optim.Adam(net.parameters())
    steps = EPOCHS * -(-len(pixels) // BATCH)
    pace = torch.optim.lr_scheduler.OneCycleLR(adam, RATE, total_steps=steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(pixels)).split(BATCH):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(net(pixels[batch]), labels[batch]).backward()
            adam.step()
            pace.step()
    return net


def write(weights: Weights, path: Path) -> None:
    """The network with these weights as an ONNX file: input `image`, output `logits`."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise MissingExtraError("keeping the network of digits", "onnx", "bench") from None

    def conv(place: int, given: str) -> list[Any]:
        names = [given, f"{place}.weight", f"{place}.bias"]
        return [
            helper.make_node("Conv", names, [f"c{place}"], kernel_shape=[3, 3], pads=[1] * 4),
            helper.make_node("Relu", [f"c{place}"], [f"r{place}"]),
            helper.make_node(
                "MaxPool", [f"r{place}"], [f"p{place}"], kernel_shape=[2, 2], strides=[2, 2]
            ),
        ]

    def dense(place: int, given: str, out: str) -> Any:
        names = [given, f"{place}.weight", f"{place}.bias"]
        return helper.make_node("Gemm", names, [out], transB=1)

    nodes = [
        *conv(0, "image"),
        *conv(3, "p0"),
        helper.make_node("Flatten", ["p3"], ["flat"]),
        dense(7, "flat", "hidden"),
        helper.make_node("Relu", ["hidden"], ["r7"]),
        dense(9, "r7", "logits"),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 1, 28, 28])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    made.ir_version = 8  # older runtimes read it, too
    path.write_bytes(made.SerializeToString())
