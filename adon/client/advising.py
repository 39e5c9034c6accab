"""Advice for the hosts of a transfer; how well forecasts held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.client.calling import Caller, part
from adon.client.documents import AcceptAdviceBody, AcceptView, AdviceBody, AdviceView, CalibrationView


class AdviceCalls(Caller):
    """What both hosts of a transfer should be set to, and what to expect."""

    def advice(self, flow: str, path: str | None = None, tool: str | None = None) -> AdviceView:
        """TCP and transfer advice for a flow."""
        return self._get(AdviceView, f"/flows/{part(flow)}/advice", {"path": path, "tool": tool})

    def advise(self, question: AdviceBody | Mapping[str, Any]) -> AdviceView:
        """Advice for supposed numbers and pasted settings."""
        return self._post(AdviceView, "/advice", question)

    def accept_advice(self, wanted: AcceptAdviceBody | Mapping[str, Any]) -> AcceptView:
        """Keep confirmed advice in a new version of the flow's template, or only propose it."""
        return self._post(AcceptView, "/advice/accept", wanted)

    def forecast_calibration(self, template: str | None, limit: int) -> list[CalibrationView]:
        """How well forecasts of completion held."""
        query = {"template": template, "limit": limit}
        return self._items(CalibrationView, "/forecasts/calibration", query)
