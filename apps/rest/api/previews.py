"""Requests that are only tried: what would be decided."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, request

from adon.access.policy import Action
from adon.api.flows import FlowBody, PreviewView
from apps.rest.answers import done
from apps.rest.api.common import answers, blueprint
from apps.rest.flow_views import to_preview_view
from apps.rest.guard import action, wished
from apps.rest.services import services

api = blueprint("previews", "What would become of a transfer if it were asked for now")


@api.post("/flow-previews", responses=answers(200, PreviewView, 400, 409, 413, 415))
@action(Action.FLOW_SUBMIT, asks=True)
def preview_flow(body: FlowBody) -> Response:  # noqa: ARG001 - checks and documents; sent as it came
    """What would be decided about a request, refused as ``POST /flows`` would refuse it; nothing is kept."""
    return done(previewed(request.get_json()), HTTPStatus.OK)


def previewed(wish: object) -> PreviewView:
    """What the controller says about a request, as it was given.

    :raises AdonError: as the controller would refuse it.
    """
    return to_preview_view(services().controller.call("flow.preview", wished(wish)))
