"""The templates that ADON brings (spec section 10b), and how a testbed scales them.

The files state real values.  A testbed that is a hundred times slower multiplies every rate by 0.01
and nothing else: delays, loss and the shape of each scoring table stay.
"""

from __future__ import annotations

import math
import re
from typing import Any

from adon import yamlfile
from adon.brought import SUFFIX, Brought
from adon.templates_catalog.model import QSpec, Template

_RATE = re.compile(r"([0-9.e+-]+) bps")


def builtin_templates() -> tuple[Template, ...]:
    """The built-in templates, by name.

    :raises InvalidInput: if an installed file was damaged.
    """
    brought = Brought("built-in template", "adon.templates_catalog")
    return tuple(
        yamlfile.parse_model(brought.text(name), Template, f"{name}{SUFFIX}") for name in brought.names()
    )


def scaled(template: Template, factor: float) -> Template:
    """A copy with every rate multiplied: throughput bound, target and table, and the ceiling.

    :param factor: above zero; 0.01 for a 1:100 testbed.
    :raises ValueError: for a factor that is not a positive number.
    """
    if not (math.isfinite(factor) and factor > 0):
        raise ValueError(f"factor: must be above zero, not {factor!r}")
    body = template.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return Template.model_validate(_scaled(body, factor))


def scaled_qspec(qspec: QSpec, factor: float) -> QSpec:
    """A QSpec with its throughput bound and target multiplied."""
    return QSpec.model_validate(_scaled(qspec.model_dump(mode="json", exclude_unset=True), factor))


def _scaled(written: Any, factor: float) -> Any:
    match written:
        case str() if found := _RATE.fullmatch(written):
            return f"{float(found[1]) * factor!r} bps"
        case list():
            return tuple(_scaled(one, factor) for one in written)
        case dict():
            return {name: _scaled(one, factor) for name, one in written.items()}
        case _:
            return written
