"""How the pages of this package write their values."""

from __future__ import annotations

from typing import Any

from apps import html_pages
from measurement.evaluation.wording import name


def rendered(template: str, **values: Any) -> str:
    """The page (HTML)."""
    filters: html_pages.Filters = {"moment": html_pages.moment, "path": name}
    return html_pages.rendered("apps.evaluation", template, filters, values)
