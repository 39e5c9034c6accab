"""What is kept of a study beside its document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MOST_TITLE = 200
DOCUMENT = "study"
"""The kind under which the measurement archive keeps a study's document."""
PACKED = "packed"
"""The field that holds it (:mod:`adon.studies.packing`), there and on the way."""
_ID = re.compile(r"[0-9a-f]{16}")


class StudyKind(StrEnum):
    """What a study is; each kind has a document of its own."""

    HEALTH_ROUND = "health-round"
    SNAPSHOT = "snapshot"
    PLACEMENT = "placement"
    EVALUATION = "evaluation"


def short_of(kind: StudyKind) -> str:
    """The kind under which the archive keeps studies of a kind in short."""
    return f"study/{kind.value}"


@dataclass(frozen=True, slots=True)
class Study:
    """A study in short.

    :param id: the first 16 hexadecimal digits of the SHA-256 of kind and document: the same study handed in
        twice is one.
    :param at: when its network was looked at, seconds since 1970.
    :param title: what it is of, in a few words.
    :param summary: what it found, in one line.
    :param submitted_by: who handed it in; the collector for those that it made itself.
    :param submitted_at: seconds since 1970.
    :param size: bytes of its document's JSON.
    """

    id: str
    kind: StudyKind
    at: float
    title: str
    summary: str
    submitted_by: str
    submitted_at: float
    size: int


def is_id(text: str) -> bool:
    """Whether this could be a study's id."""
    return _ID.fullmatch(text) is not None
