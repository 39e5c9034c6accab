"""What a result gives: a usable value, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from measurement.model import Metric
from measurement.pscheduler.document import Document


@dataclass(frozen=True, slots=True)
class Reading:
    """A usable value, in the units of :mod:`measurement.model`.

    :param parameters: what changes its meaning, and the details it was made of; JSON.
    """

    metric: Metric
    value: float
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """A value that this result does not give, and why."""

    metric: Metric
    cause: str


def loss(
    result: Document, field_name: str, lost: float, sent: float, parameters: Mapping[str, object]
) -> Reading | Refused:
    """Lost / sent (RFC 7680), for readers of every layout.

    :raises BadAnswer: when more was lost than sent.
    """
    if sent <= 0:
        return Refused(Metric.LOSS, f"{field_name}: no packet was sent")
    if lost > sent:
        result.refuse(field_name, f"{lost:g} packets lost of {sent:g} sent")
    return Reading(Metric.LOSS, lost / sent, parameters)
