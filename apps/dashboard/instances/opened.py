"""The study that an address asks for: the one it names, else the latest of its kind."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from adon.api.studies import StudyDetail, StudyView
from adon.errors import NotFound
from adon.studies.model import StudyKind
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
    study: StudyDetail
    value: T


class Read:
    """Documents of studies as values, the last few: an id is of a content, so what was read stays right.

    A round of a hundred instances takes a second to be read, and a page is drawn again and again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def value(self, study: StudyDetail, read: Callable[[Any], T]) -> T:
        """A study's document as a value.

        :param study: as the API has just returned it, with the user's permission.
        """
        name = f"{study.kind.value}/{study.id}"
        with self._lock:
            if name in self._values:
                self._values.move_to_end(name)
                return cast(T, self._values[name])
        found = read(study.document)
        with self._lock:
            self._values[name] = found
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return found


READ = Read(12)
"""Of this process; a round of a hundred instances in short is 15 MB."""


def opened(here: Visit, kind: StudyKind, read: Callable[[Any], T]) -> Opened[T] | None:
    """The study of this kind that a visit is about; None if there is none at all.

    :param read: a document as a value.
    :raises NotFound: if the address names one that is not there, or is of another kind.
    """
    listed = here.client.studies(kind.value, LISTED)
    asked = here.query.get(STUDY) or (listed[0].id if listed else "")
    if not asked:
        return None
    found = here.client.study(asked)
    if found.kind != kind:
        raise NotFound(kind.value, asked)
    return Opened(listed, found, READ.value(found, read))


def options(here: Visit, kind: StudyKind, latest: str) -> list[tuple[str, str]]:
    """The studies of a kind to choose from, by id and words; the first stands for whatever is the latest."""
    listed = here.client.studies(kind.value, LISTED)
    return [("", latest), *((one.id, f"{_day(one.at, here)}: {one.title}") for one in listed)]


def _day(at: float, here: Visit) -> str:
    return f"{datetime.fromtimestamp(at, here.zone):%-d %b, %H:%M}"
