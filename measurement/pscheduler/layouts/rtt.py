"""Results of ``rtt``: the mean round trip, and the loss of the round trips.

Pitfall: when ping prints errors or duplicates, pScheduler's summary is ``sent`` 0, ``loss`` 100.0,
and ``succeeded`` still true; the loss is then counted from the round trips.
"""

from __future__ import annotations

from measurement.model import Metric
from measurement.pscheduler.document import Document
from measurement.pscheduler.readings import Reading, Refused

_SPREAD = {"min": "minimum", "max": "maximum", "stddev": "deviation"}


def read(result: Document, spec: Document) -> list[Reading | Refused]:
    """Round-trip loss, and the round-trip time if anything came back."""
    lost = _loss(result, spec)
    parameters = _parameters(result, spec)
    found: list[Reading | Refused] = [Reading(Metric.LOSS, lost, {**parameters, "direction": "round trip"})]
    if lost >= 1 and not result.has("mean"):
        return [*found, Refused(Metric.RTT, "no reply: all packets were lost")]
    spread = {ours: result.duration(theirs) for theirs, ours in _SPREAD.items() if result.has(theirs)}
    return [*found, Reading(Metric.RTT, result.duration("mean"), {**parameters, **spread})]


def _parameters(result: Document, spec: Document) -> dict[str, object]:
    if spec.has("count"):
        return {"count": spec.count("count")}
    return {"count": result.count("sent")} if result.has("sent") else {}


def _loss(result: Document, spec: Document) -> float:
    loss = result.amount("loss")
    if loss <= 1 and result.amount("sent") > 0:
        return loss
    if not spec.has("count"):
        result.refuse("loss", f"is {loss:g} of {result.amount('sent'):g} sent, and the test names no count")
    answered = {trip.number("seq") for trip in result.children("roundtrips") if trip.has("rtt")}
    count = spec.count("count")
    if not len(answered) <= count or count == 0:
        result.refuse("roundtrips", f"{len(answered)} answers to {count} requests")
    return 1 - len(answered) / count
