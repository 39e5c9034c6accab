"""Flows as the state database has them, and at what rate each may be moved."""

from __future__ import annotations

from collections.abc import Iterator

from adon.broker.flow import Flow
from adon.config.transfers import Limit
from adon.errors import AdonError, NotFound
from adon.store.store import Store
from measurement.model import Metric


class Flows:
    """The flows; the database is only read.

    :raises Unavailable: from every method, if it does not answer.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def flow(self, number: int) -> Flow:
        """One flow.

        :raises NotFound: if there is none of this number.
        """
        return self._store.flow(number)

    def since(self, last: int | None) -> Iterator[Flow]:
        """The flows after one, in order; without one, those that have not ended."""
        if last is None:
            yield from self._store.unfinished_flows()
            return
        for number in range(last + 1, self._store.last_flow_number() + 1):
            try:
                yield self._store.flow(number)
            except NotFound:
                continue  # numbers of requests that were not kept

    def pausable(self, flow: Flow) -> bool:
        """Whether its transfer stops while it waits: as the request says, else its template."""
        if flow.request.pausable is not None:
            return flow.request.pausable
        name, _, version = flow.template.partition("@")
        return self._store.template(name, int(version)).template.pausable

    def estimated(self, flow: Flow) -> float | None:
        """The throughput per stream that was expected of its path when it was chosen; bits/s."""
        if flow.decision is None:
            return None
        try:
            decision = self._store.decision(flow.decision)
        except AdonError:
            return None  # decisions are kept for a while only: the transfer is not held then
        for candidate in decision.candidates:
            if candidate.path == flow.path:
                return next((one.value for one in candidate.metrics if one.metric == Metric.THROUGHPUT), None)
        return None


def rate_of(flow: Flow, limit: Limit, flows: Flows) -> float | None:
    """What the transfer of a flow is held to, in bits/s; None for nothing."""
    if limit == "granted":
        if flow.granted is not None:
            return flow.granted.ceiling or None
        return None if flow.booking is None else flow.booking.rate
    if limit == "estimated":
        per_stream = flows.estimated(flow)
        return None if per_stream is None else per_stream * (flow.request.streams or 1) or None
    return None
