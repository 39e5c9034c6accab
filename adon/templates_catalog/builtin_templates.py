"""Built-in templates (spec section 10b), and their scaling for a testbed.

The files state real values.  A testbed that is a hundred times slower multiplies every rate by 0.01.
Delays, loss and the shape of each scoring table stay unchanged.
"""

from __future__ import annotations

import math
import re
from typing import Any

from adon import yamlfile
from adon.templates_catalog.model import QSpec, Template
from adon.yamlfile import SUFFIX, BuiltinFiles

_RATE = re.compile(r"([0-9.e+-]+) bps")


def builtin_templates() -> tuple[Template, ...]:
    """Return the built-in templates in the order of their names.

    :raises InvalidInput: if an installed file was damaged.
    """
    brought = BuiltinFiles("built-in template", "adon.templates_catalog")
    return tuple(
        yamlfile.parse_model(brought.text(name), Template, f"{name}{SUFFIX}") for name in brought.names()
    )


def scale_template(template: Template, factor: float) -> Template:
    """Return a template with every rate multiplied: throughput bound, target and table, and ceiling.

    :param factor: above zero; 0.01 for a 1:100 testbed.
    :raises ValueError: for a factor that is not a positive number.
    """
    if not (math.isfinite(factor) and factor > 0):
        raise ValueError(f"factor: must be above zero, not {factor!r}")
    body = template.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return Template.model_validate(_scale_rates(body, factor))


def scale_qspec(qspec: QSpec, factor: float) -> QSpec:
    """Return a QSpec with its throughput bound and target multiplied."""
    return QSpec.model_validate(_scale_rates(qspec.model_dump(mode="json", exclude_unset=True), factor))


def _scale_rates(written: Any, factor: float) -> Any:
    match written:
        case str() if found := _RATE.fullmatch(written):
            return f"{float(found[1]) * factor!r} bps"
        case list():
            return tuple(_scale_rates(one, factor) for one in written)
        case dict():
            return {name: _scale_rates(one, factor) for name, one in written.items()}
        case _:
            return written
