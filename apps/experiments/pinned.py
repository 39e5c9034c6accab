"""Flows that the file pins to a path: nobody decides about them, another decider has the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adon.experiments.planned import PlannedFlow
from adon.experiments.results import DecisionRow
from apps.experiments.deciding import Decided, Decider, Given, News
from apps.experiments.kept import KeptPaths
from mininet_topos.carrying import Delivered
from mininet_topos.networks import Path


class WithPinned:
    """A decider for the flows that are not pinned, and rules for those that are."""

    def __init__(self, rest: Decider, kept: KeptPaths) -> None:
        self._rest, self._kept = rest, kept
        self._pinned: set[str] = set()
        self._news: list[News] = []

    def ask(self, flow: PlannedFlow, port: int) -> None:
        """As :meth:`Decider.ask`."""
        if flow.path is None:
            self._rest.ask(flow, port)
            return
        self._pinned.add(flow.name)
        self._kept.know(flow, port)
        self._put(flow.name, flow.path)
        self._news.append(Decided(flow.name))

    def began(self, flow: str) -> None:
        """As :meth:`Decider.began`."""
        if flow not in self._pinned:
            self._rest.began(flow)

    def ended(self, flow: str, delivered: Delivered) -> None:
        """As :meth:`Decider.ended`."""
        if flow in self._pinned:
            self._kept.remove(flow)
        else:
            self._rest.ended(flow, delivered)

    def withdrawn(self, flow: str) -> None:
        """As :meth:`Decider.withdrawn`."""
        if flow in self._pinned:
            self._kept.remove(flow)
        else:
            self._rest.withdrawn(flow)

    def measured(self, tests: Sequence[Mapping[str, Any]]) -> None:
        """As :meth:`Decider.measured`."""
        self._rest.measured(tests)

    def ports(self, path: Path, *, live: bool) -> None:
        """As :meth:`Decider.ports`."""
        self._rest.ports(path, live=live)

    def move(self, flow: str, path: str) -> str:
        """As :meth:`Decider.move`."""
        if flow not in self._pinned:
            return self._rest.move(flow, path)
        self._put(flow, path)
        return ""

    def look(self) -> Sequence[News]:
        """As :meth:`Decider.look`."""
        news, self._news = self._news, []
        return [*news, *self._rest.look()]

    def decisions(self, trial: int) -> Sequence[DecisionRow]:
        """As :meth:`Decider.decisions`: what the file pins is nobody's decision."""
        return self._rest.decisions(trial)

    def remembered(self, trial: int) -> Sequence[DecisionRow]:
        """As :meth:`Decider.remembered`."""
        return self._rest.remembered(trial)

    def _put(self, flow: str, path: str) -> None:
        self._news.append(Given(flow, path, self._kept.put(flow, path)))
