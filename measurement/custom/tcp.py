"""What a host's kernel and interfaces are set to for TCP: what transfer advice is held against.

One value per sample, ``host.tcp_receive_limit`` (the maximum of ``tcp_rmem``, bytes), so that a change shows
in its series; everything else rides in its parameters, as the kernel says it:

- ``sysctl``: ``net.ipv4.tcp_*`` and ``net.core.*`` of :data:`SETTINGS`, and the kernel's version;
- ``interfaces``: name, MTU, txqueuelen, speed in bits/s, whether it is up; not the queueing discipline, which
  only netlink tells.

Read from ``/proc/sys`` and ``/sys/class/net``; no command is started.  A sample is about 1.5 kB: once a
minute is enough.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurement.custom.errors import MetricFailed
from measurement.custom.model import PERIOD, Endless, Origin
from measurement.model import Observation

RECEIVE = "net.ipv4.tcp_rmem"
SETTINGS = (
    RECEIVE,
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_mtu_probing",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.core.default_qdisc",
)
MOST_INTERFACES = 32


@dataclass(frozen=True, slots=True)
class TcpMetric(Endless):
    """The TCP settings of this host.

    :param interfaces: which are told; () for all but loopback.
    :param root: where ``proc`` and ``sys`` are.
    """

    host: str
    interfaces: tuple[str, ...] = ()
    period: float = PERIOD
    root: Path = Path("/")

    @property
    def name(self) -> str:
        """Unique on this host."""
        return "host.tcp"

    def sample(self, now: float) -> list[Observation]:
        """Read what the kernel is set to.

        :raises MetricFailed: when it does not tell its receive buffers, as every Linux with IPv4 does.
        """
        settings = dict(self._settings())
        limit = settings.get(RECEIVE, "").split()
        if not limit or not limit[-1].isdecimal():
            raise MetricFailed(f"{RECEIVE} cannot be read", code="unreadable")
        settings["kernel.osrelease"] = os.uname().release
        told: dict[str, Any] = {"sysctl": settings, "interfaces": list(self._interfaces())}
        origin = Origin(self.host, self.name, now, "procfs")
        return [origin.value("host.tcp_receive_limit", float(limit[-1]), "B", extra=told)]

    def _settings(self) -> Iterator[tuple[str, str]]:
        for name in SETTINGS:
            text = _read(self.root / "proc/sys" / name.replace(".", "/"))
            if text is not None:
                yield name, " ".join(text.split())

    def _interfaces(self) -> Iterator[dict[str, Any]]:
        folder = self.root / "sys/class/net"
        try:
            present = sorted(entry.name for entry in folder.iterdir())
        except OSError:
            return
        wanted = self.interfaces or tuple(name for name in present if name != "lo")
        for name in [one for one in wanted if one in present][:MOST_INTERFACES]:
            yield dict(_interface(folder / name))


def _interface(folder: Path) -> Iterator[tuple[str, Any]]:
    yield "name", folder.name
    for key, file, factor in (("mtu", "mtu", 1), ("queue", "tx_queue_len", 1), ("rate", "speed", 10**6)):
        text = _read(folder / file)
        # The speed of an interface that is down, or virtual, is -1 or an error.
        if text is not None and text.strip().isdecimal() and int(text) > 0:
            yield key, int(text) * factor
    state = _read(folder / "operstate")
    if state is not None:
        yield "up", state.strip() != "down"


def _read(file: Path) -> str | None:
    try:
        return file.read_text("ascii", errors="replace")
    except OSError:
        return None
