"""Base classes of the documents and queries of the REST API; lists, problems, times and units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

UNITS: Mapping[str, str] = {
    "throughput": "bps",
    "rtt": "s",
    "one_way_delay": "s",
    "jitter": "s",
    "loss": "ratio",
    "health": "ratio",
}
"""Unit of the values of each metric."""


def enumeration_schema(kind: type[StrEnum]) -> WithJsonSchema:
    """Return the inline schema of an enumeration whose name is not unique."""
    return WithJsonSchema({"type": "string", "enum": [one.value for one in kind]})


def _write_infinity(value: object) -> object:
    return "inf" if value == math.inf else value


Seconds = Annotated[float | Literal["inf"], BeforeValidator(_write_infinity)]
"""A time span; infinity is ``"inf"``, because JSON has no infinity."""


def format_utc(at: float) -> str:
    """Return seconds since the epoch as ``2026-11-21T11:02:03.500Z``.

    :raises ValueError, OverflowError: for a time outside of the years 1 to 9999.
    """
    minute, left = divmod(round(at * 1e6) // 1000, 60_000)
    return f"{_format_minute(minute)}{left // 1000:02d}.{left % 1000:03d}Z"


@lru_cache(4096)
def _format_minute(number: int) -> str:
    # A list can contain thousands of times within a few minutes.
    return datetime.fromtimestamp(number * 60, UTC).isoformat()[:17]


def parse_utc(text: str) -> float:
    """Return the seconds since the epoch of a time of RFC 3339.

    :raises ValueError: for another text, or a time without an offset from UTC.
    """
    try:
        # In a query, a "+" that is not percent-encoded arrives as a space.
        moment = datetime.fromisoformat(text.strip().replace(" ", "+") if "T" in text else text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a time such as 2026-11-21T11:02:03Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"{text[:40]!r} has no offset; write for example 2026-11-21T11:02:03Z")
    return moment.timestamp()


def _read_time(value: object) -> float:
    if isinstance(value, str):
        return parse_utc(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a time; write for example 2026-11-21T06:00:00Z")
    return float(value)


Time = Annotated[
    float,
    BeforeValidator(_read_time),
    PlainSerializer(format_utc),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""Field that holds seconds since the epoch and is written as RFC 3339, in UTC, to the millisecond."""


def _sources(field: str) -> str | AliasChoices:
    name, _, unit = field.rpartition("_")
    return AliasChoices(field, name) if unit in ("bps", "bytes", "seconds") else field


class View(BaseModel):
    """Base of all answers.

    Fields are written in the order of the class, so that equal answers have equal bytes and ETags.
    A document can be made of any value: each field shows the attribute or item of its name.  Without one, a
    field with a unit in its name (``rtt_seconds``) shows the one without the unit (``rtt``).
    """

    model_config = ConfigDict(
        frozen=True,
        serialize_by_alias=True,
        defer_build=True,
        from_attributes=True,
        alias_generator=AliasGenerator(validation_alias=_sources),
    )

    @classmethod
    def of(cls, value: object, **more: object) -> Self:
        """Return the document of a value.

        :param more: fields that the value does not have, or has in another form.
        """
        if isinstance(value, Mapping):
            return cls.model_validate({**value, **more})
        return cls.model_validate(_AttributeOverlay(value, more))

    def body(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return self.model_dump(mode="json")


class _AttributeOverlay:
    """Value with additional attributes."""

    def __init__(self, value: object, more: Mapping[str, object]) -> None:
        self.__dict__.update(more, _value=value)

    def __getattr__(self, name: str) -> object:
        return getattr(self._value, name)


class PathDirection(View):
    """Base of documents about one direction of a path, from the site ``source`` to ``destination``."""

    path: str
    source: str
    destination: str


class ListView(View):
    """Base of all lists: ``items`` in a stable order, and the cursor of the next page."""

    next: str | None = Field(default=None, description="cursor of the next page; null on the last page")


class ListAtTime(ListView):
    """Base of lists that show the state at one time."""

    at: Time


class ProblemItem(View):
    """Problem of a request."""

    field: str
    cause: str
    code: str = Field(description="stable name of the cause")
    file: str | None = None
    line: int | None = None
    column: int | None = None


class ProblemDocument(View):
    """Problem document of RFC 9457: the reason of a refused or failed request."""

    type: str
    title: str
    status: int
    code: str = Field(description="stable name of the error")
    detail: str
    problems: list[ProblemItem] = []
    kind: str | None = Field(default=None, description="kind of the missing object")
    name: str | None = Field(default=None, description="requested name of the missing object")


class DeletionView(View):
    """Id of the deleted object."""

    id: str


MAX_BODY = 1_000_000
"""Maximum bytes of a request's body."""
PREFIX = "/api/v1"
"""Root of the API in the paths of its addresses."""
MOST = 500
"""Default maximum number of items of a page."""


class Body(BaseModel):
    """Base of the bodies of requests; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Query(BaseModel):
    """Base of all queries; an unknown parameter is an error."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Return the schema; the plain form, which the web framework reads in each request, is cached."""
        if arguments or options:
            return super().model_json_schema(*arguments, **options)
        return _plain_schema(cls)


@cache
def _plain_schema(query: type[Query]) -> dict[str, Any]:
    return super(Query, query).model_json_schema()


Cursor = Annotated[str, Field(max_length=400, description="`next` of the previous page")]


class NewestFirst(Query):
    """Page of a list, newest item first."""

    limit: int = Field(default=50, ge=1, le=MOST, description="largest number of items")
    before: Cursor | None = None


class InOrder(Query):
    """Page of a list in an order of its own."""

    limit: int = Field(default=MOST, ge=1, le=MOST, description="largest number of items")
    after: Cursor | None = None


class Ids(BaseModel):
    """Base of the parameters in a path: the ids of the object of a route."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class ObjectId(Ids):
    """Id of an object."""

    id: str = Field(max_length=100, description="`id` of the object, as its list shows it")
