"""A whole page of HTML in one file: no outside request, and nothing runs but our own lines."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import final

from eagle.display.colours import variables
from eagle.display.parts import to_html
from eagle.display.style import BARS


@final
@dataclass(frozen=True)
class Section:
    """A heading, and HTML under it."""

    title: str
    body: str


@final
@dataclass(frozen=True)
class Document:
    """The contents of a report. `lead` is HTML before the sections."""

    title: str
    kind: str
    lead: str
    sections: Sequence[Section]
    footer: str

    def html(self) -> str:
        """The page. Style and script are allowed by their hashes, everything else is refused."""
        style, script = _style(), _file("page.js")
        policy = (
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        )
        body = "".join(
            f"<section><h2>{to_html(one.title)}</h2>{one.body}</section>"
            for one in self.sections
            if one.body
        )
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n'
            f"<title>{to_html(self.title, 200)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
            f'<main class="eagle">\n<header><p class="kind">{to_html(self.kind)}</p>'
            f"<h1><bdi>{to_html(self.title, 240)}</bdi></h1>{self.lead}</header>\n"
            f"{body}\n<footer>{to_html(self.footer)}</footer>\n</main>\n"
            f"<script>{script}</script>\n</body>\n</html>\n"
        )


@cache
def _style() -> str:
    """The style of a page, with the colours of light and dark screens."""
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{variables(True)}}}}}"
    return f":root{{{variables(False)}}}\n{dark}\n{_file('page.css')}{BARS}"


@cache
def _file(name: str) -> str:
    return resources.files("eagle.reports").joinpath(name).read_text(encoding="utf-8")


def _hash(inline: str) -> str:
    return f"sha256-{b64encode(sha256(inline.encode()).digest()).decode()}"
