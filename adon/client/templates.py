"""The catalog of application templates: versions, the past played again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api import routes
from adon.api.route import Route
from adon.api.templates import (
    BacktestSummary,
    BacktestView,
    TemplateCheck,
    TemplateDiff,
    TemplateSummary,
    VersionView,
)
from adon.client.calling import Caller, Json

YAML = "application/yaml"
RSPEC = "application/rspec+xml"


class TemplateCalls(Caller):
    """Templates, and what helps to write and tune them."""

    def templates(self) -> list[TemplateSummary]:
        """The latest version of every template, in short."""
        return self._all(routes.LIST_TEMPLATES)

    def template(self, name: str, version: str | None = None) -> Json:
        """One template version as it is written, the latest if none is named."""
        route, ids = _version(name, version)
        return self._json(route, **ids)

    def template_text(self, name: str, version: str | None = None, form: str = YAML) -> str:
        """One template version as text: as YAML, or as GENI RSpec (:data:`RSPEC`)."""
        route, ids = _version(name, version)
        return self._text(route, form, **ids)

    def add_template(self, template: Mapping[str, Any]) -> Json:
        """Save a template; without a version of its own, as the next one."""
        return self._json(routes.ADD_TEMPLATE, template)

    def start_backtest(self, question: Mapping[str, Any]) -> BacktestView:
        """Have the past played again with another version of a template; returns at once."""
        return self.call(routes.START_BACKTEST, body=question)

    def backtests(self) -> list[BacktestSummary]:
        """The backtests that are kept, in short."""
        return self._all(routes.LIST_BACKTESTS)

    def backtest(self, backtest: str) -> BacktestView:
        """One backtest, with what it found once it is done."""
        return self.call(routes.GET_BACKTEST, id=backtest)

    def cancel_backtest(self, backtest: str) -> BacktestView:
        """End a backtest."""
        return self.call(routes.CANCEL_BACKTEST, id=backtest)

    def versions(self, template: str) -> list[VersionView]:
        """Every version of a template: who saved it, and when."""
        return self._all(routes.LIST_VERSIONS, name=template)

    def template_diff(
        self, template: str, before: int | None = None, after: int | None = None
    ) -> TemplateDiff:
        """How two versions of a template differ; without any the latest beside the one before it."""
        return self.call(routes.COMPARE_VERSIONS, query={"from": before, "to": after}, name=template)

    def check_template(self, text: str, form: str = "yaml") -> TemplateCheck:
        """What is wrong with a text (YAML, JSON, RSpec) as a template, and what it says; saves nothing."""
        return self.call(routes.CHECK_TEMPLATE, body={"text": text, "form": form})


def _version(name: str, version: str | None) -> tuple[Route[Any], dict[str, Any]]:
    """Return the route that reads a version of a template, and the ids in its path."""
    if version is None:
        return routes.GET_TEMPLATE, {"name": name}
    return routes.GET_TEMPLATE_VERSION, {"name": name, "version": version}
