"""Flows, their decisions, outcomes, forecasts and advice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adon.api import routes
from adon.api.advice import AdviceView
from adon.api.decisions import CalibrationView, DecisionPage, DecisionSummary, DecisionView, WhyNotView
from adon.api.flows import FlowList, FlowView, HistoryEntry, OutcomeView, PreviewView
from adon.api.queue import QueueView, WaitingView
from adon.client.calling import Caller, idempotency_header


class FlowCalls(Caller):
    """Methods for flows, decisions, the queue, outcomes and advice."""

    def submit(self, request: Mapping[str, Any], key: str | None = None) -> FlowView:
        """Submit a flow; return it at once.

        :param key: idempotency key: requests with the same key create one flow.
        """
        return self.call(routes.SUBMIT_FLOW, body=request, headers=idempotency_header(key))

    def preview_flow(self, request: Mapping[str, Any]) -> PreviewView:
        """Return the decision that a request would get now; store nothing."""
        return self.call(routes.PREVIEW_FLOW, body=request)

    def flow(self, flow: str) -> FlowView:
        """Return one flow."""
        return self.call(routes.GET_FLOW, id=flow)

    def flows(
        self, state: str | None = None, requester: str | None = None, limit: int = 50
    ) -> list[FlowView]:
        """Return the newest flows, at most ``limit``."""
        return list(self.each_flow(state, requester, limit))

    def flow_page(
        self,
        state: str | None = None,
        requester: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> FlowList:
        """Return one page of flows, the newest first, with ``next`` for the following page."""
        query = {"state": state, "requester": requester, "limit": limit, "before": before}
        return self.call(routes.LIST_FLOWS, query=query)

    def each_flow(
        self, state: str | None = None, requester: str | None = None, limit: int | None = None
    ) -> Iterator[FlowView]:
        """Yield flows, the newest first; request pages as they are needed."""
        return self.each(routes.LIST_FLOWS, {"state": state, "requester": requester}, limit)

    def history(self, flow: str, last: int | None = None) -> list[HistoryEntry]:
        """Return the state changes of a flow, the oldest first; the ``last`` ones (at most 500), or all."""
        if last is not None:
            return self.call(routes.GET_HISTORY, query={"last": last}, id=flow).items
        return self._all(routes.GET_HISTORY, id=flow)

    def waiting(self, flow: str) -> WaitingView:
        """Return what a queued flow waits for, and its place in the queue."""
        return self.call(routes.GET_WAITING, id=flow)

    def queue(self) -> QueueView:
        """Return the queue in the order of service."""
        return self.call(routes.GET_QUEUE)

    def cancel(self, flow: str) -> FlowView:
        """Cancel a flow; return it."""
        return self.call(routes.CANCEL_FLOW, id=flow)

    def report(self, flow: str, status: str, size: int, detail: str = "") -> FlowView:
        """Report the progress of a flow's transfer.

        :param status: started, progress, finished or failed; the last two end the flow.
        :param size: what the receiver has, bytes.
        """
        told = {"status": status, "bytes": size, "detail": detail}
        return self.call(routes.REPORT_TRANSFER, body=told, id=flow)

    def outcome(self, flow: str) -> OutcomeView:
        """Return the outcome of a flow that has ended."""
        return self.call(routes.GET_OUTCOME, id=flow)

    def outcomes(
        self, template: str | None = None, since: str | None = None, limit: int = 100
    ) -> list[OutcomeView]:
        """Return outcomes, the latest end first."""
        return self.call(
            routes.LIST_OUTCOMES, query={"template": template, "since": since, "limit": limit}
        ).items

    def decision(self, decision: str) -> DecisionView:
        """Return one decision."""
        return self.call(routes.GET_DECISION, id=decision)

    def why_not(self, decision: str) -> WhyNotView:
        """Return the smallest change with which a decision would select each other path and site."""
        return self.call(routes.GET_WHY_NOT, id=decision)

    def decisions(self, flow: str) -> list[DecisionView]:
        """Return all decisions about a flow, the oldest first."""
        return self._all(routes.LIST_FLOW_DECISIONS, id=flow)

    def all_decisions(self, **query: Any) -> DecisionPage:
        """Return a page of decisions about all flows, the newest first; ``query`` as in the API."""
        return self.call(routes.LIST_DECISIONS, query=query)

    def each_decision(self, limit: int | None = None, **query: Any) -> Iterator[DecisionSummary]:
        """Yield decisions about all flows, the newest first; request pages as they are needed."""
        return self.each(routes.LIST_DECISIONS, query, limit)

    def advice(self, flow: str, path: str | None = None) -> AdviceView:
        """Return TCP and transfer advice for a flow."""
        return self.call(routes.GET_ADVICE, query={"path": path}, id=flow)

    def advise(self, question: Mapping[str, Any]) -> AdviceView:
        """Return advice for given numbers and settings."""
        return self.call(routes.WHAT_IF_ADVICE, body=question)

    def forecast_calibration(self, template: str | None, limit: int) -> list[CalibrationView]:
        """Return the calibration of forecasts of completion."""
        query = {"template": template, "limit": limit}
        return self.call(routes.GET_CALIBRATION, query=query).items


def changes(
    fetch: Callable[[], FlowView], pause: Callable[[], object], key: Callable[[FlowView], object]
) -> Iterator[FlowView]:
    """Yield a flow each time it has changed, until it is final; call ``pause`` between two requests."""
    last: object = None
    while True:
        flow = fetch()
        if (now := key(flow)) != last:
            last = now
            yield flow
        if flow.final:
            return
        pause()
