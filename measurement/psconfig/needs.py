"""What applications need to know, as JSON, for the messages between processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from measurement.model import Metric
from measurement.psconfig.mesh import Need


def to_json(needs: Mapping[Metric, Need]) -> dict[str, Any]:
    """What applications need to know, by metric."""
    return {
        metric.value: {"max_age": need.max_age, "streams": need.streams, "bound": need.bound}
        for metric, need in needs.items()
    }


def from_json(data: Mapping[str, Any]) -> dict[Metric, Need]:
    """The inverse of :func:`to_json`.

    :raises ValueError: for an unknown metric, or what is no need.
    """
    try:
        return {
            Metric(name): Need(
                float(need["max_age"]),
                int(need["streams"]),
                None if need["bound"] is None else float(need["bound"]),
            )
            for name, need in data.items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not needs: {error}") from None
