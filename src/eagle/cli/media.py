"""Images and texts on the command line: `eagle explain MODEL --image …`, `--text …` and
`--text-column …`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from eagle import Explainer, Explanation
from eagle.cli.files import columns, one_row, read_model, read_table, refuse_overwriting, there
from eagle.cli.options import METHODS, read_data
from eagle.cli.output import about, draw_files, format_of, give, say, tidy, wrote
from eagle.engine.run import kept
from eagle.files.sealed import writable
from eagle.models.onnx import OnnxModel
from eagle.models.presets import PRESETS
from eagle.models.vision import Network, OnnxRun
from eagle.progress import Progress
from eagle.source.images import Images
from eagle.source.texts import Texts
from eagle.types import InputError, MissingExtraError, clean, integer, message_of

PHOTOS: Final = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff")
SIDE: Final = 224
"""The side of an image for a network that takes any."""

WORDS, DISTINCT = 4.0, 0.5
"""A column of texts has more words in a value than this in the mean, and values mostly differ."""


def options(p: ArgumentParser) -> None:
    """The options of `explain` for images and texts."""
    group = p.add_argument_group("images and texts", "in place of --data and rows of it")
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
    group.add_argument("--segments", type=int, metavar="N", help="about how many (default: 50)")
    group.add_argument(
        "--size", type=int, metavar="N", help="side in pixels, if the network is open"
    )
    group.add_argument(
        "--unit", choices=("word", "sentence", "paragraph", "block"), help="of texts"
    )
    group.add_argument("--classes", type=Path, metavar="FILE", help="names of classes, a line each")


def asked(arguments: Namespace) -> bool:
    """Whether images or texts are to be explained, not rows of a table."""
    ways = [bool(arguments.image), bool(arguments.text), arguments.text_column is not None]
    if sum(ways) > 1:
        raise InputError("explain takes one of --image, --text and --text-column")
    if not any(ways) and arguments.data is None:
        raise InputError(
            "explain needs --data, a table, with --row, --rows or --all; or --image; or --text"
        )
    if any(ways[:2]) and arguments.data is not None:
        raise InputError("--data is for tables: images and texts are explained without it")
    pixels = (arguments.preset, arguments.segments, arguments.size)
    if not arguments.image and any(given is not None for given in pixels):
        raise InputError("--preset, --segments and --size are for images, which --image names")
    if arguments.unit is not None and not any(ways[1:]):
        raise InputError("--unit is for texts, which --text or --text-column names")
    return any(ways)


def refuse_texts(data: Any, arguments: Namespace) -> None:
    """A column of texts would become a category of as many levels as rows, and score nothing."""
    known = {*arguments.categories, *arguments.freeze}
    for name in data.columns:
        values = data[name].dropna()
        if str(name) in known or not len(values) or not isinstance(values.iloc[0], str):
            continue
        texts = [v for v in values.iloc[:1000] if isinstance(v, str)]
        words = np.mean([len(text.split()) for text in texts])
        if words > WORDS and len(set(texts)) > DISTINCT * len(texts):
            raise InputError(
                f"the column {str(name)!r} holds texts, which are no levels: --text-column {name} "
                f"explains them by their words, --drop {name} leaves them out, and --freeze {name} "
                "keeps them as they are"
            )


def explain(arguments: Namespace) -> int:
    """Explain images or texts, many in shared calls; each is named by its file or row."""
    if arguments.image:
        names, things, make = _images(arguments)
    elif arguments.text:
        names, things, make = _texts(arguments)
    else:
        names, things, make = _column(arguments)
    many = len(things) > 1
    form = format_of(arguments, many)
    if form == "explanations":
        raise InputError("--format explanations is for rows of a table, which share their features")
    inputs = (arguments.model, arguments.data, *arguments.image, *arguments.text)
    refuse_overwriting(inputs, arguments.out)
    progress = Progress("explained", len(things), silent=arguments.quiet)
    done: dict[str, Explanation] = {}

    def aimed(explanation: Explanation) -> Explanation:
        return about(explanation, arguments.target, arguments.against)

    try:
        for name, explanation in zip(names, make(things), strict=True):
            done[name] = aimed(explanation)
            progress.at(len(done))
    except BaseException as error:
        for place, explanation in kept(error).items():  # finished, but not yet yielded
            done[names[place]] = aimed(explanation)
        error.add_note(f"{len(done)} of {len(names)} were explained")
        raise
    finally:
        progress.close()
        if done:
            _give(done, form, many, arguments)
    return 0


NamedThings = tuple[list[str], Sequence[Any], Callable[[Sequence[Any]], Iterable[Explanation]]]
"""The names of things, the things, and what explains them."""


# -- images ---------------------------------------------------------------------------------------


def _images(arguments: Namespace) -> NamedThings:
    paths = [one for given in arguments.image for one in _photos(given)]
    model = _network(arguments)
    side, colours = (SIDE, SIDE), 3
    if isinstance(model, Network) and isinstance(model.run, OnnxRun):
        side, colours = model.run.size or side, model.run.colours
    if arguments.size is not None:
        side = (integer(arguments.size, "--size", 1),) * 2
    things = [_pixels(path, side, colours) for path in paths]
    explainer = _explainer(model, Images(arguments.segments), arguments)
    return _distinct(paths), things, explainer.explain_each


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
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise MissingExtraError("reading an image", "pillow", "image") from None
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


def _texts(arguments: Namespace) -> NamedThings:
    paths = [there(path) for path in arguments.text]
    things = [_read(path) for path in paths]
    model = _of_texts(read_model(arguments.model, arguments.trust))
    explainer = _explainer(model, Texts(unit=arguments.unit), arguments)
    return _distinct(paths), things, explainer.explain_each


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


def _column(arguments: Namespace) -> NamedThings:
    if arguments.data is None:
        raise InputError("--text-column names a column of --data")
    if arguments.row is None and not arguments.all:
        raise InputError("--text-column explains one text, with --row N, or all, with --all")
    data = read_data(arguments)
    (column,) = columns(data, [arguments.text_column], "--text-column")
    rows = data if arguments.row is None else one_row(data, arguments.row)
    numbers = np.arange(len(rows)) if arguments.row is None else np.array([arguments.row])
    texts = ["" if text != text else str(text) for text in rows[column]]
    rows, numbers, texts = _with_text(rows, numbers, texts, column)
    model = _of_texts(read_model(arguments.model, arguments.trust))
    how = Texts(unit=arguments.unit)
    names = [f"row {number}" for number in numbers]
    if column not in list(getattr(model, "feature_names_in_", ())):
        return names, texts, _explainer(model, how, arguments).explain_each

    classes = getattr(model, "classes_", None)

    def each(texts: Sequence[str]) -> Iterable[Explanation]:
        """The model takes all columns: those of the row stand beside the masked texts."""
        for place, text in enumerate(texts):
            one = _beside(model, rows.iloc[[place]], column)
            yield _explainer(one, how, arguments, classes).explain(text)

    return names, texts, each


def _with_text(
    rows: Any, numbers: Any, texts: Sequence[str], column: Any
) -> tuple[Any, Any, list[str]]:
    """The rows that have a text. The others are named on stderr."""
    there = [place for place, text in enumerate(texts) if text.strip()]
    empty = [str(numbers[place]) for place, text in enumerate(texts) if not text.strip()]
    if not there:
        one = f"row {empty[0]} has" if len(empty) == 1 else "the rows have"
        raise InputError(f"{one} no text in the column {column!r}")
    if empty:
        more = " …" if len(empty) > 5 else ""
        what = f"no text in the column {str(column)!r}, so nothing is explained there"
        print(f"eagle: rows {', '.join(empty[:5])}{more} have {what}", file=sys.stderr)
    return rows.iloc[there], numbers[there], [texts[place] for place in there]


def _beside(model: Any, row: Any, column: Any) -> Callable[[Sequence[str]], Any]:
    """A model of tables as one of texts: the other columns are those of one row."""
    ask = getattr(model, "predict_proba", None) or model.predict

    def asked_of(texts: Sequence[str]) -> Any:
        table = row.iloc[[0] * len(texts)].reset_index(drop=True)
        return ask(table.assign(**{column: list(texts)})[list(model.feature_names_in_)])

    return asked_of


# -- both -----------------------------------------------------------------------------------------


def _explainer(
    model: Any, source: Images | Texts, arguments: Namespace, classes: Any = None
) -> Explainer:
    outputs = classes if arguments.outputs is None else arguments.outputs
    return Explainer(
        model,
        source,
        method=METHODS[arguments.method],
        budget=arguments.budget,
        random_state=arguments.seed,
        task=arguments.task,
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


def _give(done: Mapping[str, Explanation], form: str, many: bool, arguments: Namespace) -> None:
    """Write or print explanations by name, in the given format."""
    out: Path | None = arguments.out
    first = next(iter(done.values()))
    if not many:
        give({arguments.row or 0: first}, form, False, arguments)
        return
    if form == "png":
        assert out is not None  # `format_of` refuses png without a file
        out.mkdir(exist_ok=True)
        for name, e in done.items():
            stem = name.replace("/", "-").replace("\\", "-").replace(" ", "-")
            draw_files({0: e}, out / f"{stem}.png", False)
    elif form == "parquet":
        table = tidy(dict(enumerate(done.values())))
        table.insert(1, "name", [writable(list(done)[row]) for row in table["row"]])
        table.to_parquet(out, index=False)
    elif form == "json":
        plain = [{"name": name, **e.to_dict()} for name, e in done.items()]
        say(json.dumps(plain, indent=1, allow_nan=False), out)
    else:
        text = "\n\n".join(f"{clean(name)}\n{e}" for name, e in done.items())
        say(text, out)
    wrote(arguments)
    sys.stdout.flush()
