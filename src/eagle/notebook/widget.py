"""The widget: its state goes to the page, and what the reader does comes back."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib import resources
from typing import Any, Final, final

import anywidget
import traitlets

from eagle.explanation import Explanation
from eagle.notebook.asking import Asking
from eagle.notebook.payload import view_payload
from eagle.targets import Target
from eagle.types import EagleError, short

LISTED: Final = 500
"""Up to this number, rows are listed by name. Beyond it, a row is picked by its number."""

FIELDS: Final = 60
"""Maximum number of columns that can be edited."""


@cache
def module() -> str:
    """The page's code: the chart and the view, as one module, since nothing is fetched."""
    folder = resources.files("eagle")
    chart = folder.joinpath("web", "static", "chart.js").read_text(encoding="utf-8")
    view = folder.joinpath("notebook", "view.js").read_text(encoding="utf-8")
    own = [line for line in view.splitlines() if not line.startswith("import ")]
    return chart + "\n" + "\n".join(own) + "\n"


@final
class View(anywidget.AnyWidget):  # type: ignore[misc]
    """A row's scores, with its values to change.

    The page sets `row`, `edits` (values by the number of their column) and `output`; what follows
    is in `payload`, or in `error`.
    """

    _esm = module()
    _css = resources.files("eagle").joinpath("notebook", "view.css").read_text(encoding="utf-8")

    token = traitlets.Unicode("").tag(sync=True)
    count = traitlets.Int(0).tag(sync=True)
    labels = traitlets.List().tag(sync=True)
    fields = traitlets.List().tag(sync=True)
    outputs = traitlets.List().tag(sync=True)
    values = traitlets.List().tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    edits = traitlets.Dict().tag(sync=True)
    output = traitlets.Int(-1).tag(sync=True)
    payload = traitlets.Dict().tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)

    def __init__(self, asking: Asking, row: int, target: Target, level: float) -> None:
        super().__init__()
        self._asking, self._target, self._level = asking, target, level
        columns = asking.columns[:FIELDS]
        self.token = str(self.model_id)
        self.count = len(asking.labels)
        self.labels = asking.labels if self.count <= LISTED else []
        self.fields = [column.field for column in columns]
        self.explanation: Explanation = asking.explain(row, {}, target)
        self.outputs = [short(str(output), 60) for output in self.explanation.outputs]
        self.row = row
        self._show(self.explanation)
        self.observe(self._changed, ["row", "edits", "output"])

    def _changed(self, change: Any) -> None:
        """Explain again after a change by the reader. An error is shown, and the view stays."""
        if change["name"] == "row" and self.edits:
            self.edits = {}  # which explains the new row
            return
        try:
            self._show(self._explained())
        except EagleError as error:
            self.error = str(error)

    def _explained(self) -> Explanation:
        edits = {int(place): value for place, value in self.edits.items()}
        target = self._target
        if 0 <= self.output < len(self.explanation.outputs):
            target = self.explanation.outputs[self.output]
        return self._asking.explain(self.row, edits, target)

    def _show(self, e: Explanation) -> None:
        columns, own = self._asking.columns[:FIELDS], self._asking.values(self.row)
        self.explanation = e
        with self.hold_sync():
            self.error = ""
            self.values = [column.sent(own[column.place]) for column in columns]
            self.payload = view_payload(e, self._level)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and the explanation as HTML where widgets do not run."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        if data is None:
            return bundle
        shown = {**data, "text/html": self.static, "text/plain": str(self.explanation)}
        return (shown, *rest) if rest else shown

    @property
    def static(self) -> str:
        """The explanation as a part of a page, without scripts."""
        return (
            f'<div data-eagle-static="{escape(self.token)}">{self.explanation._repr_html_()}</div>'
        )

    def _ipython_display_(self) -> None:
        """Display the explanation as plain HTML, and then the widget, which hides it.

        Exported pages prefer a widget to HTML, and show nothing where they cannot fetch the code
        that runs widgets. So the HTML is an output of its own.
        """
        from IPython.display import display

        display({"text/html": self.static, "text/plain": ""}, raw=True)
        bundle = super()._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is not None:
            display({**data, "text/plain": str(self.explanation)}, raw=True)
