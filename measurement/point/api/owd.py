"""``/owd``: one-way delay sessions for other points (:mod:`measurement.point.owd`)."""

from __future__ import annotations

import base64

from flask import Blueprint, Response

from measurement.point.api.guard import Guard
from measurement.point.api.request_answers import Refusal, as_json, body, read_or_refuse
from measurement.point.owd import Sessions
from measurement.point.trust import Right

_LONGEST = 8000.0
_MOST_PACKETS = 100_000


def routes(guard: Guard, ports: range) -> Blueprint:
    """Return the resources.

    :param ports: UDP ports of the sessions.
    """
    found = Blueprint("owd", __name__)
    sessions = Sessions(ports)

    @found.post("/owd")
    def open_session() -> Response:
        guard.check(Right.TAKE_PART)
        asked = body()
        packets, lifetime = asked.get("packets"), asked.get("lifetime")
        if not isinstance(packets, int) or not 1 <= packets <= _MOST_PACKETS:
            raise Refusal(400, f"packets: must be 1 to {_MOST_PACKETS}")
        if not isinstance(lifetime, int | float) or not 0 < lifetime <= _LONGEST:
            raise Refusal(400, f"lifetime: must be above 0, at most {_LONGEST:.0f}")
        source = asked.get("source")
        only = None if source is None else str(source)
        address = str(asked.get("address"))
        name, receiver = read_or_refuse(lambda: sessions.open(address, only, 2 * packets, lifetime))
        token = base64.b64encode(receiver.token).decode("ascii")
        return as_json({"session": name, "port": receiver.port, "token": token})

    @found.post("/owd/<name>")
    def close_session(name: str) -> Response:
        packets = sessions.close(name)  # its name is a secret that only the opener has
        if packets is None:
            raise Refusal(404, "Resource not found.")
        return as_json([list(packet) for packet in packets])

    return found
