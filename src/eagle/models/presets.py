"""How networks want their pixels: the common normalisations by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, final

from eagle._values.text import short_repr
from eagle.errors import InputError


@final
@dataclass(frozen=True)
class Preset:
    """Pixels from 0 to 255 less `mean`, divided by `std`; `reverse` turns RGB into BGR first."""

    mean: float | Sequence[float]
    std: float | Sequence[float]
    reverse: bool
    used_by: str


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "imagenet": Preset(
            (123.675, 116.28, 103.53), (58.395, 57.12, 57.375), False, "torchvision, timm"
        ),
        "imagenet-bgr": Preset(
            (103.939, 116.779, 123.68), 1.0, True, "Caffe; VGG and ResNet of Keras"
        ),
        "minus-one-to-one": Preset(127.5, 127.5, False, "MobileNet and Inception of Keras, ViT"),
        "zero-to-one": Preset(0.0, 255.0, False, "DenseNet of Keras, detectors, small networks"),
        "zero-to-255": Preset(0.0, 1.0, False, "EfficientNet of Keras: it normalises by itself"),
        "efficientnet-lite": Preset(127.0, 128.0, False, "EfficientNet-Lite of TensorFlow"),
        "clip": Preset((122.771, 116.746, 104.094), (68.501, 66.632, 70.323), False, "CLIP"),
    }
)
"""By name. Pixels are from 0 to 255, or floats from 0 to 1, which are multiplied by 255."""


def preset(name: object) -> Preset:
    """The preset of a name; any other name is refused."""
    if not isinstance(name, str) or name not in PRESETS:
        raise InputError(f"a preset is one of {', '.join(PRESETS)}, not {short_repr(name)}")
    return PRESETS[name]
