"""A folder of data in the very formats that `evaluation.problems.data` reads, but tiny."""

from __future__ import annotations

import csv
import gzip
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from onnx import TensorProto

from evaluation.problems import cnn, data, openml
from graphs import graph, node, value

ROWS = 200
SIDE = 32
ADVICE = "call now to claim it, text WIN to stop or to go on, free of any cost"
CLASSES = ("tench, Tinca tinca", "crane, lifting device", "crane, a bird", "stop sign")


def folder(root: Path) -> Path:
    """All data sets, below this folder."""
    rng = np.random.default_rng(0)
    for name, table in (
        ("compas/compas-scores-two-years", compas(rng)),
        ("german/german_processed", german(rng)),
        ("adult/adult", adult(rng)),
        ("magic/magic04", magic(rng)),
    ):
        (root / name).parent.mkdir(parents=True)
        table.to_csv(root / f"{name}.csv.gz", index=False)
    mnist(root / "mnist", rng)
    sms(root / "sms_spam")
    photos(root / "photos", rng)
    network(root / "weights" / "efficientnet_lite0.onnx", reverse=False)
    network(root / "weights" / "resnet50_int8weights.onnx", reverse=True)
    return root


def compas(rng: Any) -> pd.DataFrame:
    """Some rows are to be left out: an offence of degree O, a score long after the arrest."""
    priors = rng.integers(0, 20, ROWS)
    entered = pd.Timestamp("2013-01-01 06:00:00") + pd.to_timedelta(rng.integers(0, 90, ROWS), "D")
    days = rng.integers(-40, 41, ROWS).astype(float)
    days[:5] = np.nan
    return pd.DataFrame(
        {
            "id": np.arange(ROWS),
            "sex": rng.choice(["Male", "Female"], ROWS),
            "age": rng.integers(18, 70, ROWS),
            "race": rng.choice(["African-American", "Caucasian", "Other"], ROWS),
            "priors_count": priors,
            "days_b_screening_arrest": days,
            "c_jail_in": entered,
            "c_jail_out": entered + pd.to_timedelta(rng.integers(0, 900, ROWS), "h"),
            "c_charge_degree": rng.choice(["F", "M", "O"], ROWS, p=[0.6, 0.3, 0.1]),
            "is_recid": rng.choice([-1, 0, 1], ROWS),
            "score_text": np.where(priors > 12, "High", np.where(priors > 6, "Medium", "Low")),
            "two_year_recid": rng.integers(0, 2, ROWS),
        }
    )


def german(rng: Any) -> pd.DataFrame:
    table = pd.DataFrame({name: rng.integers(0, 2, ROWS) for name in data.GERMAN})
    table["Gender"] = rng.choice(["Male", "Female"], ROWS)
    table["PurposeOfLoan"] = rng.choice(["Electronics", "NewCar"], ROWS)
    table["Age"] = rng.integers(19, 75, ROWS)
    table["GoodCustomer"] = np.where(table["Age"] > 30, 1, -1)
    return table


def adult(rng: Any) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            name: rng.integers(0, 99, ROWS)
            if name in openml.NUMBERS
            else rng.choice(["?", "one", "other"], ROWS)
            for name in openml.ADULT
        }
    )
    table["income"] = np.where(table["age"] > 40, ">50K", "<=50K")
    table["split"] = "train"
    return table


def magic(rng: Any) -> pd.DataFrame:
    table = pd.DataFrame({name: rng.normal(size=ROWS) for name in openml.MAGIC})
    table["class"] = np.where(table["fAlpha"] > 0, "g", "h")
    return table


def mnist(root: Path, rng: Any) -> None:
    """Digits whose brightness is what they are."""
    root.mkdir()
    for part, count in (("train", ROWS), ("t10k", 50)):
        labels = rng.integers(0, 10, count).astype(np.uint8)
        noise = rng.integers(0, 20, (count, 28, 28))
        images = (noise + 22 * labels[:, None, None]).astype(np.uint8)
        for name, values in (("images-idx3", images), ("labels-idx1", labels)):
            write_idx(root / f"{part}-{name}-ubyte.gz", values)


def write_idx(path: Path, values: Any) -> None:
    head = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    path.write_bytes(gzip.compress(head + values.tobytes()))


def sms(root: Path) -> None:
    root.mkdir()
    lines = ["ham\t:-)", 'ham\tHe said "see you', "spam\tWin"]
    for k in range(ROWS):
        lines.append(f"ham\tsee you at {k} in the usual place, and bring some bread")
        lines.append(f"spam\tURGENT! You have won a prize of £{k}000, {ADVICE}")
    lines += lines[-4:]  # some come twice
    (root / "SMSSpamCollection.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def photos(root: Path, rng: Any) -> None:
    root.mkdir()
    with (root / "imagenet_classes.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(
            [("index", "wnid", "name"), *((i, f"n{i}", name) for i, name in enumerate(CLASSES))]
        )
    for name, mode in (("caltech101_224", "RGB"), ("things_cc0_gray_224", "L")):
        with zipfile.ZipFile(root / f"{name}.zip", "w") as packed:
            files = [(f"{k}_a_photo.jpg", k % 3) for k in range(6)]
            rows = [
                "file,imagenet_index,wnid,imagenet_class",
                *(f"{f},{i},n{i},x" for f, i in files),
            ]
            packed.writestr("labels.csv", "\n".join(rows) + "\n")
            for file, label in files:
                packed.writestr(file, jpeg(rng, label, mode))


def jpeg(rng: Any, label: int, mode: str) -> bytes:
    """A picture in which one channel is bright."""
    from PIL import Image

    pixels = rng.integers(0, 60, (SIDE, SIDE, 3)).astype(np.uint8)
    pixels[4:-4, 4:-4, label] += 150
    out = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(out, "JPEG", quality=95)
    return out.getvalue()


def network(path: Path, reverse: bool) -> None:
    """Logits from the mean colour, one a channel of RGB or BGR; the last class never comes."""
    path.parent.mkdir(exist_ok=True)
    weights = np.zeros((3, len(CLASSES)), dtype=np.float32)
    weights[:, :3] = 4 * (np.eye(3)[::-1] if reverse else np.eye(3))
    bias = np.array([0.0, 0.0, 0.0, -1000.0], dtype=np.float32)
    nodes = [
        node("GlobalAveragePool", "image", "pooled"),
        node("Flatten", "pooled", "flat"),
        node("Gemm", "flat weights bias", "logits"),
    ]
    image = value("image", TensorProto.FLOAT, ["n", 3, "h", "w"])
    logits = value("logits", TensorProto.FLOAT, ["n", len(CLASSES)])
    path.write_bytes(graph(nodes, [image], [logits], weights=weights, bias=bias))


def weights() -> cnn.Weights:
    """A network of digits that has learnt nothing."""
    rng = np.random.default_rng(0)
    shapes = {"0": (16, 1, 3, 3), "3": (32, 16, 3, 3), "7": (128, 1568), "9": (10, 128)}
    found = {f"{k}.weight": rng.normal(0, np.prod(s[1:]) ** -0.5, s) for k, s in shapes.items()}
    found |= {f"{k}.bias": rng.normal(size=s[0]) for k, s in shapes.items()}
    return {name: value.astype(np.float32) for name, value in found.items()}


def network_of_digits(cache: Path) -> None:
    """A network of digits in the cache, as if it had been trained elsewhere."""
    cache.mkdir(exist_ok=True)
    cnn.write(weights(), cache / cnn.file_name(data.mnist()[0]))
