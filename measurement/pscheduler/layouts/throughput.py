"""Results of ``throughput``: the receiver's rate, its intervals and streams; for UDP loss and jitter too.

Pitfalls: ``throughput-bits`` is the sender's.  iperf3's overall UDP summary says 0 lost and jitter 0
at any loss, so both come from the streams.  What a UDP sender offers is not what the network carried:
without a receiver's report the rate is that of the packets that were not lost.  A test with a
``bandwidth`` was not free to go faster, and says so.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from measurement.errors import BadAnswer
from measurement.model import Metric
from measurement.pscheduler.document import Document
from measurement.pscheduler.readings import Reading, Refused, loss

DEFAULT_S = 10.0
KEPT_INTERVALS = 1000
_MICROSECOND = 1e-6
_MILLISECOND = 1e-3


def read(result: Document, spec: Document) -> list[Reading | Refused]:
    """Throughput; for UDP also loss and jitter.

    A wrong detail is left out; the parameter ``ignored`` has its name.
    """
    overall = result.child("summary")
    summary = overall.child("summary")
    parameters = _parameters(result, spec)
    if spec.fields.get("udp") is not True:
        return [_rate(summary, parameters, 0.0)]
    try:
        found = _udp(overall, parameters)
    except BadAnswer as error:
        if not summary.has("receiver-throughput-bits"):
            raise  # the loss is not known, so neither is what the network carried
        parameters["ignored"] = sorted({*parameters.get("ignored", []), "streams"})
        found = [Refused(metric, error.cause) for metric in (Metric.LOSS, Metric.JITTER)]
    lost = next((each.value for each in found if isinstance(each, Reading) and each.metric is Metric.LOSS), 0)
    return [_rate(summary, parameters, lost), *found]


def _rate(summary: Document, parameters: Mapping[str, object], lost: float) -> Reading:
    if summary.has("receiver-throughput-bits"):
        rate = summary.amount("receiver-throughput-bits")
        return Reading(Metric.THROUGHPUT, rate, {**parameters, "side": "receiver"})
    side = "sender less loss" if lost else "sender"
    return Reading(
        Metric.THROUGHPUT, summary.amount("throughput-bits") * (1 - lost), {**parameters, "side": side}
    )


def _parameters(result: Document, spec: Document) -> dict[str, Any]:
    overall = result.child("summary")
    details: Mapping[str, Callable[[], dict[str, object]]] = {
        "parallel": lambda: {"streams": spec.count("parallel") if spec.has("parallel") else 1},
        "duration": lambda: {"seconds": spec.seconds("duration") if spec.has("duration") else DEFAULT_S},
        "bandwidth": lambda: {"bandwidth": spec.count("bandwidth")} if spec.has("bandwidth") else {},
        "retransmits": lambda: _retransmits(overall),
        "streams": lambda: _of_streams(_streams(overall)),
        "intervals": lambda: _of_intervals(result),
    }
    found: dict[str, object] = {"protocol": "udp" if spec.fields.get("udp") is True else "tcp"}
    ignored = []
    for name, detail in details.items():
        try:
            found |= detail()
        except BadAnswer:
            ignored.append(name)
    return {**found, "ignored": ignored} if ignored else found


def _streams(overall: Document) -> list[Document]:
    return list(overall.children("streams")) if overall.has("streams") else []


def _retransmits(overall: Document) -> dict[str, object]:
    summary = overall.child("summary")
    if summary.has("retransmits"):
        return {"retransmits": summary.count("retransmits")}
    counted = [each.count("retransmits") for each in _streams(overall) if each.has("retransmits")]
    return {"retransmits": sum(counted)} if counted else {}


def _of_streams(streams: list[Document]) -> dict[str, object]:
    found: dict[str, object] = {}
    rates = [stream.amount("throughput-bits") for stream in streams if stream.has("throughput-bits")]
    if len(rates) > 1:
        found["stream_bits"] = rates
    trips = [stream.amount("rtt") * _MICROSECOND for stream in streams if stream.has("rtt")]
    if trips:
        found["tcp_rtt"] = sum(trips) / len(trips)
    return found


def _of_intervals(result: Document) -> dict[str, object]:
    intervals = list(islice(_intervals(result), KEPT_INTERVALS))
    found: dict[str, object] = {}
    if intervals:
        found["interval_bits"] = [each.amount("throughput-bits") for each in intervals]
        if all(each.has("start") and each.has("end") for each in intervals):
            lengths = [each.amount("end") - each.amount("start") for each in intervals]
            found["interval_seconds"] = round(statistics.median(lengths), 3)
        if all(each.has("retransmits") for each in intervals):
            found["interval_retransmits"] = [each.count("retransmits") for each in intervals]
    return found


def _intervals(result: Document) -> Iterator[Document]:
    """The summaries of the intervals that count: not those omitted at the start (TCP's slow start)."""
    if not result.has("intervals"):
        return
    for interval in result.children("intervals"):
        if interval.has("summary"):
            summary = interval.child("summary")
            if summary.fields.get("omitted") is not True and summary.has("throughput-bits"):
                yield summary


def _udp(overall: Document, parameters: Mapping[str, object]) -> list[Reading | Refused]:
    streams = list(overall.children("streams"))
    sent = sum(stream.amount("sent") for stream in streams)
    lost = sum(stream.amount("lost") for stream in streams)
    jitters = [stream.amount("jitter") * _MILLISECOND for stream in streams if stream.has("jitter")]
    jitter: Reading | Refused = Refused(Metric.JITTER, "summary.streams: no stream reports jitter")
    if jitters:
        jitter = Reading(Metric.JITTER, sum(jitters) / len(jitters), parameters)
    return [loss(overall, "streams", lost, sent, parameters), jitter]
