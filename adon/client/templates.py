"""The catalog of application templates: versions, the past played again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api.templates import BacktestSummary, BacktestView, TemplateSummary
from adon.client.calling import Caller, Json, part

YAML = "application/yaml"
RSPEC = "application/rspec+xml"


class TemplateCalls(Caller):
    """Templates, and what helps to write and tune them."""

    def templates(self) -> list[TemplateSummary]:
        """The latest version of every template, in short."""
        return list(self._pages(TemplateSummary, "/templates", {}, None, "after"))

    def template(self, name: str, version: str | None = None) -> Json:
        """One template version as it is written, the latest if none is named."""
        return self._json("GET", _address(name, version))

    def template_text(self, name: str, version: str | None = None, form: str = YAML) -> str:
        """One template version as text: as YAML, or as GENI RSpec (:data:`RSPEC`)."""
        return self._text(_address(name, version), accept=form)

    def add_template(self, template: Mapping[str, Any]) -> Json:
        """Save a template; without a version of its own, as the next one."""
        return self._json("POST", "/templates", template)

    def start_backtest(self, question: Mapping[str, Any]) -> BacktestView:
        """Have the past played again with another version of a template; returns at once."""
        return self._post(BacktestView, "/template-backtests", question)

    def backtests(self) -> list[BacktestSummary]:
        """The backtests that are kept, in short."""
        return list(self._pages(BacktestSummary, "/template-backtests", {}, None))

    def backtest(self, backtest: str) -> BacktestView:
        """One backtest, with what it found once it is done."""
        return self._get(BacktestView, f"/template-backtests/{part(backtest)}")

    def cancel_backtest(self, backtest: str) -> BacktestView:
        """End a backtest."""
        return self._delete(BacktestView, f"/template-backtests/{part(backtest)}")


def _address(name: str, version: str | None) -> str:
    tail = "" if version is None else f"/versions/{part(version)}"
    return f"/templates/{part(name)}{tail}"
