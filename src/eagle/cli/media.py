"""Images and texts on the command line: `eagle explain MODEL --image …`, `--text …` and
`--text-column …`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from eagle import Explainer, Explanation, Explanations
from eagle._engine.pipeline import take_finished
from eagle._engine.progress import Progress
from eagle._sources.images import Images
from eagle._sources.texts import Texts
from eagle._values.packages import package
from eagle._values.text import message_of
from eagle.cli.files import columns, one_row, read_model, read_table, refuse_overwriting, there
from eagle.cli.options import is_survey, limit, read_data, target_of
from eagle.cli.output import format_of, give, row_labels
from eagle.cost import CostEstimate
from eagle.errors import InputError
from eagle.limit import Meter
from eagle.models.onnx import OnnxModel
from eagle.models.presets import PRESETS
from eagle.models.vision import Network, OnnxRun

PHOTOS: Final = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff")
SIDE: Final = 224
"""The side of an image for a network that takes any."""

MIN_WORDS, MIN_DISTINCT_SHARE = 4.0, 0.5
"""A column of texts has more words in a value than this in the mean, and values mostly differ."""


def options(p: ArgumentParser) -> None:
    """The options of `explain` for images and texts."""
    group = p.add_argument_group("images and texts", "in place of rows of a table")
    several: dict[str, Any] = {"nargs": "+", "type": Path, "metavar": "PATH", "default": []}
    group.add_argument("--image", help="images, or folders of them", **several)
    group.add_argument("--text", help="files with one text each, in UTF-8", **several)
    group.add_argument("--text-column", metavar="COL", help="a column of --data that holds texts")
    group.add_argument(
        "--preset",
        choices=PRESETS,
        metavar="NAME",
        help=f"how a network wants its pixels: {', '.join(PRESETS)}",
    )
    group.add_argument("--classes", type=Path, metavar="FILE", help="names of classes, a line each")


def is_wanted(arguments: Namespace) -> bool:
    """Whether images or texts are to be explained, not rows of a table."""
    ways = [bool(arguments.image), bool(arguments.text), arguments.text_column is not None]
    if sum(ways) > 1:
        raise InputError("explain takes one of --image, --text and --text-column")
    if any(ways) and is_survey(arguments):
        raise InputError("a survey explains rows of a table, not images and texts")
    if any(ways[:2]) and arguments.data is not None:
        raise InputError("--data is for tables: images and texts are explained without it")
    if not arguments.image and arguments.preset is not None:
        raise InputError("--preset is for images, which --image names")
    return any(ways)


def refuse_texts(data: Any, arguments: Namespace) -> None:
    """A column of texts would become a category of as many levels as rows, and score nothing."""
    for name in data.columns:
        values = data[name].dropna()
        if (
            str(name) in arguments.categories
            or not len(values)
            or not isinstance(values.iloc[0], str)
        ):
            continue
        texts = [v for v in values.iloc[:1000] if isinstance(v, str)]
        words = np.mean([len(text.split()) for text in texts])
        if words > MIN_WORDS and len(set(texts)) > MIN_DISTINCT_SHARE * len(texts):
            raise InputError(
                f"the column {str(name)!r} holds texts, which are no levels: --text-column {name} "
                f"explains them by their words, --drop {name} leaves them out, and "
                "Table(fixed=[…]) in Python keeps them as they are"
            )


def explain(arguments: Namespace) -> int:
    """Explain images or texts, many in shared calls; each is named by its file or row."""
    if arguments.image:
        ids, parts = _images(arguments)
    elif arguments.text:
        ids, parts = _texts(arguments)
    else:
        ids, parts = _column(arguments)
    labels = ids if arguments.text_column is None else row_labels(ids)
    many = len(ids) > 1
    form = format_of(arguments, many)
    inputs = (arguments.model, arguments.data, *arguments.image, *arguments.text)
    refuse_overwriting(inputs, arguments.out)
    if arguments.estimate:
        print(_estimate(parts))
        return 0
    most = Meter(limit(arguments))
    if most.limit is not None and len(parts) > 1:
        most.refuse(_estimate(parts).cost)  # before the first part is asked
    progress = Progress("explained", len(ids), silent=arguments.quiet)
    done: dict[int, Explanation] = {}
    before = 0
    try:
        for explainer, things in parts:
            before, target = len(done), target_of(explainer.outputs, arguments.target)
            for explanation in explainer.explain_each(things, target=target, limit=most):
                done[len(done)] = explanation
                progress.at(len(done))
    except BaseException as error:
        for place, explanation in take_finished(error).items():  # finished, but not yet yielded
            done[before + place] = explanation
        error.add_note(f"{len(done)} of {len(ids)} were explained")
        raise
    finally:
        progress.close()
        if done:
            every = Explanations.of(list(done.values()), [ids[place] for place in done])
            give(every, form, arguments, many, [labels[place] for place in done])
    return 0


NamedParts = tuple[list[Any], Sequence[tuple[Explainer, Sequence[Any]]]]
"""The ids of things, and the things in parts, each with what explains it."""


def _estimate(parts: Sequence[tuple[Explainer, Sequence[Any]]]) -> CostEstimate:
    """What it costs to explain all parts."""
    first, *others = [made.estimate_cost(things) for made, things in parts]
    return sum(others, first)


# -- images ---------------------------------------------------------------------------------------


def _images(arguments: Namespace) -> NamedParts:
    paths = [one for given in arguments.image for one in _photos(given)]
    model = _network(arguments)
    side, colours = (SIDE, SIDE), 3
    if isinstance(model, Network) and isinstance(model.run, OnnxRun):
        side, colours = model.run.size or side, model.run.colours or 3
    things = [_pixels(path, side, colours) for path in paths]
    explainer = _explainer(model, Images(), arguments)
    return _distinct(paths), [(explainer, things)]


def _photos(given: Path) -> list[Path]:
    """The image files of a folder, by name; a file is itself."""
    if not given.is_dir():
        return [there(given)]
    photos = sorted(p for p in given.iterdir() if p.suffix.lower() in PHOTOS)
    if not photos:
        raise InputError(f"there is no image in the folder {given}: {', '.join(PHOTOS)}")
    return photos


def _network(arguments: Namespace) -> Any:
    if arguments.model.suffix.lower() != ".onnx":
        if arguments.preset is not None:
            raise InputError(
                "--preset is for networks in ONNX files: others get pixels as they are"
            )
        return read_model(arguments.model, arguments.trust)
    if arguments.preset is None:
        raise InputError(
            "a network in a file does not say how it wants its pixels: name a --preset, one of "
            f"{', '.join(f'{name} ({p.used_by})' for name, p in PRESETS.items())}"
        )
    return Network.of_onnx(there(arguments.model), preset=arguments.preset)


def _pixels(path: Path, side: tuple[int, int], colours: int) -> Any:
    """An image upright, scaled to fill the size that the network takes, and cut to it."""
    package("PIL", "reading an image", "image")
    from PIL import Image, ImageOps

    high, wide = side
    mode = {1: "L", 4: "RGBA"}.get(colours, "RGB")
    try:
        with Image.open(path) as file:
            image = ImageOps.exif_transpose(file).convert(mode)
            fitted = ImageOps.fit(image, (wide, high), Image.Resampling.BICUBIC)
    except Exception as error:  # a damaged file may raise anything
        raise InputError(f"{path} could not be read as an image: {message_of(error)}") from None
    return np.asarray(fitted)


# -- texts ----------------------------------------------------------------------------------------


def _texts(arguments: Namespace) -> NamedParts:
    paths = [there(path) for path in arguments.text]
    things = [_read(path) for path in paths]
    model = _of_texts(read_model(arguments.model, arguments.trust))
    explainer = _explainer(model, Texts(), arguments)
    return _distinct(paths), [(explainer, things)]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip("\n\ufeff")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text in UTF-8") from None


def _of_texts(model: Any) -> Any:
    """A model of lists of texts. An ONNX graph takes them as a table of one column."""
    if not isinstance(model, OnnxModel):
        return model
    return lambda texts: model(np.array(texts, dtype=object)[:, None])


def _column(arguments: Namespace) -> NamedParts:
    if arguments.data is None:
        raise InputError("--text-column names a column of --data")
    if arguments.row is None and not arguments.all:
        raise InputError("--text-column explains one text, with --row N, or all, with --all")
    data = read_data(arguments)
    (column,) = columns(data, [arguments.text_column], "--text-column")
    rows = _with_text(data if arguments.row is None else one_row(data, arguments.row), column)
    ids, texts = rows.index.tolist(), [str(text) for text in rows[column]]
    model = _of_texts(read_model(arguments.model, arguments.trust))
    if column not in list(getattr(model, "feature_names_in_", ())):
        return ids, [(_explainer(model, Texts(), arguments), texts)]

    # The model takes all columns: those of the row stand beside the masked texts.
    classes = getattr(model, "classes_", None)
    models = [_beside(model, rows.iloc[[place]], column) for place in range(len(texts))]
    explainers = [_explainer(one, Texts(), arguments, classes) for one in models]
    return ids, [(made, [text]) for made, text in zip(explainers, texts, strict=True)]


def _with_text(rows: Any, column: Any) -> Any:
    """The rows that have a text. The others are named on stderr."""
    has_text = np.array([text == text and bool(str(text).strip()) for text in rows[column]])
    empty = [str(name) for name in rows.index[~has_text]]
    if not has_text.any():
        one = f"row {empty[0]} has" if len(empty) == 1 else "the rows have"
        raise InputError(f"{one} no text in the column {column!r}")
    if empty:
        more = " …" if len(empty) > 5 else ""
        what = f"no text in the column {str(column)!r}, so nothing is explained there"
        print(f"eagle: rows {', '.join(empty[:5])}{more} have {what}", file=sys.stderr)
    return rows[has_text]


def _beside(model: Any, row: Any, column: Any) -> Callable[[Sequence[str]], Any]:
    """A model of tables as one of texts: the other columns are those of one row."""
    ask = getattr(model, "predict_proba", None) or model.predict

    def ask_about(texts: Sequence[str]) -> Any:
        table = row.iloc[[0] * len(texts)].reset_index(drop=True)
        return ask(table.assign(**{column: list(texts)})[list(model.feature_names_in_)])

    return ask_about


# -- both -----------------------------------------------------------------------------------------


def _explainer(
    model: Any, source: Images | Texts, arguments: Namespace, classes: Any = None
) -> Explainer:
    outputs = classes if arguments.outputs is None else arguments.outputs
    return Explainer(
        model,
        source,
        method=arguments.method,
        budget=arguments.budget,
        random_state=arguments.seed,
        outputs=_classes(arguments.classes) if arguments.classes else outputs,
        link=arguments.link,
    )


def _classes(path: Path) -> list[str]:
    """Names of classes: the lines of a file, or the column `name` of a CSV. ImageNet has two
    cranes: equal names get their place as a suffix."""
    if path.suffix.lower() == ".csv":
        table = read_table(path)
        names = [str(v) for v in table[columns(table, ["name"], "--classes")[0]]]
    else:
        names = [line.strip() for line in _read(there(path)).splitlines() if line.strip()]
    often = Counter(names)
    return [name if often[name] == 1 else f"{name} [{k}]" for k, name in enumerate(names)]


def _distinct(paths: Sequence[Path]) -> list[str]:
    """The names of files; where two are equal, with their folders."""
    names = [path.name for path in paths]
    return [
        name if names.count(name) == 1 else str(path)
        for name, path in zip(names, paths, strict=True)
    ]
