"""The tools that ADON can have move data, and the places that requests may name."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.config.transfers import GlobusPlace, Irods, IrodsPlace, Kind, Remote
from adon.transfers.plan import may_use
from apps.rest.api.common import answers, blueprint
from apps.rest.guard import action, requester
from apps.rest.models import ListView, View
from apps.rest.paging import InOrder, cut
from apps.rest.services import services

api = blueprint("transfer-tools", "Tools that ADON can have move data")


class PlaceView(View):
    """What a path may be below."""

    name: str = Field(description="as requests say it: NAME:PATH")
    host: str = Field(description="the data transfer node whose data it is")


class TransferToolView(View):
    """A tool that the caller may use; secrets are the service's."""

    id: str = Field(description="the tool, a slash, and its name")
    tool: Kind
    name: str = Field(description="the node that an rclone is at (at), or the name of the credentials")
    attach: bool = Field(description="whether jobs that somebody else started may be followed")
    places: list[PlaceView]


class TransferToolList(ListView):
    """The tools that the caller may use."""

    items: list[TransferToolView]


def _places(remotes: Mapping[str, Remote | GlobusPlace | IrodsPlace]) -> list[PlaceView]:
    return [PlaceView(name=name, host=place.at) for name, place in sorted(remotes.items())]


@api.get("/transfer-tools", responses=answers(200, TransferToolList))
@action(Action.PATH_READ)
def list_transfer_tools(query: InOrder) -> Response:
    """The tools that the caller may have move data."""
    groups = requester().groups
    items = [
        TransferToolView(
            id=f"{kind}/{name}",
            tool=kind,
            name=name,
            attach=not isinstance(tool, Irods) and tool.attach,
            places=_places(tool.remotes),
        )
        for kind, name, tool in services().configuration.transfers.tools()
        if may_use(tool, groups)
    ]
    items.sort(key=lambda one: one.id)
    return cut(TransferToolList(items=items), query, lambda one: str(one.id))
