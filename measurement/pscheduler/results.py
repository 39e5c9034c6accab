"""From a finished run to values: pure, and the only place that knows the layout of results.

The order of checks is pScheduler's: state, then ``result-merged``, then ``succeeded``, then the fields.
What each value means:

=============  ===================================================================================
throughput     receiver's rate (goodput) where the tool reports it, else the sender's
rtt            mean of the round trips
one_way_delay  median of the histogram (RFC 7679 samples; a median ignores one late packet)
jitter         mean absolute difference of consecutive one-way delays (RFC 3393), from raw packets;
               without them the mean absolute difference of two packets drawn from the histogram,
               the same number if delays are independent; for UDP throughput the tool's (RFC 3550)
loss           lost / sent (RFC 7680); for rtt, of the round trips
=============  ===================================================================================

One test yields several values, and one can be unusable while the others are good: at 100 % loss there
is no round-trip time, and between undisciplined clocks a one-way delay may be negative while loss and
jitter hold.  Such a value is a :class:`Refused`; an answer that is wrong as a whole is an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from measurement.errors import BadAnswer, RunFailed
from measurement.model import Metric
from measurement.pscheduler.client import Run
from measurement.pscheduler.document import Document
from measurement.pscheduler.specs import Kind, TestRequest
from measurement.pscheduler.states import RunState

_DEFAULT_BUCKET = 0.001
_NTP_SECOND = 2**32


@dataclass(frozen=True, slots=True)
class Reading:
    """A usable value, in the units of :mod:`measurement.model`."""

    metric: Metric
    value: float
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """A value that this result does not give, and why."""

    metric: Metric
    cause: str


def read(run: Run, test: TestRequest, asked_at: float) -> list[Reading | Refused]:
    """All values that a run gives for the test that was asked for.

    :param asked_at: when it was asked for, by the server's clock: a run that ended before then
        answers somebody else's question.
    :raises RunFailed: when the run ended without success; the cause is the server's.
    :raises BadAnswer: when the result is not what the API promises, naming the field.
    """
    result = successful_result(run)
    if run.end < int(asked_at):  # the server's times are in whole seconds
        run.document.refuse("end-time", f"is {asked_at - run.end:.0f} s before the test was asked for")
    return _READERS[test.kind](result, test)


def successful_result(run: Run) -> Document:
    """The merged result of a run that succeeded.

    :raises RunFailed: when it did not, with the reason wherever the server put it.
    :raises BadAnswer: when it says it did, but brings no result.
    """
    document = run.document
    if run.state is not RunState.FINISHED:
        raise RunFailed(document.host, f"the run is {run.state}: {failure_reason(document)}")
    merged = document.child("result-merged")
    succeeded = merged.fields.get("succeeded")
    if not isinstance(succeeded, bool):
        merged.refuse("succeeded", "is missing")
    if not succeeded:
        raise RunFailed(document.host, f"the test did not succeed: {failure_reason(document)}")
    return merged


def failure_reason(document: Document) -> str:
    """Why a run failed: ping and traceroute leave the reason in ``result-full`` only."""
    full = document.fields.get("result-full")
    places: list[object] = [document.fields.get("result-merged")]
    places += full if isinstance(full, list) else []
    for place in places:
        if isinstance(place, Mapping):
            for name in ("error", "diags"):
                text = place.get(name)
                if isinstance(text, str) and text.strip():
                    return text
    errors = document.fields.get("errors")
    return errors if isinstance(errors, str) and errors.strip() else "no reason given"


def _throughput(result: Document, test: TestRequest) -> list[Reading | Refused]:
    summary = result.child("summary").child("summary")
    at_receiver = summary.has("receiver-throughput-bits")
    rate = summary.amount("receiver-throughput-bits" if at_receiver else "throughput-bits")
    udp = test.spec.get("udp") is True
    parameters: dict[str, object] = {
        "protocol": "udp" if udp else "tcp",
        "streams": test.spec.get("parallel", 1),
        "side": "receiver" if at_receiver else "sender",
        "seconds": test.lasts,
    }
    if summary.has("retransmits"):
        parameters["retransmits"] = summary.count("retransmits")
    found: list[Reading | Refused] = [Reading(Metric.THROUGHPUT, rate, parameters)]
    return found + (_udp(result, parameters) if udp else [])


def _udp(result: Document, parameters: Mapping[str, object]) -> list[Reading | Refused]:
    # iperf3's overall summary says 0 lost at any loss: the streams are right.
    streams = list(result.child("summary").children("streams"))
    sent = sum(stream.amount("sent") for stream in streams)
    lost = sum(stream.amount("lost") for stream in streams)
    found: list[Reading | Refused] = [_loss(result, "summary.streams", lost, sent, parameters)]
    jitters = [stream.amount("jitter") / 1000 for stream in streams if stream.has("jitter")]
    if jitters:
        found.append(Reading(Metric.JITTER, sum(jitters) / len(jitters), parameters))
    else:
        found.append(Refused(Metric.JITTER, "summary.streams: no stream reports jitter"))
    return found


def _loss(
    result: Document, field_name: str, lost: float, sent: float, parameters: Mapping[str, object]
) -> Reading | Refused:
    if sent <= 0:
        return Refused(Metric.LOSS, f"{field_name}: no packet was sent")
    if lost > sent:
        result.refuse(field_name, f"{lost:g} packets lost of {sent:g} sent")
    return Reading(Metric.LOSS, lost / sent, parameters)


def _rtt(result: Document, test: TestRequest) -> list[Reading | Refused]:
    loss = _round_trip_loss(result, test)
    parameters = {"count": test.spec["count"]}
    found: list[Reading | Refused] = [Reading(Metric.LOSS, loss, {**parameters, "direction": "round trip"})]
    if loss >= 1 and not result.has("mean"):
        return [*found, Refused(Metric.RTT, "no reply: all packets were lost")]
    return [*found, Reading(Metric.RTT, result.duration("mean"), parameters)]


def _round_trip_loss(result: Document, test: TestRequest) -> float:
    # When ping prints errors or duplicates, pScheduler's summary is sent 0, loss 100.0.
    loss = result.amount("loss")
    if loss <= 1 and result.amount("sent") > 0:
        return loss
    answered = {trip.number("seq") for trip in result.children("roundtrips") if trip.has("rtt")}
    count = test.spec["count"]
    if not isinstance(count, int) or len(answered) > count:
        result.refuse("roundtrips", f"{len(answered)} answers to {count} requests")
    return 1 - len(answered) / count


def _latency(result: Document, test: TestRequest) -> list[Reading | Refused]:
    sent, lost = result.count("packets-sent"), result.count("packets-lost")
    parameters: dict[str, object] = {"packets": sent}
    if result.has("max-clock-error"):
        parameters["max_clock_error"] = result.amount("max-clock-error") / 1000
    found = [_loss(result, "packets-lost", lost, sent, parameters)]
    histogram = _histogram(result, test)
    if not histogram:
        return [
            *found,
            Refused(Metric.ONE_WAY_DELAY, "no packet arrived"),
            Refused(Metric.JITTER, "no packet arrived"),
        ]
    return [*found, _delay(histogram, parameters), _variation(result, histogram, parameters)]


def _histogram(result: Document, test: TestRequest) -> list[tuple[float, int]]:
    """(delay in seconds, packets), by delay.  A key counts bucket widths, not milliseconds."""
    width = test.spec.get("bucket-width", _DEFAULT_BUCKET)
    if not isinstance(width, int | float):
        raise BadAnswer(result.host, "bucket-width: is not a number")
    buckets = result.child("histogram-latency")
    found = []
    for key in buckets.fields:
        count = buckets.count(key)
        try:
            delay = float(key) * width
        except ValueError:
            buckets.refuse(key[:40], "is not a delay")
        if not -1e6 < delay < 1e6:  # also false for NaN
            buckets.refuse(key[:40], "is not a delay")
        if count:
            found.append((delay, count))
    return sorted(found)


def _delay(histogram: Sequence[tuple[float, int]], parameters: Mapping[str, object]) -> Reading | Refused:
    median = _median(histogram)
    if median < 0:
        return Refused(
            Metric.ONE_WAY_DELAY, f"histogram-latency: the median is negative ({median:g} s): clocks differ"
        )
    return Reading(Metric.ONE_WAY_DELAY, median, parameters)


def _median(histogram: Sequence[tuple[float, int]]) -> float:
    total = sum(count for _, count in histogram)
    return (_nth(histogram, (total - 1) // 2) + _nth(histogram, total // 2)) / 2


def _nth(histogram: Iterable[tuple[float, int]], rank: int) -> float:
    passed = 0
    for delay, count in histogram:
        passed += count
        if rank < passed:
            return delay
    raise IndexError(rank)


def _variation(
    result: Document, histogram: Sequence[tuple[float, int]], parameters: Mapping[str, object]
) -> Reading | Refused:
    if result.has("raw-packets"):
        delays = _raw_delays(result)
        steps = [abs(after - before) for before, after in pairwise(delays)]
        value, origin = sum(steps) / len(steps) if steps else None, "raw packets"
    else:
        value, origin = _gini_mean_difference(histogram), "histogram"
    if value is None:
        return Refused(Metric.JITTER, f"{origin}: fewer than two packets arrived")
    return Reading(Metric.JITTER, value, {**parameters, "from": origin})


def _raw_delays(result: Document) -> list[float]:
    """One-way delays of the packets that arrived, in the order they were sent."""
    arrived: dict[float, float] = {}
    for packet in result.children("raw-packets"):
        received = packet.count("dst-ts")
        if received:
            # Integers below 2**64: subtract before dividing, a float has only 53 bits.
            ticks = received - packet.count("src-ts")
            arrived.setdefault(packet.number("seq-num"), ticks / _NTP_SECOND)
    return [arrived[number] for number in sorted(arrived)]


def _gini_mean_difference(histogram: Sequence[tuple[float, int]]) -> float | None:
    """E|X - Y| over two different packets, in one pass over the sorted histogram."""
    total = sum(count for _, count in histogram)
    if total < 2:
        return None
    spread, below, below_sum = 0.0, 0, 0.0
    for delay, count in histogram:
        spread += count * (delay * below - below_sum)
        below += count
        below_sum += count * delay
    return max(0.0, 2 * spread / (total * (total - 1)))


_READERS: Mapping[Kind, Callable[[Document, TestRequest], list[Reading | Refused]]] = {
    Kind.THROUGHPUT: _throughput,
    Kind.RTT: _rtt,
    Kind.LATENCY: _latency,
}
