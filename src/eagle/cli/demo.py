"""`eagle demo`: one explanation of each kind to look at."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Final

from eagle import Explanation, demos
from eagle.cli.files import package
from eagle.cli.output import format_of, give
from eagle.types import InputError

PAGE: Final = "make page, or eagle serve --open"


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
    print(f"In a browser, with other rows and values to try: {PAGE}")
    return 0


def demo_option(p: ArgumentParser) -> None:
    p.add_argument(
        "--out",
        type=Path,
        metavar="PNG",
        default=Path("eagle-demo.png"),
        help="the image (default: eagle-demo.png)",
    )


def options(p: ArgumentParser) -> None:
    """Adds the command's options."""
    p.add_argument(
        "what",
        nargs="?",
        default="table",
        metavar="{table,image,text}",
        help="a tumour (default), a written digit, a film review",
    )
    demo_option(p)
