"""`eagle doctor`: what is installed, and whether it works."""

from __future__ import annotations

import platform
import sys
from argparse import Namespace
from importlib import metadata
from typing import Final

import numpy as np

import eagle
from eagle import Explainer

OPTIONAL: Final = {
    "pandas": "cli",
    "pyarrow": "cli",
    "joblib": "cli",
    "scikit-learn": "cli",
    "matplotlib": "plot",
    "narwhals": "frames",
    "onnxruntime": "onnx",
    "httpx": "http",
    "shap": "shap",
    "scikit-image": "image",
    "budoux": "segment",
    "torch": "torch",
    "starlette": "web",
    "uvicorn": "web",
}


def doctor(arguments: Namespace) -> int:
    print(f"eagle {eagle.__version__}, python {platform.python_version()} on {sys.platform}")
    for name in ("numpy", "scipy", *OPTIONAL):
        try:
            print(f"  {name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            print(f"  {name} not installed: pip install 'eagle-xai[{OPTIONAL.get(name, 'all')}]'")
    slopes = np.array([3.0, -2.0, 0.5])
    data = np.random.default_rng(0).normal(size=(100, 3))
    try:
        made = Explainer(lambda x: x @ slopes, eagle.Table(data, view="continuous")).explain(
            data[0]
        )
        worst = float(np.abs(made.scores / data.std(axis=0) - slopes).max())
    except Exception as error:  # any error here is what the doctor reports
        print(f"Not well: explaining a line raised {type(error).__name__}: {error}")
        return 1
    well = worst < 0.05
    print(f"{'Well' if well else 'Not well'}: the slopes of a line were found within {worst:.2g}")
    return 0 if well else 1
