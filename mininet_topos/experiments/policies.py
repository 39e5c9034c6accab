"""Who decides about the flows of a trial: ADON, or rules that are pinned without it.

A flow with ``path`` is pinned under every policy.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from adon.api.decisions import DecisionView
from adon.api.flows import FlowView
from adon.client import Client
from adon.errors import AdonError, Conflict, Unavailable
from adon.timestamps import format_time
from mininet_topos.experiments.plan import PlannedFlow, paths_between
from mininet_topos.experiments.results import DecisionRow
from mininet_topos.pinned_rules import Ofctl, PinnedFlow, pin_flow, unpin_flow
from mininet_topos.topologies.campus_topo import CampusTopo
from mininet_topos.traffic.endpoint import Delivery

MAX_FLOWS = 10_000
MAX_DETAIL = 500
"""Characters that the API takes as the detail of a report."""
MAINTENANCE_DELAY, MAINTENANCE_LEAD, MAINTENANCE_LENGTH = 2.0, "1 s", 600.0
"""Start of a maintenance window that moves a flow, time before it at which flows leave, and its length."""
FIRST_COOKIE = 0x0E00_0000_0000_0001
WITHOUT_UPDATE = ("requested", "installing", "finished")
REQUESTED = {"template", "source", "destination", "streams", "priority", "qspec"}
"""Fields of a flow that its request has as they are."""


@dataclass(frozen=True, slots=True)
class FlowUpdate:
    """A new state or path of a flow: it has a path, waits in the queue, or is rejected.

    :param at: since when, seconds since the epoch.
    :param path: of an active flow.
    :param reason: of the last decision, or of the end.
    :param size: bytes to send: of a flow that is computed where it starts, its result only.
    """

    flow: str
    at: float
    path: str | None = None
    reason: str = ""
    size: int | None = None
    is_rejected: bool = False


class PinnedPolicy:
    """Pins each flow at once: to its own path, that of ``always``, or the one with the best last test.

    :param policy: ``always PATH`` or ``best test``; another one has only flows with a path.
    :param last_throughput: of a path, in bits/s.
    :ivar decisions: what was chosen.
    """

    def __init__(
        self, ofctl: Ofctl, topo: CampusTopo, policy: str, last_throughput: Callable[[str], float]
    ) -> None:
        self._ofctl, self._topo, self._policy = ofctl, topo, policy
        self._last_throughput = last_throughput
        self._flows: dict[str, tuple[PinnedFlow, int]] = {}
        self._updates: list[FlowUpdate] = []
        self.decisions: list[DecisionRow] = []

    def request(self, flow: PlannedFlow, port: int) -> None:
        """Choose a path and pin the flow to it; a flow with a path is no decision."""
        path = flow.path or self._choose_path(flow)
        pinned = PinnedFlow(flow.source, flow.destination, flow.protocol, port)
        self._flows[flow.name] = (pinned, FIRST_COOKIE + len(self._flows))
        if flow.path is None:
            row = DecisionRow(0, time.time(), flow.name, "admit", path, None, None, self._policy)
            self.decisions.append(row)
        self._pin(flow.name, path)

    def _choose_path(self, flow: PlannedFlow) -> str:
        paths = list(paths_between(self._topo, flow.source, flow.destination))
        if self._policy == "best test":
            return max(paths, key=self._last_throughput)
        always = self._policy.removeprefix("always ")
        return always if always in paths else paths[0]

    def report_start(self, flow: str) -> None:
        """Do nothing: rules need no report."""

    def report_end(self, flow: str, delivery: Delivery | None) -> None:  # noqa: ARG002
        """Remove the rules of a flow."""
        unpin_flow(self._ofctl, self._topo, self._flows[flow][1])

    def order_move(self, flow: str, path: str) -> str:
        """Pin the flow to another path."""
        if flow not in self._flows:
            return f"{flow} has no path now"
        self._pin(flow, path)
        return ""

    def poll(self) -> list[FlowUpdate]:
        """Return what changed since the last call."""
        updates, self._updates = self._updates, []
        return updates

    def read_decisions(self) -> None:
        """Do nothing: each decision is known."""

    def _pin(self, flow: str, path: str) -> None:
        pinned, cookie = self._flows[flow]
        pin_flow(self._ofctl, self._topo, path, pinned, cookie)
        self._updates.append(FlowUpdate(flow, time.time(), path))


class AdonPolicy:
    """ADON decides: flows are requested, followed and reported over REST, as researchers' tools do.

    Requests and reports are sent by the next :meth:`poll` while ADON runs.

    :param is_running: whether ADON runs.
    """

    def __init__(self, client: Client, is_running: Callable[[], bool]) -> None:
        self._client, self._is_running = client, is_running
        self._ids: dict[str, str] = {}  # ADON's, by the flow's name
        self._seen: dict[str, tuple[str, str | None]] = {}  # state and path
        self._calls: deque[Callable[[], object]] = deque()
        self._decided: dict[str, Sequence[DecisionView]] = {}

    def read_decisions(self) -> None:
        """Read all decisions; nothing while ADON does not run."""
        if self._is_running():
            self._decided = {name: self._client.decisions(number) for name, number in self._ids.items()}

    def request(self, flow: PlannedFlow, port: int) -> None:
        """Submit a flow."""
        body = flow.model_dump(mode="json", include=REQUESTED, exclude_none=True)
        body |= {"size": f"{flow.requested} B", "ports": [port], "label": flow.name}
        self._calls.append(lambda: self._submit(flow.name, body))

    def report_start(self, flow: str) -> None:
        """Report that a flow sends."""
        self._calls.append(lambda: self._client.report(self._ids[flow], "started", 0))

    def report_end(self, flow: str, delivery: Delivery | None) -> None:
        """Report the end of a flow, or cancel a flow that has not sent."""
        self._calls.append(lambda: self._cancel(flow) if delivery is None else self._report(flow, delivery))

    def order_move(self, flow: str, path: str) -> str:
        """Close the flow's path for maintenance; ADON finds another."""
        _, present = self._seen.get(flow, ("", None))
        if not self._is_running() or present is None:
            return f"{flow} has no path now"
        if present == path:
            return f"{flow} is on {path} already"
        now = time.time()
        begins, ends = format_time(now + MAINTENANCE_DELAY), format_time(now + MAINTENANCE_LENGTH)
        window = {"scope": "path", "name": present, "begins": begins, "ends": ends}
        self._client.add_maintenance({**window, "lead": MAINTENANCE_LEAD})
        return ""

    def poll(self) -> list[FlowUpdate]:
        """Send requests and reports, and return what changed; nothing while ADON does not run."""
        if not self._is_running():
            return []
        while self._calls:
            self._calls.popleft()()
        names = {number: name for name, number in self._ids.items()}
        found = self._client.flows(limit=MAX_FLOWS) if names else []
        ours = [(names[one.id], one) for one in reversed(found) if one.id in names]
        return [update for name, one in ours if (update := self._update(name, one)) is not None]

    @property
    def decisions(self) -> list[DecisionRow]:
        """The decisions that were read last, except those to stay."""
        found = [(name, one) for name, decided in self._decided.items() for one in decided]
        return [_make_row(name, one) for name, one in found if one.outcome != "stay"]

    def _submit(self, name: str, body: Mapping[str, Any]) -> None:
        try:
            self._ids[name] = self._client.submit(body, name).id
        except AdonError as error:
            raise Unavailable(f"{name} cannot be requested: {error}") from error

    def _report(self, flow: str, delivery: Delivery) -> None:
        status = "failed" if delivery.problem else "finished"
        try:
            self._client.report(self._ids[flow], status, delivery.received, delivery.problem[:MAX_DETAIL])
        except Conflict:  # it was preempted and continued on its rules: ADON has it in its queue
            self._cancel(flow)

    def _cancel(self, flow: str) -> None:
        with suppress(Conflict):  # ADON has ended it
            self._client.cancel(self._ids[flow])

    def _update(self, name: str, flow: FlowView) -> FlowUpdate | None:
        seen = (flow.state, flow.path)
        if flow.state in WITHOUT_UPDATE or self._seen.get(name) == seen:
            return None
        self._seen[name] = seen
        decisions = self._decided[name] = self._client.decisions(flow.id)
        reason = next((one.reason for one in reversed(decisions) if one.outcome != "stay"), "")
        update = FlowUpdate(name, flow.state_since, None, reason)
        if flow.final:
            return replace(update, reason=flow.reason, is_rejected=True)
        if flow.state != "active" or flow.path is None:
            return update
        at, size = flow.path_since or flow.state_since, flow.transfer_size_bytes
        return replace(update, at=at, path=flow.path, size=size)


PathPolicy = AdonPolicy | PinnedPolicy
"""Who decides; each method may raise :class:`~adon.errors.AdonError`, which ends the trial."""


def _make_row(flow: str, one: DecisionView) -> DecisionRow:
    quality = next((candidate.q for candidate in one.candidates if candidate.path == one.path), None)
    return DecisionRow(0, one.at, flow, one.outcome, one.path, one.compute_site, quality, one.reason)
