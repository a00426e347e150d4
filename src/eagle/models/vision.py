"""Networks on images as models: preprocessed, in small batches, as probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from eagle.types import Array, InputError, MissingExtraError, ReplyError


@final
@dataclass(frozen=True, eq=False)
class Network:
    """A network as a classifier of images whose channels come last.

    Pixels are taken as float32, less `mean`, divided by `std` (numbers, or one a channel, in the
    images' own units), turned to BGR if `reverse`, and laid out with channels "first" or "last".
    At most `batch` images are run at once. Outputs are logits, made probabilities by softmax,
    unless `softmax` is False. `classes` are their names.
    """

    run: Callable[[NDArray[np.float32]], Any]
    mean: float | Sequence[float] = 0.0
    std: float | Sequence[float] = 1.0
    channels: Literal["first", "last"] = "first"
    reverse: bool = False
    batch: int = 32
    softmax: bool = True
    classes: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if self.channels not in ("first", "last"):
            raise InputError(f"channels are 'first' or 'last', not {self.channels!r}")
        if not isinstance(self.batch, int) or self.batch < 1:
            raise InputError(f"a batch has at least 1 image, not {self.batch!r}")
        if not np.all(np.asarray(self.std, dtype=float) > 0):
            raise InputError(f"std divides the pixels: it must be above 0, not {self.std!r}")

    @property
    def classes_(self) -> tuple[Any, ...] | None:
        return None if self.classes is None else tuple(self.classes)

    @classmethod
    def of_torch(cls, module: Any, device: str = "cpu", **settings: Any) -> Network:
        """A torch module, in evaluation mode while it is asked, on a device."""
        return cls(TorchRun(module, device), **settings)

    @classmethod
    def of_onnx(
        cls, path: str | PathLike[str], *, threads: int | None = None, **settings: Any
    ) -> Network:
        """A graph in an ONNX file with one image input and its logits or probabilities first,
        run by so many threads; None leaves that to onnxruntime."""
        return cls(OnnxRun(str(path), threads), **settings)

    def predict_proba(self, pictures: Any) -> Array:
        """Probabilities of classes, shape (n, classes)."""
        pictures = np.asarray(pictures)
        parts = [
            np.asarray(self.run(self.prepared(pictures[start : start + self.batch])))
            for start in range(0, len(pictures), self.batch)
        ]
        if any(part.ndim != 2 for part in parts):
            raise ReplyError(
                f"the network returned an array of shape {parts[0].shape} where (images, "
                "classes) was expected"
            )
        answers = np.concatenate(parts).astype(np.float64)
        return _softmax(answers) if self.softmax else answers

    def prepared(self, pictures: NDArray[Any]) -> NDArray[np.float32]:
        """ImageInstance as the network takes them."""
        pixels = pictures.astype(np.float32)
        pixels = pixels[..., None] if pixels.ndim == 3 else pixels
        if self.reverse:
            pixels = pixels[..., ::-1]
        mean, std = (np.asarray(v, dtype=np.float32) for v in (self.mean, self.std))
        for name, given in (("mean", mean), ("std", std)):
            if given.ndim > 1 or given.size not in (1, pixels.shape[-1]):
                raise InputError(
                    f"{name} has {given.size} numbers, but images have {pixels.shape[-1]} channels"
                )
        pixels = (pixels - mean) / std
        first = np.moveaxis(pixels, -1, 1) if self.channels == "first" else pixels
        return np.ascontiguousarray(first, dtype=np.float32)


@final
@dataclass(frozen=True, eq=False)
class TorchRun:
    """A torch module as a function of arrays; left in the mode it was in."""

    module: Any
    device: str = "cpu"

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[Any]:
        try:
            import torch
        except ImportError:
            raise MissingExtraError("a torch module", "torch", "torch") from None
        training = bool(self.module.training)
        self.module.eval()
        try:
            with torch.inference_mode():
                reply = self.module(torch.from_numpy(pixels).to(self.device))
        finally:
            self.module.train(training)
        return np.asarray(reply.detach().cpu().numpy())


@final
class OnnxRun:
    """A graph in a file as a function of arrays; the file must exist where this is unpickled."""

    def __init__(self, path: str, threads: int | None = None) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtraError("an ONNX network", "onnxruntime", "onnx") from None
        self.path = str(Path(path).resolve())
        if not Path(self.path).is_file():
            raise InputError(f"there is no file {path}")
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise InputError(f"a network is run by at least 1 thread, not {threads!r}")
        self.threads = threads
        options = onnxruntime.SessionOptions()
        if threads is not None:
            options.intra_op_num_threads = threads
        # Weights kept as integers are unpacked once, not at every call.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        try:
            self._session = onnxruntime.InferenceSession(
                self.path, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has errors of its own
            raise InputError(f"{path} is not an ONNX graph that can be run: {error}") from None
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4:
            raise InputError(f"{path} does not take one batch of images: {inputs}")
        self._input, self._shape = inputs[0].name, tuple(inputs[0].shape[1:])

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[Any]:
        given = pixels.shape[1:]
        if any(isinstance(w, int) and w != g for w, g in zip(self._shape, given, strict=True)):
            raise InputError(
                f"the network takes images of shape {self._shape}, but they came to it as "
                f"{given}: mind the size, and grey or transparent ones where it wants colours"
            )
        return np.asarray(self._session.run(None, {self._input: pixels})[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxRun, (self.path, self.threads)


def _softmax(logits: Array) -> Array:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
