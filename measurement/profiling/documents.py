"""Profiles as JSON; see docs/choreo.md for the fields.

Bytes and seconds; matrices as in :mod:`measurement.matrix`, where None is 0 bytes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from measurement import document, matrix
from measurement.document import Document, written
from measurement.profiling.model import Profile

KIND = "profile"
VERSION = 1


class ProfileDocument(Document):
    """The fields; without ``errors`` everything was counted."""

    kind: Literal["profile"]
    version: Literal[1]
    began: Annotated[float, Field(ge=0)]
    ended: Annotated[float, Field(ge=0)]
    tasks: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(max_length=2000)
    sent: list[list[Annotated[int, Field(ge=0)] | None]]
    errors: list[list[Annotated[float, Field(ge=0)] | None]] | None = None


def to_json(profile: Profile) -> dict[str, Any]:
    """A profile as data."""
    errors = {"errors": matrix.rows(profile.tasks, profile.errors)} if profile.errors else {}
    return {
        "kind": KIND,
        "version": VERSION,
        "began": profile.began,
        "ended": profile.ended,
        "tasks": list(profile.tasks),
        "sent": matrix.rows(profile.tasks, profile.sent),
        **errors,
    }


def dumps(profile: Profile) -> str:
    """A profile's document as text, a row of a matrix per line."""
    return written(to_json(profile))


def loads(text: str | bytes) -> Profile:
    """The inverse of :func:`dumps`.

    :raises ValueError: for what is no such document; it names the field.
    """
    return _profile(document.read(text, ProfileDocument, KIND, VERSION))


def _profile(read: ProfileDocument) -> Profile:
    errors = {} if read.errors is None else matrix.pairs("errors", read.tasks, read.errors)
    sent = matrix.pairs("sent", read.tasks, read.sent)
    return Profile(tuple(read.tasks), sent, read.began, read.ended, errors)
