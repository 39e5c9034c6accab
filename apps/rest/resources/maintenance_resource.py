"""Operating the network: maintenance windows, and what failures would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api import routes
from adon.api.maintenance import RehearsalList, WhatIfQuery, WindowBody, WindowList, WindowQuery, WindowView
from adon.broker.maintenance import Stage
from adon.errors import InvalidInput, NotFound
from apps.rest.authentication import requester
from apps.rest.authorisation import object_number
from apps.rest.dispatch import handles
from apps.rest.pagination import cut
from apps.rest.services import services
from apps.rest.snapshots import every_single_failure

REHEARSAL_S = 30.0
"""Every single failure of a large network takes a while."""


@handles(routes.LIST_WINDOWS)
def list_windows(query: WindowQuery) -> WindowList:
    """Return the maintenance windows that are announced or active."""
    return cut(WindowList(items=_windows(all_=query.all)), query, lambda one: str(one.id))


def _windows(*, all_: bool) -> list[WindowView]:
    parts = services()
    now = parts.clock()
    found = [WindowView.of(one, stage=one.stage(now)) for one in parts.store.windows(None if all_ else now)]
    return found if all_ else [one for one in found if one.stage is not Stage.CANCELLED]


@handles(routes.ADD_WINDOW)
def add_window(body: WindowBody) -> WindowView:
    """Announce a maintenance window: running flows leave before it, and no flow is admitted into it."""
    asked = {"request": body.request(), "requester": requester().name}
    return WindowView.of(services().controller.call("maintenance.add", asked))


@handles(routes.GET_WINDOW)
def get_window(id_: str) -> WindowView:
    """Return one maintenance window, also one that has ended."""
    found = next((one for one in _windows(all_=True) if one.id == id_), None)
    if found is None:
        raise NotFound("maintenance", id_)
    return found


@handles(routes.CANCEL_WINDOW)
def cancel_window(id_: str) -> WindowView:
    """Cancel a maintenance window, also an active one."""
    asked = {"number": object_number("maintenance", "m", id_), "requester": requester().name}
    return WindowView.of(services().controller.call("maintenance.cancel", asked))


@handles(routes.WHAT_IF)
def what_if(query: WhatIfQuery) -> RehearsalList:
    """Return the effects of a failure on the running flows; change nothing."""
    if (query.failure is None) is not (query.name is None):
        raise InvalidInput.of("name", "goes with failure, and failure with name")
    if query.failure is not None:
        answer: Mapping[str, Any] = _ask({"failure": query.failure.value, "name": query.name})
    elif (shared := services().rehearsals) is not None:
        answer = shared.get()
    else:
        answer = every_single_failure(_ask)
    return RehearsalList(at=answer["at"], items=answer["items"])


def _ask(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return services().controller.call("what-if", dict(scenario), timeout=REHEARSAL_S)
