"""Studies on a page: the one that the address names, else the latest of its kind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from dash.development.base_component import Component

from adon.api.studies import StudyDetail, StudyView
from adon.errors import NotFound
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.filter_form import address
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

LISTED = 100
"""Studies of a kind that a page offers."""
KEPT = 12
"""Values that are kept; a round of a hundred instances takes 15 MB."""
_VALUES: dict[str, Any] = {}
_LOCK = threading.Lock()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpenStudy(Generic[T]):
    """A study with its value.

    :param listed: all studies of its kind, the latest first.
    """

    listed: Sequence[StudyView]
    study: StudyDetail
    value: T


def study_value(study: StudyDetail, read: Callable[[Any], T]) -> T:
    """Return the value of a study's document; the latest values are kept.

    An id stands for one content, so that a value stays valid.  Reading a round of a hundred instances takes a
    second, and a page is drawn every few seconds.

    :param study: as the API has just returned it, with the user's permission.
    """
    name = f"{study.kind.value}/{study.id}"
    with _LOCK:
        if name not in _VALUES:
            if len(_VALUES) >= KEPT:
                del _VALUES[next(iter(_VALUES))]
            _VALUES[name] = read(study.document)
        return cast(T, _VALUES[name])


def open_study(here: Visit, kind: StudyKind, read: Callable[[Any], T]) -> OpenStudy[T] | None:
    """Return the study of this kind that the address names; None if there is none at all.

    :param read: returns a document's value.
    :raises NotFound: if the named study does not exist or is of another kind.
    """
    listed = here.client.studies(kind.value, LISTED)
    name = here.query.get("study") or (listed[0].id if listed else "")
    if not name:
        return None
    found = here.client.study(name)
    if found.kind != kind:
        raise NotFound(kind.value, name)
    return OpenStudy(listed, found, study_value(found, read))


def study_options(here: Visit, kind: StudyKind) -> list[tuple[str, str]]:
    """Return the studies of a kind as options of a filter; the first stands for the latest."""
    listed = here.client.studies(kind.value, LISTED)
    times = [datetime.fromtimestamp(one.at, here.zone) for one in listed]
    titles = [(one.id, f"{at:%-d %b, %H:%M}: {one.title}") for one, at in zip(listed, times, strict=True)]
    return [("", "latest"), *titles]


def study_table(here: Visit, path: str, found: OpenStudy[Any], caption: str) -> Component:
    """Return all studies of a kind, with links to the page at ``path``."""
    columns: Columns = {
        "Study": lambda one: ui.link(one.title, address(path, {}, study=one.id)),
        "Result": "summary",
        "Measured": "at",
        "By": "submitted_by",
    }
    shown = found.study.id
    return document_table(here, columns, found.listed, "", caption, marked=lambda one: one.id == shown)
