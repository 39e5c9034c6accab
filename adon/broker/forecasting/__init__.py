"""When a transfer will be over: an interval told at admission, and how well such intervals have held.

:mod:`~adon.broker.forecasting.interval` makes the forecast from the terms of the cost model and from how far
off promises have been; it is recorded with the decision and kept with the flow.
:mod:`~adon.broker.forecasting.calibration` scores forecasts by what became of the flows.
"""
