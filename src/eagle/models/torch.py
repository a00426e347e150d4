"""Torch modules on tables and on series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from eagle._tables.column import Codes
from eagle._tables.read import frame
from eagle._values.link import softmax
from eagle.errors import InputError, ReplyError
from eagle.models.native import Native, Task

Reading: TypeAlias = Literal["as they are", "as classes"]
"""What the caller says that a module's outputs are."""

ANSWERS_BY_LAYER: Final = {
    "Softmax": "probabilities",
    "LogSoftmax": "log-probabilities",
    "Sigmoid": "probabilities",
    "Linear": "logits",
    "LazyLinear": "logits",
}
"""What the last layer of an `nn.Sequential` gives. Of other modules it is not known."""


@final
@dataclass(frozen=True, eq=False)
class TorchTable:
    """A torch module as a function of tables.

    Rows become a tensor of the dtype of the module's weights (float32 if it has none), on their
    device. The module is in evaluation mode while it is asked, and each of its parts has its
    own mode again afterwards. Read "as classes", logits become probabilities.
    """

    module: Any
    reading: Reading

    def __call__(self, table: Any) -> NDArray[Any]:
        import torch

        weights = next((p for p in self.module.parameters() if p.is_floating_point()), None)
        dtype = torch.float32 if weights is None else weights.dtype
        device = "cpu" if weights is None else weights.device
        rows = torch.from_numpy(matrix(table)).to(device=device, dtype=dtype)
        with evaluation_mode(self.module), torch.no_grad():
            reply = self.module(rows)
        reply = getattr(reply, "logits", reply)
        if not isinstance(reply, torch.Tensor):
            raise ReplyError(
                f"the module returned a {type(reply).__name__}, not a tensor: wrap it in a "
                "function that returns one"
            )
        answers = np.asarray(reply.detach().cpu().to(torch.float64).numpy())
        return answers if self.reading == "as they are" else self._classes(answers)

    def _classes(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Probabilities of classes, whatever the module gives."""
        gives = _last(self.module)
        answers = answers[:, None] if answers.ndim == 1 else answers
        if answers.ndim != 2:
            raise ReplyError(
                f"the module returned a tensor of shape {answers.shape} where (rows, classes) was "
                "expected"
            )
        if answers.shape[1] == 1:
            return self._one(answers, gives)
        summed = answers.min() >= 0 and np.abs(answers.sum(axis=1) - 1).max() <= 1e-4
        if gives == "probabilities" or summed:
            return answers
        # The softmax of log-probabilities is the probabilities themselves.
        return softmax(answers)

    def _one(self, answers: NDArray[Any], gives: str | None) -> NDArray[Any]:
        """One number, which may be a logit or a probability: only a known last layer says."""
        if gives == "logits":
            return np.asarray(0.5 * (1 + np.tanh(0.5 * answers)))
        if gives == "probabilities":
            return answers
        raise ReplyError(
            "the module gives one number, and whether that is a logit or a probability cannot be "
            "seen: make it the last but one layer, as in nn.Sequential(module, nn.Sigmoid()), or "
            "give a function that returns the probability"
        )


def torch_module(module: Any, task: Task | None, outputs: Any) -> Native:
    """A torch module on tables. Its outputs are classes only if the caller says so."""
    named = isinstance(outputs, Sequence) and not isinstance(outputs, str) and len(outputs) > 1
    classes = task == "classification" or (task is None and named)
    as_they_are = TorchTable(module, "as they are")
    if not classes:
        return Native(
            as_they_are,
            f"{type(module).__name__}()",
            "the module's outputs as they are; if they are logits, say task='classification'",
        )
    gives = _last(module)
    note = f"probabilities from the module's {gives or 'outputs, by softmax unless they sum to 1'}"
    return Native(
        TorchTable(module, "as classes"),
        f"{type(module).__name__}()",
        note,
        task="classification",
        plainly=as_they_are,
    )


@contextmanager
def evaluation_mode(module: Any) -> Iterator[None]:
    """The module in evaluation mode; each of its parts has its own mode again afterwards."""
    modes = [(part, part.training) for part in module.modules()]
    try:
        module.eval()
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def matrix(table: Any) -> NDArray[Any]:
    """A table of numbers of any kind as one array of floats, shape (rows, columns).

    A batch of series keeps its shape, (rows, time, channels)."""
    if isinstance(table, np.ndarray) and table.ndim > 3:
        raise InputError(
            "a torch module is asked tables or series here: for images, give "
            "eagle.models.vision.Network.of_torch(module)"
        )
    if isinstance(table, np.ndarray) and table.dtype.kind in "fiub":
        return np.ascontiguousarray(table, dtype=np.float64)
    rows = frame(table)
    columns = []
    for j, name in enumerate(rows.names):
        values = rows.read(j)
        if isinstance(values, Codes) and set(values.levels) <= {False, True}:
            values = values.objects(np.nan).astype(np.float64)
        if values is None or isinstance(values, Codes):
            raise InputError(
                f"a torch module takes numbers, but column {name!r} holds none: give a function "
                "that turns the table into a tensor and asks the module"
            )
        columns.append(values)
    return np.stack(columns, axis=1)


def _last(module: Any) -> str | None:
    """What the last layer gives, if it is known."""
    while type(module).__name__ == "Sequential" and len(module):
        module = module[-1]
    kind = type(module)
    return ANSWERS_BY_LAYER.get(kind.__name__) if kind.__module__.startswith("torch.nn.") else None
