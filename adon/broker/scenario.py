"""Names for the failures that can be rehearsed (:mod:`adon.broker.whatif`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Failure(StrEnum):
    """What can be rehearsed."""

    LINK_DOWN = "link-down"
    PATH_DOWN = "path-down"
    SWITCH_DOWN = "switch-down"
    PORT_DOWN = "port-down"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One supposed failure.

    :param name: of a link, path or switch; ``SWITCH:PORT``; of maintenance an announced window (``m-3``) or
        ``path:``, ``link:``, ``switch:`` or ``site:`` with a name.
    """

    failure: Failure
    name: str
