"""What a client may wish for, as JSON. Fields that are not known are refused, and numbers bounded."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = int | float | str | None
Place = Annotated[int, Field(ge=0, le=100_000)]
RowNumber = Annotated[int, Field(ge=0)]


class Wish(BaseModel):
    """The base of all: nothing else may be in it."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Rows(Wish):
    """A page of the list of rows."""

    search: Annotated[str, Field(max_length=400)] = ""
    sort: Literal["own", "prediction", "surprise"] = "own"
    down: bool = True
    target: Place | None = None
    start: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1, le=200)] = 60


class Row(Wish):
    """One row."""

    row: RowNumber


class Predict(Wish):
    """Predictions of some rows, or of all."""

    rows: Annotated[list[RowNumber], Field(max_length=200)] = []
    everything: bool = False


class About(Wish):
    """A row, perhaps with other values, and what is explained of it."""

    row: RowNumber
    edits: Annotated[dict[Annotated[str, Field(max_length=20)], Number], Field(max_length=5000)] = {}
    target: Place | None = None
    against: Place | None = None


class Explain(About):
    """An explanation from the survey, at once. With `ask`, the model is asked for its prediction.
    With `words`, what the line misses is said too, which takes longer."""

    ask: bool = True
    words: bool = False


class Run(About):
    """Something that asks the model, with events on the way."""

    kind: Literal["explain", "overview", "compare", "survey"]
    rows: Annotated[int, Field(ge=2, le=100_000)] | None = None
    until: Literal["all", "top", "sign"] = "all"
    methods: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=8)] = []
    runs: Annotated[int, Field(ge=1, le=10)] = 3
    converged: bool = False


class Stop(Wish):
    """Stop a run, and keep what it has."""

    ticket: Annotated[str, Field(max_length=60_000)]


class Ask(Wish):
    """What has no row: the overview's dependence and cohorts."""

    target: Place | None = None
    against: Place | None = None
    feature: Place
    other: Place | None = None


class Save(About):
    """A file of one explanation."""

    form: Literal["json", "report"]
    rows: Annotated[int, Field(ge=2, le=100_000)] | None = None
    until: Literal["all", "top", "sign"] = "all"
    ask: bool = True


def plain(wish: BaseModel) -> dict[str, Any]:
    """A wish as plain data."""
    return wish.model_dump()
