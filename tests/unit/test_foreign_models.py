"""Models told by their form alone: replies that are data frames, and predict as Keras has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import eagle

DATA = np.random.default_rng(0).normal(size=(60, 3))


class Survival:
    """Answers with a data frame: the probability to live beyond each time."""

    def __init__(self, make: Any = pd.DataFrame) -> None:
        self.make = make

    def predict(self, X: Any) -> Any:
        return self.make({f"day {t}": np.exp(-t / 100 * np.exp(X[:, 0])) for t in (10, 20, 50)})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_columns_of_a_reply_are_the_outputs(make: Any) -> None:
    explainer = eagle.Explainer(Survival(make), DATA, budget=60)
    e = explainer.explain(DATA[0], target="day 20")
    assert e.outputs == ("day 10", "day 20", "day 50")
    assert e.task == "regression"
    assert e.prediction == pytest.approx(np.exp(-0.2 * np.exp(DATA[0, 0])))
    assert "outputs day 10, day 20, day 50" in explainer.describe()
    named = eagle.Explainer(Survival(make), DATA, outputs=["a", "b", "c"], budget=60)
    assert named.explain(DATA[0]).outputs == ("a", "b", "c")


def test_columns_that_change_between_calls_are_refused() -> None:
    calls: list[int] = []

    def model(X: Any) -> pd.DataFrame:
        calls.append(1)
        return pd.DataFrame({"a": X[:, 0], f"b{len(calls)}": X[:, 1]})

    with pytest.raises(eagle.ReplyError, match="columns differ between calls"):
        eagle.Explainer(model, DATA, batch_rows=20, budget=60).explain(DATA[0])


class KerasLike:
    """The signature of a Keras model's predict, which prints unless it is told not to."""

    def __init__(self) -> None:
        self.told: set[Any] = set()

    def predict(
        self, x: Any, batch_size: Any = None, verbose: Any = "auto", steps: Any = None
    ) -> Any:
        self.told.add(verbose)
        return np.asarray(x)[:, :1] * 2


def test_predict_that_would_print_is_silenced() -> None:
    model = KerasLike()
    explainer = eagle.Explainer(model, DATA, budget=60)
    assert explainer.explain(DATA[0]).prediction == pytest.approx(2 * DATA[0, 0])
    assert model.told == {0}
    assert "KerasLike.predict(verbose=0)" in explainer.describe()


@pytest.mark.torch
class TestTorch:
    """Torch modules on tables."""

    def net(self, *last: Any) -> Any:
        import torch

        torch.manual_seed(0)
        return torch.nn.Sequential(
            torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5), *last
        )

    def test_rows_are_tensors_and_modes_are_kept(self) -> None:
        import torch

        net = self.net(torch.nn.Linear(4, 2))
        net[1].eval()  # a part in a mode of its own
        modes = [part.training for part in net.modules()]
        state = {k: v.clone() for k, v in net.state_dict().items()}
        explainer = eagle.Explainer(net, DATA, budget=60)
        e = explainer.explain(DATA[0])
        assert [part.training for part in net.modules()] == modes
        assert all(torch.equal(v, state[k]) for k, v in net.state_dict().items())
        net.eval()
        with torch.no_grad():
            expected = net(torch.tensor(DATA[:1], dtype=torch.float32))[0, 0].item()
        assert e.task == "regression"
        assert e.prediction == pytest.approx(expected, abs=1e-6)
        assert "if they are logits, say task='classification'" in explainer.describe()

    def test_logits_become_probabilities_only_when_told(self) -> None:
        import torch

        last = torch.nn.Linear(4, 2)
        nets = [
            self.net(last),
            self.net(last, torch.nn.Softmax(1)),
            self.net(last, torch.nn.LogSoftmax(1)),
        ]
        told = [eagle.Explainer(net, DATA, task="classification", budget=60) for net in nets]
        ps = [explainer.explain(DATA[0]).prediction for explainer in told]
        assert 0.5 <= ps[0] <= 1
        assert ps == pytest.approx([ps[0]] * 3, abs=1e-6)
        frame = pd.DataFrame(DATA, columns=list("abc"))
        named = eagle.Explainer(nets[0], frame, outputs=["no", "yes"], budget=60)
        assert named.explain(frame.iloc[[0]]).prediction == pytest.approx(ps[0], abs=1e-6)

    def test_one_logit_is_a_sigmoid_if_that_can_be_known(self) -> None:
        import torch

        one = torch.nn.Linear(4, 1)
        logit, sigmoid = self.net(one), self.net(one, torch.nn.Sigmoid())
        p, q = (
            eagle.Explainer(net, DATA, task="classification", budget=60).explain(DATA[0])
            for net in (logit, sigmoid)
        )
        assert p.outputs == (0, 1)
        assert p.prediction == pytest.approx(q.prediction, abs=1e-6)

        class Own(torch.nn.Module):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return torch.sigmoid(x[:, :1])

        with pytest.raises(eagle.ReplyError, match="a logit or a probability cannot be seen"):
            eagle.Explainer(Own(), DATA, task="classification").explain(DATA[0])

    def test_text_is_refused(self) -> None:
        import torch

        table = pd.DataFrame({"a": DATA[:, 0], "b": ["x", "y"] * 30})
        with pytest.raises(eagle.InputError, match="column 'b' holds none"):
            eagle.Explainer(torch.nn.Linear(2, 1), table).explain(table.iloc[[0]])
