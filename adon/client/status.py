"""State of ADON: events, health, readiness, metrics, version and the API's description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from adon.api import routes
from adon.api.status import Health, StandingView, VersionOfAdon
from adon.client.calling import Caller, Json, body_of
from adon.client.transport import Refused
from adon.errors import Unavailable


class StatusCalls(Caller):
    """Event stream, health, metrics, version."""

    def events(self, seconds: float, after: str | None = None) -> Iterator[tuple[str, str, Json]]:
        """What happens during the next seconds, as it comes: the event's name, its kind and its content.

        :param after: the name of the last event that was seen; what came since is told first.
        :raises AdonError: as every call.
        """
        query = {"seconds": f"{seconds:g}"}
        fields: dict[str, str] = {}
        last = {} if after is None else {"Last-Event-ID": after}
        try:
            for line in self._transport.lines(routes.EVENTS.path, query, last):
                name, _, value = line.decode().partition(": ")
                fields[name] = value
                if name == "data":
                    yield fields["id"], fields["event"], json.loads(value)
        except Refused as refusal:
            body_of(refusal.answer, self._transport.base)

    def ready(self) -> bool:
        """Whether all of ADON that this address needs answers."""
        try:
            self.readiness()
        except Unavailable:
            return False
        return True

    def readiness(self) -> Health:
        """What the web process needs, part by part.

        :raises Unavailable: if something of it does not answer.
        """
        return self.call(routes.READYZ)

    def alive(self) -> Health:
        """Whether the web process itself answers."""
        return self.call(routes.HEALTHZ)

    def metrics(self) -> str:
        """Figures in the form that Prometheus reads."""
        return self._text(routes.METRICS)

    def description(self) -> dict[str, Any]:
        """The API's own description (OpenAPI 3.1)."""
        return self._json(routes.OPENAPI)

    def health(self) -> StandingView:
        """How ADON itself is, part by part."""
        return self.call(routes.GET_HEALTH)

    def version(self) -> VersionOfAdon:
        """Which version of ADON answers."""
        return self.call(routes.GET_VERSION)
