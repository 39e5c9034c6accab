"""State of ADON: events, health, readiness, metrics, version and the API's description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from adon.api import routes
from adon.api.status import Health, StatusView, VersionOfAdon
from adon.client.calling import Caller, Json, body_of
from adon.client.transport import Refused
from adon.errors import Unavailable


class StatusCalls(Caller):
    """Methods for events, health, metrics and version."""

    def events(self, seconds: float, after: str | None = None) -> Iterator[tuple[str, str, Json]]:
        """Yield name, kind and content of each event during the next seconds.

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
        """Return whether all parts that the web process needs answer."""
        try:
            self.readiness()
        except Unavailable:
            return False
        return True

    def readiness(self) -> Health:
        """Return the state of each part that the web process needs.

        :raises Unavailable: if something of it does not answer.
        """
        return self.call(routes.READYZ)

    def alive(self) -> Health:
        """Return the state of the web process itself."""
        return self.call(routes.HEALTHZ)

    def metrics(self) -> str:
        """Return metrics in the text format of Prometheus."""
        return self._text(routes.METRICS)

    def description(self) -> dict[str, Any]:
        """Return the API's description (OpenAPI 3.1)."""
        return self._json(routes.OPENAPI)

    def health(self) -> StatusView:
        """Return the state of each part of ADON."""
        return self.call(routes.GET_HEALTH)

    def version(self) -> VersionOfAdon:
        """Return the version of ADON."""
        return self.call(routes.GET_VERSION)
