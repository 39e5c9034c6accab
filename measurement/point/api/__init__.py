"""pScheduler's REST API (5.2) over an :class:`~measurement.point.engine.Engine`, a module per resource.

Statuses, waits and plain-text errors are those of real servers, except where those are faults: a task
without ``schedule``, an invalid throughput specification, a relative ``until`` are 400 with the reason, not
500; ``/result?wait`` waits; a zero ``repeat`` is refused.  Who may do what is :mod:`.guard`'s to say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from measurement.errors import shorten
from measurement.point.api import host, owd, peers, request_answers, runs, schedule, tasks, tests
from measurement.point.api.guard import Guard
from measurement.point.api.request_answers import Refusal
from measurement.point.engine import Engine
from measurement.point.trust import Access

LOG = logging.getLogger(__name__)
LARGEST_BODY = 1_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What the API needs to know of its host.

    :param name: what this host calls itself.
    :param access: who may do what, as it is now; asked for each request.
    """

    name: str
    access: Callable[[], Access]


def create_app(engine: Engine, settings: Settings) -> Flask:
    """The application."""
    app = Flask("measurement.point")
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    guard = Guard(settings.access)
    for routes in (
        host.routes(settings.name),
        tests.routes(),
        tasks.routes(engine, guard),
        runs.routes(engine, guard),
        schedule.routes(engine, guard),
        peers.routes(engine, guard),
        owd.routes(guard, engine.test_ports),
    ):
        app.register_blueprint(routes, url_prefix="/pscheduler")
    app.register_error_handler(Refusal, _error_response)
    app.register_error_handler(
        HTTPException, lambda error: request_answers.plain(error.description or "", error.code or 500)
    )
    app.register_error_handler(Exception, _fault)
    return app


def _error_response(error: Refusal) -> Response:
    if error.status == 403:
        LOG.warning(
            'event=refused address=%s path=%s cause="%s"',
            request.remote_addr,
            shorten(request.path, 80),
            shorten(error.text),
        )
    return request_answers.plain(error.text, error.status)


def _fault(error: Exception) -> Response:
    LOG.error("event=fault path=%s", shorten(request.path, 80), exc_info=error)
    return request_answers.plain("Internal error; see the point's log.", 500)
