"""What the page's script may ask, as JSON: unknown fields are refused, and numbers are bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from eagle._values.text import short
from eagle.errors import InputError

T = TypeVar("T", bound="ApiRequest")

Place = Annotated[int, Field(ge=0, le=100_000)]
RowNumber = Annotated[int, Field(ge=0)]
Until = Literal["all", "top", "sign"]
Edits: TypeAlias = dict[Annotated[str, Field(max_length=20)], int | float | str | None]


@dataclass(frozen=True, kw_only=True)
class ApiRequest:
    """Base of all requests."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True}


@dataclass(frozen=True, kw_only=True)
class ListRows(ApiRequest):
    """A part of the list of rows."""

    search: Annotated[str, Field(max_length=400)] = ""
    sort: Literal["own", "prediction", "surprise"] = "own"
    down: bool = True
    target: Place | None = None
    start: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1, le=200)] = 60


@dataclass(frozen=True, kw_only=True)
class OpenRow(ApiRequest):
    """One row."""

    row: RowNumber


@dataclass(frozen=True, kw_only=True)
class Predict(ApiRequest):
    """Predictions of some rows, or of all."""

    rows: Annotated[list[RowNumber], Field(max_length=200)] = field(default_factory=list)
    everything: bool = False


@dataclass(frozen=True, kw_only=True)
class AboutRow(ApiRequest):
    """A row, perhaps with other values, and what is explained of it."""

    row: RowNumber
    edits: Annotated[Edits, Field(max_length=5000)] = field(default_factory=dict)
    target: Place | None = None
    against: Place | None = None

    @property
    def edits_key(self) -> tuple[tuple[str, Any], ...]:
        """The edits as a key."""
        return tuple(sorted(self.edits.items()))


@dataclass(frozen=True, kw_only=True)
class Explain(AboutRow):
    """An explanation from the survey, at once. With `ask`, the model is asked for its prediction.
    With `words`, it also says what the line misses, which takes longer."""

    ask: bool = True
    words: bool = False


@dataclass(frozen=True, kw_only=True)
class Save(AboutRow):
    """A file of one explanation."""

    form: Literal["json", "report"]
    until: Until = "all"
    ask: bool = True


@dataclass(frozen=True, kw_only=True)
class Run(AboutRow):
    """Something that asks the model, with events on the way."""

    kind: Literal["explain", "overview", "compare", "survey"]
    rows: Annotated[int, Field(ge=2, le=100_000)] | None = None
    """Of a survey, or those that an overview explains."""
    until: Until = "all"
    methods: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=8)] = field(
        default_factory=list
    )
    runs: Annotated[int, Field(ge=1, le=10)] = 3
    converged: bool = False


@dataclass(frozen=True, kw_only=True)
class Stop(ApiRequest):
    """End a run with what it has."""

    run: RowNumber


@dataclass(frozen=True, kw_only=True)
class AboutFeature(ApiRequest):
    """A feature of the overview: its dependence, or groups by it."""

    target: Place | None = None
    against: Place | None = None
    feature: Place
    other: Place | None = None


def read(kind: type[T], body: bytes) -> T:
    """A request from JSON; what does not fit is refused in a sentence."""
    try:
        request: T = TypeAdapter(kind).validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = where or "the request"
        raise InputError(short(f"{what} does not fit: {first['msg']}", 200)) from None
    return request
