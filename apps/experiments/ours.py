"""ADON itself decides: flows are asked for, followed and reported over REST, as researchers' tools do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from adon.api.flows import FlowView
from adon.client import Client
from adon.errors import AdonError, Conflict, Unavailable
from adon.experiments import rows
from adon.experiments.planned import PlannedFlow
from adon.experiments.results import DecisionRow
from adon.timestamps import format_time, parse_time
from apps.experiments.deciding import Decided, Given, News, Refused, Sight
from mininet_topos.carrying import Delivered
from mininet_topos.networks import Path

MOST_FLOWS = 10_000
LONGEST_DETAIL = 500
"""Characters that the API takes as the detail of a report."""
WINDOW_BEGINS_S, WINDOW_LEAD = 2.0, "1 s"
"""When a maintenance window that is to move a flow begins, and how long before flows leave."""
UNDECIDED = ("requested", "installing")

SizeOf = Callable[[PlannedFlow], int]
"""Bytes that are asked for, also of a flow that lasts a time."""


class Ours:
    """See the module's text.

    :param client: as long as ADON runs; None while it was stopped by order.
    """

    def __init__(self, client: Client, sight: Sight, size_of: SizeOf, ends: float) -> None:
        self.client: Client | None = client
        self._sight, self._size_of, self._ends = sight, size_of, ends
        self._ids: dict[str, str] = {}  # of ADON, by ours
        self._known: dict[str, tuple[str, str | None]] = {}  # state and path, by ours
        self._untold: list[Callable[[Client], object]] = []
        self._final: set[str] = set()
        self._decided: dict[str, Sequence[Mapping[str, Any]]] = {}  # by ADON's names

    def ask(self, flow: PlannedFlow, port: int) -> None:
        """As :meth:`Decider.ask`; while ADON is stopped it waits until it is there again."""
        body = self._body(flow, port)  # now: its deadline counts from here
        self._tell(lambda client: self._submit(client, flow, body))

    def _submit(self, client: Client, flow: PlannedFlow, body: Mapping[str, Any]) -> None:
        try:
            self._ids[flow.name] = client.submit(body, flow.name).id
        except Unavailable:
            raise
        except AdonError as error:
            raise Unavailable(f"{flow.name} cannot be asked for: {error}") from error

    def _body(self, flow: PlannedFlow, port: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "template": flow.template,
            "source": flow.source,
            "destination": flow.destination,
            "size": f"{self._size_of(flow)} B",
            "ports": [port],
            "streams": flow.streams,
            "priority": flow.priority,
            "label": flow.name,
        }
        if flow.qspec is not None:
            body["qspec"] = flow.qspec.model_dump(mode="json", exclude_none=True)
        if flow.deadline is not None:
            body["deadline"] = format_time(self._sight.now + flow.deadline)
        return body

    def began(self, flow: str) -> None:
        """As :meth:`Decider.began`."""
        self._tell(lambda client: client.report(self._ids[flow], "started", 0))

    def ended(self, flow: str, delivered: Delivered) -> None:
        """As :meth:`Decider.ended`."""
        status = "failed" if delivered.trouble else "finished"
        size, why = delivered.received, delivered.trouble[:LONGEST_DETAIL]
        self._tell(lambda client: client.report(self._ids[flow], status, size, why))

    def withdrawn(self, flow: str) -> None:
        """As :meth:`Decider.withdrawn`: the request is cancelled."""
        self._tell(lambda client: self._cancel(client, flow))

    def _cancel(self, client: Client, flow: str) -> None:
        with suppress(Conflict):  # ADON has ended it meanwhile, which the next look tells
            client.cancel(self._ids[flow])

    def measured(self, tests: Sequence[Mapping[str, Any]]) -> None:
        """As :meth:`Decider.measured`: it has measured itself."""

    def ports(self, path: Path, *, live: bool) -> None:
        """As :meth:`Decider.ports`: its switches tell it."""

    def move(self, flow: str, path: str) -> str:
        """As :meth:`Decider.move`: an operator closes the path that the flow is on; ADON finds another."""
        client, present = self.client, self._known.get(flow, ("", None))[1]
        if client is None or present is None:
            return f"{flow} has no path now"
        if present == path:
            return f"{flow} is on {path} already"
        now = self._sight.now
        client.add_maintenance(
            {
                "scope": "path",
                "name": present,
                "begins": format_time(now + WINDOW_BEGINS_S),
                "ends": format_time(max(self._ends, now + 60.0)),
                "lead": WINDOW_LEAD,
            }
        )
        return ""

    def look(self) -> Sequence[News]:
        """As :meth:`Decider.look`."""
        client = self.client
        if client is None:
            return ()
        while self._untold:
            self._untold[0](client)
            self._untold.pop(0)
        if not self._ids.keys() - self._final:
            return ()
        names = {number: name for name, number in self._ids.items()}
        found = client.flows(limit=min(MOST_FLOWS, max(50, 2 * len(names))))
        ours = [(names[flow.id], flow) for flow in reversed(found) if flow.id in names]
        news = [one for name, flow in ours for one in self._news(name, flow)]
        self._remember(client, *dict.fromkeys(one.flow for one in news))
        return [replace(one, at=self._first(one.flow)) if isinstance(one, Decided) else one for one in news]

    def _first(self, flow: str) -> float | None:
        """When it was first decided on, as ADON has it; None if it says nothing of it."""
        return min((parse_time(one["at"]) for one in self._decided[self._ids[flow]]), default=None)

    def _news(self, name: str, flow: FlowView) -> Sequence[News]:
        before = self._known.get(name)
        state, path = flow.state, flow.path
        if name in self._final or before == (state, path) or state in UNDECIDED:
            return ()
        self._known[name] = (state, path)
        news: list[News] = [Decided(name, flow.id)] if before is None else []
        if flow.final:
            self._final.add(name)
        if state == "active" and path is not None and (before is None or before != ("active", path)):
            news.append(Given(name, path, flow.path_since or flow.state_since))
        elif flow.final and state != "finished":
            news.append(Refused(name, flow.reason))
        return news

    def decisions(self, trial: int) -> Sequence[DecisionRow]:
        """As :meth:`Decider.decisions`."""
        if self.client is not None:
            self._remember(self.client, *self._ids)
        return self.remembered(trial)

    def remembered(self, trial: int) -> Sequence[DecisionRow]:
        """As :meth:`Decider.remembered`: each flow's decisions as of when its state last changed."""
        names = {number: name for name, number in self._ids.items()}
        found = [one for its in self._decided.values() for one in its]
        return rows.decisions(trial, self._sight.began_at, found, names)

    def leave(self) -> None:
        """ADON is about to be ended by order: what it has decided by now is remembered."""
        if self.client is not None:
            self._remember(self.client, *self._ids)
        self.client = None

    def _remember(self, client: Client, *flows: str) -> None:
        for flow in flows:
            self._decided[self._ids[flow]] = [one.body() for one in client.decisions(self._ids[flow])]

    def _tell(self, act: Callable[[Client], object]) -> None:
        """Now, or when ADON is there again; what is told stays in order."""
        if self.client is None or self._untold:
            self._untold.append(act)
        else:
            act(self.client)
