"""Networks on images: preprocessing, batches, layouts and probabilities."""

from __future__ import annotations

import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import eagle
import graphs
from eagle.display.numbers import number
from eagle.errors import InputError, ReplyError
from eagle.models.presets import PRESETS
from eagle.models.vision import Network, OnnxRun

RNG = np.random.default_rng(0)
PICTURES = RNG.integers(0, 256, (7, 6, 4, 3), dtype=np.uint8)
WIDE = np.random.default_rng(1).integers(0, 256, (7, 6, 8, 3), dtype=np.uint8)
WEIGHTS = RNG.normal(size=(3, 2)).astype(np.float32)


def mean_colour(pixels: Any) -> Any:
    """A network on (n, 3, height, width): two logits from the mean colour."""
    assert pixels.dtype == np.float32
    assert pixels.flags.c_contiguous
    return pixels.mean(axis=(2, 3)) @ WEIGHTS


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """The same network as an ONNX file."""
    path = tmp_path / "net.onnx"
    path.write_bytes(graphs.mean_colour(WEIGHTS, ["n", 3, "h", "w"]))
    return path


def expected(mean: Any, std: Any) -> Any:
    logits = ((PICTURES.astype(float) - mean) / std).mean(axis=(1, 2)) @ WEIGHTS
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("batch", [1, 3, 100])
@pytest.mark.parametrize(("mean", "std"), [(127, 128), ((100, 110, 120), (50, 60, 70))])
def test_pixels_are_prepared_and_batches_change_nothing(batch: int, mean: Any, std: Any) -> None:
    sizes: list[int] = []

    def run(pixels: Any) -> Any:
        sizes.append(len(pixels))
        return mean_colour(pixels)

    network = Network(run, mean=mean, std=std, batch=batch)
    assert np.allclose(network.predict_proba(PICTURES), expected(mean, std), atol=1e-5)
    assert max(sizes) <= batch
    assert sum(sizes) == 7


def test_layouts_and_orders() -> None:
    def last(pixels: Any) -> Any:
        return pixels.mean(axis=(1, 2)) @ WEIGHTS

    plain = Network(mean_colour).predict_proba(PICTURES)
    assert np.allclose(Network(last, channels="last").predict_proba(PICTURES), plain)
    turned = Network(mean_colour, reverse=True).predict_proba(PICTURES[..., ::-1])
    assert np.allclose(turned, plain)
    raw = Network(mean_colour, softmax=False).predict_proba(PICTURES)
    assert np.allclose(raw, PICTURES.astype(float).mean(axis=(1, 2)) @ WEIGHTS, rtol=1e-4)
    grey = Network(lambda p: np.repeat(p.mean(axis=(2, 3)), 2, axis=1))
    assert grey.predict_proba(PICTURES[..., 0]).shape == (7, 2)


def test_an_onnx_file_is_explained(graph: Path) -> None:
    network = Network.of_onnx(graph, mean=127, std=128, classes=["day", "night"])
    assert np.allclose(network.predict_proba(PICTURES), expected(127, 128), atol=1e-5)
    again = pickle.loads(pickle.dumps(Network.of_onnx(graph, mean=127, std=128, threads=1)))
    assert again.run.threads == 1
    assert np.array_equal(again.predict_proba(PICTURES), network.predict_proba(PICTURES))
    blocks = np.arange(6).reshape(3, 2).repeat(2, axis=0).repeat(2, axis=1)
    e = eagle.Explainer(network, eagle.Images(blocks, fill=0), budget=50).explain(PICTURES[0])
    assert e.outputs == ("day", "night")
    assert e.task == "classification"
    assert len(e.names) == 6


@pytest.mark.torch
def test_a_torch_module_is_explained() -> None:
    import torch

    module = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    linear = torch.nn.Linear(3, 2, bias=False)
    linear.weight.data = torch.from_numpy(WEIGHTS.T.copy())
    module.append(linear).append(torch.nn.Dropout(0.9))
    module.train()
    network = Network.of_torch(module, mean=127, std=128)
    assert np.allclose(network.predict_proba(PICTURES), expected(127, 128), atol=1e-5)
    assert module.training  # as it was


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"channels": "middle"}, "'first' or 'last'"),
        ({"batch": 0}, "at least 1"),
        ({"std": 0}, "above 0"),
        ({"std": (1.0, 0.0, 1.0)}, "above 0"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Network(**{"run": mean_colour, **settings})


def test_what_does_not_fit_is_said(graph: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mean has 2 numbers, but images have 3"):
        Network(mean_colour, mean=(1, 2)).predict_proba(PICTURES)
    clear = np.concatenate([PICTURES, PICTURES[..., :1]], axis=-1)
    with pytest.raises(InputError, match="takes 3 channels, and these images have 4: leave out"):
        Network.of_onnx(graph).predict_proba(clear)
    blocks = eagle.Images(np.eye(6, 4, dtype=int))
    with pytest.raises(InputError, match="how opaque a pixel is"):
        eagle.Explainer(Network.of_onnx(graph), blocks).explain(clear[0])
    with pytest.raises(ReplyError, match="shape"):
        Network(lambda p: p).predict_proba(PICTURES)
    with pytest.raises(InputError, match="threads must be an integer of at least 1, not 0"):
        Network.of_onnx(graph, threads=0)
    with pytest.raises(InputError, match="no file"):
        Network.of_onnx(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"no graph")
    with pytest.raises(InputError, match="not an ONNX model"):
        Network.of_onnx(tmp_path / "bad.onnx")


# -- what comes out, and what goes in ----------------------------------------------------------


def test_one_logit_is_a_sigmoid() -> None:
    def one(pixels: Any) -> Any:
        return pixels.mean(axis=(1, 2, 3)) / 10 - 12  # shape (n,), as a squeezed output

    logits = PICTURES.astype(float).mean(axis=(1, 2, 3)) / 10 - 12
    found = Network(one).predict_proba(PICTURES)
    assert np.allclose(found[:, 1], 1 / (1 + np.exp(-logits)), atol=1e-4)
    assert np.allclose(found.sum(axis=1), 1)
    blocks = np.arange(6).reshape(3, 2).repeat(2, axis=0).repeat(2, axis=1)
    e = eagle.Explainer(Network(one, classes=["no", "yes"]), eagle.Images(blocks, fill=0)).explain(
        PICTURES[0]
    )
    assert 0 < e.prediction < 1
    assert np.ptp(e.evidence.answers[:, 1]) > 0.01  # a softmax of one would be 1 everywhere


def test_probabilities_are_not_turned_into_others() -> None:
    certain = np.tile([0.9, 0.1], (7, 1))
    assert np.array_equal(Network(lambda p: certain[: len(p)]).predict_proba(PICTURES), certain)
    half = np.full((7, 1), 0.25)
    assert np.allclose(Network(lambda p: half[: len(p)]).predict_proba(PICTURES), [0.75, 0.25])
    spread = Network(lambda p: certain[: len(p)], softmax=True).predict_proba(PICTURES)
    assert np.allclose(spread[:, 0], 1 / (1 + np.exp(-0.8)))
    mapped = Network(lambda p: certain[: len(p), :, None, None]).predict_proba(PICTURES)
    assert np.array_equal(mapped, certain)
    labels = np.tile([0.9, 0.8], (7, 1))
    with pytest.raises(ReplyError, match=r"independent labels .* softmax=True"):
        Network(lambda p: labels[: len(p)]).predict_proba(PICTURES)


def test_what_the_first_call_shows_holds() -> None:
    replies = [np.array([[0.5]]), np.array([[3.0]])]
    network = Network(lambda p: replies.pop(0))
    assert np.allclose(network.predict_proba(PICTURES[:1]), 0.5)
    with pytest.raises(ReplyError, match="looked like probabilities at first"):
        network.predict_proba(PICTURES[:1])
    turned = [np.array([[3.0]]), np.array([[0.5]])]
    network = Network(lambda p: turned.pop(0))
    network.predict_proba(PICTURES[:1])
    assert np.allclose(network.predict_proba(PICTURES[:1])[0, 1], 1 / (1 + np.exp(-0.5)))


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_by_their_formula(name: str) -> None:
    preset, seen = PRESETS[name], list[Any]()

    def run(pixels: Any) -> Any:
        seen.append(pixels)
        return mean_colour(pixels)

    Network(run, preset=name).predict_proba(PICTURES)
    colours = PICTURES[..., ::-1] if preset.reverse else PICTURES
    by_hand = (colours.astype(float) - preset.mean) / preset.std
    assert np.allclose(seen[0], np.moveaxis(by_hand, -1, 1), atol=1e-4)
    Network(run, preset=name).predict_proba(PICTURES / 255.0)  # floats from 0 to 1 are the same
    assert np.allclose(seen[1], seen[0], atol=1e-4)


def test_a_range_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(InputError, match=r"between 0 and 1, but a mean of 127 is for .* 0 to 255"):
        Network(mean_colour, mean=127, std=128).predict_proba(PICTURES / PICTURES.max())
    with pytest.raises(
        InputError, match=r"reach 255, but a mean of 0.485 is for pixels from 0 to 1"
    ):
        Network(mean_colour, mean=(0.485, 0.456, 0.406), std=0.22).predict_proba(PICTURES)
    Network(mean_colour, mean=127, std=128).predict_proba(np.zeros((2, 6, 4, 3)))  # black is black
    with pytest.raises(InputError, match="by a preset, or by mean"):
        Network(mean_colour, mean=3, preset="imagenet")
    with pytest.raises(InputError, match=r"a preset is one of imagenet, .*, not 'vgg'"):
        Network(mean_colour, preset="vgg")


def test_a_model_without_a_clue_is_noticed() -> None:
    """The confidence tells: a network in the wrong range prefers no class."""

    def answers(sharpness: float) -> Any:
        def model(images: Any) -> Any:
            odds = np.exp(sharpness * np.arange(20) * images.mean(axis=(1, 2, 3))[:, None] / 255)
            return odds / odds.sum(axis=1, keepdims=True)

        return model

    blocks = eagle.Images(np.arange(24).reshape(6, 4) // 6, fill=0)
    vague = eagle.Explainer(answers(0.1), blocks).explain(PICTURES[0])
    assert any("hardly prefers any of its 20 classes" in w for w in vague.warnings)
    sharp = eagle.Explainer(answers(9.0), blocks).explain(PICTURES[0])
    assert not any("hardly prefers" in w for w in sharp.warnings)
    said = next(fact for fact in sharp.sheet().facts if fact.startswith("The model says: "))
    first = number(float(sharp.evidence.answers[0, 19]))
    assert said.startswith(f"The model says: 19 ({first}), 18 (")
    assert said.count(",") == 4


def onnx_network(path: Path, shape: list[Any], last: bool = False) -> Path:
    """The mean colour by ONNX, for images of a fixed shape."""
    nodes = [
        graphs.node("ReduceMean", "image", "flat", axes=[1, 2] if last else [2, 3], keepdims=0),
        graphs.node("MatMul", "flat weights", "logits"),
    ]
    ends = (("image", shape), ("logits", [shape[0], 2]))
    image, logits = (graphs.value(name, TensorProto.FLOAT, size) for name, size in ends)
    path.write_bytes(graphs.graph(nodes, [image], [logits], weights=WEIGHTS))
    return path


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("last", [False, True])
def test_graphs_of_a_fixed_batch_and_layout(tmp_path: Path, batch: int, last: bool) -> None:
    shape = [batch, 6, 4, 3] if last else [batch, 3, 6, 4]
    network = Network.of_onnx(onnx_network(tmp_path / "n.onnx", shape, last), mean=127, std=128)
    assert network.channels == ("last" if last else "first")
    assert isinstance(network.run, OnnxRun)
    assert network.run.size == (6, 4)
    assert network.run.colours == 3
    assert np.allclose(network.predict_proba(PICTURES), expected(127, 128), atol=1e-5)


@pytest.mark.torch
def test_modules_with_logits_and_bare_modules() -> None:
    import torch

    class Named(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 2, bias=False, dtype=torch.bfloat16)
            self.linear.weight.data = torch.from_numpy(WEIGHTS.T.copy()).bfloat16()

        def forward(self, x: Any) -> Any:
            assert not self.training
            return {"logits": self.linear(x.mean(dim=(2, 3)))}

    module = Named()
    module.linear.eval()  # one part was not in training: so it stays
    found = Network.of_torch(module, mean=127, std=128).predict_proba(PICTURES)
    assert np.allclose(found, expected(127, 128), atol=0.02)
    assert module.training
    assert not module.linear.training
    with pytest.raises(InputError, match=r"Network.of_torch\(module, preset='imagenet'\)"):
        eagle.Explainer(module, eagle.Images())
    nothing = torch.nn.Identity()
    nothing.forward = lambda x: "text"
    with pytest.raises(ReplyError, match="returned a str"):
        Network.of_torch(nothing).predict_proba(PICTURES)


# -- how images come, and what a network's first layer takes ------------------------------------


def test_grey_images_are_repeated_where_three_channels_are_taken(graph: Path) -> None:
    grey = PICTURES[..., :1]
    colour = np.repeat(grey, 3, axis=-1)
    for network in (
        Network.of_onnx(graph, mean=127, std=128),
        Network(mean_colour, mean=(1, 2, 3)),
    ):
        whole = network.predict_proba(colour)
        assert np.array_equal(network.predict_proba(grey), whole)
        assert np.array_equal(network.predict_proba(grey[..., 0]), whole)


def test_true_is_white_in_a_boolean_image() -> None:
    flags = PICTURES[..., :1] > 128
    for preset in PRESETS:
        network = Network(lambda p: p.mean(axis=(1, 2, 3)), softmax=False, preset=preset)
        white = network.predict_proba(np.where(flags, np.uint8(255), np.uint8(0)))
        assert np.allclose(network.predict_proba(flags), white), preset


def test_channels_come_last_or_first(graph: Path) -> None:
    network = Network.of_onnx(graph, mean=127, std=128)
    first = np.moveaxis(WIDE, -1, 1)
    assert np.array_equal(network.predict_proba(first), network.predict_proba(WIDE))
    with pytest.raises(
        InputError, match=r"Images\(channels='first'\)"
    ):  # and this advice is right:
        eagle.Explainer(network, eagle.Images(fill=0)).explain(first[0])
    blocks = np.arange(48).reshape(6, 8) // 8
    one = eagle.Explainer(network, eagle.Images(blocks, fill=0), budget=50).explain(WIDE[0])
    how = eagle.Images(blocks, fill=0, channels="first")
    other = eagle.Explainer(network, how, budget=50).explain(first[0])
    assert np.array_equal(one.scores, other.scores)
    with pytest.raises(InputError, match=r"one colour image, not a batch: give image\[None\]"):
        network.predict_proba(WIDE[0])
    network.predict_proba(WIDE[0][None])


@pytest.mark.torch
def test_what_the_first_layer_of_a_module_takes_is_said() -> None:
    import torch

    def net(channels: int) -> Any:
        torch.manual_seed(0)
        layers = [torch.nn.Conv2d(channels, 4, 3), torch.nn.AdaptiveAvgPool2d(1)]
        return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(4, 2))

    class Stem(torch.nn.Module):  # type: ignore[misc]
        """Its first layer is registered after one that takes other images."""

        def __init__(self) -> None:
            super().__init__()
            self.body, self.stem = net(3), torch.nn.Conv2d(1, 3, 1)

        def forward(self, x: Any) -> Any:
            return self.body(self.stem(x))

    colour = Network.of_torch(net(3), preset="zero-to-one", softmax=True)
    first = np.moveaxis(WIDE, -1, 1)
    whole = colour.predict_proba(WIDE)
    assert np.array_equal(colour.predict_proba(first), whole)
    grey = colour.predict_proba(WIDE[..., 0])
    assert np.array_equal(grey, colour.predict_proba(np.repeat(WIDE[..., :1], 3, axis=-1)))
    how = eagle.Images(np.arange(48).reshape(6, 8) // 12, fill=0)
    with pytest.raises(InputError, match=r"give eagle\.Images\(channels='first'\)"):
        eagle.Explainer(colour, how).explain(first[0])
    turned = eagle.Images(how.segments, fill=0, channels="first")
    e = eagle.Explainer(colour, turned, budget=16).explain(first[0])
    assert np.array_equal(e.scores, eagle.Explainer(colour, how, budget=16).explain(WIDE[0]).scores)

    clear = np.concatenate([WIDE, WIDE[..., :1]], axis=-1)
    with pytest.raises(InputError, match="takes 3 channels, and these images have 4: leave out"):
        colour.predict_proba(clear)
    colour.predict_proba(clear[..., :-1])
    dim = Network.of_torch(net(1), softmax=True)
    with pytest.raises(InputError, match=r"takes 1 channel, .* 3: give grey images, .*axis=-1"):
        dim.predict_proba(WIDE)
    dim.predict_proba(WIDE.mean(axis=-1))
    with pytest.raises(InputError, match="leave out channels='last'"):
        Network.of_torch(net(3), channels="last").predict_proba(WIDE)

    class Turning(torch.nn.Module):  # type: ignore[misc]
        """It takes images with their channels last, and turns them itself."""

        def __init__(self) -> None:
            super().__init__()
            self.body = net(3)

        def forward(self, x: Any) -> Any:
            return self.body(x.permute(0, 3, 1, 2))

    with pytest.raises(InputError, match=r"of_torch\(module, channels='last'\)"):
        eagle.Explainer(Network.of_torch(Turning(), softmax=True), how).explain(WIDE[0])
    last = Network.of_torch(Turning(), softmax=True, channels="last")
    assert last.predict_proba(WIDE).shape == (7, 2)

    stem = Stem()
    assert Network.of_torch(stem, softmax=True).predict_proba(WIDE[..., 0]).shape == (7, 2)
    with pytest.raises(InputError, match="takes 1 channel"):
        Network.of_torch(stem, softmax=True).predict_proba(clear[..., :2])
    hooks = [part._forward_pre_hooks for part in stem.modules()]
    assert not any(hooks)  # the module is as it was
    assert stem.training
    for odd in (mean_colour, None, torch.nn.Linear):
        with pytest.raises(InputError, match="of_torch takes a torch module"):
            Network.of_torch(odd)


@pytest.mark.torch
@pytest.mark.parametrize("flat", ["Flatten", "method"])
def test_what_a_first_layer_of_numbers_in_a_row_takes_is_said(flat: str) -> None:
    import torch

    class Own(torch.nn.Module):  # type: ignore[misc]
        """It puts the pixels in a row itself."""

        def __init__(self, inputs: int) -> None:
            super().__init__()
            self.body = torch.nn.Linear(inputs, 2)

        def forward(self, x: Any) -> Any:
            return self.body(x.flatten(1) if x.shape[1] < 9 else x)

    def net(channels: int, pixels: int = 48) -> Network:
        torch.manual_seed(0)
        if flat == "method":
            return Network.of_torch(Own(channels * pixels), softmax=True)
        layers = torch.nn.Flatten(), torch.nn.Linear(channels * pixels, 2)
        return Network.of_torch(torch.nn.Sequential(*layers), softmax=True)

    grey = net(3).predict_proba(WIDE[..., 0])
    assert np.array_equal(grey, net(3).predict_proba(np.repeat(WIDE[..., :1], 3, axis=-1)))
    assert np.array_equal(
        net(3).predict_proba(np.moveaxis(WIDE, -1, 1)), net(3).predict_proba(WIDE)
    )
    with pytest.raises(InputError, match=r"takes 1 channel, .* 3: give grey images, .*axis=-1"):
        net(1).predict_proba(WIDE)
    net(1).predict_proba(WIDE.mean(axis=-1))
    clear = np.concatenate([WIDE, WIDE[..., :1]], axis=-1)
    with pytest.raises(InputError, match="takes 3 channels, and these images have 4: leave out"):
        net(3).predict_proba(clear)
    with pytest.raises(InputError, match="takes 150 numbers an image, and these have 144"):
        net(3, 50).predict_proba(WIDE)


@pytest.mark.torch
def test_advice_about_channels_leads_to_an_answer() -> None:
    """Whatever the network takes, and however it and the images were said to be: each sentence is
    followed, and none of them is torch's own about shapes."""
    import torch

    class Turning(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, body: Any) -> None:
            super().__init__()
            self.body = body

        def forward(self, x: Any) -> Any:
            return self.body(x.permute(0, 3, 1, 2))

    def net(channels: int) -> Any:
        layers = [torch.nn.Conv2d(channels, 4, 3), torch.nn.AdaptiveAvgPool2d(1)]
        return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(4, 2))

    colour = RNG.random((6, 8, 3))
    clear = np.concatenate([colour, colour[..., :1]], axis=-1)
    images = [colour, clear, colour[..., 0], colour[..., :1], colour[..., 0] > 0.5]
    images += [np.moveaxis(image, -1, 0) for image in images if image.ndim == 3]
    blocks = np.arange(48).reshape(6, 8) // 12
    for channels, turning, said, first, image in product(
        (1, 3), (False, True), ("first", "last"), ("first", "last"), images
    ):
        module = Turning(net(channels)) if turning else net(channels)
        shown = first
        for _ in range(6):
            network = Network.of_torch(module, softmax=True, channels=said)
            how = eagle.Images(blocks, fill=0, channels=shown)
            try:
                eagle.Explainer(network, how, budget=16).explain(image)
                break
            except InputError as error:
                advice = str(error)
            if "Images(channels=" in advice:
                shown = "last" if "'last'" in advice else "first"
            elif "leave out channels='last'" in advice:
                said = "first"
            elif "of_torch(module, channels=" in advice:
                said = "last" if "'last'" in advice else "first"
            else:
                last = image if shown == "last" else np.moveaxis(image, 0, -1)
                grey = "give grey" in advice
                assert grey or "leave out the last channel" in advice
                last = last.mean(axis=-1) if grey else last[..., :-1]
                image = last if shown == "last" or last.ndim == 2 else np.moveaxis(last, -1, 0)
        else:
            pytest.fail(advice)


@pytest.mark.parametrize("names", [["cat", "dog", "cat"], [1, 1.0]])
def test_classes_of_one_name_are_named(names: list[Any]) -> None:
    said = "must differ from one another: .* 2 times"
    with pytest.raises(InputError, match=said):
        eagle.Explainer(Network(mean_colour, classes=names), eagle.Images())
    with pytest.raises(InputError, match=said):
        eagle.Explainer(mean_colour, eagle.Images(), outputs=names)


def test_one_of_several_images_is_named_by_its_place() -> None:
    images = [PICTURES[0] / 255, np.full((6, 4, 3), np.nan)]
    with pytest.raises(InputError, match=r"image 1, counted from 0: the image holds NaN"):
        eagle.Explainer(mean_colour, eagle.Images(np.eye(6, 4, dtype=int))).explain_many(images)


def test_fifty_images_of_one_size_share_calls() -> None:
    sizes: list[int] = []

    def model(images: Any) -> Any:
        sizes.append(len(images))
        return images.mean(axis=(1, 2, 3)) / 255

    images = [RNG.integers(0, 256, (6, 4, 3), dtype=np.uint8) for _ in range(50)]
    images[7] = RNG.integers(0, 256, (5, 5, 3), dtype=np.uint8)  # one of another size
    how = eagle.Images(lambda image: np.arange(image[..., 0].size).reshape(image.shape[:2]) % 8)
    explainer = eagle.Explainer(model, how, task="regression", budget=100)
    together = explainer.explain_many(images, progress=False)
    assert len(sizes) == 2
    assert sum(sizes) == 50 * 100
    for i in (0, 7, 49):
        assert np.array_equal(explainer.explain(images[i]).scores, together[i].scores)
