"""What switches, and whoever else reaches the port, may cost the controller.

- :class:`HalfOpen` counts the connections of which nobody knows yet whose they are;
- :class:`PacketIns` decides, before a packet-in is parsed, whether it is let through (R18);
- :class:`Repeats` keeps a log from growing with what somebody else repeats;
- :func:`takes_over` decides between two connections with one datapath id.

Each holds a bounded amount of memory, whatever arrives.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from adon.flowvisor.rules.cookie import is_our_cookie
from adon.flowvisor.send_pacing import Bucket

PORTS_LIMIT = 4096
"""Ports of one switch whose packet-ins are counted apart; what comes by others shares one bucket."""


class HalfOpen:
    """Connections that did not say who they are yet; used by every connection's thread."""

    def __init__(self, most: int, most_per_address: int) -> None:
        self._most, self._most_per_address = most, most_per_address
        self._lock = threading.Lock()
        self._addresses: Counter[str] = Counter()

    def enter(self, address: str) -> str | None:
        """Count one more; or the reason why it must not come in."""
        with self._lock:
            if self._addresses[address] >= self._most_per_address:
                return f"{self._most_per_address} connections from this address are in their handshake"
            if self._addresses.total() >= self._most:
                return f"{self._most} connections are in their handshake"
            self._addresses[address] += 1
            return None

    def leave(self, address: str) -> None:
        """One less: it is known now, or gone."""
        with self._lock:
            self._addresses[address] -= 1
            if self._addresses[address] <= 0:
                del self._addresses[address]

    @property
    def count(self) -> int:
        """How many there are."""
        with self._lock:
            return self._addresses.total()


class PacketIns:
    """The packet-ins of one connection; used by its reading thread only.

    The port's bucket comes first: what one port floods is dropped before it uses up the switch's.

    :param per_switch: packet-ins per second; None: as many as come.
    :param per_port: the same of each port.
    """

    def __init__(self, per_switch: float | None, per_port: float | None) -> None:
        self._per_port = per_port
        self._switch = None if per_switch is None else Bucket.full(per_switch, max(1.0, per_switch), 0.0)
        self._ports: dict[int | None, Bucket] = {}

    def verdict(self, cookie: int, port: int | None, now: float) -> str:
        """``taken``, or why the packet-in is dropped: ``cookie``, ``port_rate``, ``switch_rate``."""
        if not is_our_cookie(cookie):
            return "cookie"
        if not self._port_allows(port, now):
            return "port_rate"
        if self._switch is not None:
            left = self._switch.take(now)
            if left is None:
                return "switch_rate"
            self._switch = left
        return "taken"

    def _port_allows(self, port: int | None, now: float) -> bool:
        if self._per_port is None:
            return True
        if port not in self._ports and len(self._ports) >= PORTS_LIMIT:
            port = None
        rate = self._per_port
        bucket = self._ports.get(port, Bucket.full(rate, max(1.0, rate), now))
        left = bucket.take(now)
        self._ports[port] = bucket if left is None else left
        return left is not None


class Repeats:
    """Which of many equal log lines to write: the first, and one per ``period`` after it.

    :param period: seconds in which the same is said once.
    :param most: different things remembered; the oldest is forgotten first.
    :param lines_per_second: over all of them, with a burst of 100 lines.
    """

    def __init__(self, period: float, most: int = 1024, lines_per_second: float = 1.0) -> None:
        self._period, self._most = period, most
        self._lock = threading.Lock()
        self._said: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()
        self._lines = Bucket.full(lines_per_second, 100.0, 0.0)

    def due(self, what: Hashable, now: float) -> int | None:
        """How often it was left out since the last line, if a line is due now; None if not."""
        with self._lock:
            at, left_out = self._said.pop(what, (None, 0))
            lines = self._lines.take(now)
            silent = lines is None or (at is not None and now - at < self._period)
            if lines is None or silent:
                self._said[what] = (now if at is None else at, left_out + 1)
            else:
                self._lines = lines
                self._said[what] = (now, 0)
            if len(self._said) > self._most:
                self._said.popitem(last=False)
            return None if silent else left_out


@dataclass(frozen=True, slots=True)
class Claim:
    """A connection that says it is a certain switch.

    :param proven: by a certificate whose name is bound to the datapath id.
    :param silent_s: since its last byte.
    """

    address: str
    proven: bool
    silent_s: float


def takes_over(older: Claim, newer: Claim, patience_s: float) -> bool:
    """Whether a second connection with the same datapath id replaces the first.

    A switch that lost its network comes back while its old connection still looks open, so the newer one
    must be able to win; but who merely knows a datapath id must not push a working edge off.  The newer
    wins if it proves its identity, comes from the same address, or the older has been silent for longer
    than a switch that answers echo requests ever is.
    """
    return newer.proven or newer.address == older.address or older.silent_s > patience_s
