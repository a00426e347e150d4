"""Networks on images as models: they preprocess, run in batches, and give probabilities."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray

from eagle.models.presets import PRESETS, preset
from eagle.types import Array, InputError, MissingExtraError, ReplyError

__all__ = ["Network"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


COLOURS: Final = (1, 3, 4)
DTYPES: Final = {"tensor(float)": "f4", "tensor(float16)": "f2", "tensor(double)": "f8"}


@final
@dataclass(frozen=True, eq=False)
class Network:
    """A network as a classifier of images whose channels come last.

    Pixels become float32. `preset` names a common normalisation, such as "imagenet": see
    `eagle.models.presets.PRESETS`. Else `mean` is subtracted and the result divided by `std`: one
    number each, or one for each channel, in the images' own units, and `reverse` turns RGB into
    BGR. `channels` is "first" or "last" in the network's input. At most `batch` images are run at
    once. `classes` are the names of the outputs.

    Outputs that sum to 1, or a single one from 0 to 1, are probabilities already. Others are
    logits: several become probabilities by softmax, a single one that of the second of two classes
    by the sigmoid. Where that guess is wrong, set `softmax`: True for logits, False for outputs to
    be taken as they are.
    """

    run: Callable[[NDArray[np.float32]], Any]
    mean: float | Sequence[float] = 0.0
    std: float | Sequence[float] = 1.0
    channels: Literal["first", "last"] = "first"
    reverse: bool = False
    batch: int = 32
    softmax: bool | None = None
    classes: Sequence[Any] | None = None
    preset: str | None = None
    _read: list[str] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.channels not in ("first", "last"):
            raise InputError(f"channels are 'first' or 'last', not {self.channels!r}")
        if not isinstance(self.batch, int) or self.batch < 1:
            raise InputError(f"a batch has at least 1 image, not {self.batch!r}")
        if not np.all(np.asarray(self.std, dtype=float) > 0):
            raise InputError(f"std divides the pixels: it must be above 0, not {self.std!r}")
        if self.preset is not None:
            if np.any(self.mean) or np.any(np.asarray(self.std) != 1.0) or self.reverse:
                raise InputError("pixels are normalised by a preset, or by mean, std and reverse")
            how = preset(self.preset)
            for name, value in (("mean", how.mean), ("std", how.std), ("reverse", how.reverse)):
                object.__setattr__(self, name, value)

    @property
    def classes_(self) -> tuple[Any, ...] | None:
        return None if self.classes is None else tuple(self.classes)

    @classmethod
    def of_torch(cls, module: Any, device: str | None = None, **settings: Any) -> Network:
        """A torch module on a device, by default its own. It is in evaluation mode while asked.

        Its output is a tensor, or has one named `logits`, as those of Hugging Face have.
        """
        return cls(TorchRun(module, device), **settings)

    @classmethod
    def of_onnx(
        cls, path: str | PathLike[str], *, threads: int | None = None, **settings: Any
    ) -> Network:
        """A graph in an ONNX file that takes one batch of images.

        Its first output must be logits or probabilities. `threads` of None leaves the number of
        threads to onnxruntime. Where the channels are is read from the graph if it says it.
        """
        run = OnnxRun(str(path), threads)
        if run.channels is not None:
            settings.setdefault("channels", run.channels)
        return cls(run, **settings)

    def predict_proba(self, images: Any) -> Array:
        """Probabilities of classes, shape (n, classes)."""
        images = np.asarray(images)
        scale = self._scale(images)
        parts = [
            _outputs(self.run(self.prepared(images[start : start + self.batch], scale)))
            for start in range(0, len(images), self.batch)
        ]
        return self._probabilities(np.concatenate(parts).astype(np.float64))

    def prepared(self, images: NDArray[Any], scale: float = 1.0) -> NDArray[np.float32]:
        """Images, multiplied by a scale first, in the form that the network takes."""
        pixels = images.astype(np.float32)
        pixels = pixels[..., None] if pixels.ndim == 3 else pixels
        if self.reverse:
            pixels = pixels[..., ::-1]
        mean, std = (np.asarray(v, dtype=np.float32) for v in (self.mean, self.std))
        for name, given in (("mean", mean), ("std", std)):
            if given.ndim > 1 or given.size not in (1, pixels.shape[-1]):
                raise InputError(
                    f"{name} has {given.size} numbers, but images have {pixels.shape[-1]} channels"
                )
        pixels = (pixels * np.float32(scale) - mean) / std
        first = np.moveaxis(pixels, -1, 1) if self.channels == "first" else pixels
        return np.ascontiguousarray(first, dtype=np.float32)

    def _scale(self, images: NDArray[Any]) -> float:
        """What pixels are multiplied by: 255 where a preset meets floats from 0 to 1. A range that
        cannot be meant is refused."""
        brightest = float(images.max()) if images.size else 0.0
        unit = images.dtype.kind == "f" and 0.0 < brightest <= 1.0 and float(images.min()) >= 0.0
        if self.preset is not None:
            return 255.0 if unit else 1.0
        mean, std = float(np.max(np.abs(self.mean))), float(np.min(self.std))
        if unit and mean > 1.0:
            raise InputError(
                f"the pixels lie between 0 and {brightest:.3g}, but a mean of {mean:.4g} is for "
                "pixels from 0 to 255: multiply the images by 255, or name a preset"
            )
        if brightest > 2.0 and 0.0 < mean <= 1.0 and std <= 1.0:
            raise InputError(
                f"the pixels reach {brightest:.4g}, but a mean of {mean:.4g} is for pixels from 0 "
                "to 1: divide the images by 255, or name a preset"
            )
        return 1.0

    def _probabilities(self, outputs: Array) -> Array:
        if self.softmax is False:
            return outputs
        if not self.softmax and self._are_probabilities(outputs):
            one = outputs
        elif outputs.shape[1] > 1:
            return _softmax(outputs)
        else:
            one = np.exp(-np.logaddexp(0.0, -outputs))  # the sigmoid, without overflow
        return one if one.shape[1] > 1 else np.concatenate([1.0 - one, one], axis=1)

    def _are_probabilities(self, outputs: Array) -> bool:
        """Whether outputs are probabilities already. What the first call shows holds for all."""
        inside = bool(outputs.min() >= 0 and outputs.max() <= 1 + EXACT)
        sums = bool(np.abs(outputs.sum(axis=1) - 1).max() <= EXACT)
        fits = inside and (sums or outputs.shape[1] == 1)
        if inside and not fits and "logits" not in self._read:
            raise ReplyError(
                f"the network's {outputs.shape[1]} outputs lie between 0 and 1 but do not sum to "
                "1, as those of independent labels do: say softmax=True if they are logits; else "
                "wrap the network in a function that returns one of them",
                answers=outputs,
            )
        if not self._read:
            self._read.append("probabilities" if fits else "logits")
        if self._read[0] == "probabilities" and not fits:
            raise ReplyError(
                "the network's outputs looked like probabilities at first, and do not now: say "
                "softmax=True if they are logits, or softmax=False to take them as they are",
                answers=outputs,
            )
        return self._read[0] == "probabilities"


EXACT: Final = 1e-3
"""Probabilities of 32 or 16 bits sum to 1 within this."""


def refuse_bare(model: Any, asked: str | None) -> None:
    """A torch module on images does not say how it wants them: refuse it, and say how."""
    torch = sys.modules.get("torch")
    if asked == "image" and torch is not None and isinstance(model, torch.nn.Module):
        raise InputError(
            "a torch module does not say how it wants its pixels: give eagle.models.vision."
            "Network.of_torch(module, preset='imagenet'), or another preset, of "
            f"{', '.join(PRESETS)}, or mean and std"
        )


@final
@dataclass(frozen=True, eq=False)
class TorchRun:
    """A torch module as a function of arrays. Its training mode is restored after each call."""

    module: Any
    device: str | None = None

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[Any]:
        try:
            import torch
        except ImportError:
            raise MissingExtraError("a torch module", "torch", "torch") from None
        own = next(self.module.parameters(), torch.empty(0))
        given = torch.from_numpy(pixels).to(self.device or own.device)
        modes = [(part, part.training) for part in self.module.modules()]
        self.module.eval()
        try:
            with torch.inference_mode():
                reply = self.module(given.to(own.dtype) if own.is_floating_point() else given)
        finally:
            for part, training in modes:
                part.training = training
        return np.asarray(_logits(reply, torch.Tensor).detach().float().cpu().numpy())


def _logits(reply: Any, tensor: type) -> Any:
    """The tensor of logits in what a module returns; `tensor` is torch's type."""
    if isinstance(reply, Mapping) and "logits" in reply:
        return reply["logits"]
    if hasattr(reply, "logits"):
        return reply.logits
    first = reply[0] if isinstance(reply, tuple | list) and reply else reply
    if not isinstance(first, tensor):
        raise ReplyError(
            f"the module returned a {type(reply).__name__}, which is no tensor and has no logits: "
            "wrap it in one that returns a tensor"
        )
    return first


@final
class OnnxRun:
    """An ONNX file as a function of arrays. The file must exist where this is unpickled."""

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
        # Quantised weights are unpacked once, not at every call.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        try:
            self._session = onnxruntime.InferenceSession(
                self.path, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has errors of its own
            raise InputError(f"{path} is not an ONNX graph that can be run: {error}") from None
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in DTYPES:
            listed = ", ".join(f"{i.name!r} of {i.type}{i.shape}" for i in inputs)
            raise InputError(f"{path} does not take one batch of images, but {listed}")
        self._input, self._shape = inputs[0].name, tuple(inputs[0].shape[1:])
        self._dtype = np.dtype(DTYPES[inputs[0].type])
        # A graph exported with a fixed first dimension takes exactly this many images.
        self._batch = inputs[0].shape[0] if isinstance(inputs[0].shape[0], int) else None

    @property
    def channels(self) -> Literal["first", "last"] | None:
        """Where the graph has its channels; None if it does not say it."""
        first, last = self._shape[0] in COLOURS, self._shape[-1] in COLOURS
        return None if first == last else "first" if first else "last"

    @property
    def size(self) -> tuple[int, int] | None:
        """The height and width that the graph takes; None if it takes several."""
        high, wide = self._shape[:2] if self.channels == "last" else self._shape[1:]
        return (high, wide) if isinstance(high, int) and isinstance(wide, int) else None

    @property
    def colours(self) -> int:
        """How many channels the graph takes; 3 if it does not say it."""
        count = self._shape[-1 if self.channels == "last" else 0]
        return count if isinstance(count, int) else 3

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[Any]:
        given = pixels.shape[1:]
        if any(isinstance(w, int) and w != g for w, g in zip(self._shape, given, strict=True)):
            raise InputError(
                f"the network takes images of shape {self._shape}, but they came to it as "
                f"{given}: mind the size, and grey or transparent ones where it wants colours"
            )
        pixels = pixels.astype(self._dtype, copy=False)
        if self._batch is None:
            return np.asarray(self._session.run(None, {self._input: pixels})[0])
        parts = []
        for start in range(0, len(pixels), self._batch):
            taken = np.minimum(np.arange(start, start + self._batch), len(pixels) - 1)
            parts.append(np.asarray(self._session.run(None, {self._input: pixels[taken]})[0]))
        return np.concatenate(parts)[: len(pixels)]

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxRun, (self.path, self.threads)


def _outputs(reply: Any) -> NDArray[Any]:
    """A reply as an array of shape (images, classes)."""
    outputs = np.asarray(reply)
    while outputs.ndim > 2 and outputs.shape[-1] == 1:  # a last map of one pixel
        outputs = outputs[..., 0]
    outputs = outputs[:, None] if outputs.ndim == 1 else outputs
    if outputs.ndim != 2:
        raise ReplyError(
            f"the network returned an array of shape {outputs.shape} where (images, classes) was "
            "expected"
        )
    return outputs


def _softmax(logits: Array) -> Array:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
