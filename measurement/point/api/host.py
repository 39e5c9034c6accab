"""``/``, ``/api``, ``/hostname``, ``/clock``, ``/status``, ``/schedule-horizon``: the host itself."""

from __future__ import annotations

import time

from flask import Blueprint, Response

from measurement.point.api.request_answers import API_LEVEL, as_json, check_api_level
from measurement.point.engine import HORIZON
from measurement.pscheduler.iso8601 import format_duration, format_timestamp

_SERVICES = ("ticker", "scheduler", "runner")


def routes(host: str) -> Blueprint:
    """The resources of a host of this name."""
    found = Blueprint("host", __name__)

    @found.get("/")
    def root() -> Response:
        check_api_level()
        return as_json(f"This is the pScheduler API server on {host} (ADON measurement point).")

    @found.get("/api")
    def api() -> Response:
        return as_json(API_LEVEL)

    @found.get("/hostname")
    def hostname() -> Response:
        return as_json(host)

    @found.get("/schedule-horizon")
    def horizon() -> Response:
        return as_json(format_duration(HORIZON))

    @found.get("/clock")
    def clock() -> Response:
        # Whether anything disciplines the clock is not ours to know, so it is not claimed.
        return as_json({"time": format_timestamp(time.time(), fraction=True), "synchronized": False})

    @found.get("/status")
    def status() -> Response:
        now = format_timestamp(time.time()).replace("+00:00", "Z")
        service = {"last": now, "overdue": None}
        return as_json({"time": now, "limits": {"ok": True}, "services": dict.fromkeys(_SERVICES, service)})

    return found
