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

from eagle._values.arrays import Array
from eagle._values.checks import (
    as_numbers,
    check_choice,
    check_flags,
    check_function,
    elements,
    integer,
    path_of,
    string,
)
from eagle._values.link import softmax
from eagle._values.log import LOG
from eagle._values.packages import package
from eagle._values.text import short_repr
from eagle.errors import InputError, ReplyError
from eagle.models.onnx import REALS, Feed, open_session, run_in_batches
from eagle.models.presets import PRESETS, preset
from eagle.models.torch import evaluation_mode

__all__ = ["Network"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)


COLOURS: Final = (1, 3, 4)
CHANNELS: Final = (1, 2, 3, 4)
"""Grey, grey and alpha, colour, colour and alpha."""


@final
@dataclass(frozen=True, eq=False)
class Network:
    """A network as a classifier of images: a batch of shape (n, height, width, channels).

    Channels may also come first, as from `Images(channels="first")`. Grey images are repeated to
    three channels where the network's first layer takes three. Pixels become float32; those of
    Boolean images are 0 and 1, black and white. `preset` names a common normalisation, such as
    "imagenet": see `eagle.models.presets.PRESETS`. Else `mean` is subtracted and the result divided
    by `std`: one number each, or one for each channel, in the images' own units, and `reverse`
    turns RGB into BGR. `channels` is "first" or "last" in the network's input. At most `batch`
    images are run at once. `classes` are the names of the outputs.

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
        check_function(self.run, "run, the network,")
        check_choice(self.channels, ("first", "last"), "channels")
        integer(self.batch, "the number of images in a batch", 1)
        check_flags(reverse=self.reverse, softmax=bool(self.softmax is None) or self.softmax)
        for name, value in (("mean", self.mean), ("std", self.std)):
            given = as_numbers(value, name)
            if given.dtype.kind == "b" or not given.size or not np.isfinite(given).all():
                raise InputError(f"{name} is a number, or one a channel, not {short_repr(value)}")
        if not np.all(np.asarray(self.std, dtype=float) > 0):
            raise InputError(
                f"std divides the pixels: it must be above 0, not {short_repr(self.std)}"
            )
        if self.classes is not None:
            classes = tuple(elements(self.classes, "classes, the names of outputs,"))
            object.__setattr__(self, "classes", classes)
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
        torch = sys.modules.get("torch")  # there is no module of it before it is imported
        if torch is None or not isinstance(module, torch.nn.Module):
            raise InputError(f"of_torch takes a torch module, not {short_repr(module)}")
        if device is not None:
            string(device, "a device, such as 'cuda:0',")
        return cls(TorchRun(module, device), **settings)

    @classmethod
    def of_onnx(
        cls, path: str | PathLike[str], *, threads: int | None = None, **settings: Any
    ) -> Network:
        """A graph in an ONNX file that takes one batch of images.

        Its first output must be logits or probabilities. `threads` of None leaves the number of
        threads to onnxruntime. Where the channels are is read from the graph if it says it.
        """
        run = OnnxRun(path, threads)
        if run.channels is not None:
            settings.setdefault("channels", run.channels)
        return cls(run, **settings)

    def predict_proba(self, images: Any) -> Array:
        """Probabilities of classes, shape (n, classes)."""
        layer = self.run.colours if isinstance(self.run, TorchRun | OnnxRun) else None
        images = self._match_channels(batch_of(images, layer))
        scale = self._scale(images)
        parts = [
            _outputs(self._ran(self.prepare(images[start : start + self.batch], scale)))
            for start in range(0, len(images), self.batch)
        ]
        return self._probabilities(np.concatenate(parts).astype(np.float64))

    def _ran(self, pixels: NDArray[np.float32]) -> Any:
        """What the network returns. Channels that came in the wrong place are refused as such."""
        try:
            return self.run(pixels)
        except Exception:
            other: Literal["first", "last"] = "last" if self.channels == "first" else "first"
            if isinstance(self.run, TorchRun) and self.run.wants(pixels, other):
                raise InputError(
                    "the channels of the images come to the network's first layer as height or "
                    f"width: give Network.of_torch(module, channels={other!r})"
                ) from None
            raise

    def prepare(self, images: NDArray[Any], scale: float = 1.0) -> NDArray[np.float32]:
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

    def _match_channels(self, images: NDArray[Any]) -> NDArray[Any]:
        """The images with as many channels as the first layer takes; refused if they have not."""
        count, takes = images.shape[-1], None
        if isinstance(self.run, OnnxRun):
            takes = self.run.colours
        elif isinstance(self.run, TorchRun):
            first = images[:1] if self.channels == "last" else np.moveaxis(images[:1], -1, 1)
            takes = self.run.takes(np.ascontiguousarray(first, dtype=np.float32), count)
        if takes is None:
            takes = 3 if count == 1 and 3 in (np.size(self.mean), np.size(self.std)) else count
        if count == takes:
            return images
        if count == 1 and takes == 3:
            return np.repeat(images, 3, axis=-1)
        what = f"{takes} channel{'s' if takes > 1 else ''}"
        how = f"give images with {what}"
        if count in (2, 4) and takes in (1, 3):
            how = "leave out the last channel, which says how opaque a pixel is"
        elif takes == 1:
            how = "give grey images, such as image.mean(axis=-1)"
        raise InputError(
            f"the network's first layer takes {what}, and these images have {count}: {how}"
        )

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
            return softmax(outputs)
        else:
            one = np.exp(-np.logaddexp(0.0, -outputs))  # the sigmoid, without overflow
        return one if one.shape[1] > 1 else np.concatenate([1.0 - one, one], axis=1)

    def _are_probabilities(self, outputs: Array) -> bool:
        """Whether outputs are probabilities already. What the first call shows holds for all."""
        inside = bool(outputs.min() >= 0 and outputs.max() <= 1 + SUM_TOLERANCE)
        sums = bool(np.abs(outputs.sum(axis=1) - 1).max() <= SUM_TOLERANCE)
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


SUM_TOLERANCE: Final = 1e-3
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

    @property
    def colours(self) -> int | None:
        """The channels of the first of its convolutions; None if it has none, or is lazy."""
        layers = self._layers("Conv2d")
        return int(layers[0].in_channels) or None if layers else None

    def _layers(self, kind: str) -> list[Any]:
        """The layers of a kind of `torch.nn`."""
        torch = package("torch", "a torch module", "torch")
        return [part for part in self.module.modules() if isinstance(part, vars(torch.nn)[kind])]

    def takes(self, pixels: NDArray[np.float32], count: int) -> int | None:
        """How many channels the first convolution takes where an image has `count`.

        None if that is not known. The module is run up to that layer alone, and not at all where
        the first of its convolutions fits. A layer whose channels come in another place is refused.
        """
        layers = self._layers("Conv2d")
        if not layers:
            return self._takes_in_a_row(pixels, count)
        if layers[0].in_channels == count == pixels.shape[1]:
            return None
        wanted, shape = self._first_layer(pixels) or (layers[0].in_channels, pixels.shape)
        if len(shape) != 4 or shape[1] == wanted or not wanted:
            return None
        if shape == pixels.shape and shape[-1] == wanted == count:
            raise InputError(
                "the network's first layer takes channels before height and width: leave out "
                "channels='last'"
            )
        return int(wanted) if shape[1] == count else None

    def _takes_in_a_row(self, pixels: NDArray[np.float32], count: int) -> int | None:
        """The same where the first layer takes all numbers of an image in a row."""
        found, each = self._first_layer(pixels, "Linear"), int(pixels[0].size)
        if found is None or not found[0] or found[1][-1] != each or found[0] == each:
            return None
        if found[0] % (each // count) == 0:
            return int(found[0] // (each // count))
        raise InputError(
            f"the network's first layer takes {found[0]:,} numbers an image, and these have "
            f"{each:,}: give images in the size that it was trained on"
        )

    def wants(self, pixels: NDArray[np.float32], channels: Literal["first", "last"]) -> bool:
        """Whether the images' channels come to the first convolution as such if they stand there,
        and as height or width as they are. Whether there are as many as it takes is not asked."""
        here, there = (1, -1) if channels == "last" else (-1, 1)
        now = self._first_layer(pixels)
        then = self._first_layer(np.ascontiguousarray(np.moveaxis(pixels, here, there)))
        count = pixels.shape[here]
        return bool(now and then and now[1][1] not in (now[0], count) and then[1][1] == count)

    def _first_layer(
        self, pixels: NDArray[np.float32], kind: str = "Conv2d"
    ) -> tuple[int, tuple[int, ...]] | None:
        """The channels, or numbers in a row, that the first layer of a kind takes, and the shape
        that comes to it; None if nothing does. The module is run up to that layer alone."""
        seen: list[tuple[int, tuple[int, ...]]] = []
        width = "in_channels" if kind == "Conv2d" else "in_features"

        def stop(layer: Any, given: Any) -> None:
            seen.append((int(getattr(layer, width)), tuple(given[0].shape)))
            raise _SeenError

        hooks = [layer.register_forward_pre_hook(stop) for layer in self._layers(kind)]
        try:
            self(pixels)
        except Exception as error:  # the module may refuse such images by itself
            LOG.debug("the first layer was looked for: %s", type(error).__name__)
        finally:
            for hook in hooks:
                hook.remove()
        return seen[0] if seen else None

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[Any]:
        torch = package("torch", "a torch module", "torch")
        own = next(self.module.parameters(), torch.empty(0))
        given = torch.from_numpy(pixels).to(self.device or own.device)
        with evaluation_mode(self.module), torch.inference_mode():
            reply = self.module(given.to(own.dtype) if own.is_floating_point() else given)
        return np.asarray(_logits(reply, torch.Tensor).detach().float().cpu().numpy())


class _SeenError(Exception):
    """The first layer of its kind was reached, and what it takes is known."""


def batch_of(images: Any, colours: int | None) -> NDArray[Any]:
    """Images as a batch of shape (n, height, width, channels), from one whose channels come last,
    or first, or that has none; True becomes 1.

    Where both could be the channels, they are first only if their number alone is `colours`.
    """
    given = as_numbers(images, "images")
    if given.ndim not in (3, 4) or not given.size:
        raise InputError(
            "images are a batch of shape (n, height, width) or (n, height, width, channels), not "
            f"{given.shape}"
        )
    if given.ndim == 3 and given.shape[-1] == 3:
        raise InputError(
            f"an array of shape {given.shape} is one colour image, not a batch: give image[None]"
        )
    given = given.astype(np.float32) if given.dtype.kind == "b" else given
    if given.ndim == 3:
        return given[..., None]
    front, back = given.shape[1], given.shape[-1]
    first = front in CHANNELS and (back not in CHANNELS or front == colours != back)
    return np.moveaxis(given, 1, -1) if first else given


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

    def __init__(self, path: str | PathLike[str], threads: int | None = None) -> None:
        self.path = str(path_of(path).resolve())
        if not Path(self.path).is_file():
            raise InputError(f"there is no file {self.path}")
        if threads is not None:
            integer(threads, "the number of threads", 1)
        self.threads = threads
        # Quantised weights are unpacked once, not at every call.
        self._session = open_session(self.path, threads, {"session.disable_quant_qdq": "1"})
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in REALS:
            listed = ", ".join(f"{i.name!r} of {i.type}{i.shape}" for i in inputs)
            raise InputError(f"{self.path} does not take one batch of images, but {listed}")
        self._input, self._shape = inputs[0].name, tuple(inputs[0].shape[1:])
        self._dtype = np.dtype(REALS[inputs[0].type])
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
    def colours(self) -> int | None:
        """How many channels the graph takes; None if it does not say it."""
        count = self._shape[-1 if self.channels == "last" else 0]
        return count if isinstance(count, int) else None

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[Any]:
        given = pixels.shape[1:]
        if any(isinstance(w, int) and w != g for w, g in zip(self._shape, given, strict=True)):
            raise InputError(
                f"the network takes images of shape {self._shape}, but they came to it as "
                f"{given}: give them in this size"
            )
        pixels = pixels.astype(self._dtype, copy=False)
        return run_in_batches({self._input: pixels}, len(pixels), self._batch, self._run)

    def _run(self, feed: Feed, rows: int) -> NDArray[Any]:
        return np.asarray(self._session.run(None, feed)[0])

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
