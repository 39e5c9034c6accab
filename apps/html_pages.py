"""Values into the HTML pages that a package brings (jinja2): everything is escaped but figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import jinja2

Filters = Mapping[str, Callable[..., Any]]


def render_page(package: str, template: str, filters: Filters, values: Mapping[str, Any]) -> str:
    """The page.

    :param template: a file of the package.
    :param filters: how its values are written, by the name that the template uses.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= filters
    return environment.get_template(template).render(**values)


def moment(at: float | None) -> str:
    """Seconds since the epoch as a page has them."""
    return "not stated" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
