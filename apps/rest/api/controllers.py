"""Which of several controllers is active."""

from __future__ import annotations

from flask import Response

from adon.access.policy import Action
from adon.api.status import ControllerList, ControllerView
from adon.store.lease import CONTROLLER
from apps.rest.api.common import answers, blueprint
from apps.rest.guard import action
from apps.rest.paging import InOrder, cut
from apps.rest.services import services

api = blueprint("controllers", "The controllers of this network")


@api.get("/controllers", responses=answers(200, ControllerList))
@action(Action.NETWORK_READ)
def list_controllers(query: InOrder) -> Response:
    """Which controller is active, by the database; answered by a standby, too."""
    return cut(ControllerList(items=controllers()), query, lambda one: str(one.name))


def controllers() -> list[ControllerView]:
    """The controller that is active, or was the last to be; none where none has run."""
    held = services().store.lease(CONTROLLER)
    if held is None:
        return []
    leased = services().leased
    one = ControllerView(
        name=held.holder,
        active=held.seconds > 0 if leased else services().controller.connected,
        generation=held.generation,
        lease_s=max(0.0, held.seconds) if leased else None,
    )
    return [one]
