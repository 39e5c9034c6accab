"""What is asked of an instance's probe agent for the health of a pair, and what its report says of it.

Values and functions only.  A probe that the other did not answer is *silent*; one that could not be tried
(not permitted, too busy, a clock set meanwhile) is a failure of ours, and says nothing about the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from measurement.health.model import INTERVALS, SILENT_S, Found, Indicator, Pair
from measurement.health.record import Failure, ProbeKind
from measurement.instances import Instance
from measurement.probes import findings
from measurement.probes.findings import (
    Finding,
    ProbeFailure,
    ProbeReport,
    RoundTrips,
    SandwichDelays,
    TrainResult,
    TransferResult,
)
from measurement.probes.probe_types import (
    SMALL,
    IcmpEcho,
    Probe,
    ProbeOrder,
    Sandwich,
    SandwichBack,
    TcpConnect,
    TcpEcho,
    Throughput,
    Train,
    TrainBack,
    TrainShape,
    UdpEcho,
    light_probes,
)

SILENT = frozenset({findings.FailureCause.UNREACHABLE, findings.FailureCause.VANISHED})
"""The other does not answer; every other failure is of who asks, or of the order."""
_INDICATORS: dict[str, Indicator] = {
    IcmpEcho.kind: Indicator.ICMP,
    UdpEcho.kind: Indicator.UDP,
    Sandwich.kind: Indicator.SANDWICH,
    SandwichBack.kind: Indicator.SANDWICH,
    TcpConnect.kind: Indicator.CONNECT,
    TcpEcho.kind: Indicator.TCP,
    Throughput.kind: Indicator.THROUGHPUT,
    Train.kind: Indicator.THROUGHPUT,
    TrainBack.kind: Indicator.THROUGHPUT,
}
_LOADING = {Train.kind: ProbeKind.TRAIN, TrainBack.kind: ProbeKind.TRAIN, Throughput.kind: ProbeKind.TRANSFER}


@dataclass(frozen=True, slots=True)
class Probing:
    """How pairs are probed.

    :param count: requests of each kind and size.
    :param interval: seconds between two of them, at least.
    :param silent: seconds after which one has no answer.
    :param shape: of a train.
    :param intervals, interval_length: of a transfer; the length in seconds.
    """

    count: int = 5
    interval: float = 0.01
    silent: float = SILENT_S
    shape: TrainShape = TrainShape()  # noqa: RUF009 - frozen
    intervals: int = INTERVALS
    interval_length: float = 1.0

    def sandwich_back(self) -> SandwichBack:
        """The sandwiches that a target sends back.

        :raises ValueError: if it would send for too long.
        """
        return SandwichBack(SMALL, self.count, self.interval, self.silent)


USUAL = Probing()


def together(target: Instance, how: Probing = USUAL) -> ProbeOrder:
    """All light probes and a train in one order; the echoes over TCP last, which take the connection over."""
    *others, last = _light(how)
    return ProbeOrder(target, (*others, _train(how), last))


def both_ways(target: Instance, how: Probing = USUAL) -> ProbeOrder:
    """What :func:`together` asks, and the sandwich and the train of the way back, over the same connection.

    Round trips are of both directions: whichever of the two asks, they go over the same two paths, the
    kernel takes their times, and how long the answerer had them is taken off.
    """
    *others, last = _light(how)
    back = how.sandwich_back()
    train_back = TrainBack(how.shape, echoes=_echoes(how))
    return ProbeOrder(target, (*others, _train(how), back, train_back, last))


def order(kind: ProbeKind, target: Instance, how: Probing = USUAL) -> ProbeOrder:
    """What to ask about an instance, all light_probes probes at once."""
    match kind:
        case ProbeKind.LIGHT:
            return ProbeOrder(target, _light(how))
        case ProbeKind.TRAIN:
            return ProbeOrder(target, (Train(how.shape),))
        case ProbeKind.TRANSFER:
            return ProbeOrder(target, (Throughput(how.intervals, how.interval_length),))


def _train(how: Probing) -> Train:
    """The train that follows light_probes probes, whose round trips it needs not take again."""
    return Train(how.shape, echoes=_echoes(how))


def _echoes(how: Probing) -> int:
    return min(Train().echoes, how.count)


def _light(how: Probing) -> tuple[Probe, ...]:
    return light_probes(how.count, how.interval, how.silent)


def lasts(kind: ProbeKind, how: Probing = USUAL) -> float:
    """Seconds after which an answer to such an order is not waited for any more: everything was silent."""
    match kind:
        case ProbeKind.LIGHT:
            return len(_light(how)) * (how.count * how.interval + how.silent)
        case ProbeKind.TRAIN:
            return how.shape.bursts * how.shape.pause + 4 * how.silent
        case ProbeKind.TRANSFER:
            return how.intervals * how.interval_length + 4 * how.silent


def lasts_both_ways(how: Probing = USUAL) -> float:
    """As :func:`lasts`, of :func:`both_ways`."""
    sandwich = how.count * how.interval + 4 * how.silent
    return lasts(ProbeKind.LIGHT, how) + 2 * lasts(ProbeKind.TRAIN, how) + sandwich


def split(
    asked: ProbeOrder, report: ProbeReport
) -> tuple[tuple[ProbeOrder, ProbeReport], tuple[ProbeOrder, ProbeReport]]:
    """A report of :func:`both_ways` as those of two orders: of the way there, and of the way back.

    :raises ValueError: for a report of another order.
    """
    if len(report.findings) != len(asked.probes):
        raise ValueError(f"findings: {len(report.findings)} for {len(asked.probes)} probes")
    found = [*zip(asked.probes, report.findings, strict=True)]
    there = [one for one in found if not isinstance(one[0], SandwichBack | TrainBack)]
    back = [one for one in found if not isinstance(one[0], Sandwich | Train)]
    return _part(asked, report, there), _part(asked, report, back)


def _part(
    asked: ProbeOrder, report: ProbeReport, found: Sequence[tuple[Probe, Finding]]
) -> tuple[ProbeOrder, ProbeReport]:
    probes, findings = zip(*found, strict=True)
    return replace(asked, probes=probes), replace(report, findings=findings)


def read(asked: ProbeOrder, report: ProbeReport, pair: Pair) -> tuple[Found, tuple[Failure, ...]]:
    """What a report says of a pair, and what it could not say.

    :raises ValueError: for a report of another order.
    """
    if len(report.findings) != len(asked.probes):
        raise ValueError(f"findings: {len(report.findings)} for {len(asked.probes)} probes")
    found, failures = Found(), []
    answered: set[Indicator] = set()
    silent: set[Indicator] = set()
    for probe, finding in zip(asked.probes, report.findings, strict=True):
        indicator, kind = _INDICATORS[probe.kind], _LOADING.get(probe.kind, ProbeKind.LIGHT)
        if isinstance(finding, ProbeFailure):
            failures.append(Failure(pair, kind, f"{probe.kind}: {finding.text or finding.why}"))
            if finding.why in SILENT:
                silent.add(indicator)
            continue
        found, any_answer = _with(found, probe, finding)
        (answered if any_answer else silent).add(indicator)
        if isinstance(finding, TrainResult) and finding.rate is None:
            failures.append(Failure(pair, kind, f"{probe.kind}: {finding.why}"))
    # An indicator of several sizes is silent only if all of them are: large packets may be filtered.
    return replace(found, silent=frozenset(silent - answered)), tuple(failures)


def _with(found: Found, probe: Probe, finding: Finding) -> tuple[Found, bool]:
    """A finding added to the others, and whether anything came."""
    match probe, finding:
        case IcmpEcho(length=size), RoundTrips(answered=times):
            return replace(found, icmp={**found.icmp, size: times} if times else found.icmp), bool(times)
        case UdpEcho(length=size), RoundTrips(answered=times):
            return replace(found, udp={**found.udp, size: times} if times else found.udp), bool(times)
        case Sandwich() | SandwichBack(), SandwichDelays(by=tries):
            widened = tuple(one for one in tries if one is not None)
            return replace(found, sandwich=widened), bool(widened)
        case TcpConnect(), RoundTrips(answered=times):
            return replace(found, connect=times), bool(times)
        case TcpEcho(), RoundTrips(answered=times):
            return replace(found, tcp=times), bool(times)
        case Throughput(), TransferResult(rates=rates):
            return replace(found, throughput=rates), any(rates)
        case Train() | TrainBack(), TrainResult(rate=rate):
            return replace(found, throughput=() if rate is None else (rate,)), rate is not None
    raise ValueError(f"findings: {finding.kind} is no answer to {probe.kind}")


def join_results(one: Found, other: Found) -> Found:
    """What two orders about the same pair found; where both have something, the second's."""
    return Found(
        {**one.icmp, **other.icmp},
        {**one.udp, **other.udp},
        other.sandwich or one.sandwich,
        other.connect or one.connect,
        other.tcp or one.tcp,
        other.throughput or one.throughput,
        one.silent | other.silent,
    )
