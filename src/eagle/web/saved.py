"""Files of one explanation: JSON with all of it, or a report."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from eagle.explanation import Explanation
from eagle.reports import report
from eagle.web.room import Room
from eagle.web.wishes import Save
from eagle.web.work import explain_row


def saved(room: Room, wish: Save) -> tuple[bytes, str]:
    """The bytes of a file, and what they are."""
    e = _explanation(room, wish)
    if wish.form == "json":
        return e.to_json(1).encode(), "application/json"
    return _reported(e), "text/html; charset=utf-8"


def _explanation(room: Room, wish: Save) -> Explanation:
    """From the survey, or as it was streamed."""
    if room.survey is None:
        return explain_row(room, wish, lambda *_: None)
    x = room.shelf.one(wish.row, wish.edits)
    target = room.target(wish.target, wish.against)
    answers = None if wish.edits else room.answer(wish.row)
    if answers is None and wish.ask and room.can:
        answers = room.predict(x)[0]
    return room.from_survey(x, target, answers)


def _reported(e: Explanation) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        report(e, path, progress=False)
        return path.read_bytes()
