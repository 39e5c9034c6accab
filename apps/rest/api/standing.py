"""How ADON itself is, part by part, and which version of it answers."""

from __future__ import annotations

import platform

from flask import Response

import adon
from adon.access.policy import Action
from adon.api.status import StandingView, VersionOfAdon
from adon.code_version import code_version
from adon.store.tables import SCHEMA_REVISION
from apps.rest.answers import json_answer
from apps.rest.api.common import answers, blueprint
from apps.rest.guard import action
from apps.rest.services import services
from apps.rest.standing import standing

api = blueprint("standing", "How ADON itself is")


@api.get("/health", responses=answers(200, StandingView))
@action(Action.METRICS_READ)
def get_health() -> Response:
    """Every part with its state, since when, and how old its data are; 200 also if some are away."""
    return json_answer(standing(services()))


@api.get("/version", responses=answers(200, VersionOfAdon))
@action(Action.PATH_READ)
def get_version() -> Response:
    """Which version of ADON answers."""
    view = VersionOfAdon(
        version=adon.__version__,
        code=code_version(),
        api="v1",
        schema_revision=SCHEMA_REVISION,
        python=platform.python_version(),
    )
    return json_answer(view)
