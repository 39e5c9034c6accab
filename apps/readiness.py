"""When ``adon serve`` is ready, and how it is: what the supervisor tells systemd.

Ready is what serves requests and decides on them: every process runs, and the web side has said that it
reaches the controller, which loads the saved state before.  A controller that stands by is reached, too: to
be ready to take over is what it was started for.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from apps.link import REACHED
from apps.parts import Part
from apps.service_manager import ServiceManager

log = logging.getLogger("adon.serve")

JUST_STARTED_S = 1.0
"""So long after its start a process need not have said yet that it is alive."""


class Readiness:
    """Tells systemd of a start that is complete, and of processes that are not there."""

    def __init__(self, parts: Sequence[Part], manager: ServiceManager) -> None:
        self._parts = parts
        self._manager = manager
        self._reached = False
        self._told = False

    def record_message(self, kind: str) -> None:
        """Somebody sent the supervisor a message of this kind."""
        self._reached = self._reached or kind == REACHED

    def look(self, now: float) -> None:
        """Say what has changed; to be called often.

        While a watched process is known not to run, or has only begun to, we say in its place that the
        service lives: the supervisor deals with it.  Only one that runs and is silent is systemd's to end.
        """
        if not self._told and self._reached and all(one.process for one in self._parts):
            self._told = True
            self._manager.ready()
            log.info("event=serving")
        self._manager.status(status(self._parts) if self._told else "starting")
        for one in self._parts:
            if one.watched and (_is_absent(one) or now - one.started_at < JUST_STARTED_S):
                self._manager.pulse()


def status(parts: Sequence[Part]) -> str:
    """One line about the processes, as ``systemctl status`` shows it."""
    away = [one for one in parts if _is_absent(one)]
    if not away:
        return f"serving: {', '.join(one.name for one in parts)}"
    return "; ".join(
        f"{one.name} is being restarted"
        if one.stop_by is not None
        else f"{one.name} died {one.failures} times in a row, starts again"
        if one.failures > 1
        else f"{one.name} ended, starts again"
        for one in away
    )


def _is_absent(part: Part) -> bool:
    return part.process is None or part.stop_by is not None
