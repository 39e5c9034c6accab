"""Values into the pages of this package (jinja2): everything is escaped but figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import jinja2


def rendered(template: str, **values: Any) -> str:
    """The page (HTML)."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("apps.experiments", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"moment": _moment, "number": _number, "colour": _colour}
    return environment.get_template(template).render(**values)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _number(value: float) -> str:
    return f"{value:g}"


def _colour(words: str) -> str:
    """The class of an outcome or a verdict: its own words, as one."""
    return words.replace(" ", "-")
