"""`eagle.serve`: the page's server, for one user, on this machine alone."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, final

from eagle._values.checks import integer
from eagle._values.packages import one_thread
from eagle._values.text import short_repr
from eagle.cost import check_price
from eagle.errors import EagleError, InputError, MissingExtraError
from eagle.explainer import Explainer
from eagle.limit import Limit, refuse_limit
from eagle.survey.survey import Survey
from eagle.web.security import check_token
from eagle.web.state import State

HOST: Final = "127.0.0.1"

PORT: Final = 8765
"""The port, if it is free; else any."""

SETTINGS: Final[dict[str, Any]] = {
    "log_level": "warning",
    "access_log": False,
    "timeout_graceful_shutdown": 2,
    "lifespan": "off",
    "ws": "none",
}
"""Settings of uvicorn. Nothing is logged of what is asked, and open streams do not hold it up."""


def serve(
    explainer: Explainer | Survey,
    X: Any,
    *,
    survey: Survey | int | None = None,
    limit: Limit | None = None,
    price_per_row: float | None = None,
    port: int | None = None,
    token: str | None = None,
    title: str = "EAGLE",
    browser: bool = False,
) -> None:
    """Show explanations in a browser on this machine until Ctrl-C. The link to open is printed.

    `X` are the rows that can be opened: a table, or a list of images, texts or series. With a
    `survey`, or the number of rows of one to ask now, rows are explained from it at once. Otherwise
    the model is asked as rows are opened. `limit` holds for all that is asked from the page. The
    model is asked on one thread: what needs it waits in order, and what does not need it never
    waits.

    The page is for one user: only this machine can reach it, and only who has the link can use it.
    The link has a random `token`, or the one you give. Give one, and the port, to start the server
    again under pages that are open.
    """
    uvicorn = require_packages()
    page = prepare_page(
        explainer,
        X,
        survey=survey,
        limit=limit,
        price_per_row=price_per_row,
        port=port,
        token=token,
        title=title,
    )
    print(f"Open {page.link}\nCtrl-C ends it.", flush=True)
    if browser:
        import webbrowser

        threading.Timer(0.5, webbrowser.open, [page.link]).start()
    config = uvicorn.Config(page.app, **SETTINGS)
    try:
        # Small products are faster on one thread, and the machine has other work.
        with one_thread(), suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[page.socket])
    finally:
        page.close()


@final
@dataclass(frozen=True, eq=False)
class Page:
    """A page before it is served: its app and its state, the socket it listens at, and its link."""

    app: Any
    state: State
    socket: socket.socket
    link: str

    def close(self) -> None:
        self.state.worker.close()
        self.socket.close()


def prepare_page(
    explainer: Explainer | Survey,
    X: Any,
    *,
    survey: Survey | int | None = None,
    limit: Limit | None = None,
    price_per_row: float | None = None,
    port: int | None = None,
    token: str | None = None,
    title: str = "EAGLE",
) -> Page:
    """All that `serve` runs. A survey is asked for here; nothing else is."""
    from eagle.web.app import application

    check(explainer, survey, limit, price_per_row)
    token = check_token(token)
    if survey is not None and not isinstance(survey, Survey):
        assert isinstance(explainer, Explainer)  # checked above
        survey = explainer.survey(survey, limit=limit)
    state = State(explainer, X, survey=survey, limit=limit, price_per_row=price_per_row)
    line = listen(port)
    at = line.getsockname()[1]
    app = application(state, token, at, title)
    state.warm_up()
    return Page(app, state, line, f"http://{HOST}:{at}/#token={token}")


def require_packages() -> Any:
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
        raise InputError(f"serve takes an Explainer or a Survey, not {short_repr(explainer)}")
    if isinstance(explainer, Survey) and survey is not None:
        raise InputError("serve takes one survey: give it first, or as survey=")
    if survey is not None and not isinstance(survey, Survey):
        integer(survey, "survey", 64)
    refuse_limit(limit)
    check_price(price_per_row)


def listen(port: int | None) -> socket.socket:
    """A socket at the port, or at the usual one, or where that is taken at any."""
    for one in (PORT, 0) if port is None else (port,):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            line.bind((HOST, one))
            line.listen(128)
            return line
        except (OSError, OverflowError) as error:
            line.close()
            if one == 0 or port is not None:
                raise EagleError(f"the page cannot be served at {HOST}:{one}: {error}") from None
    raise AssertionError("a loop of at least one port returns or raises")
