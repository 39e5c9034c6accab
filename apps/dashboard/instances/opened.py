"""The study that an address asks for: the one it names, else the latest of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from adon.client.documents import StudyView
from adon.errors import NotFound
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.visit import Visit

LISTED = 100
"""Studies of a kind that a page offers."""
STUDY = "study"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Opened(Generic[T]):
    """A study, read.

    :param listed: all of its kind, the latest first.
    """

    listed: Sequence[StudyView]
    study: Mapping[str, Any]
    value: T


def opened(here: Visit, kind: StudyKind, read: Callable[[Any], T]) -> Opened[T] | None:
    """The study of this kind that a visit is about; None if there is none at all.

    :param read: a document as a value.
    :raises NotFound: if the address names one that is not there, or is of another kind.
    """
    listed = here.client.studies(kind.value, LISTED)
    asked = here.query.get(STUDY) or (listed[0]["id"] if listed else "")
    if not asked:
        return None
    found = here.client.study(asked)
    if found["kind"] != kind.value:
        raise NotFound(kind.value, asked)
    return Opened(listed, found, read(found["document"]))


def options(here: Visit, kind: StudyKind, latest: str) -> list[tuple[str, str]]:
    """The studies of a kind to choose from, by id and words; the first stands for whatever is the latest."""
    listed = here.client.studies(kind.value, LISTED)
    return [("", latest), *((one["id"], f"{_day(one['at'], here)}: {one['title']}") for one in listed)]


def _day(at: str, here: Visit) -> str:
    found = ui.moment(at)
    return "" if found is None else f"{found.astimezone(here.zone):%-d %b, %H:%M}"
