"""Who decides about a trial's flows: asked for each, told how it ended, looked at now and then for news."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adon.experiments.planned import PlannedFlow
from adon.experiments.results import DecisionRow
from mininet_topos.carrying import Delivered
from mininet_topos.networks import Path


@dataclass(frozen=True, slots=True)
class Decided:
    """The first decision about a flow is known, whatever it is.

    :param number: what ADON calls the flow; empty where it does not know it.
    :param at: when it was made, seconds since 1970; None where only that it is known is known.
    """

    flow: str
    number: str = ""
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A flow may send, and its packets take this path; or, while it sends, they take another than before.

    :param at: since when, seconds since 1970.
    """

    flow: str
    path: str
    at: float


@dataclass(frozen=True, slots=True)
class Refused:
    """A flow will never be carried."""

    flow: str
    why: str


News = Decided | Given | Refused


class Sight(Protocol):
    """What deciders may look at."""

    @property
    def now(self) -> float:
        """Seconds since 1970."""

    @property
    def began_at(self) -> float:
        """When the trial began, seconds since 1970."""

    def received(self, flow: str) -> int:
        """Bytes of a flow that have arrived so far."""

    def stalled(self, flow: str) -> float:
        """Seconds in which a flow sent and nothing of it arrived."""


class Decider(Protocol):
    """See the module's text; all may raise :class:`adon.errors.AdonError`, which ends the trial."""

    def ask(self, flow: PlannedFlow, port: int) -> None:
        """A flow is asked for; its data goes to this port of its destination."""

    def began(self, flow: str) -> None:
        """Its first bytes are sent."""

    def ended(self, flow: str, delivered: Delivered) -> None:
        """Its last byte has arrived, or it was broken off."""

    def withdrawn(self, flow: str) -> None:
        """Who asked for it does not want it any more; it has not sent anything."""

    def measured(self, tests: Sequence[Mapping[str, Any]]) -> None:
        """The measurement points have new results, as ``GET /measurements`` answers, the oldest first."""

    def ports(self, path: Path, *, live: bool) -> None:
        """The ports of a path at the edges went down, or came up again."""

    def move(self, flow: str, path: str) -> str:
        """Order a flow onto a path by hand; in words why that was not done as asked, else empty."""

    def look(self) -> Sequence[News]:
        """What has become known since the last look."""

    def decisions(self, trial: int) -> Sequence[DecisionRow]:
        """Everything that was decided, when the trial is over."""

    def remembered(self, trial: int) -> Sequence[DecisionRow]:
        """What of it is known without asking anybody: ADON may be gone."""
