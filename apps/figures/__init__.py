"""Figures that the dashboard and reports share: functions from values to plotly figures."""
