"""Documents of forecasts and of their calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from adon.api.forecasts import CalibrationView, CurvePoint, ForecastView
from adon.broker.forecasting.calibration import Calibration
from adon.broker.outcomes import Forecast
from measurement.model import finite


def to_calibration_view(flows: str, found: Calibration) -> CalibrationView:
    """The calibration as it is answered."""
    same = ("count", "nominal", "covered", "least", "most", "bias", "error")
    return CalibrationView(
        flows=flows,
        **{name: getattr(found, name) for name in same},
        score=found.score if math.isfinite(found.score) else None,
        curve=[CurvePoint(nominal=level, observed=share) for level, share in found.curve],
    )


def to_forecast_view(found: Forecast | Mapping[str, Any] | None) -> ForecastView | None:
    """The forecast as it is answered."""
    if found is None:
        return None
    names = ("expected", "low", "high", "coverage", "terms")
    # Not asdict(): it copies deeply, and lists show hundreds of these.
    body = {name: getattr(found, name) if isinstance(found, Forecast) else found[name] for name in names}
    body = finite(body)
    seconds = {f"{name}_seconds": body[name] for name in ("expected", "low", "high")}
    return ForecastView(**seconds, coverage=body["coverage"], terms=body["terms"])
