"""The command as a process: exit codes, one sentence for an error, Ctrl-C and SIGTERM."""

from __future__ import annotations

import os
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

from eagle._values.text import clean
from eagle.errors import EagleError


def run_command(parser: ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run the command that the arguments name. An error is one sentence and exit code 2.

    After Ctrl-C or SIGTERM, finished results are still given; exit codes 130 and 143.
    """
    if isinstance(sys.stdout, TextIOWrapper):  # a console that cannot show «≤» shows «?»
        sys.stdout.reconfigure(errors="replace")
    arguments = parser.parse_args(argv)
    try:
        with terminable():
            code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has closed the pipe, as `head` does
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
        sentence = str(error)
        if isinstance(error, OSError) and error.filename:
            sentence = f"{error.strerror}: {error.filename}"
        print(f"{parser.prog}: {' '.join(clean(sentence).split())}", file=sys.stderr)
        return 2


class Terminated(BaseException):
    """SIGTERM: the process is asked to end."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise SIGTERM as an exception, so that finished results can still be given."""
    owner = os.getpid()

    def end(number: int, _: Any) -> None:
        if os.getpid() == owner:
            raise Terminated
        signal.signal(number, signal.SIG_DFL)  # a forked child inherits this handler
        os.kill(os.getpid(), number)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # only the main thread may set handlers
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
