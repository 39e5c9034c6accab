"""Operating the network: maintenance windows, and what failures would do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.maintenance import RehearsalList, WindowBody, WindowList, WindowView
from adon.broker.maintenance import Stage
from adon.broker.scenario import Failure
from adon.errors import InvalidInput, NotFound
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import PREFIX, Address, Query, answers, blueprint
from apps.rest.guard import action, requester
from apps.rest.maintenance_views import to_rehearsal_view, to_window_view, window_view_from_answer
from apps.rest.paging import InOrder, cut
from apps.rest.rehearsing import every_single_failure
from apps.rest.services import services

api = blueprint("operations", "Maintenance windows and failure rehearsal")

REHEARSAL_S = 30.0
"""Every single failure of a large network takes a while."""


class WindowQuery(InOrder):
    """Which windows."""

    all: bool = Field(default=False, description="also those that are over or cancelled")


@api.get("/maintenance", responses=answers(200, WindowList))
@action(Action.MAINTENANCE_READ)
def list_windows(query: WindowQuery) -> Response:
    """Maintenance windows, announced and under way."""
    return cut(WindowList(items=windows(all_=query.all)), query, lambda one: str(one.id))


def windows(*, all_: bool = False) -> list[WindowView]:
    """The windows that are announced or under way; with ``all_`` also those that are not any more."""
    parts = services()
    now = parts.clock()
    found = [to_window_view(one, now) for one in parts.store.windows(None if all_ else now)]
    return found if all_ else [one for one in found if one.stage is not Stage.CANCELLED]


@api.post("/maintenance", responses=answers(201, WindowView))
@action(Action.MAINTENANCE_ADD)
def add_window(body: WindowBody) -> Response:
    """Announce a window: nothing is admitted into it, and running flows leave before."""
    window = announce(body)
    return done(window, HTTPStatus.CREATED, f"{PREFIX}/maintenance/{window.id}")


def announce(body: WindowBody) -> WindowView:
    """Have the controller keep a window.

    :raises AdonError: what the controller says against it.
    """
    asked = {"request": body.request(), "requester": requester().name}
    return window_view_from_answer(services().controller.call("maintenance.add", asked))


class WindowAddress(Address):
    """Which window."""

    id: str = Field(max_length=20, description="as in m-3")


@api.get("/maintenance/<id>", responses=answers(200, WindowView))
@action(Action.MAINTENANCE_READ)
def get_window(path: WindowAddress) -> Response:
    """One window, also one that is over or was cancelled."""
    return json_answer(_window(path.id))


def _window(id_: str) -> WindowView:
    found = next((one for one in windows(all_=True) if one.id == id_), None)
    if found is None:
        raise NotFound("maintenance", id_)
    return found


@api.delete("/maintenance/<id>", responses=answers(200, WindowView, 409, 412))
@action(Action.MAINTENANCE_CANCEL)
def cancel_window(path: WindowAddress) -> Response:
    """Cancel a window, also in the middle of it; with ``If-Match``, only in the state it was seen in."""
    check_if_match(_window(path.id))
    return done(cancelled(path.id), HTTPStatus.OK)


def cancelled(id_: str) -> WindowView:
    """Have the controller cancel a window.

    :raises NotFound: if there is none of this id.
    :raises AdonError: what the controller says against it.
    """
    found = re.fullmatch(r"m-([1-9][0-9]{0,14})", id_)
    if found is None:
        raise NotFound("maintenance", id_)
    asked = {"number": int(found[1]), "requester": requester().name}
    return window_view_from_answer(services().controller.call("maintenance.cancel", asked))


class WhatIfQuery(Query):
    """Which failure; without one every single failure."""

    failure: Failure | None = None
    name: str | None = Field(
        default=None,
        max_length=200,
        description="a link, path or switch; SWITCH:PORT; m-3, or path:, link:, switch:, site: and a name",
    )


@api.get("/what-if", responses=answers(200, RehearsalList))
@action(Action.WHAT_IF)
def what_if(query: WhatIfQuery) -> Response:
    """What a failure would do to the flows that run now; nothing is changed."""
    return json_answer(rehearsed(query.failure, query.name))


def rehearsed(failure: Failure | None, name: str | None) -> RehearsalList:
    """What a failure would do; without one, every single failure.

    :raises InvalidInput: for one without the other, or a name that is not known.
    """
    if (failure is None) is not (name is None):
        raise InvalidInput.of("name", "goes with failure, and failure with name")
    if failure is not None:
        answer: Mapping[str, Any] = _ask({"failure": failure.value, "name": name})
    elif (shared := services().rehearsals) is not None:
        answer = shared.get()
    else:
        answer = every_single_failure(_ask)
    return RehearsalList(at=answer["at"], items=[to_rehearsal_view(one) for one in answer["items"]])


def _ask(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return services().controller.call("what-if", dict(scenario), timeout=REHEARSAL_S)
