"""The data transfer nodes between which transfers may be asked for."""

from __future__ import annotations

from flask import Response

from adon.access.policy import Action
from adon.api.network import HostList, HostView
from apps.rest.api.common import answers, blueprint
from apps.rest.guard import action
from apps.rest.paging import InOrder, cut
from apps.rest.services import services

api = blueprint("hosts", "Data transfer nodes")


@api.get("/hosts", responses=answers(200, HostList))
@action(Action.PATH_READ)
def list_hosts(query: InOrder) -> Response:
    """The nodes that a transfer can lead from and to."""
    found = sorted(services().hosts.items())
    items = [HostView(name=name, site=site) for name, site in found]
    return cut(HostList(items=items), query, lambda one: str(one.name))
