"""An order's light probes: what needs nothing but waiting for answers, one after the other in one thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence

from measurement.instances import Instance
from measurement.probes.failing import failed
from measurement.probes.findings import Finding, ProbeError, RoundTrips
from measurement.probes.icmp import IcmpChannel
from measurement.probes.orders import IcmpEcho, Probe, Sandwich, TcpConnect, UdpEcho
from measurement.probes.round_trips import round_trips
from measurement.probes.sandwich import sandwich
from measurement.probes.streams import connect_times
from measurement.probes.way import Way

Light = IcmpEcho | TcpConnect | UdpEcho | Sandwich
BY_ITS_AGENT = (UdpEcho, Sandwich)
"""Those that the target's agent answers, not its system."""


def grouped(probes: Iterable[Probe]) -> Iterator[tuple[Light, ...] | Probe]:
    """The same, with light ones that follow each other as one tuple.

    A thread carries them out together: to hand one over costs about as much as the probe.
    """
    together = list[Light]()
    for probe in probes:
        if isinstance(probe, Light):
            together.append(probe)
            continue
        if together:
            yield tuple(together)
            together.clear()
        yield probe
    if together:
        yield tuple(together)


def found(
    probes: Sequence[Light], target: Instance, way: Way | ProbeError | None, ended: threading.Event
) -> list[Finding]:
    """What probes find, one after the other; what one cannot do does not keep the others from it.

    :param way: to the target's agent, or why there is none; None where no probe needs it.
    """
    return [_found(probe, target, way, ended) for probe in probes]


def _found(probe: Light, target: Instance, way: Way | ProbeError | None, ended: threading.Event) -> Finding:
    try:
        return _probed(probe, target, way, ended)
    except Exception as error:  # noqa: BLE001 - one probe's fault is named, and the others are still tried
        return failed(error, probe, target)


def _probed(probe: Light, target: Instance, way: Way | ProbeError | None, ended: threading.Event) -> Finding:
    each = (probe.count, probe.interval, probe.timeout)
    match probe:
        case IcmpEcho():
            channel = IcmpChannel(target.address, probe.length)
            with contextlib.closing(channel):
                return RoundTrips(round_trips(channel, *each, ended))
        case TcpConnect():
            return RoundTrips(connect_times(target, *each, ended))
        case UdpEcho():
            return _there(way).echoes(probe.length, *each, ended)
        case Sandwich():
            with _there(way).path() as path:
                widened = sandwich(path, probe, ended)
            _there(way).saw(widened, back=False)
            return widened


def _there(way: Way | ProbeError | None) -> Way:
    if isinstance(way, ProbeError):
        raise ProbeError(way.why, str(way))
    assert way is not None  # noqa: S101 - the caller's promise
    return way
