"""A PNG file from pixels, for self-contained pages."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def encode(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels of shape (height, width, 3) as the bytes of a PNG file."""
    height, width, _ = pixels.shape
    # As it is, or each line as its difference from the one above, where smooth parts become zeros.
    above = np.vstack([np.zeros((1, width, 3), dtype=np.uint8), pixels[:-1]])
    packed = min((_compress(0, pixels), _compress(2, pixels - above)), key=len)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", packed), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _compress(number: int, pixels: NDArray[np.uint8]) -> bytes:
    """Lines to which the filter of this number was applied, compressed."""
    lines = np.full((len(pixels), 1 + 3 * pixels.shape[1]), number, dtype=np.uint8)
    lines[:, 1:] = pixels.reshape(len(pixels), -1)
    return zlib.compress(lines.tobytes(), 9)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
