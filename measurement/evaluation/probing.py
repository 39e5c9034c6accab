"""What a probe agent is asked for as a test of an evaluation, and the value of what it finds."""

from __future__ import annotations

import math
import statistics

from measurement.evaluation.document import ProbeKind, Probing
from measurement.probes.findings import Finding, ProbeFailure, RoundTrips, TrainResult, TransferResult
from measurement.probes.probe_types import Probe, Throughput, Train, UdpEcho

EVERY_S = 0.1
"""From one round trip of a test to the next."""


def unit_of(probing: Probing) -> str:
    """Of its values."""
    return "s" if probing.kind is ProbeKind.ROUND_TRIP else "bit/s"


def probe_of(probing: Probing, duration: float) -> Probe:
    """The probe.

    :param duration: of the test, in seconds; a train takes its own time.
    :raises ValueError: if it is longer than what an agent does.
    """
    match probing.kind:
        case ProbeKind.THROUGHPUT:
            intervals = max(1, round(duration))
            return Throughput(intervals, duration / intervals, probing.connections)
        case ProbeKind.TRAIN:
            return Train()
        case ProbeKind.ROUND_TRIP:
            return UdpEcho(count=max(1, math.floor(duration / EVERY_S)), interval=EVERY_S)


def value_of_finding(finding: Finding) -> float:
    """The test's value.

    :raises ValueError: if there is none; it says why.
    """
    match finding:
        case ProbeFailure(why=why, text=text):
            raise ValueError(f"{why.value}: {text}")
        case TransferResult(rates=rates) if rates:
            return statistics.fmean(rates)
        case TrainResult(rate=rate, why=reason):
            if rate is None:
                raise ValueError(f"the train says no rate: {reason}")
            return rate
        case RoundTrips(answered=answered) if answered:
            return statistics.fmean(answered)
        case _:
            raise ValueError("nothing was answered")
