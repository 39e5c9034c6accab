"""What all documents of the REST API are made of: bases, lists, problems, units."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

UNITS: Mapping[str, str] = {
    "throughput": "bps",
    "rtt": "s",
    "one_way_delay": "s",
    "jitter": "s",
    "loss": "ratio",
    "health": "ratio",
}
"""The unit each metric's numbers are in."""


def listed_values(kind: type[StrEnum]) -> WithJsonSchema:
    """The schema of an enumeration where it is used, for one whose name others have, too."""
    return WithJsonSchema({"type": "string", "enum": [one.value for one in kind]})


Seconds = float | Literal["inf"]
"""A time span; ``"inf"`` where something is impossible (JSON has no infinity)."""


class View(BaseModel):
    """Base of all answers.

    Written with their fields in the order of the class, so that equal answers have equal bytes and ETags.
    """

    model_config = ConfigDict(frozen=True, serialize_by_alias=True, defer_build=True)

    def body(self) -> dict[str, Any]:
        """Plain JSON values."""
        return self.model_dump(mode="json")


class ListView(View):
    """Base of all lists: ``items`` in an order that stays, and where to go on."""

    next: str | None = Field(
        default=None, description="what the following page is asked with; null on the last"
    )

    @classmethod
    def newest_first(cls) -> bool:
        """Whether the following page is asked with ``before``, else with ``after``."""
        return False


class NewestFirstView(ListView):
    """Base of lists that begin with the newest."""

    @classmethod
    def newest_first(cls) -> bool:
        """They do."""
        return True


class ProblemItem(View):
    """One thing that is wrong."""

    field: str
    cause: str
    code: str = Field(description="stable name of the cause")
    file: str | None = None
    line: int | None = None
    column: int | None = None


class ProblemDocument(View):
    """RFC 9457: why a request was not carried out."""

    type: str
    title: str
    status: int
    code: str = Field(description="stable name of the error")
    detail: str
    problems: list[ProblemItem] = []
    kind: str | None = Field(default=None, description="of what is not there")
    name: str | None = Field(default=None, description="the name by which it was asked for")


class Deleted(View):
    """What is gone."""

    id: str


MAX_BODY = 1_000_000
"""Bytes in one request's body."""
