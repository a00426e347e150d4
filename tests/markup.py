"""Pages read back: their tags, and the text inside each."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "img"}


class Page(HTMLParser):
    """A page whose tags are all closed, with its text, and all that it would fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self.feed(page)
        self.close()
        assert self.open == []

    @property
    def kinds(self) -> list[str]:
        return [tag for tag, _ in self.tags]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.text[tag] = self.text.get(tag, "") + data
