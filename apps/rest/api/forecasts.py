"""How well forecasts of completion held: coverage and calibration."""

from __future__ import annotations

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.forecasts import CalibrationList
from adon.broker.forecasting.calibration import Calibration, by_wait
from apps.rest.answers import json_answer
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.forecast_views import to_calibration_view
from apps.rest.guard import action
from apps.rest.services import services

api = blueprint("forecasts", "How well forecasts of completion held")


class ForecastQuery(Query):
    """Of which flows."""

    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    limit: int = Field(default=500, ge=1, le=5000, description="of so many flows that have ended, the newest")


@api.get("/forecasts/calibration", responses=answers(200, CalibrationList))
@action(Action.FORECAST_READ)
def get_calibration(query: ForecastQuery) -> Response:
    """Coverage, calibration curve and errors of the forecasts of finished flows."""
    found = judged(query.template, query.limit)
    items = [to_calibration_view(name, one) for name, one in found.items()]
    return json_answer(CalibrationList(items=items))


def judged(template: str | None, limit: int) -> dict[str, Calibration]:
    """The forecasts of finished flows, all together and by whether the flow had waited."""
    return dict(by_wait(services().store.outcomes(template, limit=limit)))
