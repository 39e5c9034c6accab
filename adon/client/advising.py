"""Advice for the hosts of a transfer; how well forecasts held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api.advice import AdviceView
from adon.api.forecasts import CalibrationView
from adon.client.calling import Caller, part


class AdviceCalls(Caller):
    """What both hosts of a transfer should be set to, and what to expect."""

    def advice(self, flow: str, path: str | None = None) -> AdviceView:
        """TCP and transfer advice for a flow."""
        return self._get(AdviceView, f"/flows/{part(flow)}/advice", {"path": path})

    def advise(self, question: Mapping[str, Any]) -> AdviceView:
        """Advice for supposed numbers and pasted settings."""
        return self._post(AdviceView, "/advice", question)

    def forecast_calibration(self, template: str | None, limit: int) -> list[CalibrationView]:
        """How well forecasts of completion held."""
        query = {"template": template, "limit": limit}
        return self._items(CalibrationView, "/forecasts/calibration", query)
