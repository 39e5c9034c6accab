"""The flows that have not ended, and what follows from all of them taken together.

Which flows run, which wait, what each needs, who loads a path and by how much: everything that asks
*all flows* is here, so that what such a question costs can be seen in one place.  What a flow needs
(its template version joined with its request) and between which sites it goes never change and are
worked out once per flow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from adon.broker.choice import Need
from adon.broker.counters import FlowCounters
from adon.broker.flow import Flow, FlowState
from adon.flowvisor.performance import Counters, FlowLoad
from adon.templates_catalog.model import Template
from measurement.model import PathKey


class Register:
    """See the module's text.

    :param resolve: the template version of a reference (``soykb@3``).
    :param site_of: the site of a host.
    """

    def __init__(
        self, flows: Iterable[Flow], resolve: Callable[[str], Template], site_of: Callable[[str], str]
    ) -> None:
        self._flows: dict[int, Flow] = {flow.number: flow for flow in flows}
        self._resolve = resolve
        self._site_of = site_of
        self._needs: dict[int, Need] = {}
        self._ends: dict[int, tuple[str, str]] = {}
        self._counters: dict[int, FlowCounters] = {}

    def __len__(self) -> int:
        return len(self._flows)

    def __iter__(self) -> Iterator[Flow]:
        return iter(tuple(self._flows.values()))

    def get(self, number: int) -> Flow | None:
        """A flow by number; None if it never was, or is forgotten."""
        return self._flows.get(number)

    def owner(self, owner: str) -> Flow | None:
        """The flow that owns rules by this name (``f-17``); None for any other owner of rules."""
        return self.get(int(owner[2:])) if owner.startswith("f-") else None

    def put(self, flow: Flow) -> Flow:
        """Take a flow's new state, and give it back."""
        self._flows[flow.number] = flow
        return flow

    def forget(self, number: int) -> None:
        """Drop a flow that has ended and left nothing behind."""
        for kept in (self._flows, self._needs, self._ends, self._counters):
            kept.pop(number, None)

    # -- one flow -------------------------------------------------------------------------------------

    def need(self, flow: Flow) -> Need:
        """What a flow needs."""
        need = self._needs.get(flow.number)
        if need is None:
            need = self._needs[flow.number] = Need.of(self._resolve(flow.template), flow.request)
        return need

    def ends(self, flow: Flow) -> tuple[str, str]:
        """The sites a flow goes from and to."""
        ends = self._ends.get(flow.number)
        if ends is None:
            ends = self._site_of(flow.request.source), self._site_of(flow.request.destination)
            self._ends[flow.number] = ends
        return ends

    def priority(self, flow: Flow) -> int:
        """What the request asked for, else what the template says; 0..999."""
        asked = flow.request.priority
        return self.need(flow).template.priority if asked is None else asked

    def bound(self, flow: Flow) -> float:
        """Its QSpec's throughput bound in bits/s, 0 without one."""
        throughput = self.need(flow).qspec.throughput
        return 0.0 if throughput is None else throughput.min

    def patience(self, flow: Flow) -> float:
        """How many seconds the flow may wait."""
        asked = flow.request.queue_patience
        return self.need(flow).template.selection.queue_patience if asked is None else asked

    def counters(self, flow: Flow) -> FlowCounters:
        """What its rules have counted."""
        counters = self._counters.get(flow.number)
        if counters is None:
            counters = self._counters[flow.number] = FlowCounters()
        return counters

    # -- all flows ------------------------------------------------------------------------------------

    def running(self) -> list[Flow]:
        """The flows that hold rules, installing or active."""
        return [flow for flow in self._flows.values() if flow.state.holds_rules]

    def queued(self) -> list[Flow]:
        """The flows that wait, in no particular order."""
        return [flow for flow in self._flows.values() if flow.state is FlowState.QUEUED]

    def unfinished(self) -> list[Flow]:
        """The flows that have not ended."""
        return [flow for flow in self._flows.values() if not flow.state.final]

    def on(self, key: PathKey) -> list[str]:
        """The ids of the flows that hold rules on one directed path."""
        ends = (key.source, key.destination)
        return [f.id for f in self.running() if f.path == key.path and self.ends(f) == ends]

    def loads(self, flow: Flow) -> dict[str, list[FlowLoad]]:
        """Per path name, the *other* flows that go the same way."""
        loads: dict[str, list[FlowLoad]] = {}
        for other in self.alongside(flow):
            if other.number != flow.number and other.path is not None and other.path_since is not None:
                latest = self.counters(other).latest()
                rate = None if latest is None else latest[0]
                load = FlowLoad(self.need(other).streams, other.path_since, None, rate)
                loads.setdefault(other.path, []).append(load)
        return loads

    def used(self, flow: Flow) -> dict[str, Counters]:
        """Per path name, what the flows that go the same way use by their own counters.

        A path on which some flow has no rate yet is left out: its use is not known.
        """
        rates: dict[str, list[tuple[float, float] | None]] = {}
        for other in self.alongside(flow):
            if other.path is not None:
                rates.setdefault(other.path, []).append(self.counters(other).latest())
        totals = {}
        for path, found in rates.items():
            known = [rate for rate in found if rate is not None]
            if len(known) == len(found):
                at = min(at for _, at in known)
                totals[path] = Counters(sum(rate for rate, _ in known), at, "rule counters of our flows")
        return totals

    def alongside(self, flow: Flow) -> list[Flow]:
        """The flows that hold rules and go between the same sites, the same way."""
        ends = self.ends(flow)
        return [other for other in self.running() if self.ends(other) == ends]

    def reserved(self) -> dict[str, float]:
        """Per path name, the sum of the throughput bounds admitted, in bits/s, in the fuller direction."""
        reserved: dict[PathKey, float] = {}
        for flow in self.running():
            if flow.path is not None:
                key = PathKey(flow.path, *self.ends(flow))
                reserved[key] = reserved.get(key, 0.0) + self.bound(flow)
        fuller: dict[str, float] = {}
        for key, bits in reserved.items():
            fuller[key.path] = max(bits, fuller.get(key.path, 0.0))
        return fuller
