"""The host itself as a metric: processors, memory, disks, interfaces (figures 11 and 12 of [ADON]; psutil).

Names and units: ``host.cpu_utilization`` and ``host.disk_utilization`` are ratios 0..1, sizes are bytes,
rates are bits per second, load is the mean number of processes that run or want to (getloadavg(3)).
Utilisation and rates are means since the sample before, so the first sample has none.

A disk and all interfaces are metrics of their own: ``statvfs`` of a network file system that is away may
never return, and then stops this one series only.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import psutil

from measurement.custom.errors import MetricFailed
from measurement.custom.model import PERIOD, Endless, Origin
from measurement.model import Observation

_TOOL = "psutil"


class CpuTimes(NamedTuple):
    """Seconds since boot that all processors together spent, in all and without work."""

    total: float
    idle: float


class Traffic(NamedTuple):
    """What an interface has counted: bytes received and sent, packets dropped or in error."""

    received: int
    sent: int
    lost: int


def utilization(before: CpuTimes, after: CpuTimes) -> float | None:
    """The part of the time between two readings in which processors worked; None when no time went by."""
    total, idle = after.total - before.total, after.idle - before.idle
    if total <= 0:
        return None
    return min(1.0, max(0.0, 1 - idle / total))


def rates(before: Traffic, after: Traffic, seconds: float) -> dict[str, float]:
    """Per second between two readings, by name; {} if no time passed or a counter was reset."""
    if seconds <= 0 or any(new < old for new, old in zip(after, before, strict=True)):
        return {}
    return {
        "received_rate": 8 * (after.received - before.received) / seconds,
        "sent_rate": 8 * (after.sent - before.sent) / seconds,
        "loss_rate": (after.lost - before.lost) / seconds,
    }


class SystemMetric(Endless):
    """Processors, memory and load."""

    name = "host"

    def __init__(self, host: str, period: float = PERIOD) -> None:
        self.host = host
        self.period = period
        self._before = _cpu_times()

    def sample(self, now: float) -> list[Observation]:
        """Read what the kernel says."""
        origin = Origin(self.host, self.name, now, _TOOL)
        memory, swap = psutil.virtual_memory(), psutil.swap_memory()
        found = [
            origin.value("host.memory_total", memory.total, "B"),
            origin.value("host.memory_available", memory.available, "B"),
            origin.value("host.swap_used", swap.used, "B"),
        ]
        for minutes, load in zip((1, 5, 15), os.getloadavg(), strict=True):
            found.append(origin.value(f"host.load_{minutes}m", load))
        before, self._before = self._before, _cpu_times()
        busy = utilization(before, self._before)
        if busy is not None:
            cores = {"cores": psutil.cpu_count() or 1}
            found.append(origin.value("host.cpu_utilization", busy, extra=cores))
        return found


@dataclass(frozen=True, slots=True)
class DiskMetric(Endless):
    """The file system at ``mount``."""

    host: str
    mount: str
    period: float = PERIOD

    @property
    def name(self) -> str:
        """``host.disk:`` and where it is mounted."""
        return f"host.disk:{self.mount}"

    def sample(self, now: float) -> list[Observation]:
        """Ask the file system.

        :raises MetricFailed: when it cannot be read.
        """
        try:
            usage = psutil.disk_usage(self.mount)
        except OSError as error:
            raise MetricFailed(f"{self.mount} cannot be read: {error.strerror}", code="unreadable") from None
        origin = Origin(self.host, self.name, now, _TOOL)
        found = [
            origin.value("host.disk_total", usage.total, "B", of=self.mount),
            origin.value("host.disk_free", usage.free, "B", of=self.mount),
        ]
        usable = usage.used + usage.free  # without what is reserved for root; 0 of /proc and its like
        if usable > 0:
            found.append(origin.value("host.disk_utilization", usage.used / usable, of=self.mount))
        return found


class InterfaceMetric(Endless):
    """What goes through the interfaces.

    :param interfaces: which; () for all but loopback.
    """

    name = "host.interfaces"

    def __init__(self, host: str, interfaces: tuple[str, ...] = (), period: float = PERIOD) -> None:
        self.host = host
        self.period = period
        self.interfaces = interfaces
        self._before: Mapping[str, Traffic] = {}
        self._at = 0.0

    def sample(self, now: float) -> list[Observation]:
        """Read the counters.

        :raises MetricFailed: when an interface that was named is not there.
        """
        counted = _traffic()
        missing = [name for name in self.interfaces if name not in counted]
        if missing:
            raise MetricFailed(f"no interface {', '.join(missing)}", code="unknown-name")
        before, self._before = self._before, counted
        seconds, self._at = now - self._at, now
        origin = Origin(self.host, self.name, now, _TOOL)
        found = []
        for interface in self.interfaces or sorted(set(counted) - {"lo"}):
            if interface in before:
                for rate, value in rates(before[interface], counted[interface], seconds).items():
                    unit = "1/s" if rate == "loss_rate" else "bit/s"
                    found.append(origin.value(f"host.interface_{rate}", value, unit, of=interface))
        return found


def this_host() -> str:
    """The name of this host, as its own system has it."""
    return socket.gethostname()


def _cpu_times() -> CpuTimes:
    times = psutil.cpu_times()
    # Guests' time is in user and nice already (proc(5)).
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return CpuTimes(total, times.idle + getattr(times, "iowait", 0.0))


def _traffic() -> dict[str, Traffic]:
    return {
        name: Traffic(
            found.bytes_recv, found.bytes_sent, found.dropin + found.dropout + found.errin + found.errout
        )
        for name, found in psutil.net_io_counters(pernic=True, nowrap=False).items()
    }
