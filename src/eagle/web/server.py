"""`eagle.serve`: the page's server, on this machine unless another address is given."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, final

from eagle.explainer import Explainer
from eagle.packages import one_thread
from eagle.quote import check_price
from eagle.survey.survey import Survey
from eagle.types import EagleError, InputError, MissingExtraError, integer, told
from eagle.until import Budget, refuse_limit

if TYPE_CHECKING:
    from eagle.web.room import Room

PORT: Final = 8765
"""The port, if it is free; else any."""

SETTINGS: Final[dict[str, Any]] = {
    "log_level": "warning",
    "access_log": False,
    "timeout_graceful_shutdown": 2,
    "lifespan": "off",
}
"""Settings of uvicorn. Nothing is logged of what is asked, and open streams do not hold it up."""

HERE: Final = ("127.0.0.1", "::1", "localhost")
"""Addresses that only this machine can reach."""


def serve(
    explainer: Explainer | Survey,
    X: Any = None,
    *,
    survey: Survey | int | None = None,
    limit: Budget | None = None,
    price_per_row: float | None = None,
    together: int = 1,
    host: str = "127.0.0.1",
    port: int | None = None,
    names: Sequence[str] = (),
    token: str | None = None,
    title: str = "EAGLE",
    browser: bool = False,
) -> None:
    """Show explanations in a browser until Ctrl-C. The link to open is printed.

    `X` are the rows that can be opened: a table, or a list of images or texts; without it the page
    begins with a typical row. With a `survey`, or the number of rows of one to ask now, rows are
    explained from it at once. Otherwise the model is asked as rows are opened. `limit` holds for
    all that is asked from the page, by all who open it. The model is asked by `together`
    threads at a time, one by default.

    Only who has the link can use the page: it has a random `token`, or the one you give. Give one
    to start the server again under pages that are open. With another `host` than this machine,
    say under which `names` the page is opened.
    """
    uvicorn = needed()
    page = prepared(
        explainer,
        X,
        survey=survey,
        limit=limit,
        price_per_row=price_per_row,
        together=together,
        host=host,
        port=port,
        names=names,
        token=token,
        title=title,
    )
    print(f"Open {page.link}\nCtrl-C ends it.", flush=True)
    if browser:
        import webbrowser

        threading.Timer(0.5, webbrowser.open, [page.link]).start()
    config = uvicorn.Config(page.app, **SETTINGS)
    try:
        with one_thread():  # small products are faster so, and many clients share the machine
            uvicorn.Server(config).run(sockets=[page.line])
    finally:
        page.close()


@final
@dataclass(frozen=True, eq=False)
class PreparedPage:
    """A page before it is served: its app, its room, the socket it listens at, and its link."""

    app: Any
    room: Room
    line: socket.socket
    link: str

    def close(self) -> None:
        self.room.workers.close()
        self.line.close()


def prepared(
    explainer: Explainer | Survey,
    X: Any,
    *,
    survey: Survey | int | None = None,
    limit: Budget | None = None,
    price_per_row: float | None = None,
    together: int = 1,
    host: str = "127.0.0.1",
    port: int | None = None,
    names: Sequence[str] = (),
    token: str | None = None,
    title: str = "EAGLE",
) -> PreparedPage:
    """All that `serve` runs. A survey is asked for here; nothing else is."""
    from eagle.web.app import application
    from eagle.web.guard import Keys
    from eagle.web.jobs import Job
    from eagle.web.room import Room

    check(explainer, survey, limit, price_per_row)
    keys = Keys.of(token)
    if survey is not None and not isinstance(survey, Survey):
        assert isinstance(explainer, Explainer)  # checked above
        survey = explainer.survey(survey, limit=limit)
    room = Room(
        explainer,
        X,
        survey=survey,
        limit=limit,
        price_per_row=price_per_row,
        together=together,
    )
    line = listening(host, port)
    at = line.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    hosts = [f"{name}:{at}" for name in (shown, *names)]
    if host in HERE:
        hosts += [f"{name}:{at}" for name in ("127.0.0.1", "localhost", "[::1]")]
    app = application(room, keys, hosts, title)
    room.workers.begin(Job("the server itself"), room.warm)
    name = names[0] if names else shown
    return PreparedPage(app, room, line, f"http://{name}:{at}/#token={keys.token}")


def needed() -> Any:
    """The packages of the extra `web`, or a sentence that says how to install them."""
    for name in ("starlette", "pydantic", "uvicorn"):
        try:
            module = import_module(name)
        except ImportError:
            raise MissingExtraError("the page", name, "web") from None
    return module


def check(explainer: Any, survey: Any, limit: Any, price_per_row: Any) -> None:
    """Refuse what does not fit, before anything is asked."""
    if not isinstance(explainer, Explainer | Survey):
        raise InputError(f"serve takes an Explainer or a Survey, not {told(explainer)}")
    if isinstance(explainer, Survey) and survey is not None:
        raise InputError("serve takes one survey: give it first, or as survey=")
    if survey is not None and not isinstance(survey, Survey):
        integer(survey, "survey", 64)
    refuse_limit(limit)
    check_price(price_per_row)


def listening(host: str, port: int | None) -> socket.socket:
    """A socket at the port, or at the usual one, or where that is taken at any."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    for one in (PORT, 0) if port is None else (port,):
        line = socket.socket(kind, socket.SOCK_STREAM)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            line.bind((host, one))
            line.listen(128)
            return line
        except (OSError, OverflowError) as error:
            line.close()
            if one == 0 or port is not None:
                raise EagleError(f"the page cannot be served at {host}:{one}: {error}") from None
    raise AssertionError("a loop of at least one port returns or raises")
