"""Transfers: ask for one, follow it, end it; what was decided about it and what it left behind."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adon.api.decisions import DecisionView, WhyNotView
from adon.api.flows import FlowList, FlowView, HistoryEntry, OutcomeView, PreviewView
from adon.api.queue import QueueView, WaitingView
from adon.client.calling import Caller, part


class FlowCalls(Caller):
    """Flows, their decisions, the queue, outcomes."""

    def submit(self, request: Mapping[str, Any], key: str | None = None) -> FlowView:
        """Ask for a transfer; returns at once with the flow it became.

        :param key: a name of this wish of your own: asked for twice with the same, it is one flow.
        """
        return self._post(FlowView, "/flows", request, key or uuid.uuid4().hex)

    def preview_flow(self, request: Mapping[str, Any]) -> PreviewView:
        """What would be decided if this were asked for now; nothing is kept of it."""
        return self._post(PreviewView, "/flow-previews", request)

    def flow(self, flow: str) -> FlowView:
        """One flow."""
        return self._get(FlowView, f"/flows/{part(flow)}")

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
        return self._get(FlowList, "/flows", query)

    def each_flow(
        self, state: str | None = None, requester: str | None = None, limit: int | None = None
    ) -> Iterator[FlowView]:
        """Flows, the newest first, asked for page by page as they are wanted; all without a limit."""
        return self._pages(FlowView, "/flows", {"state": state, "requester": requester}, limit)

    def history(self, flow: str, last: int | None = None) -> list[HistoryEntry]:
        """The steps of a flow's life, in order; the last so many (500 at most), or all."""
        asked = f"/flows/{part(flow)}/history"
        if last is not None:
            return self._items(HistoryEntry, asked, {"last": last})
        return list(self._pages(HistoryEntry, asked, {}, None, "after"))

    def waiting(self, flow: str) -> WaitingView:
        """What a waiting flow waits for, and its place in the queue."""
        return self._get(WaitingView, f"/flows/{part(flow)}/waiting")

    def queue(self) -> QueueView:
        """The flows that wait, first to be served first."""
        return self._get(QueueView, "/queue")

    def cancel(self, flow: str) -> FlowView:
        """Cancel a flow; the flow as it is then."""
        return self._delete(FlowView, f"/flows/{part(flow)}")

    def report(self, flow: str, status: str, size: int, detail: str = "") -> FlowView:
        """Tell how a flow's transfer stands.

        :param status: started, progress, finished or failed; the last two end the flow.
        :param size: what the receiver has, bytes.
        """
        told = {"status": status, "bytes": size, "detail": detail}
        return self._post(FlowView, f"/flows/{part(flow)}/reports", told)

    def outcome(self, flow: str) -> OutcomeView:
        """What a flow left behind."""
        return self._get(OutcomeView, f"/flows/{part(flow)}/outcome")

    def outcomes(
        self, template: str | None = None, since: str | None = None, limit: int = 100
    ) -> list[OutcomeView]:
        """What flows left behind, those that ended last first."""
        return self._items(OutcomeView, "/outcomes", {"template": template, "since": since, "limit": limit})

    def decision(self, decision: str) -> DecisionView:
        """One decision."""
        return self._get(DecisionView, f"/decisions/{part(decision)}")

    def why_not(self, decision: str) -> WhyNotView:
        """Per path and site that a decision did not take, the smallest change by which it would have."""
        return self._get(WhyNotView, f"/decisions/{part(decision)}/why-not")

    def decisions(self, flow: str) -> list[DecisionView]:
        """All decisions about a flow, the oldest first."""
        return list(self._pages(DecisionView, f"/flows/{part(flow)}/decisions", {}, None, "after"))


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
