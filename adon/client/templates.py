"""Application templates, their versions and backtests."""

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
    """Methods for templates and backtests."""

    def templates(self) -> list[TemplateSummary]:
        """Return the latest version of every template, in short."""
        return self._all(routes.LIST_TEMPLATES)

    def template(self, name: str, version: str | None = None) -> Json:
        """Return a version of a template as JSON; the latest by default."""
        route, ids = _version(name, version)
        return self._json(route, **ids)

    def template_text(self, name: str, version: str | None = None, form: str = YAML) -> str:
        """Return a version of a template as YAML, or as GENI RSpec (:data:`RSPEC`)."""
        route, ids = _version(name, version)
        return self._text(route, form, **ids)

    def add_template(self, template: Mapping[str, Any]) -> Json:
        """Save a template; a template without a version becomes the next one."""
        return self._json(routes.ADD_TEMPLATE, template)

    def start_backtest(self, question: Mapping[str, Any]) -> BacktestView:
        """Start a backtest: replay the past with another version of a template."""
        return self.call(routes.START_BACKTEST, body=question)

    def backtests(self) -> list[BacktestSummary]:
        """Return the stored backtests, in short."""
        return self._all(routes.LIST_BACKTESTS)

    def backtest(self, backtest: str) -> BacktestView:
        """Return one backtest, with its results once it is done."""
        return self.call(routes.GET_BACKTEST, id=backtest)

    def cancel_backtest(self, backtest: str) -> BacktestView:
        """Cancel a backtest."""
        return self.call(routes.CANCEL_BACKTEST, id=backtest)

    def versions(self, template: str) -> list[VersionView]:
        """Return every version of a template with its author and time."""
        return self._all(routes.LIST_VERSIONS, name=template)

    def template_diff(
        self, template: str, before: int | None = None, after: int | None = None
    ) -> TemplateDiff:
        """Return the differences of two versions of a template; the latest two by default."""
        return self.call(routes.COMPARE_VERSIONS, query={"from": before, "to": after}, name=template)

    def check_template(self, text: str, form: str = "yaml") -> TemplateCheck:
        """Check a text (YAML, JSON or RSpec) as a template; save nothing."""
        return self.call(routes.CHECK_TEMPLATE, body={"text": text, "form": form})


def _version(name: str, version: str | None) -> tuple[Route[Any], dict[str, Any]]:
    """Return the route that reads a version of a template, and the ids in its path."""
    if version is None:
        return routes.GET_TEMPLATE, {"name": name}
    return routes.GET_TEMPLATE_VERSION, {"name": name, "version": version}
