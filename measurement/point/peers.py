"""What one point asks another: to take part in a task, to run a server, to receive packets.

pScheduler's schedulers talk to each other over the same API that clients use (``?participant=N``,
``/runtimes``, ``POST .../runs``); so do these points.  Two requests are this project's own: ``/server``
starts the far end's tool and answers with its port once it listens (real servers rely on synchronised
clocks for that), and ``/owd`` opens a one-way delay session.  A far end that is a real perfSONAR host has
neither, and the run fails saying so.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measurement.errors import BadAnswer, PointRefused, Rejected
from measurement.point.owd import Packet
from measurement.point.scheduler import Slot
from measurement.pscheduler.connections import Credentials
from measurement.pscheduler.document import Document
from measurement.pscheduler.iso8601 import format_timestamp
from measurement.pscheduler.transport import Timeouts, Transport, Verify

_TIMEOUTS = Timeouts(connect=3.0, read=10.0, post=15.0)


@dataclass(frozen=True, slots=True)
class PeerSettings:
    """How this point reaches others.

    :param token_for: token that it presents to the point of this name.  The poster of a task names the
        other points, so each token goes only to the node that it is configured for.
    """

    scheme: str = "https"
    verify: Verify = True
    token_for: Callable[[str], str | None] = lambda _node: None


class Peer:
    """Another measurement point, by the name that a specification gives for it.

    Every method raises :class:`~measurement.errors.PointError`.
    """

    def __init__(self, node: str, settings: PeerSettings) -> None:
        try:
            self._http = Transport(
                f"{settings.scheme}://{node}/pscheduler",
                settings.verify,
                _TIMEOUTS,
                attempts=1,
                credentials=Credentials(settings.token_for(node)),
            )
        except ValueError as error:
            raise PointRefused(node, str(error)) from None

    def take_part(self, task: str, document: Mapping[str, Any], participants: Sequence[str]) -> None:
        """Post a task of ours to participant 1."""
        body = {**document, "participants": list(participants)}
        self._http.post(f"/tasks/{task}", body, {"participant": "1"})

    def free(self, task: str, window: Slot) -> list[Slot]:
        """When the task could run there."""
        params = {"start": format_timestamp(window.start), "end": format_timestamp(window.end)}
        answer = self._http.get(f"/tasks/{task}/runtimes", params).json()
        if not isinstance(answer, list):
            raise BadAnswer(self._http.host, "runtimes: expected a list")
        ranges = (Document.of(self._http.host, "runtimes", item) for item in answer)
        return [Slot(found.time("lower"), found.time("upper")) for found in ranges]

    def reserve(self, task: str, run: str, start: float) -> bool:
        """Put a run on its schedule; False when somebody else was quicker."""
        try:
            self._http.post(f"/tasks/{task}/runs", {"start-time": format_timestamp(start), "uuid": run})
        except Rejected as error:
            if error.status != 409:
                raise
            return False
        return True

    def serve(self, task: str, run: str) -> int:
        """Start the run's server there; returns its port once it listens."""
        answer = self._http.post(f"/tasks/{task}/runs/{run}/server", {}).json()
        return int(Document.of(self._http.host, "server", answer).amount("port"))

    def drop_run(self, task: str, run: str) -> None:
        """Take a run off its schedule, and end its server."""
        self._http.delete(f"/tasks/{task}/runs/{run}")

    def cancel(self, task: str, key: str) -> None:
        """Cancel its part of a task."""
        self._http.delete(f"/tasks/{task}", {"key": key})

    def open_session(self, request: Mapping[str, Any]) -> tuple[str, int, bytes]:
        """Open a one-way delay session; returns its name, port and token."""
        answer = Document.of(self._http.host, "owd", self._http.post("/owd", dict(request)).json())
        try:
            token = base64.b64decode(answer.text("token"), validate=True)
        except binascii.Error:
            answer.refuse("token", "is not base64")
        return answer.text("session"), int(answer.amount("port")), token

    def close_session(self, name: str) -> list[Packet]:
        """End a session and take what arrived."""
        answer = self._http.post(f"/owd/{name}", {}).json()
        if not isinstance(answer, list):
            raise BadAnswer(self._http.host, "owd: expected a list of packets")
        try:
            return [Packet(int(n), int(sent), int(got), ttl) for n, sent, got, ttl in answer]
        except (TypeError, ValueError):
            raise BadAnswer(self._http.host, "owd: a packet is not four numbers") from None
