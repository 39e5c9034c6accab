"""Asking a registry of measurement points, and announcing one to it (:mod:`measurement.registry`)."""

from __future__ import annotations

import time
from collections.abc import Callable

from measurement.errors import BadAnswer
from measurement.pscheduler.connections import NOBODY, Credentials, Verify
from measurement.pscheduler.transport import Timeouts, Transport
from measurement.registry import Announcement, Entry

_TIMEOUTS = Timeouts(connect=5.0, read=10.0, post=10.0)
_FIELDS_OF_LISTING = ("silent",)


class RegistryClient:
    """One registry.  Every method raises :class:`~measurement.errors.PointError`.

    :param base_url: where it is; its resource is ``points`` below.
    :param pause: sleeps; may raise to end a wait early.
    :raises ValueError: for a URL, certificate or token that cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        verify: Verify = True,
        credentials: Credentials = NOBODY,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        url = f"{base_url.rstrip('/')}/points"
        self._http = Transport(url, verify, _TIMEOUTS, credentials=credentials, pause=pause)

    @property
    def host(self) -> str:
        """Its host, as configured."""
        return self._http.host

    def announce(self, announcement: Announcement) -> None:
        """Tell it of a point: of the one whose credentials these are."""
        self._http.post("", announcement.to_json())

    def points(self) -> list[Entry]:
        """The points it has been told of.

        :raises BadAnswer: when it lists something else, naming the field.
        """
        answer = self._http.get("").json()
        if not isinstance(answer, list):
            raise BadAnswer(self.host, "points: expected a list")
        return [self._entry(item) for item in answer]

    def _entry(self, item: object) -> Entry:
        if not isinstance(item, dict):
            raise BadAnswer(self.host, "points: expected objects")
        known = {name: value for name, value in item.items() if name not in _FIELDS_OF_LISTING}
        try:
            return Entry.from_json(known)
        except ValueError as error:
            raise BadAnswer(self.host, f"points: {error}") from None
