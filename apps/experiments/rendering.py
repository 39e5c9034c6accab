"""How the pages of this package write their values."""

from __future__ import annotations

from typing import Any

from apps import html_pages


def rendered(template: str, **values: Any) -> str:
    """The page (HTML)."""
    filters: html_pages.Filters = {"moment": html_pages.moment, "number": _number, "colour": _colour}
    return html_pages.rendered("apps.experiments", template, filters, values)


def _number(value: float) -> str:
    return f"{value:g}"


def _colour(words: str) -> str:
    """The class of an outcome or a verdict: its own words, as one."""
    return words.replace(" ", "-")
