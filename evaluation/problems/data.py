"""Raw data sets: from the folder EAGLE_DATA, or from OpenML if it has the same data."""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray

from eagle.errors import InputError, MissingExtraError
from evaluation.problems import openml
from evaluation.problems.files import folder, idx, located, reading, table, unpacked

COMPAS: Final = (
    "sex",
    "age",
    "race",
    "priors_count",
    "days_b_screening_arrest",
    "c_jail_in",
    "c_jail_out",
    "c_charge_degree",
    "is_recid",
    "score_text",
    "two_year_recid",
)
GERMAN: Final = (
    "GoodCustomer",
    "Gender",
    "ForeignWorker",
    "Single",
    "Age",
    "LoanDuration",
    "LoanAmount",
    "LoanRateAsPercentOfIncome",
    "YearsAtCurrentHome",
    "NumberOfOtherLoansAtBank",
    "NumberOfLiableIndividuals",
    "HasTelephone",
    "CheckingAccountBalance_geq_0",
    "CheckingAccountBalance_geq_200",
    "SavingsAccountBalance_geq_100",
    "SavingsAccountBalance_geq_500",
    "MissedPayments",
    "NoCurrentLoan",
    "CriticalAccountOrLoansElsewhere",
    "OtherLoansAtBank",
    "OtherLoansAtStore",
    "HasCoapplicant",
    "HasGuarantor",
    "OwnsHouse",
    "RentsHouse",
    "Unemployed",
    "YearsAtCurrentJob_lt_1",
    "YearsAtCurrentJob_geq_4",
    "JobClassIsSkilled",
)
MNIST: Final = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
SIDE: Final = 28
"""The height and width of an MNIST digit in pixels."""

Pixels = NDArray[np.uint8]


def compas() -> Any:
    """COMPAS, two years: the columns that are used, with raw values."""
    return table("compas/compas-scores-two-years.csv.gz", COMPAS)


def german() -> Any:
    """German Credit in the recoding by numbers, with `GoodCustomer` 1 or -1."""
    return table("german/german_processed.csv.gz", GERMAN)


def adult() -> Any:
    """Adult: 14 attributes, text where they are levels ("?" is missing), and `income`."""
    if folder() is None:
        return openml.adult("adult/adult.csv.gz")
    return table("adult/adult.csv.gz", openml.ADULT, keep_default_na=False)


def magic() -> Any:
    """MAGIC: ten numbers, and `class` g (gamma) or h (hadron)."""
    if folder() is None:
        return openml.magic("magic/magic04.csv.gz")
    return table("magic/magic04.csv.gz", openml.MAGIC)


@final
@dataclass(frozen=True, eq=False)
class Digits:
    """Grey digits of 28 × 28 bytes, and their labels."""

    images: Pixels
    labels: NDArray[np.uint8]


def mnist() -> tuple[Digits, Digits]:
    """MNIST: the training digits and the test digits."""
    if folder() is None:
        images, labels = openml.mnist(", ".join(f"mnist/{name}" for name in MNIST))
        return Digits(images[:60_000], labels[:60_000]), Digits(images[60_000:], labels[60_000:])
    return _digits("train"), _digits("t10k")


def _digits(part: Literal["train", "t10k"]) -> Digits:
    name = f"mnist/{part}-images-idx3-ubyte.gz"
    images, labels = idx(name, 3), idx(f"mnist/{part}-labels-idx1-ubyte.gz", 1)
    if images.shape[1:] != (SIDE, SIDE):
        raise InputError(f"{name} holds images of {images.shape[1:]}, not of 28 × 28 pixels")
    if len(labels) != len(images) or not len(labels) or labels.max() > 9:
        raise InputError(
            f"{name} holds {len(images)} images, which {len(labels)} labels do not fit: each "
            "needs one from 0 to 9"
        )
    return Digits(images, labels)


def sms() -> tuple[list[str], list[str]]:
    """SMS messages, and whether each is "ham" or "spam"."""
    relative = "sms_spam/SMSSpamCollection.tsv.gz"
    raw = unpacked(relative)
    with reading(relative, "UTF-8 text"):
        lines = [line for line in raw.decode("utf-8").split("\n") if line.strip()]
    pairs = [line.rstrip("\r").split("\t", 1) for line in lines]
    for number, pair in enumerate(pairs, start=1):
        if len(pair) != 2 or pair[0] not in ("ham", "spam"):
            raise InputError(
                f"line {number} of {relative} is not ham or spam, a tab and a text: "
                f"{lines[number - 1][:40]!r}"
            )
    if not pairs:
        raise InputError(f"{relative} has no lines")
    return [text for _, text in pairs], [label for label, _ in pairs]


@final
@dataclass(frozen=True, eq=False)
class Photo:
    """A colour photograph, its file's name, and the number of its ImageNet class."""

    name: str
    pixels: Pixels
    label: int


def photos(name: str) -> list[Photo]:
    """The photographs of a zip file with `labels.csv`, as RGB; grey ones have three channels."""
    relative = f"photos/{name}.zip"
    path = located(relative)
    with reading(relative, "a zip of photographs with labels.csv"), zipfile.ZipFile(path) as packed:
        listed = io.TextIOWrapper(io.BytesIO(packed.read("labels.csv")), "utf-8", newline="")
        photographs = [
            Photo(row["file"], _decoded(packed.read(row["file"])), int(row["imagenet_index"]))
            for row in csv.DictReader(listed)
        ]
    if not photographs:
        raise InputError(f"labels.csv in {relative} lists no photographs")
    return photographs


def _decoded(raw: bytes) -> Pixels:
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("a photograph", "pillow", "bench") from None
    with Image.open(io.BytesIO(raw)) as image:
        return np.asarray(image.convert("RGB"))


def imagenet_classes() -> list[str]:
    """The names of ImageNet's classes by number: the first synonym of each.

    A name that two classes share has its number added: "crane (134)" is the bird.
    """
    relative = "photos/imagenet_classes.csv"
    path = located(relative)
    with (
        reading(relative, "a list of index, wnid and name"),
        path.open(encoding="utf-8", newline="") as stream,
    ):
        rows = [(int(row["index"]), row["name"]) for row in csv.DictReader(stream)]
    if not rows or [index for index, _ in rows] != list(range(len(rows))):
        raise InputError(f"the indices in {relative} do not run from 0 without gaps")
    short = [name.split(",")[0].strip() for _, name in rows]
    often = Counter(short)
    return [name if often[name] == 1 else f"{name} ({i})" for i, name in enumerate(short)]


def weights(name: str) -> Path:
    """The ONNX file of a network."""
    return located(f"weights/{name}.onnx")
