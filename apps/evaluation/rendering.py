"""Values into the pages of this package (jinja2): everything is escaped but figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import jinja2

from measurement.evaluation.wording import name


def rendered(template: str, **values: Any) -> str:
    """The page (HTML)."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("apps.evaluation", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"moment": _moment, "path": name}
    return environment.get_template(template).render(**values)


def _moment(at: float | None) -> str:
    if at is None:
        return "not stated"
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
