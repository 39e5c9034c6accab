"""Transfers: ask for one, follow it, end it; what was decided about it and what it left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adon.api import routes
from adon.api.advice import AdviceView
from adon.api.decisions import DecisionPage, DecisionSummary, DecisionView, WhyNotView
from adon.api.flows import FlowList, FlowView, HistoryEntry, OutcomeView, PreviewView
from adon.api.forecasts import CalibrationView
from adon.api.queue import QueueView, WaitingView
from adon.client.calling import Caller, idempotency_header


class FlowCalls(Caller):
    """Flows, their decisions, the queue, outcomes."""

    def submit(self, request: Mapping[str, Any], key: str | None = None) -> FlowView:
        """Ask for a transfer; returns at once with the flow it became.

        :param key: a name of this wish of your own: asked for twice with the same, it is one flow.
        """
        return self.call(routes.SUBMIT_FLOW, body=request, headers=idempotency_header(key))

    def preview_flow(self, request: Mapping[str, Any]) -> PreviewView:
        """What would be decided if this were asked for now; nothing is kept of it."""
        return self.call(routes.PREVIEW_FLOW, body=request)

    def flow(self, flow: str) -> FlowView:
        """One flow."""
        return self.call(routes.GET_FLOW, id=flow)

    def flows(
        self, state: str | None = None, requester: str | None = None, limit: int = 50
    ) -> list[FlowView]:
        """The newest flows, at most ``limit``, from as many pages as it takes."""
        return list(self.each_flow(state, requester, limit))

    def flow_page(
        self,
        state: str | None = None,
        requester: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> FlowList:
        """One page of flows, the newest first (``items``), and where the following begins (``next``)."""
        query = {"state": state, "requester": requester, "limit": limit, "before": before}
        return self.call(routes.LIST_FLOWS, query=query)

    def each_flow(
        self, state: str | None = None, requester: str | None = None, limit: int | None = None
    ) -> Iterator[FlowView]:
        """Flows, the newest first, asked for page by page as they are wanted; all without a limit."""
        return self.each(routes.LIST_FLOWS, {"state": state, "requester": requester}, limit)

    def history(self, flow: str, last: int | None = None) -> list[HistoryEntry]:
        """The steps of a flow's life, in order; the last so many (500 at most), or all."""
        if last is not None:
            return self.call(routes.GET_HISTORY, query={"last": last}, id=flow).items
        return self._all(routes.GET_HISTORY, id=flow)

    def waiting(self, flow: str) -> WaitingView:
        """What a waiting flow waits for, and its place in the queue."""
        return self.call(routes.GET_WAITING, id=flow)

    def queue(self) -> QueueView:
        """The flows that wait, first to be served first."""
        return self.call(routes.GET_QUEUE)

    def cancel(self, flow: str) -> FlowView:
        """Cancel a flow; the flow as it is then."""
        return self.call(routes.CANCEL_FLOW, id=flow)

    def report(self, flow: str, status: str, size: int, detail: str = "") -> FlowView:
        """Tell how a flow's transfer stands.

        :param status: started, progress, finished or failed; the last two end the flow.
        :param size: what the receiver has, bytes.
        """
        told = {"status": status, "bytes": size, "detail": detail}
        return self.call(routes.REPORT_TRANSFER, body=told, id=flow)

    def outcome(self, flow: str) -> OutcomeView:
        """What a flow left behind."""
        return self.call(routes.GET_OUTCOME, id=flow)

    def outcomes(
        self, template: str | None = None, since: str | None = None, limit: int = 100
    ) -> list[OutcomeView]:
        """What flows left behind, those that ended last first."""
        return self.call(
            routes.LIST_OUTCOMES, query={"template": template, "since": since, "limit": limit}
        ).items

    def decision(self, decision: str) -> DecisionView:
        """One decision."""
        return self.call(routes.GET_DECISION, id=decision)

    def why_not(self, decision: str) -> WhyNotView:
        """Per path and site that a decision did not take, the smallest change by which it would have."""
        return self.call(routes.GET_WHY_NOT, id=decision)

    def decisions(self, flow: str) -> list[DecisionView]:
        """All decisions about a flow, the oldest first."""
        return self._all(routes.LIST_FLOW_DECISIONS, id=flow)

    def all_decisions(self, **query: Any) -> DecisionPage:
        """A page of the decisions about all flows, the newest first; the query's names are the API's."""
        return self.call(routes.LIST_DECISIONS, query=query)

    def each_decision(self, limit: int | None = None, **query: Any) -> Iterator[DecisionSummary]:
        """Decisions about all flows, the newest first, asked for page by page as they are wanted."""
        return self.each(routes.LIST_DECISIONS, query, limit)

    def advice(self, flow: str, path: str | None = None) -> AdviceView:
        """TCP and transfer advice for a flow."""
        return self.call(routes.GET_ADVICE, query={"path": path}, id=flow)

    def advise(self, question: Mapping[str, Any]) -> AdviceView:
        """Advice for supposed numbers and pasted settings."""
        return self.call(routes.WHAT_IF_ADVICE, body=question)

    def forecast_calibration(self, template: str | None, limit: int) -> list[CalibrationView]:
        """How well forecasts of completion held."""
        query = {"template": template, "limit": limit}
        return self.call(routes.GET_CALIBRATION, query=query).items


def changes(
    fetch: Callable[[], FlowView], pause: Callable[[], object], key: Callable[[FlowView], object]
) -> Iterator[FlowView]:
    """A flow each time it has changed, until it is final; ``pause`` is called between two looks."""
    last: object = None
    while True:
        flow = fetch()
        if (now := key(flow)) != last:
            last = now
            yield flow
        if flow.final:
            return
        pause()
