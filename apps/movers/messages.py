"""What comes to the loop: from its workers, and from who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from adon.errors import AdonError
from adon.transfers.machine import Event, Report
from apps.movers.post import Handed


class Asker(Protocol):
    """Who asked something over our own link (:class:`apps.link.Peer`)."""

    def answer(self, command: str, value: Mapping[str, Any] | AdonError) -> None:
        """Answer it."""


@dataclass(frozen=True, slots=True)
class Came:
    """A worker is done."""

    flow: int
    event: Event


@dataclass(frozen=True, slots=True)
class Told:
    """The controller has answered a report."""

    flow: int
    report: Report
    error: AdonError | None


@dataclass(frozen=True, slots=True)
class Limited:
    """A tool was told what it is held to, or did not hear."""

    at: str
    rate: float | None
    heard: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody wants a transfer tried again now."""

    flow: int
    peer: Asker
    command: str


Message = Came | Told | Limited | Asked | Handed
