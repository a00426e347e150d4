"""What a client may wish for, as JSON: unknown fields are refused, and numbers are bounded."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from eagle.types import InputError, short

T = TypeVar("T", bound="Wish")

Number = int | float | str | None
Place = Annotated[int, Field(ge=0, le=100_000)]
Name = Annotated[str, Field(max_length=60)]
RowNumber = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Base of all requests. Unknown fields are refused."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True}


@dataclass(frozen=True, kw_only=True)
class ListRows(Wish):
    """A page of the list of rows."""

    search: Annotated[str, Field(max_length=400)] = ""
    sort: Literal["own", "prediction", "surprise"] = "own"
    down: bool = True
    target: Place | None = None
    start: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1, le=200)] = 60


@dataclass(frozen=True, kw_only=True)
class OpenRow(Wish):
    """One row."""

    row: RowNumber


@dataclass(frozen=True, kw_only=True)
class Predict(Wish):
    """Predictions of some rows, or of all."""

    rows: Annotated[list[RowNumber], Field(max_length=200)] = field(default_factory=list)
    everything: bool = False


@dataclass(frozen=True, kw_only=True)
class AboutRow(Wish):
    """A row, perhaps with other values, and what is explained of it."""

    row: RowNumber
    edits: Annotated[dict[Annotated[str, Field(max_length=20)], Number], Field(max_length=5000)] = (
        field(default_factory=dict)
    )
    target: Place | None = None
    against: Place | None = None


@dataclass(frozen=True, kw_only=True)
class Explain(AboutRow):
    """An explanation from the survey, at once. With `ask`, the model is asked for its prediction.
    With `words`, it also says what the line misses, which takes longer."""

    ask: bool = True
    words: bool = False


@dataclass(frozen=True, kw_only=True)
class Run(AboutRow):
    """Something that asks the model, with events on the way."""

    kind: Literal["explain", "overview", "compare", "survey"]
    rows: Annotated[int, Field(ge=2, le=100_000)] | None = None
    until: Literal["all", "top", "sign"] = "all"
    methods: Annotated[list[Name], Field(max_length=8)] = field(default_factory=list)
    runs: Annotated[int, Field(ge=1, le=10)] = 3
    converged: bool = False


@dataclass(frozen=True, kw_only=True)
class Stop(Wish):
    """Stop a run, and keep what it has."""

    ticket: Annotated[str, Field(max_length=60_000)]


@dataclass(frozen=True, kw_only=True)
class AboutFeature(Wish):
    """A request without a row: the overview's dependence and cohorts."""

    target: Place | None = None
    against: Place | None = None
    feature: Place
    other: Place | None = None


@dataclass(frozen=True, kw_only=True)
class Save(AboutRow):
    """A file of one explanation."""

    form: Literal["json", "report"]
    rows: Annotated[int, Field(ge=2, le=100_000)] | None = None
    until: Literal["all", "top", "sign"] = "all"
    ask: bool = True


def read(kind: type[T], body: bytes) -> T:
    """A wish from JSON; what does not fit is refused in a sentence."""
    try:
        made: T = TypeAdapter(kind).validate_json(body)
    except ValidationError as error:
        raise InputError(misfit(error)) from None
    return made


def again(kind: type[T], given: Any) -> T:
    """A wish from what `plain_wish` gave."""
    made: T = TypeAdapter(kind).validate_python(given, strict=False)
    return made


def misfit(error: Any) -> str:
    """The first field of a request that does not fit, and why, as a sentence."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return short(f"{where or 'the request'} does not fit: {first['msg']}", 200)


def plain_wish(wish: Wish) -> dict[str, Any]:
    """A wish as plain data."""
    return asdict(wish)
