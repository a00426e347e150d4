"""The command `eagle`: explanations of a model in a file, for data in a file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

import eagle
from eagle import Explainer, Explanation, Method, Plan, demos, methods
from eagle.comparison import Compared, Comparison
from eagle.explainer import kept
from eagle.files.sealed import writable
from eagle.foreign import Foreign
from eagle.models import onnx
from eagle.progress import Progress
from eagle.types import EagleError, InputError, MissingExtraError, clean, message_of

METHODS: Final[dict[str, Method | Foreign]] = {
    name.lower().replace("_", "-"): value
    for name, value in vars(methods).items()
    if isinstance(value, Method | Foreign)
}
FORMATS: Final = ("table", "json", "parquet", "png")
PICKLES: Final = (".joblib", ".pkl", ".pickle")
OPTIONAL: Final = {
    "pandas": "cli",
    "pyarrow": "cli",
    "rich": "cli",
    "joblib": "cli",
    "scikit-learn": "cli",
    "matplotlib": "plot",
    "narwhals": "frames",
    "onnxruntime": "onnx",
    "shap": "shap",
    "scikit-image": "image",
    "torch": "torch",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `eagle`."""
    return run_command(parser(), argv)


def run_command(parser: ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run what the arguments ask for; what cannot be done is one sentence, and is exit code 2.

    Ctrl-C and SIGTERM end it early, with what is finished: exit codes 130 and 143.
    """
    if hasattr(sys.stdout, "reconfigure"):  # a console without «≤» shows «?», and goes on
        sys.stdout.reconfigure(errors="replace")
    arguments = parser.parse_args(argv)
    try:
        with terminable():
            code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (KeyboardInterrupt, Terminated) as stop:
        done = vars(stop).get("__notes__", ["nothing was finished yet"])
        print(f"{parser.prog}: stopped: {done[0]}", file=sys.stderr)
        return 130 if isinstance(stop, KeyboardInterrupt) else 143
    except MemoryError:
        print(
            f"{parser.prog}: there is not enough memory for this: give fewer rows",
            file=sys.stderr,
        )
        return 2
    except (EagleError, OSError) as error:
        file = getattr(error, "filename", None)
        sentence = f"{error.strerror}: {file}" if isinstance(error, OSError) and file else error
        print(f"{parser.prog}: {' '.join(clean(str(sentence)).split())}", file=sys.stderr)
        return 2


class Terminated(BaseException):
    """SIGTERM: the process is asked to end."""


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM as an exception, so that what is finished can be given; afterwards as before."""
    owner = os.getpid()

    def end(number: int, _: Any) -> None:
        if os.getpid() == owner:
            raise Terminated
        signal.signal(number, signal.SIG_DFL)  # a child has this from its parent, not for itself
        os.kill(os.getpid(), number)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # only the main thread may
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


# -- files -------------------------------------------------------------------------------------


def package(module: str, what: str, extra: str = "cli") -> Any:
    """A package that a bare install lacks."""
    try:
        return import_module(module)
    except ImportError:
        name = {"sklearn": "scikit-learn"}.get(module, module)
        raise MissingExtraError(what, name, extra) from None


def kind_of(path: Path) -> str:
    """Whether a table is "csv" or "parquet", by the end of its name."""
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return "csv"
    if name.endswith(".parquet"):
        return "parquet"
    raise InputError(f"a table is a .csv, .csv.gz or .parquet file, which {path} is not")


def there(path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return path


def read_table(path: Path) -> Any:
    """A table in a file, as a pandas DataFrame."""
    kind = kind_of(there(path))
    pd = package("pandas", f"reading {path}")
    try:
        if kind == "csv":
            # Numbers to the last bit, as pandas reads them by itself from 3.1 on.
            old = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
            exact = {"float_precision": "round_trip"} if old else {}
            return pd.read_csv(path, low_memory=False, **exact)
        package("pyarrow", f"reading {path}")
        return pd.read_parquet(path)
    except EagleError:
        raise
    except Exception as error:  # pandas, pyarrow and unpackers raise whatever they like
        raise InputError(f"{path} could not be read as {kind}: {message_of(error)}") from None


def write_table(table: Any, path: Path) -> None:
    if kind_of(path) == "csv":
        table.to_csv(path, index=False)
    else:
        package("pyarrow", f"writing {path}")
        table.to_parquet(path, index=False)


def read_model(path: Path, trust: bool) -> Any:
    """A model in a file; one that is a pickle only if the caller trusts it."""
    there(path)
    if path.suffix.lower() == ".onnx":
        return onnx.load(path)
    if path.suffix.lower() not in PICKLES:
        raise InputError(f"a model is a .onnx, {', '.join(PICKLES)} file, which {path} is not")
    if not trust:
        raise InputError(
            f"loading {path} runs whatever code is in it: if you trust its source, add --trust"
        )
    joblib = package("joblib", f"loading {path}")
    try:
        return joblib.load(path)
    except ModuleNotFoundError as error:
        missing = (error.name or str(error)).split(".")[0]
        if missing == "sklearn":
            raise MissingExtraError(f"loading {path}", "scikit-learn", "cli") from None
        raise InputError(
            f"loading {path} needs the package {missing!r}, which is not installed here"
        ) from None
    except Exception as error:  # code from the file: anything may come
        raise InputError(
            f"{path} could not be loaded: {type(error).__name__}: {message_of(error)}"
        ) from None


def spare(inputs: Iterable[Path | None], *written: Path | None) -> None:
    """No file that is read is written, by whatever name or link."""
    for out in written:
        for given in inputs:
            if out is not None and given is not None and same(out, given):
                raise InputError(f"writing {out} would overwrite {given}: name another file")


def same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there
        return False


def columns(table: Any, asked: Sequence[str], option: str) -> list[Any]:
    """The columns meant by their names' text."""
    named = {str(c): c for c in table.columns}
    for name in asked:
        if name not in named:
            listed = ", ".join(list(named)[:20]) + (", …" if len(named) > 20 else "")
            raise InputError(f"{option} names the column {name!r}, but the data has {listed}")
    return [named[name] for name in asked]


def one_row(table: Any, row: int) -> Any:
    if not 0 <= row < len(table):
        raise InputError(f"there is no row {row}: the data has rows 0 to {len(table) - 1}")
    return table.iloc[[row]]


# -- what is said ------------------------------------------------------------------------------


def format_of(arguments: Namespace, many: bool = False) -> str:
    """The form asked for, or that of the file to write. Refused now, not after the model ran."""
    out: Path | None = arguments.out
    ending = out.suffix[1:].lower() if out is not None else ""
    form: str = arguments.format or (ending if ending in FORMATS else "table")
    if form in ("parquet", "png") and out is None:
        raise InputError(f"--format {form} needs --out, a file to write")
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent} to write to")
    if form == "parquet":
        package("pyarrow", "writing parquet")
    if form == "png":
        package("matplotlib", "drawing a plot").use("Agg")
        if many and out is not None and out.exists() and not out.is_dir():
            raise InputError(f"many images need a folder, which {out} is not")
    return form


def about(explanation: Explanation, target: str | None, against: str | None) -> Explanation:
    """The explanation of the outputs meant by their names' text."""
    if target is None and against is None:
        return explanation
    named = {str(o): o for o in explanation.outputs}
    for text in (target, against):
        if text is not None and text not in named:
            raise InputError(f"the model has no output {text!r}; it has {', '.join(named)}")
    this = explanation.target if target is None else named[target]
    if against is None:
        return explanation.about(this)
    if this == named[against]:
        raise InputError(f"{against} is what is explained already: set another --target against it")
    return explanation.about((this, named[against]))


def give(found: dict[int, Explanation], form: str, many: bool, arguments: Namespace) -> None:
    """Explanations by row, in the form and to the place asked for."""
    out: Path | None = arguments.out
    if form == "parquet":
        tidy(found).to_parquet(out, index=False)
    elif form == "png":
        assert out is not None  # as `format_of` has seen to
        draw(found, out, many)
    elif form == "json":
        plain = [e.to_dict() for e in found.values()]
        narrow = out is None and "utf" not in (sys.stdout.encoding or "").lower()
        value = plain if many else plain[0]
        text = json.dumps(value, indent=1, ensure_ascii=narrow, allow_nan=False)
        if writable(text) != text:  # half a character, which only an escape can hold
            text = json.dumps(value, indent=1, allow_nan=False)
        say(text, out)
    elif out is None and sys.stdout.isatty() and find_spec("rich"):
        console = import_module("rich.console").Console(highlight=False)
        for row, e in found.items():
            console.print(*([f"Row {row}", e, ""] if many else [e]), sep="\n")
    else:
        say("\n\n".join(f"Row {row}\n{e}" if many else str(e) for row, e in found.items()), out)
    wrote(arguments)


def wrote(arguments: Namespace) -> None:
    if arguments.out is not None and not arguments.quiet:
        print(clean(f"wrote {arguments.out.absolute()}"), file=sys.stderr)


def say(text: str, out: Path | None) -> None:
    if out is None:
        print(text)
    else:
        out.write_text(writable(text) + "\n", encoding="utf-8")


def tidy(found: dict[int, Explanation]) -> Any:
    """All explanations in one table, a line for each row and feature; values are text."""
    pd = package("pandas", "a table of explanations")
    frames = []
    for row, e in found.items():
        frame = e.to_frame()
        values = [None if v is None else writable(str(v)) for v in e.values]
        frame["value"] = pd.array(values, dtype="string")
        frame.insert(0, "row", row)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def drawn(e: Explanation) -> Any:
    """The image that suits what is explained."""
    from eagle import plot
    from eagle.subject import Passage, Picture

    if isinstance(e.subject, Picture):
        return plot.image(e)[0].figure
    return (plot.text(e) if isinstance(e.subject, Passage) else plot.attribution(e)).figure


def draw(found: dict[int, Explanation], out: Path, many: bool) -> None:
    """One image, or a folder of them, one a row."""
    from matplotlib import pyplot as plt

    if many:
        out.mkdir(exist_ok=True)
    for row, e in found.items():
        figure: Any = drawn(e)
        try:
            figure.savefig(out / f"row-{row}.png" if many else out, dpi=200, format="png")
        finally:
            plt.close(figure)


# -- commands ----------------------------------------------------------------------------------


def explainer(model: Any, data: Any, arguments: Namespace) -> Explainer:
    outputs = arguments.outputs
    if isinstance(model, onnx.OnnxModel) and outputs is None:
        if model.classes_ is None:
            model(data.iloc[:1])  # its first answer may name the classes
        outputs = model.classes_
    return Explainer(
        model,
        data,
        view=arguments.view,
        method=METHODS[arguments.method],
        budget=arguments.budget,
        random_state=arguments.seed,
        task=arguments.task,
        outputs=outputs,
        categories=columns(data, arguments.categories, "--categories"),
        freeze=columns(data, arguments.freeze, "--freeze"),
    )


def read_data(arguments: Namespace) -> Any:
    data = read_table(arguments.data)
    return data.drop(columns=columns(data, arguments.drop, "--drop"))


def explain(arguments: Namespace) -> int:
    many = arguments.row is None
    form = format_of(arguments, many)
    inputs = (arguments.model, arguments.data, arguments.rows)
    spare(inputs, arguments.out)
    model = read_model(arguments.model, arguments.trust)
    data = read_data(arguments)
    rows = data if arguments.rows is None else read_table(arguments.rows)
    rows = rows if many else one_row(rows, arguments.row)
    numbers = list(range(len(rows))) if many else [arguments.row]
    if many and form == "png":
        spare(inputs, *(arguments.out / f"row-{row}.png" for row in numbers))
    progress = Progress("explained", len(rows), silent=arguments.quiet)
    found: dict[int, Explanation] = {}
    try:
        each = explainer(model, data, arguments).explain_each(rows)
        for row, explanation in zip(numbers, each, strict=True):
            found[row] = about(explanation, arguments.target, arguments.against)
            progress.at(len(found))
    except BaseException as error:
        for place, explanation in kept(error).items():  # those that were not handed out yet
            found[numbers[place]] = about(explanation, arguments.target, arguments.against)
        error.add_note(f"{len(found)} of {len(numbers)} rows were explained")
        raise
    finally:  # also when the model fails on the way: what was paid for is given
        progress.close()
        if found:
            give(found, form, many, arguments)
    return 0


def plan(arguments: Namespace) -> int:
    out: Path = arguments.out
    kind_of(out)
    stem = Path(out.name.removesuffix(".gz")).stem
    path: Path = arguments.plan or out.with_name(f"{stem}.plan.json")
    spare([arguments.data], out, path)
    if out.resolve() == path.resolve() or same(out, path):
        raise InputError(f"the rows and the plan need two files, and {path} is one")
    data = read_data(arguments)
    made = explainer(None, data, arguments).plan(one_row(data, arguments.row))
    write_table(made.inputs, out)
    made.save(path)
    if not arguments.quiet:
        print(clean(f"{made.rows} rows to answer: {out}"))
        print(
            clean(f"Answer them in a table, one column an output, then: eagle fit {path} ANSWERS")
        )
    return 0


def compare(arguments: Namespace) -> int:
    form = format_of(arguments)
    if form == "json":
        raise InputError("a comparison is given as a table, parquet or png")
    spare([arguments.model, arguments.data], arguments.out)
    model = read_model(arguments.model, arguments.trust)
    data = read_data(arguments)
    x = one_row(data, arguments.row)
    arguments.method = "eagle"
    try:
        found = eagle.compare(
            [METHODS[name] for name in arguments.methods],
            explainer(model, data, arguments),
            x,
            arguments.runs,
            k=arguments.top,
            equal=not arguments.own_budgets,
            converged=arguments.converged,
            progress=not arguments.quiet,
        )
    except BaseException as error:  # what was paid for is given
        made = list(kept(error).values())
        total = arguments.runs * len(arguments.methods) + (arguments.converged is not None)
        error.add_note(f"{len(made)} of {total} explanations were made")
        if partly := so_far(made, arguments):
            give_comparison(partly, form, arguments)
        raise
    give_comparison(found, form, arguments)
    return 0


def so_far(made: Sequence[Explanation], arguments: Namespace) -> Comparison | None:
    """The comparison of what was made before it was stopped, run by run."""
    if not made:
        return None
    truth = None if arguments.converged is None else made[0]
    runs = made if truth is None else made[1:]
    each = [runs[i : i + arguments.runs] for i in range(0, len(runs), arguments.runs)]
    methods = tuple(Compared(tuple(some), arguments.top, truth) for some in each)
    return Comparison(methods, arguments.top, truth) if methods else None


def give_comparison(found: Comparison, form: str, arguments: Namespace) -> None:
    out: Path | None = arguments.out
    if form == "parquet":
        table = found.to_frame()
        table["value"] = table["value"].map(lambda value: writable(str(value)))
        table.to_parquet(out, index=False)
    elif form == "png":
        from matplotlib import pyplot as plt

        from eagle import plot

        figure: Any = plot.methods(found)[0].figure
        figure.savefig(out, dpi=200, format="png")
        plt.close(figure)
    else:
        say(str(found), out)
    wrote(arguments)


def fit(arguments: Namespace) -> int:
    form = format_of(arguments)
    spare([arguments.plan, arguments.answers], arguments.out)
    made = Plan.load(there(arguments.plan))
    answers = read_table(arguments.answers)
    if len(answers) != made.rows:
        raise InputError(
            f"{arguments.answers} has {len(answers)} rows, but the plan asks {made.rows}: give "
            "one for each, in their order, below a first line of names"
        )
    made, answers = named(made, answers)
    explanation = about(made.fit(answers.to_numpy()), arguments.target, arguments.against)
    give({0: explanation}, form, False, arguments)
    return 0


def named(made: Plan, answers: Any) -> tuple[Plan, Any]:
    """A plan and its answers that agree on the outputs' names and their order."""
    names = [str(c) for c in answers.columns]
    if "Unnamed: 0" in names:
        raise InputError("the answers have a column without a name: write them without an index")
    outputs = made.box.outputs
    if outputs is None and len(names) > 1:
        return replace(made, box=replace(made.box, outputs=tuple(names))), answers
    order = [str(o) for o in outputs or ()]
    if sorted(order) == sorted(names):
        return made, answers.iloc[:, [names.index(o) for o in order]]
    return made, answers


def demo(arguments: Namespace) -> int:
    what = arguments.what
    if what in ("mnist", "photo", "spam"):
        raise InputError(
            f"the demo {what} needs the evaluation's data, which is not installed: in a clone of "
            f"the project, python -m evaluation demo {what} shows it"
        )
    if what not in demos.DEMOS:
        raise InputError(f"there is no demo {what!r}: there are {', '.join(demos.DEMOS)}")
    return show_demo(demos.DEMOS[what], arguments)


def show_demo(made: Callable[[], tuple[str, Explanation]], arguments: Namespace) -> int:
    """Print what a demo says and its explanation, and draw it to the file `arguments.out`."""
    arguments.format = "png"
    form = format_of(arguments)
    package("sklearn", "the demo")
    package("pandas", "the demo")
    says, explanation = made()
    print(f"{says}\n")
    give({0: explanation}, "table", False, Namespace(out=None, quiet=True))
    give({0: explanation}, form, False, Namespace(out=arguments.out, quiet=True))
    print(f"\nThe same as an image: {arguments.out.absolute()}")
    return 0


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
        made = Explainer(lambda x: x @ slopes, data, view="continuous").explain(data[0])
        worst = float(np.abs(made.scores / data.std(axis=0) - slopes).max())
    except Exception as error:  # whatever is ill here is what the doctor is for
        print(f"Not well: explaining a line raised {type(error).__name__}: {error}")
        return 1
    well = worst < 0.05
    print(f"{'Well' if well else 'Not well'}: the slopes of a line were found within {worst:.2g}")
    return 0 if well else 1


def bench(arguments: Namespace) -> int:
    raise InputError(
        "the evaluation is not installed with the library: in a clone of the project, "
        "python -m evaluation runs it"
    )


# -- the command line --------------------------------------------------------------------------


def parser() -> ArgumentParser:
    top = ArgumentParser(
        "eagle",
        description="Explain single predictions: which features, how much, how sure.",
        epilog="example: eagle demo",
    )
    top.add_argument("--version", action="version", version=f"eagle {eagle.__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Callable[[Namespace], int], says: str, example: str) -> ArgumentParser:
        made: ArgumentParser = commands.add_parser(
            run.__name__,
            help=says,
            description=says[:1].upper() + says[1:] + ".",
            epilog=f"example: {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=run)
        return made

    p = command(
        explain,
        "explain predictions of a model in a file",
        "eagle explain model.onnx --data train.csv --drop label --row 3",
    )
    p.add_argument("model", type=Path, metavar="MODEL", help=".onnx, or .joblib or .pkl to trust")
    rows = space_options(p).add_mutually_exclusive_group(required=True)
    rows.add_argument("--row", type=int, metavar="N", help="explain this row of the data, from 0")
    rows.add_argument("--rows", type=Path, metavar="FILE", help="explain the rows of another file")
    rows.add_argument("--all", action="store_true", help="explain all rows of the data")
    p.add_argument("--trust", action="store_true", help="load a pickle, which runs code from it")
    method_option(p)
    result_options(p)

    p = command(
        compare,
        "explain one row by several methods, several times each",
        "eagle compare model.onnx --data train.csv --drop label --row 3 --methods eagle lime",
    )
    add = space_options(p).add_argument
    add("model", type=Path, metavar="MODEL", help=".onnx, or .joblib or .pkl to trust")
    add("--row", type=int, metavar="N", required=True, help="the row of the data, from 0")
    add(
        "--methods",
        nargs="+",
        choices=METHODS,
        metavar="METHOD",
        default=["eagle-balanced", "eagle", "lime", "baylime", "bayeslime"],
        help=f"some of: {', '.join(METHODS)}",
    )
    add("--runs", type=int, default=5, metavar="N", help="runs of each (default: 5)")
    add("--top", type=int, default=5, metavar="K", help="features that count (default: 5)")
    add("--own-budgets", action="store_true", help="each method's own budget, not one for all")
    add(
        "--converged",
        type=int,
        metavar="N",
        help="also the agreement with LIME's explanation from N further rows",
    )
    add("--trust", action="store_true", help="load a pickle, which runs code from it")
    add("--format", choices=("table", "parquet", "png"), help="default: as --out ends, else table")
    add("--out", type=Path, metavar="PATH", help="file to write")
    add("--quiet", action="store_true", help="no progress and no notes")

    p = command(
        plan,
        "write the rows that a model elsewhere should answer",
        "eagle plan --data train.csv --drop label --row 3 --out ask.csv",
    )
    space_options(p).add_argument(
        "--row", type=int, metavar="N", required=True, help="the row of the data to explain, from 0"
    )
    p.add_argument("--out", type=Path, metavar="ROWS", required=True, help="rows to be answered")
    method_option(p)
    p.add_argument("--plan", type=Path, metavar="PLAN", help="the plan (default: ROWS.plan.json)")
    p.add_argument("--quiet", action="store_true", help="say nothing")

    p = command(
        fit,
        "explain from the answers to a plan",
        "eagle fit ask.plan.json answers.csv --target yes",
    )
    p.add_argument("plan", type=Path, metavar="PLAN", help="what 'eagle plan' wrote")
    p.add_argument(
        "answers",
        type=Path,
        metavar="ANSWERS",
        help="table: one row for each row asked, one column an output",
    )
    result_options(p)

    p = command(demo, "explain a prediction, and draw it", "eagle demo text --out me.png")
    p.add_argument(
        "what",
        nargs="?",
        default="table",
        metavar="{table,image,text}",
        help="a tumour (default), a written digit, a film review",
    )
    demo_option(p)
    command(doctor, "say what is installed, and whether it works", "eagle doctor")
    # Until 0.1 it ran the evaluation. With this prefix, options are arguments like any other.
    gone = commands.add_parser("bench", prefix_chars="\0", add_help=False)
    gone.add_argument("rest", nargs="*")
    gone.set_defaults(run=bench)
    return top


def demo_option(p: ArgumentParser) -> None:
    p.add_argument(
        "--out",
        type=Path,
        metavar="PNG",
        default=Path("eagle-demo.png"),
        help="the image (default: eagle-demo.png)",
    )


def space_options(p: ArgumentParser) -> ArgumentParser:
    """What the perturbations are, for `explain`, `compare` and `plan`."""
    add = p.add_argument
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    add(
        "--data",
        type=Path,
        metavar="FILE",
        required=True,
        help="table like the one the model was fitted on: .csv, .csv.gz, .parquet",
    )
    add("--drop", metavar="COL", help="columns to leave out, such as the label", **several)
    add("--categories", metavar="COL", help="number columns that are levels", **several)
    add("--freeze", metavar="COL", help="columns never to be moved", **several)
    add(
        "--view",
        choices=("binned", "continuous"),
        help="binned (default): keeping the value's "
        "bin; continuous: moving by a standard deviation",
    )
    add(
        "--budget",
        type=int,
        metavar="N",
        help="most rows to ask (default: the method's own, mostly 500)",
    )
    add("--seed", type=int, default=0, metavar="N", help="decides all chance (default: 0)")
    add("--task", choices=("classification", "regression"), help="if the model does not say it")
    add("--outputs", nargs="+", metavar="NAME", help="names of the classes or targets, in order")
    return p


def method_option(p: ArgumentParser) -> None:
    p.add_argument(
        "--method",
        choices=METHODS,
        default="eagle-balanced",
        metavar="METHOD",
        help=f"default: eagle-balanced; one of: {', '.join(METHODS)}",
    )


def result_options(p: ArgumentParser) -> None:
    """What is explained and how it is given, for `explain` and `fit`."""
    add = p.add_argument
    add("--target", metavar="CLASS", help="class or output to explain (default: the predicted)")
    add("--against", metavar="CLASS", help="explain the target against this class")
    add("--format", choices=FORMATS, help="default: as --out ends, else table")
    add("--out", type=Path, metavar="PATH", help="file to write; for many images a folder")
    add("--quiet", action="store_true", help="no progress and no notes")


if __name__ == "__main__":
    sys.exit(main())
